# Parsing of the virtual cluster's options: everything is checked before anything is touched. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by scripts that source this
# A /24 a rail leaves room for 254; the interface names of 250 nodes and 16 rails stay within Linux' 15 characters.
FSBML_MAX_NODES=250 FSBML_MAX_RAILS=16
FSBML_MIN_KBIT=1000
FSBML_MAX_KBIT=100000000
# What the link emulator, a program of user space, can still carry frame by frame.
FSBML_MAX_EMULATED_KBIT=1000000

# check_name NAME: it becomes part of namespace names and paths.
check_name() {
    [[ $1 =~ ^[a-z0-9][a-z0-9-]{0,19}$ ]] ||
        die "cluster name '$1': use 1 to 20 lower-case letters, digits and '-', not '-' first."
}

# check_count WHAT TEXT MAX: a whole number from 1 to MAX.
check_count() {
    if ! [[ $2 =~ ^[0-9]{1,6}$ ]] || [ "$((10#$2))" -lt 1 ] || [ "$((10#$2))" -gt "$3" ]; then
        die "$1 '$2': give a whole number from 1 to $3."
    fi
}

# rate_kbit TEXT: the rate in kbit/s, or status 1 if TEXT is no rate; of an unshaped rail ('none'), more than any other's.
rate_kbit() {
    local number unit
    if [ "$1" = none ]; then
        printf '%s\n' $((FSBML_MAX_KBIT + 1))
        return
    fi
    [[ $1 =~ ^([0-9]{1,7})(kbit|mbit|gbit)$ ]] || return 1
    number=$((10#${BASH_REMATCH[1]})) unit=${BASH_REMATCH[2]}
    case "$unit" in
        kbit) printf '%s\n' "$number" ;;
        mbit) printf '%s\n' $((number * 1000)) ;;
        gbit) printf '%s\n' $((number * 1000000)) ;;
    esac
}

# A rail as `--rail` names it: key=value[,key=value...]. As it is kept and passed on: RATE[,key=value...], so that a rail with
# a rate and no more is just that. The kernel shapes rails, unless one has a key of the link emulator's: then that carries all.
#   delay=, jitter=, loss=   the emulator's, of the way from a node to another; it checks their ranges (tools/link/shape.cpp)
#   queue=                   the emulator's: bytes that wait at each of its two links
#   offload=                 the kernel's: whether a packet may be larger than a frame until it is on the wire
#   burst=, peak=            the kernel's: what passes at the peak rate, or at once, after a pause
#   nodes=                   the nodes that have this rail: 0-2 or 0+2+5-7

# check_rate WHERE RATE: dies unless a link can have it.
check_rate() {
    local kbit
    if ! kbit=$(rate_kbit "$2") || [ "$kbit" -lt "$FSBML_MIN_KBIT" ] || { [ "$kbit" -gt "$FSBML_MAX_KBIT" ] && [ "$2" != none ]; }; then
        die "$1: the rate must be a whole number with kbit, mbit or gbit, from 1mbit to 100gbit, or none (as fast as the machine is)."
    fi
}

# rail_spec SPEC: prints `--rail SPEC` as it is kept; dies on anything unknown.
rail_spec() {
    local spec=$1 item rate="" rest="" items
    IFS=, read -r -a items <<<"$spec"
    [ ${#items[@]} -gt 0 ] || die "--rail needs a value such as rate=200mbit."
    for item in "${items[@]}"; do
        case "$item" in
            rate=*)
                [ -z "$rate" ] || die "--rail '$spec': rate is given twice."
                rate=${item#rate=}
                check_rate "--rail '$spec'" "$rate"
                ;;
            peak=*)
                [[ ,$rest, != *",peak="* ]] || die "--rail '$spec': peak is given twice."
                [ "$item" != peak=none ] || die "--rail '$spec': without a peak, a burst passes at once: leave it out."
                check_rate "--rail '$spec', peak" "${item#peak=}"
                rest=$rest,$item
                ;;
            delay=* | jitter=* | loss=* | queue=* | offload=* | burst=* | nodes=*)
                [[ ,$rest, != *",${item%%=*}="* ]] || die "--rail '$spec': ${item%%=*} is given twice."
                rail_word_good "$item" || die "--rail '$spec': $item is not like $(rail_word_example "${item%%=*}")."
                rest=$rest,$item
                ;;
            *=*) die "--rail '$spec': unknown key '${item%%=*}'; known: rate, delay, jitter, loss, queue, offload, burst, peak and nodes." ;;
            *) die "--rail '$spec': '$item' is not KEY=VALUE, such as rate=200mbit." ;;
        esac
    done
    [ -n "$rate" ] || die "--rail '$spec': no rate; give one such as rate=200mbit."
    case "$rate,$rest," in
        none*,burst=* | none*,peak=*) die "--rail '$spec': a rail without a rate has neither burst nor peak." ;;
        *,peak=*,burst=* | *,burst=*,peak=*) ;;
        *,peak=*) die "--rail '$spec': peak needs burst, the bytes that pass at that rate after a pause." ;;
    esac
    printf '%s\n' "$rate$rest"
}

