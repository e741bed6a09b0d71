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

# summary SECTION...: the last line that these sections end in, and the status.
summary() {
    local section status=0
    tally_begin
    for section in "$@"; do tally_section "$section" "a test" "$section" >/dev/null; done
    tally_end >"$FSBML_BUILD/end" || status=$?
    printf '%s: %d\n' "$(tail -n 1 "$FSBML_BUILD/end")" "$status"
}

# told SECTION: what the end says of its failures, in a line.
told() {
    summary "$@" >/dev/null 2>&1
    grep -vE '^(#|$)|passed, ' "$FSBML_BUILD/end" | tr '\n' ';'
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

ok "the end says what failed, and why" equal "$(told why good)" "failed: why: that, too;    # the reason;    # and more;"
ok "with the reason before it, too" equal "$(told before)" "failed: before: prog: A.b;    # x.cpp:1: Failure;"
ok "with a dozen lines of it at most" equal "$(told much | tr ';' '\n' | grep -c line)" 12
ok "and of a section that broke off" equal "$(told broken)" "failed: broken: section broken ended with status 1;"
ok "but nothing where nothing failed" equal "$(told good)" ""

ok "GoogleTest: passed" equal "$(gtest '[ RUN      ] A.b' '[       OK ] A.b (0 ms)' '[  PASSED  ] 1 test.')" "ok - prog: A.b;"
ok "GoogleTest: failed, named once more at the end" equal \
    "$(gtest '[ RUN      ] A.b' 'x.cpp:1: Failure' '[  FAILED  ] A.b (0 ms)' '[  FAILED  ] 1 test, listed below:' '[  FAILED  ] A.b')" \
    "# x.cpp:1: Failure;not ok - prog: A.b;"
ok "GoogleTest: died in a test" equal "$(gtest '[ RUN      ] A.b' '[       OK ] A.b (0 ms)' '[ RUN      ] A.c' 'boom')" \
    "ok - prog: A.b;# boom;not ok - prog: A.c (it died);"
ok "GoogleTest: nothing ran" equal "$(gtest 'error while loading shared libraries')" "not ok - prog: ran no test;"
tap_end
