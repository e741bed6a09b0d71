# The BTL with the semantics of hardware (tests/btl), made for the Open MPI in use. Sourced after harness.sh, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/stock.sh
. "$FSBML_TOP/scripts/stock.sh"

test_btl="" # the folder of its DSO, for mca_base_component_path

# test_btl_build FLAG...: compiles it with these flags as well. Open MPI's headers are found as by the component.
test_btl_build() {
    local prefix=${harness_which[1]:-} words=()
    [ "${harness_which[0]}" = --openmpi ] || prefix=$(reference_prefix)
    read -r -a words < <(sed -n 's/^FSBML_CPPFLAGS = //p' "$(stock_dir "$prefix")/build/Makefile")
    # shellcheck disable=SC2016 # make's
    words=("${words[@]/'$(top_srcdir)'/$FSBML_TOP}")
    # shellcheck disable=SC2154 # harness.sh's
    test_btl=$(mktemp -d "$harness_logs/btl.XXXXXX")
    "$(openmpi_tool "$prefix" mpicc)" -std=gnu11 -Wall -Wextra -O2 -g -fPIC -shared -fvisibility=hidden "${words[@]}" "$@" \
        -o "$test_btl/mca_btl_hw.so" "$FSBML_TOP"/tests/btl/btl_hw*.c || die "the test BTL does not compile."
}
