#!/usr/bin/env bash
# Tests of `fsbml bench`: its list, its errors, the core's benchmark, a comparison with all that it writes, and broken launches.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, for a virtual cluster that stands in for a user's hosts. Prints TAP. Figures are not judged.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh tools/cluster/{state,contain,options,job}.sh scripts/programs.sh bench/experiment.sh
name="" scratch="" # set by:
own_clusters b

# bench ARGUMENTS...: its output in $scratch/out and $scratch/err.
bench() { fsbml bench "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; }

# Whatever a benchmark starts is one of its programs, or has its folder on the command line.
nothing_left() { no_process "$FSBML_BUILD/(bench-[^ ]*/(harness[.]program|onetoone) |demo/)"; }

words_are_checked() {
    ok "list" equal "$(fsbml bench --list | awk '{ print $1 }' | paste -sd' ')" "$FSBML_BENCHMARKS core matrix"
    ok "each has a word about it" equal "$(fsbml bench --list | awk 'NF < 4' | wc -l)" 0
    ok "no name" refuses "say which" bench
    ok "unknown name" refuses "there is no benchmark 'x'" bench x
    ok "help behind the name" test "$(fsbml bench onetoone --help)" = "$(fsbml bench --help)"
    ok "help of the program" grep -q -e '--distribution' <(fsbml bench onetoone -- --help 2>/dev/null)
    ok "unknown option" refuses "unknown option '--fast'" bench core --fast yes
    ok "an option without its value" refuses "needs a value" bench core --json
    ok "repetitions that are no number" refuses "from 1 to 9999" bench core --repetitions 0
    ok "a file that cannot be written" refuses "cannot write" bench core --json /nowhere/x.json
    ok "rounds out of range" refuses "from 1 to 1000" bench single --rounds 0
    ok "an unknown option of a comparison" refuses "bench: unknown option '--fast'" bench onetoone --fast
    ok "a rail of one node" refuses "joins at least two nodes" bench onetoone --rail rate=200mbit --rail rate=20mbit,nodes=0
    ok "a rail of a node that is not there" refuses "there is no node 2" bench onetoone --rail rate=20mbit,nodes=0-2
    ok "an arm of a rail that not all nodes have" refuses "rail1 by itself is no arm" bench onetoone --nodes 3 --arms fsbml,rail1:a=1 \
        --rail rate=200mbit --rail rate=20mbit,nodes=0-1
    ok "help of the matrix" grep -q -e '--regimes LIST' <(fsbml bench matrix --help)
    ok "its regimes" test "$(fsbml bench matrix --list | wc -l)" -ge 12
    ok "a regime that there is not" refuses "there is no regime 'x'" bench matrix --regimes x
    ok "an unknown option of it" refuses "bench matrix: unknown option '--rail'" bench matrix --rail rate=20mbit
    ok "starts that are no number" refuses "from 1 to 1000" bench matrix --starts some
    ok "app without a program" refuses "say which program" bench app --rounds 1
    ok "app with one that is not there" refuses "there is no program 'no-such-program'" bench app -- no-such-program
    ok "a hostfile that is not there" refuses "no reading the hostfile" bench onetoone --hostfile /nowhere --rails a,b
    ok "a hostfile without rails" refuses "needs --rails" bench onetoone --hostfile /dev/null
    ok "turns on other hosts" refuses "is for jobs of this host alone" bench onetoone --hostfile /dev/null --rails a,b --interleaved
    ok "turns of a user's program" refuses "a program of yours knows no turns" bench app --interleaved -- true
    ok "rails without a hostfile" refuses "made by --rail" bench onetoone --rails eth0
    ok "rails that are no names" refuses "is not like eth0,eth1" bench onetoone --hostfile /dev/null --rails 'a;b'
    ok "a folder for plots that cannot be made" refuses "cannot make the folder" bench onetoone --plots /dev/null/plots
}

without_gnuplot() {
    mkdir "$scratch/bin"
    ln -s /usr/sbin/* /usr/bin/* "$scratch/bin/" 2>/dev/null || :
    rm -f "$scratch"/bin/gnuplot* "$scratch/bin/apt-get" "$scratch/bin/dpkg-query"
    printf '#!/bin/sh\nexit 1\n' | tee "$scratch/bin/dpkg-query" >"$scratch/bin/apt-get"
    chmod +x "$scratch/bin/apt-get" "$scratch/bin/dpkg-query"
    PATH=$scratch/bin breaks "could not install gnuplot-nox" bench onetoone --plots "$scratch/none"
}

core_runs() { bench core --repetitions 1 --filter '^(choose_and_charge/2/0|calibration/2)$' --json "$scratch/core.json"; }

core_is_measured() {
    ok "the core's benchmark runs" core_runs
    ok "... prints each" equal "$(grep -cE '^(choose_and_charge/2/0|calibration/2) +[0-9.]+ [nu]s' "$scratch/out")" 2
    ok "... writes both" equal "$(grep -cE '"name": "(choose_and_charge/2/0|calibration/2)"' "$scratch/core.json")" 2
    ok "... tells what a peer costs" told '^a peer: [0-9]+ bytes and [0-9]+ for each path'
    ok "... knows the size of a rail" grep -q '"bytes a rail": "128"' "$scratch/core.json"
}

# In a build without optimisation a decision would have thousands.
instructions_are_counted() {
    bench core --instructions && [ "$(grep -cE '^  fsbml_sched_(choose|charge) +[0-9]{2,3}\.[0-9] instructions a call' "$scratch/out")" -eq 10 ]
}

comparison_is_complete() {
    local json=$scratch/o.json
    ok "a comparison of chosen arms" bench onetoone --rounds 2 --arms fsbml,fsbml:thesis,r2,rails --json "$json" \
        --plots "$scratch/plots" -- --sizes 16,1024,4096 --messages 1,4 --max-samples 5
    ok "... its table" told '^ +4 +4096 .* ±.*$'
    ok "... shares of the rails" told '^Share of the bytes on each rail'
    ok "... the rails as measured" told '^  rail1 +tcp:10\.71\.1\.0/24'
    ok "... the outcome" told '^With 4 messages of 4096 bytes, FSBML is '
    ok "... and that two rounds are too few to be sure" told '^2 rounds cannot tell a difference from noise'
    ok "the JSON document is as its schema says" valid bench "$json"
    ok "... has all arms, the fastest rail next to fsbml" equal "$(from "$json" '" ".join(a["name"] for a in d["arms"])')" \
        "fsbml:thesis r2 rail1 rail0 fsbml"
    ok "... all points" equal "$(from "$json" 'len(d["points"])')" 6
    ok "... two launches each" equal "$(from "$json" 'set(len(a["launches"]) for p in d["points"] for a in p["arms"].values())')" "{2}"
    ok "... bytes of the rail alone, and of no other" equal \
        "$(from "$json" 'sorted(set(k for p in d["points"] if p["bytes"] == 4096 for k in p["arms"]["rail0"]["traffic"] if k.startswith("rail")))')" "['rail0']"
    ok "... and time since MPI_Init" equal "$(from "$json" 'all(a["init_seconds"] > 0 for a in d["arms"])')" True
    ok "plots as PNG" equal "$(file -b "$scratch"/plots/{exchange-time,exchange-4-messages-bandwidth,share-fsbml}.png | cut -d, -f1 | sort -u)" "PNG image data"
    ok "... and as SVG" equal "$(grep -lc '</svg>' "$scratch"/plots/{exchange-time,exchange-4-messages-bandwidth,share-fsbml}.svg | wc -l)" 3
    ok "... with a line an arm" equal "$(grep -cE '<title>gnuplot_plot_[1-5]</title>|gnuplot_plot_[1-5]"' "$scratch/plots/exchange-time.svg")" 5
    ok "an arm whose parameter is none ends it" breaks "is not a parameter and its value" bench onetoone --arms fsbml:bml=
    ok "an unknown arm ends it" breaks "there is no arm 'rail7'; there are: .*rail0, rail1" bench onetoone --arms fsbml,rail7
}

# The others, each as small as it can be: that what they are made of runs and verifies, and that the table fits.
others_run() {
    local json=$scratch/others.json
    ok "large messages, with an arm of its own parameters" bench large --rounds 1 --arms fsbml,fsbml:bml_fsbml_quantum=65536,rails --json "$json" \
        -- --sizes 262144 --max-samples 1
    ok "... one at a time and eight at once, by the sum of the rails" told '^ +8 +262144 .* [01]\.[0-9]{3} ±[0-9.]+$'
    ok "... and the two settings by each other" told 'quantum=65536/fsbml +fsbml/sum$'
    ok "... also in JSON" equal "$(from "$json" 'sorted(d["points"][1]["ratios"])')" \
        "['fsbml/best', 'fsbml/ideal', 'fsbml/sum', 'fsbml:bml_fsbml_quantum=65536/fsbml']"
    ok "... which is valid" valid bench "$json"
    ok "... with the parameter on mpirun's command line" equal \
        "$(from "$json" '[a["options"][-3:] for a in d["arms"] if a["role"] == "policy"]')" "[['--mca', 'bml_fsbml_quantum', '65536']]"
    ok "point to point, with the layer below" bench p2p --rounds 1 --arms fsbml,rail0 -- --operations latency --sizes 64 --max-samples 3
    ok "... which is told" told "What of the lower layer's performance reaches MPI"
    ok "two ranks a node that stream at once" bench multipair --rounds 1 --arms fsbml,rail0 --json "$json" -- --sizes 16384,65536 --max-samples 2
    ok "... in two pairs" equal "$(from "$json" 'sorted(set((p["variant"], p["messages"]) for p in d["points"]))')" "[('pairs=2', 8)]"
    ok "one-sided operations, verified" bench onesided --rounds 1 --arms fsbml,rail0 -- --sizes 8,8192 --max-samples 2
    ok "... are all there" equal "$(grep -cE '^(put|get|accumulate) +16 +(8|8192) +MB/s .*±|^fetch +1 +8 +us .*±' "$scratch/out")" 7
    ok "... of numbers of 64 bits" breaks "failed with status 2" bench onesided --rounds 1 --arms rail0 -- --sizes 12
    ok "nodes that lack a rail" bench onetoone --nodes 3 --rail rate=200mbit --rail rate=20mbit,nodes=0-1 --rounds 1 --json "$json" \
        -- --to random --sizes 1024 --messages 8 --max-samples 3
    ok "... with the rail that all have as an arm" equal "$(from "$json" '" ".join(a["name"] for a in d["arms"])')" "r2 rail0 fsbml"
    ok "... and no ideal" equal "$(from "$json" 'sorted(d["points"][0]["ratios"])')" "['fsbml/best', 'fsbml/r2']"
}

# one_rank_dies: kills one of the benchmark's processes while it runs.
one_rank_dies() {
    local pid victim status=0
    fsbml bench onetoone --rounds 1 -- --seconds 30 --max-samples 1000000 >"$scratch/out" 2>"$scratch/err" </dev/null &
    pid=$!
    some_process "^[^ ]*/[o]netoone --json .*--seconds 30" || return 1
    sleep 1
    victim=$(pgrep -n -f "^[^ ]*/[o]netoone --json .*--seconds 30")
    kill -KILL "$victim"
    wait "$pid" || status=$?
    [ "$status" -eq 1 ] && last_error "bench: the launch of '.*' failed with status [0-9]+; its log is " && nothing_left
}

broken_launches_end() {
    ok "a rank that is killed ends it" one_rank_dies
    ok "a program that fails ends it" breaks "the launch of '.*' failed with status 3" bench app --rounds 1 -- sh -c 'exit 3'
    ok "... and the log that is named has its words" breaks "failed with status" bench app --rounds 1 -- sh -c 'echo broken part >&2; exit 1'
    ok "... which stand before it" grep -q '^broken part$' "$scratch/err"
    ok "... also those on its stdout" breaks "failed with status" bench app --rounds 1 -- sh -c 'echo a wrong word; exit 1'
    ok "... stand there" grep -q '^a wrong word$' "$scratch/err"
    ok "a program that says nothing ends it" breaks "did not reach MPI_Finalize, or uses another MPI" bench app --rounds 1 -- true
    ok "a benchmark that says something else ends it" breaks "printed something that is no result" bench onetoone --rounds 1 -- --seconds 0 --help
    ok "a program that does not end is ended" breaks "took more than 2 s" bench app --rounds 1 --timeout 2 -- sleep 100
    ok "wrong options of the program end it" breaks "failed with status 2" bench onetoone --rounds 1 -- --sizes big
    ok "... with its words" grep -q "^onetoone: .*big" "$scratch/err"
}

# On the hosts of a user: here, the nodes of a cluster, from within node 0.
on_hosts() {
    local state
    fsbml cluster up --name "$name" --rail rate=200mbit --rail rate=100mbit 2>/dev/null
    state=$(cluster_state "$name")
    (
        job_environment "$(openmpi_version "$(openmpi_prefix)")" "$state" /dev/shm/job "" 2
        job_run "$state" 2 -- "$FSBML_TOP/fsbml" bench onetoone --hostfile /dev/shm/job/hostfile --rails "$1" --rounds 1 \
            "${@:2}" --json "$scratch/hosts.json" -- --sizes 1024 --messages 4 --max-samples 5
    ) >"$scratch/out" 2>"$scratch/err"
}

# refuses_arm RAILS ARM: an arm of another cluster's is not taken for something else.
refuses_arm() {
    ! on_hosts "$1" --arms "fsbml,$2" && last_error "there is no arm '$2'" || return 1
    fsbml cluster down --name "$name" 2>/dev/null
}

hosts_of_a_user_serve() {
    ok "arms are of the rails that were named" refuses_arm 10.71.0.0/24,10.71.1.0/24 rail0
    ok "a comparison on hosts of a hostfile" on_hosts 10.71.0.0/24,10.71.1.0/24
    ok "... with networks as rails" equal "$(from "$scratch/hosts.json" 'sorted(a["name"] for a in d["arms"])')" \
        "['10.71.0.0/24', '10.71.1.0/24', 'fsbml', 'r2']"
    ok "... is valid too" valid bench "$scratch/hosts.json"
    fsbml cluster down --name "$name" 2>/dev/null
}

a_matrix_is_made() {
    ok "a matrix of one regime" fsbml bench matrix --regimes fast --rounds 1 --starts 2 --json "$scratch/matrix.json" \
        --html "$scratch/matrix.html" >"$scratch/out" 2>"$scratch/err"
    ok "... is valid" valid matrix "$scratch/matrix.json"
    ok "... has all cells" equal "$(from "$scratch/matrix.json" 'sorted((c["messages"], c["bytes"]) for c in d["cells"])')" \
        "[(1, 16), (1, 1024), (1, 16384), (1, 65536), (1, 262144), (1, 1048576), (1, 4194304), (32, 16), (32, 1024), (32, 16384), (32, 65536)]"
    ok "... and the starts, none without parameters" equal \
        "$(from "$scratch/matrix.json" '[(s["starts"], s["rails"], s["without"]) for s in d["starts"]]')" "[(2, 4, 0)]"
    ok "... a line a cell" equal "$(grep -c '^fast' "$scratch/out")" 12
    ok "... and a page" equal "$(grep -c '<td>fast</td>' "$scratch/matrix.html")" 12
    ok "... and leaves nothing" nothing_left
}

# Of a job that fails, Open MPI 4.1 leaves the other processes four seconds to end.
export OMPI_MCA_odls_base_sigkill_timeout=0
need_packages "the bench's tests" gnuplot-nox python3 python3-jsonschema file procps
fsbml build >/dev/null 2>&1
programs_build "$(openmpi_prefix)" harness.program onetoone libfsbml_probe.so >/dev/null 2>&1
words_are_checked
ok "plots without gnuplot" without_gnuplot
core_is_measured
ok "... and in instructions" instructions_are_counted
comparison_is_complete
others_run
broken_launches_end
hosts_of_a_user_serve
a_matrix_is_made
tap_end
