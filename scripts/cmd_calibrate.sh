# ./fsbml calibrate: the rails' parameters, their intervals, and a table of them to keep.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash disable=SC2034,SC2154 # the plan's variables are those of scripts/bench_plan.sh
for part in scripts/{openmpi,programs,bench_plan}.sh tools/cluster/{state,contain,options,emulator}.sh bench/experiment.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

cmd_calibrate_help() {
    cat <<'HELP'
usage: ./fsbml calibrate [options] [-- MPIRUN OPTIONS]

Starts MPI, which is when FSBML measures, and shows what came out: the LogGP parameters of each rail, between what bounds they
lie, how well the model fits, what the measurement cost. Nothing is installed or changed. MPIRUN OPTIONS are such as
--mca bml_fsbml_budget 1000.

where:
  --rail SPEC         rails of a virtual cluster (repeat), as with `./fsbml cluster up`; 200 and 20 Mbit/s if there are none.
                      What they are set to then stands beside what was measured
  --nodes N           nodes of that cluster, one rank each (2)
  --hostfile FILE     the hosts in this file instead, as mpirun takes it; FSBML must be installed there, or the project's
                      folder be in the same place
  --host LIST         these hosts, e.g. --host node1,node2
  --rails LIST        of those, only these interfaces or networks, e.g. --rails eth0,eth1

what:
  --rounds N          calibrations, each in a job of its own (1); with more: medians, and how much the parameters differ
  --holdout           test the model by validation exchanges of sizes and numbers that were not measured
  --timeout S         end a job that takes longer (600)
  --reference         with the patched Open MPI (built first if need be: minutes) instead of the installed one
  --openmpi PREFIX    with another installed Open MPI

output:
  --table FILE        write the parameters for jobs to use as they are (--mca bml_fsbml_table FILE), edited or not
  --json FILE         write everything, with all samples (docs/calibrate.schema.json)
  --plots FOLDER      draw the samples and the model over the size of a message: SVG and PNG

The exit status is not 0 if a job fails, FSBML did not run in it, or a rail was not measured; the last line says why.
HELP
}

# calibrate_parse ARGUMENTS...: into the variables of cmd_calibrate.
calibrate_parse() {
    local taken
    while [ $# -gt 0 ]; do
        plan_option "$@"
        [ "$taken" -eq 0 ] || { shift "$taken" && continue; }
        case "$1" in --nodes | --host | --rounds | --table) value_of "$1" $# ;; esac
        case "$1" in
            --nodes) set_count nodes "$1" "$2" 64 && shift ;;
            --host) hosts=$2 && shift ;;
            --rounds) set_count rounds "$1" "$2" 1000 && shift ;;
            --holdout) holdout=40 ;;
            --table) table=$(readlink -m -- "$2") && shift ;;
            -h | --help)
                cmd_calibrate_help
                exit 0
                ;;
            --)
                shift
                words=("$@")
                break
                ;;
            *) die "calibrate: unknown option '$1'; './fsbml calibrate --help' lists them." ;;
        esac
        shift
    done
}

# calibrate_settle: checks what goes together, and completes the plan but for what must be built.
calibrate_settle() {
    [ -z "$hostfile" ] || [ -z "$hosts" ] || die "calibrate: --hostfile and --host exclude each other."
    plan_check
    [ -z "$table" ] || check_writable "$table"
    [ "$nodes" -ge 2 ] || die "calibrate: a rail joins at least two nodes."
    if [ -n "$hostfile$hosts" ]; then
        where=hosts
        [ ${#custom[@]} -eq 0 ] || die "calibrate: --rail makes rails of a virtual cluster; with --hostfile and --host, --rails names those that there are."
    else
        [ -z "$rails" ] || die "calibrate: --rails names the rails of --hostfile and --host; those of the virtual cluster are made by --rail."
        [ ${#custom[@]} -eq 0 ] || rates=("${custom[@]}")
        [ ${#rates[@]} -ge 2 ] || die "calibrate: FSBML measures where nodes share at least two rails, and one rail is none to choose from: give --rail twice."
        check_rails "$nodes" "${rates[@]}"
    fi
    if [ -n "$hosts" ]; then
        [[ $hosts =~ ^[[:alnum:]_.:-]+(,[[:alnum:]_.:-]+)+$ ]] || die "calibrate: --host '$hosts' is not like node1,node2: two hosts at least."
    fi
    ranks=$nodes
}

cmd_calibrate() {
    local "${plan_variables[@]}" "${plan_options[@]}" hosts="" listed="" status=0
    plan_begin calibrate calibrate calibrate.program
    program=calibrate_job elsewhere="--hostfile and --host" rates=(200mbit 20mbit)
    calibrate_parse "$@"
    calibrate_settle
    bench_place
    if [ -n "$hosts" ]; then
        # As a file, which is what launch takes.
        listed=$(mktemp)
        tr ',' '\n' <<<"$hosts" >"$listed"
        hostfile=$listed
    fi
    bench_build
    bench_measure || status=$?
    [ -z "$listed" ] || rm -f -- "$listed"
    return "$status"
}
