#!/usr/bin/env bash
# Runs the MPI programs of this folder, and the cases of `suite`, on virtual clusters of several shapes, and verifies every byte.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

# A case, or a job, that takes longer hangs: on an idle machine each takes a few seconds.
LIMIT=${FSBML_TEST_LIMIT:-90}

# What runs where: set | nodes | ranks | rails | jobs, separated by semicolons | more options for mpirun. A job is a program of its own,
# or cases of `suite` with their arguments, separated by commas.
#   set   version  the way of a message through ob1, osc and the BTLs, and the life of a job, are Open MPI's
#         once     FSBML's own policies and parameters, which meet Open MPI nowhere, and more of the same on other clusters

# Cases get their rails' parameters: they are about bytes. Programs of their own measure them, since they are about how a job starts and ends.

# One after the other. For 'far', node 2 is 2 ms farther on rail0. Sessions only with two ranks: with more, Open MPI 5.0.7 itself
# hangs now and then in the second life, with r2 as well, since ranks keep the first life's addresses. 'big' needs all processors for
# its gigabytes.
ALONE=(
    "version|2|2|200mbit 20mbit|sessions"
    "version|2|2|200mbit|sessions"
    "version|3|3|200mbit,delay=0us 100mbit,delay=0us|far|--mca bml_fsbml_per_peer 1"
    "once|2|2|2gbit 2gbit|big"
)

