# The one way for a test to run something a second time. Sourced by tests/driver/tap.sh and tests/mpi/harness.sh, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# A test whose job was disturbed by something outside of it may run that job again, once:
#
#     job
#     while REASON=$(disturbed) && [ -n "$REASON" ] && again "$name" "$REASON"; do job; done
#
# Each repetition is a line of TAP's comments. `./fsbml test` counts these lines and prints "repeated k of n"; the run fails above
# 2 %, so a weakness of the product cannot hide behind repetitions. A loop that waits for an event needs none of this.

declare -A repeat_counts=()
repeat_fd=1     # where TAP goes

# again NAME REASON [MOST]: true if the test NAME may run once more, which is then counted; at most MOST times (1).
# Call it in the test's own shell: a subshell would forget the count.
again() {
    local name=$1 reason=$2 most=${3:-1}
    [ "${repeat_counts[$name]:-0}" -lt "$most" ] || return 1
    repeat_counts[$name]=$((${repeat_counts[$name]:-0} + 1))
    printf '# repeated: %s: %s\n' "$name" "$reason" >&"$repeat_fd"
}
