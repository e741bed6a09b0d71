# The programs that need no MPI: those around the simulator of a cluster (sim), and the core's benchmark. Sourced,
# never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# program_build NAME WHAT [PACKAGE...]: compiles it if need be, all of them in one folder, one call at a time; sets `program`, its path.
program_build() {
    local name=$1 what=$2 dir=$FSBML_BUILD/simulator log=$FSBML_BUILD/log/simulator.log
    shift 2
    need_packages "$what" g++ make nlohmann-json3-dev libcli11-dev libfmt-dev "$@"
    mkdir -p "$dir" "$FSBML_BUILD/log"
    # Whatever asks MPI's compiler gets no answer.
    local make=(flock "$dir/.lock" make -C "$dir" -f "$FSBML_TOP/bench/programs.mk" --no-print-directory "TOP=$FSBML_TOP" MPICC=true)
    if ! "${make[@]}" --question "$name" >/dev/null 2>&1; then
        logged "$log" "compiling $what" "${make[@]}" -j "$(nproc)" "$name" || die "could not compile $what; the log is $log"
    fi
    program=$dir/$name
}

# simulator_run NAME ARGUMENTS...: compiles NAME.program if need be, and runs it. The command's own words explain it, wherever that is asked.
simulator_run() {
    local program
    if [[ " ${*:2} " == *" --help "* || " ${*:2} " == *" -h "* ]]; then
        "cmd_$1_help"
        return 0
    fi
    program_build "$1.program" "the simulator"
    passing_signals "$program" "${@:2}"
}