# rail_word_good WORD: it has the form that its key wants.
rail_word_good() {
    local number='[0-9]{1,6}(\.[0-9]{1,6})?'
    case "$1" in
        delay=* | jitter=*) [[ ${1#*=} =~ ^$number(ns|us|ms|s)$ ]] ;;
        loss=*) [[ ${1#*=} =~ ^$number%$ ]] ;;
        queue=*) [[ ${1#*=} =~ ^$number(b|kb|mb)?$ ]] ;;
        burst=*) [[ ${1#*=} =~ ^[1-9][0-9]{0,6}(b|kb|mb)$ ]] && [ "$(size_bytes "${1#*=}")" -ge 1600 ] ;;
        offload=*) [[ ${1#*=} =~ ^(on|off)$ ]] ;;
        nodes=*) [[ ${1#*=} =~ ^[0-9]{1,3}(-[0-9]{1,3})?(\+[0-9]{1,3}(-[0-9]{1,3})?)*$ ]] ;;
    esac
}

rail_word_example() {
    case "$1" in
        delay | jitter) printf '%s=100us (ns, us, ms or s)' "$1" ;;
        loss) printf 'loss=0.1%%' ;;
        queue) printf 'queue=64kb (b, kb or mb)' ;;
        burst) printf 'burst=200kb (b, kb or mb; at least a frame, 1600b)' ;;
        offload) printf 'offload=on or offload=off' ;;
        nodes) printf 'nodes=0-2 or nodes=0+2' ;;
    esac
}

# rail_value SPEC KEY: the value of a key of a kept rail, or nothing.
rail_value() {
    local item items
    IFS=, read -r -a items <<<"rate=$1"
    for item in "${items[@]}"; do [ "${item%%=*}" != "$2" ] || printf '%s\n' "${item#*=}"; done
}

# size_bytes TEXT: the bytes of such as 200kb.
size_bytes() {
    case "$1" in
        *mb) printf '%s\n' $((10#${1%mb} * 1000000)) ;;
        *kb) printf '%s\n' $((10#${1%kb} * 1000)) ;;
        *) printf '%s\n' $((10#${1%b})) ;;
    esac
}

# rail_emulated SPEC: it takes the link emulator.
rail_emulated() { [[ $1 =~ ,(delay|jitter|loss|queue)= ]]; }

# any_emulated SPEC...: one of a cluster's rails takes the link emulator, which then carries all.
any_emulated() {
    local spec
    for spec in "$@"; do
        if rail_emulated "$spec"; then return 0; fi
    done
    return 1
}

# rail_has SPEC NODE: the node has this rail.
rail_has() {
    local list range ranges
    # Asked some times for each node and rail, mostly for nothing: no process for that.
    [[ $1 == *,nodes=* ]] || return 0
    list=$(rail_value "$1" nodes)
    IFS=+ read -r -a ranges <<<"$list"
    for range in "${ranges[@]}"; do
        if [ "$2" -ge "$((10#${range%-*}))" ] && [ "$2" -le "$((10#${range#*-}))" ]; then return 0; fi
    done
    return 1
}

# check_rail_nodes SPEC NODES: the rail names only nodes below NODES, and joins at least two of them.
check_rail_nodes() {
    local list node joined=0
    list=$(rail_value "$1" nodes)
    [ -n "$list" ] || return 0
    for node in ${list//[+-]/ }; do
        [ "$((10#$node))" -lt "$2" ] || die "--rail '$1': there is no node $((10#$node)); $2 nodes are 0 to $(($2 - 1))."
    done
    for ((node = 0; node < $2; node++)); do
        if rail_has "$1" "$node"; then joined=$((joined + 1)); fi
    done
    [ "$joined" -ge 2 ] || [ "$2" -lt 2 ] || die "--rail '$1': a rail joins at least two nodes."
}

# check_rails NODES SPEC...: each is a rail of NODES nodes, and all can be carried in one way; else dies.
check_rails() {
    local spec nodes=$1
    shift
    for spec in "$@"; do check_rail_nodes "$spec" "$nodes"; done
    any_emulated "$@" || return 0
    for spec in "$@"; do
        if [[ ,$spec =~ ,(offload|burst|peak)= ]]; then
            die "--rail 'rate=$spec': ${BASH_REMATCH[1]} needs rails that the kernel shapes, and one with delay, jitter, loss or queue has the link emulator carry all."
        elif [ "$(rate_kbit "${spec%%,*}")" -gt "$FSBML_MAX_EMULATED_KBIT" ]; then
            die "--rail 'rate=$spec': with delay, jitter, loss or queue on one rail the link emulator carries all, of at most 1gbit each."
        fi
    done
}

# value_of OPTION COUNT: dies if OPTION is the last word of the command line (COUNT words are left).
value_of() { [ "$2" -ge 2 ] || die "$1 needs a value."; }
