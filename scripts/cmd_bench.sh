# ./fsbml bench: measures FSBML, part by part, against what it replaces.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
for part in scripts/{openmpi,programs,bench_core,bench_plan,simulator,bench_matrix}.sh tools/cluster/{state,contain,options,emulator}.sh bench/experiment.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

cmd_bench_help() {
    cat <<'HELP'
usage: ./fsbml bench NAME [options] [-- ARGUMENTS]
       ./fsbml bench app [options] -- PROGRAM ARGUMENTS
       ./fsbml bench --list

Launches the arms of a comparison in turns: FSBML, Open MPI's own r2 on all rails, r2 on each rail alone, and more on request.
Prints medians with their spread, ratios to the best rail alone, to r2 and to the ideal, the share of bytes on each rail, the
rails as FSBML measured them, and the outcome in a sentence; the last one says what the noise does not let tell. ARGUMENTS
go to the benchmark's program (`-- --help` lists what it takes).

where:
  --rail SPEC         of a virtual cluster (repeat); as with `./fsbml cluster up`, e.g. --rail rate=200mbit,delay=1ms;
                      with nodes=0-1 only those nodes have it, and it is no arm by itself
  --nodes N           nodes of that cluster, --ranks N: ranks, dealt over the nodes (one a node; multipair: two)
  --hostfile FILE     no virtual cluster: the hosts in this file, as mpirun takes it; the project's folder must be there on all
                      of them. Needs --rails LIST, interfaces or networks, e.g. --rails eth0,eth1 or --rails 10.0.0.0/24,10.1.0.0/24
  --one-host          two processes of this host, over shared memory and TCP

what:
  --arms LIST         of fsbml, fsbml:POLICY (arrival, thesis, roundrobin, single), r2, rails (each alone), rail0, rail1, ...,
                      ucx (where Open MPI has it). Default: fsbml,r2,rails. An arm may have parameters of Open MPI of its own:
                      fsbml,fsbml:bml_fsbml_quantum=65536,r2:btl_tcp_links=2
  --rounds K          launches of every arm
  --full              more sizes, 15 rounds
  --interleaved       the jobs of a round run at once and take turns of milliseconds, the others asleep: differences of 2 % between
                      small messages can be told, where launches one after the other differ by 10 to 15 % (not with --hostfile
                      or app)
  --timeout S         end a launch that takes longer (600)
  --reference         with the patched Open MPI (built first if need be: minutes) instead of the installed one
  --openmpi PREFIX    with another installed Open MPI

output:
  --json FILE         write everything, with all samples (docs/bench.schema.json)
  --plots FOLDER      draw latency and bandwidth over size, shares of bytes: SVG and PNG

`bench core` runs without a network and takes other options:
  --json FILE         write the results in Google Benchmark's format
  --filter REGEX      only the benchmarks that match, e.g. '^choose/'
  --repetitions K     run each so often; median and spread are printed (5)
  --instructions      instead of times: instructions a decision, counted by callgrind

`bench matrix` has options of its own, too: './fsbml bench matrix --help' lists them.

A launch that fails, hangs, prints nothing or has wrong data ends the benchmark with a message and an exit status other than 0.
HELP
}

cmd_bench() {
    local name=${1:-} one
    case "$name" in
        --list)
            for one in $FSBML_BENCHMARKS core matrix; do printf '%-14s %s\n' "$one" "$(bench_about "$one")"; done
            return 0
            ;;
        "") die "bench: say which; './fsbml bench --list' lists them." ;;
    esac
    [[ " $FSBML_BENCHMARKS core matrix " == *" $name "* ]] || die "bench: there is no benchmark '$name'; './fsbml bench --list' lists them."
    shift
    if [ "$name" = core ]; then
        bench_core "$@"
    elif [ "$name" = matrix ]; then
        bench_matrix "$@"
    else
        bench_run bench "$name" "$@"
    fi
}
