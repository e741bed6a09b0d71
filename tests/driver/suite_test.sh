#!/usr/bin/env bash
# Tests of how the MPI tests report many cases of one job, and jobs side by side, on made-up jobs that pass, die and hang.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh tests/mpi/harness.sh
own_folder

LIMIT=90
harness_logs=$scratch
harness_stdout=$scratch/stdout
harness_stderr=$scratch/stderr
harness_programs=$scratch
job_stdout=()
job_stderr=""
job_status=0
job_seconds=7.0

# In place of a real job: prints what it is told to.
harness_job() {
    printf '%s\n' "${@:3}" >"$scratch/arguments"
    echo job >>"$scratch/jobs"
    printf '%s\n' "${job_stdout[@]}" >"$harness_stdout"
    printf '%s\n' "$job_stderr" >"$harness_stderr"
    harness_status=$job_status harness_seconds=$job_seconds
}

# reported PATTERN...: these are the lines of TAP, in this order, and no others.
reported() {
    local line found=()
    mapfile -t found < <(grep -E '^(not )?ok' "$scratch/out")
    if [ ${#found[@]} -ne $# ]; then
        sed 's/^/# /' "$scratch/out" >&9
        return 1
    fi
    for line in "${found[@]}"; do
        [[ $line =~ $1 ]] || { printf '# "%s" does not match "%s"\n' "$line" "$1" >&9 && return 1; }
        shift
    done
}

passed() { printf 'case %s begins\ncase %s: 12 checks passed in %s s; this node sent 700 bytes on rail0, 80 on rail1, 0 on rail2\n' "$1" "$1" "$2"; }

# of_three: the report on a job of three cases; a shell of its own, as the counts are.
of_three() { (harness_suite 2 "here: " ", so" pt2pt "order 1" match -- --mca bml fsbml) >"$scratch/out"; }

mapfile -t job_stdout < <(passed pt2pt 1.5 && passed "order 1" 0.2 && passed match 0.1 && echo "suite: 3 cases passed")
of_three
ok "each case of a job is a test, and so is its end" reported '^ok 1 - here: pt2pt, so \(1\.5 s\)$' '^ok 2 - here: order 1, so \(0\.2 s\)$' \
    '^ok 3 - here: match, so ' '^ok 4 - here: pt2pt order 1 match in one job, so \(7\.0 s\)$'
ok "... all in one job" equal "$(tail -n 3 "$scratch/arguments" | paste -sd,)" "pt2pt,order 1,match"
ok "... whose bytes on each rail are known" equal "$(suite_sent "order 1" 0) $(suite_sent "order 1" 1)" "700 80"

harness_filter='order|match'
of_three
ok "a filter leaves cases out" equal "$(tail -n 2 "$scratch/arguments" | paste -sd,)" "order 1,match"
harness_filter=""

job_stderr="a complaint"
of_three
ok "a complaint fails the job, and no case" reported '^ok 1' '^ok 2' '^ok 3' '^not ok 4'
job_stderr=""

mapfile -t job_stdout < <(passed pt2pt 1.5 && echo "case order 1 begins")
job_status=139
of_three
ok "a job that dies fails the case that ran, and those behind it" reported '^ok 1 - here: pt2pt' '^not ok 2 - here: order 1' '^not ok 3 - here: match' '^not ok 4'
ok "... with the reason" told '^# it did not pass; the job: exit status 139'
ok "... of those that it did not reach as well" told '^# not reached: the job ended before it'

job_status=137
of_three
ok "... and of a rank that was killed" told '^# it did not pass; the job: exit status 137'

job_seconds=540.2
of_three
ok "a job that hangs says so" told '^# it did not pass; the job: hung'
job_seconds=7.0

job_status=0
of_three
ok "a job that ends with 0 too early has not passed" reported '^ok 1' '^not ok 2' '^not ok 3' '^not ok 4'

# hung VERSION CASE: how often a job runs of which that case hung in that Open MPI, and how often that counts as repeated.
hung() {
    local harness_version=$1 repeat_fd=1
    rm -f "$scratch/jobs"
    job_stdout=("case $2 begins") job_stderr="$2: hung: rank 1 did not end it within 90 s" job_status=2
    (harness_suite 2 "" "" "$2" -- --mca bml fsbml) >"$scratch/out"
    printf '%s, %s' "$(grep -c . "$scratch/jobs")" "$(grep -c '^# repeated: ' "$scratch/out" || :)"
}
ok "a message that Open MPI 6.0.0rc2 has lost among threads: the job runs again, twice at most" equal "$(hung 6.0.0rc2 stress)" "3, 2"
ok "... and has failed then, with where the rank was" told '^#   stress: hung: rank 1 '
ok "... but not with another version" equal "$(hung 6.0.0 stress)" "1, 0"
ok "... nor with another case" equal "$(hung 6.0.0rc2 match)" "1, 0"
job_stderr=""
job_status=0

mapfile -t job_stdout < <(passed pt2pt 1.5 && passed "order 1" 0.2 && passed match 0.1)
of_three
ok "a job that does not say that it is through has failed" reported '^ok 1' '^ok 2' '^ok 3' '^not ok 4'

# The first entry ends last, and the lines come in the entries' order.
entry() {
    case "$1" in
        first)
            while [ ! -e "$scratch/last" ]; do sleep 0.05; done
            harness_result "$1"
            ;;
        last)
            harness_not_ok "$1" "for a reason"
            : >"$scratch/last"
            ;;
        dies) exit 5 ;;
        waits)
            : >"$scratch/waits"
            sleep 60
            ;;
        *) harness_result "$1" ;;
    esac
}
lanes() { (harness_lanes entry "$@" && printf '%d %d\n' "$harness_passed" "$harness_failed") >"$scratch/out"; }

lanes first second last
ok "lanes report in the entries' order" reported '^ok 1 - first' '^ok 2 - second' '^not ok 3 - last'
ok "... with the reason" told '^# for a reason'
ok "... and are counted" equal "$(tail -n 1 "$scratch/out")" "2 1"
lanes dies second
ok "a lane that breaks off is a failure" reported '^ok 1 - second' '^not ok 2 - entry in lanes'

# A run that is interrupted: both lanes end at once, and take their clusters down.
HARNESS_LANES=2
harness_cluster_down() { : >"$scratch/$harness_cluster.down"; }
harness_cluster=c
(
    trap harness_lanes_end EXIT
    trap 'exit 143' TERM
    harness_lanes entry waits waits
) &
run=$!
while [ ! -e "$scratch/waits" ]; do sleep 0.05; done
start=$SECONDS
kill -TERM "$run"
wait "$run" && status=0 || status=$?
ok "a run that is interrupted ends" equal "$status" 143
ok "... at once" [ $((SECONDS - start)) -lt 30 ]
ok "... and takes the lanes' clusters down" equal "$(cd "$scratch" && echo *.down)" "c.down c1.down c2.down"

harness_set=once
harness_end >"$scratch/out"
ok "a script with nothing in a set skips it" told '^1\.\.0 # SKIP '
ok "... and is not of the other set" equal "$(harness_in version && echo yes || echo no) $(harness_in once && echo yes || echo no)" "no yes"
tap_end
