#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# The built component: one symbol for Open MPI's loader and nothing else, and of Open MPI's libraries only
# libmpi by name, so that another version can still load it far enough to be told.
set -euo pipefail

dso=${1:?usage: dso_test.sh COMPONENT.so}
failed=0
fail() {
    echo "$*" >&2
    failed=1
}

exported=$(nm -D --defined-only "$dso" | awk '{ print $NF }' | sort | tr '\n' ' ')
[ "$exported" = "mca_bml_fsbml_component " ] || fail "exported are: ${exported:-(nothing)}; wanted: mca_bml_fsbml_component alone"

needed=$(readelf -d "$dso" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
grep -q '^libmpi\.so' <<<"$needed" || fail "libmpi is not among the libraries that it needs: $needed"
others=$(grep -E '^lib(open-pal|open-rte|oshmem|pmix|prrte|event|hwloc)' <<<"$needed") && fail "it needs $others by name"
! grep -qE 'BIND_NOW|FLAGS.* NOW' <<<"$(readelf -d "$dso")" || fail "it binds all symbols at load time"

exit "$failed"
