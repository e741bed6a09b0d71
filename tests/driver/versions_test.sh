#!/usr/bin/env bash
# A component in an Open MPI of another version than it was built for: it hands the job to r2 and says so, and FSBML's help texts in
# each version. Jobs of two ranks on this host, in the Open MPI of this machine and in those of two systems; each verifies its data.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, for the systems. Prints TAP. Half a minute, beside the builds of the component.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh scripts/system.sh scripts/stock.sh tools/cluster/job.sh

own_folder
mkdir "$scratch/empty"
SYSTEMS=(here debian13 sid)

# inside SYSTEM COMMAND...
inside() {
    if [ "$1" = here ]; then "${@:2}"; else fsbml system run "$@"; fi
}

# A component's file name says nothing of its Open MPI: each gets a folder of its own.
declare -A release=()
gather() {
    local system folder
    for system in "${SYSTEMS[@]}"; do
        # shellcheck disable=SC2016 # expanded there
        release[$system]=$(inside "$system" "$BASH" -c '. "$0"/scripts/lib.sh && . "$0"/scripts/openmpi.sh && openmpi_version "$(openmpi_prefix)"' "$FSBML_TOP") || return 1
        # shellcheck disable=SC2016
        folder=$(inside "$system" "$BASH" -c '"$0/fsbml" build >/dev/null 2>&1 || exit 1
            . "$0"/scripts/lib.sh && . "$0"/scripts/openmpi.sh && . "$0"/scripts/stock.sh && component_dir "$(openmpi_prefix)"' "$FSBML_TOP") || return 1
        mkdir "$scratch/of-$system"
        cp "$folder"/* "$scratch/of-$system/"
        inside "$system" mpicc -O1 -o "$scratch/suite-$system" "$FSBML_TOP"/tests/mpi/{suite,check,order}.c || return 1
    done
}

# What runs in a system: the environment of a job on this host, and the job.
cat >"$scratch/job" <<'JOB'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mca_base_component_path=$1:SYS_DEFAULT:USER_DEFAULT PMIX_MCA_mca_base_component_path=$2
shift 2
timeout 60 mpirun --host localhost:2 -n 2 --mca pml ob1 --mca btl_tcp_if_include lo "$@"
JOB

# job SYSTEM OF ARGUMENTS...: in that system, with the component of OF.
job() {
    local status=0
    inside "$1" "$BASH" "$scratch/job" "$scratch/of-$2" "$scratch/empty" "${@:3}" "$scratch/suite-$1" "order 1" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    return "$status"
}

not() { ! "$@"; }

# Why a program of a newer C library does not load: the versions of its symbols.
needs_newer_libc() { # SYSTEM OF
    ! grep -q "version .GLIBC_[0-9.]*' not found" <<<"$(inside "$1" ldd -r "$scratch/of-$2/mca_bml_fsbml.so" 2>&1)"
}

# explained SYSTEM OF PATTERN ARGUMENTS...: the job is refused, with these words. mpirun of 4.1 loses some of what a process says
# while it ends.
explained() {
    local system=$1 of=$2 pattern=$3
    shift 3
    while :; do
        ! job "$system" "$of" "$@" || return 1
        ! said "$pattern" || return 0
        again "$system: $pattern" "the text was lost" 2 || return 1
    done
}

own_component() {
    ok "$1: its own component is used" job "$1" "$1" --mca bml fsbml --mca bml_fsbml_display 1
    ok "... and says for which Open MPI it is" said "^.*fsbml: version .* for Open MPI ${release[$1]%%[a-z]*}$"
    ok "... and refuses a bad parameter, by its help text" explained "$1" "$1" 'Parameter: +bml_fsbml_quantum' --mca bml fsbml --mca bml_fsbml_quantum -7
}

other_component() { # SYSTEM OF
    local title="$1 (${release[$1]}) with a component for ${release[$2]}"
    if ! needs_newer_libc "$1" "$2"; then
        # Nothing of it can run there; these are Open MPI's own words.
        ok "$title, of a newer C library: the job ends" not job "$1" "$2" --mca bml fsbml
        ok "... and Open MPI names the component" explained "$1" "$2" 'Component: +fsbml' --mca bml fsbml
        return
    fi
    ok "$title: the job passes" job "$1" "$2" --mca bml fsbml
    ok "... by r2, which is said with what to do" \
        said "fsbml: this component was built for Open MPI ${release[$2]%%[a-z]*} and does not run with Open MPI v${release[$1]}: this job uses r2\. Build and install it"
    ok "... once" equal "$(cat "$scratch/out" "$scratch/err" | grep -c 'this job uses r2')" 1
    echo 'bml = fsbml' >"$scratch/params"
    ok "... also where a file of several Open MPIs asks for it" job "$1" "$2" --mca mca_base_param_files "$scratch/params"
    ok "... with the same words" said 'this job uses r2'
    ok "... and without being asked for, it is silent" job "$1" "$2"
    ok "... as r2 is" not said fsbml
}

is_root || die "${0##*/} needs root, for the systems."
ok "components for three versions" gather
for system in "${SYSTEMS[@]}"; do
    own_component "$system"
    for of in "${SYSTEMS[@]}"; do [ "$of" = "$system" ] || other_component "$system" "$of"; done
done
tap_end
