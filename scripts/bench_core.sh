# The core's benchmark: Google Benchmark on the scheduler, without a network. Sourced after lib.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/simulator.sh
. "$FSBML_TOP/scripts/simulator.sh"

# bench_core_instructions PROGRAM: what a decision costs in instructions, which no other program disturbs.
bench_core_instructions() {
    local rails out=$FSBML_BUILD/simulator/callgrind.out
    need_packages "counting instructions" valgrind
    for rails in 1 2 4 8 16; do
        valgrind --tool=callgrind --callgrind-out-file="$out" "$1" --benchmark_filter="^choose_and_charge/$rails/0\$" \
            --benchmark_min_time=0.005 >"$FSBML_BUILD/log/callgrind.log" 2>&1 || die "callgrind failed; its log is $FSBML_BUILD/log/callgrind.log"
        printf '%d rails:\n' "$rails"
        awk -v wanted='^fsbml_sched_(choose|charge)$' -f "$FSBML_TOP/bench/micro/instructions.awk" "$out" | sort | sed 's/^/  /'
    done
}

# bench_core_state: what FSBML keeps of each peer. It is in the shim, which only Open MPI's internal headers can tell.
bench_core_state() {
    local prefix dir
    if prefix=$(openmpi_prefix) && dir=$(programs_build "$prefix" state_size 2>/dev/null); then
        "$dir/state_size"
    else
        say "what a peer costs is not told: that takes an Open MPI with its internal headers."
    fi
}

bench_core() {
    local program json="" repetitions=5 instructions="" options=()
    while [ $# -gt 0 ]; do
        [[ $1 != --json && $1 != --filter && $1 != --repetitions ]] || value_of "$1" $#
        case "$1" in
            --json) json=$(readlink -m -- "$2") && shift ;;
            --filter) options+=("--benchmark_filter=$2") && shift ;;
            --repetitions)
                check_count --repetitions "$2" 9999
                repetitions=$((10#$2))
                shift
                ;;
            --instructions) instructions=yes ;;
            *) die "bench core: unknown option '$1'; './fsbml bench --help' lists them." ;;
        esac
        shift
    done
    if [ -n "$json" ]; then
        if ! { [ -d "$(dirname -- "$json")" ] && : 2>/dev/null >>"$json"; }; then die "bench: cannot write '$json'."; fi
        options+=("--benchmark_out=$json" --benchmark_out_format=json)
    fi
    program_build vft_bench "the core's benchmark" libbenchmark-dev
    if [ -n "$instructions" ]; then
        bench_core_instructions "$program"
        return 0
    fi
    bench_core_state
    options+=("--benchmark_repetitions=$repetitions")
    [ "$repetitions" -eq 1 ] || options+=(--benchmark_report_aggregates_only=true --benchmark_enable_random_interleaving=true)
    "$program" "${options[@]}"
}
