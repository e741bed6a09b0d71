#!/usr/bin/env bash
# Jobs over a BTL with the semantics of hardware (tests/btl): several modules with registration, limits of their own,
# late completions, refusals and few descriptors. Every byte is verified, and so is every use of a registration.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"
# shellcheck source=tests/mpi/test_btl.sh
. "$harness_sources/test_btl.sh"

LIMIT=${FSBML_TEST_LIMIT:-60}

# over RANKS CASE OPTION...: one case of the programs over the BTL's modules; OPTIONs without "btl_hw_".
over() {
    local ranks=$1 case=$2 name option words=()
    shift 2
    name="$ranks ranks, hw $*: $case"
    harness_wanted "$name" || return 0
    for option in "$@"; do words+=(--mca "btl_hw_${option%%=*}" "${option#*=}"); done
    # shellcheck disable=SC2086
    harness_program $case
    harness_job "$LIMIT" "$ranks" --mca bml "$harness_bml" --mca btl self,hw --mca osc_rdma_btls hw --mca mpi_yield_when_idle 1 \
        "${words[@]}" "${harness_command[@]}"
    harness_result "$name" "$(harness_failure "$case" "$LIMIT")"
}

# over_ofi CASE: over libfabric's emulation of hardware on sockets, one module, with puts, gets and atomics: FSBML has nothing to
# choose from there, and is what r2 is. Only 4.1's is known to work. Without requests: bytes are wrong there, with r2 as well.
over_ofi() {
    local name="2 ranks, ofi: $1"
    harness_wanted "$name" || return 0
    harness_program "$1"
    harness_job "$LIMIT" 2 --mca bml "$harness_bml" --mca btl self,ofi --mca btl_ofi_mode 2 --mca btl_ofi_provider_exclude none \
        --mca btl_ofi_provider_include sockets --mca mpi_yield_when_idle 1 "${harness_command[@]}"
    harness_result "$name" "$(harness_failure "$1" "$LIMIT")"
}

# dying WHEN: module 1 dies before, within or after its message number 200. The job ends, with a word; until rails may die.
dying() {
    local name="module 1 dies $1 a message" reason
    harness_wanted "$name" || return 0
    harness_program order
    harness_job "$LIMIT" 2 --mca bml "$harness_bml" --mca btl self,hw --mca btl_hw_dies "1:$1:200" "${harness_command[@]}"
    reason=$(harness_ended_late "$LIMIT")
    if [ -z "$reason" ] && grep -qE 'Segmentation fault|signal (6|11)|btl hw:|check failed' "$harness_stdout" "$harness_stderr"; then
        reason="it crashed, or bytes were wrong"
    elif [ -z "$reason" ] && { [ "$harness_status" -eq 0 ] || ! grep -qE 'the module has died|message was lost' "$harness_stderr"; }; then
        reason="it ended with status $harness_status, and without a word"
    fi
    harness_result "$name" "$reason"
}

# surviving WHEN: the same with failover: all that was under way is done again by module 0.
surviving() {
    local name="module 1 dies $1 a message, with failover" case reason=""
    local cases=(requests "order 1" pt2pt)
    harness_wanted "$name" || return 0
    harness_program suite "${cases[@]}"
    harness_job "$LIMIT" 2 --mca bml "$harness_bml" --mca btl self,hw --mca btl_hw_dies "1:$1:200" --mca bml_fsbml_failover 1 --mca bml_fsbml_measure 0 --mca bml_fsbml_verbose 5 \
        "${harness_command[@]}"
    for case in "${cases[@]}"; do
        [ -n "$reason" ] || reason=$(harness_failure "$case" "$LIMIT")
    done
    [ -n "$reason" ] || grep -q 'hw#1 to .* carries no messages now' "$harness_stderr" || reason="no failure was noticed"
    harness_result "$name" "$reason"
}

harness_begin "Runs MPI programs over a BTL with the semantics of hardware." "$@"
# shellcheck disable=SC2119
test_btl_build
export OMPI_MCA_mca_base_component_path=$test_btl:${OMPI_MCA_mca_base_component_path:-SYS_DEFAULT:USER_DEFAULT}
harness_cluster_down
harness_fsbml cluster up --name "$harness_cluster" --nodes 2 --rail rate=200mbit,offload=on --rail rate=200mbit,offload=on
harness_shape=hardware
# Without onesided_windows: dynamic windows hang over this BTL, with r2 and one module as well.
for modules in 2 3; do
    for case in "order 1" pt2pt requests datatypes collectives stress onesided onesided_passive; do
        over 4 "$case" "modules=$modules"
    done
    over 4 pt2pt "modules=$modules" lands_late=0
    over 4 collectives "modules=$modules" put_limits=65536,4096,1048576 latencies=5,200,50
    for case in order stress pt2pt requests; do over 2 "$case" "modules=$modules" refuse=5; done
    over 2 pt2pt "modules=$modules" descriptors=16
    for descriptors in 2 8; do over 4 stress "modules=$modules" "descriptors=$descriptors"; done
done
if [ "$harness_major" -eq 4 ] && [ -f "$(openmpi_path "${harness_which[1]}" pkglibdir)/mca_btl_ofi.so" ]; then
    for case in collectives onesided; do over_ofi "$case"; done
fi
for when in before within after; do
    dying "$when"
    surviving "$when"
done
harness_end
