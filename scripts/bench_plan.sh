# From the options of `bench` and `demo` to a plan, and its run. Sourced after lib.sh, openmpi.sh and the parts of tools/cluster.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash disable=SC2034 # the plan is for scripts/measure

# The plan (scripts/measure), and what leads to it. Who makes one: `local "${plan_variables[@]}" "${plan_options[@]}"`, and plan_begin.
plan_variables=(where name nodes rates ranks rails arms rounds limit prefix components programs command below probe hostfile bars json
    plots table holdout words verify first interleaved slow_rounds short told out)
plan_options=(command_name custom reference openmpi wanted_arms wanted_nodes wanted_ranks tool elsewhere program arguments isolation)

# plan_begin COMMAND NAME TOOL: COMMAND is for messages, TOOL the program that measures.
plan_begin() {
    command_name=$1 name=$2 tool=$3
    custom=() reference="" openmpi="" wanted_arms="" wanted_nodes=0 wanted_ranks=0 arguments=() isolation=()
    where=cluster nodes=2 rates=() rails="" arms="" rounds=1 limit=600 components="" command=() below=() probe="" hostfile="" bars="" json=""
    plots="" table="" holdout=0 words=() verify=always first=() interleaved="" slow_rounds=0 short="" told=""
}

# bench_run COMMAND NAME [options] [-- ARGUMENTS]: COMMAND is bench or demo.
bench_run() {
    local "${plan_variables[@]}" "${plan_options[@]}" wanted_rounds=0 full="" more=() per_node
    plan_begin "$1" "$2" harness.program
    elsewhere="--one-host and --hostfile"
    shift 2
    bench_parse "$@"
    experiment_set "$name" "$full"
    bench_place
    [ "$command_name" != demo ] || demo_set
    bench_settle
    [ "$command_name" != demo ] || [ -n "$show_bars" ] || { bars="" && short=yes; }
    if [ "${more[*]}" = --help ] && [ "$name" != app ]; then
        bench_program_help
        return 0
    fi
    bench_build
    bench_measure
}

# set_count VARIABLE OPTION TEXT MAX: a whole number from 1 to MAX.
set_count() {
    check_count "$2" "$3" "$4"
    printf -v "$1" '%d' $((10#$3))
}

# plan_option OPTION ARGUMENTS...: one of those that bench, calibrate and replay share, into the plan's variables; sets `taken` to its
# words, 0 if it is another option.
plan_option() {
    local rate
    case "$1" in
        --rail | --openmpi | --hostfile | --rails | --timeout | --json | --plots) value_of "$1" $# && taken=2 ;;
        --reference) taken=1 ;;
        *) taken=0 ;;
    esac
    case "$1" in
        --rail)
            rate=$(rail_spec "$2") || exit 1
            custom+=("$rate")
            ;;
        --openmpi) openmpi=$2 ;;
        --reference) reference=yes ;;
        --hostfile) hostfile=$2 ;;
        --rails) rails=$2 ;;
        --timeout) set_count limit "$1" "$2" 86400 ;;
        --json) json=$(readlink -m -- "$2") ;;
        --plots) plots=$(readlink -m -- "$2") ;;
    esac
}

# plan_check: these options; completes hostfile and makes the folder for plots.
plan_check() {
    local me=$command_name
    [ -z "$reference" ] || [ -z "$openmpi" ] || die "$me: --reference and --openmpi exclude each other."
    [ -z "$openmpi" ] || openmpi_version "$openmpi" >/dev/null || die "$me: there is no Open MPI in '$openmpi'."
    [ ${#custom[@]} -le "$FSBML_MAX_RAILS" ] || die "$me: at most $FSBML_MAX_RAILS rails, not ${#custom[@]}."
    if [ -n "$hostfile" ]; then
        if [ -d "$hostfile" ] || [ ! -r "$hostfile" ]; then die "$me: there is no reading the hostfile '$hostfile'."; fi
        hostfile=$(readlink -f -- "$hostfile")
    fi
    [[ $rails =~ ^([[:alnum:]_.:/-]+(,[[:alnum:]_.:/-]+)*)?$ ]] || die "$me: --rails '$rails' is not like eth0,eth1 or 10.0.0.0/24,10.1.0.0/24."
    [ -z "$json" ] || check_writable "$json"
    if [ -n "$plots" ]; then
        need_program gnuplot gnuplot-nox "--plots"
        mkdir -p "$plots" 2>/dev/null || die "$me: cannot make the folder '$plots'."
    fi
}

# check_writable FILE: a file that can be written; it is not made.
check_writable() {
    local folder
    folder=$(dirname -- "$1")
    if [ -e "$1" ]; then [ ! -d "$1" ] && [ -w "$1" ]; else [ -d "$folder" ] && [ -w "$folder" ]; fi || die "$command_name: cannot write '$1'."
}

# bench_parse ARGUMENTS...: into the variables of bench_run.
bench_parse() {
    local taken
    while [ $# -gt 0 ]; do
        plan_option "$@"
        [ "$taken" -eq 0 ] || { shift "$taken" && continue; }
        case "$1" in --rounds | --arms | --nodes | --ranks) value_of "$1" $# ;; esac
        case "$1" in
            --rounds) set_count wanted_rounds "$1" "$2" 1000 && shift ;;
            --nodes) set_count wanted_nodes "$1" "$2" 64 && shift ;;
            --ranks) set_count wanted_ranks "$1" "$2" 1024 && shift ;;
            --arms) wanted_arms=$2 && shift ;;
            --full) full=yes ;;
            --interleaved) interleaved=yes ;;
            --one-host) where=host ;;
            -h | --help)
                "cmd_${command_name}_help"
                exit 0
                ;;
            --)
                shift
                more=("$@")
                break
                ;;
            *) die "$command_name: unknown option '$1'; './fsbml $command_name --help' lists them." ;;
        esac
        shift
    done
}

