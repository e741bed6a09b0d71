#!/usr/bin/env bash
# Tests of `fsbml trace`: its errors, figures worked out by hand, replay, and decisions as a workload for `fsbml whatif`.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Prints TAP.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh
own_folder

# trace FOLDER ARGUMENTS...: its text in $scratch/out, the document in $scratch/json.
trace() {
    local of=$1
    shift
    fsbml trace "$scratch/$of" --json "$scratch/json" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null && return 0
    sed 's/^/# /' "$scratch/err" >&9
    return 1
}

# rail(NAME) is a rail of the document.
# shellcheck disable=SC2034
python_words='def rail(name): return next(r for r in d["rails"] if r["name"] == name)'

# says TEXT: exactly this is in a line of the output.
says() {
    grep -qF -- "$1" "$scratch/out" && return 0
    sed 's/^/# /' "$scratch/out" >&9
    return 1
}

# head RANK EVERY LOST MESSAGES [POLICY]: of a file with eth0 (25 us and 1 ns a byte) and eth1 (35 us and 2 ns).
head_of() {
    printf 'fsbml-decisions 1 rank %s ranks 2 node node%s policy %s origin 1764000000000000000 every %s lost %s messages %s\n' \
        "$1" "$1" "${5:-arrival}" "$2" "$3" "$4"
    printf 'rail tcp:10.0.0.0/24 eth0 L=20000 o_s=2000 o_r=3000 g=1000 G=1 burst=0\n'
    printf 'rail tcp:10.0.1.0/24 eth1 L=30000 o_s=2000 o_r=3000 g=1000 G=2 burst=0\n'
}

# o_s + L + o_r + G (s - 1), and what the rail is busy beyond o_s.
decisions() {
    echo '0 1 1001 -> eth0 | eth0 26000 0 | eth1 37000 0'
    echo '1000 1 16384 -> eth1 | eth0 89383 50000 | eth1 67766 0'
    echo '2000 1 1 -> eth0 | eth0 28000 5000 | eth1 35000 0'
    echo '2500 1 1 -> eth1 | eth0 45000 0 +20000 | eth1 35000 0'
    echo '12300000 1 2 -> eth1 | eth1 35002 0'
}

files() {
    mkdir "$scratch/job" "$scratch/empty" "$scratch/sampled" "$scratch/wrong" "$scratch/odd"
    { head_of 0 1 0 5 && decisions && echo 'end 5'; } >"$scratch/job/0.decisions"
    { head_of 1 1 0 1 && echo '100 0 1001 -> eth0 | eth0 26000 0 | eth1 37000 0' && echo 'end 1'; } >"$scratch/job/1.decisions"
    sed 's/eth1/enp1/; s/ eth1/ enp1/g' "$scratch/job/1.decisions" >"$scratch/renamed"
    echo 'of no interest' >"$scratch/job/notes"
    { head_of 0 100 7 1200 && decisions && echo 'end 5'; } >"$scratch/sampled/0.decisions"
    cp "$scratch/job/1.decisions" "$scratch/sampled/"
    # One arrival of five is not what the model says, and one message went to the later rail.
    { head_of 0 1 0 5 && decisions | sed 's/eth0 28000/eth0 28002/; s/-> eth0 | eth0 26000/-> eth1 | eth0 26000/' && echo 'end 5'; } >"$scratch/wrong/0.decisions"
    { head_of 0 1 0 5 single && decisions && echo 'end 5'; } >"$scratch/odd/0.decisions"
    { head_of 0 1 0 5 && decisions; } >"$scratch/cut"
    cat >"$scratch/table" <<'TABLE'
fsbml-table 2
rail tcp:10.0.0.0/24 eth0 L=20000 o_s=2000 o_r=3000 g=1000 G=1 residual=0.01 tight=1 probes=10
rail tcp:10.0.1.0/24 eth1 L=30000 o_s=2000 o_r=3000 g=1000 G=2 residual=0.01 tight=1 probes=10
TABLE
}

