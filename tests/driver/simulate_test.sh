#!/usr/bin/env bash
# Tests of `fsbml simulate`: its help, its errors, a small simulation with all that it writes. Figures are not judged.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Prints TAP.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh

own_folder

# simulate ARGUMENTS...: its output in $scratch/out and $scratch/err.
simulate() { fsbml simulate "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; }

untold() { ! grep -qE -- "$1" "$scratch/out"; }

# status EXPECTED ARGUMENTS...
status() {
    local found=0
    simulate "${@:2}" || found=$?
    equal "$found" "$1"
}

words_are_checked() {
    local option
    ok "help" grep -q '^usage: ./fsbml simulate' <(fsbml simulate --help)
    ok "help behind other words" test "$(fsbml simulate --seeds 3 --help)" = "$(fsbml simulate --help)"
    # The program's own help is not the driver's: neither may have an option that the other does not know.
    fsbml simulate --list >"$scratch/list" 2>/dev/null
    for option in $("$FSBML_BUILD/simulator/simulate.program" --help | grep -oE '^  *(-h,)?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        [ "$option" = --help ] || ok "help tells of $option" grep -qE -- "^  $option\b" <(fsbml simulate --help)
    done
    ok "the list has traffic" grep -qE '^  ring +2 allreduces' "$scratch/list"
    ok "... and rails" grep -qE '^  200\+20 +200 Mbit/s' "$scratch/list"
    ok "... and those in trouble" grep -qE '^  jitter +trouble: ' "$scratch/list"
    ok "... and rules with their sources" grep -qE '^  ucx +UCX [0-9]' "$scratch/list"
    ok "unknown traffic" refuses "there is no traffic 'x'" simulate --traffic ring x
    ok "unknown rails" refuses "there is no set of rails 'x'; known: 200\+20, .*, and such as" simulate --rails x
    ok "rails that are none" refuses "'20mbits' is no rail such as" simulate --rails 20mbits+10mbit
    ok "an unknown rule" refuses "there is no rule 'x'" simulate --rules x
    ok "a name that comes twice" refuses "'ring' is named twice" simulate --traffic ring ring
    ok "ranks that are on one node" refuses "4 ranks with 4 on each node are not two nodes" simulate --ranks 4 --ranks-per-node 4
    ok "ranks that leave a node half full" refuses "9 ranks with 2 on each node" simulate --ranks 9 --ranks-per-node 2
    ok "seeds that are no number" refuses "--seeds: .*; --help tells" simulate --seeds many
    ok "no seed" refuses "--seeds: .* not in range" simulate --seeds 0
    ok "more than wrong" refuses "--wrong: .* not in range" simulate --wrong 100
    ok "two numbers of seeds" refuses "--seeds" simulate --full --seeds 3
    ok "an unknown option" refuses "fast" simulate --fast
    ok "an option without its value" refuses "--json.*; --help tells" simulate --json
    ok "a file that cannot be written" refuses "cannot write '/nowhere/x.json'" simulate --traffic ring --rails equal --seeds 1 --json /nowhere/x.json
    ok "bad words have status 2" status 2 --fast
    ok "... and names that are not there 1" status 1 --traffic x
}

simulation_is_complete() {
    local json=$scratch/all.json small=(--traffic ping_pong ring --rails equal 100mbit@1ms+1gbit jitter --rules ucx single-bandwidth --seeds 2)
    ok "a small simulation" simulate "${small[@]}" --json "$json"
    ok "it says what it was" told '^8 ranks, 1 on each node; 2 seeds from 1$'
    ok "... and by which bound" told '^Bound: no rule is faster, however it cuts messages'
    ok "a table by traffic" told '^ring +ring on .*, seed [12] +4( +[0-9.]+){6}$'
    ok "... and by rails" told '^100mbit@1ms\+1gbit +(ring|ping_pong) on .* +4( +[0-9.]+){6}$'
    ok "... and by rule" told '^single-bandwidth( +[0-9.]+){6}$'
    ok "... and against each rival" told '^\(2\) single-bandwidth +[a-z_]+ +[a-z_]+ on .*, seed [12]( +[0-9.]+){4}$'
    ok "... and of trouble" told '^jitter +(ring|ping_pong) on jitter, seed [12] +4( +[0-9.]+){6}$'
    ok "bars of the bound" equal "$(grep -cE '^  (met|NOT MET) +(true|wrong by 20 %): makespan / bound <= ' "$scratch/out")" 4
    ok "... of the best rail" equal "$(grep -cE '^  (met|NOT MET) +true: .* x best rail in ' "$scratch/out")" 2
    ok "... of each rival" equal "$(grep -cE '^  (met|NOT MET) +(true|wrong by 20 %): <= 1.01 x (ucx|single-bandwidth) in each class +worst [0-9.]+ \(' "$scratch/out")" 4
    ok "the document is as its schema says" valid simulate "$json"
    ok "... with all runs" equal "$(from "$json" 'len(d["runs"]), len({(r["set"], r["traffic"], r["seed"], r["wrong"]) for r in d["runs"]})')" "(24, 24)"
    ok "... by each rule" equal "$(from "$json" '[r["name"] for r in d["rules"]], {len(r["makespan_ps"]) for r in d["runs"]}')" \
        "(['fsbml', 'ucx', 'single-bandwidth'], {3})"
    ok "... none below the bound" equal "$(from "$json" 'all(0 < r["bound_ps"] <= min(r["makespan_ps"][0], r["best_rail_ps"]) for r in d["runs"])')" True
    ok "... the bars as they were told" equal "$(from "$json" '" ".join("met" if b["met"] else "NOT MET" for b in d["bars"])')" \
        "$(grep -oE '^  (met|NOT MET) ' "$scratch/out" | xargs)"
    ok "the same again, by one thread" simulate "${small[@]}" --threads 1 --json "$scratch/again.json"
    ok "... gives the same" cmp "$json" "$scratch/again.json"
    ok "true parameters only" simulate "${small[@]}" --wrong 0
    ok "... have no other bars" untold 'wrong'
    ok "parameters that are wrong by more" simulate "${small[@]}" --wrong 50
    ok "... have none of the bound" untold 'wrong by 50 %: makespan'
    ok "ranks that share their node" simulate --traffic halo_2d --rails 4-unequal --rules thesis --seeds 1 --ranks 16 --ranks-per-node 4
    ok "... says so" told '^Bound: no rule is faster, however it cuts'
    ok "... and that they share a ledger" told '^16 ranks, 4 on each node, which share a ledger; 1 seeds from 1$'
    ok "a search with full knowledge" simulate --traffic many_to_one ring --rails crossed jitter --rules ucx --seeds 1 --search 500 --json "$json"
    ok "... knows what senders do not" told '^many_to_one +many_to_one on crossed, seed 1 +1 +3\.[0-9]+ +1\.00[0-9] +1\.00[0-9] '
    ok "... and its runs are as the schema says" valid simulate "$json"
    ok "... true ones, and none of trouble" equal "$(from "$json" 'sorted({(r["set"], r["wrong"]) for r in d["runs"] if "found_ps" in r})')" "[(0, False)]"
    ok "... not below the bound" equal "$(from "$json" 'all(r["bound_ps"] <= r.get("found_ps", r["makespan_ps"][0]) <= r["makespan_ps"][0] for r in d["runs"])')" True
    ok "only trouble" simulate --traffic ring --rails jitter --rules ucx --seeds 1
    ok "... is judged by no bar" untold '^  (met|NOT MET)'
    ok "rails that change" simulate --traffic ring --rails swapped --rules ucx --seeds 1
    ok "... are judged by one" equal "$(grep -cE '^  (met|NOT MET) +swapped: .* x best rail of the moment ' "$scratch/out")" 1
}

need_packages "the tests of simulate" python3 python3-jsonschema
fsbml simulate --list >/dev/null 2>&1
words_are_checked
simulation_is_complete
tap_end
