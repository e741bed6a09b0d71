# ./fsbml trace: why messages went where they did, from the decisions that a job has kept.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# shellcheck source=scripts/simulator.sh
. "$FSBML_TOP/scripts/simulator.sh"

cmd_trace_help() {
    cat <<'HELP'
usage: ./fsbml trace FILE|FOLDER [options]

Tells what FSBML decided and why: per rail what it got, by how much it was ahead of the next best rail, and the narrowest and the
costliest decisions in words. Each decision is replayed: its predicted arrivals are worked out again from the models in the file.

FILE is what a process wrote (--mca bml_fsbml_trace, docs/trace.md), FOLDER one with such files; several files may be given.

which decisions:
  --peer N            only messages to this rank
  --rail NAME         only messages that this rail got, by its name or key

output:
  --limit N           print N of the narrowest and N of the costliest decisions (10)
  --json FILE         write everything (docs/trace.schema.json); - is stdout, in place of the text

All decisions of a job (bml_fsbml_trace_every 1, none overwritten) are also a workload for `./fsbml whatif`.
HELP
}

cmd_trace() { simulator_run trace "$@"; }
