# Making and removing the virtual cluster's network: namespaces, bridges, links, rates. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
#   node0            net (bridges only)           node1
#   mgmt0 ---------- n0m [bridge mgmt ] n1m ---------- mgmt0     not shaped: mpirun and its daemons
#   rail0 (tbf) ---- n0r0 (tbf) [bridge rail0] ...---- rail0     shaped where a frame leaves: in the node to what its NIC
#   rail1 (tbf) ---- n0r1 (tbf) [bridge rail1] ...---- rail1     can send, at the bridge's port to what it can receive
#
# Where a rail is more than a rate, all rails lead through the link emulator instead:
#
#   rail0 (tap) ~~~~ n0r0 (tap) [bridge rail0] ...~~~~ rail0     all, because tcp of Open MPI 4.1 pairs the addresses of two
#                                                                nodes wrongly unless rails are made in their order
#
# All links are born inside the namespaces, so neither names nor addresses ever touch the host's own network.

# The bucket holds two frames: more would let bursts pass above the rate; the queue is bounded as a switch's is. Above
# 1 Gbit/s, the kernel's timer is too late for so few bytes, and tokens would be lost: 200 us then. A packet of offloads
# is a burst itself, and counts with the headers that its frames will have.
FSBML_BURST=3100
FSBML_BURST_US=200
FSBML_PACKET=70000
FSBML_QUEUE=400000

mgmt_address() { printf '10.70.0.%d\n' $(($1 + 1)); }
rail_address() { printf '10.71.%d.%d\n' "$1" $(($2 + 1)); }

# add_namespace STATE NAMESPACE: noted before it is made, so that no failure in between can leave it behind unknown.
add_namespace() {
    if namespace_exists "$2"; then
        say "there is a network namespace '$2' already, which this cluster did not make; choose another --name."
        return 1
    fi
    printf '%s\n' "$2" >>"$1/namespaces"
    ip netns add "$2" && ip -n "$2" link set lo up
}

