#!/usr/bin/env bash
# Bad parameters and broken rails: each job must end in bounded time, with the data right where FSBML promises to go on,
# with a clear message, and with an exit status that says which of the two it was.
#
# Once: FSBML's own code reads its parameters. With each version of Open MPI: the choice of rails goes by what the BTLs say of
# themselves, that of the BML and what a broken rail does are Open MPI's.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"

LIMIT=${FSBML_TEST_LIMIT:-60}
RAILS=(200mbit 20mbit)
# shellcheck disable=SC2016  # for a rank to expand
SAY_PLACE='echo "$(uname -n)$FSBML_PLACE"'

# set | name | outcome | message | state of the rails | mpirun's arguments: PROGRAM is one that verifies its data, PLACE
#   one that says where it is; NODE:NAME=VALUE sets a variable on that node only, where the two are to differ
#   outcome  works: exit status 0, and every byte was right; fails: another exit status; gives up, proves not: see gives_up, proves_not;
#            placed: the ranks' own words on where they are
#   message  extended regex that the job's output matches, all of its white space being single blanks there;
#            empty: stderr must be empty
#            (an alternative is written ~, as | separates the columns)
#   state    -, or a function of this script that spoils the rails; a fresh cluster comes after it
CASES=(
    # the longest first: some run at a time
    'version|all rails lose their frames|gives up|None of the rails to a process could be connected|all_lost|PROGRAM'

    # the other cases mean nothing if the two ranks do not sit on different nodes
    'version|ranks on two nodes|placed|node1 node2|-|PLACE'
    'version|ranks on two nodes, a variable on one of them|placed|node1 node2x|-|node2:FSBML_PLACE=x PLACE'

    # parameters
    'once|packets 0|fails|not a number in its range.*Parameter: bml_fsbml_packets Value: "0"|-|--mca bml_fsbml_packets 0 PROGRAM'
    'once|packets 1025|fails|Parameter: bml_fsbml_packets Value: "1025" Meaning: .*2-1024|-|--mca bml_fsbml_packets 1025 PROGRAM'
    'once|packets abc|fails|Parameter: bml_fsbml_packets Value: "abc"|-|--mca bml_fsbml_packets abc PROGRAM'
    'once|packets 16x|fails|Parameter: bml_fsbml_packets Value: "16x"|-|--mca bml_fsbml_packets 16x PROGRAM'
    'once|packets -5|fails|Parameter: bml_fsbml_packets Value: "-5"|-|--mca bml_fsbml_packets -5 PROGRAM'
    'once|packets beyond 64 bits|fails|Parameter: bml_fsbml_packets Value: "99999999999999999999"|-|--mca bml_fsbml_packets 99999999999999999999 PROGRAM'
    'once|size_step 1.5|fails|Parameter: bml_fsbml_size_step Value: "1.5"|-|--mca bml_fsbml_size_step 1.5 PROGRAM'
    'once|small_size 0|fails|Parameter: bml_fsbml_small_size Value: "0"|-|--mca bml_fsbml_small_size 0 PROGRAM'
    'once|samples 0|fails|Parameter: bml_fsbml_samples Value: "0"|-|--mca bml_fsbml_samples 0 PROGRAM'
    'once|budget 0|fails|Parameter: bml_fsbml_budget Value: "0"|-|--mca bml_fsbml_budget 0 PROGRAM'
    'once|probe_timeout 300s|fails|Parameter: bml_fsbml_probe_timeout Value: "300s"|-|--mca bml_fsbml_probe_timeout 300s PROGRAM'
    'once|quantum 12|fails|Parameter: bml_fsbml_quantum Value: "12"|-|--mca bml_fsbml_quantum 12 PROGRAM'
    'once|together yes|fails|Parameter: bml_fsbml_together Value: "yes"|-|--mca bml_fsbml_together yes PROGRAM'
    'once|together 2|fails|Parameter: bml_fsbml_together Value: "2"|-|--mca bml_fsbml_together 2 PROGRAM'
    'once|different together on two ranks|works|given different parameters|-|node2:OMPI_MCA_bml_fsbml_together=0 PROGRAM'
    'once|per_peer 2|fails|Parameter: bml_fsbml_per_peer Value: "2"|-|--mca bml_fsbml_per_peer 2 PROGRAM'
    'once|measure 2|fails|Parameter: bml_fsbml_measure Value: "2"|-|--mca bml_fsbml_measure 2 PROGRAM'
    'once|pieces 2|fails|Parameter: bml_fsbml_pieces Value: "2"|-|--mca bml_fsbml_pieces 2 PROGRAM'
    'once|failover 2|fails|Parameter: bml_fsbml_failover Value: "2"|-|--mca bml_fsbml_failover 2 PROGRAM'
    'once|failover_wait x|fails|Parameter: bml_fsbml_failover_wait Value: "x"|-|--mca bml_fsbml_failover_wait x PROGRAM'
    'once|feedback 2|fails|Parameter: bml_fsbml_feedback Value: "2"|-|--mca bml_fsbml_feedback 2 PROGRAM'
    'once|display 3|fails|Parameter: bml_fsbml_display Value: "3"|-|--mca bml_fsbml_display 3 PROGRAM'
    'once|policy nonsense|fails|value that FSBML does not know.*bml_fsbml_policy.*Value: "nonsense" Known: arrival, thesis, roundrobin, single|-|--mca bml_fsbml_policy nonsense PROGRAM'
    'once|policy in capitals|fails|value that FSBML does not know.*bml_fsbml_policy.*Value: "ARRIVAL"|-|--mca bml_fsbml_policy ARRIVAL PROGRAM'
    'once|one bad parameter of two|fails|Parameter: bml_fsbml_samples Value: "x"|-|--mca bml_fsbml_packets 8 --mca bml_fsbml_samples x PROGRAM'
    'once|bad parameter on one rank only|fails|Parameter: bml_fsbml_packets Value: "abc"|-|node2:OMPI_MCA_bml_fsbml_packets=abc PROGRAM'
    'once|different packets on two ranks|works|given different parameters|-|node2:OMPI_MCA_bml_fsbml_packets=8 PROGRAM'
    'once|different policies on two ranks|works||-|node2:OMPI_MCA_bml_fsbml_policy=thesis PROGRAM'

    # which rails
    'version|all rails excluded|fails|choice of rails leaves none.*bml_fsbml_exclude: rail0,rail1 Rails found: .*rail0.*rail1|-|--mca bml_fsbml_exclude rail0,rail1 PROGRAM'
    'version|all rails excluded by component|fails|choice of rails leaves none.*bml_fsbml_exclude: tcp |-|--mca bml_fsbml_exclude tcp PROGRAM'
    'version|only an unknown rail included|fails|choice of rails leaves none.*bml_fsbml_include: rail7 |-|--mca bml_fsbml_include rail7 PROGRAM'
    'version|an unknown rail excluded|works|does not exist on this node.*Name: rail7 .*Rails found: .*rail0.*rail1|-|--mca bml_fsbml_exclude rail7 PROGRAM'
    'version|included and excluded|fails|both included and excluded.*bml_fsbml_include: rail0 bml_fsbml_exclude: rail1 |-|--mca bml_fsbml_include rail0 --mca bml_fsbml_exclude rail1 PROGRAM'
    'version|one rail excluded|works||-|--mca bml_fsbml_exclude rail1 PROGRAM'
    'version|a rail excluded by the address of one node|works||-|--mca bml_fsbml_exclude 10.71.1.2 PROGRAM'
    'version|all rails excluded by address|fails|choice of rails leaves none.*Rails found: rail0 \(10.71.0.[23]\), rail1 \(10.71.1.[23]\)|-|--mca bml_fsbml_exclude 10.71.0.2,10.71.1.2 PROGRAM'
    'version|an address of no rail|works|does not exist on this node.*Name: 10.70.0.2 .*Rails found: rail0 \(10.71.0.[23]\), rail1 \(10.71.1.[23]\) .*btl_tcp_if_include|-|--mca bml_fsbml_exclude 10.70.0.2 PROGRAM'
    'version|a PCI address of no rail|works|does not exist on this node.*Name: 3b:00.0 |-|--mca bml_fsbml_exclude 3b:00.0 PROGRAM'
    'version|rails given by network|works||-|--mca bml_fsbml_include tcp:10.71.0.0/24 PROGRAM'
    'version|a rail that one side excludes|works||-|node2:OMPI_MCA_bml_fsbml_exclude=rail1 PROGRAM'
    'version|a rail that one side lacks|works||-|node2:OMPI_MCA_btl_tcp_if_include=rail0 PROGRAM'
    'version|no rail in common|fails|(cannot be reached)~(None of the rails)|-|node1:OMPI_MCA_bml_fsbml_include=rail0 node2:OMPI_MCA_bml_fsbml_include=rail1 PROGRAM'

    # which BML
    'version|fsbml beside r2|works|FSBML and another BML component were both asked for.*steps aside|-|--mca bml fsbml,r2 PROGRAM'
    'version|r2 beside fsbml|works|FSBML and another BML component were both asked for.*steps aside|-|--mca bml r2,fsbml PROGRAM'
    'once|another PML than ob1|works|FSBML was asked for and does nothing.*PML: ucx Use "--mca pml ob1"|-|--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any PROGRAM'
    'version|fsbml on one rank only|works|does not run FSBML|-|node2:OMPI_MCA_bml=r2 PROGRAM'

    # rails that are broken when the job starts
    # (tcp by one network for all rails: by name, Open MPI itself takes a missing interface for a fatal mistake)
    'version|a rail down on one node|works||down_on_one_node|--mca btl_tcp_if_include 10.71.0.0/16 PROGRAM'
    'version|a rail down on both nodes|works||down_on_both_nodes|--mca btl_tcp_if_include 10.71.0.0/16 PROGRAM'
    'version|a rail without carrier|proves not|does not answer.*Rail: rail1 \(10.71.1.[23], tcp:10.71.1.0/24\) |no_carrier|PROGRAM'
    'version|a rail whose frames get lost one way|works|does not answer.*Rail: rail1 |lost_one_way|PROGRAM'
    'version|a rail whose frames get lost the other way|works|does not answer.*Rail: rail1 |lost_other_way|PROGRAM'
    'version|a rail that refuses one way|works|does not answer.*Rail: rail1 |refused_one_way|PROGRAM'
    'version|the fast rail loses its frames|works|does not answer.*Rail: rail0 |fast_lost|PROGRAM'
)

