#!/usr/bin/env bash
# Tests of `fsbml bench`: its list, its errors, the core's benchmark and what it writes.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
FSBML_TOP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
export FSBML_TOP
for part in scripts/lib.sh tests/driver/tap.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

core_runs() { fsbml bench core --repetitions 1 --filter '^(choose_and_charge/2/0|calibration/2)$' --json "$scratch/core.json" >"$scratch/out" 2>"$scratch/err"; }

ok "list" equal "$(fsbml bench --list | awk '{ print $1 }' | paste -sd' ')" "onetoone equal single collectives core"
ok "no name" refuses "say which" bench
ok "unknown name" refuses "there is no benchmark 'x'" bench x
ok "unknown option" refuses "unknown option '--fast'" bench core --fast yes
ok "an option without its value" refuses "needs a value" bench core --json
ok "repetitions that are no number" refuses "from 1 to 9999" bench core --repetitions 0
ok "a file that cannot be written" refuses "cannot write" bench core --json /nowhere/x.json
ok "an experiment's options are checked by the demo" refuses "from 1 to 1000" bench single --rounds 0
ok "the core's benchmark runs" core_runs
ok "... prints each" equal "$(grep -cE '^(choose_and_charge/2/0|calibration/2) +[0-9.]+ [nu]s' "$scratch/out")" 2
ok "... writes both" equal "$(grep -cE '"name": "(choose_and_charge/2/0|calibration/2)"' "$scratch/core.json")" 2
ok "... knows the size of a rail" grep -q '"bytes a rail": "64"' "$scratch/core.json"
tap_end
