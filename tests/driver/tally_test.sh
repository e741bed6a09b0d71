#!/usr/bin/env bash
# Tests of how `fsbml test` counts: what fails must be seen to fail, however it ends.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Prints TAP. Needs nothing but a shell.
set -euo pipefail
FSBML_BUILD=$(mktemp -d)
export FSBML_BUILD
trap 'rm -rf -- "$FSBML_BUILD"' EXIT
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/tally.sh

good() { printf 'ok 1 - this\nok - that\n# ok, a comment\n'; }
bad() {
    printf 'ok 1 - this\nnot ok 2 - that\n'
    return 1
}
broken() {
    printf 'ok 1 - this\n'
    false
    printf 'ok 2 - never\n'
}
killed() {
    printf 'ok 1 - this\n'
    kill -KILL "$BASHPID"
}
silent() { :; }
dying() {
    printf 'ok 1 - this\n'
    die "no way" 2>/dev/null
}
liar() { printf 'not ok 1 - this\n'; }
partly() { printf 'ok 1 - this\nok 2 - those # SKIP there is no network\n'; }
none() { printf 'ok - all of it # SKIP there is no network\n'; }
# A hundred tests, N of which ran again; `again` writes where the section's report goes.
repeat_fd=1
again_one() {
    seq -f 'ok %g - this' 100
    again this "it was disturbed"
}
again_three() {
    seq -f 'ok %g - this' 100
    again this "it was disturbed" 3 && again this "it was disturbed" 3 && again this "it was disturbed" 3
}
again_too_often() {
    printf 'ok 1 - this\n'
    again this "it was disturbed" && ! again this "it was disturbed"
}
slow() {
    printf 'ok 1 - told (3.2 s)\nnot ok 2 - failed (12.0 s)\nok 3 - quick (0.0 s)\n'
    sleep 0.3
    printf 'ok 4 - measured\n'
}
# sibling OWN OTHER: ends well only if another section touches OTHER meanwhile, which at idle priority may take it long.
sibling() {
    local try
    : >"$FSBML_BUILD/$1"
    for ((try = 0; try < 600; try++)); do
        [ ! -e "$FSBML_BUILD/$2" ] || break
        sleep 0.1
    done
    [ "$try" -lt 600 ] && printf 'ok 1 - %s\n' "$1"
}

# summary SECTION...: the last line that these sections end in, and the status.
summary() {
    local section status=0
    tally_begin
    for section in "$@"; do tally_section "$section" "a test" "$section" >/dev/null; done
    tally_end >"$FSBML_BUILD/end" || status=$?
    printf '%s: %d\n' "$(tail -n 1 "$FSBML_BUILD/end")" "$status"
}

# repeated SECTION: the line before that, and the status.
repeated() {
    local outcome
    outcome=$(summary "$@")
    printf '%s: %s\n' "$(tail -n 2 "$FSBML_BUILD/end" | head -n 1)" "${outcome##*: }"
}

# beside SECTION...: the last line of sections that run at the same time.
beside() {
    local section words status=0
    tally_begin
    for section in "$@"; do
        read -ra words <<<"$section"
        tally_start "${words[0]}" "a test" "${words[@]:1}" >/dev/null
    done
    while [ "$(tally_running)" -gt 0 ]; do tally_finish >/dev/null 2>&1; done
    tally_end >"$FSBML_BUILD/end" || status=$?
    printf '%s: %d\n' "$(tail -n 1 "$FSBML_BUILD/end")" "$status"
}

