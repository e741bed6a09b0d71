# ./fsbml rails: which networks nodes share, and which of them FSBML would use.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# shellcheck source=scripts/simulator.sh
. "$FSBML_TOP/scripts/simulator.sh"

cmd_rails_help() {
    cat <<'HELP'
usage: ./fsbml rails [--host LIST | --hostfile FILE] [--table FILE]

Says which networks this node has, or these nodes share: device, NUMA node, MTU, speed, and what an earlier job has measured; which
of them FSBML would use, and why not the others; and by which rails messages of 64 B to 1 MiB would go. Starts no MPI job, and
changes nothing.

  --host LIST        these nodes, as mpirun takes them: n1,n2 (each is asked by ssh, without a password prompt)
  --hostfile FILE    those of a host file: a name a line; what follows it, and what follows a #, is not read
  --table FILE       the rails' parameters, as `./fsbml calibrate --table` writes them (default: what jobs with
                     --mca bml_fsbml_cache write have kept)
HELP
}

# rails_ask HOST: what it says of its interfaces, within 20 s.
rails_ask() {
    local host=$1
    if [ "$host" = "$(uname -n)" ] || [ "$host" = localhost ]; then
        sh "$FSBML_TOP/tools/rails/look.sh"
    else
        timeout 20 ssh -o BatchMode=yes -o ConnectTimeout=10 -- "$host" sh -s <"$FSBML_TOP/tools/rails/look.sh"
    fi
}

cmd_rails() {
    local hosts=() host file="" table=() scratch pids=() failed="" program
    local cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/fsbml
    while [ $# -gt 0 ]; do
        case "$1" in
            --host | --hostfile | --table)
                [ $# -ge 2 ] || die "rails: $1 needs a value; './fsbml rails --help' explains it."
                case "$1" in
                    --host) IFS=, read -r -a hosts <<<"$2" ;;
                    --hostfile) file=$2 ;;
                    *) table=(--table "$2") ;;
                esac
                shift
                ;;
            *) die "rails: unknown option '$1'; './fsbml rails --help' lists them." ;;
        esac
        shift
    done
    if [ -n "$file" ]; then
        [ ${#hosts[@]} -eq 0 ] || die "rails: --host and --hostfile exclude each other."
        [ -r "$file" ] || die "rails: '$file' cannot be read."
        mapfile -t hosts < <(sed -E 's/#.*//; s/^[[:space:]]+//; s/[[:space:]].*//; /^$/d' "$file")
        [ ${#hosts[@]} -gt 0 ] || die "rails: '$file' names no node."
    fi
    [ ${#hosts[@]} -gt 0 ] || hosts=("$(uname -n)")
    # mpirun takes n1:4, too, and a node twice.
    mapfile -t hosts < <(printf '%s\n' "${hosts[@]%%:*}" | awk '!seen[$0]++')
    for host in "${hosts[@]}"; do
        [[ $host =~ ^[A-Za-z0-9][A-Za-z0-9._@-]*$ ]] || die "rails: '$host' is no node's name."
    done
    program_build rails.program "./fsbml rails"
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/fsbml-rails.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf -- '$scratch'" EXIT
    for host in "${hosts[@]}"; do
        rails_ask "$host" >"$scratch/$host.out" 2>"$scratch/$host.err" &
        pids+=($!)
    done
    for host in "${hosts[@]}"; do
        if ! wait "${pids[0]}"; then failed+="${failed:+; }$host: $(grep . "$scratch/$host.err" | tail -n 1 || echo 'no answer within 20 s')"; fi
        pids=("${pids[@]:1}")
        cat "$scratch/$host.out" >>"$scratch/nodes"
    done
    [ -z "$failed" ] || die "rails: not all nodes have answered: $failed"
    "$program" "$scratch/nodes" --cache "$cache" "${table[@]}"
}
