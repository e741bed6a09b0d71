#!/usr/bin/env bash
# Rails that become slower and faster while a job runs: FSBML notices, says so, and every byte is right; and it does not take for
# a slower rail what is none.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}
SECONDS_OF_STREAM=6 # where nothing is waited for

# start_stream SECONDS RANKS OPTIONS...: the job, until its stream has begun.
start_stream() {
    local ranks=$2
    harness_cluster_up 2 200mbit 100mbit
    harness_stream "$1"
    shift 2
    harness_start "$LIMIT" "$ranks" --mca bml fsbml --mca bml_fsbml_verbose 5 "$@" "${harness_command[@]}"
    harness_has_come "$harness_stdout" '^stream: begins' || :
    sleep 1 # of the stream at the rails' first rates
}

set_rate() { harness_fsbml cluster set --name "$harness_cluster" --node 0 --rail 0 "rate=$1"; }

# change RAIL AFTER: prints a change of rate in the report's JSON that ended at less than so many Mbit/s, as 'node before after';
# nothing if there is none.
change() {
    /usr/bin/python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
for c in report["changes"]:
    if c["rail"] == sys.argv[2] and c["after_mbps"] < float(sys.argv[3]) and 0 < c["ns"] < report["duration_ns"]:
        print(c["node"], c["before_mbps"], c["after_mbps"])
        break' "$left/report.json" "$1" "$2"
}

# fell_in_all NAME: the report's sentences, its figures and the trace have what was said on stderr.
fell_in_all() {
    local reason="" told
    told=$(change rail0 60)
    case "$told" in
        'node0 1'[0-9][0-9].*) ;;
        *) reason="the report has no change of rail0 on node0 from its first rate: '$told'" ;;
    esac
    [ -n "$reason" ] || grep -q '"rail0 changed its rate on node0' "$left/report.json" || reason="no sentence of the report names it"
    [ -n "$reason" ] || grep -qE '^[0-9]+ rate rail0 1[0-9]{8} [1-5][0-9]{7}$' "$left/0.decisions" || reason="the trace does not have it"
    [ -z "$reason" ] || grep -E 'changes|"rail": "rail|changed its rate' "$left/report.json" | sed 's/^/# report: /'
    harness_result "$1" "$reason"
}

# falls NAME RANKS [quietly]: rail0 falls to a tenth, and recovers. More ranks than processors: they may say nothing, since they
# pause as well.
falls() {
    local fell=no rose=no reason seconds=30
    harness_wanted "$1" || return 0
    # What it had measured on processors that others wanted is not what this is about.
    harness_table "$left/given" 200mbit 100mbit
    [ -z "${3:-}" ] || seconds=$SECONDS_OF_STREAM
    start_stream "$seconds" "$2" --mca bml_fsbml_table "$left/given" --mca bml_fsbml_report "$left/report.json" --mca bml_fsbml_trace "$left/"
    set_rate 20mbit
    ! harness_has_come "$harness_stderr" 'rail0 fell from [0-9]+ to [0-9]+ Mbit/s' || fell=yes
    set_rate 200mbit
    ! harness_has_come "$harness_stderr" 'rail0 rose from [0-9]+ to [0-9]+ Mbit/s' || rose=yes
    harness_enough
    harness_wait
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || [ -n "${3:-}" ] || [ "$fell" = yes ] || reason="nothing is said of a rail that has become slower"
    [ -n "$reason" ] || [ -n "${3:-}" ] || [ "$rose" = yes ] || reason="nothing is said of a rail that has recovered"
    # Where processors are busy, a rail's window is as long as a process may be away: longer than all that is under way.
    [ -n "$reason" ] || ! grep -qE '^stream: (1[5-9]|[2-9][0-9])' "$harness_stdout" ||
        grep -q 'bulk had to wait for room on its rail [1-9]' "$harness_stderr" || reason="no bulk waited for room"
    harness_result "$1" "$reason"
    [ -n "$reason" ] || [ -n "${3:-}" ] || fell_in_all "... which report and trace tell"
}

# Small messages are sent amid bulk, so this has to wait for room on its rail: also where other programs want the processors, which they
# cannot take from this job.
waits() {
    local name="bulk waits for room" reason
    harness_wanted "$name" || return 0
    harness_cluster_up 2 200mbit 100mbit
    harness_program stream 1
    harness_measure 2 --mca bml fsbml --mca bml_fsbml_verbose 5 "${harness_command[@]}"
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || grep -q 'bulk had to wait for room on its rail [1-9]' "$harness_stderr" || reason="no bulk waited for room"
    harness_result "$name" "$reason"
}

# A rail that falls and stays so: the report says it in words, and the next job begins with the rate of then.
learnt() {
    local name="a rail that has become slow" reason rate
    harness_wanted "$name" || return 0
    local cached=(--mca bml fsbml --mca bml_fsbml_verbose 5 -x XDG_CACHE_HOME="$left")
    harness_cluster_up 2 200mbit 100mbit
    harness_program stream 1
    harness_measure 2 "${cached[@]}" --mca bml_fsbml_cache write "${harness_command[@]}"
    start_stream "$SECONDS_OF_STREAM" 2 --mca bml_fsbml_report "$left/report.txt" --mca bml_fsbml_cache write -x XDG_CACHE_HOME="$left"
    set_rate 20mbit
    harness_wait
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || grep -qE '^  rail0 changed its rate on node0' "$left/report.txt" ||
        reason="the report does not begin with it: $(head -n 12 "$left/report.txt")"
    [ -n "$reason" ] || grep -qE '^  rail0 on node0: 1[0-9.]+, [1-5]' "$left/report.txt" || reason="the rates over time are not told"
    [ -n "$reason" ] || grep -q 'rail0 has changed from .* since it was measured' "$harness_stderr" || reason="it did not go to the cache"
    harness_result "$name" "$reason"
    [ -z "$reason" ] || return 0
    rate=$(sed -nE 's/^rail [^ ]+ rail0 .* G=([0-9.]+) .*/\1/p' "$left"/fsbml/rails-*)
    reason=$(awk -v gap="$rate" 'BEGIN { if (gap < 330 || gap > 550) printf "%s ns a byte are kept", gap }')
    harness_result "... is kept with its new rate" "$reason"
    harness_program stream 1
    harness_measure 2 "${cached[@]}" --mca bml_fsbml_cache read "${harness_command[@]}"
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || grep -q 'parameters of an earlier job, from' "$harness_stderr" || reason="the next job does not look for it"
    [ -n "$reason" ] || ! grep -q 'is not what an earlier job has measured' "$harness_stderr" || reason="it is not as the next job finds it"
    harness_result "... with which the next job begins" "$reason"
    harness_cluster_down # its first rail is slow
}

# Switched off, the rails keep the parameters of the start.
off() {
    local name="without feedback, nothing is noticed" reason
    harness_wanted "$name" || return 0
    start_stream 4 2 --mca bml_fsbml_feedback 0
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
    local name="a peer that is stopped is no slow rail"
    harness_wanted "$name" || return 0
    start_stream "$SECONDS_OF_STREAM" 2
    harness_stream_paused "$name" '(fell|rose) from'
}

harness_begin "Runs jobs whose rails become slower and faster." "$@"
need_packages "the tests of feedback" python3
left=$harness_logs/left
mkdir "$left"
if harness_in version; then
    falls "a rail that falls to a tenth, and recovers" 2
    waits
fi
if harness_in once; then
    falls "... with several ranks a node" 4 quietly
    learnt
    off
    paused
fi
harness_end
