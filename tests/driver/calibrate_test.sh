#!/usr/bin/env bash
# Tests of `fsbml calibrate`: its errors, a calibration with all that it writes, what it writes given to a job, hosts of a user,
# jobs that measure nothing.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, for virtual clusters. Prints TAP. How exact the figures are is not judged, only that they are what they stand for.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh tools/cluster/{state,contain,options,job}.sh scripts/programs.sh bench/experiment.sh
name="" scratch="" # set by:
own_clusters c

# recorded COMMAND...: its output in $scratch/out and $scratch/err.
recorded() {
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null && return 0
    tail -n 5 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

calibrate() { recorded fsbml calibrate "$@"; }

# about LEAST MOST FIGURES: are all of a list's between both? Where other programs keep the processors busy, `calibrate` says that its
# figures are too high: then only that they are not too low is to be expected.
about() {
    local most=$2
    if said 'the figures of this round will be too high'; then most="float('inf')"; fi
    equal "$(from "$json" "all($1 < x < $most for x in $3)")" True
}

nothing_left() { no_process "$FSBML_BUILD/(bench-[^ ]*/(calibrate[.]program|calibrate_job) |demo/)"; }

words_are_checked() {
    ok "help" grep -q -- '--holdout' <(fsbml calibrate --help)
    ok "... also behind other options" test "$(fsbml calibrate --rounds 2 --help)" = "$(fsbml calibrate --help)"
    ok "... and in the driver's list" grep -q '^  calibrate ' <(fsbml --help)
    ok "unknown option" refuses "calibrate: unknown option '--fast'" calibrate --fast
    ok "an option without its value" refuses "--table needs a value" calibrate --table
    ok "rounds out of range" refuses "from 1 to 1000" calibrate --rounds 0
    ok "one node" refuses "at least two nodes" calibrate --nodes 1
    ok "one rail" refuses "at least two rails" calibrate --rail rate=200mbit
    ok "a rail that is none" refuses "no rate" calibrate --rail delay=1ms --rail rate=20mbit
    ok "a hostfile that is not there" refuses "no reading the hostfile '/nowhere/hosts'" calibrate --hostfile /nowhere/hosts
    ok "a folder as a hostfile" refuses "no reading the hostfile" calibrate --hostfile /tmp
    ok "one host" refuses "two hosts at least" calibrate --host node1
    ok "hosts and a hostfile" refuses "exclude each other" calibrate --host a,b --hostfile /dev/null
    ok "rails of hosts that are made" refuses "makes rails of a virtual cluster" calibrate --host a,b --rail rate=20mbit
    ok "rails of a cluster that are named" refuses "made by --rail" calibrate --rails eth0
    ok "an Open MPI that is not there" refuses "there is no Open MPI in '/nowhere'" calibrate --openmpi /nowhere
    ok "two Open MPIs" refuses "exclude each other" calibrate --openmpi /usr --reference
    ok "a table that cannot be written" refuses "cannot write '/nowhere/t'" calibrate --table /nowhere/t
    ok "JSON that cannot be written" refuses "cannot write '/tmp'" calibrate --json /tmp
    ok "a folder for plots that cannot be made" refuses "cannot make the folder" calibrate --plots /dev/null/plots
}

calibration_is_complete() {
    local json=$scratch/c.json plots=$scratch/plots
    ok "two calibrations of two rails" calibrate --rail rate=100mbit --rail rate=20mbit --rounds 2 --holdout --json "$json" \
        --plots "$plots" --table "$scratch/table"
    ok "... have medians and intervals" told '^ +G +gap per byte +ns/B +[0-9.]+ .* 418\.2 +[+-][0-9.]+ %'
    ok "... and what they cost" told '^rail1 +tcp:10\.71\.1\.0/24 +[0-9.]+ %'
    ok "... and tests" told '^rail1 +[0-9]+ +[0-9.]+ % '
    ok "... and time" told '^A calibration takes [0-9]+ ms of MPI_Init'
    ok "the document is as its schema says" valid calibrate "$json"
    ok "... of two rails and two reports" equal "$(from "$json" '[r["name"] for r in d["rails"]], len(d["reports"])')" "(['rail0', 'rail1'], 2)"
    ok "... whose rates are about those that were set" about 0.7 1.4 \
        "[d['rails'][i]['parameters']['G_ns_per_byte'][k] / set for i, set in enumerate([83.6, 418.2]) for k in ['median', 'set']]"
    ok "... with bounds around" equal "$(from "$json" 'all(p["low"] <= p["high"] for r in d["rails"] for p in r["parameters"].values() if "low" in p)')" True
    ok "... and all samples" equal "$(from "$json" 'all(len(r["samples"]) > 4 and r["cost"]["bytes"] > 10000 for x in d["reports"] for r in x["rails"])')" True
    ok "... and exchanges that were not measured" equal \
        "$(from "$json" 'all(e["s_bytes"] not in {s["s_bytes"] for x in d["reports"] for s in x["rails"][i]["samples"]} for i, r in enumerate(d["rails"]) for e in r["holdout"]["exchanges"][:5])')" True
    ok "plots of each rail, and of the test, as PNG" equal \
        "$(file -b "$plots"/{gap-rail0,gap-rail1,prtt-rail0,prtt-rail1,holdout}.png | cut -d, -f1 | sort | uniq -c | xargs)" "5 PNG image data"
    ok "... and SVG, with points" equal "$(grep -lc 'gpPt' "$plots"/{gap-rail0,gap-rail1,prtt-rail0,prtt-rail1,holdout}.svg | wc -l)" 5
    ok "the table is of two rails" equal "$(grep -c '^rail tcp:' "$scratch/table")" 2
    ok "nothing is left of it" nothing_left
    ok "a calibration of slow rails with delays" calibrate --rail rate=20mbit,delay=2ms --rail rate=10mbit,delay=100us --json "$json"
    # Of what a busy processor does, some may count as o that is L.
    ok "... of which it finds the larger" about 1.9e6 3e6 "[sum(d['rails'][0]['parameters'][p]['median'] for p in ['L_ns', 'o_s_ns', 'o_r_ns'])]"
    ok "... as that was set" equal "$(from "$json" "d['rails'][0]['parameters']['L_ns']['set']")" 2000000.0
}

# job ARGUMENTS...: the program of `calibrate` on the cluster, with whatever parameters.
job() {
    timeout 100 "$FSBML_TOP/fsbml" cluster run --name "$name" -n 2 -- --mca bml fsbml --mca bml_fsbml_verbose 5 "$@" "$programs/calibrate_job" \
        "$scratch/none" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# The run-time of 4.1 loses one help message in eight that a process sends while MPI starts on a busy machine, and says so: then
# the job has another chance.
heard_job() {
    job "$@" || return 1
    while grep -q 'ORTE_ERROR_LOG: .*show_help\.c' "$scratch/err" && again "job $*" "Open MPI's run-time lost a message" 4; do
        job "$@" || return 1
    done
}

in_err() {
    grep -qE -- "$1" <<<"$(tr -s '[:space:]' ' ' <"$scratch/err")" && return 0
    tail -n 20 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

jobs_report() {
    sed -E 's/ G=[0-9.e+-]+/ G=321.5/' "$scratch/table" >"$scratch/edited"
    fsbml cluster up --name "$name" --rail rate=100mbit --rail rate=20mbit 2>/dev/null
    ok "a job takes the table" job --mca bml_fsbml_table "$scratch/table" --mca bml_fsbml_measurement "$scratch/pinned.json"
    ok "... without a word against it" equal "$(grep -c 'cannot be used' "$scratch/err")" 0
    ok "... and reports that nothing was measured" equal "$(from "$scratch/pinned.json" 'd["attempts"], d["rails"][0]["samples"]')" "(0, [])"
    ok "... which is as the schema says" valid calibrate "$scratch/pinned.json" report
    ok "... of parameters that are the table's" equal "$(from "$scratch/pinned.json" '"%.6g" % d["rails"][1]["parameters"]["G_ns_per_byte"]')" \
        "$(sed -nE 's/^rail [^ ]+ rail1 .* G=([^ ]+) .*/\1/p' "$scratch/table" | awk '{ printf "%.6g", $1 }')"
    ok "a job takes an edited one" job --mca bml_fsbml_table "$scratch/edited" --mca bml_fsbml_measurement "$scratch/pinned.json"
    ok "... as it is" equal "$(from "$scratch/pinned.json" '[r["parameters"]["G_ns_per_byte"] for r in d["rails"]]')" "[321.5, 321.5]"
    ok "a report of a job that measures" job --mca bml_fsbml_measurement "$scratch/a/b/measured.json" --mca bml_fsbml_holdout 6
    ok "... is as the schema says, in a folder of its own" valid calibrate "$scratch/a/b/measured.json" report
    ok "... and names the nodes" equal "$(from "$scratch/a/b/measured.json" 'd["nodes"], d["ranks"]')" "(['node0', 'node1'], [0, 1])"
    ok "a report that cannot be written does not end the job" heard_job --mca bml_fsbml_measurement /proc/none/report.json
    ok "... which says so" in_err 'report of the measurement cannot be written.* File: /proc/none/report.json Node: node0 Reason: '
    ok "... once" equal "$(grep -c 'cannot be written' "$scratch/err")" 1
    ok "without the parameter there is no report" job
    ok "... nor a word of one" equal "$(grep -ci 'report' "$scratch/err")" 0
}

# On hosts of a user: here, the nodes of the cluster, from within node 0.
on_hosts() {
    local state
    state=$(cluster_state "$name")
    (
        job_environment "$(openmpi_version "$(openmpi_prefix)")" "$state" /dev/shm/job "" 2
        unset OMPI_MCA_btl_tcp_if_include
        job_run "$state" 2 -- "$FSBML_TOP/fsbml" calibrate "$@"
    )
}

hosts_measured() { recorded on_hosts "$@"; }

# fails_on_hosts PATTERN ARGUMENTS...
fails_on_hosts() {
    local pattern=$1
    shift
    if ! on_hosts "$@" >"$scratch/out" 2>"$scratch/err" && last_error "calibrate: .*$pattern"; then return 0; fi
    tail -n 5 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

hosts_of_a_user_serve() {
    ok "a calibration on hosts of a hostfile" hosts_measured --hostfile /dev/shm/job/hostfile --rails 10.71.0.0/24,10.71.1.0/24 --json "$scratch/hosts.json"
    ok "... is as the schema says" valid calibrate "$scratch/hosts.json"
    ok "... and knows of nothing that was set" equal "$(from "$scratch/hosts.json" '[p for r in d["rails"] for p in r["parameters"].values() if "set" in p]')" "[]"
    ok "... and leaves no report behind" equal "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'fsbml-report.*' -newer "$scratch/table" | wc -l)" 0
    ok "hosts by their names" hosts_measured --host node0,node1 --rails 10.71.0.0/24,10.71.1.0/24
    ok "one rail between them" fails_on_hosts "measured no rails: .*at least two.*log is" --host node0,node1 --rails 10.71.0.0/24
    ok "a job that fails" fails_on_hosts "mpirun failed with status [0-9]+; the job's log is " --host node0,node1 --rails 10.71.0.0/24,10.71.1.0/24 \
        -- --mca bml_fsbml_budget never
    ok "... after its last words" in_err 'Parameter: bml_fsbml_budget Value: "never"'
    ok "hosts without FSBML" fails_on_hosts "FSBML is not installed where the job ran" --host node0,node1 --rails 10.71.0.0/24,10.71.1.0/24 \
        -- --mca mca_base_component_path SYS_DEFAULT
    ok "a job that takes too long" breaks "more than 1 s .--timeout" calibrate --timeout 1 -- --mca bml_fsbml_budget 60000 --mca bml_fsbml_samples 1000
}

need_packages "the tests of calibrate" gnuplot-nox python3 python3-jsonschema file procps
fsbml build >/dev/null 2>&1
programs=$(programs_build "$(openmpi_prefix)" calibrate.program calibrate_job 2>/dev/null)
words_are_checked
calibration_is_complete
jobs_report
hosts_of_a_user_serve
tap_end
