#!/usr/bin/env bash
# Rails that do not work when a job starts: each fault is named, with its cause, and the job runs on the rail that is good.
#
# With each version of Open MPI: what a rail at fault does to a connection is the BTL's.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}

# name | nodes | what is done to the last node's rail1, as `cluster set` takes it | kind | sentence, a pattern | finders
#   finders    pairs of nodes, as FROM-TO; the sentence is told to the user once, however many nodes find it
EITHER='0-1 1-0'
CASES=(
    "no carrier|2|down|cut|the interface has no carrier on node1: its cable is out|$EITHER"
    "a cut in the network|2|dead|cut|nothing gets through, neither from node[01] to node[01] nor back|$EITHER"
    "one way only|2|deaf|one-way|what node1 sends arrives at node0, but what node0 sends does not arrive at node1|$EITHER"
    "an MTU black hole|2|mtu=1400|mtu|small frames get through, but not those of 1500 bytes, the MTU of the interface: an MTU black hole|$EITHER"
    "an address of another network|2|address=10.72.1.2/24|subnet|it is in 10\\.7[12]\\.1\\.0/24 on node[01], where node[01] has no address; that has one in 10\\.7[12]\\.1\\.0/24|$EITHER"
    "an address that leads back|2|address=10.71.1.1/24|loop|node[01] and node[01] have the same address on it, 10\\.71\\.1\\.1|$EITHER"
    "a cable that leads back|2|loop|loop|what node1 sends on it comes back to node1 itself: its cabling makes a loop|$EITHER"
    # The two that measure are well.
    "an MTU black hole at a third node|3|mtu=1400|mtu|small frames get through, but not those of 1500 bytes, the MTU of the interface: an MTU black hole|0-2 1-2 2-0 2-1"
    "a cable that leads back to a third node|3|loop|loop|what node2 sends on it comes back to node2 itself: its cabling makes a loop|0-2 1-2 2-0 2-1"
    "a third node cut off|3|dead|cut|nothing (gets through, neither from node[012] to node[012] nor back\|that node[01] sends arrives at node2)|0-2 1-2 2-0 2-1"
)

# sentences: the lines on rails' faults, one a line: FROM-TO KIND SENTENCE.
sentences() {
    sed -nE 's/.*fsbml: rail rail1 from node([0-9]) to node([0-9]) \(([a-z-]+)\): (.*)$/\1-\2 \3 \4/p' "$harness_stderr" | sort
}

# told: the reasons that the user was told. The run-time of 4.1 loses one message in twenty of those that a process sends
# while MPI starts, and says that it could not read it.
told() { sed -nE 's/^  Reason: +//p' "$harness_stderr"; }
lost() { grep -q 'ORTE_ERROR_LOG: .* in file .*show_help' "$harness_stderr"; }

# reported WHAT SENTENCE: prints why the first sentence of the job's report is not the fault, with its cause, or nothing.
reported() {
    local first
    first=$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["sentences"][0])' "$harness_logs/report.json" 2>&1)
    if ! grep -qxE "rail1 $1 between node[0-9] and (node[0-9]|[0-9] other nodes): $2\\." <<<"$first"; then
        printf 'the report begins with: %s' "$first"
    fi
}

# named KIND SENTENCE FINDERS: prints why the fault is not named as it should be, or nothing.
named() {
    local kind=$1 sentence=$2 finders=$3
    if [ "$(sentences | cut -d' ' -f1 | paste -sd' ')" != "$finders" ]; then
        printf 'a fault of rail1 was found by: %s (expected %s)' "$(sentences | cut -d' ' -f1 | paste -sd' ')" "$finders"
    elif grep -qvxE "[0-9]-[0-9] $kind $sentence" <<<"$(sentences)"; then
        printf 'another sentence: %s' "$(sentences | grep -vxE "[0-9]-[0-9] $kind $sentence" | head -n 1)"
    elif [ "$(told | wc -l)" -gt 1 ] || { [ "$(told | wc -l)" -eq 0 ] && ! lost; }; then
        printf 'the user was told of %d reasons' "$(told | wc -l)"
    elif [ -n "$(told)" ] && grep -qvxE "$sentence" <<<"$(told)"; then
        printf 'the user was told another reason: %s' "$(told)"
    elif grep -q 'fsbml: rail rail0 from' "$harness_stderr"; then
        printf 'rail0 is said to be at fault'
    fi
}

# sent RAIL: bytes that node 0 has sent on that rail so far.
sent() {
    nsenter --net="/run/netns/fsbml-$harness_cluster-node0" sed -nE "s/^ *rail$1: *([0-9]+ +){8}([0-9]+) .*/\2/p" /proc/thread-self/net/dev
}

rails_up() {
    local node
    if [ "$harness_shape" != "$1 nodes" ]; then
        harness_cluster_down
        harness_fsbml cluster up --name "$harness_cluster" --nodes "$1" --rail rate=200mbit --rail rate=200mbit
        harness_shape="$1 nodes"
    fi
    # No node knows another's device from the case before.
    for ((node = 0; node < $1; node++)); do ip -n "fsbml-$harness_cluster-node$node" neighbour flush all; done
}

