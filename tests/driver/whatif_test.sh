#!/usr/bin/env bash
# Tests of `fsbml whatif`: its errors, times worked out by hand, changes of rails, other rules, records of processes.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Prints TAP. All is simulated, so that figures are exact.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh
own_folder

# whatif TRACE TABLE ARGUMENTS...: its table in $scratch/out, the document in $scratch/json.
whatif() {
    local trace=$1 table=$2
    shift 2
    fsbml whatif "$scratch/$trace" --table "$scratch/$table" --json "$scratch/json" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null &&
        return 0
    sed 's/^/# /' "$scratch/err" >&9
    return 1
}

# case(NAME, RULE) is a case of the document, by(NAME) what it costs.
# shellcheck disable=SC2034
python_words='
def case(name, rule="fsbml"): return next(c for c in d["cases"] if (c["name"], c["rule"]) == (name, rule))
def by(name, rule="fsbml"): return case(name, rule)["communication_ns"]'

# eth0: G = 0.8, eth1: half as fast.
tables() {
    cat >"$scratch/two" <<'TABLE'
fsbml-table 2
rail tcp:10.0.0.0/24 eth0 L=20000 o_s=2000 o_r=3000 g=1000 G=0.8 residual=0.01 tight=1 probes=10
rail tcp:10.0.1.0/24 eth1 L=30000 o_s=2000 o_r=3000 g=1000 G=1.6 residual=0.01 tight=1 probes=10
TABLE
    head -n 2 "$scratch/two" >"$scratch/one"
    {
        cat "$scratch/two"
        echo 'rail tcp:10.0.2.0/24 eth2 L=30000 o_s=2000 o_r=3000 g=1000 G=1.6 residual=0.01 tight=1 probes=10'
    } >"$scratch/three"
}

traces() {
    printf 'fsbml-trace 1 ranks 2 name one message\n0 compute 50000\n0 send 1 1001\n1 recv 0\nend 3\n' >"$scratch/small"
    printf 'fsbml-trace 1 ranks 2\n0 compute 1000000\n0 send 1 10000000\n0 recv 1\n1 recv 0\n1 send 0 10000000\nend 5\n' >"$scratch/large"
    printf 'fsbml-trace 1 ranks 4\n0 send 1 1000\n1 recv 0\n2 send 1 1000\n1 recv 2\nend 4\n' >"$scratch/nodes"
    printf 'fsbml-trace 1 ranks 2\n0 recv 1\n1 recv 0\n' >"$scratch/locked"
    mkdir "$scratch/records"
    printf 'fsbml-sends 1 rank 0 ranks 2 origin 100\n50 1 1000000\n60 1 1000\nend 2\n' >"$scratch/records/0.sends"
    printf 'fsbml-sends 1 rank 1 ranks 2 origin 100\n70 0 1000000\nend 1\n' >"$scratch/records/1.sends"
    echo 'of no interest' >"$scratch/records/notes"
    mkdir "$scratch/empty"
}

words_are_checked() {
    local trace=$scratch/large table=$scratch/two
    ok "help" grep -q -- '--faster' <(fsbml whatif --help)
    ok "... also behind other options" test "$(fsbml whatif --seed 2 --help)" = "$(fsbml whatif --help)"
    ok "... and in the driver's list" grep -q '^  whatif ' <(fsbml --help)
    ok "no trace" refuses 'whatif: trace is required' whatif --table "$table"
    ok "no table" refuses 'whatif: --table is required' whatif "$trace"
    ok "an unknown option" refuses 'whatif: .*--fast' whatif "$trace" --table "$table" --fast
    ok "a trace that is not there" refuses "cannot read '/nowhere/trace'" whatif /nowhere/trace --table "$table"
    ok "a trace that is none" refuses "two', line 1: " whatif "$table" --table "$table"
    ok "a trace that never ends" refuses 'whatif: .*rank 0' whatif "$scratch/locked" --table "$table"
    ok "a table that is none" refuses 'is no table of rails: it does not begin' whatif "$trace" --table "$trace"
    ok "a folder without records" refuses 'is a record of a process' whatif "$scratch/empty" --table "$table"
    ok "one of two records" refuses 'of 2 ranks, but there are 1 records' whatif "$scratch/records/0.sends" --table "$table"
    ok "a rail without a rate" refuses 'a new rail needs a rate' whatif "$trace" --table "$table" --rail name=eth9
    ok "a rate without a unit" refuses "'10' is not like 10gbit" whatif "$trace" --table "$table" --rail rate=10
    ok "a word of a rail that is unknown" refuses "unknown key 'speed'" whatif "$trace" --table "$table" --rail speed=10gbit
    ok "a rail twice as fast that is none" refuses "no rail 'eth7' among eth0, eth1" whatif "$trace" --table "$table" --faster eth7=2
    ok "... or not faster" refuses "that factor is out of range" whatif "$trace" --table "$table" --faster eth0=0
    ok "a rail left out that is none" refuses "no rail 'eth7'" whatif "$trace" --table "$table" --without eth7
    ok "all rails left out" refuses 'no rail left' whatif "$trace" --table "$scratch/one" --without eth0
    ok "a rule that is none" refuses "no rule 'dice'; known: all, " whatif "$trace" --table "$table" --rules dice
    ok "a document that cannot be written" refuses "cannot write '/nowhere/json'" whatif "$scratch/small" --table "$table" --json /nowhere/json
}

