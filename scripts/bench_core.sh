# The core's benchmark: Google Benchmark on the scheduler, without a network. Sourced after lib.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# bench_core_build PROGRAM: as the component is compiled, the core's functions in another object than their callers.
bench_core_build() {
    local program=$1 core=$FSBML_TOP/ompi/mca/bml/fsbml/core
    mkdir -p "$(dirname -- "$program")"
    "${CXX:-g++}" -std=c++17 -O2 -Wall -Wextra -fvisibility=hidden -I "$core" -o "$program.new" \
        "$FSBML_TOP/bench/micro/vft_bench.cpp" "$core"/*.cpp -lbenchmark -pthread && mv -f "$program.new" "$program"
}

bench_core() {
    local program=$FSBML_BUILD/bench-core/vft_bench json="" repetitions=5 options=() log=$FSBML_BUILD/log/bench-core.log
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || [[ $1 != --json && $1 != --filter && $1 != --repetitions ]] || die "$1 needs a value."
        case "$1" in
            --json) json=$(readlink -m -- "$2") ;;
            --filter) options+=("--benchmark_filter=$2") ;;
            --repetitions)
                [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || die "--repetitions '$2': give a whole number from 1 to 9999."
                repetitions=$2
                ;;
            *) die "bench core: unknown option '$1'; './fsbml bench --help' lists them." ;;
        esac
        shift 2
    done
    if [ -n "$json" ]; then
        if ! { [ -d "$(dirname -- "$json")" ] && : 2>/dev/null >>"$json"; }; then die "bench: cannot write '$json'."; fi
        options+=("--benchmark_out=$json" --benchmark_out_format=json)
    fi
    if ! newer_than_all "$program" "$FSBML_TOP/bench/micro" "$FSBML_TOP/ompi/mca/bml/fsbml/core"; then
        need_packages "the core's benchmark" g++ libbenchmark-dev
        logged "$log" "compiling the core's benchmark" bench_core_build "$program" || die "could not compile the core's benchmark; the log is $log"
    fi
    options+=("--benchmark_repetitions=$repetitions")
    [ "$repetitions" -eq 1 ] || options+=(--benchmark_report_aggregates_only=true --benchmark_enable_random_interleaving=true)
    "$program" "${options[@]}"
}
