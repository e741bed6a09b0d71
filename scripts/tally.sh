# Running the sections of a test run, each in a shell of its own, and counting what they report. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# A section reports by lines on its stdout that begin with 'ok' and 'not ok' (TAP). A section that ends with an error, or
# that reports nothing at all, counts as a failure even if no line says so. Of the lines of comments, two kinds count:
#
#     ok - NAME # SKIP REASON           left out: neither passed nor failed, and named in the summary
#     # repeated: NAME: REASON          a test ran again (tests/repeat.sh); too many of them fail the run

TALLY_MOST_REPEATED=${FSBML_TEST_REPEATED:-2} # per cent of the tests

tally_begin() {
    tally_passed=0
    tally_failed=0
    tally_left_out=0
    tally_repeated=0
    tally_lines=()
    tally_logs=()
    tally_failures=""
    declare -gA tally_started=()
    tally_queued=()
    tally_queue_pid=""
    mkdir -p "$FSBML_BUILD/log"
}

# tally_count LOG: prints how many tests passed and failed, how many were left out, and how many repetitions there were.
tally_count() {
    awk '/^ok.* # SKIP/ { skipped++; next } /^ok( |$)/ { passed++ } /^not ok( |$)/ { failed++ } /^# repeated: / { repeated++ }
        END { printf "%d %d %d %d\n", passed, failed, skipped, repeated }' "$1"
}

# tally_stamp: copies TAP, and adds to each test's line the seconds since the line before, unless it tells its own.
tally_stamp() {
    local line before=${EPOCHREALTIME/[.,]/} now
    while IFS= read -r line || [ -n "$line" ]; do
        now=${EPOCHREALTIME/[.,]/}
        if [[ $line =~ ^(not )?ok( |$) && $line != *' s)' && $line != *' # SKIP'* ]]; then
            printf '%s (%d.%d s)\n' "$line" $(((now - before) / 1000000)) $(((now - before) / 100000 % 10))
        else
            printf '%s\n' "$line"
        fi
        before=$now
    done
}

# tally_what_failed NAME LOG: each failed test once more, with the first of the comments behind it (TAP), or with the last of
# those before it (GoogleTest). A run has thousands of lines, and these are the lines that its user looks for.
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

# tally_log NAME: where a section's report goes; its status and seconds are beside it once it has ended.
tally_log() { printf '%s/log/test-%s.log\n' "$FSBML_BUILD" "$1"; }

# tally_run NAME COMMAND...: runs a section to its end; its report goes to stdout and to its log.
tally_run() {
    local name=$1 log start=$SECONDS status
    log=$(tally_log "$name")
    shift
    rm -f "$log.end"
    # A shell of its own, and not as part of a condition: there, set -e would have no effect within it.
    set +e
    (
        set -euo pipefail
        "$@"
    ) | tally_stamp | tee "$log"
    status=${PIPESTATUS[0]}
    set -e
    printf '%d %d\n' "$status" $((SECONDS - start)) >"$log.end"
}