on_node() { ip -n "${harness_nodes[$1]}" "${@:2}"; }

down_on_one_node() { on_node 2 link set rail1 down; }

down_on_both_nodes() {
    on_node 1 link set rail1 down
    on_node 2 link set rail1 down
}

# The far end of the cable is dead, the interface itself is up.
no_carrier() { ip -n "fsbml-$harness_cluster-net" link set n2r1 down; }

# misdirect FROM TO RAIL: a neighbour's address that no node has, so that the frames leave and no node takes them.
misdirect() { on_node "$1" neighbour replace "10.71.$3.$(($2 + 1))" lladdr 02:00:00:00:00:01 dev "rail$3" nud permanent; }

lost_one_way() { misdirect 1 2 1; }
lost_other_way() { misdirect 2 1 1; }
fast_lost() { misdirect 1 2 0; }

# Rank 0's node has no way to the other one on the rail: an error at once here, and no answer there.
refused_one_way() { on_node 1 route add unreachable 10.71.1.3/32; }

# No peer answers at all: the end comes with TCP's own, which is set to some 10 s here instead of 2 minutes.
all_lost() {
    local node
    for node in 1 2; do ip netns exec "${harness_nodes[$node]}" sysctl -q -w net.ipv4.tcp_syn_retries=2; done
    misdirect 1 2 0
    misdirect 1 2 1
}

