# ./fsbml cluster: a virtual cluster of network namespaces on this machine.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"
# shellcheck source=tools/cluster/state.sh
. "$FSBML_TOP/tools/cluster/state.sh"
# shellcheck source=tools/cluster/contain.sh
. "$FSBML_TOP/tools/cluster/contain.sh"
# shellcheck source=tools/cluster/options.sh
. "$FSBML_TOP/tools/cluster/options.sh"
# shellcheck source=tools/cluster/emulator.sh
. "$FSBML_TOP/tools/cluster/emulator.sh"
# shellcheck source=tools/cluster/network.sh
. "$FSBML_TOP/tools/cluster/network.sh"
# shellcheck source=tools/cluster/job.sh
. "$FSBML_TOP/tools/cluster/job.sh"

cmd_cluster_help() {
    cat <<'EOF'
usage: ./fsbml cluster up [--nodes N] [--rail rate=RATE[,KEY=VALUE]...]... [--name NAME] [--replace]
       ./fsbml cluster run [--name NAME] [--reference | --openmpi PREFIX] [-n RANKS] [--busy N] -- [mpirun options] PROGRAM [ARGS]
       ./fsbml cluster set [--name NAME] --node I --rail R WORD...
       ./fsbml cluster status [--name NAME]
       ./fsbml cluster down [--name NAME]

A virtual cluster: nodes are network namespaces of this machine with host names node0, node1, ..., joined by one shaped
network a rail (interfaces rail0, rail1, ...) and one unshaped for mpirun and its daemons (mgmt0). Needs root.

up      --nodes N         number of nodes, 1 to 250 (2)
        --rail rate=RATE  adds a rail; RATE is a whole number with kbit, mbit or gbit, from 1mbit to 100gbit, or none: as fast
                          as the machine is (two rails: 200mbit and 20mbit)
          offload=on      packets may be larger than a frame until they are on the wire, as network cards have it (off)
          burst=BYTES     pass at once after a pause, such as 200kb (3100 bytes, two frames; above 1gbit 200 us' worth; with
                          offload=on at least 70 kB)
          peak=RATE       ... or at this rate: burst=20mb,peak=5gbit is a cloud's shaper
          delay=TIME      one-way, from node to node, beside the time on the wire: 100us, 2ms
          jitter=TIME     delay plus or minus up to that much
          loss=SHARE      of the frames, such as 0.1%
          queue=BYTES     that wait at a link before frames are dropped, such as 64kb (400kb)
          nodes=LIST      the nodes that have this rail, such as 0-2 or 0+2+5-7 (all)
                          The kernel shapes rails, unless one has any of delay, jitter, loss or queue (delay=0us will do):
                          then FSBML's link emulator carries all, frame by frame, of at most 1gbit and with no offload,
                          burst or peak
        --replace         takes a cluster of that name down first
run     runs mpirun on node0 with the host list, launch agent, networks and component path set. What follows -- is
        mpirun's own command line; its options override what is set (e.g. --mca btl_tcp_if_include rail0), and so do
        OMPI_MCA_* variables of the environment. FSBML is used with --mca bml fsbml. The exit status is mpirun's.
        Every process of the job ends with the command.
        -n RANKS          number of ranks, dealt round robin over the nodes (one a node)
        --busy N          with N other programs that compute meanwhile
        --reference       the patched Open MPI of `./fsbml build --reference`
        --openmpi PREFIX  another installed Open MPI
        --system NAME     the Open MPI of a Debian release (debian12, debian13, sid; see './fsbml system --help')
set     changes the link of one node to one rail, at once, also while a job runs. WORD is rate=, delay=, jitter=, loss=,
        queue=, down (the cable is out) or up; rails that the kernel shapes take rate=, down and up. A way leads over the
        links of both nodes, so each counts half: from a node with delay=2ms to one with delay=0us it takes 1 ms.
        Rails that the kernel shapes also take faults, which stay until `up` (address= until the next one):
        dead              no frame passes, though the cable is in
        deaf              no frame gets to the node; what it sends passes
        loop              what the node sends comes back to it, and gets to no other node
        mtu=BYTES         larger frames vanish at the switch's port
        address=IP/BITS   the node has this address on the rail in place of its own
        --node I          0 is node0
        --rail R          0 is rail0
status  prints the nodes, and the rails with subnet and rate
down    takes the cluster away, with the jobs that still run on it

--name NAME   for more than one cluster at a time (default)
EOF
}

