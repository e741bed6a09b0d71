#!/usr/bin/env bash
# Rails that fail while a job runs, and come back: every byte is right, each message comes once, the job goes on, and says so.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-120}
FAILOVER=(--mca bml fsbml --mca bml_fsbml_verbose 5 --mca bml_fsbml_failover 1)

# link NODE RAIL WORD
link() { harness_fsbml cluster set --name "$harness_cluster" --node "$1" --rail "$2" "$3"; }

# start_stream SECONDS OPTION...: the job, until its stream has run for a second.
start_stream() {
    harness_cluster_up 2 200mbit 100mbit
    harness_stream "$1"
    harness_start "$LIMIT" 2 "${FAILOVER[@]}" "${@:2}" "${harness_command[@]}"
    harness_has_come "$harness_stdout" '^stream: begins' || :
    sleep 1
}

# survives NAME NODE RAIL WORD: the rail fails in that way in the midst of a stream, is told of, and carries messages again.
survives() {
    local reason failed=no back=no
    harness_wanted "$1" || return 0
    start_stream 30
    link "$2" "$3" "$4"
    # mpirun of 4.1 loses one such message in twenty, and not this line.
    ! harness_has_come "$harness_stderr" "rail rail$3 from .* it failed during the job" || failed=yes
    link "$2" "$3" up
    ! harness_has_come "$harness_stderr" "rail rail$3 to .* carries messages again" || back=yes
    harness_enough
    harness_wait
    reason=$(harness_failure "stream" "$LIMIT")
    [ -n "$reason" ] || [ "$failed" = yes ] || reason="nothing is said of a rail that has failed"
    [ -n "$reason" ] || ! grep -qE "rail rail$((1 - $3)) from .* it failed during the job" "$harness_stderr" ||
        reason="the other rail is said to have failed"
    [ -n "$reason" ] || [ "$4" != down ] || grep -q "rail rail$3 from .*: its interface has no carrier" "$harness_stderr" ||
        reason="the cable is not said to be out"
    [ -n "$reason" ] || [ "$back" = yes ] || reason="it does not carry messages again"
    [ -n "$reason" ] || grep -q '^stream: rank [01] counts [1-9][0-9]* failures' "$harness_stdout" || reason="no variable counts it"
    harness_result "$1" "$reason"
    grep '^stream: .*pause' "$harness_stdout" | sed 's/^/# /' || :
}

# A peer that does not run for a while answers on no rail: that is no rail that has failed.
paused() {
    local name="a peer that is stopped has no rail that failed"
    harness_wanted "$name" || return 0
    start_stream 6
    harness_stream_paused "$name" 'A rail failed|carries no messages'
}

# ended_with_a_sentence: prints a reason if the job did not end, in time, with an error and the rails' names.
ended_with_a_sentence() {
    local reason
    reason=$(harness_ended_late "$LIMIT")
    if [ -n "$reason" ]; then
        printf '%s' "$reason"
    elif [ "$harness_status" -eq 0 ]; then
        printf 'it went on'
    else
        # mpirun of 4.1 may lose the message, and not the last words.
        [[ $(<"$harness_stderr") == *"o rail to "*" works any more"*"rail0 "*", rail1 "* ]] || printf 'nothing says why'
    fi
}

# both_out NAME WAIT: both cables are out for three seconds; messages may wait for WAIT seconds.
both_out() {
    local name=$1 wait=$2 reason rail
    harness_wanted "$name" || return 0
    start_stream 7 --mca bml_fsbml_failover_wait "$wait"
    for rail in 0 1; do link 0 "$rail" down; done
    sleep 3
    for rail in 0 1; do link 0 "$rail" up; done
    harness_wait
    if [ "$wait" -ge 3 ]; then
        reason=$(harness_failure "stream" "$LIMIT")
        [ -n "$reason" ] || grep -qE '^stream: .*pause took ([3-9]|[1-9][0-9])\.' "$harness_stdout" || reason="it did not wait"
    else
        reason=$(ended_with_a_sentence)
    fi
    harness_result "$name" "$reason"
    harness_cluster_down
}

