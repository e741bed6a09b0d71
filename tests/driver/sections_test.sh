#!/usr/bin/env bash
# Tests of `fsbml test` itself: its options, its sections, and that it says what it leaves out.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, as what is left out for other reasons would be left out for that one. Prints TAP.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/system.sh scripts/test_sections.sh
is_root || die "sections_test.sh needs root."
own_folder
# The logs of the run that this test is part of are not touched.
export FSBML_BUILD=$scratch/build

# tests ARGUMENTS...: a run of its own, in $scratch/out.
tests() { fsbml test "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; }

# without PROGRAM: the machine, but there this program always fails.
without() {
    mkdir "$scratch/without-$1"
    printf '#!/bin/sh\nexit 1\n' >"$scratch/without-$1/$1"
    chmod +x "$scratch/without-$1/$1"
    PATH=$scratch/without-$1:$PATH "${@:2}"
}
made_anew() { FSBML_CACHE=$scratch/cache "$@"; }
in_debian12() { FSBML_SYSTEM=debian12 "$@"; }

each_section_is_complete() {
    local section
    for section in "${TEST_COMPUTING[@]}" "${TEST_BESIDE[@]}" "${TEST_ALONE[@]}"; do
        if [ -z "$(test_about "$section")" ] || [ "$(type -t "test_$section")" != function ]; then
            printf '# %s\n' "$section" >&9
            return 1
        fi
    done
    [ "$(printf '%s\n' "${TEST_COMPUTING[@]}" "${TEST_BESIDE[@]}" "${TEST_ALONE[@]}" | sort | uniq -d)" = "" ]
}

# last LINES: the end of the output, in one line.
last() { tail -n "$1" "$scratch/out" | paste -sd';'; }

# A system that this machine is not.
for other in sid debian13; do system_is_here "$other" || break; done

ok "an unknown option" refuses "test: unknown option '--fast'" test --fast
ok "a section that is none" refuses "test: there is no section 'x'" test --only x
ok "--only without a section" refuses "test: --only needs a section" test --only
ok "--quick and a section" refuses "test: --quick and --only exclude each other" test --quick --only units
ok "the help names all sections" test "$(fsbml test --help | grep -cE "^  ($(IFS='|' && printf '%s' "${TEST_COMPUTING[*]}|${TEST_BESIDE[*]}|${TEST_ALONE[*]}")) ")" \
    -eq $((${#TEST_COMPUTING[@]} + ${#TEST_BESIDE[@]} + ${#TEST_ALONE[@]}))
ok "each section says what it is and what it needs" each_section_is_complete
ok "each test of the driver is in one of two sections" equal \
    "$(for script in "${COMMANDS_TESTS[@]}"; do ls "$FSBML_TOP/tests/driver/${script}_test.sh"; done | wc -l)" "${#COMMANDS_TESTS[@]}"

# obstacle_is_true: clusters are left out exactly where `cluster up` fails.
obstacle_is_true() {
    local obstacle
    obstacle=$(. "$FSBML_TOP/scripts/cmd_test.sh" && test_obstacle clusters)
    printf '# %s\n' "${obstacle:-nothing is in the way of clusters}" >&9
    if FSBML_CLUSTERS=$scratch/clusters fsbml cluster up --name "sections$$" 2>"$scratch/err"; then
        FSBML_CLUSTERS=$scratch/clusters fsbml cluster down --name "sections$$" 2>"$scratch/err"
        [ -z "$obstacle" ]
    else
        [ -n "$obstacle" ]
    fi
}
ok "clusters are left out only where none can be made" obstacle_is_true

ok "without namespaces, clusters are left out" without unshare tests --only mpi-sanitizers
ok "... and counted so" equal "$(last 2)" "repeated 0 of 0;0 passed, 0 failed, 1 left out"
ok "... with the reason" told '^left out: mpi-sanitizers: all of it: a virtual cluster needs network namespaces'
ok "without tc, too" without tc tests --only mpi-sanitizers
ok "... with that reason" told "^left out: mpi-sanitizers: all of it: this kernel has no 'tc qdisc"
ok "a system that cannot be made is left out" without mmdebstrap made_anew tests --only "$other-check"
ok "... and the run says why" told "^left out: $other-check: all of it: system $other could not be made from the archive"
ok "in a system, another is left out" in_debian12 tests --only "$other-check"
ok "... and the run says why" told "^left out: $other-check: all of it: it belongs to system $other"
tap_end
