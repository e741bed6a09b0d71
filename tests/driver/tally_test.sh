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

gtest() { printf '%s\n' "$@" | gtest_to_tap prog | tr '\n' ';'; }

ok "two tests pass" equal "$(summary good)" "2 passed, 0 failed: 0"
ok "a failed test is counted" equal "$(summary good bad)" "3 passed, 1 failed: 1"
ok "a section that breaks off has failed" equal "$(summary broken)" "1 passed, 1 failed: 1"
ok "a section that is killed has failed" equal "$(summary killed 2>/dev/null)" "1 passed, 1 failed: 1"
ok "a section that dies has failed" equal "$(summary dying)" "1 passed, 1 failed: 1"
ok "a section without a test has failed" equal "$(summary silent)" "0 passed, 1 failed: 1"
ok "a failed line counts although the status is 0" equal "$(summary liar good)" "2 passed, 1 failed: 1"

ok "GoogleTest: passed" equal "$(gtest '[ RUN      ] A.b' '[       OK ] A.b (0 ms)' '[  PASSED  ] 1 test.')" "ok - prog: A.b;"
ok "GoogleTest: failed, named once more at the end" equal \
    "$(gtest '[ RUN      ] A.b' 'x.cpp:1: Failure' '[  FAILED  ] A.b (0 ms)' '[  FAILED  ] 1 test, listed below:' '[  FAILED  ] A.b')" \
    "# x.cpp:1: Failure;not ok - prog: A.b;"
ok "GoogleTest: died in a test" equal "$(gtest '[ RUN      ] A.b' '[       OK ] A.b (0 ms)' '[ RUN      ] A.c' 'boom')" \
    "ok - prog: A.b;# boom;not ok - prog: A.c (it died);"
ok "GoogleTest: nothing ran" equal "$(gtest 'error while loading shared libraries')" "not ok - prog: ran no test;"
tap_end