# o_s + L + G (s - 1) + o_r, and computation stays.
times_by_hand() {
    ok "a message on one rail" whatif small one
    ok "... takes what LogGP says" equal "$(from "$scratch/json" 'by("as it is")')" 25800.0
    ok "... beside the computation" equal "$(from "$scratch/json" '(case("as it is")["job_ns"], d["job"]["computation_ns"])')" "(75800.0, 50000.0)"
    ok "... which is said" told '^On eth0, communication takes 25.8 us\.$'
    ok "the rail twice as fast" whatif small one --faster eth0=2
    ok "... takes half the time for bytes" equal "$(from "$scratch/json" 'by("changed")')" 25400.0
    ok "with another latency, overhead and gap" whatif small one --rail name=eth0,delay=10us,overhead=1us,gap=2us
    ok "... it takes these" equal "$(from "$scratch/json" 'by("changed")')" 12800.0
    ok "with another rate" whatif small one --rail name=eth0,rate=1gbit
    ok "... bytes take that of the wire's frames" holds 'abs(by("changed") - (25000 + 1000 * 8 * 1514 / 1448)) < 0.01'
    ok "... which is said" told '^Giving eth0 1 Gbit/s would make communication 29 % longer\.$'
}

changes() {
    ok "two rails" whatif large two
    ok "... and each of them" holds '[c["name"] for c in d["cases"]] == ["as it is", "only eth0", "only eth1"]'
    ok "... all bytes are sent" holds 'all(sum(r["bytes"] for r in c["rails"]) == 20000000 for c in d["cases"])'
    ok "... about twice as many on the fast one" holds '1.9 < case("as it is")["rails"][0]["bytes"] / case("as it is")["rails"][1]["bytes"] < 2.1'
    ok "... which is said" told '^Against eth0 alone, the best of the rails, both together make communication 33 % shorter\.$'
    ok "of three, each left out" whatif large three
    ok "... too" holds '[c["name"] for c in d["cases"]][-3:] == ["without eth0", "without eth1", "without eth2"]'
    ok "a second rail like the first" whatif large one --rail like=eth0
    ok "... halves the time" holds 'abs(by("changed") / by("as it is") - 0.5) < 0.01'
    ok "... which is said" told '^A second 10\.5 Gbit/s rail would make communication (49|50) % shorter\.$'
    ok "a rail left out" whatif large two --without eth1
    ok "... is as the others alone" holds 'by("changed") == by("only eth0")'
    ok "... and longer" told '^Leaving out eth1 would make communication 50 % longer\.$'
    ok "several changes" whatif large two --rail name=eth2,rate=40gbit --faster eth0=2 --without eth1
    ok "... are one" holds '[r["name"] for r in d["changed_rails"]] == ["eth0", "eth2"]'
    ok "... and the best of all" holds 'by("changed") == min(c["communication_ns"] for c in d["cases"])'
    ok "... as the schema says" valid whatif "$scratch/json"
    ok "... in one sentence" told '^A third 40 Gbit/s rail, making eth0 2 times as fast and leaving out eth1 would make '
}

rules() {
    ok "other rules" whatif large two --rules round-robin,single-bandwidth --faster eth0=2
    ok "... decide on the rails and the changed ones" holds 'len([c for c in d["cases"] if c["rule"] == "round-robin"]) == 2'
    ok "... taking turns is slower" holds 'by("as it is", "round-robin") > 1.3 * by("as it is")'
    ok "... one rail is that rail alone" holds 'case("as it is", "single-bandwidth")["rails"][1]["bytes"] == 0'
    ok "all rules" whatif small two --rules all
    ok "... as the schema says" valid whatif "$scratch/json"
    ok "... are there" holds 'len({c["rule"] for c in d["cases"]}) > 10'
    ok "the same again is the same" equal "$(cksum <"$scratch/json")" "$(whatif small two --rules all && cksum <"$scratch/json")"
}

records() {
    ok "a folder with records" whatif records two --faster eth0=2
    ok "... as the schema says" valid whatif "$scratch/json"
    ok "... is a job" holds '(d["job"]["messages"], d["job"]["bytes"]) == (3, 2001000)'
    ok "... of which the way of messages counts" told '^Making eth0 2 times as fast would make the way of a message [0-9]+ % shorter\.$'
    ok "... and that alone is said" told '^Processes send when they did'
    cp "$scratch/json" "$scratch/folder.json"
    ok "the same records by name" fsbml whatif "$scratch"/records/*.sends --table "$scratch/two" --faster eth0=2 --json "$scratch/json" >"$scratch/out"
    ok "... are the same" holds 'd["cases"] == json.load(open("'"$scratch"'/folder.json"))["cases"]'
    ok "received early" whatif records two --receive-after 1us
    ok "... it is the same load" holds 'd["job"]["bytes"] == 2001000'
    ok "ranks by node" whatif nodes two --ranks-per-node 2
    ok "... only one message leaves its node" holds '(d["job"]["nodes"], d["job"]["messages"]) == (2, 1)'
    ok "ranks of one node" whatif large two --ranks-per-node 2
    ok "... need no rails" told 'sends nothing between nodes'
    ok "the document alone" test "$(fsbml whatif "$scratch/large" --table "$scratch/two" --ranks-per-node 2 --json -)" = "$(cat "$scratch/json")"
}

need_packages "the tests of whatif" python3 python3-jsonschema
tables
traces
fsbml whatif "$scratch/small" --table "$scratch/one" >"$scratch/out" # it is compiled once, which may say so
words_are_checked
times_by_hand
changes
rules
records
tap_end