# Rank 0's first rail falls, and its second rises before that; files of version 1 have no such lines.
changes() {
    mkdir "$scratch/changed"
    {
        head_of 0 1 0 5 | sed 's/^fsbml-decisions 1/fsbml-decisions 2/'
        decisions | sed '3i\1500 rate eth1 95000000 142500000'
        echo '3020000000 rate eth0 190400000 20100000'
        echo 'end 5'
    } >"$scratch/changed/0.decisions"
    cp "$scratch/job/1.decisions" "$scratch/changed/"
    ok "rates that changed" trace changed
    ok "... are told" says 'rank 0 on node0 at 1.5 us: eth1 rose from 95 to 142 Mbit/s'
    ok "... in the order of time" says 'rank 0 on node0 at 3.02 s: eth0 fell from 190 to 20.1 Mbit/s'
    ok "... as the schema says" valid trace "$scratch/json"
    ok "... with all figures" holds '[(c["rank"], c["rail"], c["ns"], c["before_mbps"], c["after_mbps"]) for c in d["changes"]] == [(0, "eth1", 1500, 95, 142.5), (0, "eth0", 3020000000, 190.4, 20.1)]'
    ok "... and are no decisions" holds '(d["replay"]["decisions"], d["replay"]["agree"]) == (6, 6)'
    ok "... of a rail" trace changed --rail eth0
    ok "... alone" holds '[c["rail"] for c in d["changes"]] == ["eth0"]'
    ok "... and fewer of them" trace changed --limit 1
    ok "... with the number of the others" says 'and 1 later'
    ok "a workload takes no notice of them" fsbml whatif "$scratch/changed" --table "$scratch/table" >"$scratch/out"
}

words_are_checked() {
    local job=$scratch/job
    ok "help" grep -q -- '--peer' <(fsbml trace --help)
    ok "... also behind other options" test "$(fsbml trace --limit 2 --help)" = "$(fsbml trace --help)"
    ok "... and in the driver's list" grep -q '^  trace ' <(fsbml --help)
    ok "no file" refuses 'trace: files is required' trace
    ok "an unknown option" refuses 'trace: .*--narrow' trace "$job" --narrow
    ok "a file that is not there" refuses "cannot read '/nowhere/0.decisions'" trace /nowhere/0.decisions
    ok "a folder without decisions" refuses "no file in '.*empty' has decisions of a process" trace "$scratch/empty"
    ok "a file that has none" refuses "table, line 1: 'fsbml-table' where 'fsbml-decisions' is expected" trace "$scratch/table"
    ok "one that is cut off" refuses "cut, line 9: it is cut off: there is no 'end' line" trace "$scratch/cut"
    ok "one twice" refuses 'rank 0 is there twice' trace "$job/0.decisions" "$job/0.decisions"
    ok "a peer that is none" refuses 'there is no rank 2: there are 2' trace "$job" --peer 2
    ok "... or no number" refuses 'trace: .*--peer' trace "$job" --peer all
    ok "a rail that is none" refuses "there is no rail 'eth7' among eth0, eth1" trace "$job" --rail eth7
    ok "a document that cannot be written" refuses "cannot write '/nowhere/json'" trace "$job" --json /nowhere/json
}

