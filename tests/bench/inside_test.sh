#!/usr/bin/env bash
# What the benchmarks have of Open MPI's inside compiles with the headers of this Open MPI, and of its PMIx.
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
# shellcheck source=scripts/programs.sh
. "$FSBML_TOP/scripts/programs.sh"
said=ok
(programs_build "$(openmpi_prefix)" bench/btl/port.o >/dev/null) || said="not ok"
echo "$said 1 - what is measured below the PML compiles"
echo 1..1
