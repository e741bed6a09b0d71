# ./fsbml demo: builds what is missing, measures on a virtual cluster, prints what FSBML gains.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
for part in scripts/openmpi.sh bench/cluster/{state,contain,options,emulator,programs,experiment}.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

cmd_demo_help() {
    cat <<'HELP'
usage: ./fsbml demo [options]

Makes a virtual cluster of two nodes joined by two unlike rails, measures each rail alone, Open MPI's own r2 on all rails and
FSBML on all rails, in turns, and prints the times, the rails as FSBML measured them, and the outcome in a sentence.
Builds the component first if need be. Takes about two minutes; a first table is there after the first round.

  --experiment NAME   onetoone      N messages out, N back, 200 and 20 Mbit/s (the default; thesis, 5.8.1)
                      equal         the same on 100 and 100 Mbit/s
                      single        the same on one rail: what FSBML costs where it cannot help
                      collectives   barrier, allreduce, alltoall of 4 nodes, 200 and 20 Mbit/s
  --rail rate=RATE    other rails than the experiment's (repeat; no bars then), e.g. --rail rate=400mbit --rail rate=100mbit
  --reference         with the patched Open MPI (built first if need be: minutes) instead of the installed one
  --openmpi PREFIX    with another installed Open MPI
  --rounds K          launches of every arm (5; single 15, collectives 21)
  --full              all powers of two, 15 rounds: about ten minutes
  --json FILE         write everything, with all samples
  --one-host          no cluster: two processes over shared memory and TCP. That is also what happens where the kernel lets
                      the demo make no namespaces

Root or not: the cluster lives in namespaces of the demo's own, and nothing is left of it afterwards.
HELP
}

cmd_demo() {
    local experiment=onetoone custom=() rate reference="" openmpi="" wanted_rounds=0 full="" json="" one_host=""
    while [ $# -gt 0 ]; do
        case "$1" in
            --experiment | --rail | --openmpi | --rounds | --json) value_of "$1" $# ;;
        esac
        case "$1" in
            --experiment)
                [[ " $FSBML_EXPERIMENTS " == *" $2 "* ]] || die "demo: there is no experiment '$2'; there are: $FSBML_EXPERIMENTS."
                experiment=$2
                shift
                ;;
            --rail)
                rate=$(rail_spec "$2") || exit 1
                custom+=("$rate")
                shift
                ;;
            --openmpi)
                openmpi=$2
                shift
                ;;
            --rounds)
                check_count "--rounds" "$2" 1000
                wanted_rounds=$((10#$2))
                shift
                ;;
            --json)
                json=$(readlink -m -- "$2")
                shift
                ;;
            --reference) reference=yes ;;
            --full) full=yes ;;
            --one-host) one_host=yes ;;
            *) die "demo: unknown option '$1'; './fsbml demo --help' lists them." ;;
        esac
        shift
    done
    [ -z "$reference" ] || [ -z "$openmpi" ] || die "demo: --reference and --openmpi exclude each other."
    [ ${#custom[@]} -le "$FSBML_MAX_RAILS" ] || die "demo: at most $FSBML_MAX_RAILS rails, not ${#custom[@]}."
    [ -z "$one_host" ] || [ ${#custom[@]} -eq 0 ] || die "demo: --one-host has no rails to shape; leave out --rail."
    [ -z "$one_host" ] || [ "$experiment" = onetoone ] || die "demo: --one-host knows the experiment onetoone only."
    if [ -n "$json" ] && ! { [ -d "$(dirname -- "$json")" ] && : 2>/dev/null >>"$json"; }; then
        die "demo: cannot write '$json'."
    fi

    PATH=$PATH:/usr/sbin:/sbin
    local isolation=()
    if [ -z "$one_host" ] && ! demo_isolation; then
        [ "$experiment${custom[*]}" = onetoone ] ||
            die "demo: this kernel lets the demo make no namespaces, and without them there is only the experiment onetoone on one host."
        one_host=yes
        say "this kernel lets the demo make no namespaces, so it cannot make a cluster."
    fi
    [ -z "$one_host" ] || say "measuring on one host: shared memory and TCP over loopback are the two unlike rails."
    [ -n "$one_host" ] || need_packages "the virtual cluster" iproute2 ethtool
    local prefix components=""
    demo_build

    # shellcheck disable=SC2034  # set by experiment_set; only the rates matter here
    local nodes rates program arguments rounds
    local bars=yes programs out status=0
    experiment_set "$experiment" "$full"
    if [ ${#custom[@]} -gt 0 ] && [ "${custom[*]}" != "${rates[*]}" ]; then
        rates=("${custom[@]}")
        bars=""
    fi
    programs=$(programs_build "$prefix")
    if [ -z "$one_host" ] && any_emulated "${rates[@]}"; then emulator_build; fi
    mkdir -p "$FSBML_BUILD/demo"
    out=$(mktemp -d "$FSBML_BUILD/demo/$experiment.XXXXXX")
    local measure=("$experiment" "$full" "$wanted_rounds" "$prefix" "$components" "$programs" "$out" "$json")
    if [ -n "$one_host" ]; then
        "$BASH" "$FSBML_TOP/bench/cluster/measure" --one-host "${measure[@]}" "" "${rates[@]}" || status=$?
    else
        contained "$out/process" "${isolation[@]}" -- "$BASH" "$FSBML_TOP/bench/cluster/measure" "${measure[@]}" "$bars" "${rates[@]}" || status=$?
    fi
    # What a failed run has left is what explains it.
    [ "$status" -ne 0 ] || rm -rf -- "$out"
    return "$status"
}

# demo_isolation: sets `isolation` to the options of unshare that the demo's namespaces take here; 1 if none do.
demo_isolation() {
    for isolation in "--net" "--user --map-root-user --net"; do
        read -r -a isolation <<<"${isolation[0]}"
        # The mounts are tried too: a container may allow namespaces and forbid them.
        if unshare "${isolation[@]}" --pid --fork --kill-child=KILL --mount /bin/sh -c \
            'mount -t proc proc /proc && mount -t tmpfs tmpfs /run' 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

# demo_build: sets `prefix` to the Open MPI to use and `components` to the folder of its component, built now if need be.
demo_build() {
    if [ -n "$reference" ]; then
        "$BASH" "$FSBML_TOP/fsbml" build --reference
        prefix=$(reference_prefix)
        return 0
    fi
    [ -z "$openmpi" ] || export FSBML_OPENMPI=$openmpi
    "$BASH" "$FSBML_TOP/fsbml" build
    prefix=$(openmpi_prefix)
    components=$(component_dir "$prefix")
}
