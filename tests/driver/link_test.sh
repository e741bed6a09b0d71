#!/usr/bin/env bash
# Tests of rails with delay, jitter, loss and queue, of `cluster set`, and of rails that some nodes lack.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root. Prints TAP. All names carry this process' number, so that nothing of a cluster in use is touched.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh tools/cluster/emulator.sh scripts/programs.sh
name="" scratch="" # set by:
own_clusters l

nothing_left() {
    equal "$(ip netns list | grep -c "^fsbml-$name-" || :)" 0 && [ ! -e "$FSBML_CLUSTERS/$name" ]
}

show() { (cd -- "$FSBML_CLUSTERS/$name" && "$FSBML_BUILD/link/link" --socket link.sock show); }

# counter LINK WAY NAME: one of the emulator's counters.
counter() {
    show |
        awk -v link="$1" -v way="$2" -v name="$3=" '$1 == link && $2 == way { for (i = 3; i <= NF; i++) if (index($i, name) == 1) print substr($i, length(name) + 1) }'
}

# exchange SECONDS RAIL ARGUMENTS...: onetoone over one rail with r2, between nodes 0 and 1; its least sample in us.
exchange() {
    local limit=$1 rail=$2
    shift 2
    timeout "$limit" "$FSBML_TOP/fsbml" cluster run --name "$name" -n 2 -- --mca bml r2 \
        --mca btl_tcp_if_include "$rail" "$programs/onetoone" --json --messages 1 --no-verify "$@" 2>"$scratch/err" </dev/null |
        sed -n 's/.*"samples":\[\(.*\)\].*/\1/p' | tr ',' '\n' | sort -n | head -n 1
}

at_least() { awk -v found="${1:-0}" -v least="$2" 'BEGIN { printf "# %.1f, at least %s\n", found, least; exit !(found >= least) }'; }

options_are_checked() {
    ok "delay without a unit" refuses "delay=5 is not like delay=100us" cluster up --rail rate=20mbit,delay=5
    ok "loss without a percent sign" refuses "loss=0.1 is not like loss=0.1%" cluster up --rail rate=20mbit,loss=0.1
    ok "queue that is no number" refuses "queue=big is not like" cluster up --rail rate=20mbit,queue=big
    ok "jitter below zero" refuses "jitter=-1us is not like" cluster up --rail rate=20mbit,jitter=-1us
    ok "delay twice" refuses "delay is given twice" cluster up --rail rate=20mbit,delay=1us,delay=2us
    ok "nodes that are no list" refuses "nodes=a is not like" cluster up --rail rate=20mbit,nodes=a
    ok "a node that is not there" refuses "there is no node 5" cluster up --nodes 3 --rail rate=20mbit,nodes=0-5
    ok "a rail of one node" refuses "joins at least two nodes" cluster up --nodes 3 --rail rate=20mbit,nodes=1
    ok "a delay out of range" fails_with 2 "could not make cluster" cluster up --name "$name" --rail rate=20mbit,delay=20s
    ok "... is what the emulator names" grep -q 'delay=20s: give a time up to 10s' "$scratch/err"
    ok "... and nothing is left" nothing_left
    ok "set without a cluster" refuses "there is no cluster" cluster set --name "$name" --node 0 --rail 0 down
    ok "set without a link" refuses "say which link" cluster set --name "$name" down
    ok "set without a word" refuses "nothing to set" cluster set --name "$name" --node 0 --rail 0
    ok "set with an unknown word" refuses "'speed=1' is none of" cluster set --name "$name" --node 0 --rail 0 speed=1
}

