#!/usr/bin/env bash
# Nodes in trouble: a process that is paused while the rails are measured, too few descriptors, of files and of tcp, two
# interfaces in one network, and 40 of them. No hang, no wrong byte, and what is left out is said.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}
PAUSE=3 # seconds

rails_up() {
    harness_cluster_down
    harness_fsbml cluster up --name "$harness_cluster" --nodes 2 "$@"
    harness_shape="$*"
    harness_ask_nodes
}

# paused RANK: stops it for a while, in MPI_Init.
paused() {
    local rank=$1 name="rank $1 is paused for $PAUSE s while the rails are measured" reason="" turns=0
    harness_wanted "$name" || return 0
    harness_program order 1
    harness_start "$LIMIT" 2 --mca bml fsbml --mca bml_fsbml_verbose 40 --mca bml_fsbml_budget 1000 "${harness_command[@]}"
    # The first line on a probe tells that the measurement is under way.
    until grep -q 'PRTT(' "$harness_stderr" || [ $((turns += 1)) -gt 600 ]; do sleep 0.05; done
    harness_stop "$rank" "$PAUSE" || reason="rank $rank was not found"
    harness_wait
    [ -n "$reason" ] || reason=$(harness_failure "order 1" "$LIMIT")
    if [ -z "$reason" ] && grep -qE 'was not answered|fell silent|carries no traffic|does not answer' "$harness_stderr"; then
        reason="a path was given up"
    fi
    harness_result "$name" "$reason"
}

# few_descriptors N: each process may open N files; connections fail in the midst of the job.
few_descriptors() {
    local name="no more than $1 file descriptors" reason=""
    harness_wanted "$name" || return 0
    harness_program collectives
    # shellcheck disable=SC2016
    harness_job "$LIMIT" 6 --mca bml fsbml --mca mpi_yield_when_idle 1 \
        bash -c 'ulimit -n "$0"; exec "$@"' "$1" "${harness_command[@]}"
    reason=$(harness_ended_late "$LIMIT")
    if [ -z "$reason" ] && [ "$harness_status" -eq 0 ]; then
        reason=$(harness_failure "collectives" "$LIMIT")
    elif [ -z "$reason" ] && grep -qE 'Segmentation fault|signal 11|signal 6|corrupt|double free|mismatch' "$harness_stdout" "$harness_stderr"; then
        reason="it crashed, or bytes were wrong"
    elif [ -z "$reason" ] && ! grep -qE 'descriptor|Too many open files|out of resource|cannot|could not|failed|no rail|lost' "$harness_stderr"; then
        reason="it ended with status $harness_status and without a word"
    fi
    harness_result "$name" "$reason"
}

# few_fragments N: tcp has N descriptors of each kind, for all peers.
few_fragments() {
    local name="no more than $1 descriptors of tcp"
    harness_wanted "$name" || return 0
    harness_program stress
    harness_job "$LIMIT" 4 --mca bml fsbml --mca btl_tcp_free_list_num 2 --mca btl_tcp_free_list_inc 1 --mca btl_tcp_free_list_max "$1" \
        --mca mpi_yield_when_idle 1 "${harness_command[@]}"
    harness_result "$name" "$(harness_failure stress "$LIMIT")"
}

one_network() {
    local name="two interfaces in one network" reason node
    harness_wanted "$name" || return 0
    rails_up --rail rate=200mbit --rail rate=200mbit
    for node in 0 1; do harness_fsbml cluster set --name "$harness_cluster" --node $node --rail 1 "address=10.71.0.10$node/24"; done
    harness_program order 1
    harness_job "$LIMIT" 2 --mca bml fsbml --mca bml_fsbml_verbose 5 "${harness_command[@]}"
    reason=$(harness_failure "order 1" "$LIMIT")
    if [ -z "$reason" ] && ! grep -q 'rail1 .*tcp:10\.71\.0\.0/24#2' "$harness_stderr"; then
        reason="the two have one key"
    fi
    harness_result "$name" "$reason"
}

# many_interfaces N: N of them on each node, each in a network of its own. More than FSBML has numbers for: the rest is left out.
many_interfaces() {
    local name="$1 interfaces" reason i
    harness_wanted "$name" || return 0
    rails_up --rail rate=200mbit --rail rate=200mbit
    for ((i = 2; i < $1; i++)); do
        ip -n "${harness_nodes[0]}" link add "more$i" type veth peer name "more$i" netns "${harness_nodes[1]}"
        ip -n "${harness_nodes[0]}" address add "10.80.$i.1/24" dev "more$i"
        ip -n "${harness_nodes[1]}" address add "10.80.$i.2/24" dev "more$i"
        ip -n "${harness_nodes[0]}" link set "more$i" up
        ip -n "${harness_nodes[1]}" link set "more$i" up
    done
    harness_program pt2pt
    harness_job "$LIMIT" 4 --mca bml fsbml --mca btl_tcp_if_include 10.71.0.0/16,10.80.0.0/16 --mca mpi_yield_when_idle 1 \
        "${harness_command[@]}"
    reason=$(harness_failure pt2pt "$LIMIT")
    if [ -z "$reason" ] && ! grep -q 'more rails than' <<<"$(tr -s '[:space:]' ' ' <"$harness_stderr")"; then
        reason="nothing is said of what is left out"
    fi
    harness_result "$name" "$reason"
}

harness_begin "Runs jobs on nodes in trouble: paused, short of file descriptors, or with two interfaces in one network." "$@"
if harness_in version; then
    rails_up --rail rate=200mbit --rail rate=100mbit
    paused 0
    paused 1
    for n in 32 26 24 23 22; do few_descriptors "$n"; done
    for n in 4 16; do few_fragments "$n"; done
    one_network
    many_interfaces 40
fi
harness_end
