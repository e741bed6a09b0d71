# Some jobs at a time, each on a cluster of its own: they wait for their rails and for each other most of the time. Sourced by harness.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# For jobs whose result does not depend on time, so not for those that measure rails or count what each rail carried by a measured
# table: a job beside them takes processor time from them.

HARNESS_LANES=6
harness_lane_pids=()

# harness_lanes FUNCTION ENTRY...: runs FUNCTION ENTRY for each entry, which prints TAP lines; the lanes take one entry after the other,
# and the lines are printed in the entries' order.
harness_lanes() {
    local lane pid entry file failed="" folder=$harness_logs/lanes
    [ $# -gt 1 ] || return 0
    mkdir -p "$folder"
    harness_cluster_down
    # A process group each, so that an interrupted run can end a lane with its job.
    set -m
    for ((lane = 1; lane <= HARNESS_LANES; lane++)); do
        lane_run "$lane" "$folder" "$@" </dev/null &
        harness_lane_pids+=($!)
    done
    set +m
    for pid in "${harness_lane_pids[@]}"; do wait "$pid" || failed+=" $?"; done
    harness_lane_pids=()
    for ((entry = 1; entry < $#; entry++)); do
        file=$folder/$entry.tap
        [ ! -e "$file" ] || lane_count "$file"
    done
    if [ -n "$failed" ]; then harness_not_ok "$1 in lanes" "a lane ended with an error:$failed"; fi
    rm -rf -- "$folder"
}

# lane_run LANE FOLDER FUNCTION ENTRY...: one lane. mkdir is the lock by which it takes an entry.
lane_run() {
    local lane=$1 folder=$2 function=$3 number=0 entry
    shift 3
    harness_lane_pids=()
    harness_cluster+=$lane
    harness_logs=$folder/lane$lane
    harness_stdout=$harness_logs/stdout
    harness_stderr=$harness_logs/stderr
    mkdir "$harness_logs"
    trap harness_cluster_down EXIT
    trap 'exit 143' TERM
    # Processes of two jobs share the processors. From Open MPI 5.0 on they can sleep for a moment, where a yield among twenty
    # processes that wait costs each of them its turn.
    export OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_threads_pthreads_yield_strategy=nanosleep OMPI_MCA_threads_pthreads_nanosleep_time=200000
    for entry in "$@"; do
        number=$((number + 1))
        ! mkdir "$folder/taken.$number" 2>/dev/null || "$function" "$entry" >"$folder/$number.tap"
    done
}

# lane_count FILE: prints TAP lines with the run's own numbers, and counts them.
lane_count() {
    local line
    while IFS= read -r line; do
        case "$line" in
            *' # SKIP '*)
                printf '%s\n' "$line"
                continue
                ;;
            'ok '*) harness_passed=$((harness_passed + 1)) ;;
            'not ok '*) harness_failed=$((harness_failed + 1)) ;;
            *)
                printf '%s\n' "$line"
                continue
                ;;
        esac
        printf '%s %d -%s\n' "${line%% [0-9]*}" $((harness_passed + harness_failed)) "${line#*-}"
    done <"$1"
}

# harness_lanes_end: ends the lanes of a run that was interrupted; each takes its cluster down.
harness_lanes_end() {
    local pid
    for pid in "${harness_lane_pids[@]}"; do
        if kill -TERM -- "-$pid" 2>/dev/null; then wait "$pid" || :; fi
    done
    harness_lane_pids=()
}
