#!/usr/bin/env bash
# Tests of `fsbml replay`: its errors, those of the job's program, a short run of a case, and of a trace with a table.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, for virtual clusters. Prints TAP. How near the simulator comes is judged only coarsely, as other work on the machine
# shows in it.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh tools/cluster/{state,contain,options,job}.sh scripts/programs.sh bench/experiment.sh
name="" scratch="" # set by:
own_clusters r

# replay ARGUMENTS...: its table in $scratch/out, the document in $scratch/json.
replay() {
    fsbml replay "$@" --json "$scratch/json" >"$scratch/out" 2>"$scratch/err" </dev/null && return 0
    tail -n 10 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

# verdict: what the bar must say of one case, by its times: within 10 %, within 10 % of what is within the spread, or neither.
verdict() {
    from "$scratch/json" '(lambda c, near: "met \\(1 of 1\\)" if near(c["measured_ns"]) else
        "unclear \\(0 of 1\\)" if near(min(max(c["simulated_ns"], c["measured_ns"] - c["spread_ns"]), c["measured_ns"] + c["spread_ns"]))
        else "NOT MET \\(0 of 1\\)")(d["cases"][0], lambda m: abs(d["cases"][0]["simulated_ns"] - m) <= 0.1 * m)'
}

# job RANKS ARGUMENTS...: the job's program on the cluster.
job() {
    local ranks=$1
    shift
    timeout 60 "$FSBML_TOP/fsbml" cluster run --name "$name" -n "$ranks" -- --mca bml fsbml "$programs/replay_job" "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null
}