cluster_is_as_asked() {
    ok "up with an emulated rail and one that node 2 lacks" fsbml cluster up --name "$name" --nodes 3 \
        --rail rate=100mbit,delay=2ms,queue=200kb --rail rate=20mbit,nodes=0-1
    ok "status shows both" equal "$(fsbml cluster status --name "$name" | awk '/^rail[0-9]/ { print $3 }' | paste -sd' ')" \
        "100mbit,delay=2ms,queue=200kb 20mbit,nodes=0-1"
    ok "node 2 has rail 0" ip -n "fsbml-$name-node2" -o link show rail0
    ok "... and not rail 1" equal "$(ip -n "fsbml-$name-node2" -o link show rail1 2>/dev/null || echo none)" none
    ok "each link has half of the delay" equal "$(show |
        grep -c 'rate=100mbit delay=1000us jitter=0us loss=0% queue=200000 up')" 6
    ok "the rail with a rate only is emulated too" equal "$(show |
        grep -c 'rate=20mbit delay=0us jitter=0us loss=0% queue=400000 up')" 4
}

links_change_in_use() {
    ok "a message takes the delay" at_least "$(exchange 60 rail0 --sizes 16)" 2000
    # 64 KiB are 46 frames: on the wire 5.5 ms, and from then on one after the other, whatever was idle before.
    ok "... and its time on the wire" at_least "$(exchange 60 rail0 --sizes 65536 --max-samples 20)" 7400
    ok "set changes both directions of a link" fsbml cluster set --name "$name" --node 1 --rail 0 delay=10ms
    ok "... of which each counts half" at_least "$(exchange 60 rail0 --sizes 16)" 6000
    ok "a value out of range changes nothing" fails_with 2 "nothing is changed" cluster set --name "$name" --node 1 --rail 0 delay=0us loss=200%
    ok "... at all" equal "$(show | grep -c '^n1r0 .* delay=5000us')" 2
    fsbml cluster set --name "$name" --node 1 --rail 0 delay=0us down
    ok "over a link that is down nothing comes" equal "$(exchange 5 rail0 --sizes 16)" ""
    ok "... because it was cut" test "$(counter n1r0 in cut)" -gt 0
    fsbml cluster set --name "$name" --node 1 --rail 0 up loss=20%
    ok "an emulated link takes no faults" refuses "rails that the kernel shapes" cluster set --name "$name" --node 1 --rail 0 deaf
    ok "up again, with loss, all arrives" at_least "$(exchange 60 rail0 --sizes 1024 --max-samples 20)" 1000
    ok "... although frames were lost" test "$(($(counter n1r0 in lost) + $(counter n1r0 out lost)))" -gt 0
}

# comes_back FIRST: how many frames come in at node 1 on rail 1 while it asks for 20 addresses that no node has; others each time,
# as it asks but once a second for the same.
comes_back() {
    # shellcheck disable=SC2016
    nsenter --net="/run/netns/fsbml-$name-node1" bash -c '
        came() { sed -nE "s/^ *rail1: *[0-9]+ +([0-9]+) .*/\1/p" /proc/thread-self/net/dev; }
        before=$(came)
        for ((i = $1; i < $1 + 20; i++)); do printf . >/dev/udp/10.71.1.$i/9; done
        sleep 0.2
        printf "%d\n" $(($(came) - before))' - "$1"
}

carrier() { ip -n "fsbml-$name-node1" -o link show rail1 | grep -c LOWER_UP; }

