#!/usr/bin/env bash
# Tests of `fsbml demo`: as root, as another user, on one host; that it ends well, and broken off, with nothing left behind.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root (to become another user). Prints TAP. Figures are judged by each other, never by a clock, as other work on the machine changes them.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh
is_root || die "demo_test.sh needs root, to become another user."
PATH=$PATH:/usr/sbin:/sbin

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What is built is shared, but by a name of our own, so that our processes can be told from any others.
prefix=$("$FSBML_TOP/fsbml" prefix)
ln -s "$FSBML_BUILD" "$scratch/build"
export FSBML_OPENMPI=$prefix FSBML_BUILD=$scratch/build

# left_as_found: nothing of a demo is there any more: no process, no namespace, no link.
left_as_found() {
    no_process "^[^ ]*(bash|unshare|mpirun|prterun|orted|prted|/onetoone).*$scratch" &&
        equal "$(ip netns list | grep -c '^fsbml-demo-' || :)" 0 && equal "$(ip -o link | cut -d: -f2)" "$links"
}

# complete OUTPUT JSON: what a demo must have printed and written.
complete() {
    [ "$(grep -c '^ *32 *65536 ' "$1")" -ge 1 ] || { echo "# no row of 32 messages of 64 KiB" && return 1; }
    grep -qE '^With 32 messages of 4096 bytes, FSBML is (faster than|SLOWER than|as fast as) ' "$1" || { echo "# no sentence" && return 1; }
    [ "$(grep -c '"samples": \[' "$2")" -ge 24 ] || { echo "# too few samples in the JSON file" && return 1; }
}

# Of one round: each ratio is that of the two launches.
OF_SAMPLES='all(abs(p["ratios"]["fsbml/r2"]["median"] * p["arms"]["r2"]["launches"][0] / p["arms"]["fsbml"]["launches"][0] - 1) < 1e-6
    for p in d["points"]) and len(d["points"]) == 24'
