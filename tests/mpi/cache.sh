#!/usr/bin/env bash
# Parameters from files: kept by one job and used by the next, refused when they are damaged or the rails have changed, or
# pinned by the user.
#
# Once: files and what is in them are FSBML's own.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

harness_offload=off # what is measured has no bucket of 70 kB, which fills while a process waits for its processor
LIMIT=${FSBML_TEST_LIMIT:-90}
RECALLED='parameters of an earlier job, from'
KEPT='parameters kept in'
CHANGED='is not what an earlier job has measured'

# job ARGUMENTS...: one more job on the cluster, verbose.
job() { harness_measure 2 --mca bml fsbml --mca bml_fsbml_verbose 5 -x XDG_CACHE_HOME="$cache" "$@" "${harness_command[@]}"; }

verdict() { harness_said "order 1" "$LIMIT" "$@"; }

# refusal WANTED: the same of a job that ends in MPI_Init, in time, with these words.
refusal() {
    case "$harness_status" in
        0) printf 'it ran' ;;
        124 | 137) printf 'it does not end' ;;
        *) grep -qE -- "$1" "$harness_stderr" || printf "nothing says '%s'" "$1" ;;
    esac
}

# rate RAIL: MB/s of a rail, as the last job has it.
rate() { sed -nE "s/^.*fsbml: $1 +tcp:[^ ]+( +[0-9.e+]+){5} +([0-9.e+]+) .*/\2/p" "$harness_stderr" | head -n 1; }

# about VALUE EXPECTED: prints a reason if they differ by more than a tenth.
about() {
    awk -v value="${1:-0}" -v expected="$2" \
        'BEGIN { if (value < 0.9 * expected || value > 1.1 * expected) printf "it is %s instead of about %s", value, expected }'
}

files() { find "$cache" -type f | wc -l; }
kept() { find "$cache" -type f -name 'rails-*' | head -n 1; }

kept_and_used() {
    job --mca bml_fsbml_cache write
    harness_result "the first job keeps what it measures" "$(verdict "$KEPT" "$RECALLED")"
    harness_result "... in one file, of this user alone" "$([ "$(files) $(stat -c %a "$(kept)" 2>/dev/null)" = "1 600" ] || find "$cache" -ls)"
    job --mca bml_fsbml_cache write
    harness_result "the second job uses it" "$(verdict "$RECALLED" "$KEPT|$CHANGED")"
    harness_result "... with the same rate of the slow rail" "$(about "$(rate rail1)" 2.39)"
    job --mca bml_fsbml_cache read
    harness_result "... as does one that may not write" "$(verdict "$RECALLED" "$KEPT|$CHANGED")"
    job
    harness_result "by default there is no cache" "$(verdict '' "$RECALLED|$KEPT")"
    job --mca bml_fsbml_cache read --mca bml_fsbml_samples 8
    harness_result "what was measured otherwise is not used" "$(verdict '' "$RECALLED|$KEPT|cannot be used")"
    job --mca bml_fsbml_cache read --mca bml_fsbml_site here
    harness_result "... nor what is of nodes without a site's name" "$(verdict '' "$RECALLED|$KEPT|cannot be used")"
}

changed_rails() {
    local before
    before=$(cksum "$(kept)")
    harness_cluster_up 2 200mbit 60mbit
    job --mca bml_fsbml_cache read
    harness_result "a rail that has changed is measured again" "$(verdict "$CHANGED" "$KEPT")"
    harness_result "... and found to be faster" "$(about "$(rate rail1)" 7.17)"
    harness_result "... and what is kept stays as it is" "$([ "$(cksum "$(kept)")" = "$before" ] || echo "it has changed")"
    job --mca bml_fsbml_cache write
    harness_result "... unless it may be written" "$(verdict "$KEPT" '')"
    job --mca bml_fsbml_cache read
    harness_result "... and then is used" "$(verdict "$RECALLED" "$CHANGED")"
    harness_result "... with the new rate" "$(about "$(rate rail1)" 7.17)"
    harness_cluster_up 2 200mbit,delay=3ms 60mbit
    job --mca bml_fsbml_cache read
    harness_result "as is a rail with another latency" "$(verdict "$CHANGED" '')"
    harness_cluster_up 2 200mbit 20mbit
    job --mca bml_fsbml_cache write
    harness_result "and back again" "$(verdict "$KEPT" '')"
    disturbed
}

