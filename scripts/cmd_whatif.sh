# ./fsbml whatif: what a job would gain from other rails, simulated on its trace.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# shellcheck source=scripts/simulator.sh
. "$FSBML_TOP/scripts/simulator.sh"

cmd_whatif_help() {
    cat <<'HELP'
usage: ./fsbml whatif TRACE --table FILE [options]

Simulates a job on the rails that it has, on each of them alone, without each of them, and with the changes asked for, and says
what communication would take. The computation between messages stays as it is in the trace. Nothing is run or changed.

TRACE is a trace (docs/trace.md), a folder with the records that a job's processes wrote (--mca bml_fsbml_record), or records.

the rails:
  --table FILE        those that there are: a file for --mca bml_fsbml_table, as `./fsbml calibrate --table FILE` writes it
  --rail SPEC         put this rail in, or in the place of the one of its name (repeat). SPEC is name=eth1,rate=10gbit, and
                      delay=20us (L), overhead=2us (o_s and o_r), gap=1us (g); what it does not say stays, or is as with
                      the fastest rail, or like=eth0
  --faster RAIL=N     make this rail N times as fast: its rate, not its latency (repeat)
  --without RAIL      leave this rail out (repeat); all changes together are one case, in this order
  --rules LIST        decide by these rules as well, such as round-robin,ucx; all: by every one that is known
  --ranks-per-node N  N consecutive ranks are on one node (1)
  --eager N           messages of up to N bytes are not cut (65536)
  --receive-after T   of records: a process has received a message T after it was sent, such as 50us, before it sends what
                      comes later; by default it receives all at its end
  --seed N            of what rules draw (1)

output:
  --json FILE         write everything (docs/whatif.schema.json); - is stdout, in place of the table
HELP
}

cmd_whatif() { simulator_run whatif "$@"; }