OF_SAMPLES=${OF_SAMPLES//$'\n'/ }

# judged JSON OUT: the verdict on the screen is what the document's ratios say; one round is too few for 'unclear'.
judged() {
    local verdict
    verdict=$(from "$1" '"met" if all(p["ratios"]["fsbml/r2"]["median"] <= 1.02 for p in d["points"]) else "NOT MET"')
    grep -qE "^  $verdict +everywhere: fsbml <= 1.02 x r2" "$2"
}

FIGURES='[0-9.]+ MB/s, [0-9.]+ while the cable is out; nothing arrives for [0-9.]+ s at most; '

as_root() {
    local pid signal status
    ok "demo of one rail" "$FSBML_TOP/fsbml" demo --experiment single --rounds 1 --bars --json "$scratch/single.json" \
        >"$scratch/out" 2>"$scratch/err"
    ok "... prints and writes all" complete "$scratch/out" "$scratch/single.json"
    ok "... judges its bar by its figures" judged "$scratch/single.json" "$scratch/out"
    ok "... whose ratios are of its own samples" equal "$(from "$scratch/single.json" "$OF_SAMPLES")" True
    ok "... leaves nothing" left_as_found
    ok "demo of two rails of one's own" "$FSBML_TOP/fsbml" demo --rail rate=400mbit --rail rate=200mbit --rounds 1 \
        --json "$scratch/two.json" >"$scratch/out" 2>"$scratch/err"
    ok "... prints and writes all" complete "$scratch/out" "$scratch/two.json"
    ok "... shows the rails as measured" equal "$(grep -cE '^  rail[01] +tcp:10\.71\.' "$scratch/out")" 2
    ok "... has no bars" equal "$(grep -c '^Bars' "$scratch/out" || :)" 0
    ok "demo in three acts" "$FSBML_TOP/fsbml" demo --rounds 1 --plots "$scratch/plots" >"$scratch/out" 2>"$scratch/err"
    ok "... with all sizes of messages" equal "$(grep -cE '^ *(16|256|1024|4096|16384|65536) +[0-9.]+ .*#.*#' "$scratch/out")" 14 # two of them at once
    ok "... with what arrives over time" equal "$(grep -cE '^ +[0-9]+ +#|^ +-+x+-+ +-+x+-+ ' "$scratch/out")" 5
    ok "... draws all" equal "$(cd "$scratch/plots" && find . -name '*.svg' -printf '%h\n' | sort -u | paste -sd' ')" "./equal ./failover ./onetoone"
    tr -s '\n ' '  ' <"$scratch/out" >"$scratch/joined"
    ok "... ends no line between a figure and its unit" equal "$(grep -cE '^(%|s|us|MB/s)( |,|\.|$)' "$scratch/out" || :)" 0
    ok "... says of each how it came out" equal "$(grep -oE "(Unlike|Equal) rails: FSBML takes [0-9.]+ to [0-9.]+ of the best rail's time" "$scratch/joined" | wc -l)" 2
    ok "... and what arrives with r2 and with FSBML" equal "$(grep -oE "(r2 on all rails|FSBML): $FIGURES" "$scratch/joined" | wc -l)" 2
    # shellcheck disable=SC2016  # the fields are awk's
    ok "... which goes on while r2 stands still" awk '{
        sub(/.*A cable is pulled: r2 on all rails: [0-9.]+ MB\/s, /, ""); r2 = $1
        sub(/.*FSBML: [0-9.]+ MB\/s, /, ""); exit !($1 > 1 && $1 > r2) }' "$scratch/joined"
    # Beside a first look, which a terminal shows in the place of the table, and where the plots are.
    ok "... in 40 lines" test "$(wc -l <"$scratch/out")" -le 45
    ok "... leaves nothing" left_as_found
    "$FSBML_TOP/fsbml" demo --experiment failover --rounds 2 >"$scratch/out" 2>"$scratch/err" && status=0 || status=$?
    ok "it takes no rounds" equal "$status $(grep -c 'failover takes --rail' "$scratch/err")" "1 1"
    for signal in TERM KILL; do
        # Files of its own: what outlives it for a moment may still write.
        "$FSBML_TOP/fsbml" demo >"$scratch/$signal.out" 2>"$scratch/$signal.err" </dev/null &
        pid=$!
        ok "a demo runs" some_process "^$scratch/build/bench-[^ ]*/onetoone"
        kill -"$signal" "$pid"
        wait "$pid" 2>/dev/null && status=0 || status=$?
        ok "signal $signal breaks it off" test "$status" -gt 128
        ok "... and leaves nothing" left_as_found
    done
    ok "demo on one host" "$FSBML_TOP/fsbml" demo --one-host --rounds 1 --json "$scratch/host.json" >"$scratch/out" 2>"$scratch/err"
    ok "... prints and writes all" complete "$scratch/out" "$scratch/host.json"
    ok "... and says what it does" grep -q 'shared memory, and TCP over loopback' "$scratch/err"
}

# A copy of the sources in a folder of another user, and the demo there. The PREFIX of the Open MPI in use goes along.
as_nobody() {
    local top=$scratch/nobody
    mkdir -p "$top/home"
    (cd -- "$FSBML_TOP" && tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.lo' .) | tar -xf - -C "$top"
    chmod 755 "$scratch"
    chown -R nobody: "$top"
    lend_compiler_cache "$top" nobody
    run_as_nobody() {
        su -s /bin/bash nobody -c "cd '$top' && HOME='$top/home' FSBML_BUILD='$top/build' FSBML_OPENMPI='$prefix' exec $1"
    }
    ok "another user is told that cluster up needs root" \
        grep -q "needs root" <(run_as_nobody "./fsbml cluster up" 2>&1 || :)
    ok "demo of another user" run_as_nobody "./fsbml demo --experiment single --rounds 1 --json '$top/home/o.json'" \
        >"$scratch/out" 2>"$scratch/err"
    ok "... prints and writes all" complete "$scratch/out" "$top/home/o.json"
    if run_as_nobody "unshare --user --map-root-user --net --pid --fork --mount mount -t proc proc /proc" 2>/dev/null; then
        ok "... on a cluster, as the kernel allows it" grep -q 'virtual cluster of 2 nodes is up' "$scratch/err"
    else
        ok "... on one host, as the kernel allows no cluster, and says so" grep -q 'needs network namespaces' "$scratch/err"
    fi
    ok "... leaves nothing" left_as_found
}

links=$(ip -o link | cut -d: -f2)
as_root
as_nobody
tap_end
