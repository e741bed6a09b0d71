# ./fsbml simulate: the scheduler and its rivals on simulated clusters. No Open MPI, no root.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# shellcheck source=scripts/simulator.sh
. "$FSBML_TOP/scripts/simulator.sh"

cmd_simulate_help() {
    cat <<'HELP'
usage: ./fsbml simulate [options]

Tests the scheduler in simulation: all kinds of traffic on all sets of rails, each with several seeds, with true parameters and
with wrong ones. FSBML, which decides by the very code of the component, is measured against a lower bound of the makespan that
no choice of rails can beat, against the rules of other products and papers, and against the best rail alone. At the end stand
its bars, each met or NOT MET, with the worst case. About a minute on two processors; nothing is random but
by the seeds, so the same options give the same figures.

what:
  --traffic NAME...     these classes of traffic (all)
  --rails SPEC...       these sets of rails (all), by their names or such as 200mbit@100us+20mbit@1ms: rates with latencies (50us)
  --rules NAME...       FSBML against these rules (all rivals)
  --list                list traffic, sets of rails and rules
  --ranks N             ranks of the job (8)
  --ranks-per-node N    ranks on each node (1), which share a ledger as in jobs
  --no-ledger           they do not

how:
  --seeds N             seeds for each traffic on each set of rails (20)
  --first-seed N        the first of them (1)
  --full                200 seeds: minutes
  --wrong PERCENT       L, o, g and G of each rail are off by up to so much, each by itself (20); 0: true parameters only. The bars
                        for wrong parameters are about 20
  --search N            how much better could rails be chosen with all messages known beforehand? N steps of a search that begins
                        with FSBML's schedule, moves fragments to other rails, and keeps what is not slower; 2000 take minutes (0)
  --threads N           simulations at a time (one a processor)

output:
  --json FILE           write all runs, comparisons and bars (docs/simulate.schema.json)

The exit status says whether it ran, not whether the bars are met.
HELP
}

cmd_simulate() { simulator_run simulate "$@"; }
