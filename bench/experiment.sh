# The benchmarks that launch jobs: what each measures, and on what. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck disable=SC2034  # used by scripts that source this

# Those that `demo` shows.
FSBML_EXPERIMENTS="onetoone equal single collectives failover"
# All that launch jobs.
FSBML_BENCHMARKS="$FSBML_EXPERIMENTS random p2p large multipair onesided btl skew kernels start app"

bench_about() {
    case "$1" in
        onetoone) echo "N messages out, N back, over two unlike rails (thesis, 5.8.1)" ;;
        equal) echo "the same over two equal rails" ;;
        single) echo "the same on one rail: what FSBML costs where it cannot help" ;;
        collectives) echo "barrier, allreduce and alltoall of 4 nodes (--full: also broadcast and allgather)" ;;
        failover) echo "a stream whose fast rail is out for a while: what arrives in each moment" ;;
        random) echo "messages of random sizes between random ranks of 4 nodes (thesis, 6)" ;;
        p2p) echo "MPI level: latency, bandwidth, rate, LogP, unexpected messages, ..., and what of the layer below reaches it" ;;
        large) echo "bandwidth of 1 MiB and more, one message at a time and 8 at once, by the sum of the rails' own" ;;
        multipair) echo "two ranks of a node stream to two of another at once, over the same rails" ;;
        onesided) echo "put, get, accumulate and fetch-and-op between two ranks, verified" ;;
        btl) echo "below MPI, on the BTLs: latency, bandwidth, LogP, buffer reuse, connections, segments, ..." ;;
        skew) echo "collectives: average latency, synchronisation delay, one late rank" ;;
        kernels) echo "halo exchange, FFT, bucket sort, conjugate gradient of 4 nodes, verified" ;;
        start) echo "a job of 64 ranks on 16 nodes starts: MPI_Init, the first messages of all to all, memory and open files a rank" ;;
        app) echo "any MPI program of yours, unmodified: ./fsbml bench app -- PROGRAM ARGS" ;;
        matrix) echo "FSBML against the best of all other arms, over many kinds of rails, slow to fast, quiet to busy" ;;
        core) echo "nanoseconds a decision of the scheduler, time of a calibration's arithmetic; no network" ;;
    esac
}

# experiment_set NAME FULL: sets nodes, per_node, rates, program, arguments, arms and rounds.
#   nodes, rates   the cluster, with per_node ranks on each node
#   program        the benchmark, with its arguments in the array `arguments`; empty for app
#   arms           what is compared
#   rounds         how often every arm is launched
experiment_set() {
    nodes=2 per_node=1 program=onetoone rounds=5 arms=fsbml,r2,rails
    rates=(200mbit 20mbit)
    # A rail 10x slower must not take all the time: two samples a point suffice there, as every round is a sample too.
    arguments=(--seconds 0.05 --min-samples 2)
    case "$1" in
        onetoone) ;;
        equal) rates=(100mbit 100mbit) ;;
        single)
            rates=(200mbit)
            arms=fsbml,r2
            rounds=15
            ;;
        collectives)
            # The slow rails alone are as slow as they are: only the fastest is a rival.
            nodes=4 program=collectives arms=fsbml,r2,rail0
            rounds=21
            arguments+=(--operations "barrier,allreduce,alltoall")
            ;;
        failover)
            rates=(200mbit 100mbit) program=outage arms=fsbml,r2 arguments=()
            rounds=1
            ;;
        random)
            nodes=4
            arguments+=(--to random --distribution log --messages "8,32" --sizes "16,65536")
            ;;
        p2p) program=p2p arguments=(--seconds 0.01 --min-samples 2 --max-samples 300 --sizes "1,64,1024,4096,16384") ;;
        large)
            # The slow rail alone has to carry all of it, so it is not as slow as elsewhere.
            rates=(200mbit 100mbit) program=p2p arms=fsbml,rails
            arguments=(--operations bandwidth --window "1,8" --sizes "1048576,4194304,16777216" --seconds 0.1 --min-samples 1)
            ;;
        multipair)
            per_node=2 program=p2p arms=fsbml,fsbml:bml_fsbml_ledger=off,rails
            arguments=(--operations multipair --window 8 --sizes "16384,1048576" --seconds 0.1 --min-samples 2)
            ;;
        onesided)
            program=onesided
            arguments+=(--sizes "8,256,4096,65536,1048576,4194304")
            ;;
        # Larger messages than 8 KiB may be more than FSBML sends as one.
        btl) program=btlbench arguments=(--seconds 0.02 --min-samples 2 --max-samples 500 --sizes "1,64,1024,4096,8192") ;;
        skew)
            nodes=4 program=collectives arms=fsbml,r2,rail0
            arguments+=(--skew)
            ;;
        kernels) nodes=4 program=kernels ;;
        start) nodes=16 per_node=4 program=start arms=fsbml,r2 arguments=() ;;
        app) program="" arguments=() ;;
    esac
    [ -n "$2" ] || return 0
    rounds=15
    case "$1" in
        onetoone | equal | single) arguments+=(--sizes "16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536") ;;
        collectives) arguments=(--seconds 0.1 --min-samples 3 --sizes "8,16,32,64,128,256,512,1024,2048,4096,8192,16384") ;;
        large)
            rounds=5
            arguments+=(--sizes "1048576,4194304,16777216,67108864")
            ;;
        multipair) arguments+=(--window "1,8,32") ;;
        kernels) arguments+=(--size medium) ;;
    esac
}

# rails_by_rate RATE...: the numbers of the rails, slow ones first.
rails_by_rate() {
    local number=0 rate
    for rate in "$@"; do
        printf '%d %d\n' "$(rate_kbit "${rate%%,*}")" $number
        number=$((number + 1))
    done | sort -n -s | cut -d' ' -f2
}

# rail_everywhere SPEC NODES: true if all of NODES nodes have the rail.
rail_everywhere() {
    local node
    for ((node = 0; node < $2; node++)); do rail_has "$1" "$node" || return 1; done
}

# arms_in_turn ARMS NODES RAIL...: the list with the rails spelled out, slow ones first, so that the fastest is launched next
# to FSBML: those that are compared closest belong side by side, since machines change their speed. Only a rail that all
# nodes have carries a job alone.
arms_in_turn() {
    local arm before="" own="" rails="" number
    local wanted=$1 nodes=$2
    shift 2
    local specs=("$@")
    for number in $(rails_by_rate "$@"); do
        if rail_everywhere "${specs[$number]}" "$nodes"; then
            rails+=${rails:+,}rail$number
        elif [[ ,$wanted, =~ ",rail$number"[,:] ]]; then
            die "rail$number by itself is no arm: not every node has it (--rail '${specs[$number]}')."
        fi
    done
    for arm in ${wanted//,/ }; do
        case "$arm" in
            fsbml) own=,fsbml ;;
            rails) ;;
            *) before+=,$arm ;;
        esac
    done
    [[ ,$wanted, != *,rails,* || -z $rails ]] || before+=,$rails
    before=$before$own
    printf '%s\n' "${before#,}"
}
