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

Makes virtual clusters of two nodes and measures, in turns, each rail alone, Open MPI's own r2 on all rails and FSBML on all rails.
In three acts: two unlike rails, two equal ones, and a cable that is pulled. Prints the times, with FSBML's as bars by the best
rail's, what arrives in each moment while the cable is out, and in the end what came out, in a few sentences. Builds the component
first if need be, which takes most of a minute on two cores. First figures are there some seconds after that, and the whole takes
three minutes.

  --experiment NAME   one by itself, with all figures:
                      onetoone      N messages out, N back, 200 and 20 Mbit/s (thesis, 5.8.1)
                      equal         the same on 100 and 100 Mbit/s
                      single        the same on one rail: what FSBML costs where it cannot help
                      collectives   barrier, allreduce, alltoall of 4 nodes, 200 and 20 Mbit/s
                      failover      a stream over 200 and 100 Mbit/s; the fast rail's cable is out for 5 s: what arrives in each
                                    moment, with r2 and with FSBML's bml_fsbml_failover
  --plots FOLDER      draw the figures into FOLDER, as SVG and PNG
  --rail rate=RATE    other rails than the experiment's (repeat; no bars then), e.g. --rail rate=400mbit --rail rate=100mbit.
                      With this and what follows, but --reference, --openmpi and --rounds, the experiment is onetoone if none is named
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
# jobs of a round take turns, as what differs from moment to moment is more than what FSBML and its rivals differ by. On one host, where
# all are alike, half of the lines tell the same.
# shellcheck disable=SC2034,SC2154  # the variables are bench_run's
demo_set() {
    verify=once
    [ "$name" = failover ] || [ -n "$hostfile" ] || interleaved=yes
    [ -z "$full" ] && [[ $name == onetoone || $name == equal ]] || return 0
    arguments=(--seconds 0.1 --min-samples 1)
    [ "$where" != host ] || arguments+=(--messages "1,32")
    first=(--messages 32 --sizes "16,4096")
    slow_rounds=2
    [ "$wanted_rounds" -ne 0 ] || rounds=8
}

# The acts of the demo that is given no experiment, and what each is about.
DEMO_ACTS=(onetoone equal failover)

demo_title() {
    case "$1" in
        onetoone) echo "Unlike rails: 200 and 20 Mbit/s. Time of a message, one way, in us; best: the best rail alone" ;;
        equal) echo "Equal rails: 100 and 100 Mbit/s" ;;
        failover) echo "A cable is pulled: a stream over 200 and 100 Mbit/s" ;;
    esac
}

# demo_acts [OPTION]...: one after the other; what is needed is built before the first. The answers are the last that one sees.
# shellcheck disable=SC2034,SC2154 # show_bars is bench_settle's, and those of the plan
demo_acts() {
    local "${plan_variables[@]}" "${plan_options[@]}" wanted_rounds=0 full="" more=() per_node show_bars="" act answers folder=""
    local built_prefix="" built_components=""
    mkdir -p "$FSBML_BUILD/demo"
    answers=$(mktemp "$FSBML_BUILD/demo/answers.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -f -- '$answers'" EXIT
    for act in "${DEMO_ACTS[@]}"; do
        plan_begin demo "$act" harness.program
        bench_parse "$@"
        experiment_set "$act" ""
        demo_set
        [ "$act" = onetoone ] || first=()
        # What is ten times slower is told so by one launch; and equal rails are as fast one by one.
        slow_rounds=1
        [ "$act" != equal ] || arms=fsbml,r2,rail0
        if [ "$act" = failover ]; then
            wanted_rounds=0
        else
            arguments=(--seconds 0.06 --min-samples 1 --messages "1,32" --sizes "16,256,1024,4096,16384,65536")
        fi
        bench_place
        folder=$plots
        bench_settle
        bars="" told=$answers
        [ -z "$folder" ] || { plots=$(readlink -m -- "$folder")/$act && mkdir -p "$plots"; }
        if [ -z "$built_prefix" ]; then
            bench_build
            built_prefix=$prefix built_components=$components
        else
            prefix=$built_prefix components=$built_components
            programs=$(programs_build "$prefix" "$program")
            bench_command
        fi
        printf '\n%s\n' "$(demo_title "$act")"
        printf '%s: ' "$(demo_title "$act" | cut -d: -f1)" >>"$answers"
        bench_measure
    done
    printf '\n'
    # Between a figure and its unit no line ends.
    sed -E 's;([0-9]) (%|s|us|MB/s)( |,|\.|$);\1\x01\2\3;g' -- "$answers" | fold -s -w 118 | tr '\001' ' '
}

# shellcheck disable=SC2034 # show_bars is bench_run's
cmd_demo() {
    local experiment="" options=() show_bars="" acts=yes
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
            --reference) options+=("$1") ;;
            --openmpi | --rounds | --plots)
                value_of "$1" $#
                options+=("$1" "$2")
                shift
                ;;
            *)
                acts=""
                options+=("$1")
                ;;
        esac
        shift
    done
    if [ -n "$acts" ] && [ -z "$experiment$show_bars" ] && cluster_isolation >/dev/null; then
        demo_acts "${options[@]}"
    else
        bench_run demo "${experiment:-onetoone}" "${options[@]}"
    fi
}
