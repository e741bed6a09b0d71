# Running one job on the virtual cluster: mpirun's environment, the namespace that holds its processes, its end.
# Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# All settings go to mpirun as environment variables and none as options: Open MPI lets an option win over the environment,
# so whatever the user says on the command line overrides ours without a clash, and mpirun's own parser reads it.

# preset NAME VALUE: exports NAME unless the user's environment has it already.
preset() { [ -n "${!1+set}" ] || export "$1=$2"; }

# preset_mca NAME VALUE: one of Open MPI's own parameters, spelled the same in all versions.
preset_mca() { preset "OMPI_MCA_$1" "$2"; }

# search_components [FOLDER]: has jobs search FOLDER first, then what the environment says, else Open MPI's own folders. That is
# said in any case: Debian 13's PMIx would have jobs search its own folder only.
search_components() {
    local rest=${OMPI_MCA_mca_base_component_path:-SYS_DEFAULT:USER_DEFAULT}
    export OMPI_MCA_mca_base_component_path=${1:+$1:}$rest
    # PRRTE has PMIx search there, too, which complains of what it finds: it gets an empty folder.
    mkdir -p "$FSBML_BUILD/empty" && preset PMIX_MCA_mca_base_component_path "$FSBML_BUILD/empty"
}

# placement VERSION MAPPING [BINDING]: where PRRTE puts ranks; that of Open MPI 6 warns of the old names.
placement() {
    case "$1" in
        5.*)
            preset PRTE_MCA_rmaps_default_mapping_policy "$2"
            [ -z "${3:-}" ] || preset PRTE_MCA_hwloc_default_binding_policy "$3"
            ;;
        *)
            preset PRTE_MCA_mapby "$2"
            [ -z "${3:-}" ] || preset PRTE_MCA_bindto "$3"
            ;;
    esac
}

# slots NODES RANKS: how many of RANKS dealt round robin each node gets, one line a node.
slots() {
    local node
    for ((node = 0; node < $1; node++)); do
        printf 'node%d slots=%d\n' "$node" $(($2 / $1 + (node < $2 % $1)))
    done
}

# job_environment VERSION STATE SCRATCH COMPONENTS RANKS: what mpirun must know. SCRATCH is the job's own folder inside
# its namespaces; COMPONENTS a folder of components to add, or empty.
job_environment() {
    local version=$1 state=$2 scratch=$3 components=$4 ranks=$5 shared_memory=sm
    case "$version" in
        4.*)
            shared_memory=vader
            preset_mca orte_default_hostfile "$scratch/hostfile"
            preset_mca oob_tcp_if_include mgmt0
            preset_mca plm rsh
            preset_mca plm_rsh_agent "$scratch/agent"
            preset_mca rmaps_base_mapping_policy node
            preset_mca rmaps_base_oversubscribe 1
            # Every node thinks that it has all cores to itself: bound ranks would all sit on the first one.
            preset_mca hwloc_base_binding_policy none
            ;;
        *)
            preset PRTE_MCA_prte_default_hostfile "$scratch/hostfile"
            preset PRTE_MCA_prte_if_include mgmt0
            preset PRTE_MCA_plm ssh
            preset PRTE_MCA_plm_ssh_agent "$scratch/agent"
            placement "$version" node:oversubscribe none
            ;;
    esac
    preset OMPI_ALLOW_RUN_AS_ROOT 1
    preset OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
    preset PRTE_ALLOW_RUN_AS_ROOT 1
    preset PRTE_ALLOW_RUN_AS_ROOT_CONFIRM 1
    # The rails belong to BTLs: with UCX or libfabric installed, Open MPI would otherwise pass them by.
    preset_mca pml ob1
    preset_mca btl "self,$shared_memory,tcp"
    if grep -q 'nodes=' "$state/rails"; then
        # Where a node lacks a rail, naming that would be an error there: each node has a file of its own under this name.
        preset_mca mca_base_param_files "$scratch/params,${HOME:-/}/.openmpi/mca-params.conf"
    else
        preset_mca btl_tcp_if_include "$(rail_names "$state")"
    fi
    # Ours comes first, so that an older copy installed elsewhere does not win over the one just built.
    search_components "$components"
    # Ranks that spin while others wait for a core cost whole time slices.
    [ "$ranks" -le "$(nproc)" ] || preset_mca mpi_yield_when_idle 1
    export TMPDIR=$scratch/tmp
}

# job_run STATE RANKS -- COMMAND...: runs COMMAND on node 0, with shared memory and scratch of its own, and returns its exit
# status. No process of the job outlives it.
job_run() {
    local state=$1 ranks=$2
    shift 3
    mkdir -p "$state/jobs"
    contained "$state/jobs/job" -- \
        "$BASH" "$FSBML_TOP/tools/cluster/job_init" "$state" "$(slots "$(node_count "$state")" "$ranks")" "$@"
}
