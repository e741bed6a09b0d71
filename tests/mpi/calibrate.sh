#!/usr/bin/env bash
# The measurement at start when something happens to the rails in its midst: each job must end right and in bounded time, and
# say what it found.
#
# With each version of Open MPI: a rail that falls silent, as tcp notices that in its own way. Once: what FSBML measures.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

harness_offload=off # what is measured has no bucket of 70 kB, which fills while a process waits for its processor
LIMIT=${FSBML_TEST_LIMIT:-90}
# A measurement that lasts for some seconds, as its report is wanted, and shows each probe. The file is there once it has ended.
REPORT=measurement.json
LONG=(--mca bml_fsbml_verbose 40 --mca bml_fsbml_budget 1000 --mca bml_fsbml_samples 1000 --mca bml_fsbml_probe_timeout 300)
FELL_SILENT='A rail answered at first, but not under the measurement'
NO_GOODBYE='a connection that takes no goodbye any more is shut down'

# The ranks run on nodes 1 and 2, mpirun on node 0: Open MPI 4.1 loses about every second message (opal_show_help) of a
# rank beside mpirun.
PLACED=(-n 2 --host "node1,node2" --mca bml fsbml)

start() { harness_start "$LIMIT" 3 "${PLACED[@]}" "$@" "${harness_command[@]}"; }

# start_long ARGUMENT...: a job with such a measurement.
start_long() {
    rm -f "$harness_logs/$REPORT"
    start "${LONG[@]}" --mca bml_fsbml_measurement "$harness_logs/$REPORT" "$@"
}

verdict() { harness_said "order 1" "$LIMIT" "${1:-}"; }

# measures_still: the job that was started has not ended its measurement; with its messages a rail that falls silent would keep some.
measures_still() { kill -0 "$harness_pid" 2>/dev/null && ! [ -e "$harness_logs/$REPORT" ]; }

# in_the_midst COMMAND...: runs it once the job that was started has asked each rail some things and begun with the benchmark, most of
# whose time is left then; then waits for the job's end. False if it never did, or the command says that it came too late; the job is
# ended then.
in_the_midst() {
    local midst=1
    while measures_still; do
        if grep -q 'PRTT(.*(warm-up)' "$harness_stderr"; then
            midst=0
            "$@" || midst=1
            break
        fi
        sleep 0.05
    done
    [ "$midst" -eq 0 ] || kill -TERM "$harness_pid" 2>/dev/null || :
    harness_wait
    return "$midst"
}

# disturb NAME COMMAND...: a job in whose midst the command runs; once more where its measurement had ended before.
disturb() {
    local name=$1
    shift
    start_long
    while ! in_the_midst "$@" && again "$name" "the measurement had ended before"; do start_long; done
}

# rate RAIL FILE: MB/s of a rail, as the job with that output has it; empty if it was not measured.
rate() { sed -nE "s/^.*fsbml: $1 +tcp:[^ ]+( +[0-9.e+]+){5} +([0-9.e+]+) .*/\2/p" "$2" | head -n 1; }

# wrong RAIL FACTOR RATE FILE: prints a reason if a rail has figures that are off by more than that factor. These are the ones that
# a schedule must never go by; a rail without figures has no share in it.
wrong() {
    local is
    is=$(rate "$1" "$4")
    [ -z "$is" ] || awk -v is="$is" -v factor="$2" -v rate="$3" -v rail="$1" \
        'BEGIN { if (is > factor * rate || factor * is < rate) printf "%s has %s MB/s instead of %s", rail, is, rate }'
}

# near RAIL FACTOR RATE FILE: prints a reason if a rail was not measured, or is off by more than that factor.
near() {
    if [ -n "$(rate "$1" "$4")" ]; then wrong "$@"; else printf '%s was not measured' "$1"; fi
}

# is_in_time: the cable that went out now did so before the measurement had ended: it would take a time-out of its probes to end then.
# What a job says may come later than that.
is_in_time() {
    sleep 0.2
    ! [ -e "$harness_logs/$REPORT" ]
}

cut_the_cable() {
    harness_fsbml_quietly cluster set --name "$harness_cluster" --node 1 --rail "$1" down
    is_in_time
}

# The driver without the log that the job beside it may need.
harness_fsbml_quietly() { "$FSBML_TOP/fsbml" "$@" >/dev/null 2>&1 </dev/null; }

# A rail answers, is proved, and then its cable is out: the other one carries all.
falls_silent() {
    local rail=$1 name="rail$1 falls silent in the midst of it"
    harness_wanted "$name" || return 0
    harness_cluster_up 3 200mbit 20mbit
    disturb "$name" cut_the_cable "$rail"
    harness_result "$name" "$(verdict "$FELL_SILENT")"
    harness_cluster_down # it has lost a cable
}

# queued NODE: the most bytes that a connection of the node over rail0 has still to send, or to send again.
queued() { nsenter --net="/run/netns/${harness_nodes[$1]}" ss -Htn src 10.71.0.0/24 | awk '$3 > most { most = $3 } END { printf "%d", most }'; }

# Soon, or never: near its end the benchmark asks no rail any more whose probes do not fit into the time that is left.
cut_a_full_rail() {
    local end=$((${EPOCHREALTIME/[.,]/} + 1500000)) # us
    while measures_still && [ "${EPOCHREALTIME/[.,]/}" -lt "$end" ]; do
        if [ "$(queued 1)" -ge 4000 ] || [ "$(queued 2)" -ge 4000 ]; then
            ip -n "fsbml-$harness_cluster-net" link set n1r0 down
            is_in_time
            return
        fi
    done
    return 1
}

