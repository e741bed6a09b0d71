# The experiments of `demo`: what each measures, and on what. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck disable=SC2034  # used by those who source this

FSBML_EXPERIMENTS="onetoone equal single collectives"

# experiment_set NAME FULL: sets nodes, rates, program, arguments and rounds.
#   nodes, rates   the cluster
#   program        the benchmark, with its arguments in the array `arguments`
#   rounds         how often every arm is launched
experiment_set() {
    nodes=2 program=onetoone rounds=5
    rates=(200mbit 20mbit)
    # A rail 10x slower must not take all the time: two samples a point suffice there, as every round is a sample too.
    arguments=(--json --seconds 0.05 --min-samples 2)
    case "$1" in
        onetoone) ;;
        equal) rates=(100mbit 100mbit) ;;
        single)
            rates=(200mbit)
            rounds=15
            ;;
        collectives)
            nodes=4 program=collectives
            rounds=21
            ;;
    esac
    if [ -n "$2" ]; then
        rounds=15
        arguments+=(--sizes "16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536")
        [ "$program" = onetoone ] || arguments=(--json --seconds 0.1 --min-samples 3 --sizes "8,16,32,64,128,256,512,1024,2048,4096,8192,16384")
    fi
}

# cluster_arms EXPERIMENT RATE...: prints one line an arm: NAME BML INTERFACES.
cluster_arms() {
    local experiment=$1 rail fastest=0 kbit best=0 all=rail0
    shift
    local rates=("$@")
    for ((rail = 0; rail < ${#rates[@]}; rail++)); do
        kbit=$(rate_kbit "${rates[$rail]%%,*}")
        if [ "$kbit" -gt "$best" ]; then best=$kbit fastest=$rail; fi
        [ "$rail" -eq 0 ] || all=$all,rail$rail
    done
    # Of collectives the slow rails alone are as slow as they are: only the fastest is a rival.
    if [ "$experiment" != collectives ]; then
        for ((rail = 0; rail < ${#rates[@]}; rail++)); do
            [ "$rail" -eq "$fastest" ] || printf 'rail%d r2 rail%d\n' "$rail" "$rail"
        done
    fi
    printf 'r2 r2 %s\n' "$all"
    # Those that are compared closest are launched side by side: machines change their speed.
    [ ${#rates[@]} -eq 1 ] || printf 'rail%d r2 rail%d\n' "$fastest" "$fastest"
    printf 'fsbml fsbml %s\n' "$all"
}

# rail_table LOG: FSBML's own table of the rails from a launch's stderr, without the lines' origin: the heading, the rows (a
# rail and its key), what is noted of a rail. The first process that printed it is taken; others' lines may stand in between.
rail_table() {
    awk '
        !match($0, /^\[[^]]*\] fsbml: /) { next }
        { from = $1; text = substr($0, RLENGTH + 1); split(text, word, " ") }
        text ~ /^rail +key / && origin == "" { origin = from; print text; next }
        from != origin { next }
        word[2] ~ /[:#]/ && text !~ /^fragments/ && word[1] !~ /:$/ { print text; name[word[1] ":"] = 1; next }
        word[1] in name { print text; next }
        { exit }' "$1"
}