# Two processes that take turns on one processor measure the rails' rates as lower than they are.
disturbed() {
    local processors
    processors=$(taskset -cp $$ | sed 's/.*: //')
    rm -f -- "$(kept)"
    taskset -cp "${processors%%[,-]*}" $$ >/dev/null
    harness_job "$LIMIT" 2 --mca bml fsbml --mca bml_fsbml_verbose 5 -x XDG_CACHE_HOME="$cache" --mca bml_fsbml_cache write \
        "${harness_command[@]}"
    taskset -cp "$processors" $$ >/dev/null
    harness_result "what was disturbed is kept as such" "$(verdict "$KEPT.*, but the measurement was disturbed" "$RECALLED")"
    job --mca bml_fsbml_cache write
    harness_result "... and measured again by the next job" "$(verdict "is not used: its measurement was disturbed" "$RECALLED")"
    harness_result "... which replaces it" "$(grep -q "$KEPT" "$harness_stderr" || echo "it does not keep it"; about "$(rate rail1)" 2.39)"
}

# spoilt NAME REASON COMMAND...: what the command makes of the file is not used, and replaced.
spoilt() {
    local name=$1 reason=$2 refused
    shift 2
    while true; do
        "$@" "$(kept)"
        job --mca bml_fsbml_cache write
        # The run-time of 4.1 loses one message in twenty of those that a process sends while MPI starts.
        refused=$(verdict "(Reason: +|is not used: )$reason" "$RECALLED")
        job --mca bml_fsbml_cache read
        grep -q "$CHANGED" "$harness_stderr" || break
        again "$name" "two jobs have measured the rails otherwise" || break
    done
    harness_result "$name" "$refused"
    harness_result "... and is replaced" "$(verdict "$RECALLED" "cannot be used|$CHANGED")"
}

bad_files() {
    spoilt "a damaged file" "it is damaged" sed -i 's/ G=/ G=1/'
    spoilt "a file that was cut off" "it has no rails" truncate -s 60
    spoilt "an empty file" "it has no rails" truncate -s 0
    spoilt "a file of a later version" "it is of version 9" sed -i '1s/ [0-9]*$/ 9/'
    spoilt "a file that others can write" "others than this user can write it" chmod 666
    cache=/proc/fsbml
    job --mca bml_fsbml_cache write
    harness_result "a folder in which nothing can be made" "$(verdict "cannot be kept for later jobs|are not kept" '')"
    cache=$harness_logs/cache
}

pinned() {
    local mine=$harness_logs/mine
    sed -E '/ rail1 /s/ G=[^ ]+/ G=1000/' "$(kept)" >"$mine"
    job --mca bml_fsbml_table "$mine"
    harness_result "a file that the user has edited is used as it is" "$(verdict '' 'cannot be used|measurement')"
    harness_result "... whatever the rails are" "$(about "$(rate rail1)" 1)"
    sed -i '/ rail1 /d' "$mine"
    job --mca bml_fsbml_table "$mine"
    harness_result "one that lacks a rail ends MPI_Init" "$(refusal 'a rail of this job is not in it')"
    job --mca bml_fsbml_table "$harness_logs/nowhere"
    harness_result "... as does one that is not there" "$(refusal 'it cannot be opened: No such file')"
}

harness_begin "Runs jobs that keep, use and refuse parameters of rails in files." "$@"
cache=$harness_logs/cache
mkdir "$cache"
if harness_in once; then
    harness_program order 1
    harness_cluster_up 2 200mbit 20mbit
    kept_and_used
    changed_rails
    bad_files
    pinned
fi
harness_end
