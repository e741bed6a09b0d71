# ./fsbml replay: compares the simulator of a cluster with a virtual one that does the same.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash disable=SC2034,SC2154 # the plan's variables are those of scripts/bench_plan.sh
for part in scripts/{openmpi,programs,bench_plan}.sh tools/cluster/{state,contain,options,emulator}.sh bench/experiment.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

cmd_replay_help() {
    cat <<'HELP'
usage: ./fsbml replay [options] [TRACE...]

Does the same traffic twice and compares how long it takes: by MPI processes with FSBML on a virtual cluster, and in the simulator
of a cluster, which gets the parameters that FSBML has measured there. Ten cases, each of another class of traffic, on three
clusters; or traces (docs/trace.md) on rails of yours. One rank a node. The last lines are the simulator's bar:
within 10 % in 9 of 10 cases.

what:
  --case NAME         only this case (repeat)
  --list              list the cases
  TRACE               this instead, on a cluster with a node for each of its ranks

where, for traces:
  --rail SPEC         rails of the virtual cluster (repeat), as with `./fsbml cluster up`; 200 and 20 Mbit/s if there are none
  --nodes N           must be the ranks of the trace

how:
  --table FILE        take the rails to be what stands here (./fsbml calibrate --table) in place of measuring them
  --launches N        jobs of each case (5); what counts is the median of their medians
  --seconds S         measure so long in each (1)
  --timeout S         end a job that takes longer (600)
  --reference         with the patched Open MPI (built first if need be: minutes) instead of the installed one
  --openmpi PREFIX    with another installed Open MPI

output:
  --json FILE         write everything (docs/replay.schema.json); - is stdout, in place of the table

The exit status is 0 if all was measured, whatever came out.
HELP
}

# replay_parse ARGUMENTS...: into the variables of cmd_replay.
replay_parse() {
    local taken
    while [ $# -gt 0 ]; do
        case "$1" in
            --case | --nodes | --table | --launches | --seconds | --json) value_of "$1" $# ;;
            --rail | --timeout | --openmpi | --reference)
                plan_option "$@"
                shift "$taken" && continue
                ;;
        esac
        case "$1" in
            --case) cases+=(--case "$2") && shift ;;
            --list) list=yes ;;
            --nodes) set_count wanted_nodes "$1" "$2" 64 && shift ;;
            --table) table=$(readlink -m -- "$2") && shift ;;
            --launches) set_count rounds "$1" "$2" 1000 && shift ;;
            --seconds)
                [[ $2 =~ ^[0-9]{1,4}(\.[0-9]{1,3})?$ ]] || die "replay: --seconds '$2' is no time such as 0.5."
                seconds=$2 && shift
                ;;
            --json) document=$2 && shift ;;
            -h | --help)
                cmd_replay_help
                exit 0
                ;;
            -*) die "replay: unknown option '$1'; './fsbml replay --help' lists them." ;;
            *) traces+=(--trace "$(readlink -m -- "$1")") ;;
        esac
        shift
    done
}

# replay_settle: checks what goes together.
replay_settle() {
    plan_check
    if [ ${#traces[@]} -gt 0 ]; then
        [ ${#cases[@]} -eq 0 ] || die "replay: a TRACE and --case exclude each other."
        [ ${#custom[@]} -gt 0 ] || custom=(200mbit 20mbit)
        [ ${#custom[@]} -ge 2 ] || die "replay: FSBML measures where nodes share at least two rails: give --rail twice."
        [[ ${custom[*]} != *,nodes=* ]] || die "replay: the simulator knows only rails that all nodes have; leave out nodes=."
    elif [ ${#custom[@]} -gt 0 ] || [ "$wanted_nodes" -gt 0 ]; then
        die "replay: --rail and --nodes are for a TRACE; the cases have their own."
    fi
    [ -z "$table" ] || [ -r "$table" ] || die "replay: there is no reading the table '$table'."
    [ -z "$document" ] || [ "$document" = - ] || check_writable "$document"
}

# replay_set NAME NODES RATE...: measures the cases of a set of rails on a cluster of its own.
replay_set() {
    local set=$1
    nodes=$2 ranks=$2
    shift 2
    rates=("$@")
    check_rails "$nodes" "${rates[@]}"
    json=$results/$set.json
    words=(--set "$set" "${cases[@]}" "${traces[@]}")
    bench_build
    programs=$(programs_build "$prefix" replay.program replay_job calibrate.program calibrate_job)
    command=("$programs/replay_job" --seconds "$seconds" --min-samples 3)
    bench_measure || return 1
    shown+=(--show "$json")
}

cmd_replay() {
    local "${plan_variables[@]}" "${plan_options[@]}"
    local cases=() traces=() list="" seconds=1 document="" results sets=() line shown=() status=0
    plan_begin replay replay replay.program
    program=replay_job elsewhere="" rounds=5
    replay_parse "$@"
    replay_settle
    [ -n "$list" ] || bench_place
    local planner
    planner=$(programs_dir "$(openmpi_prefix)")/replay.program
    programs_build "$(openmpi_prefix)" replay.program >/dev/null
    if [ -n "$list" ]; then
        "$planner" --list
        return
    fi
    line=$("$planner" --plan "${cases[@]}" "${traces[@]}") || return 1
    mapfile -t sets <<<"$line"
    if [ ${#traces[@]} -gt 0 ]; then
        nodes=${sets[0]#own }
        [ "$wanted_nodes" -eq 0 ] || [ "$wanted_nodes" -eq "$nodes" ] ||
            die "replay: the trace is of $nodes ranks, one a node, but --nodes says $wanted_nodes."
        [ "$nodes" -le 64 ] || die "replay: the trace is of $nodes ranks; a virtual cluster has 64 nodes at most."
        sets=("${sets[0]} ${custom[*]}")
    fi
    results=$(mktemp -d)
    for line in "${sets[@]}"; do
        # shellcheck disable=SC2086
        replay_set $line || { status=$? && break; }
    done
    [ "$status" -ne 0 ] || "$planner" "${shown[@]}" ${document:+--json "$document"} || status=$?
    rm -rf -- "$results"
    return "$status"
}