# queued SECTION...: the last line of sections of which the last runs beside the others, and those one after the other.
queued() {
    local status=0
    tally_begin
    {
        tally_queue stage "${@:1:$#-1}"
        tally_section "${*: -1}" "a test" "${@: -1}"
        tally_wait
    } >"$FSBML_BUILD/queue" 2>&1
    tally_end >"$FSBML_BUILD/end" || status=$?
    printf '%s: %d\n' "$(tail -n 1 "$FSBML_BUILD/end")" "$status"
}
stage() { "$1"; }
first() { sibling a b; }
# Only behind `first`, which waits for `amid`.
second() { [ -e "$(tally_log first).end" ] && printf 'ok 1 - second\n'; }
# Until the last of them has looked: those that are left have their share then.
amid() { sibling b a && sibling c d; }
idle() {
    [[ $(chrt --pid "$BASHPID") != *SCHED_IDLE* ]] || printf 'ok 1 - idle\n'
    : >"$FSBML_BUILD/d"
}
# Until it has its share.
hurried() {
    local try
    for ((try = 0; try < 600; try++)); do
        [[ $(chrt --pid "$BASHPID") == *SCHED_IDLE* ]] || { printf 'ok 1 - hurried\n' && break; }
        sleep 0.1
    done
}
# Until `still` has looked.
ticking() {
    local tick
    for ((tick = 0; tick < 1200; tick++)); do
        [ ! -e "$FSBML_BUILD/looked" ] || { printf 'ok 1 - ticking\n' && break; }
        printf '%d' "$tick" >"$FSBML_BUILD/tick"
        (sleep 0.05)
    done
}
# Twice what it has come to, half a second apart: stopped, and going on again.
still() {
    local before after
    some_tick && tally_pause
    before=$(cat "$FSBML_BUILD/tick")
    sleep 0.5
    after=$(cat "$FSBML_BUILD/tick")
    tally_resume
    : >"$FSBML_BUILD/looked"
    [ "$after" = "$before" ] && printf 'ok 1 - still\n'
}
some_tick() { until [ -s "$FSBML_BUILD/tick" ]; do sleep 0.05; done; }
fine() { good; }
killed_all() { kill -KILL "-$(ps -o pgid= "$BASHPID" | tr -d ' ')"; }

# told SECTION: what the end says of its failures, in a line.
told() {
    summary "$@" >/dev/null 2>&1
    grep -vE '^(#|$)|passed, |^repeated [0-9]' "$FSBML_BUILD/end" | sed -E 's/ \([0-9.]+ s\)$//' | tr '\n' ';'
}
why() { printf 'ok 1 - this\n# noise\nok 2 - those\nnot ok 3 - that, too\n# the reason\n# and more\nok 4 - others\n# noise\n'; }
before() { printf '# noise\nok - prog: A.a\n# x.cpp:1: Failure\nnot ok - prog: A.b\nok - prog: A.c\n'; }
much() {
    printf 'not ok 1 - much\n'
    seq -f '# line %g' 100
}

gtest() { printf '%s\n' "$@" | gtest_to_tap prog | tr '\n' ';'; }

ok "two tests pass" equal "$(summary good)" "2 passed, 0 failed: 0"
ok "a failed test is counted" equal "$(summary good bad)" "3 passed, 1 failed: 1"
ok "a section that breaks off has failed" equal "$(summary broken)" "1 passed, 1 failed: 1"
ok "a section that is killed has failed" equal "$(summary killed 2>/dev/null)" "1 passed, 1 failed: 1"
ok "a section that dies has failed" equal "$(summary dying)" "1 passed, 1 failed: 1"
ok "a section without a test has failed" equal "$(summary silent)" "0 passed, 1 failed: 1"
ok "a failed line counts although the status is 0" equal "$(summary liar good)" "2 passed, 1 failed: 1"

ok "what is left out is neither passed nor failed" equal "$(summary partly)" "1 passed, 0 failed, 1 left out: 0"
ok "... but named, with the reason" grep -qx 'left out: partly: those: there is no network' "$FSBML_BUILD/end"
ok "a section may be left out as a whole" equal "$(summary none good)" "2 passed, 0 failed, 1 left out: 0"

ok "no test was repeated" equal "$(repeated good)" "repeated 0 of 2: 0"
ok "one in a hundred was" equal "$(repeated again_one)" "repeated 1 of 100: 0"
ok "... which is named" grep -qx 'repeated: again_one: this: it was disturbed' "$FSBML_BUILD/end"
ok "three in a hundred fail the run" equal "$(repeated again_three)" "repeated 3 of 100: 1"
ok "a test may be repeated once" equal "$(repeated again_too_often)" "repeated 1 of 1: 0"

ok "sections run beside each other" equal "$(beside 'one sibling a b' 'two sibling b a' 'three good')" "4 passed, 0 failed: 0"
ok "... of which one may fail" equal "$(beside 'one broken' 'two killed' 'three good')" "4 passed, 2 failed: 1"

ok "what only computes runs beside them, one after the other" equal "$(rm -f "$FSBML_BUILD"/[a-d] && queued first second idle amid)" \
    "5 passed, 0 failed: 0"