# job_refuses PATTERN RANKS ARGUMENTS...
job_refuses() {
    local pattern=$1
    shift
    if ! job "$@" && grep -qE "$pattern" "$scratch/err"; then return 0; fi
    tail -n 10 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

traces() {
    # Each kind of op; rank 1 must get past `until`, which comes 20 ms after the start.
    printf 'fsbml-trace 1 ranks 2 name all kinds\n0 compute 1000000\n0 send 1 200000\n0 send 1 10\n0 recv any\n1 until 20000000\n1 recv 0\n1 recv 0\n1 send 0 0\nend 8\n' \
        >"$scratch/good"
    sed 's/ranks 2/ranks 3/' "$scratch/good" >"$scratch/three"
    sed 's/^end 8/end 9/' "$scratch/good" >"$scratch/cut"
    printf 'fsbml-trace 1 ranks 2\n0 sing 1 100\n' >"$scratch/malformed"
    printf 'fsbml-trace 1 ranks 2\n0 recv 1\n1 recv 0\n' >"$scratch/locked"
    printf 'fsbml-trace 1 ranks 2\n0 compute 5\n' >"$scratch/silent"
    printf 'fsbml-table 2\n%s\n%s\n' \
        'rail tcp:10.71.0.0/24 rail0 L=5000 o_s=8000 o_r=1000 g=5000 G=83.6 residual=0.01 tight=1 probes=10' \
        'rail tcp:10.71.1.0/24 rail1 L=5000 o_s=8000 o_r=1000 g=5000 G=418 residual=0.01 tight=1 probes=10' >"$scratch/table"
}

words_are_checked() {
    ok "help" grep -q -- '--launches' <(fsbml replay --help)
    ok "... also behind other options" test "$(fsbml replay --launches 2 --help)" = "$(fsbml replay --help)"
    ok "... and in the driver's list" grep -q '^  replay ' <(fsbml --help)
    ok "the cases are ten" equal "$(fsbml replay --list | wc -l)" 10
    ok "an unknown option" refuses "replay: unknown option '--fast'" replay --fast
    ok "an option without its value" refuses "--case needs a value" replay --case
    ok "a case that is none" refuses "replay: there is no case 'dice'; there are: ping-pong, " replay --case dice
    ok "launches out of range" refuses "from 1 to 1000" replay --launches 0
    ok "a time that is none" refuses "is no time" replay --seconds soon
    ok "rails for the cases" refuses "are for a TRACE" replay --rail rate=20mbit
    ok "a trace and a case" refuses "exclude each other" replay --case stream "$scratch/good"
    ok "one rail" refuses "at least two rails" replay --rail rate=20mbit "$scratch/good"
    ok "a trace that is not there" refuses "replay: cannot read '/nowhere/trace'" replay /nowhere/trace
    ok "a malformed trace" refuses "malformed', line 2: " replay "$scratch/malformed"
    ok "a trace that was cut off" refuses "cut', line 10: " replay "$scratch/cut"
    ok "a trace that never ends" refuses "replay: .*rank 0" replay "$scratch/locked"
    ok "a trace without messages" refuses "has no messages" replay "$scratch/silent"
    ok "nodes that are not the trace's ranks" refuses "the trace is of 2 ranks, one a node, but --nodes says 3" replay --nodes 3 "$scratch/good"
    ok "traces of unlike ranks" refuses "of 2 ranks, '.*three' of 3: one at a time" replay "$scratch/good" "$scratch/three"
    ok "a table that is not there" refuses "no reading the table '/nowhere/table'" replay --table /nowhere/table
    ok "JSON that cannot be written" refuses "cannot write '/nowhere/json'" replay --json /nowhere/json
    ok "an Open MPI that is not there" refuses "there is no Open MPI in '/nowhere'" replay --openmpi /nowhere
}

jobs_check_too() {
    fsbml cluster up --name "$name" --rail rate=100mbit --rail rate=20mbit 2>/dev/null
    ok "a job without a trace" job_refuses 'replay: no trace' 2
    ok "a job of a trace that is not there" job_refuses "replay: cannot read '/nowhere/trace'" 2 --trace /nowhere/trace
    ok "a job of a malformed trace" job_refuses "malformed', line 2: " 2 --trace "$scratch/malformed"
    ok "a job of a trace of other ranks" job_refuses "the trace is of 3 ranks, but the job has 2" 2 --trace "$scratch/three"
    ok "... said once" equal "$(grep -c 'the trace is of' "$scratch/err")" 1
    ok "a job of a trace" job 2 --trace "$scratch/good" --seconds 0.1 --json
    ok "... tells its makespan, which an op bounds" equal \
        "$(/usr/bin/python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
print(all(s >= 20e6 for d in lines if d.get("operation") == "makespan" for s in d["samples"]), sum(d.get("operation") == "late" for d in lines))' "$scratch/out")" \
        "True 2"
}

runs() {
    ok "a case" replay --case stream --launches 2 --seconds 0.1
    ok "... is a row" told '^stream +2, 200mbit\+20mbit +[0-9.]+ +[0-9.]+ +[0-9.]+ '
    ok "... that both agree about" holds '0.8 < d["cases"][0]["simulated_ns"] / d["cases"][0]["measured_ns"] < 1.25'
    ok "... and a bar, by its figures" told "9 of 10 cases: $(verdict)\$"
    ok "... which the document has" holds "d['bar']['figures'] == '$(verdict | grep -o '[01] of 1')' and len(d['cases']) == 1"
    # 1 MiB takes 38 ms on both rails together.
    ok "... whose bytes took their time in both" holds 'all(d["cases"][0][k] > 30e6 for k in ("measured_ns", "simulated_ns"))'
    ok "... on both rails" holds 'all(d["cases"][0][k]["rail1"] > 0.02 for k in ("measured_share", "simulated_share"))'
    ok "... as the schema says" valid replay "$scratch/json"
    ok "... in two launches" holds 'len(d["cases"][0]["launches_ns"]) == 2'
    ok "a trace with a table" replay --rail rate=100mbit --rail rate=20mbit --table "$scratch/table" --launches 1 --seconds 0.1 "$scratch/good"
    ok "... of which the until counts" holds 'd["cases"][0]["name"] == "all kinds" and 20e6 <= d["cases"][0]["simulated_ns"] < 60e6 and d["cases"][0]["measured_ns"] >= 20e6'
    ok "the document alone" equal "$(fsbml replay --table "$scratch/table" --launches 1 --seconds 0.1 --json - "$scratch/good" 2>"$scratch/err" | head -c 1)" "{"
    ok "nothing is left of it" no_process "$FSBML_BUILD/(bench-[^ ]*/replay([.]program|_job) |demo/)"
}

need_packages "the tests of replay" python3 python3-jsonschema procps
fsbml build >/dev/null 2>&1
programs=$(programs_build "$(openmpi_prefix)" replay.program replay_job calibrate.program calibrate_job 2>/dev/null)
traces
words_are_checked
jobs_check_too
runs
tap_end
