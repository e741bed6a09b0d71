#!/usr/bin/env bash
# Records of what processes give to their rails (bml_fsbml_record): they hold what a program has sent, and `whatif` reads them.
#
# Once: what is written, and how it is read, is FSBML's own.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}
RAILS=(200mbit 60mbit)
NOT_WRITTEN='record of what a process sends cannot be written'

# job PROGRAM ARGUMENT MPIRUN-OPTIONS...: one job of two ranks.
job() {
    harness_program "$1" "$2"
    harness_job "$LIMIT" 2 --mca bml fsbml "${@:3}" "${harness_command[@]}"
}

# reason PROGRAM COMMAND...: why the last job failed, else why the command does not hold, or nothing.
reason() {
    local failure
    failure=$(harness_failure "$1" "$LIMIT")
    shift
    if [ -n "$failure" ]; then
        printf '%s' "$failure"
    elif ! "$@"; then
        printf "'%s' is not so: %s" "$*" "$(find "$records" -type f -exec head -n 3 {} +)"
    fi
}

# like RANK LEAST MOST: messages to the other rank with LEAST to MOST bytes in the rank's record.
like() { awk -v peer=$((1 - $1)) -v least="$2" -v most="$3" '/ # / && $2 == peer && $3 >= least && $3 <= most' "$records/$1.sends" | wc -l; }

are() { [ "$(like "$1" "$2" "$3")" -eq "$4" ]; }

# whole RANK: its record has as many sends as its end says, in the order of time.
whole() {
    awk -v rank="$1" 'NR == 1 { good = $1 == "fsbml-sends" && $4 == rank && $6 == 2; next }
        $1 == "end" { good = good && $2 == NR - 2; ended = NR; next }
        $1 < last { good = 0 }
        { last = $1 }
        END { exit !(good && ended == NR) }' "$records/$1.sends"
}

both_rails() { [ "$(sed -n 's/^[0-9].* # //p' "$records/$1.sends" | sort -u | wc -l)" -eq 2 ]; }
private() { [ "$(stat -c %a "$records/$1.sends")" = 600 ]; }
none() { [ -z "$(find "$records" -type f)" ]; }

# bytes RANK: of all messages in its record.
bytes() { awk '/ # / { sum += $3 } END { printf "%.0f", sum }' "$records/$1.sends"; }

# A message has ob1's header, of 14 to 32 bytes for those that go whole.
counts() {
    local rank
    job lifecycle busy --mca bml_fsbml_record "$records/"
    for rank in 0 1; do
        harness_result "rank $rank: 200 messages of 3000 bytes" "$(reason lifecycle are "$rank" 3000 3080 200)"
        harness_result "... in a record with its end" "$(reason lifecycle whole "$rank")"
        harness_result "... of this user alone" "$(reason lifecycle private "$rank")"
    done
    job lifecycle unreceived --mca bml_fsbml_record "$records"
    harness_result "20 messages that are never received, in the place of the last job's" "$(reason lifecycle are 0 512 590 20)"
    harness_result "... and none of those" "$(reason lifecycle are 0 3000 3080 0)"
    rm -f "$records"/*.sends
    job lifecycle busy
    harness_result "without the parameter there is no record" "$(reason lifecycle none)"
}

simulated() {
    local table=$harness_logs/table
    harness_table "$table" "${RAILS[@]}"
    job order 1 --mca bml_fsbml_record "$records" --mca bml_fsbml_table "$table"
    harness_result "messages of all sizes" "$(reason "order 1" whole 0)"
    harness_result "... over both rails" "$(reason "order 1" both_rails 0)"
    "$FSBML_TOP/fsbml" whatif "$records" --table "$table" --json "$harness_logs/json" >"$harness_stdout" 2>"$harness_stderr" ||
        harness_status=$?
    harness_result "... which whatif reads" "$([ "$harness_status" -eq 0 ] || echo "exit status $harness_status")"
    harness_result "... with all of their bytes" \
        "$(grep -qE "\"bytes\": $(($(bytes 0) + $(bytes 1)))," "$harness_logs/json" || echo "not $(bytes 0) and $(bytes 1)")"
}

told() { grep -q "$NOT_WRITTEN" "$harness_stderr"; }

errors() {
    rm -f "$records"/*.sends
    job order 1 --mca bml_fsbml_record /proc/fsbml/
    harness_result "a folder in which nothing can be made is told, and the job goes on" "$(reason "order 1" told)"
    job lifecycle busy --mca bml_fsbml_record "$records/run1"
    harness_result "the beginning of a name" "$(reason lifecycle test -f "$records/run1.0.sends")"
}

run_part() {
    records=$harness_logs/records
    mkdir -p "$records"
    harness_cluster_up 2 "${RAILS[@]}"
    "$1"
}

harness_begin "Runs jobs that record what they send." "$@"
! harness_in once || harness_lanes run_part counts simulated errors
harness_end
