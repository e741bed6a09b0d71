# Compiling the benchmark programs for an Open MPI, once. Sourced after openmpi.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# programs_dir PREFIX: where the benchmarks for that Open MPI are.
programs_dir() {
    printf '%s/bench-%s-%s\n' "$FSBML_BUILD" "$(openmpi_version "$1")" "$(printf '%s' "$1" | sha256sum | cut -c 1-8)"
}

FSBML_PROGRAMS_PACKAGES=(g++ make nlohmann-json3-dev libcli11-dev libfmt-dev)

# programs_build PREFIX PROGRAM...: makes them (bench/programs.mk) unless they are up to date, one call at a time; prints their folder.
programs_build() {
    local prefix=$1 dir mpicc headers log=$FSBML_BUILD/log/bench.log
    shift
    dir=$(programs_dir "$prefix")
    printf '%s\n' "$dir"
    mpicc=$(openmpi_tool "$prefix" mpicc) || die "the Open MPI in '$prefix' has no mpicc."
    need_packages "the benchmarks" "${FSBML_PROGRAMS_PACKAGES[@]}"
    mkdir -p "$dir" "$FSBML_BUILD/log"
    local make=(flock "$dir/.lock" make -C "$dir" -f "$FSBML_TOP/bench/programs.mk" --no-print-directory "TOP=$FSBML_TOP" "MPICC=$mpicc")
    ! headers=$(headers_dir "$prefix") || make+=("pkginclude=$headers")
    ! "${make[@]}" --question "$@" >/dev/null 2>&1 || return 0
    logged "$log" "compiling the benchmarks" "${make[@]}" -j "$(nproc)" "$@" || die "could not compile the benchmarks; the log is $log"
}
