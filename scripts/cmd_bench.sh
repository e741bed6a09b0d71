# ./fsbml bench: measures FSBML, part by part.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# NAME and what it measures. All but core are experiments of `demo`.
BENCHMARKS=(onetoone equal single collectives core)

bench_about() {
    case "$1" in
        onetoone) echo "N messages out, N back, over two unlike rails (thesis, 5.8.1)" ;;
        equal) echo "the same over two equal rails" ;;
        single) echo "the same on one rail: what FSBML costs where it cannot help" ;;
        collectives) echo "barrier, allreduce and alltoall of 4 nodes" ;;
        core) echo "nanoseconds a decision of the scheduler, time of a calibration's arithmetic; no network" ;;
    esac
}

cmd_bench_help() {
    cat <<'HELP'
usage: ./fsbml bench NAME [options]
       ./fsbml bench --list

Runs a benchmark. onetoone, equal, single and collectives take the options of `./fsbml demo` but --experiment: arms in turns
on a virtual cluster, table, ratios, JSON. core takes:

  --json FILE        write the results in Google Benchmark's format
  --filter REGEX     only the benchmarks that match, e.g. '^choose/'
  --repetitions K    run each so often; median and spread are printed (5)
HELP
}

cmd_bench() {
    local name=${1:-}
    case "$name" in
        --list)
            for name in "${BENCHMARKS[@]}"; do printf '%-14s %s\n' "$name" "$(bench_about "$name")"; done
            return 0
            ;;
        "") die "bench: say which; './fsbml bench --list' lists them." ;;
    esac
    [[ " ${BENCHMARKS[*]} " == *" $name "* ]] || die "bench: there is no benchmark '$name'; './fsbml bench --list' lists them."
    shift
    if [ "$name" = core ]; then
        bench_core "$@"
    else
        exec "$BASH" "$FSBML_TOP/fsbml" demo --experiment "$name" "$@"
    fi
}

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