kernel_rails_change_too() {
    fsbml cluster up --replace --name "$name" --nodes 3 --rail rate=100mbit --rail rate=20mbit,nodes=0-1 2>/dev/null
    ok "set changes a rail that the kernel shapes" fsbml cluster set --name "$name" --node 1 --rail 1 rate=5mbit
    ok "... on both sides" equal "$(for space in node1 net; do tc -n "fsbml-$name-$space" qdisc show; done | grep -c 'rate 5Mbit')" 2
    ok "... but not its delay" refuses "the kernel, which knows rate, down and up" cluster set --name "$name" --node 1 --rail 1 delay=1ms
    fsbml cluster set --name "$name" --node 1 --rail 1 down
    ok "... and takes it down" equal "$(exchange 5 rail1 --sizes 16)" ""
    fsbml cluster set --name "$name" --node 1 --rail 1 up
    ok "... and up" at_least "$(exchange 60 rail1 --sizes 16)" 1
    fsbml cluster set --name "$name" --node 1 --rail 1 dead
    ok "... and dead, with the cable in" equal "$(exchange 5 rail1 --sizes 16)$(carrier)" "1"
    fsbml cluster set --name "$name" --node 1 --rail 1 up deaf
    ok "... and deaf" equal "$(exchange 5 rail1 --sizes 16)$(carrier)" "1"
    fsbml cluster set --name "$name" --node 1 --rail 1 up loop
    ok "a cable that leads back leads nowhere else" equal "$(exchange 5 rail1 --sizes 16)$(carrier)" "1"
    ok "... and brings back what was sent" test "$(comes_back 100)" -ge 20
    fsbml cluster set --name "$name" --node 1 --rail 1 loop
    ok "... also if that is said again" test "$(comes_back 120)" -ge 20
    fsbml cluster set --name "$name" --node 1 --rail 1 up
    ok "... and up, they do not come back" test "$(comes_back 140)" -lt 20
    ok "... and nothing of it is left" equal "$(ip -n "fsbml-$name-net" -o link show type bridge | awk '{ print $2 }' | paste -sd' ')" "mgmt: rail0: rail1:"
    ok "... and all arrives again" at_least "$(exchange 60 rail1 --sizes 16)" 1
    fsbml cluster set --name "$name" --node 1 --rail 1 mtu=1000
    ok "large frames vanish in it" equal "$(exchange 5 rail1 --sizes 8192)" ""
    fsbml cluster set --name "$name" --node 1 --rail 1 up address=10.72.1.2/24
    ok "a node has another address" equal "$(ip -n "fsbml-$name-node1" -o -4 address show rail1 | awk '{ print $4 }')" 10.72.1.2/24
    fsbml cluster set --name "$name" --node 1 --rail 1 address=10.71.1.2/24
    ok "all is well again" at_least "$(exchange 60 rail1 --sizes 8192)" 1
    ok "an address that is none" refuses "such as address=" cluster set --name "$name" --node 1 --rail 1 address=rail1
    ok "an MTU that is none" refuses "from 68 to 65535" cluster set --name "$name" --node 1 --rail 1 mtu=9
    ok "a node without the rail has nothing to set" refuses "node 2 does not have rail 1" cluster set --name "$name" --node 2 --rail 1 up
    ok "a rail that is not there" refuses "has no rail 7" cluster set --name "$name" --node 1 --rail 7 up
    ok "a node that is not there" refuses "has no node 9" cluster set --name "$name" --node 9 --rail 0 up
}

ends_are_clean() {
    fsbml cluster up --replace --name "$name" --rail rate=100mbit,jitter=10us 2>/dev/null
    kill -KILL "$(cat "$FSBML_CLUSTERS/$name/link.pid")"
    sleep 0.2
    ok "set says that the emulator has ended" refuses "has ended" cluster set --name "$name" --node 1 --rail 0 up
    ok "down clears what is left" fsbml cluster down --name "$name"
    ok "... all of it" nothing_left
    fsbml cluster up --name "$name" --rail rate=100mbit,delay=0us 2>/dev/null
    local pid
    pid=$(cat "$FSBML_CLUSTERS/$name/link.pid")
    ok "down ends a running emulator" fsbml cluster down --name "$name"
    ok "... whose process is gone" equal "$(ps -o stat= -p "$pid" | grep -v '^Z' || :)" ""
    ok "... and nothing else is left" nothing_left
}

"$FSBML_TOP/fsbml" build >/dev/null 2>&1
programs=$(programs_build "$(openmpi_prefix)" onetoone)
emulator_build 2>/dev/null # said only when it is compiled, which the first test that counts lines must not meet
options_are_checked
cluster_is_as_asked
links_change_in_use
kernel_rails_change_too
ends_are_clean
tap_end
