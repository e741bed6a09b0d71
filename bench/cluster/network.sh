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
# All links are born inside the namespaces, so neither names nor addresses ever touch the host's own network.

# The bucket holds two frames: more would let bursts pass above the rate; the queue is bounded as a switch's is.
FSBML_BURST=3100
FSBML_QUEUE=400000

mgmt_address() { printf '10.70.0.%d\n' $(($1 + 1)); }
rail_address() { printf '10.71.%d.%d\n' "$1" $(($2 + 1)); }

# namespaces_possible: true if this process may make network namespaces and mount them.
namespaces_possible() { unshare --net --mount true 2>/dev/null; }

# add_namespace STATE NAMESPACE: noted before it is made, so that no failure in between can leave it behind unknown.
add_namespace() {
    if namespace_exists "$2"; then
        say "there is a network namespace '$2' already, which this cluster did not make; choose another --name."
        return 1
    fi
    printf '%s\n' "$2" >>"$1/namespaces"
    ip netns add "$2" && ip -n "$2" link set lo up
}

# link_batch NODE_INDEX NET_NAMESPACE RAILS: `ip -batch` lines that give one node its links; run in the node's namespace.
link_batch() {
    local index=$1 net=$2 rails=$3 rail
    printf 'link add mgmt0 type veth peer name n%dm netns %s\n' "$index" "$net"
    printf 'address add %s/24 dev mgmt0\n' "$(mgmt_address "$index")"
    # No IPv6 link-local address: its router and neighbour solicitations would be traffic on the rails.
    printf 'link set mgmt0 addrgenmode none up\n'
    for ((rail = 0; rail < rails; rail++)); do
        printf 'link add rail%d type veth peer name n%dr%d netns %s\n' "$rail" "$index" "$rail" "$net"
        printf 'address add %s/24 dev rail%d\n' "$(rail_address "$rail" "$index")" "$rail"
        printf 'link set rail%d addrgenmode none up\n' "$rail"
    done
}

# port_batch NODE_INDEX RAILS: the other ends, in the bridges' namespace.
port_batch() {
    local index=$1 rails=$2 rail
    printf 'link set n%dm master mgmt addrgenmode none up\n' "$index"
    for ((rail = 0; rail < rails; rail++)); do
        printf 'link set n%dr%d master rail%d addrgenmode none up\n' "$index" "$rail" "$rail"
    done
}

# shape NAMESPACE INTERFACE RATE: segments no larger than a frame, so that the bucket counts what a wire would carry.
shape() {
    nsenter --net="/run/netns/$1" ethtool -K "$2" tso off gso off gro off >/dev/null &&
        tc -n "$1" qdisc add dev "$2" root tbf rate "$3" burst "$FSBML_BURST" limit "$FSBML_QUEUE"
}

# network_up NAME NODES RATE...: makes it all; on the first failure returns 1 and leaves the clearing up to network_down.
network_up() {
    local name=$1 nodes=$2 state net node rail rates
    shift 2
    rates=("$@")
    state=$(cluster_state "$name")
    net=fsbml-$name-net
    printf '127.0.0.1 localhost\n' >"$state/hosts"
    add_namespace "$state" "$net" || return 1
    {
        printf 'link add mgmt type bridge forward_delay 0 mcast_snooping 0\nlink set mgmt addrgenmode none up\n'
        for ((rail = 0; rail < ${#rates[@]}; rail++)); do
            printf 'link add rail%d type bridge forward_delay 0 mcast_snooping 0\nlink set rail%d addrgenmode none up\n' "$rail" "$rail"
            printf 'rail%d 10.71.%d.0/24 %s\n' "$rail" "$rail" "${rates[$rail]}" >>"$state/rails"
        done
    } | ip -n "$net" -batch - || return 1
    for ((node = 0; node < nodes; node++)); do
        add_namespace "$state" "fsbml-$name-node$node" || return 1
        link_batch "$node" "$net" "${#rates[@]}" | ip -n "fsbml-$name-node$node" -batch - || return 1
        port_batch "$node" "${#rates[@]}" | ip -n "$net" -batch - || return 1
        for ((rail = 0; rail < ${#rates[@]}; rail++)); do
            shape "fsbml-$name-node$node" "rail$rail" "${rates[$rail]}" || return 1
            shape "$net" "n${node}r$rail" "${rates[$rail]}" || return 1
        done
        printf '%s node%d\n' "$(mgmt_address "$node")" "$node" >>"$state/hosts"
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
    if [ -f "$state/namespaces" ]; then
        while read -r namespace; do
            namespace_exists "$namespace" || continue
            ip netns delete "$namespace" || failed=1
        done <"$state/namespaces"
    fi
    [ "$failed" -eq 0 ] || return 1
    rm -rf -- "$state"
}