figures_by_hand() {
    ok "a folder" trace job
    ok "... as the schema says" valid trace "$scratch/json"
    ok "... is told in a line" says '2 processes on 2 nodes, rule arrival: 6 decisions about 6 messages.'
    ok "... messages and bytes by rail" holds '[(r["name"], r["messages"], r["bytes"]) for r in d["rails"]] == [("eth0", 3, 2003), ("eth1", 3, 16387)]'
    ok "... how far ahead, in the median" holds '(rail("eth0")["median_margin_ns"], rail("eth1")["median_margin_ns"]) == (11000, 15808.5)'
    ok "... a busy rail that was sooner than an idle one" holds '(rail("eth0")["sooner_though_busy"], rail("eth1")["sooner_though_busy"]) == (1, 0)'
    ok "... the narrowest first" holds '[t["margin_ns"] for t in d["narrowest"]] == [7000, 10000, 11000, 11000, 21617]'
    ok "... and the costliest" holds '[t["chosen"]["arrival_ns"] for t in d["costliest"]] == [67766, 35002, 35000, 28000, 26000, 26000]'
    ok "... in words" says 'rank 0 at 1 us, 16 KiB to rank 1: eth1 in 67.77 us; eth0 would have taken 89.38 us, as it was busy for 50 us'
    ok "... of a rail that was busy" says 'rank 0 at 2 us, 1 byte to rank 1: eth0 in 28 us, though it was busy for 5 us; eth1 would have taken 35 us, and was idle'
    ok "... of one that is farther" says 'eth0 would have taken 45 us, and was idle and is 20 us farther from there'
    ok "... where there was no choice" says 'rank 0 at 12.3 ms, 2 bytes to rank 1: eth1 in 35 us; there was no choice'
    ok "... all of it replayed" says "Replayed: 6 of 6 decisions' predicted arrivals are what the models say (within 1 ns); the rail that got the message was the one with the earliest arrival in 100 %."
    cp "$scratch/json" "$scratch/folder.json"
    ok "files by name" fsbml trace "$scratch"/job/*.decisions --json "$scratch/json" >"$scratch/out"
    ok "... are the same" cmp -s "$scratch/json" "$scratch/folder.json"
    ok "a rail of another name on another node" fsbml trace "$scratch/job/0.decisions" "$scratch/renamed" --json "$scratch/json" >"$scratch/out"
    ok "... is the same by its key" holds '[r["name"] for r in d["rails"]] == ["eth0", "eth1"]'
    ok "the document alone" test "$(fsbml trace "$scratch/job" --json -)" = "$(cat "$scratch/folder.json")"
}

parts() {
    ok "messages to a rank" trace job --peer 0
    ok "... are those" holds '(d["replay"]["decisions"], d["wanted"]["peer"], d["decisions"]) == (1, 0, 6)'
    ok "... which is said" says '1 of them is asked for'
    ok "messages of a rail" trace job --rail eth1
    ok "... are those" holds '[r["messages"] for r in d["rails"]] == [0, 3]'
    ok "... by its key, too" trace job --rail tcp:10.0.1.0/24
    ok "... are those" holds '[r["messages"] for r in d["rails"]] == [0, 3]'
    ok "... as the schema says" valid trace "$scratch/json"
    ok "fewer words" trace job --limit 1
    ok "... one of each kind" holds '(len(d["narrowest"]), len(d["costliest"])) == (1, 1)'
    ok "none" trace job --limit 0
    ok "... of either" holds 'd["narrowest"] == d["costliest"] == []'
}

replay() {
    ok "an arrival that no model gives" trace wrong
    ok "... is counted" holds '(d["replay"]["decisions"], d["replay"]["agree"], d["replay"]["earliest"]) == (5, 4, 4)'
    ok "... and told" says 'the decision at 2000 ns about 1 bytes says 28002 ns of eth0, the model 28000 ns'
    ok "... the later rail, too" holds 'rail("eth1")["behind"] == 1'
    ok "... and why that may be" says 'the best rail had no room'
    ok "... as the schema says" valid trace "$scratch/json"
    ok "another rule" trace odd
    ok "... is told" says 'rule single'
    ok "... with what it chooses by" says 'not what all of these rules choose by'
    ok "a sample" trace sampled
    ok "... is told" says '6 decisions about 1201 messages; one in 1 to 100 was kept; 7 older ones were overwritten.'
}

workload() {
    ok "all decisions" fsbml whatif "$scratch/job" --table "$scratch/table" --json "$scratch/json" >"$scratch/out"
    ok "... are a workload" holds '(d["job"]["ranks"], d["job"]["messages"], d["job"]["bytes"]) == (2, 6, 18390)'
    ok "... sent by the clock" holds 'd["job"]["clocked"]'
    ok "files by name" fsbml whatif "$scratch"/job/*.decisions --table "$scratch/table" --json "$scratch/json" >"$scratch/out"
    ok "a sample" refuses 'it is no record of all messages, but a sample: one in 100 decisions was kept' whatif "$scratch/sampled" --table "$scratch/table"
    ok "one of two processes" refuses 'of 2 ranks, but there are 1 records' whatif "$scratch/job/0.decisions" --table "$scratch/table"
}

need_packages "the tests of trace" python3 python3-jsonschema
files
fsbml trace "$scratch/job" >"$scratch/out" # it is compiled once, which may say so
fsbml whatif "$scratch/job" --table "$scratch/table" >"$scratch/out"
words_are_checked
figures_by_hand
parts
replay
changes
workload
tap_end
