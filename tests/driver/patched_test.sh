#!/usr/bin/env bash
# The same release of Open MPI with and without the base patches: a component built for the one hands the job to r2 in the other, and
# says so. Jobs of two ranks on this host; each verifies its data.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs the patched Open MPI, and this machine's of the same release. Prints TAP.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh scripts/system.sh scripts/stock.sh

own_folder
mkdir "$scratch/empty"
declare -A prefix=([stock]="" [patched]="")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

gather() {
    local kind
    prefix[stock]=$(openmpi_prefix)
    prefix[patched]=$(reference_prefix)
    [ -n "${prefix[patched]}" ] && [ "$(openmpi_version "${prefix[stock]}")" = "$(openmpi_version "${prefix[patched]}")" ] || return 1
    fsbml build >/dev/null 2>&1 || return 1
    mkdir "$scratch/of-stock" "$scratch/of-patched"
    cp "$(component_dir "${prefix[stock]}")"/* "$scratch/of-stock/"
    # It is built in that tree, and installed with it.
    cp "$(openmpi_path "${prefix[patched]}" pkglibdir)/mca_bml_fsbml.so" "$(openmpi_path "${prefix[patched]}" pkgdatadir)/help-mca-bml-fsbml.txt" \
        "$scratch/of-patched/" || return 1
    for kind in stock patched; do
        "$(openmpi_tool "${prefix[$kind]}" mpicc)" -O1 -o "$scratch/suite-$kind" "$FSBML_TOP"/tests/mpi/{suite,check,order}.c || return 1
    done
}

# job KIND OF ARGUMENTS...: in that Open MPI, with the component of OF alone.
job() {
    OMPI_MCA_mca_base_component_path=$scratch/of-$2:$scratch/without-$1 PMIX_MCA_mca_base_component_path=$scratch/empty \
        timeout 60 "$(openmpi_tool "${prefix[$1]}" mpirun)" --host localhost:2 -n 2 --mca pml ob1 --mca btl_tcp_if_include lo "${@:3}" \
        "$scratch/suite-$1" "order 1" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# other KIND OF WORDS: the component of OF in KIND.
other() {
    ok "a $2 component in a $1 Open MPI: the job passes" job "$1" "$2" --mca bml fsbml
    ok "... by r2, which is said with what to do" said "fsbml: this component was built for $3: this job uses r2\. Build and install it"
    ok "... once" equal "$(cat "$scratch/out" "$scratch/err" | grep -c 'this job uses r2')" 1
    ok "its own component is used" job "$1" "$1" --mca bml fsbml --mca bml_fsbml_display 1
    ok "... and says so" said 'fsbml: version .* for Open MPI '
}

ok "components for the same release, stock and patched" gather
for kind in stock patched; do
    # All of its components but its own fsbml.
    mkdir "$scratch/without-$kind"
    find "$(openmpi_path "${prefix[$kind]}" pkglibdir)" -maxdepth 1 -name 'mca_*.so' ! -name 'mca_bml_fsbml.so' -exec ln -s {} "$scratch/without-$kind/" \;
done
other stock patched 'Open MPI [0-9.]+ with the base patches and does not run with Open MPI v[0-9.]+ without them'
other patched stock 'Open MPI [0-9.]+ without the base patches and does not run with Open MPI v[0-9.]+ with them'
tap_end