# The same with little room for what is sent: what waits as the cable goes out will never go, and the job's end must not wait
# for it, as tcp of 5.0 would. The rail is slow, so that a probe takes longer than to see that it waits.
falls_silent_full() {
    local node midst reason name="rail0 falls silent with its buffer full"
    harness_wanted "$name" || return 0
    while :; do
        harness_cluster_up 3 5mbit 20mbit
        for node in "${harness_nodes[@]:1}"; do
            nsenter --net="/run/netns/$node" sh -c 'echo 4096 4096 4096 >/proc/sys/net/ipv4/tcp_wmem'
        done
        start_long --mca bml_fsbml_small_size 4096
        # The cable may also go out while a probe that only asks is under way, and takes no room.
        midst=yes
        in_the_midst cut_a_full_rail || midst=no
        harness_cluster_down # it has lost a cable
        reason=$(verdict "$FELL_SILENT")
        if [ "$midst" = yes ] && { [ -n "$reason" ] || [ "$harness_major" -lt 5 ] || grep -q "$NO_GOODBYE" "$harness_stderr"; }; then break; fi
        reason="nothing has waited on the rail"
        again "$name" "$reason" 4 || break
    done
    harness_result "$name" "$reason"
}

lose_frames() {
    harness_fsbml_quietly cluster set --name "$harness_cluster" --node 1 --rail 1 loss=99%
    sleep 0.15
    harness_fsbml_quietly cluster set --name "$harness_cluster" --node 1 --rail 1 loss=0%
}

# TCP waits 200 ms and more for a frame that was lost.
stalls() {
    local name="frames of a rail get lost in the midst of it"
    harness_wanted "$name" || return 0
    harness_cluster_up 3 50mbit,delay=0us 20mbit
    disturb "$name" lose_frames
    harness_result "$name" "$(verdict)"
    harness_result "... and goes by no wrong figures of it" "$(wrong rail1 1.5 2.39 "$harness_stderr")"
    harness_cluster_down
}

# Two jobs measure the same rails at once, so that each finds them busy at times: half of a rail is what one has of it then.
two_at_once() {
    local other=$harness_logs/other pid status=0 name="two jobs that measure at once"
    harness_wanted "$name" || return 0
    harness_cluster_up 3 200mbit 20mbit
    start --mca bml_fsbml_verbose 40
    timeout -k 20 "$LIMIT" "$FSBML_TOP/fsbml" cluster run --name "$harness_cluster" "${harness_which[@]}" -n 3 -- \
        "${PLACED[@]}" --mca bml_fsbml_verbose 1 "${harness_command[@]}" >"$other" 2>&1 </dev/null &
    pid=$!
    harness_wait
    wait "$pid" || status=$?
    harness_result "$name: the one ends right" "$(verdict)"
    harness_result "... and goes by no wrong figures" "$(wrong rail0 2.4 23.9 "$harness_stderr")$(wrong rail1 2.4 2.39 "$harness_stderr")"
    harness_stderr=$other harness_stdout=$other harness_status=$status
    harness_result "... the other ends right" "$(verdict)"
    harness_result "... and goes by no wrong figures" "$(wrong rail0 2.4 23.9 "$other")$(wrong rail1 2.4 2.39 "$other")"
    harness_stderr=$harness_logs/stderr harness_stdout=$harness_logs/stdout
}

# What node 2 sends over rail 1 leaves it at a quarter of the rate, and what it gets comes as fast as ever.
slow_one_way() {
    tc -n "fsbml-$harness_cluster-node2" qdisc change dev rail1 root tbf rate 5mbit burst 3100 limit 400000
}

# The partner of the process that measures sends the other way, and knows that it is another one. Beside other programs, rates are
# found to 30 %.
each_its_own_way() {
    local name="a rail that is slower one way" seen='rail1: .*the other way .* G (1[2-9]|20)[0-9][0-9] ns/B'
    harness_wanted "$name" || return 0
    harness_cluster_up 3 200mbit 20mbit
    slow_one_way
    harness_measure 3 "${PLACED[@]}" --mca bml_fsbml_verbose 5 "${harness_command[@]}"
    harness_result "$name: the job ends right" "$(verdict "$seen")"
    harness_result "... it is as fast as before there" "$(near rail1 1.35 2.39 "$harness_stderr")"
    harness_result "... a process that sends the slow way knows it" \
        "$(verdict 'node2.*rail1 is used with the parameters of the other direction, G (1[2-9]|20)[0-9][0-9] ns/B')"
    harness_result "... and no other process does" \
        "$(! grep -E 'node[01].*is used with the parameters of the other' "$harness_stderr")"
    harness_cluster_down # its rates are not those that it was made with
}

# The cluster is made for three ranks, and would take that for more ranks than cores.
export OMPI_MCA_mpi_yield_when_idle=0
run_silent() { $1; } # a function and its argument

harness_begin "Runs jobs whose rails fail, stall, or are used by another job while they are measured." "$@"
[ "$harness_bml" = fsbml ] || die "these tests are about fsbml: --bml has no meaning here."
harness_program order 1
if harness_in version; then
    harness_lanes run_silent falls_silent_full "falls_silent 1" "falls_silent 0"
fi
if harness_in once; then
    stalls
    two_at_once
    each_its_own_way
fi
harness_end