cmd_cluster() {
    local action=${1:-}
    [ -n "$action" ] || die "cluster: say what to do: up, run, set, status or down; './fsbml cluster --help' explains."
    shift
    PATH=$PATH:/usr/sbin:/sbin
    case "$action" in
        up | run | set | status | down) ;;
        *) die "cluster: unknown action '$action'; there are up, run, set, status and down." ;;
    esac
    case "${1:-}" in
        -h | --help)
            cmd_cluster_help
            return 0
            ;;
    esac
    "cluster_$action" "$@"
}

# cluster_only_name ACTION OPTIONS...: for actions that take nothing but --name; prints the name.
cluster_only_name() {
    local action=$1 name=default
    shift
    while [ $# -gt 0 ]; do
        case "$1" in
            --name)
                value_of "$1" $#
                name=$2
                shift
                ;;
            *) die "cluster $action: unknown option '$1'." ;;
        esac
        shift
    done
    check_name "$name"
    printf '%s\n' "$name"
}

cluster_up() {
    local nodes=2 name=default replace="" rates=() rate state
    while [ $# -gt 0 ]; do
        case "$1" in
            --nodes)
                value_of "$1" $#
                check_count "--nodes" "$2" "$FSBML_MAX_NODES"
                nodes=$((10#$2))
                shift
                ;;
            --rail)
                value_of "$1" $#
                rate=$(rail_spec "$2") || exit 1
                rates+=("$rate")
                shift
                ;;
            --name)
                value_of "$1" $#
                check_name "$2"
                name=$2
                shift
                ;;
            --replace) replace=yes ;;
            *) die "cluster up: unknown option '$1'." ;;
        esac
        shift
    done
    [ ${#rates[@]} -gt 0 ] || rates=(200mbit 20mbit)
    [ ${#rates[@]} -le "$FSBML_MAX_RAILS" ] || die "--rail: at most $FSBML_MAX_RAILS rails, not ${#rates[@]}."
    is_root || die "cluster up needs root, for network namespaces that outlive the command; './fsbml demo' works without."
    [ "$(cluster_isolation)" = --net ] || die "cluster up: $(no_cluster_here). Run it on a machine or in a virtual machine of your own, or in a container with --privileged."
    check_rails "$nodes" "${rates[@]}"
    need_packages "the virtual cluster" iproute2 ethtool
    if any_emulated "${rates[@]}"; then emulator_build; fi
    state=$(cluster_state "$name")
    if [ -n "$replace" ]; then
        network_down "$name" || die "could not take cluster '$name' down."
    elif cluster_is_up "$name"; then
        die "cluster '$name' is up already; take it down first, or say --replace, or choose another --name."
    elif [ -f "$state/ready" ]; then
        network_down "$name" || die "could not clear what is left of cluster '$name'."
    fi
    mkdir -p "$(dirname -- "$state")"
    # mkdir is the lock against a second `up` at the same moment.
    mkdir -- "$state" 2>/dev/null ||
        die "cluster '$name' is being made by another command (or that was killed: './fsbml cluster down --name $name' clears it)."
    # shellcheck disable=SC2064
    trap "network_down $name; exit 1" INT TERM HUP
    if ! network_up "$name" "$nodes" "${rates[@]}"; then
        network_down "$name" || say "something of cluster '$name' is left; see $state"
        die "could not make cluster '$name'; nothing of it is left."
    fi
    trap - INT TERM HUP
    say "cluster '$name' is up: $nodes nodes, rails ${rates[*]}"
}

cluster_set() {
    local name=default node="" rail="" words=() spec state
    while [ $# -gt 0 ]; do
        case "$1" in
            --name | --node | --rail)
                value_of "$1" $#
                printf -v "${1#--}" %s "$2"
                shift
                ;;
            -*) die "cluster set: unknown option '$1'." ;;
            up | down | dead | deaf | loop | mtu=* | address=*) words+=("$1") ;;
            rate=* | delay=* | jitter=* | loss=* | queue=*) words+=("$1") ;;
            *) die "cluster set: '$1' is none of rate=, delay=, jitter=, loss=, queue=, down and up." ;;
        esac
        shift
    done
    check_name "$name"
    if ! [[ $node =~ ^[0-9]{1,3}$ && $rail =~ ^[0-9]{1,2}$ ]]; then
        die "cluster set: say which link, as numbers: --node I --rail R."
    fi
    node=$((10#$node)) rail=$((10#$rail))
    [ ${#words[@]} -gt 0 ] || die "cluster set: nothing to set; give words such as rate=5mbit, down or up."
    is_root || die "cluster set needs root, as the cluster does."
    cluster_must_be_up "$name"
    state=$(cluster_state "$name")
    spec=$(awk -v rail="rail$rail" '$1 == rail { print $3 }' "$state/rails")
    [ -n "$spec" ] || die "cluster '$name' has no rail $rail."
    [ "$node" -lt "$(node_count "$state")" ] || die "cluster '$name' has no node $node."
    rail_has "$spec" "$node" || die "node $node does not have rail $rail (nodes=$(rail_value "$spec" nodes))."
    if [ -f "$state/link.pid" ]; then
        case " ${words[*]}" in
            *' dead'* | *' deaf'* | *' loop'* | *' mtu='* | *' address='*) die "cluster set: dead, deaf, loop, mtu= and address= are for rails that the kernel shapes." ;;
        esac
        emulator_runs "$state" || die "the link emulator of cluster '$name' has ended; take the cluster down and up again."
        emulator_tell "$state" set "n${node}r$rail" "${words[@]}" || die "cluster set: nothing is changed."
    else
        plain_set "fsbml-$name-node$node" "fsbml-$name-net" "$node" "$rail" "$spec" "${words[@]}"
    fi
}

cluster_status() {
    local name state namespace node address rail subnet rate
    name=$(cluster_only_name status "$@") || exit 1
    cluster_must_be_up "$name"
    state=$(cluster_state "$name")
    printf 'cluster %s\n\n%-10s %-28s %s\n' "$name" node namespace management
    while read -r node namespace address; do
        printf '%-10s %-28s %s\n' "$node" "$namespace" "$address"
    done <"$state/nodes"
    printf '\n%-10s %-28s %s\n' rail subnet rate
    while read -r rail subnet rate; do
        printf '%-10s %-28s %s\n' "$rail" "$subnet" "$rate"
    done <"$state/rails"
}

cluster_down() {
    local name
    name=$(cluster_only_name down "$@") || exit 1
    [ -d "$(cluster_state "$name")" ] || die "there is no cluster '$name'."
    is_root || die "cluster down needs root."
    network_down "$name" || die "could not take all of cluster '$name' down; $(cluster_state "$name")/namespaces lists what it had."
    say "cluster '$name' is down"
}

cluster_run() {
    local name=default reference="" prefix="" ranks="" busy=0 state version components="" mpirun
    while [ $# -gt 0 ]; do
        case "$1" in
            --name)
                value_of "$1" $#
                check_name "$2"
                name=$2
                shift
                ;;
            -n)
                value_of "$1" $#
                check_count "-n" "$2" 10000
                ranks=$((10#$2))
                shift
                ;;
            --busy)
                value_of "$1" $#
                check_count "--busy" "$2" 1024
                busy=$((10#$2))
                shift
                ;;
            --reference) reference=yes ;;
            --openmpi)
                value_of "$1" $#
                prefix=$2
                shift
                ;;
            --) break ;;
            *) die "cluster run: unknown option '$1'; mpirun's own options and the program come after '--'." ;;
        esac
        shift
    done
    [ $# -gt 1 ] || die "cluster run: no program; say: ./fsbml cluster run -- [mpirun options] PROGRAM [ARGS]"
    shift
    [ -z "$reference" ] || [ -z "$prefix" ] || die "cluster run: --reference and --openmpi exclude each other."
    is_root || die "cluster run needs root, as the cluster does; './fsbml demo' works without."
    cluster_must_be_up "$name"
    state=$(cluster_state "$name")
    if [ -n "$reference" ]; then
        prefix=$(reference_prefix)
        [ -n "$prefix" ] || die "the reference Open MPI has not been built; './fsbml build --reference' does that."
    elif [ -z "$prefix" ]; then
        prefix=$(openmpi_prefix) || die "there is no Open MPI on this machine; './fsbml build' installs Debian's."
    fi
    version=$(openmpi_version "$prefix") || die "'$prefix' holds no Open MPI (no bin/mpicc or bin/ompi_info that says so)."
    mpirun=$(openmpi_tool "$prefix" mpirun) || die "the Open MPI in '$prefix' has no mpirun."
    # The reference has the component inside; another Open MPI finds it where the stock build left it, if there is one.
    [ -n "$reference" ] || components=$(component_dir "$prefix") || components=""
    job_environment "$version" "$state" /dev/shm/job "$components" "${ranks:-$(node_count "$state")}"
    FSBML_BUSY=$busy job_run "$state" "${ranks:-$(node_count "$state")}" -- "$mpirun" "$@"
}
