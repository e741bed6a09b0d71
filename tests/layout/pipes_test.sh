#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# No script pipes into a grep that ends at its match (-q, -m): what still writes then fails by SIGPIPE, and with pipefail the pipe
# says at random that nothing matched. `grep -q WORDS <<<"$(COMMAND)"` reads all of it first.
set -euo pipefail
# shellcheck source=tests/layout/faults.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/faults.sh"

# What builds the component may see the tests as links into the tree.
top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)

check() { # FOLDER...: prints FILE:LINE:TEXT for each
    grep -rnE --include='*.sh' '(^|[^|])\|&? *grep( +-[A-Za-z]+)* +-[A-Za-z]*[qm]' "$@" || :
}

# ---- what the check finds

pipe='|'
printf '%s\n' "a $pipe grep -q b" "a $pipe grep -E -m 1 b" "a$pipe& grep -vqx b" >"$work/bad.sh"
[ "$(check "$work" | wc -l)" -eq 3 ] || fail "three such pipes: the check says '$(check "$work")'"
printf '%s\n' "a || grep -q b c" "a $pipe grep b" "a $pipe grep -vc -- -q" 'grep -q b <<<"$(a)"' >"$work/bad.sh"
[ -z "$(check "$work")" ] || fail "none such: the check says '$(check "$work")'"
[ "$failed" -eq 0 ] || exit 1

# ---- what there is

found=$(check "$top"/scripts "$top"/tests "$top"/tools)
[ -z "$found" ] || fail "$found"
exit "$failed"