ok "... and each is told" equal "$(grep -oE '^== (first|second|idle|amid) +[0-9]+ s' "$FSBML_BUILD/queue" | wc -l)" 4
[ "$(id -u)" -ne 0 ] || ok "... with its share of the processors once all others have ended" equal "$(queued hurried fine)" "3 passed, 0 failed: 0"
ok "... but not while it is paused" equal "$(queued ticking still)" "2 passed, 0 failed: 0"
ok "... which are none where there is no queue" equal "$(tally_begin && tally_queue_processes)" ""
ok "... of which one may fail" equal "$(queued bad broken fine)" "4 passed, 2 failed: 1"
ok "... also with the shell that runs them all" equal "$(queued good killed_all second fine)" "4 passed, 2 failed: 1"

# slowest: the table of the slowest tests of `slow`, in a line, without spaces at the beginnings.
slowest() {
    summary slow good >/dev/null
    sed -n '/^the slowest tests:/,/^$/s/^ *\([0-9]\)/\1/p' "$FSBML_BUILD/end" | tr '\n' ';'
}
ok "the slowest tests come first" equal "$(slowest | sed -E 's/[0-9]+\.[0-9] s  slow: measured/0.x s  slow: measured/')" "12.0 s  slow: failed;3.2 s  slow: told;0.x s  slow: measured;"

ok "the end says what failed, and why" equal "$(told why good)" "failed: why: that, too;    # the reason;    # and more;"
ok "with the reason before it, too" equal "$(told before)" "failed: before: prog: A.b;    # x.cpp:1: Failure;"
ok "with a dozen lines of it at most" equal "$(told much | tr ';' '\n' | grep -c line)" 12
ok "and of a section that broke off" equal "$(told broken)" "failed: broken: section broken ended with status 1;"
ok "but nothing where nothing failed" equal "$(told good)" ""

ok "GoogleTest: passed" equal "$(gtest '[ RUN      ] A.b' '[       OK ] A.b (0 ms)' '[  PASSED  ] 1 test.')" "ok - prog: A.b (0.0 s);"
ok "GoogleTest: failed, named once more at the end" equal \
    "$(gtest '[ RUN      ] A.b' 'x.cpp:1: Failure' '[  FAILED  ] A.b (0 ms)' '[  FAILED  ] 1 test, listed below:' '[  FAILED  ] A.b')" \
    "# x.cpp:1: Failure;not ok - prog: A.b (0.0 s);"
ok "GoogleTest: died in a test" equal "$(gtest '[ RUN      ] A.b' '[       OK ] A.b (0 ms)' '[ RUN      ] A.c' 'boom')" \
    "ok - prog: A.b (0.0 s);# boom;not ok - prog: A.c (it died);"
ok "GoogleTest: nothing ran" equal "$(gtest 'error while loading shared libraries')" "not ok - prog: ran no test;"

# made: stands for `make check` of a program of GoogleTest's and two that are none, of which the last fails.
made() {
    local tests=$FSBML_BUILD/made/build/tests
    printf '%s\n' '[ RUN      ] A.b' '[       OK ] A.b (1500 ms)' >"$tests/unit/x_test.log"
    echo 2340 >"$tests/shim/y_test.ms"
    printf 'PASS: unit/x_test\nPASS: shim/y_test\nFAIL: shim/z_test\n'
    return 1
}
checked() {
    mkdir -p "$FSBML_BUILD/made/build/tests"/{unit,shim}
    if make_check "$FSBML_BUILD/made" made; then printf 'passed\n'; fi
}
ok "make check: each program's tests, with their time" equal "$(checked | tr '\n' ';')" \
    "# compiled and run;ok - unit/x_test: A.b (1.5 s);ok - shim/y_test (2.3 s);not ok - shim/z_test;"
# A run that is ended, in the midst of a section that runs by itself, whose processes are known by a number.
# shellcheck disable=SC2016 # for the inner shell
run_for_long() {
    exec bash -c '. scripts/lib.sh; . scripts/tally.sh; tally_begin; trap tally_abort EXIT; trap "exit 143" TERM
        tally_queue sleep 3071.75
        tally_section long "a test" sleep 3071.25' >/dev/null 2>&1
}
run_for_long &
run=$!
some_process "^sleep 3071[.]25" && some_process "^sleep 3071[.]75"
kill -TERM "$run"
wait "$run" && status=0 || status=$?
ok "a run that is ended ends at once" equal "$status" 143
ok "... with the sections that run" no_process "^sleep 3071[.][27]5"
tap_end
