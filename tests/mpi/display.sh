#!/usr/bin/env bash
# What a job says of its rails when it starts: once a job, with the addresses and networks of the cluster, also where nothing
# is measured; and nothing unasked.
#
# Once, but for how connections are watched: the words are FSBML's own.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-60}
RAILS=(200mbit 20mbit)
program="" # that the last job ran
version=$(fsbml_version)
HEAD='rail   address    Mbit/s  device  PCI  NUMA  key  .*  until'

# job RANKS ARGUMENTS...: one job that verifies its data.
job() {
    local ranks=$1
    shift
    program=order
    [ "$ranks" -gt 1 ] || program=alone
    [ "$program" = alone ] || program="order 1"
    # shellcheck disable=SC2086  # a name and its arguments
    harness_program $program
    harness_job "$LIMIT" "$ranks" --mca bml fsbml "$@" "${harness_command[@]}"
}

# Parameters that a busy machine cannot spoil: what is to be seen here is what is said of them.
parameters() {
    cat <<TABLE
fsbml-table 2
rail tcp:10.71.0.0/24 rail0 L=9000 o_s=8000 o_r=7000 g=6000 G=42 burst=84000 residual=0.01 tight=1 probes=70
rail tcp:10.71.1.0/24 rail1 L=5000 o_s=4000 o_r=3000 g=2000 G=420 burst=84000 residual=0.02 tight=0 probes=40
TABLE
}
RAIL0='9\.00 +8\.00 +7\.00 +6\.00 +42 +23\.81 +2000 +70 +1\.00 % +tight'
RAIL1='5\.00 +4\.00 +3\.00 +2\.00 +420 +2\.381 +200 +40 +2\.00 % +disturbed'

# said REGEX: how many lines say that and no more.
said() { grep -cE -- "^(\[[^]]*\] )?fsbml: $1\$" "$harness_stderr" || :; }

# teller: the number of the node that told of the rails.
teller() { sed -nE 's/^.*fsbml: policy .* rails as node([0-9]+) has them.*$/\1/p' "$harness_stderr" | head -n 1; }

