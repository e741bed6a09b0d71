# The state of a virtual cluster between two commands: a folder of small text files. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# $FSBML_BUILD/cluster/NAME/ (or $FSBML_CLUSTERS/NAME/) holds:
#   namespaces   every namespace that `up` made, one a line: the only ones that `down` ever deletes
#   nodes        one line a node:  HOSTNAME NAMESPACE MANAGEMENT_ADDRESS
#   rails        one line a rail:  INTERFACE SUBNET RATE
#   hosts        the nodes' /etc/hosts
#   params.NODE  which rails the node has, as a file of Open MPI's parameters
#   link.*       the link emulator's, if there is one (emulator.sh)
#   ready        written last: without it the cluster is not up
#   jobs/job.PID one file a running job, with the start time of that process

# cluster_state NAME: the cluster's folder.
cluster_state() { printf '%s/%s\n' "${FSBML_CLUSTERS:-$FSBML_BUILD/cluster}" "$1"; }

# namespace_exists NAMESPACE
namespace_exists() { [ -e "/run/netns/$1" ]; }

# cluster_is_up NAME: the state says so and the kernel still has all of it (a reboot takes namespaces away, not files).
cluster_is_up() {
    local state namespace
    state=$(cluster_state "$1")
    [ -f "$state/ready" ] || return 1
    while read -r namespace; do
        namespace_exists "$namespace" || return 1
    done <"$state/namespaces"
}

# cluster_must_be_up NAME: dies with what to do if it is not.
cluster_must_be_up() {
    cluster_is_up "$1" && return 0
    if [ -f "$(cluster_state "$1")/ready" ]; then
        die "cluster '$1' is no longer complete (was the machine rebooted?); './fsbml cluster down --name $1' clears what is left."
    fi
    die "there is no cluster '$1'; './fsbml cluster up --name $1' makes one."
}

# node_count STATE, rail_names STATE: read from the state; rail_names prints rail0,rail1,...
node_count() { wc -l <"$1/nodes"; }
rail_names() { cut -d' ' -f1 "$1/rails" | paste -sd,; }
