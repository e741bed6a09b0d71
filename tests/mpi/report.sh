#!/usr/bin/env bash
# What a job leaves behind (bml_fsbml_report, bml_fsbml_trace, MPI_T variables) agrees with itself and with the interfaces.
#
# With each version of Open MPI: what the PML gives to FSBML, MPI_T variables, and spawned jobs are Open MPI's. Once: the documents'
# form is FSBML's own.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"
# shellcheck source=scripts/simulator.sh
. "$FSBML_TOP/scripts/simulator.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}
RAILS=(200mbit 50mbit)
program="" # of the last job

job() {
    local ranks=$1
    program=$2
    shift 2
    harness_job "$LIMIT" "$ranks" --mca bml fsbml --mca bml_fsbml_table "$left/table" "$@" "$harness_programs/$program"
}

# is NAME COMMAND...: the last job ended well, and the command holds.
is() {
    local name=$1 reason
    shift
    reason=$(harness_failure "$program" "$LIMIT")
    if [ -z "$reason" ] && ! "$@"; then
        reason="'$*' is not so: $(head -c 600 "$harness_stdout"; head -c 600 "$harness_stderr")"
    fi
    harness_result "$name" "$reason"
}

# Each of these prints 'messages bytes' of a rail, over all ranks.
by_tool() { awk -v rail="rail$1" '$1 == "rank" && $3 == rail { m += $5; b += $7 } END { printf "%.0f %.0f", m, b }' "$harness_stdout"; }
by_trace() { awk -v rail="rail$1" '$4 == "->" && $5 == rail { m += 1; b += $3 } END { printf "%.0f %.0f", m, b }' "$left"/*.decisions; }
by_report() {
    /usr/bin/python3 -c 'import json, sys
rail = [r for r in json.load(open(sys.argv[1]))["rails"] if r["name"] == sys.argv[2]][0]
print(rail["messages"], rail["bytes"], end="")' "$left/report.json" "rail$1"
}
# sent RAIL: bytes that all nodes have sent on that rail so far.
sent() {
    local node
    for node in "${harness_nodes[@]}"; do
        nsenter --net="/run/netns/$node" sed -nE "s/^ *rail$1: *([0-9]+ +){8}([0-9]+) .*/\2/p" /proc/thread-self/net/dev
    done | awk '{ sum += $1 } END { printf "%.0f", sum }'
}

same() { [ "$1" = "$2" ] && [ "${1% *}" -gt 0 ]; }
# near CARRIED MESSAGES-BYTES: frames' headers and acknowledgements come on top, of each small message its own; connections as well.
near() {
    awk -v carried="$1" -v messages="${2% *}" -v given="${2#* }" \
        'BEGIN { exit !(carried >= given && carried <= 1.15 * given + 150 * messages + 100000) }'
}
has() { grep -qE -- "$2" "$1"; }
# The spawned job has one process, on the node of one of the others: what it did is another matter.
each_has() { [ $# -eq 2 ] && has "$1" '2 ranks' && has "$2" '1 rank'; }
# valid SCHEMA JSON: the document is as docs/SCHEMA.schema.json says.
valid() {
    /usr/bin/python3 -c 'import json, sys, jsonschema
jsonschema.validate(*(json.load(open(f)) for f in sys.argv[1:]))' "$2" "$FSBML_TOP/docs/$1.schema.json" 2>"$harness_logs/invalid" ||
        { sed -n '/Error: /s/^/# /p' "$harness_logs/invalid" && false; }
}
traced() { "$FSBML_TOP/fsbml" trace "$left" --json "$left/trace.json" >"$harness_logs/driver" && valid trace "$left/trace.json"; }

agree() {
    local ranks=$1 rail before=()
    rm -f "$left"/*.decisions "$left"/*.json
    for rail in 0 1; do before[rail]=$(sent "$rail"); done
    job "$ranks" witness --mca bml_fsbml_report "$left/report.json" --mca bml_fsbml_trace "$left/"
    for rail in 0 1; do
        is "$ranks ranks, rail$rail: the tool's messages and bytes are the trace's" same "$(by_tool "$rail")" "$(by_trace "$rail")"
        is "... and the report's" same "$(by_tool "$rail")" "$(by_report "$rail")"
        is "... and what the interfaces carried, but for headers" near $(($(sent "$rail") - before[rail])) "$(by_report "$rail")"
    done
    harness_in once || return 0
    is "$ranks ranks: the report is as its schema says" valid report "$left/report.json"
    is "... and so is what the trace tells" traced
}

forms() {
    job 2 witness --mca bml_fsbml_report -
    is "on stdout, a sentence on what the second rail gave" has "$harness_stdout" 'rail1 carried .* of the bytes'
    is "... and the table of rails" has "$harness_stdout" '^  rail0 '
    job 2 witness --mca bml_fsbml_report "$left/a/b/report.html"
    is "a page, in a folder of its own" has "$left/a/b/report.html" '</html>'
    job 2 witness --mca bml_fsbml_report /proc/none/report.txt
    is "a report that cannot be written does not end the job" has "$harness_stderr" 'report of the job cannot be written|ORTE_ERROR_LOG.*show_help'
    if harness_has spawn; then
        job 2 spawn --mca bml_fsbml_report "$left/family.txt"
        is "a job and one that it spawns have a report each" each_has "$left/family.txt" "$left"/family.spawned*.txt
    fi
    job 2 witness --mca bml_fsbml_trace /proc/none/
    is "a trace that cannot be written neither" has "$harness_stderr" 'trace of a process. decisions cannot be written|ORTE_ERROR_LOG.*show_help'
    job 2 witness --mca bml_fsbml_trace "$left/few" --mca bml_fsbml_trace_every 10
    is "one in ten decisions" has "$left/few.0.decisions" '^fsbml-decisions 2 .* every 10 '
    program=pvars # which waits for messages whose arrival nothing disturbed
    harness_measure 2 --mca bml fsbml --mca bml_fsbml_table "$left/table" "$harness_programs/pvars"
    is "MPI_T variables" has "$harness_stdout" 'pvars: [0-9]+ checks passed'
    harness_fsbml cluster set --name "$harness_cluster" --node 1 --rail 1 down
    job 2 witness --mca bml_fsbml_report -
    # tcp of 6.0 makes no module of an interface without carrier: node1 then is one that lacks the rail.
    if [ "$harness_major" -lt 6 ]; then
        is "a cable that is out is named first" has "$harness_stdout" \
            '^  rail1 carried nothing between node0 and node1: the interface has no carrier on node1'
    else
        is "with a cable that is out there is no choice" has "$harness_stdout" '^  FSBML had nothing to choose, .*: no two processes share two rails'
    fi
    harness_cluster_down # it has lost a cable
}

# run_part FUNCTION RANKS, in one word
run_part() {
    left=$harness_logs/left
    mkdir -p "$left"
    harness_cluster_up "${1#* }" "${RAILS[@]}"
    harness_table "$left/table" "${RAILS[@]}"
    $1
}

harness_begin "Verifies that report, trace, performance variables and interface counters agree." "$@"
if harness_in version; then
    need_packages "the tests of reports" python3
    if harness_in once; then
        need_packages "the tests of reports" python3-jsonschema
        # `trace` compiles it if need be, which two lanes may not do at a time.
        program_build trace.program "the simulator"
    fi
    harness_lanes run_part "forms 2" "agree 4" "agree 2"
fi
harness_end
