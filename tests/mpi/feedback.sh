#!/usr/bin/env bash
# Rails that become slower and faster while a job runs: FSBML notices, says so, and every byte is right; and it does not take for
# a slower rail what is none.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}
SECONDS_OF_STREAM=8

# has_come FILE PATTERN: waits for a line, for some seconds; false if it has not come.
has_come() {
    local turns=0
    until grep -qE "$2" "$1"; do
        [ $((turns += 1)) -le 120 ] && kill -0 "$harness_pid" 2>/dev/null || return 1
        sleep 0.05
    done
}

# start_stream RANKS OPTIONS...: the job, until its stream has begun.
start_stream() {
    local ranks=$1
    shift
    harness_cluster_up 2 200mbit 100mbit
    harness_program stream "$SECONDS_OF_STREAM"
    harness_start "$LIMIT" "$ranks" --mca bml fsbml --mca bml_fsbml_verbose 5 "$@" "${harness_command[@]}"
    has_come "$harness_stdout" '^stream: begins' || :
    sleep 1 # of the stream at the rails' first rates
}

set_rate() { harness_fsbml cluster set --name "$harness_cluster" --node 0 --rail 0 "rate=$1"; }

# falls NAME RANKS [quietly]: rail0 falls to a tenth, and recovers. More ranks than processors: they may say nothing, since they
# pause as well.
falls() {
    local fell=no rose=no reason
    harness_wanted "$1" || return 0
    start_stream "$2"
    set_rate 20mbit
    ! has_come "$harness_stderr" 'rail0 fell from [0-9]+ to [0-9]+ Mbit/s' || fell=yes
    set_rate 200mbit
    ! has_come "$harness_stderr" 'rail0 rose from [0-9]+ to [0-9]+ Mbit/s' || rose=yes
    harness_wait
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || [ -n "${3:-}" ] || [ "$fell" = yes ] || reason="nothing is said of a rail that has become slower"
    [ -n "$reason" ] || [ -n "${3:-}" ] || [ "$rose" = yes ] || reason="nothing is said of a rail that has recovered"
    [ -n "$reason" ] || grep -q 'bulk had to wait for room on its rail [1-9]' "$harness_stderr" || reason="no bulk waited for room"
    harness_result "$1" "$reason"
}

# Switched off, all is as measured at start.
off() {
    local name="without feedback, nothing is noticed" reason
    harness_wanted "$name" || return 0
    start_stream 2 --mca bml_fsbml_feedback 0
    set_rate 20mbit
    sleep 1.5
    set_rate 200mbit
    harness_wait
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || ! grep -qE '(fell|rose) from|had to wait for room' "$harness_stderr" || reason="it was noticed"
    harness_result "$name" "$reason"
}

# A peer that does not run for a while takes nothing in: that is not the rail.
paused() {
    local name="a peer that is stopped is no slow rail" reason pid
    harness_wanted "$name" || return 0
    start_stream 2
    for pid in $(pgrep -f "^${harness_command[0]} "); do
        tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx OMPI_COMM_WORLD_RANK=1 || continue
        kill -STOP "$pid"
        sleep 3
        kill -CONT "$pid"
    done
    harness_wait
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || ! grep -qE '(fell|rose) from' "$harness_stderr" || reason="it was taken for one"
    harness_result "$name" "$reason"
}

harness_begin "Runs jobs whose rails become slower and faster." "$@"
if harness_in version && [ "$harness_version" != 6.0.0rc2 ]; then
    falls "a rail that falls to a tenth, and recovers" 2
elif harness_in version; then
    harness_left_out "a rail that falls to a tenth, and recovers" "with Open MPI 6.0.0rc2 FSBML does not say so; the cause is not known yet"
fi
if harness_in once; then
    falls "... with several ranks a node" 4 quietly
    off
    paused
fi
harness_end