# tcp of 4.1 keeps it to itself that a connection has failed, and a peer that only computes is as silent: the job waits, as
# it does with r2, but says for which process. In 5.0 it ends.
gives_up() {
    case "$harness_major" in
        4) outcome=waits pattern='does not answer on any rail\. They are pending until it does\..*To: process' ;;
        *) outcome=fails ;;
    esac
}

# tcp of 6.0 makes no module of an interface without carrier: there is no rail then that could prove anything.
proves_not() {
    outcome=works
    [ "$harness_major" -lt 6 ] || pattern=""
}

# said PATTERN: does the job's stderr match, all of its white space being single blanks?
said() { [[ $(tr -s '[:space:]' ' ' <"$harness_stderr") =~ $1 ]]; }

pattern_said() { said "$pattern"; } # of the case that runs

# verdict OUTCOME PATTERN: prints why the last job failed its case, or nothing.
verdict() {
    local reason
    reason=$(harness_ended_late "$LIMIT")
    if [ "$1" = waits ]; then
        [ "$harness_status" = stopped ] || printf 'it ended, or said nothing in time; status %s' "$harness_status"
    elif [ -n "$reason" ]; then
        printf '%s' "$reason"
    elif [ "$1" = placed ]; then
        [ "$(sort "$harness_stdout" | paste -sd ' ')" = "$2" ] || printf 'the ranks are not: %s' "$2"
    elif [ "$1" = works ] && [ "$harness_status" -ne 0 ]; then
        printf 'exit status %d, though the job can go on' "$harness_status"
    elif [ "$1" = works ] && [ -n "$(harness_failure 'order 1' "$LIMIT")" ]; then
        harness_failure 'order 1' "$LIMIT"
    elif [ "$1" = fails ] && [ "$harness_status" -eq 0 ]; then
        printf 'exit status 0, though the job cannot go on'
    elif [ "$1" = fails ] && [ "$harness_status" -ge 129 ]; then
        printf 'exit status %d: a signal, not an error' "$harness_status"
    elif [ -z "$2" ]; then
        reason=$(harness_noise)
        [ -z "$reason" ] || printf 'stderr is not clean: %s' "$reason"
    elif ! said "$2"; then
        printf 'no message matches: %s' "$2"
    fi
}

