# What the layout tests share: a folder for made-up trees, and faults that are told and counted. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck disable=SC2034 # read by the tests

failed=0
fail() {
    printf '%s\n' "$*" >&2
    failed=1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
