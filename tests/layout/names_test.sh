#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# The files of a room in C++ are compiled as one (sources.mk, tools/programs.mk), so a function that one of them has for itself must
# have a name of its own: not that of another file's, nor of one in a header that the room includes. The compiler would take it for
# an overload, and quietly call the one for the other.
set -euo pipefail
# shellcheck source=tests/layout/faults.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/faults.sh"

# What builds the component may see the tests as links into the tree.
top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)

# functions FILE...: FILE NAME of each function that begins a line; of a source, those of its unnamed namespaces.
functions() {
    awk 'FNR == 1 { header = FILENAME ~ /\.h(pp)?$/; inside = header; before = "" }
        !header && /^namespace$/ { opens = 1; next }
        opens { inside = /^\{$/; opens = 0 }
        !header && /^\} \/\/ namespace$/ { inside = 0 }
        inside && /^[A-Za-z_[].*[ &*][a-z_][A-Za-z_0-9]*\(/ && !/^(return|else|using|typedef)/ {
            name = $0
            sub(/^__attribute__\(\(([^()]|\([^()]*\))*\)\) /, "", name)
            sub(/\(.*/, "", name)
            sub(/.*[ &*]/, "", name)
            if (name ~ /^[a-z_]/) print FILENAME, name
        }' "$@"
}

# headers_of FILE...: those of the project that they include, by the folders that a name may start at.
headers_of() {
    local file header folder
    grep -HE '^#include "' "$@" | sed 's/:#include "/ /; s/".*//' | while read -r file header; do
        for folder in "${file%/*}" . ompi/mca/bml/fsbml ompi/mca/bml/fsbml/core; do
            if [ -f "$folder/$header" ]; then
                folder=$folder/$header
                printf '%s\n' "${folder#./}"
                break
            fi
        done
    done | sort -u
}

# check TOP FOLDER...: a line for each name that two have, of the rooms below these.
check() {
    local room sources headers
    cd "$1"
    shift
    # Folders of programs with a file each are compiled one by one.
    find "$@" -name '*.cpp' -printf '%h\n' | sort -u | grep -vE '^(bench/(btl|micro)|tools/(jobs|link))$' | while IFS= read -r room; do
        mapfile -t sources < <(find "$room" -maxdepth 1 -name '*.cpp' ! -name main.cpp ! -name options.cpp ! -path 'bench/mpi/o*' ! -path bench/mpi/start.cpp ! -path bench/mpi/collectives.cpp | sort)
        [ ${#sources[@]} -gt 0 ] || continue
        mapfile -t headers < <(headers_of "$room"/*.[ch]pp)
        functions "${headers[@]}" "${sources[@]}" | sort -u | awk '
            ($2 in file) && file[$2] != $1 && (file[$2] $1) ~ /\.cpp/ { print $2 " is in " file[$2] " and " $1 }
            { file[$2] = $1 }'
    done
}

# ---- what the check finds

mkdir -p "$work/sim/room" "$work/sim/low"
own() { printf '#include "%s"\nnamespace\n{\n%s\n{\n}\n} // namespace\n' "$2" "$3" >"$work/sim/room/$1.cpp"; }
printf 'int told(int);\n' >"$work/sim/low/low.hpp"
own a sim/low/low.hpp '__attribute__((cold)) int one(double x)'
own b sim/low/low.hpp '__attribute__((format(printf, 2, 3))) static std::string another(int x, const char *y, ...)'
[ -z "$(check "$work" sim)" ] || fail "names of their own: $(check "$work" sim)"
own b sim/low/low.hpp 'const char *one(int x)'
own c sim/low/low.hpp 'bool told(double x)'
found=$(check "$work" sim)
[ "$found" = "one is in sim/room/a.cpp and sim/room/b.cpp
told is in sim/low/low.hpp and sim/room/c.cpp" ] || fail "two names of two: the check says '$found'"
[ "$failed" -eq 0 ] || exit 1

# ---- what there is

[ "$(cd "$top" && functions ompi/mca/bml/fsbml/core/schedule/models.cpp | wc -l)" -gt 0 ] || fail "no function was found"
found=$(check "$top" ompi/mca/bml/fsbml/core sim tools bench)
[ -z "$found" ] || fail "$found"
exit "$failed"
