#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# A file is one idea, of 400 lines at most; a room, a folder with sources, has 12 files at most. Tests are not rooms: one folder mirrors
# many rooms.
set -euo pipefail
# shellcheck source=tests/layout/faults.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/faults.sh"

# What builds the component may see the tests as links into the tree.
top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)

# sources TOP FOLDER...: code below these, not what compat/include stands in for.
sources() {
    local top=$1
    shift
    (cd "$top" && find "$@" -path '*/compat/include' -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.awk' -o -name '*.py' \) -print)
}

# too_long TOP FOLDER...: FILE LINES of each file that is over 400 lines; a folder that is not there is a fault.
too_long() {
    sources "$@" | (cd "$1" && while IFS= read -r file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 400 ] || printf '%s has %d lines\n' "$file" "$lines"
    done)
}

# too_full TOP FOLDER...: each folder with more than 12 files of C or C++.
too_full() {
    sources "$@" | sed -nE 's#/[^/]*\.[ch](pp)?$##p' | sort | uniq -c | awk '$1 > 12 { print $2 " has " $1 " files" }'
}

check() { # TOP: prints a line for each fault
    too_long "$1" ompi sim tools bench tests scripts
    too_full "$1" ompi sim tools bench
}

# ---- what the check finds

mkdir -p "$work"/{ompi/room,sim/room,tools,bench,tests/many,scripts}
seq 400 >"$work/sim/room/enough.cpp"
touch "$work"/sim/room/{b..l}.hpp "$work"/tests/many/{a..z}.cpp "$work"/sim/room/notes.txt
[ -z "$(check "$work")" ] || fail "400 lines and 12 files: $(check "$work")"
seq 401 >"$work/tests/many/a.cpp"
seq 401 >"$work/scripts/b.sh"
touch "$work/sim/room/m.c" "$work"/ompi/room/{a..m}.h
found=$(check "$work" | sort)
[ "$found" = "ompi/room has 13 files
scripts/b.sh has 401 lines
sim/room has 13 files
tests/many/a.cpp has 401 lines" ] || fail "one line and one file too many: the check says '$found'"
[ "$failed" -eq 0 ] || exit 1

# ---- what there is

[ "$(sources "$top" ompi sim tools bench tests scripts | wc -l)" -gt 300 ] || fail "there are no sources in $top"
found=$(check "$top")
[ -z "$found" ] || fail "$found"
exit "$failed"