# tally_collect NAME: counts what a section has reported, and says how it ended.
tally_collect() {
    local name=$1 log status seconds passed failed skipped repeated words
    log=$(tally_log "$name")
    # Without the file, the section's shell itself was killed.
    if [ -f "$log.end" ]; then read -r status seconds <"$log.end"; else status=137 seconds=0; fi
    read -r passed failed skipped repeated < <(tally_count "$log")
    if [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then
        printf 'not ok - section %s ended with status %d\n' "$name" "$status" | tee -a "$log"
        failed=1
    elif [ $((passed + failed + skipped)) -eq 0 ]; then
        printf 'not ok - section %s reported no test\n' "$name" | tee -a "$log"
        failed=1
    fi
    [ "$failed" -eq 0 ] || tally_failures+=$(tally_what_failed "$name" "$log")$'\n'
    tally_passed=$((tally_passed + passed))
    tally_failed=$((tally_failed + failed))
    tally_left_out=$((tally_left_out + skipped))
    tally_repeated=$((tally_repeated + repeated))
    tally_logs+=("$name" "$log")
    words="$passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || words+=", $skipped left out"
    tally_lines+=("$(printf '%-18s %5d s  %s' "$name" "$seconds" "$words")")
    printf '== %s (at %d:%02d)\n\n' "${tally_lines[-1]}" $((SECONDS / 60)) $((SECONDS % 60))
}

# tally_section NAME ABOUT COMMAND...: a section by itself, whose report is seen as it comes.
tally_section() {
    local name=$1 about=$2 pid
    shift 2
    printf '== %s (at %d:%02d): %s\n' "$name" $((SECONDS / 60)) $((SECONDS % 60)) "$about"
    # Not in the foreground, whose end a trap would wait for.
    set -m
    tally_run "$name" "$@" &
    pid=$!
    set +m
    tally_started[$pid]=$name
    wait "$pid" || :
    unset "tally_started[$pid]"
    tally_collect "$name"
}

# tally_start NAME ABOUT COMMAND...: begins a section beside others; its report is seen when tally_finish collects it.
tally_start() {
    local name=$1 about=$2
    shift 2
    printf '== %s begins (at %d:%02d): %s\n' "$name" $((SECONDS / 60)) $((SECONDS % 60)) "$about"
    rm -f "$(tally_log "$name").end"
    # A process group of its own, which a signal to this shell's group does not reach by itself: tally_abort ends it.
    set -m
    tally_run "$name" "$@" >/dev/null 2>"$(tally_log "$name").err" &
    set +m
    tally_started[$!]=$name
}

# tally_queue COMMAND NAME...: begins sections that run one after the other, each as COMMAND NAME, beside all others and at idle
# priority; tally_look collects them.
tally_queue() {
    local command=$1 name
    shift
    [ $# -gt 0 ] || return 0
    tally_queued=("$@")
    printf '== beside all others, while these wait: %s\n' "$*"
    for name in "$@"; do
        rm -f "$(tally_log "$name").end"
        : >"$(tally_log "$name")"
    done
    set -m
    (
        chrt --idle --pid 0 "$BASHPID" || renice -n 19 "$BASHPID"
        for name in "$@"; do tally_run "$name" "$command" "$name" 2>"$(tally_log "$name").err"; done
    ) >/dev/null 2>&1 &
    set +m
    tally_queue_pid=$!
}

# tally_look: collects those of the queue that have ended. tally_wait: all, once they have; nothing else runs any more.
tally_look() {
    local name
    while [ ${#tally_queued[@]} -gt 0 ]; do
        name=${tally_queued[0]}
        # Where there is none, its shell may have been killed.
        [ -f "$(tally_log "$name").end" ] || ! kill -0 "$tally_queue_pid" 2>/dev/null || break
        tally_queued=("${tally_queued[@]:1}")
        tally_tell "$name"
    done
}

tally_wait() {
    tally_look
    while [ ${#tally_queued[@]} -gt 0 ]; do
        tally_hurry
        sleep 0.2
        tally_look
    done
}

# tally_queue_processes: of each of the queue's its number, scheduling class and state.
tally_queue_processes() {
    [ -n "$tally_queue_pid" ] || return 0
    ps -e -o pid=,ppid=,cls=,stat= | awk -v queue="$tally_queue_pid" '
        { parent[$1] = $2; what[$1] = $3 " " $4 }
        END { for (pid in parent) { for (p = pid; p > 1 && p != queue; p = parent[p]) {} if (p == queue) print pid, what[pid] } }'
}

# tally_hurry: nothing is left to wait for, so the queue takes its share of the processors from whatever else is busy on this machine.
# Only root may do that.
tally_hurry() { tally_queue_processes | awk '$2 == "IDL" { print $1 }' | xargs -r -n 1 chrt --other --pid 0 2>/dev/null || :; }

# tally_pause, tally_resume: the queue stands still. What begins while the others are being stopped is stopped next.
tally_pause() {
    local try pids
    for ((try = 0; try < 20; try++)); do
        pids=$(tally_queue_processes | awk '$3 !~ /^[TZ]/ { print $1 }')
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086 # several
        kill -STOP $pids 2>/dev/null || :
    done
}
tally_resume() { tally_queue_processes | awk '{ print $1 }' | xargs -r kill -CONT 2>/dev/null || :; }

# tally_abort: ends sections that have begun and still run.
tally_abort() {
    local pid
    for pid in "${!tally_started[@]}" $tally_queue_pid; do kill -TERM -- "-$pid" 2>/dev/null || :; done
    tally_resume
}

# tally_running: how many sections have begun and not been collected.
tally_running() { printf '%d\n' "${#tally_started[@]}"; }

# tally_finish: waits for the next of the sections that have begun to end, and collects it.
tally_finish() {
    local pid name=""
    # Not `wait -n`, which does not tell of those that have ended before.
    until [ -n "$name" ]; do
        for pid in "${!tally_started[@]}"; do
            if ! kill -0 "$pid" 2>/dev/null; then name=${tally_started[$pid]} && break; fi
        done
        [ -n "$name" ] || sleep 0.2
    done
    unset "tally_started[$pid]"
    tally_tell "$name"
}

# tally_tell NAME: the report of a section that ran unseen.
tally_tell() {
    cat "$(tally_log "$1")"
    # What a section says on stderr tells why it broke off.
    if ! grep -qs '^0 ' "$(tally_log "$1").end"; then cat "$(tally_log "$1").err" >&2; fi
    tally_collect "$1"
}

# tally_slowest: the twenty tests that took longest, of all sections.
tally_slowest() {
    local i
    for ((i = 0; i < ${#tally_logs[@]}; i += 2)); do
        sed -nE "s/^(not )?ok( [0-9]+)?( - | )(.*) \(([0-9.]+) s\)\$/\5 ${tally_logs[i]}: \4/p" "${tally_logs[i + 1]}"
    done | sort -rn | awk 'NR <= 20 && $1 > 0 { printf "%7.1f s  %s\n", $1, substr($0, length($1) + 2) }'
}

# tally_end: what failed, what was left out and why, the slowest tests, the sections, repetitions and the summary; returns 1 if
# anything failed.
tally_end() {
    local slowest i most total=$((tally_passed + tally_failed)) words
    [ -z "$tally_failures" ] || printf '%s\n' "$tally_failures"
    slowest=$(tally_slowest)
    [ -z "$slowest" ] || printf 'the slowest tests:\n%s\n\n' "$slowest"
    for ((i = 0; i < ${#tally_logs[@]}; i += 2)); do
        sed -nE "s/^ok( [0-9]+)?( - | )(.*) # SKIP (.*)/left out: ${tally_logs[i]}: \3: \4/p
            s/^# repeated: /repeated: ${tally_logs[i]}: /p" "${tally_logs[i + 1]}"
    done
    printf '%s\n' "${tally_lines[@]}"
    # At least one: of few tests, one is more than that share.
    most=$((total * TALLY_MOST_REPEATED / 100))
    [ "$most" -gt 0 ] || most=1
    if [ "$tally_repeated" -gt "$most" ]; then
        printf 'not ok - more than %d %% of the tests were repeated\n' "$TALLY_MOST_REPEATED"
        tally_failed=$((tally_failed + 1))
    fi
    printf 'repeated %d of %d\n' "$tally_repeated" "$total"
    words="$tally_passed passed, $tally_failed failed"
    [ "$tally_left_out" -eq 0 ] || words+=", $tally_left_out left out"
    printf '%s\n' "$words"
    [ "$tally_failed" -eq 0 ]
}

# gtest_to_tap NAME: turns GoogleTest's own output (stdin) into TAP. A program that dies in a test has failed that test; one
# that says nothing has failed as a whole.
gtest_to_tap() {
    awk -v program="$1" '
        # The seconds of "(12 ms)"; GoogleTest leaves them out where they are 0.
        function took(    ms) {
            ms = match($0, /\([0-9]+ ms\)/) ? substr($0, RSTART + 1) + 0 : 0
            return sprintf(" (%.1f s)", ms / 1000)
        }
        /^\[ RUN      \] / { running = $4 }
        /^\[       OK \] / { print "ok - " program ": " $4 took(); running = ""; n++ }
        /^\[  FAILED  \] / && running == "" { next }
        /^\[  FAILED  \] / { print "not ok - " program ": " running took(); running = ""; n++; next }
        /^\[/ { next }
        running != "" { print "# " $0 }
        END {
            if (running != "") print "not ok - " program ": " running " (it died)"
            else if (n == 0) print "not ok - " program ": ran no test"
        }'
}

# make_check DIR COMMAND...: `make check` of the build in DIR, run by COMMAND; what the programs wrote becomes TAP.
make_check() {
    local dir=$1/build/tests status=0 line result program took results=$FSBML_BUILD/log/${1##*/}-check.results
    shift
    # No logs of an earlier run may be counted.
    if [ -d "$dir" ]; then find "$dir" \( -name '*_test.log' -o -name '*_test.ms' \) -delete; fi
    ("$@") >"$results" || status=$?
    # The time until here is the compiler's.
    printf '# compiled and run\n'
    while read -r line; do
        result=${line%%: *}
        program=${line#*: }
        took=""
        [ ! -f "$dir/$program.ms" ] || took=$(awk '{ printf " (%.1f s)", $1 / 1000 }' "$dir/$program.ms")
        if [ -f "$dir/$program.log" ] && grep -q '^\[ RUN  ' "$dir/$program.log"; then
            gtest_to_tap "$program" <"$dir/$program.log"
        elif [ "$result" = PASS ]; then
            printf 'ok - %s%s\n' "$program" "$took"
        else
            printf 'not ok - %s%s\n' "$program" "$took"
        fi
    done <"$results"
    return "$status"
}