# check NAME UNWANTED LINE...: the last job went well, nothing in it matches UNWANTED, and it said each LINE (a regex) once.
# In a line, NODE is the node that tells, and MINE the end of its addresses.
check() {
    local name=$1 unwanted=$2 line node reason
    harness_wanted "$name" || return 0
    reason=$(harness_failure "$program" "$LIMIT")
    node=$(teller)
    shift 2
    if [ -z "$reason" ] && [ -n "$unwanted" ] && grep -qE -- "$unwanted" "$harness_stderr"; then
        reason="something says '$unwanted'"
    fi
    for line in "$@"; do
        line=${line//NODE/node$node}
        line=${line//MINE/$((node + 1))}
        [ -n "$reason" ] || [ "$(said "$line")" -eq 1 ] || reason="'$line' is said $(said "$line") times instead of once"
    done
    harness_result "$name" "$reason"
}

three_nodes() {
    job 3 --mca bml_fsbml_display 1 --mca bml_fsbml_table "$harness_logs/rails"
    check "three nodes, once a job" 'left out|not measured|not used' \
        "version ${version//./\\.} for Open MPI [0-9]+\\.[0-9]+\\.[0-9]+" \
        '3 ranks on 3 hosts: node0 \(1\), node1 \(1\), node2 \(1\)' 'policy arrival; rails as NODE has them' "$HEAD" \
        'rail0  10\.71\.0\.MINE  -       rail0   -    -     tcp:10\.71\.0\.0/24 +'"$RAIL0" \
        'rail1  10\.71\.1\.MINE  -       rail1   -    -     tcp:10\.71\.1\.0/24 +'"$RAIL1" \
        'other interfaces, which no BTL uses: mgmt0 \(10\.70\.0\.MINE\)'
    job 3 --mca bml_fsbml_display 2 --mca bml_fsbml_table "$harness_logs/rails"
    check "where messages would go" 'left out' 'a message between two hosts, while nothing else is sent, by these parameters:' \
        '    64 B        [0-9]+\.[0-9] us  rail0' '     4 KiB     [0-9]+\.[0-9] us  rail0' '    64 KiB    [0-9]+\.[0-9] us  rail0 9[0-2] %, rail1 [89] %.*' \
        '     1 MiB      [0-9]+\.[0-9] ms  rail0 9[01] %, rail1 (9|10) %, in fragments of [0-9]+ bytes'
    harness_table "$harness_logs/alike" 100mbit 100mbit
    job 3 --mca bml_fsbml_display 2 --mca bml_fsbml_table "$harness_logs/alike" --mca bml_fsbml_failover 1
    check "... also with failover: in pieces" 'left out' '    64 KiB    [0-9]+\.[0-9] us  rail0 [45][0-9] %, rail1 [45][0-9] %.*'
    job 3 --mca bml_fsbml_display 1
    check "measured or not, it is said" 'left out' "$HEAD" 'rail0  10\.71\.0\.MINE  -  .*' 'rail1  10\.71\.1\.MINE  -  .*'
    job 4 --mca bml_fsbml_display 1 --mca bml_fsbml_policy roundrobin
    check "two ranks on a node, another policy" 'left out' '4 ranks on 3 hosts: node0 \(2\), node1 \(1\), node2 \(1\)' \
        'policy roundrobin; rails as NODE has them(; within a host: (vader|sm))?' "$HEAD"
}

# The table by itself is what scripts read.
table_alone() {
    job 3 --mca bml_fsbml_verbose 1 --mca bml_fsbml_table "$harness_logs/rails"
    check "the table alone has no more columns" 'address|hosts|policy|mgmt0' \
        'rail   key +L us +o_s us +o_r us +g us +G ns/B +MB/s +burst B +probes residual +until' \
        "rail0  tcp:10\.71\.0\.0/24 +$RAIL0" "rail1  tcp:10\.71\.1\.0/24 +$RAIL1"
    job 3 --mca bml_fsbml_verbose 1 --mca bml_fsbml_display 1
    check "... and stands there as well if both are asked for" '' "$HEAD" 'rail   key  .*' 'rail0  tcp:10\.71\.0\.0/24  .*'
    job 3
    check "nothing is said unasked" 'fsbml: (rail|policy|3 ranks)'
}

nothing_measured() {
    job 1 --mca bml_fsbml_display 1
    check "one process" 'without parameters' '1 rank on 1 host: node0 \(1\)' 'not measured: the job has one process' "$HEAD" \
        'rail0  10\.71\.0\.1  - .*' 'rail1  10\.71\.1\.1  - .*'
    job 2 --mca bml_fsbml_display 1 --host node1:2
    check "all processes on one host" 'without parameters' '2 ranks on 1 host: node1 \(2\)' \
        'policy arrival; rails as node1 has them; within a host: (vader|sm)' 'not measured: .*'
    job 3 --mca bml_fsbml_display 1 --mca btl_tcp_if_include rail0
    check "one network" 'left out' 'not measured: there are no two rails of one kind to choose from' \
        'rail0 \(10\.71\.0\.MINE\): in use by itself: .*' 'other interfaces, which no BTL uses: .*rail1 \(10\.71\.1\.MINE\).*'
}

# By an address of one node, the rail is meant on all of them.
left_out() {
    job 3 --mca bml_fsbml_display 1 --mca bml_fsbml_exclude 10.71.1.2
    check "a rail excluded by an address" 'does not exist' 'rail1 \(10\.71\.1\.MINE\): left out: bml_fsbml_exclude names it' \
        'rail0 \(10\.71\.0\.MINE\): in use by itself: .*'
    job 3 --mca bml_fsbml_display 1 --mca bml_fsbml_include 10.71.1.0/24
    check "a rail not included, by network" 'does not exist' 'rail0 \(10\.71\.0\.MINE\): left out: bml_fsbml_include does not name it' \
        'rail1 \(10\.71\.1\.MINE\): in use by itself: .*'
    # Frames of the slow rail go to an address that no node has.
    ip -n "${harness_nodes[0]}" neighbour replace 10.71.1.2 lladdr 02:00:00:00:00:01 dev rail1 nud permanent
    job 2 --mca bml_fsbml_display 1
    check "a rail that loses its frames" '' "$HEAD" 'rail1  10\.71\.1\.1  -       rail1   -    -     tcp:10\.71\.1\.0/24 +(- +){7}.*' \
        'not measured: only one rail answers between .*' 'rail1: not used: to rank 1 .*' 'without parameters, each peer has one rail: .*'
    harness_cluster_down # its neighbours are not what they were
}

# watched NAME WAY ARGUMENTS...: the ranks of a job change to that way of watching their connections; -: to none.
watched() {
    local name=$1 way=$2 reason want=0
    shift 2
    harness_wanted "$name" || return 0
    [ "$way" = - ] || want=3
    job 3 --mca bml_fsbml_verbose 5 --mca bml_fsbml_table "$harness_logs/rails" "$@"
    reason=$(harness_failure "$program" "$LIMIT")
    [ -n "$reason" ] || [ "$(said "connections are watched by ${way/-/.*}")" -eq "$want" ] ||
        reason="said: $(grep 'are watched by' "$harness_stderr" | sort | uniq -c)"
    harness_result "$name" "$reason"
}

# Each rank has two peers on other nodes. Open MPI 4.1 takes poll, later ones take epoll.
connections_are_watched() {
    local few=poll many=-
    [ "$harness_major" -ge 5 ] || few=- many=epoll
    watched "few connections, by poll" "$few"
    watched "many, by epoll" "$many" --mca bml_fsbml_epoll 2
    watched "... as Open MPI has it" - --mca bml_fsbml_epoll 0
    watched "... as the user has it" - --mca bml_fsbml_epoll "$((harness_major < 5 ? 2 : 3))" --mca opal_event_include \
        "$([ "$harness_major" -ge 5 ] && echo epoll || echo poll)"
}

run_part() {
    harness_cluster_up 3 "${RAILS[@]}"
    parameters >"$harness_logs/rails"
    "$1"
}

harness_begin "Looks at what jobs say of their rails when they start (bml_fsbml_display)." "$@"
[ "$harness_bml" = fsbml ] || die "these tests are about fsbml: --bml has no meaning here."
parts=()
! harness_in once || parts+=(three_nodes table_alone nothing_measured left_out)
! harness_in version || parts+=(connections_are_watched)
harness_lanes run_part "${parts[@]}"
harness_end
