#!/usr/bin/env bash
# What the benchmarks have of Open MPI's inside compiles with the headers of this Open MPI, and of its PMIx.
#   inside_test.sh [PREFIX]     of another Open MPI than the one in use
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
FSBML_TOP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
# shellcheck source=scripts/lib.sh
. "$FSBML_TOP/scripts/lib.sh"
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"
# shellcheck source=scripts/headers.sh
. "$FSBML_TOP/scripts/headers.sh"
prefix=${1:-$(openmpi_prefix)}
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
words=("TOP=$FSBML_TOP" "MPICC=$(openmpi_tool "$prefix" mpicc)")
! headers=$(headers_dir "$prefix") || words+=("pkginclude=$headers")
if make -C "$folder" -f "$FSBML_TOP/bench/programs.mk" "${words[@]}" bench/btl/port.o >"$folder/log" 2>&1; then
    echo "ok 1 - what is measured below the PML compiles"
else
    echo "not ok 1 - what is measured below the PML compiles"
    sed 's/^/# /' "$folder/log"
fi
echo 1..1
