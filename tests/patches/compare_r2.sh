#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: compare_r2.sh UNPATCHED-PREFIX PATCHED-PREFIX [ROUNDS]
#
# r2's speed without and with the base patches: two installs of the same Open MPI version, configured alike. Two ranks on
# this host, over shared memory and over TCP on the loopback; rounds interleaved, medians over the rounds. Fails if the
# median over all cases of one network is more than 3 % slower when patched.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '5,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
declare -A prefix=([plain]=$1 [patched]=$2)
rounds=${3:-11}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/fsbml-compare.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
unset "${!OMPI_MCA_@}"

root=()
[ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
for name in plain patched; do "${prefix[$name]}/bin/mpicc" -O2 -o "$work/$name" "$here/pingpong.c"; done

run() { # NAME BTL
    "${prefix[$1]}/bin/mpirun" "${root[@]}" --bind-to core -n 2 --mca pml ob1 --mca bml r2 --mca btl "self,$2" \
        --mca btl_tcp_if_include lo "$work/$1" | sed "s/^/$1 $2 /"
}

# Which goes first alternates, so that neither gains by its place.
for ((round = 0; round < rounds; ++round)); do
    for btl in sm tcp; do
        if ((round % 2)); then order=(plain patched); else order=(patched plain); fi
        for name in "${order[@]}"; do run "$name" "$btl"; done
    done
done >"$work/times"

awk -v rounds="$rounds" '
    { key = $2 " " $3 " " $4; if (!(key in seen)) { seen[key] = 1; keys[++n] = key }
      t[$1, key, ++count[$1, key]] = $5 }
    function sorted(name, key,    i, j, m, x) {
        m = count[name, key]
        for (i = 1; i <= m; ++i) s[i] = t[name, key, i]
        for (i = 2; i <= m; ++i) { x = s[i]; for (j = i - 1; j > 0 && s[j] > x; --j) s[j + 1] = s[j]; s[j + 1] = x }
        return m
    }
    function median(name, key,    m) { m = sorted(name, key); return (s[int((m + 1) / 2)] + s[int(m / 2) + 1]) / 2 }
    function spread(name, key,    m) { m = sorted(name, key); return 100 * (s[int((3 * m + 3) / 4)] - s[int((m + 3) / 4)]) / median(name, key) }
    END {
        if (n == 0) { print "nothing was measured" > "/dev/stderr"; exit 1 }
        printf "%-4s %8s %7s | %12s %8s | %12s %8s | %s\n", "net", "bytes", "window", "unpatched ns", "spread", "patched ns", "spread", "ratio"
        for (i = 1; i <= n; ++i) {
            split(keys[i], k, " "); a = median("plain", keys[i]); b = median("patched", keys[i])
            printf "%-4s %8d %7d | %12d %7.1f%% | %12d %7.1f%% | %.3f\n", k[1], k[2], k[3], a, spread("plain", keys[i]), b, spread("patched", keys[i]), b / a
            ratio[k[1], ++m[k[1]]] = b / a
        }
        for (net in m) {
            for (i = 1; i <= m[net]; ++i) s[i] = ratio[net, i]
            for (i = 2; i <= m[net]; ++i) { x = s[i]; for (j = i - 1; j > 0 && s[j] > x; --j) s[j + 1] = s[j]; s[j + 1] = x }
            r = (s[int((m[net] + 1) / 2)] + s[int(m[net] / 2) + 1]) / 2
            printf "%s: median ratio %.3f over %d rounds\n", net, r, rounds
            if (r > 1.03) bad = 1
        }
        exit bad
    }' "$work/times"
