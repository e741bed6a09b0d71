#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# Calls and includes between the component's rooms go down, and no two files use each other: by what its objects define and need,
# and by the headers that its sources include. Of the core, headers have most of it.
#   rooms_test.sh FOLDER   where the component was compiled, with objects of all rooms
# Rooms and their order are in rooms.txt, exceptions in allowed.txt: that list may become shorter, never longer. Taken from the
# environment: CC, NM.
set -euo pipefail
# shellcheck source=tests/layout/faults.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/faults.sh"

built=$(cd -- "${1:?usage: rooms_test.sh FOLDER}" && pwd)
# The tests may be links into the tree.
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
sources=$here/../../ompi/mca/bml/fsbml

# objects_of FOLDER [SOURCES]: FILE TYPE SYMBOL of each object, one a source, or a room that is compiled as a whole; not of objects
# whose source is gone.
objects_of() {
    local object file
    (cd "$1" && find . -name '*.o' | sed 's,^\./,,' | sort) | while IFS= read -r object; do
        file=${object%.o}
        [[ $file != *.libs/* ]] || file=${file/.libs\//}
        # libtool prefixes an object with its library where that has flags of its own
        file=${file/lib*_la-/}
        if [ -d "${2:+$2/$file}" ]; then file+=/all
        elif [ -n "${2:-}" ]; then [ -f "$2/$file.c" ] || [ -f "$2/$file.cpp" ] || continue; fi
        ${NM:-nm} "$1/$object" | awk -v file="$file" 'NF == 3 { print file, $2, $3 } NF == 2 { print file, $1, $2 }'
    done
}

# includes_of SOURCES: FILE include HEADER of each header that is there; those of the core are named by their paths in it.
includes_of() {
    (cd "$1" && find . -path ./compat/include -prune -o -name '*.[ch]' -print -o -name '*.[ch]pp' -print | sed 's,^\./,,' | sort |
        xargs grep -HE '^# *include "') | sed 's/: *# *include "/ /; s/".*//' | while read -r file header; do
        if [ -f "$1/$header" ]; then
            printf '%s include %s\n' "$file" "$header"
        elif [ -f "$1/core/$header" ]; then
            printf '%s include core/%s\n' "$file" "$header"
        fi
    done
}

# check ROOMS ALLOWED: symbols from stdin.
check() {
    awk -f "$here/dependencies.awk" part=rooms "$1" part=allowed "$2" part=symbols -
}

# ---- what the check finds

# compiled FILE TEXT
compiled() {
    mkdir -p "$work/objects/$(dirname -- "$1")"
    printf '%s\n' "$2" | ${CC:-cc} -x c -c -o "$work/objects/$1.o" -
}

# finds WHAT ALLOWED WORDS: the check of the objects so far says this, and nothing where that is empty.
finds() {
    local said
    printf '%b' "$2" >"$work/allowed"
    said=$(objects_of "$work/objects" | check "$work/rooms" "$work/allowed") && [ -n "$3" ] && fail "$1: was not found"
    [ "$said" = "$3" ] || fail "$1: the check says '$said'"
}

printf 'cellar low\nattic high\n' >"$work/rooms"
compiled low/a 'int a(void) { return 1; }'
compiled high/b 'int a(void); int b(void) { return a(); }'
finds "a call down" "" ""
compiled low/c 'int b(void); int c(void) { return b(); }'
finds "a call up" "" "low/c (cellar) calls up into high/b (attic): b"
finds "a call up that is allowed" "up low/c high/b\n" ""
finds "another one that is" "up low/a high/b\n" "low/c (cellar) calls up into high/b (attic): b
allowed, and not there any more: up low/a high/b"
rm "$work/objects/low/c.o"
compiled high/d 'extern int e; int d(void) { return e; }'
compiled high/e 'int d(void); int e; int f(void) { return d(); }'
finds "a circle" "" "files that use each other: high/d high/e"
finds "a circle that is allowed" "circle high/d high/e\n" ""
compiled under/g 'int g(void) { return 1; }'
finds "a file in no room" "circle high/d high/e\n" "under/g is in no room"
rm -r "$work/objects/under" "$work/objects/high"
mkdir -p "$work/sources/low" "$work/sources/high"
printf '#include "low/a.h"\n' >"$work/sources/high/b.h"
printf '#    include "high/b.h"\n' >"$work/sources/low/a.c"
said=$({ objects_of "$work/objects"; includes_of "$work/sources"; } | check "$work/rooms" /dev/null) && fail "a header above: was not found"
[ "$said" = "low/a.c (cellar) includes a header of attic" ] || fail "a header above: the check says '$said'"
rm -r "$work/sources"
mkdir -p "$work/sources/core/low" "$work/sources/core/high"
printf 'cellar core/low\nattic core/high\nlow low\n' >"$work/rooms"
printf '#include "low/a.hpp"\n' >"$work/sources/core/high/b.hpp"
printf '#include "high/b.hpp"\n' >"$work/sources/core/low/a.cpp"
touch "$work/sources/core/low/a.hpp"
said=$({ objects_of "$work/objects"; includes_of "$work/sources"; } | check "$work/rooms" /dev/null) && fail "a core's header above: was not found"
[ "$said" = "core/low/a.cpp (cellar) includes a header of attic
files that use each other: core/high/b core/low/a" ] || fail "a core's header above: the check says '$said'"
rm "$work/sources/core/low/a.cpp"
mkdir "$work/sources/core/under"
printf '#include "low/a.hpp"\n' >"$work/sources/core/under/c.hpp"
said=$({ objects_of "$work/objects"; includes_of "$work/sources"; } | check "$work/rooms" /dev/null) && fail "a header in no room: was not found"
[ "$said" = "core/under/c is in no room" ] || fail "a header in no room: the check says '$said'"
[ "$failed" -eq 0 ] || exit 1

# ---- the component

{
    objects_of "$built" "$sources"
    includes_of "$sources"
} >"$work/symbols"
check "$here/rooms.txt" "$here/allowed.txt" <"$work/symbols" >&2 || failed=1
exit "$failed"