# place ARGUMENTS...: completes mpirun's arguments, into `placed`. The two ranks run on nodes 1 and 2, mpirun on node 0:
# Open MPI 4.1 loses about every second message (opal_show_help) of a rank beside mpirun, whose text is freed too early.
place() {
    local argument differ=()
    for argument in "$@"; do
        [[ $argument != node[12]:* ]] || differ+=("$argument")
    done
    placed=(--mca bml fsbml)
    # Open MPI refuses a parameter that is given twice with different values.
    case " $* " in *" --mca bml "*) placed=() ;; esac
    placed+=(-n 2 --host "node1,node2")
    for argument in "$@"; do
        case "$argument" in
            node[12]:*) continue ;;
            PROGRAM) harness_program order 1 ;;
            PLACE) harness_command=(sh -c "$SAY_PLACE") ;;
            *)
                placed+=("$argument")
                continue
                ;;
        esac
        harness_on_nodes "${differ[@]}"
        placed+=("${harness_command[@]}")
    done
}

run_case() {
    local set name outcome pattern state arguments
    IFS='|' read -r set name outcome pattern state arguments <<<"$1"
    pattern=${pattern//\~/|}
    harness_in "$set" && harness_wanted "$name" || return 0
    [[ $outcome != "gives up" && $outcome != "proves not" ]] || "${outcome/ /_}"
    read -r -a arguments <<<"$arguments"
    place "${arguments[@]}"
    harness_cluster_up 3 "${RAILS[@]}"
    [ "$state" = - ] || "$state"
    if [ "$outcome" = waits ]; then
        harness_job_until pattern_said "$LIMIT" 3 "${placed[@]}"
    else
        harness_job "$LIMIT" 3 "${placed[@]}"
    fi
    [ "$state" = - ] || harness_cluster_down
    harness_result "$name" "$(verdict "$outcome" "$pattern")"
}

harness_begin "Gives FSBML bad parameters and broken rails and checks what it says and whether the data stay right." "$@"
[ "$harness_bml" = fsbml ] || die "these tests are about fsbml: --bml has no meaning here."
harness_lanes run_case "${CASES[@]}"
harness_end