# node_rails NODE_INDEX RAIL...: the names of the rails that the node has, as rail0,rail2.
node_rails() {
    local index=$1 rail names=""
    shift
    local rails=("$@")
    for ((rail = 0; rail < ${#rails[@]}; rail++)); do
        if rail_has "${rails[$rail]}" "$index"; then names=$names,rail$rail; fi
    done
    printf '%s\n' "${names#,}"
}

# veth_batch NODE_INDEX NET_NAMESPACE EMULATED RAIL...: `ip -batch` lines that make a node's veth links: to the management
# network, and for the rails if the kernel shapes them.
veth_batch() {
    local index=$1 net=$2 emulated=$3 rail
    shift 3
    local rails=("$@")
    printf 'link add mgmt0 type veth peer name n%dm netns %s\n' "$index" "$net"
    printf 'address add %s/24 dev mgmt0\n' "$(mgmt_address "$index")"
    # No IPv6 link-local address: its router and neighbour solicitations would be traffic on the rails.
    printf 'link set mgmt0 addrgenmode none up\n'
    for ((rail = 0; rail < ${#rails[@]}; rail++)); do
        if [ -z "$emulated" ] && rail_has "${rails[$rail]}" "$index"; then
            printf 'link add rail%d type veth peer name n%dr%d netns %s\n' "$rail" "$index" "$rail" "$net"
        fi
    done
}

# emulated_links NAME NODES RAIL...: the emulator's lines (tools/link/main.cpp).
emulated_links() {
    local name=$1 nodes=$2 node rail words=()
    shift 2
    local rails=("$@")
    for rail in "${rails[@]}"; do words+=("$(printf 'rate=%s' "$rail" | sed -E 's/,nodes=[^,]*//; s/,/ /g')"); done
    for ((node = 0; node < nodes; node++)); do
        for ((rail = 0; rail < ${#rails[@]}; rail++)); do
            rail_has "${rails[$rail]}" "$node" || continue
            printf 'n%dr%d /run/netns/fsbml-%s-node%d rail%d /run/netns/fsbml-%s-net n%dr%d %s\n' \
                "$node" "$rail" "$name" "$node" "$rail" "$name" "$node" "$rail" "${words[$rail]}"
        done
    done
}

# node_batch NODE_INDEX RAIL...: addresses of a node's rails, once their interfaces are there; port_batch: the other ends.
node_batch() {
    local index=$1 rail
    shift
    local rails=("$@")
    for ((rail = 0; rail < ${#rails[@]}; rail++)); do
        rail_has "${rails[$rail]}" "$index" || continue
        printf 'address add %s/24 dev rail%d\n' "$(rail_address "$rail" "$index")" "$rail"
        printf 'link set rail%d addrgenmode none up\n' "$rail"
    done
}

port_batch() {
    local index=$1 rail
    shift
    local rails=("$@")
    printf 'link set n%dm master mgmt addrgenmode none up\n' "$index"
    for ((rail = 0; rail < ${#rails[@]}; rail++)); do
        rail_has "${rails[$rail]}" "$index" || continue
        printf 'link set n%dr%d master rail%d addrgenmode none up\n' "$index" "$rail" "$rail"
    done
}

# bucket KBIT LEAST: bytes, at least LEAST.
bucket() {
    local bytes=$FSBML_BURST
    [ "$1" -le 1000000 ] || bytes=$(($1 * FSBML_BURST_US / 8000))
    [ "$bytes" -ge "$2" ] || bytes=$2
    printf '%s\n' "$bytes"
}

# shaper SPEC: the words of `tc` that give a link the rail's rate.
shaper() {
    local rate=${1%%,*} burst peak queue=$FSBML_QUEUE least=$FSBML_BURST
    burst=$(rail_value "$1" burst)
    peak=$(rail_value "$1" peak)
    [ "$(rail_value "$1" offload)" != on ] || least=$FSBML_PACKET
    if [ -n "$burst" ]; then burst=$(size_bytes "$burst"); else burst=$(bucket "$(rate_kbit "$rate")" "$least"); fi
    [ "$burst" -ge "$least" ] || burst=$least
    # Room for what comes while the bucket fills.
    [ "$queue" -ge $((2 * burst)) ] || [ -n "$peak" ] || queue=$((2 * burst))
    [ -z "$peak" ] || peak=" peakrate $peak mtu $(bucket "$(rate_kbit "$peak")" "$least")"
    printf 'rate %s burst %d limit %d%s\n' "$rate" "$burst" "$queue" "$peak"
}

# shape NAMESPACE INTERFACE SPEC: without offloads, segments are no larger than a frame, and the bucket counts what a wire carries.
shape() {
    local words
    if [ "$(rail_value "$3" offload)" != on ]; then
        nsenter --net="/run/netns/$1" ethtool -K "$2" tso off gso off gro off >/dev/null || return 1
    fi
    [ "${3%%,*}" != none ] || return 0
    read -r -a words < <(shaper "$3")
    tc -n "$1" qdisc add dev "$2" root tbf "${words[@]}"
}

# like_veth NAMESPACE INTERFACE: a TAP device says 10 Mbit/s of itself, veth 10 Gbit/s, and Open MPI goes by such figures.
like_veth() { nsenter --net="/run/netns/$1" ethtool -s "$2" speed 10000 duplex full; }

# plain_tcp NAMESPACE: congestion control as clusters have it. A namespace takes over its host's, and bbr, which keeps gaps between
# frames of its own making, would be measured instead of the rails. cubic, if the host lets others have it, else reno.
plain_tcp() {
    local kind
    for kind in cubic reno; do
        if nsenter --net="/run/netns/$1" sysctl -qw "net.ipv4.tcp_congestion_control=$kind" 2>/dev/null; then return 0; fi
    done
    say "could not set the congestion control of '$1'."
    return 1
}

# plain_bridges NAMESPACE: its bridges show no packet filter what they forward, as a switch. Where br_netfilter is loaded, which containers'
# hosts have, a namespace begins with that on, and each frame goes through the filter's chains.
plain_bridges() {
    local table
    for table in iptables ip6tables arptables; do
        nsenter --net="/run/netns/$1" sysctl -qw "net.bridge.bridge-nf-call-$table=0" 2>/dev/null || :
    done
}

# plain_fault NODE_NAMESPACE NET_NAMESPACE NODE RAIL WORD: at the bridge's port, so that the node's own interface looks as ever.
plain_fault() {
    local there=$1 net=$2 port=n${3}r$4 rail=rail$4 word=$5 device
    case "$word" in
        dead) ip -n "$net" link set "$port" nomaster ;;
        deaf)
            # The switch learns nothing on this port, forgets what it has learnt, and sends nothing there that it does not know.
            bridge -n "$net" link set dev "$port" learning off flood off mcast_flood off bcast_flood off || return 1
            for device in $(bridge -n "$net" fdb show brport "$port" | awk '!/permanent/ { print $1 }'); do
                bridge -n "$net" fdb del "$device" dev "$port" master || return 1
            done
            ;;
        loop)
            plain_unloop "$net" "$3" "$4" || return 1
            # The switch sends what comes in at this port back to it, and to no other port.
            ip -n "$net" link add "loop$port" type bridge forward_delay 0 mcast_snooping 0 &&
                ip -n "$net" link set "loop$port" addrgenmode none up && ip -n "$net" link set "$port" master "loop$port" &&
                bridge -n "$net" link set dev "$port" hairpin on learning off
            ;;
        mtu=*) ip -n "$net" link set "$port" mtu "${word#mtu=}" ;;
        address=*) ip -n "$there" address flush dev "$rail" && ip -n "$there" address add "${word#address=}" dev "$rail" ;;
    esac
}

# plain_unloop NET_NAMESPACE NODE RAIL: takes the bridge of a loop away, if there is one; its port then has none.
plain_unloop() {
    ! ip -n "$1" link show "loopn${2}r$3" >/dev/null 2>&1 || ip -n "$1" link del "loopn${2}r$3"
}

# plain_up NET_NAMESPACE NODE RAIL: the bridge's port as it was made.
plain_up() {
    plain_unloop "$1" "$2" "$3" && ip -n "$1" link set "n${2}r$3" master "rail$3" mtu 1500 up &&
        bridge -n "$1" link set dev "n${2}r$3" learning on flood on mcast_flood on bcast_flood on
}

# plain_unshape NAMESPACE INTERFACE: as fast as the machine is.
plain_unshape() { ! grep -q tbf <<<"$(tc -n "$1" qdisc show dev "$2" root)" || tc -n "$1" qdisc del dev "$2" root; }

# plain_set NODE_NAMESPACE NET_NAMESPACE NODE RAIL SPEC WORD...: changes a link that the kernel shapes, both ways; dies on words
# that it does not know, with nothing changed.
plain_set() {
    local there=$1 net=$2 node=$3 rail=$4 spec=$5 word words
    shift 5
    for word in "$@"; do
        case "$word" in
            up | down | dead | deaf | loop) ;;
            rate=*) check_rate "cluster set: $word" "${word#rate=}" ;;
            mtu=*)
                if ! [[ ${word#mtu=} =~ ^[0-9]{2,5}$ ]] || [ "${word#mtu=}" -lt 68 ] || [ "${word#mtu=}" -gt 65535 ]; then
                    die "cluster set: $word: give bytes from 68 to 65535, such as mtu=1400."
                fi
                ;;
            address=*)
                [[ ${word#address=} =~ ^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$ ]] ||
                    die "cluster set: $word: give an address with its network, such as address=10.72.1.2/24."
                ;;
            *) die "cluster set: $word: the rails of this cluster are shaped by the kernel, which knows rate, down and up, and the faults dead, deaf, loop, mtu and address; for more bring it up with such as --rail rate=20mbit,delay=0us." ;;
        esac
    done
    for word in "$@"; do
        case "$word" in
            # At the bridge's port: the node's own interface keeps its addresses and routes, as if only the cable were out.
            down) ip -n "$net" link set "n${node}r$rail" down || die "cluster set: could not set the link down." ;;
            up) plain_up "$net" "$node" "$rail" || die "cluster set: could not set the link up." ;;
            rate=none) { plain_unshape "$there" "rail$rail" && plain_unshape "$net" "n${node}r$rail"; } || die "cluster set: could not take the rate away." ;;
            rate=*)
                read -r -a words < <(shaper "${word#rate=}${spec#"${spec%%,*}"}")
                { tc -n "$there" qdisc replace dev "rail$rail" root tbf "${words[@]}" &&
                    tc -n "$net" qdisc replace dev "n${node}r$rail" root tbf "${words[@]}"; } || die "cluster set: could not change the rate."
                ;;
            *) plain_fault "$there" "$net" "$node" "$rail" "$word" || die "cluster set: could not do '$word'." ;;
        esac
    done
}

# network_up NAME NODES RAIL...: makes it all; on the first failure returns 1 and leaves the clearing up to network_down.
network_up() {
    local name=$1 nodes=$2 state net node rail rails emulated=""
    shift 2
    rails=("$@")
    if any_emulated "${rails[@]}"; then emulated=yes; fi
    state=$(cluster_state "$name")
    net=fsbml-$name-net
    printf '127.0.0.1 localhost\n' >"$state/hosts"
    add_namespace "$state" "$net" || return 1
    plain_bridges "$net"
    {
        printf 'link add mgmt type bridge forward_delay 0 mcast_snooping 0\nlink set mgmt addrgenmode none up\n'
        for ((rail = 0; rail < ${#rails[@]}; rail++)); do
            printf 'link add rail%d type bridge forward_delay 0 mcast_snooping 0\nlink set rail%d addrgenmode none up\n' "$rail" "$rail"
            printf 'rail%d 10.71.%d.0/24 %s\n' "$rail" "$rail" "${rails[$rail]}" >>"$state/rails"
        done
    } | ip -n "$net" -batch - || return 1
    for ((node = 0; node < nodes; node++)); do
        add_namespace "$state" "fsbml-$name-node$node" || return 1
        plain_tcp "fsbml-$name-node$node" || return 1
        veth_batch "$node" "$net" "$emulated" "${rails[@]}" | ip -n "fsbml-$name-node$node" -batch - || return 1
    done
    [ -z "$emulated" ] || emulator_start "$state" "$(emulated_links "$name" "$nodes" "${rails[@]}")" || return 1
    for ((node = 0; node < nodes; node++)); do
        node_batch "$node" "${rails[@]}" | ip -n "fsbml-$name-node$node" -batch - || return 1
        port_batch "$node" "${rails[@]}" | ip -n "$net" -batch - || return 1
        for ((rail = 0; rail < ${#rails[@]}; rail++)); do
            rail_has "${rails[$rail]}" "$node" || continue
            if [ -n "$emulated" ]; then
                like_veth "fsbml-$name-node$node" "rail$rail" || return 1
                continue
            fi
            shape "fsbml-$name-node$node" "rail$rail" "${rails[$rail]}" || return 1
            shape "$net" "n${node}r$rail" "${rails[$rail]}" || return 1
        done
        printf '%s node%d\n' "$(mgmt_address "$node")" "$node" >>"$state/hosts"
        printf 'btl_tcp_if_include = %s\n' "$(node_rails "$node" "${rails[@]}")" >"$state/params.node$node"
        printf 'node%d fsbml-%s-node%d %s\n' "$node" "$name" "$node" "$(mgmt_address "$node")" >>"$state/nodes"
    done
    : >"$state/ready"
}

# network_down NAME: ends the cluster's jobs, deletes its namespaces (links and bridges go with them) and forgets it.
network_down() {
    local state namespace job pid failed=0
    state=$(cluster_state "$1")
    for job in "$state"/jobs/job.*; do
        [ -f "$job" ] || continue
        pid=${job##*.}
        # Killing unshare kills all of the job (contain.sh); a PID that another process has by now is let be.
        if [ -s "$job" ] && [ "$(process_start "$pid")" = "$(cat "$job")" ]; then
            say "ending the job that still runs (process $pid)"
            kill -KILL "$pid" || failed=1
        fi
    done
    emulator_stop "$state" || failed=1
    if [ -f "$state/namespaces" ]; then
        while read -r namespace; do
            namespace_exists "$namespace" || continue
            ip netns delete "$namespace" || failed=1
        done <"$state/namespaces"
    fi
    [ "$failed" -eq 0 ] || return 1
    rm -rf -- "$state"
}
