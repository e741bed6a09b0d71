# Many cases in one MPI job: the command line of `suite` (suite.c), and a TAP line for each of its cases. Sourced by harness.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

harness_command=()

# suite_has NAME: is it a case of `suite`, and not a program of its own?
suite_has() { grep -qs '^CHECK_CASE' "$harness_sources/$1.c"; }

# harness_program NAME ARGUMENT...: sets harness_command to what mpirun starts: the program of that name, or `suite` with the case.
harness_program() {
    if suite_has "$1"; then
        harness_command=("$harness_programs/suite" --limit "$LIMIT" "$*")
    else
        harness_command=("$harness_programs/$1" "${@:2}")
    fi
}

# harness_on_nodes NODE:NAME=VALUE...: makes harness_command set the variable for the ranks on that node only. One application
# context for all: with several of them, packaged PRRTE 3.0 (Debian 13) loses its daemons.
harness_on_nodes() {
    local one script=""
    [ $# -gt 0 ] || return 0
    for one in "$@"; do script+="[ \"\$(uname -n)\" != ${one%%:*} ] || export '${one#*:}'; "; done
    harness_command=(sh -c "$script"'exec "$@"' on_nodes "${harness_command[@]}")
}

# suite_passed CASE: prints the seconds that the case took in the last job; false if it did not pass.
suite_passed() {
    local seconds
    seconds=$(sed -nE "s/^case $1: [1-9][0-9]* checks passed in ([0-9.]+) s;.*/\1/p" "$harness_stdout")
    [ -n "$seconds" ] && printf '%s' "$seconds"
}

# suite_output CASE: what rank 0 and others printed in the last job while the case ran.
suite_output() { sed -n "/^case $1 begins\$/,/^case $1: /p" "$harness_stdout"; }

# suite_sent CASE RAIL: bytes that rank 0's node sent on the rail during the case of the last job.
suite_sent() { sed -nE "s/^case $1: .*[ ,]([0-9]+)( bytes)? on rail$2(,.*)?\$/\1/p" "$harness_stdout"; }

# suite_results LIMIT BEFORE AFTER NOISE CASE...: the TAP lines of the last job, which ran the cases within LIMIT seconds. Each is called BEFORE, its own name,
# AFTER. A case that had begun has failed with the job, and so have all behind it, which were not reached. The last line
# is the job's own: it ended, well, and with nothing on stderr that may not be there (NOISE is its first line).
suite_results() {
    local before=$2 after=$3 noise=$4 one seconds reason job_seconds=$harness_seconds died=""
    reason=$(harness_ended_late "$1")
    shift 4
    if [ -z "$reason" ] && [ "$harness_status" -ne 0 ]; then reason="exit status $harness_status"; fi
    for one in "$@"; do
        if seconds=$(suite_passed "$one"); then
            harness_seconds=$seconds
            harness_result "$before$one$after"
        elif [ -n "$died" ]; then
            harness_seconds=0
            harness_not_ok "$before$one$after" "not reached: the job ended before it"
        else
            harness_seconds=$job_seconds
            died=$one
            harness_result "$before$one$after" "it did not pass; the job: ${reason:-exit status 0}"
        fi
    done
    harness_seconds=$job_seconds
    if [ -z "$reason" ] && [ -n "$died" ]; then
        reason="it ended with 0, though '$died' did not pass"
    elif [ -z "$reason" ] && ! grep -qx "suite: $# cases passed" "$harness_stdout"; then
        reason="it did not say that $# cases passed"
    elif [ -z "$reason" ] && [ -n "$noise" ]; then
        reason="stderr is not clean: $noise"
    fi
    if [ -z "$died" ]; then
        harness_result "$before$* in one job$after" "$reason"
    else
        harness_not_ok "$before$* in one job$after" "$reason"
    fi
}

# suite_lost_a_message NAME: true if the job may run once more. Where nine threads send and receive, Open MPI 6.0.0rc2 loses a message
# within itself now and then, with r2 as well (17 of 280 jobs; 4.1.4 and 5.0.7: 0 of 160): all sockets are empty, and all ranks wait.
suite_lost_a_message() {
    [ "$harness_version" = 6.0.0rc2 ] && grep -q '^stress: hung: ' "$harness_stderr" && again "$1" "Open MPI lost a message among threads" 2
}

# harness_suite RANKS BEFORE AFTER CASE... -- ARGUMENT...: runs the wanted ones of the cases in one job with these arguments of mpirun.
harness_suite() {
    local ranks=$1 before=$2 after=$3 one cases=() limit
    shift 3
    while [ "$1" != -- ]; do
        ! harness_wanted "$before$1$after" || cases+=("$1")
        shift
    done
    shift
    [ ${#cases[@]} -gt 0 ] || return 0
    # A case that hangs ends the job itself, within its own limit: three times LIMIT for a slow one.
    limit=$(((${#cases[@]} + 3) * LIMIT))
    while :; do
        harness_job "$limit" "$ranks" "$@" "$harness_programs/suite" --limit "$LIMIT" "${cases[@]}"
        suite_lost_a_message "${before}stress$after" || break
    done
    suite_results "$limit" "$before" "$after" "$(harness_noise)" "${cases[@]}"
}