# last_messages NAME RAIL...: rails fail while the last messages are on their way: MPI_Finalize does not give them up, or says so.
last_messages() {
    local name=$1 rail reason go=$harness_logs/go
    shift
    harness_wanted "$name" || return 0
    rm -f "$go"
    harness_cluster_up 2 200mbit 100mbit
    # A start that was disturbed may have seen so large a bucket on rail1 that all of these messages go there.
    harness_table "$harness_logs/table" 200mbit 100mbit
    harness_start "$LIMIT" 2 "${FAILOVER[@]}" --mca bml_fsbml_failover_wait 1 --mca bml_fsbml_table "$harness_logs/table" \
        "$harness_programs/lifecycle" last "$go" 0
    harness_has_come "$harness_stdout" '^lifecycle: ready' || :
    for rail in "$@"; do link 0 "$rail" dead; done
    : >"$go"
    harness_wait
    if [ $# -lt 2 ]; then
        reason=$(harness_failure "lifecycle" "$LIMIT")
        [ -n "$reason" ] || grep -q 'rail0 to .* carries no messages now' "$harness_stderr" || reason="no message was lost"
    else
        reason=$(ended_with_a_sentence)
    fi
    harness_result "$name" "$reason"
    harness_cluster_down # its rails are dead
}

# lost NAME RANK: the connections of both rails are ended at the end that waits for the last messages of that rank: it must make
# new ones, as the other end has no rail by which to ask for them.
lost() {
    local name=$1 reason go=$harness_logs/go
    harness_wanted "$name" || return 0
    rm -f "$go"
    harness_cluster_up 2 200mbit 100mbit
    harness_start "$LIMIT" 2 "${FAILOVER[@]}" --mca bml_fsbml_failover_wait 60 "$harness_programs/lifecycle" last "$go" "$2"
    harness_has_come "$harness_stdout" '^lifecycle: ready' || :
    nsenter --net="/run/netns/${harness_nodes[1 - $2]}" ss -HtnK src 10.71.0.0/16 dst 10.71.0.0/16 >"$harness_logs/ended"
    : >"$go"
    harness_wait
    reason=$(harness_failure "lifecycle" 30)
    [ -n "$reason" ] || [ "$(grep -c 10.71 "$harness_logs/ended")" -ge 2 ] || reason="no connections were ended"
    harness_result "$name" "$reason"
}

# stays_out NAME LIMIT PATTERN PROGRAM ARGUMENT...: a rail fails when the program has printed that, and stays out.
stays_out() {
    local name=$1 limit=$2 pattern=$3 reason
    shift 3
    harness_wanted "$name" || return 0
    while :; do
        harness_cluster_up 2 200mbit 100mbit
        harness_start "$limit" 2 "${FAILOVER[@]}" "$harness_programs/$1" "${@:2}"
        harness_has_come "$harness_stdout" "$pattern" || :
        link 0 0 down
        harness_wait
        harness_cluster_down # its rail is out
        [ "$1" = sessions ] || break
        harness_second_init_hung "$name" "$limit" || break
    done
    reason=$(harness_failure "$1" "$limit")
    [ -n "$reason" ] || grep -q 'rail rail0 .* carries no messages now' "$harness_stderr" || reason="no failure was noticed"
    harness_result "$name" "$reason"
}

# cut_at_random NAME RANKS CASE...: rails fail in turn, or both, while the cases run, for up to a second each time.
cut_at_random() {
    local name=$1 ranks=$2 reason case n=0
    local words=(down dead deaf down) options=(--mca mpi_yield_when_idle 1)
    shift 2
    harness_wanted "$name" || return 0
    harness_cluster_up 2 200mbit 100mbit
    harness_program suite "$@"
    # As in run.sh: what 4.1 has for one-sided communication over TCP, whatever the BML.
    [ "$harness_major" -ge 5 ] || options+=(--mca osc "pt2pt,sm")
    harness_start "$LIMIT" "$ranks" "${FAILOVER[@]}" "${options[@]}" "${harness_command[@]}"
    harness_has_come "$harness_stdout" '^case .* begins' || :
    while [ "$n" -lt 12 ] && kill -0 "$harness_pid" 2>/dev/null; do
        link $((RANDOM % 2)) $((n % 2)) "${words[RANDOM % 4]}"
        # Now and then, both.
        [ $((n % 4)) -lt 3 ] || link $((RANDOM % 2)) 0 "${words[RANDOM % 4]}"
        sleep "0.$((RANDOM % 9 + 1))"
        for case in 0 1; do link "$case" $((n % 2)) up; done
        [ $((n % 4)) -lt 3 ] || for case in 0 1; do link "$case" 0 up; done
        sleep "0.$((RANDOM % 9 + 1))"
        n=$((n + 1))
    done
    harness_wait
    for case in "$@"; do
        [ -n "${reason:-}" ] || reason=$(harness_failure "$case" "$LIMIT")
    done
    [ -n "${reason:-}" ] || grep -q 'carries no messages now' "$harness_stderr" || reason="no failure was noticed"
    harness_result "$name" "${reason:-}"
    printf '# rails failed %d times, which was noticed %s times\n' "$n" "$(grep -c 'carries no messages now' "$harness_stderr" || :)"
}

# run_part NAME|NODE|RAIL|WORD: survives, or another of the above.
run_part() {
    local name node rail word
    IFS='|' read -r name node rail word <<<"$1"
    case "$name" in
        paused) paused ;;
        last) last_messages "a rail fails, and MPI_Finalize comes at once" 0 ;;
        all) last_messages "both rails fail, and MPI_Finalize comes at once" 0 1 ;;
        spawned) stays_out "a rail fails amid messages to a spawned process" "$LIMIT" '^spawn: talks' spawn 30 ;;
        sessions) stays_out "a rail fails in the first of two sessions" 40 '^sessions: life 1' sessions 50 ;;
        lost) lost "both connections are lost, and rank $node sends" "$node" ;;
        out) both_out "both cables are out, and messages wait" 60 ;;
        end) both_out "both cables are out for longer than messages may wait" 1 ;;
        random) cut_at_random "rails that fail at any moment" 4 "soak 4" pt2pt requests collectives datatypes onesided onesided_passive ;;
        threads) cut_at_random "rails that fail at any moment, among threads" 4 threads stress ;;
        *) survives "$name" "$node" "$rail" "$word" ;;
    esac
}

harness_begin "Runs jobs whose rails fail and come back." "$@"
parts=()
! harness_in version || parts+=(random "a cable is out at the sender|0|0|down" "lost|0" "lost|1")
! harness_in version || ! harness_has spawn || parts+=(spawned)
! harness_in version || ! harness_has sessions || parts+=(sessions)
! harness_in once || parts+=("a cable is out at the receiver|1|1|down" "no frame passes a rail|0|0|dead" "no frame gets to a node|1|0|deaf"
    "what a node sends comes back to it|1|0|loop" threads paused out end last all)
harness_lanes run_part "${parts[@]}"
harness_end
