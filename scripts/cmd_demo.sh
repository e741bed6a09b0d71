# ./fsbml demo: builds what is missing, measures on a virtual cluster, prints what FSBML gains.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
for part in scripts/{openmpi,programs,bench_plan}.sh tools/cluster/{state,contain,options,emulator}.sh bench/experiment.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

cmd_demo_help() {
    cat <<'HELP'
usage: ./fsbml demo [options]

Makes a virtual cluster of two nodes joined by two unlike rails, measures each rail alone, Open MPI's own r2 on all rails and
FSBML on all rails, in turns, and prints the times, the rails as FSBML measured them, and the outcome in a sentence.
Builds the component first if need be, which takes most of a minute on two cores. First figures are there some seconds after that,
and the whole takes up to three minutes.

  --experiment NAME   onetoone      N messages out, N back, 200 and 20 Mbit/s (the default; thesis, 5.8.1)
                      equal         the same on 100 and 100 Mbit/s
                      single        the same on one rail: what FSBML costs where it cannot help
                      collectives   barrier, allreduce, alltoall of 4 nodes, 200 and 20 Mbit/s
                      failover      a stream over 200 and 100 Mbit/s; the fast rail's cable is out for 5 s: what arrives in each
                                    moment, with r2 and with FSBML's bml_fsbml_failover (--plots FOLDER: as a plot)
  --rail rate=RATE    other rails than the experiment's (repeat; no bars then), e.g. --rail rate=400mbit --rail rate=100mbit
  --reference         with the patched Open MPI (built first if need be: minutes) instead of the installed one
  --openmpi PREFIX    with another installed Open MPI
  --rounds K          launches of every arm (8; single 15, collectives 21)
  --full              all powers of two, 15 rounds: more than ten minutes
  --bars              also how the bytes were divided, and whether this meets what its developers ask of it
  --json FILE         write everything, with all samples
  --one-host          no cluster: two processes over shared memory and TCP. That is also what happens where the kernel or a
                      container lets the demo make no namespaces

`./fsbml bench` takes these and more: other arms and benchmarks, plots, your own cluster, your own program.

Root or not: the cluster lives in namespaces of the demo's own, and nothing is left of it afterwards.
HELP
}

# demo_set: shortens what experiment_set has set. A round is a sample, so an exchange that takes long is one sample in each; each arm
# has every byte checked in its first launch only; what is several times slower, and takes the most of a round, is launched twice. The
# jobs of a round take turns, as what differs from moment to moment is more than what FSBML and its rivals differ by.
# shellcheck disable=SC2034,SC2154  # the variables are bench_run's
demo_set() {
    verify=once
    [ "$name" = failover ] || [ -n "$hostfile" ] || interleaved=yes
    [ -z "$full" ] && [[ $name == onetoone || $name == equal ]] || return 0
    arguments=(--seconds 0.1 --min-samples 1)
    first=(--messages 32 --sizes "16,4096")
    slow_rounds=2
    [ "$wanted_rounds" -ne 0 ] || rounds=8
}

# shellcheck disable=SC2034 # show_bars is bench_run's
cmd_demo() {
    local experiment=onetoone options=() show_bars=""
    while [ $# -gt 0 ]; do
        case "$1" in
            --experiment)
                value_of "$1" $#
                [[ " $FSBML_EXPERIMENTS " == *" $2 "* ]] || die "demo: there is no experiment '$2'; there are: $FSBML_EXPERIMENTS."
                experiment=$2
                shift
                ;;
            --bars) show_bars=yes ;;
            --) die "demo: unknown option '--'; './fsbml demo --help' lists them." ;;
            *) options+=("$1") ;;
        esac
        shift
    done
    bench_run demo "$experiment" "${options[@]}"
}
