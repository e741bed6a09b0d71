#!/usr/bin/env bash
# Runs the MPI programs of this folder on virtual clusters of several shapes. Prints TAP, and 'N passed, N failed' at the end.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

# A job that takes longer hangs: on an idle machine each takes a few seconds.
LIMIT=${FSBML_TEST_LIMIT:-90}

# What runs where: nodes | ranks | rails | programs with their arguments, separated by commas | more options for mpirun.
# 'shares' looks at what the rails carried during the program before it; for 'far', node 2 is 2 ms farther on rail0. Sessions only with two ranks: with more, Open MPI
# 5.0.7 itself hangs now and then in the second life, with r2 as well, since ranks keep the first life's addresses.
SETS=(
    "2|2|200mbit 20mbit|pt2pt,shares,match,datatypes,order,order 1,collectives,comms,onesided,onesided_atomics,onesided_passive,onesided_windows,threads,stress,requests,sessions,spawn,connect,late"
    "2|2|200mbit 20mbit|lifecycle quiet,lifecycle pair,lifecycle unreceived,lifecycle busy"
    "2|2|200mbit 20mbit|pt2pt,onesided|--mca mpi_leave_pinned 0"
    "2|2|200mbit 20mbit|requests|--mca bml_fsbml_quantum 4096"
    "2|2|200mbit 20mbit|requests|--mca bml_fsbml_quantum 16777216"
    "2|2|200mbit 20mbit|order|--mca bml_fsbml_policy thesis"
    "2|2|200mbit 20mbit|stress|--mca bml_fsbml_policy roundrobin"
    "2|2|200mbit 20mbit|match|--mca bml_fsbml_policy single"
    "2|2|200mbit 20mbit|pt2pt,match,stress,requests|--mca bml_fsbml_rdma on"
    "2|4|200mbit 20mbit|pt2pt,match,order,collectives,comms,onesided,onesided_atomics,onesided_passive,onesided_windows,threads,stress,soak,lifecycle busy"
    "4|4|200mbit 20mbit|match,order,collectives,comms,onesided,onesided_atomics,onesided_passive,onesided_windows,requests,soak,late,spawn,connect,lifecycle quiet,lifecycle pair"
    "4|4|200mbit 20mbit|order,collectives|--mca mpi_add_procs_cutoff 1024"
    "4|4|200mbit 20mbit|match|--mca mpi_preconnect_mpi 1"
    "3|3|200mbit 20mbit|order,collectives,comms,lifecycle busy"
    "3|3|200mbit,delay=0us 100mbit,delay=0us|far|--mca bml_fsbml_per_peer 1"
    "2|2|400mbit 10mbit|order,order 2,match,lifecycle unreceived"
    "2|2|200mbit|pt2pt,order,collectives,sessions"
    "2|2|100mbit 100mbit 10mbit|pt2pt,datatypes,order,collectives,threads,stress,requests"
    "2|4|100mbit 100mbit 10mbit|soak"
    "4|4|100mbit 100mbit 10mbit|soak"
    "2|2|1gbit 1gbit|big"
)

# verdict PROGRAM LIMIT: prints why the last job failed, or nothing.
verdict() {
    local reason noise
    reason=$(harness_failure "$1" "$2")
    noise=$(harness_noise)
    if [ -n "$reason" ]; then
        printf '%s' "$reason"
    elif [ -n "$noise" ]; then
        printf 'stderr is not clean: %s' "$noise"
    fi
}

# sent RAIL: bytes that node 0 has sent on that rail so far.
sent() {
    nsenter --net="/run/netns/${harness_nodes[0]}" sed -nE "s/^ *rail$1: *([0-9]+ +){8}([0-9]+) .*/\2/p" /proc/thread-self/net/dev
}

# The rails' shares of what a program sent must be near those of their rates: proof that FSBML is at work. Eager messages
# of r2 go half and half.
shares() {
    local fast=$1 slow=$2
    [ "$fast" -gt $((4 * slow)) ] || printf 'rail0 (200 Mbit/s) sent %d bytes, rail1 (20 Mbit/s) %d: not by their speeds' "$fast" "$slow"
    [ "$slow" -gt $((fast / 100)) ] || printf 'rail1 (20 Mbit/s) sent only %d bytes, rail0 %d' "$slow" "$fast"
}

