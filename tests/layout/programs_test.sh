#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# Includes between the rooms of the simulator, the tools and the benchmarks go down, in the order of programs.txt, so that no rooms
# use each other; and each folder with sources there is a room.
set -euo pipefail
# shellcheck source=tests/layout/faults.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/faults.sh"

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# What builds the component may see the tests as links into the tree.
top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
component=ompi/mca/bml/fsbml

# includes_of TOP: SOURCE ROOM for each header that a source includes, if it is the project's.
includes_of() {
    local file header
    (cd "$1" && grep -rE '^ *# *include "' sim tools bench --include='*.[ch]' --include='*.[ch]pp') |
        sed 's/: *# *include "/ /; s/".*//' | while read -r file header; do
        if [ -f "$1/${file%/*}/$header" ]; then
            header=$(realpath -s --relative-to="$1" "$1/${file%/*}/$header")
            printf '%s %s\n' "$file" "${header%/*}"
        elif [ -f "$1/$header" ]; then
            printf '%s %s\n' "$file" "${header%/*}"
        # The core may be named from its own folder, and is one room here.
        elif [[ $header == core/* ]] || [ -f "$1/$component/core/$header" ]; then
            printf '%s %s\n' "$file" "$component/core"
        elif [ -f "$1/$component/$header" ]; then
            printf '%s %s\n' "$file" "$component"
        fi
    done
}

# folders_of TOP: those that have sources.
folders_of() { (cd "$1" && find sim tools bench -type f \( -name '*.[ch]' -o -name '*.[ch]pp' \) -printf '%h\n') | sort -u; }

# check TOP ROOMS: prints a line for each fault; fails if there is one, or nothing to check.
check() {
    { folders_of "$1" && includes_of "$1"; } | awk -v rooms="$2" '
        function fault(text) { print text; faults = 1 }
        BEGIN { while ((getline room < rooms) > 0) if (room !~ /^#/) level[room] = ++n }
        NF == 1 && !($1 in level) { fault($1 " is no room") }
        NF == 2 {
            ++includes
            from = $1
            sub(/\/[^\/]*$/, "", from)
            if (!($2 in level) || level[$2] > level[from]) fault($1 " includes a header of " $2)
        }
        END { if (!includes) fault("there are no includes"); exit faults }'
}

# ---- what the check finds

# source_of FILE HEADER: one that includes it.
source_of() {
    mkdir -p "$work/top/$(dirname -- "$1")"
    printf '#include "%s"\n' "$2" >"$work/top/$1"
}

# finds WHAT WORDS: the check of the sources so far says this.
finds() {
    local said
    said=$(check "$work/top" "$work/rooms") && [ -n "$2" ] && fail "$1: was not found"
    [ "$said" = "$2" ] || fail "$1: the check says '$said'"
}

printf '%s\n' "# the lowest first" $component/core sim/low sim/high tools/one $component bench/one >"$work/rooms"
source_of $component/core/model/core.hpp vector
source_of $component/rails/rails.h vector
source_of sim/low/a.hpp model/core.hpp
source_of sim/high/b.cpp sim/low/a.hpp
source_of tools/one/c.hpp sim/low/a.hpp
source_of tools/one/d.cpp c.hpp
source_of bench/one/e.cpp tools/one/c.hpp
source_of bench/one/f.cpp rails/rails.h
finds "includes that go down" ""
source_of sim/low/a.hpp sim/high/g.hpp
source_of sim/high/g.hpp sim/low/a.hpp
finds "rooms that use each other" "sim/low/a.hpp includes a header of sim/high"
source_of sim/low/a.hpp ../../tools/one/c.hpp
finds "a tool in the simulator" "sim/low/a.hpp includes a header of tools/one"
source_of sim/low/a.hpp vector
source_of tools/one/d.cpp rails/rails.h
finds "the shim in a tool" "tools/one/d.cpp includes a header of $component"
source_of tools/one/d.cpp c.hpp
source_of bench/two/h.cpp vector
finds "a folder that is no room" "bench/two is no room"
[ "$failed" -eq 0 ] || exit 1

# ---- what there is

check "$top" "$here/programs.txt" >&2
