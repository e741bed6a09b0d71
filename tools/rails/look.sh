#!/bin/sh
# What a node has of networks, a line each, its fields parted by tabs; '-' is what is not known. For ./fsbml rails, which runs this text
# on other nodes by ssh: so it is for any POSIX shell, needs no file, and changes nothing.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
#   node       NAME
#   interface  NAME ADDRESS/LENGTH up|down|cut MTU MBIT DEVICE DRIVER NUMA KIND BELOW    below: the interfaces that it is made of
#   rdma       DEVICE:PORT STATE RATE
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
tab=$(printf '\t')

first() { read -r line 2>/dev/null <"$1" && [ -n "$line" ] && printf '%s' "$line" || printf '%s' -; }
base() { if target=$(readlink "$1"); then printf '%s' "${target##*/}"; else printf '%s' -; fi; }

# below NAME: what it is made of, parted by commas.
below() {
    list=""
    for path in "/sys/class/net/$1"/lower_* "/sys/class/net/$1"/brif/*; do
        [ -e "$path" ] || [ -L "$path" ] || continue
        name=${path##*/}
        list=$list${list:+,}${name#lower_}
    done
    printf '%s' "${list:--}"
}

# bridge NAME: one over network cards, or one of the node itself, for containers or virtual machines.
bridge() {
    for path in "/sys/class/net/$1"/brif/*; do
        port=/sys/class/net/${path##*/}
        if [ -e "$port/device" ] || [ -d "$port/bonding" ]; then
            echo bridge
            return
        fi
    done
    echo private
}

kind() {
    sys=/sys/class/net/$1
    type=$(sed -n 's/^DEVTYPE=//p' "$sys/uevent" 2>/dev/null)
    if [ "$(first "$sys/type")" = 772 ]; then echo loopback
    elif [ -d "$sys/bonding" ]; then echo bond
    elif [ -d "$sys/bridge" ]; then bridge "$1"
    elif [ -e "$sys/tun_flags" ]; then echo tunnel
    elif [ -n "$type" ]; then echo "$type"
    elif [ "$(first "$sys/type")" = 32 ]; then echo infiniband
    elif [ -e "$sys/device" ]; then echo hardware
    else echo virtual; fi
}

# interface NAME ADDRESS
interface() {
    sys=/sys/class/net/$1
    flags=$(first "$sys/flags")
    [ "$flags" != - ] || return 0
    state=up
    if [ $((flags & 1)) -eq 0 ]; then state=down; elif [ "$(first "$sys/carrier")" = 0 ]; then state="cut"; fi
    mbit=$(first "$sys/speed")
    case "$mbit" in '' | *[!0-9]*) mbit=- ;; esac
    numa=$(first "$sys/device/numa_node")
    [ "$numa" != -1 ] || numa=-
    printf 'interface\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$state" "$(first "$sys/mtu")" "$mbit" \
        "$(base "$sys/device")" "$(base "$sys/device/driver")" "$numa" "$(kind "$1")" "$(below "$1")"
}

name=$(uname -n)
printf 'node\t%s\n' "${name%%.*}"
if ! command -v ip >/dev/null; then
    echo "there is no 'ip' (Debian's package iproute2) on ${name%%.*}" >&2
    exit 1
fi
addresses=$(ip -o -4 addr show | awk '{ print $2 "\t" ($5 == "peer" ? $4 "/32" : $4) }')
printf '%s\n' "$addresses" | while IFS=$tab read -r name address; do [ -z "$name" ] || interface "$name" "$address"; done
# Devices that nothing uses yet.
for path in /sys/class/net/*; do
    name=${path##*/}
    case "
$addresses" in *"
$name$tab"*) continue ;; esac
    if [ -e "$path/device" ] && [ ! -e "$path/master" ]; then interface "$name" -; fi
done
for path in /sys/class/infiniband/*/ports/*; do
    [ -e "$path/state" ] || continue
    device=${path#/sys/class/infiniband/}
    printf 'rdma\t%s:%s\t%s\t%s\n' "${device%%/*}" "${path##*/}" "$(first "$path/state")" "$(first "$path/rate")"
done
exit 0