run_program() {
    local name=$1 ranks=$2 limit=$LIMIT program arguments options=(--mca bml "$harness_bml") more
    read -r -a arguments <<<"$3"
    read -r -a more <<<"$4"
    options+=("${more[@]}")
    program=${arguments[0]}
    # Debian's configuration of 4.1 switches its one component off that works over tcp; sm is for windows of one node.
    if [[ $program = onesided* ]] && [ "$harness_major" -lt 5 ]; then options+=(--mca osc "pt2pt,sm"); fi
    # Gigabytes in frames of 1500 bytes: no rail, but the processor makes them slow, and others may need it as well.
    if [ "$program" = big ]; then limit=$((3 * LIMIT)); fi
    local command=("${options[@]}" "$harness_programs/$program" "${arguments[@]:1}")
    if [ "$program" = sessions ]; then
        run_sessions "$limit" "$ranks" "${command[@]}"
    elif [ "$program" = far ]; then
        run_far "$limit" "$ranks" "${command[@]}"
    else
        harness_job "$limit" "$ranks" "${command[@]}"
    fi
    harness_result "$name" "$(verdict "$program" "$limit")"
}

# On a busy machine the fence of the second MPI_Init of Open MPI 5.0.7 now and then never ends, with r2 as well (4 of 33 jobs).
# FSBML measures behind it, for some seconds at most, and then shows its table: where the second table is missing, it was
# not asked for anything yet, and the job has another chance.
run_sessions() {
    local attempt
    for attempt in 1 2 3 4; do
        harness_job "$1" "$2" --mca bml_fsbml_verbose 1 "${@:3}"
        [ -n "$(harness_ended_late "$1")" ] || break
        [ "$(grep -cE 'fsbml: (rail  |not measured)' "$harness_stderr")" -lt 2 ] || break
        printf '# hung before FSBML had anything to do in the second life, attempt %d\n' "$attempt" >&2
    done
    sed -i -E '/^\[node[0-9]+:[0-9]+\] fsbml: (rail|not measured)/d' "$harness_stderr"
}

# The table is given, as a measurement on a busy machine may come to nothing. There, how far a peer is sometimes cannot be told,
# either; FSBML says so, and there is nothing to see here yet.
run_far() {
    local attempt
    printf 'fsbml-table 2\n' >"$harness_logs/far"
    printf 'rail tcp:10.71.%d.0/24 rail%d L=60000 o_s=3000 o_r=3000 g=1000 G=%d\n' 0 0 42 1 1 84 >>"$harness_logs/far"
    for attempt in 1 2 3 4 5 6; do
        harness_job "$1" "$2" --mca mpi_yield_when_idle 1 --mca bml_fsbml_verbose 20 --mca bml_fsbml_table "$harness_logs/far" "${@:3}"
        grep -q 'node0:.* no rail to .*,2\] is known to be farther' "$harness_stderr" || break
        printf '# nothing could be told, attempt %d\n' "$attempt" >&2
    done
    sed -i -E '/^\[node[0-9]+:[0-9]+\] fsbml: /d' "$harness_stderr"
}

run_set() {
    local nodes ranks rails programs options program name rates before_fast=0 before_slow=0 fast=0 slow=0 list
    IFS='|' read -r nodes ranks rails programs options <<<"$1"
    # Without fsbml these would be the same tests again.
    if [ "$harness_bml" != fsbml ] && [[ $options == *bml_fsbml_* ]]; then return; fi
    read -r -a rates <<<"$rails"
    IFS=, read -r -a list <<<"$programs"
    for program in "${list[@]}"; do
        name="$nodes nodes, $ranks ranks, $rails: $program${options:+, $options}"
        harness_wanted "$name" || continue
        harness_has "$program" || continue
        if [ "$program" != shares ]; then
            harness_cluster_up "$nodes" "${rates[@]}"
            [ "$program" != far ] || harness_fsbml cluster set --name "$harness_cluster" --node 2 --rail 0 delay=4ms
            before_fast=$(sent 0)
            before_slow=0
            [ ${#rates[@]} -lt 2 ] || before_slow=$(sent 1)
            run_program "$name" "$ranks" "$program" "$options"
            fast=$(($(sent 0) - before_fast))
            [ ${#rates[@]} -lt 2 ] || slow=$(($(sent 1) - before_slow))
        elif [ "$harness_bml" = fsbml ]; then
            harness_result "$name" "$(shares "$fast" "$slow")"
        fi
    done
}

harness_begin "Runs the MPI test programs on virtual clusters of several shapes and verifies every byte." "$@"
for set in "${SETS[@]}"; do run_set "$set"; done
harness_end
