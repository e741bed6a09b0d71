# Running the sections of a test run, each in a shell of its own, and counting what they report. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# A section reports by lines on its stdout that begin with 'ok' and 'not ok' (TAP). A section that ends with an error, or
# that reports nothing at all, counts as a failure even if no line says so.

tally_passed=0
tally_failed=0
tally_lines=()
tally_failures=""

tally_begin() {
    tally_passed=0
    tally_failed=0
    tally_lines=()
    tally_failures=""
    mkdir -p "$FSBML_BUILD/log"
}

# tally_count LOG: prints how many tests passed and failed.
tally_count() {
    awk '/^ok( |$)/ { passed++ } /^not ok( |$)/ { failed++ } END { printf "%d %d\n", passed, failed }' "$1"
}

# tally_what_failed NAME LOG: each failed test once more, with the first of the comments behind it (TAP), or with the last of
# those before it (GoogleTest). A run has thousands of lines, and this is what whoever started it looks for.
tally_what_failed() {
    awk -v name="$1" -v most=12 '
        function tell(    i) {
            if (test == "") return
            printf "failed: %s: %s\n", name, test
            if (behind == 0) for (i = (before > most ? before - most : 0) + 1; i <= before; ++i) print "    " earlier[i]
            for (i = 1; i <= behind && i <= most; ++i) print "    " later[i]
            test = ""
        }
        /^not ok/ { tell(); before = comments; for (i = 1; i <= before; ++i) earlier[i] = comment[i]
                    test = $0; sub(/^not ok [0-9]* *-? */, "", test); behind = comments = 0; next }
        /^ok/ { tell(); comments = 0; next }
        /^#/ { if (test != "") later[++behind] = $0; comment[++comments] = $0 }
        END { tell() }' "$2"
}

# tally_section NAME ABOUT COMMAND...
tally_section() {
    local name=$1 about=$2 log=$FSBML_BUILD/log/test-$1.log status=0 passed failed start=$SECONDS
    shift 2
    printf '== %s: %s\n' "$name" "$about"
    # A shell of its own, and not as part of a condition: there, set -e would have no effect within it.
    set +e
    (
        set -euo pipefail
        "$@"
    ) | tee "$log"
    status=${PIPESTATUS[0]}
    set -e
    read -r passed failed < <(tally_count "$log")
    if [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then
        printf 'not ok - section %s ended with status %d\n' "$name" "$status" | tee -a "$log"
        failed=1
    elif [ $((passed + failed)) -eq 0 ]; then
        printf 'not ok - section %s reported no test\n' "$name" | tee -a "$log"
        failed=1
    fi
    [ "$failed" -eq 0 ] || tally_failures+=$(tally_what_failed "$name" "$log")$'\n'
    tally_passed=$((tally_passed + passed))
    tally_failed=$((tally_failed + failed))
    tally_lines+=("$(printf '%-14s %4d passed, %d failed (%d s)' "$name" "$passed" "$failed" $((SECONDS - start)))")
    printf '== %s\n\n' "${tally_lines[-1]}"
}

# tally_end: what failed, the overview and the summary; returns 1 if anything failed.
tally_end() {
    [ -z "$tally_failures" ] || printf '%s\n' "$tally_failures"
    printf '%s\n' "${tally_lines[@]}"
    printf '%d passed, %d failed\n' "$tally_passed" "$tally_failed"
    [ "$tally_failed" -eq 0 ]
}

# gtest_to_tap NAME: turns GoogleTest's own output (stdin) into TAP. A program that dies in a test has failed that test; one
# that says nothing has failed as a whole.
gtest_to_tap() {
    awk -v program="$1" '
        /^\[ RUN      \] / { running = $4 }
        /^\[       OK \] / { print "ok - " program ": " $4; running = ""; n++ }
        /^\[  FAILED  \] / && running == "" { next }
        /^\[  FAILED  \] / { print "not ok - " program ": " running; running = ""; n++; next }
        /^\[/ { next }
        running != "" { print "# " $0 }
        END {
            if (running != "") print "not ok - " program ": " running " (it died)"
            else if (n == 0) print "not ok - " program ": ran no test"
        }'
}

# make_check DIR COMMAND...: `make check` of the build in DIR, run by COMMAND; what the programs wrote becomes TAP.
make_check() {
    local dir=$1/build/tests status=0 line result program
    shift
    # No logs of an earlier run may be counted.
    if [ -d "$dir" ]; then find "$dir" -name '*_test.log' -delete; fi
    ("$@") >"$FSBML_BUILD/log/make-check.results" || status=$?
    while read -r line; do
        result=${line%%: *}
        program=${line#*: }
        if [ -f "$dir/$program.log" ] && grep -q '^\[ RUN  ' "$dir/$program.log"; then
            gtest_to_tap "$program" <"$dir/$program.log"
        elif [ "$result" = PASS ]; then
            printf 'ok - %s\n' "$program"
        else
            printf 'not ok - %s\n' "$program"
        fi
    done <"$FSBML_BUILD/log/make-check.results"
    return "$status"
}