# bench_place: sets `isolation`, the options of unshare that the cluster takes. Where the kernel allows none, the experiment that
# can run without a cluster runs on one host.
bench_place() {
    local options
    [ "$where" = cluster ] && [ -z "$hostfile" ] || return 0
    if options=$(cluster_isolation); then
        read -r -a isolation <<<"$options"
        return 0
    fi
    if [ "$name${custom[*]}$wanted_arms$wanted_nodes$wanted_ranks" != onetoone00 ]; then
        die "$command_name: $(no_cluster_here).${elsewhere:+ Without a cluster there are $elsewhere.}"
    fi
    where=host
    say "$(no_cluster_here): so two networks between two nodes, which is what FSBML is for, cannot be shown here."
}

# bench_settle: checks what goes together, and completes the plan but for what must be built.
bench_settle() {
    local me=$command_name
    plan_check
    if [ "$where" = host ]; then
        [ ${#custom[@]} -eq 0 ] || die "$me: --one-host has no rails to shape; leave out --rail."
        [[ $name == onetoone || $name == app || $name == kernels || $name == p2p ]] ||
            die "$me: --one-host knows onetoone, p2p, kernels and app only."
        [ -z "$hostfile" ] || die "$me: --one-host and --hostfile exclude each other."
    fi
    if [ -n "$hostfile" ]; then
        where=hosts
        [ -z "$interleaved" ] || die "$me: --interleaved is for jobs of this host alone: they take turns by a file that they share."
        [ -n "$rails" ] || die "$me: --hostfile needs --rails: the interfaces or networks to use, e.g. --rails eth0,eth1."
        [ ${#custom[@]} -eq 0 ] || die "$me: --rail makes rails of a virtual cluster; with --hostfile, --rails names those that there are."
    elif [ -n "$rails" ]; then
        die "$me: --rails names the rails of --hostfile; those of the virtual cluster are made by --rail."
    fi
    if [ "$name" = failover ]; then
        [ "$interleaved$wanted_arms$hostfile$full$json${more[*]}$wanted_rounds$wanted_nodes$wanted_ranks$where" = 000cluster ] ||
            die "$me: failover takes --rail, --openmpi, --reference and --plots only."
        if any_emulated "${custom[@]}" || [ ${#custom[@]} -eq 1 ]; then die "$me: failover takes two rails or more that the kernel shapes: rate= only."; fi
    fi
    if [ "$name" = app ]; then
        [ -z "$interleaved" ] || die "$me: --interleaved is for the benchmarks; a program of yours knows no turns."
        [ ${#more[@]} -gt 0 ] || die "$me: say which program: ./fsbml bench app [options] -- PROGRAM ARGUMENTS"
        command -v -- "${more[0]}" >/dev/null || die "$me: there is no program '${more[0]}'."
    fi
    [ "$wanted_rounds" -eq 0 ] || rounds=$wanted_rounds
    [ "$wanted_nodes" -eq 0 ] || nodes=$wanted_nodes
    ranks=$((nodes * per_node))
    [ "$wanted_ranks" -eq 0 ] || ranks=$wanted_ranks
    # The bars are for the experiment as it is.
    [[ " $FSBML_EXPERIMENTS " != *" $name "* ]] || bars=$name
    [ -z "$wanted_arms$hostfile${more[*]}" ] && [ "$wanted_nodes$wanted_ranks" = 00 ] && [ "$where" = cluster ] || bars=""
    if [ ${#custom[@]} -gt 0 ] && [ "${custom[*]}" != "${rates[*]}" ]; then
        rates=("${custom[@]}")
        bars=""
    fi
    # An experiment may name the virtual cluster's fastest rail. Which of a user's is fastest is not known, and of rails that
    # not all nodes have, it may be one.
    [[ $where != hosts && ${rates[*]} != *,nodes=* ]] || arms=${arms//rail0/rails}
    [ -z "$wanted_arms" ] || arms=$wanted_arms
    if [ "$where" = cluster ]; then
        local rail
        check_rails "$nodes" "${rates[@]}"
        for ((rail = 0; rail < ${#rates[@]}; rail++)); do
            rails+=${rails:+,}rail$rail
        done
        arms=$(arms_in_turn "$arms" "$nodes" "${rates[@]}") || exit 1
    fi
    arguments+=("${more[@]}")
}

# need_program PROGRAM PACKAGE WHY: there it is, or it is installed now, or it is said what to do.
need_program() {
    have "$1" || need_packages "$3" "$2"
    have "$1" || die "$3 needs the program $1, which is not on the PATH; it is in the package $2."
}

# component_needed [--reference]: builds the component, unless it is there; an installed driver has only the installed one.
component_needed() {
    local prefix
    if ! is_installed; then
        "$BASH" "$FSBML_TOP/fsbml" build "$@"
        return
    fi
    [ $# -eq 0 ] || die "the patched Open MPI is built from FSBML's sources, and this driver is an installed one without them."
    openmpi_prefix >/dev/null || need_packages "the benchmarks" openmpi-bin libopenmpi-dev
    prefix=$(openmpi_prefix) || die "there is no Open MPI: no mpicc on the PATH ($PATH)."
    component_dir "$prefix" >/dev/null ||
        die "the component is not installed in the Open MPI in $prefix; name the one that it was installed for with --openmpi PREFIX."
}

# bench_build: builds the component and the programs, if need be.
bench_build() {
    local targets=("$tool")
    PATH=$PATH:/usr/sbin:/sbin
    [ "$where" != host ] || say "measuring two processes on this host: shared memory, and TCP over loopback. No network helps shared memory, so FSBML uses it alone."
    bench_packages
    if [ "$name" = app ]; then targets+=(libfsbml_probe.so); else targets+=("$program"); fi
    [ "$name" != p2p ] || targets+=(btlbench)
    if [ -n "$reference" ]; then
        component_needed --reference
        prefix=$(reference_prefix)
    else
        [ -z "$openmpi" ] || export FSBML_OPENMPI=$openmpi
        bench_build_stock
        prefix=$(openmpi_prefix)
        components=$(component_dir "$prefix")
    fi
    if [[ ,$arms, == *,ucx[,:]* ]] && ! grep -q '^mca:pml:ucx:' <<<"$("$(openmpi_tool "$prefix" ompi_info)" --parsable 2>/dev/null)"; then
        die "$command_name: the Open MPI in $prefix has no UCX, so there is no arm ucx."
    fi
    programs=$(programs_build "$prefix" "${targets[@]}")
    if [ "$where" = cluster ] && any_emulated "${rates[@]}"; then emulator_build; fi
    bench_command
}

# bench_command: sets what is launched, of what is built.
bench_command() {
    if [ "$name" = app ]; then
        probe=$programs/libfsbml_probe.so
        command=("${arguments[@]}")
    else
        command=("$programs/$program" "${arguments[@]}")
        # The layer below, for the share of its performance that reaches MPI.
        [ "$name" != p2p ] || below=("$programs/btlbench" --seconds 0.02 --min-samples 2 --max-samples 500 --sizes "1,64,1024,4096")
    fi
}

# bench_packages: all that the build needs, in one go, so that a user who may not install hears of all of it at once.
bench_packages() {
    local packages=("${FSBML_PROGRAMS_PACKAGES[@]}")
    [ -n "$reference$openmpi" ] || openmpi_prefix >/dev/null || packages+=(openmpi-bin libopenmpi-dev)
    is_installed || have autoconf automake libtoolize || packages+=(autoconf automake libtool)
    [ "$where" != cluster ] || packages+=(iproute2 ethtool)
    need_packages "$command_name" "${packages[@]}"
}

# bench_build_stock: the component, and beside it the programs: autoreconf and configure keep one processor busy only.
bench_build_stock() {
    local beside="" said=$FSBML_BUILD/log/programs.said early
    if early=$(openmpi_prefix); then
        mkdir -p "$FSBML_BUILD/log"
        # What this says is shown later, so that the lines of two compilations do not mix.
        programs_build "$early" "${targets[@]}" >/dev/null 2>"$said" &
        beside=$!
    fi
    if ! (component_needed); then
        # Nothing goes on behind the error.
        [ -z "$beside" ] || wait "$beside" || :
        exit 1
    fi
    [ -n "$beside" ] || return 0
    if ! wait "$beside"; then
        cat -- "$said" >&2
        exit 1
    fi
    cat -- "$said" >&2
}

# bench_program_help: what the benchmark's program takes, in its own words.
bench_program_help() {
    local dir
    component_needed
    dir=$(programs_build "$(openmpi_prefix)" "$program")
    # One process by itself needs no network.
    OMPI_MCA_btl=self OMPI_MCA_pml=ob1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$dir/$program" --help
}

# bench_measure: runs the plan.
bench_measure() {
    local status=0
    mkdir -p "$FSBML_BUILD/demo"
    out=$(mktemp -d "$FSBML_BUILD/demo/$name.XXXXXX")
    declare -p "${plan_variables[@]}" >"$out/plan"
    if [ "$where" = cluster ]; then
        contained "$out/process" "${isolation[@]}" -- "$BASH" "$FSBML_TOP/scripts/measure" "$out/plan" || status=$?
    else
        passing_signals "$BASH" "$FSBML_TOP/scripts/measure" "$out/plan" || status=$?
    fi
    # What a failed run has left is what explains it.
    [ "$status" -ne 0 ] || rm -rf -- "$out"
    return "$status"
}
