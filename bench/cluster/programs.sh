# Compiling the benchmark programs for an Open MPI, once. Sourced after openmpi.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# programs_dir PREFIX: where the benchmarks for that Open MPI are.
programs_dir() {
    printf '%s/bench-%s-%s\n' "$FSBML_BUILD" "$(openmpi_version "$1")" "$(printf '%s' "$1" | sha256sum | cut -c 1-8)"
}

# up_to_date PROGRAM: it is there, and nothing in bench/ is newer.
up_to_date() { newer_than_all "$1" "$FSBML_TOP"/bench/*.[ch]pp; }

# compile_objects DIR MPI_FLAGS...: both cores at once; the headers' JSON library is most of the work, and not worth optimising.
compile_objects() {
    local dir=$1 source
    shift
    for source in onetoone collectives bench; do printf '%s\0' "$source -O2 $*"; done >"$dir/todo"
    for source in results summary bars; do printf '%s\0' "$source -O0"; done >>"$dir/todo"
    # shellcheck disable=SC2016
    xargs -0 -P 2 -I '{}' "$BASH" -c 'set -- {}; source=$1; shift; cd -- "$0" &&
        "${CXX:-g++}" -std=c++17 -Wall -Wextra "$@" -c "$FSBML_TOP/bench/$source.cpp" -o "$source.o"' "$dir" <"$dir/todo"
}

# compile_programs DIR MPICC
compile_programs() {
    local dir=$1 mpicc=$2 compile link
    # Word splitting is meant: these are lists of flags. Without MPI's own C++ classes, which 4.1 may still bring.
    read -r -a compile <<<"$("$mpicc" --showme:compile) -DOMPI_SKIP_MPICXX=1"
    read -r -a link <<<"$("$mpicc" --showme:link)"
    compile_objects "$dir" "${compile[@]}" && (
        cd -- "$dir" &&
            "${CXX:-g++}" -o onetoone onetoone.o bench.o "${link[@]}" &&
            "${CXX:-g++}" -o collectives collectives.o bench.o "${link[@]}" &&
            "${CXX:-g++}" -o summary summary.o bars.o results.o bench.o
    )
}

# programs_build PREFIX: prints the folder with onetoone, collectives and summary.
programs_build() {
    local prefix=$1 dir mpicc log
    dir=$(programs_dir "$prefix")
    printf '%s\n' "$dir"
    if up_to_date "$dir/onetoone" && up_to_date "$dir/collectives" && up_to_date "$dir/summary"; then return 0; fi
    mpicc=$(openmpi_tool "$prefix" mpicc) || die "the Open MPI in '$prefix' has no mpicc."
    need_packages "the benchmarks" g++ nlohmann-json3-dev
    mkdir -p "$dir" "$FSBML_BUILD/log"
    log=$FSBML_BUILD/log/bench.log
    logged "$log" "compiling the benchmarks" compile_programs "$dir" "$mpicc" || die "could not compile the benchmarks; the log is $log"
}
