#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# Each header compiles alone, and without a warning: it includes what it uses. A header that gets by on what others happened
# to include before it stops compiling with the next compiler. Taken from the environment: CC, CXX, CXXFLAGS, and MPI_CPPFLAGS, the
# flags for Open MPI's headers (without them, the headers that need them are left out).
#   headers_test.sh [component]   all headers, or the component's and those that need Open MPI's
set -euo pipefail

which=${1:-all} CC=${CC:-cc} CXX=${CXX:-c++} CXXFLAGS=${CXXFLAGS:--std=gnu++17}
# The sources may be links into the tree; the benchmarks' headers are in that tree only.
top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$top"
fsbml=ompi/mca/bml/fsbml
core="-Itop/$fsbml -Itop/$fsbml/core"
# What a header defines for others is not used here.
warnings="-Wall -Wextra -Werror -Wno-unused-variable -Wno-unused-function"

# One line per compilation: HEADER, a blank, the compiler and its flags.
as_c() { printf '%s %s -x c -std=gnu11 %s %s\n' "$1" "$CC" "$warnings" "$2"; }
as_cpp() { printf '%s %s -x c++ %s %s %s\n' "$1" "$CXX" "$CXXFLAGS" "$warnings" "$2"; }

plan() {
    local header mpi=${MPI_CPPFLAGS:-}
    for header in "$fsbml"/*.h "$fsbml"/*/*.h tests/shim/*.h tests/mpi/*.h bench/app/*.h \
        bench/btl/*.h; do
        [ -z "$mpi" ] || ! [ -f "$header" ] || as_c "$header" "$core -Itop/tests/shim $mpi"
    done
    for header in "$fsbml"/core/api/*.h; do
        as_c "$header" "$core"
        as_cpp "$header" "$core"
    done
    for header in "$fsbml"/core/*/*.hpp "$fsbml"/core/*/*/*.hpp; do
        as_cpp "$header" "$core"
    done
    for header in tests/unit/*.hpp tests/sim/*.hpp sim/*/*.hpp tools/*/*.hpp bench/*/*.hpp; do
        [ -f "$header" ] || continue
        case "$header" in
            # MPI's own header is needed
            tools/session/* | bench/btl/* | bench/kernels/* | bench/mpi/* | bench/p2p/*)
                [ -z "$mpi" ] || as_cpp "$header" "-Itop $core -DOMPI_SKIP_MPICXX=1 $mpi"
                ;;
            *) [ "$which" != all ] || as_cpp "$header" "-Itop $core" ;;
        esac
    done
}

# compile HEADER COMPILER FLAGS...: included from an empty file, as the main file of a compilation gets other warnings. Into an object, and
# with the same paths in each tree: a compiler's cache knows it again, where it does not know -fsyntax-only.
compile() {
    local header=$1 log from=${1//\//_}
    shift
    printf '#include "top/%s"\n' "$header" >"$from.source"
    log=$("$@" -Itop -g0 -O0 -fno-sanitize=all -MD -MF "$from.d" -c -o "$from.o" "$from.source" 2>&1) && return 0
    printf 'not alone: %s (%s)\n%s\n' "$header" "$1" "$log" >&2
    return 1
}
export -f compile

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
ln -s "$top" "$work/top"
plan >"$work/plan"
cd "$work"
# shellcheck disable=SC2016 # for the inner shell
xargs -P "$(nproc)" -d '\n' -n 1 bash -c 'set -f; compile $0' <plan