# Some at a time, the longest first. 'shares' is about what the rails carried during the case before it. Rails ten times as fast leave
# a quarter of the time for the same messages; those of 200 and 20 Mbit/s have longer queues.
BESIDE=(
    "once|4|4|200mbit 20mbit|soak 8"
    "once|2|4|200mbit 20mbit|soak 8"
    "once|4|4|100mbit 100mbit 10mbit|soak 8"
    "once|2|4|100mbit 100mbit 10mbit|soak 8"
    "version|4|4|100mbit 100mbit 10mbit|soak 10"
    "version|2|4|2gbit 200mbit|pt2pt,match,order,collectives,comms,onesided,onesided_atomics,onesided_passive,onesided_windows;threads,stress"
    "version|4|4|2gbit 200mbit|match,order,collectives,comms,onesided,onesided_atomics,onesided_passive,onesided_windows,requests"
    "version|2|2|200mbit 20mbit|pt2pt,shares,match,order;threads,stress;lifecycle quiet;lifecycle pair;lifecycle unreceived;lifecycle busy;late"
    "version|2|2|2gbit 200mbit|datatypes,order 1,collectives,comms,onesided,onesided_atomics,onesided_passive,onesided_windows,requests;spawn;connect"
    "version|4|4|200mbit 20mbit|late;spawn;connect;lifecycle quiet;lifecycle pair"
    "version|2|4|2gbit 200mbit|pt2pt,match,order,datatypes,collectives,comms,onesided,onesided_atomics,requests;threads,stress|--mca bml_fsbml_failover 1"
    "version|2|2|200mbit 20mbit|pt2pt,match,requests,onesided;stress|--mca bml_fsbml_rdma on"
    "version|2|2|200mbit|pt2pt,order,collectives"
    "version|4|4|2gbit 200mbit|order,collectives|--mca mpi_add_procs_cutoff 1024"
    "version|4|4|200mbit 20mbit|match|--mca mpi_preconnect_mpi 1"
    "version|2|2|2gbit 200mbit|pt2pt,onesided|--mca mpi_leave_pinned 0"
    "version|2|2|2gbit 200mbit|pt2pt,match,order,datatypes,collectives,comms,requests,onesided,onesided_atomics,onesided_passive,onesided_windows;threads,stress|--mca bml_fsbml_feedback 0"
    "version|2|4|200mbit 20mbit|lifecycle busy"
    "version|3|3|200mbit 20mbit|lifecycle busy"
    "once|2|2|100mbit 100mbit 10mbit|pt2pt,datatypes,order,collectives,requests;threads,stress"
    "once|2|2|400mbit 10mbit|order,order 2,match;lifecycle unreceived"
    "once|3|3|2gbit 200mbit|order,collectives,comms"
    "once|2|2|200mbit 20mbit|requests|--mca bml_fsbml_quantum 4096"
    "once|2|2|2gbit 200mbit|datatypes|--mca bml_fsbml_quantum 10001"
    "once|2|2|200mbit 20mbit|requests|--mca bml_fsbml_quantum 16777216"
    "once|2|2|200mbit 20mbit|order|--mca bml_fsbml_policy thesis"
    "once|2|2|200mbit 20mbit|stress|--mca bml_fsbml_policy roundrobin"
    "once|2|2|200mbit 20mbit|match|--mca bml_fsbml_policy single"
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

# The rails' shares of what node 0 sent must be near those of their rates: proof that FSBML is at work.
shares() {
    local fast=$1 slow=$2
    [ "$fast" -gt $((4 * slow)) ] || printf 'rail0 (200 Mbit/s) sent %d bytes, rail1 (20 Mbit/s) %d: not by their speeds' "$fast" "$slow"
    [ "$slow" -gt $((fast / 100)) ] || printf 'rail1 (20 Mbit/s) sent only %d bytes, rail0 %d' "$slow" "$fast"
}

run_sessions() {
    local name=$1 limit=10 ranks=$2
    shift 2
    while :; do
        harness_job "$limit" "$ranks" --mca bml_fsbml_verbose 1 "$@" "$harness_programs/sessions"
        harness_second_init_hung "$name" "$limit" || break
    done
    sed -i -E '/^\[node[0-9]+:[0-9]+\] fsbml: (rail|not measured)/d' "$harness_stderr"
    harness_result "$name" "$(verdict sessions "$limit")"
}

run_far() {
    local name=$1 ranks=$2
    shift 2
    harness_fsbml cluster set --name "$harness_cluster" --node 2 --rail 0 delay=4ms
    harness_program far
    harness_job "$LIMIT" "$ranks" --mca mpi_yield_when_idle 1 "$@" "${harness_command[@]}"
    harness_result "$name" "$(verdict far "$LIMIT")"
}

# run_job BEFORE AFTER RANKS JOB ARGUMENT...: a program of its own, or cases of `suite`.
run_job() {
    local before=$1 after=$2 ranks=$3 job=$4 words cases=() one runnable=() fast slow
    shift 4
    read -r -a words <<<"$job"
    if [ "$job" = sessions ] || [ "$job" = far ]; then
        ! harness_wanted "$before$job$after" || "run_$job" "$before$job$after" "$ranks" "$@"
    elif ! suite_has "${job%%[ ,]*}"; then
        harness_wanted "$before$job$after" || return 0
        harness_job "$LIMIT" "$ranks" "$@" "$harness_programs/${words[0]}" "${words[@]:1}"
        harness_result "$before$job$after" "$(verdict "${words[0]}" "$LIMIT")"
    else
        IFS=, read -r -a cases <<<"$job"
        for one in "${cases[@]}"; do [ "$one" = shares ] || ! harness_has "$one" || runnable+=("$one"); done
        harness_suite "$ranks" "$before" "$after" "${runnable[@]}" -- "$@"
        [[ ,$job, == *,pt2pt,shares,* ]] && [ "$harness_bml" = fsbml ] || return 0
        if harness_wanted "${before}pt2pt$after" && harness_wanted "${before}shares$after"; then
            fast=$(suite_sent pt2pt 0) slow=$(suite_sent pt2pt 1)
            harness_result "${before}shares$after" "$(shares "${fast:-0}" "${slow:-0}")"
        fi
    fi
}

# run_set ENTRY: the jobs of one line of the tables above.
run_set() {
    local set nodes ranks rails jobs options job rates list more arguments
    IFS='|' read -r set nodes ranks rails jobs options <<<"$1"
    harness_in "$set" || return 0
    # Without fsbml these would be the same tests again.
    if [ "$harness_bml" != fsbml ] && [[ $options == *bml_fsbml_* ]]; then return; fi
    read -r -a rates <<<"$rails"
    read -r -a more <<<"$options"
    IFS=';' read -r -a list <<<"$jobs"
    for job in "${list[@]}"; do
        harness_has "${job%% *}" || continue
        arguments=(--mca bml "$harness_bml" "${more[@]}")
        if [ "$harness_bml" = fsbml ] && suite_has "${job%%[ ,]*}"; then
            harness_table "$harness_logs/given" "${rates[@]}"
            arguments+=(--mca bml_fsbml_table "$harness_logs/given")
        fi
        # Debian's configuration of 4.1 switches its one component off that works over tcp; sm is for windows of one node.
        if [[ $job = *onesided* ]] && [ "$harness_major" -lt 5 ]; then arguments+=(--mca osc "pt2pt,sm"); fi
        harness_cluster_up "$nodes" "${rates[@]}"
        run_job "$nodes nodes, $ranks ranks, $rails: " "${options:+, $options}" "$ranks" "$job" "${arguments[@]}"
    done
}

harness_begin "Runs the MPI test programs on virtual clusters of several shapes and verifies every byte." "$@"
for set in "${ALONE[@]}"; do run_set "$set"; done
harness_lanes run_set "${BESIDE[@]}"
harness_end
