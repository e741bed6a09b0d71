#!/usr/bin/env bash
# Tests of `fsbml rails`: its errors, the interfaces of a network namespace, nodes that are asked by ssh, what a cache knows.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Prints TAP. What the lines of nodes come to, tests/tools/rails_test.cpp has.
# shellcheck disable=SC2016 # for eval
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh
own_folder
export XDG_CACHE_HOME=$scratch/cache

# rails ARGUMENTS...: its text in $scratch/out.
rails() {
    fsbml rails "$@" >"$scratch/out" 2>"$scratch/err" </dev/null && return 0
    sed 's/^/# /' "$scratch/err" >&9
    return 1
}

# line PATTERN: a line of the output, its columns parted by single spaces, is this.
line() {
    grep -qxE -- "$1" <<<"$(sed -E 's/ +/ /g; s/ $//' "$scratch/out")" && return 0
    sed 's/^/# /' "$scratch/out" >&9
    return 1
}

# A node's ssh: n2 answers with what a file has, n3 with an error.
fake_ssh() {
    mkdir "$scratch/bin"
    cat >"$scratch/bin/ssh" <<'END'
#!/bin/sh
while [ "$1" != -- ]; do shift; done
[ "$(head -n 1)" = '#!/bin/sh' ] || exit 9
case "$2" in
    n3) echo 'ssh: connect to host n3 port 22: No route to host' >&2; exit 255 ;;
    *) cat "$NODES/$2" ;;
esac
END
    chmod +x "$scratch/bin/ssh"
    printf 'node\tn1\ninterface\teth0\t10.0.0.1/24\tup\t1500\t10000\t-\tixgbe\t0\thardware\t-\ninterface\teth1\t10.0.1.1/24\tup\t1500\t1000\t-\tigb\t1\thardware\t-\n' >"$scratch/n1"
    sed 's/n1/n2/; s/\.1\//.2\//' "$scratch/n1" >"$scratch/n2"
    export NODES=$scratch PATH=$scratch/bin:$PATH
}

# What a job has kept of one rail.
kept() {
    mkdir -p "$scratch/cache/fsbml"
    printf 'fsbml-table 2\nrail tcp:10.0.0.0/24 eth0 L=20000 o_s=2000 o_r=3000 g=1000 G=1\n' >"$scratch/cache/fsbml/rails-12345678"
    printf 'broken\n' >"$scratch/cache/fsbml/rails-00000000"
    touch -d 2026-11-20T12:00 "$scratch/cache/fsbml/rails-12345678"
}

# in_namespace: two cards, a bridge for containers and one interface of a bond that has no address.
in_namespace() {
    unshare --net --mount sh -ec 'mount -t sysfs sysfs /sys
        ip link add card0 type veth peer name far0; ip link add card1 mtu 9000 type veth peer name far1
        ip link add docker0 type bridge
        ip address add 10.71.0.1/24 dev card0; ip address add 10.71.1.1/25 dev card1; ip address add 172.17.0.1/16 dev docker0
        ip link set lo up; ip link set far0 up; ip link set card0 up; ip link set card1 up; ip link set docker0 up
        exec "$@"' namespace "$@"
}

ok "--help explains it" grep -q "^usage: ./fsbml rails" <(fsbml rails --help)
ok "an unknown option" refuses "unknown option '--fast'" rails --fast
ok "an option without its value" refuses "--host needs a value" rails --host
ok "both lists of nodes" refuses "exclude each other" rails --host n1 --hostfile "$scratch/n1"
ok "a host file that is not there" refuses "cannot be read" rails --hostfile "$scratch/none"
: >"$scratch/empty"
ok "a host file without nodes" refuses "names no node" rails --hostfile "$scratch/empty"
ok "what is no name" refuses "'-x' is no node's name" rails --host -x

ok "this node, with its own name" eval 'rails && grep -qx "$(uname -n | sed "s/\..*//")" "$scratch/out"'

fake_ssh
kept
ok "two nodes share two networks" rails --host n1,n2
ok "... which are the rails" said 'FSBML would use these rails: eth0, eth1\.'
ok "... one of them measured by an earlier job" line '10\.0\.0\.0/24 eth0 2 hardware ixgbe 0 1500 10 Gbit/s 8 Gbit/s, 25 us, 2026-11-20 yes'
ok "... the other not yet" line '10\.0\.1\.0/24 eth1 2 hardware igb 1 1500 1 Gbit/s - yes'
ok "... and messages go by them" said '64 B .*eth0'
printf 'n1:4 slots=4 # first\n\n# none\nn2\nn1\n' >"$scratch/hosts"
ok "the same by a host file" eval 'cp "$scratch/out" "$scratch/before" && rails --hostfile "$scratch/hosts" && cmp -s "$scratch/out" "$scratch/before"'
ok "a node that does not answer" refuses 'not all nodes have answered: n3: ssh: connect to host n3' rails --host n1,n3
printf 'hello\n' >"$scratch/n4"
ok "a node that says something else" fails_with 1 "'hello' is nothing that a node says" rails --host n4
ok "a table that cannot be read" fails_with 1 "table.*none|none.*table|No such file" rails --host n1,n2 --table "$scratch/none"

if unshare --net --mount true 2>/dev/null; then
    ok "a namespace with two cards" eval 'in_namespace "$FSBML_TOP/fsbml" rails >"$scratch/out" 2>"$scratch/err"'
    ok "... of which one is up" line '10\.71\.0\.0/24 card0 10\.71\.0\.1 virtual - - 1500 10 Gbit/s - yes'
    ok "... and the other is cut" line '10\.71\.1\.0/25 card1 10\.71\.1\.1 virtual - - 9000 .* no: cut'
    ok "... and a bridge for containers, which tcp must not use" said 'btl_tcp_if_exclude 127\.0\.0\.1/8,sppp,172\.17\.0\.0/16$'
else
    printf 'ok - a namespace with two cards # SKIP no network namespace can be made here\n' >&9
fi
tap_end
