# The programs around the simulator of a cluster (tests/sim/cluster). Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# simulator_run NAME ARGUMENTS...: compiles NAME.program if need be, all of them in one folder, and runs it.
simulator_run() {
    local program=$1 dir=$FSBML_BUILD/simulator log=$FSBML_BUILD/log/simulator.log
    shift
    need_packages "the simulator" g++ make nlohmann-json3-dev libcli11-dev libfmt-dev
    mkdir -p "$dir" "$FSBML_BUILD/log"
    # No program of it needs MPI: whatever asks its compiler gets no answer.
    local make=(make -C "$dir" -f "$FSBML_TOP/bench/programs.mk" --no-print-directory "TOP=$FSBML_TOP" MPICC=true)
    if ! "${make[@]}" --question "$program.program" >/dev/null 2>&1; then
        logged "$log" "compiling the simulator" "${make[@]}" -j "$(nproc)" "$program.program" || die "could not compile the simulator; the log is $log"
    fi
    passing_signals "$dir/$program.program" "$@"
}
