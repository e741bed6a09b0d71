#!/usr/bin/env bash
# Which pairs measure on nodes with different rails, whether all ranks get the same table, and what the rails then carry.
#
# Once: ranks agree on the measuring pairs by FSBML's own messages.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

harness_offload=off # what is measured has no bucket of 70 kB, which fills while a process waits for its processor
LIMIT=${FSBML_TEST_LIMIT:-90}

# name | nodes | ranks | tables | rails, as --rail takes them | streams, from rank to rank |  pairs | shares
#   tables   that many ranks have two rails, and so a table
#   pairs    RANK-RANK:RAILS/ROUND, all that must measure, and how many rails in which round
#            (the cluster gives even nodes one core and odd ones the other: pairs are of both)
#   shares   of a stream on rail0, rail1 and rail2 of the sender's node, as LOW-HIGH (frames' headers are 5 %): without parameters, a
#            rail carries nothing, or all
CASES=(
    'two pairs at once|4|8|8|100mbit,nodes=0-1 100mbit 50mbit,nodes=2-3|2 3|0-1:2/0 2-3:1/0|0-0.02 0.2-0.9 0.15-0.8'
    'one node in two pairs|4|4|3|100mbit,nodes=0-1 100mbit 50mbit,nodes=0+3|0 3|0-1:2/0 0-3:1/1|0-0.02 0.2-0.9 0.15-0.8'
    'the next nodes share one rail only|4|4|2|100mbit,nodes=0+3 50mbit|0 3|0-3:2/0|0.2-0.9 0.15-0.8 0-0'
    'two nodes alike|2|4|4|100mbit 50mbit|0 1|0-1:2/0|0.2-0.9 0.15-0.8 0-0'
    'eight nodes alike|8|16|16|100mbit 50mbit|0 1|0-1:2/0|0.2-0.9 0.15-0.8 0-0'
    'eight nodes alike, one after the other|8|16|16|100mbit 50mbit|0 2|0-2:2/0|0.2-0.9 0.15-0.8 0-0'
)

# The pairs that said they have measured, in the order of their ranks.
measured() {
    sed -nE 's/.*ranks ([0-9]+) and ([0-9]+) have measured ([0-9]+) rails in round ([0-9]+), .*/\1-\2:\3\/\4/p' "$harness_stderr" |
        sort -t- -k1n -k2n | tr '\n' ' '
}

# same_table RANKS: prints a reason if not that many ranks tell the same table.
same_table() {
    local digests
    digests=$(sed -nE 's/.*the table has ([0-9]+) rails, its digest is ([0-9a-f]{8}).*/\1 \2/p' "$harness_stderr")
    if [ "$(grep -c . <<<"$digests")" -ne "$1" ]; then
        printf '%d ranks have a table instead of %d' "$(grep -c . <<<"$digests")" "$1"
    elif [ "$(sort -u <<<"$digests" | wc -l)" -ne 1 ]; then
        printf 'tables differ: %s' "$(sort -u <<<"$digests" | tr '\n' ';')"
    fi
}

# shares RANGE...: prints a reason if a rail carried another share of the stream.
shares() {
    local line rail
    line=$(sed -nE 's/^classes: sent ([0-9]+) on rail0 ([0-9]+), on rail1 ([0-9]+), on rail2 ([0-9]+)$/\1 \2 \3 \4/p' "$harness_stdout")
    if [ -z "$line" ]; then
        printf 'classes did not say what the rails carried'
        return
    fi
    for rail in 0 1 2; do
        awk -v rail="$rail" -v range="${*:rail+1:1}" '{
            split(range, r, "-"); share = $(rail + 2) / $1
            if (share < r[1] || share > r[2]) printf "rail%d carried %.3f of the stream (expected %s) ", rail, share, range
        }' <<<"$line"
    done
}

# verdict TABLES PAIRS SHARES STREAM: prints why the last job failed its case, or nothing.
verdict() {
    local reason
    reason=$(harness_failure "classes $4" "$LIMIT")
    if [ -n "$reason" ]; then
        printf '%s' "$reason"
    elif [ "$(measured)" != "$2 " ]; then
        printf 'pairs that measured: %s(expected %s)' "$(measured)" "$2"
    elif [ -n "$(same_table "$1")" ]; then
        same_table "$1"
    else
        # shellcheck disable=SC2086  # three ranges
        shares $3
    fi
}

run_case() {
    local name nodes ranks tables rails stream pairs share arguments=(--mca bml fsbml --mca bml_fsbml_verbose 5 --mca mpi_yield_when_idle 1)
    IFS='|' read -r name nodes ranks tables rails stream pairs share <<<"$1"
    harness_wanted "$name" || return 0
    [[ $name != *'one after the other'* ]] || arguments+=(--map-by slot --host "$(seq -s, -f 'node%g:2' 0 $((nodes - 1)))")
    # shellcheck disable=SC2086  # two ranks
    harness_program classes $stream
    # shellcheck disable=SC2086  # one word a rail
    harness_cluster_up "$nodes" $rails
    harness_measure "$ranks" "${arguments[@]}" "${harness_command[@]}"
    harness_result "$name" "$(verdict "$tables" "$pairs" "$share" "$stream")"
    sed -nE 's/.*(ranks [0-9]+ and [0-9]+ have measured .*)/# \1/p' "$harness_stderr"
    sed -n 's/^suite: MPI_Init/# MPI_Init/p' "$harness_stdout"
}

harness_begin "Runs nodes that have different rails, and looks at which pairs measure them." "$@"
if harness_in once; then
    for entry in "${CASES[@]}"; do run_case "$entry"; done
fi
harness_end