# fault_job NODES: with what the rails had sent before it, for run_case.
fault_job() {
    before0=$(sent 0) before1=$(sent 1)
    rm -f "$harness_logs/report.json"
    harness_job "$LIMIT" "$1" --mca bml fsbml --mca bml_fsbml_verbose 5 --mca bml_fsbml_report "$harness_logs/report.json" --mca mpi_yield_when_idle 1 "${harness_command[@]}"
}

run_case() {
    local name nodes fault kind sentence finders reason before0 before1 program=(collectives)
    # Within a field, \| is a bar.
    IFS='|' read -r name nodes fault kind sentence finders <<<"${1//\\|/$'\x01'}"
    sentence=${sentence//$'\x01'/|}
    harness_wanted "$name" || return 0
    if [ "$fault" = down ] && [ "$harness_major" -ge 6 ]; then
        harness_left_out "$name" "tcp of Open MPI 6.0 makes no module of an interface without carrier, so that no BML has a rail there"
        return
    fi
    rails_up "$nodes"
    # A fault is told a second after the first message to a peer: the job must last as long.
    [ "$nodes" -gt 2 ] || program=(requests)
    harness_program "${program[@]}"
    harness_fsbml cluster set --name "$harness_cluster" --node $((nodes - 1)) --rail 1 "$fault"
    fault_job "$nodes"
    reason=$(harness_failure "${program[*]}" "$LIMIT")
    if [ "$fault" = address=10.71.1.1/24 ] && [ "$harness_major" -ge 6 ]; then
        # tcp of Open MPI 6.0 offers no path to an address of this node's own: there is no rail that could be at fault.
        [ -n "$reason" ] || grep -q 'not measured: only one rail answers between the measuring ranks 0 and 1' "$harness_stderr" ||
            reason="it is not said that they share one rail"
    else
        [ -n "$reason" ] || reason=$(named "$kind" "$sentence" "$finders")
        [ -n "$reason" ] || reason=$(reported "carried nothing" "$sentence")
    fi
    if [ -z "$reason" ] && [ "$nodes" -eq 2 ] && [ $(($(sent 1) - before1)) -gt 100000 ]; then
        reason="rail1 has sent $(($(sent 1) - before1)) bytes, rail0 $(($(sent 0) - before0))"
    fi
    harness_result "$name" "$reason"
    harness_fsbml cluster set --name "$harness_cluster" --node $((nodes - 1)) --rail 1 up "address=10.71.1.$nodes/24"
}

# job ARGUMENTS...: one more job that measures.
job() {
    harness_measure 2 --mca bml fsbml --mca bml_fsbml_verbose 5 --mca bml_fsbml_budget 2000 \
        --mca bml_fsbml_probe_timeout 2000 -x XDG_CACHE_HOME="$harness_logs/cache" "$@" "${harness_command[@]}"
}

# A rail is slow by what an earlier job has measured; by itself, 200 beside 5 Mbit/s is as good as any.
slowed() {
    local reason slow='it carries 0\.[0-9]+ MB/s, where an earlier job measured 2[0-9.]* MB/s'
    harness_wanted "slowed" || return 0
    rails_up 2
    mkdir -p "$harness_logs/cache"
    harness_program order 1
    job --mca bml_fsbml_cache write
    reason=$(harness_failure "order 1" "$LIMIT")
    [ -n "$reason" ] || grep -q 'parameters kept in' "$harness_stderr" || reason='the parameters were not kept for the next job'
    [ -n "$reason" ] || [ -z "$(sentences)" ] || reason="a fault is named where there is none: $(sentences)"
    harness_result "rails without a fault" "$reason"
    harness_fsbml cluster set --name "$harness_cluster" --node 1 --rail 1 rate=5mbit
    job
    reason=$(harness_failure "order 1" "$LIMIT")
    [ -n "$reason" ] || [ -z "$(sentences)" ] || reason="a fault is named where there is none: $(sentences)"
    harness_result "unlike rails" "$reason"
    job --mca bml_fsbml_cache read --mca bml_fsbml_report "$harness_logs/report.json"
    reason=$(harness_failure "order 1" "$LIMIT")
    [ -n "$reason" ] || reason=$(named slow "$slow" 0-1)
    [ -n "$reason" ] || reason=$(reported "is far slower than it should be" "$slow")
    harness_result "slowed since an earlier job" "$reason"
    harness_fsbml cluster set --name "$harness_cluster" --node 1 --rail 1 rate=200mbit
}

harness_begin "Runs jobs on rails that are at fault when they start, and looks whether the cause is named." "$@"
need_packages "the tests of reports" python3
# With routes looked up (netlink, where Open MPI was built with libnl), tcp of 5.0 offers no path between two networks, so FSBML has none to find fault with.
[ "$harness_major" -lt 5 ] || export OMPI_MCA_reachable=weighted
if harness_in version; then
    slowed
    harness_lanes run_case "${CASES[@]}"
fi
harness_end
