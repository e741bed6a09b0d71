# What the MPI test scripts share: options, compiling, clusters, one job under a time limit, TAP lines, the summary. Many cases
# in one job: suite.sh; two jobs at a time: lanes.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# Sourced, never run.

FSBML_TOP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
export FSBML_TOP
# shellcheck source=scripts/lib.sh
. "$FSBML_TOP/scripts/lib.sh"
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"
# shellcheck source=tests/repeat.sh
. "$FSBML_TOP/tests/repeat.sh"
# shellcheck source=tests/mpi/suite.sh
. "$FSBML_TOP/tests/mpi/suite.sh"
# shellcheck source=tests/mpi/lanes.sh
. "$FSBML_TOP/tests/mpi/lanes.sh"

harness_sources=$FSBML_TOP/tests/mpi
harness_cluster=test$$  # of this run alone: another run's cluster is never touched
harness_which=()        # which Open MPI, as options of `fsbml cluster run`
harness_bml=fsbml
harness_filter=""
harness_set=""          # of the tests; see harness_in
harness_passed=0
harness_failed=0
harness_shape=""        # of the cluster that is up
harness_offload=on      # of its rails
harness_nodes=()        # its nodes' namespaces
harness_version=""      # of the Open MPI in use
harness_major=""
harness_programs=""     # where the compiled programs are
harness_logs=""
harness_stdout=""       # the last job's output, and how it ended
harness_stderr=""
harness_status=0
harness_seconds=0
harness_pid=0
harness_started=0

harness_usage() {
    cat <<HELP
usage: $1 [--reference | --openmpi PREFIX] [--bml NAME] [--set SET] [--filter REGEX]

$2

  --reference        with the patched Open MPI of './fsbml build --reference'
  --openmpi PREFIX   with another Open MPI (default: the one in use, see './fsbml prefix')
  --bml NAME         the BML component that carries the traffic (fsbml; r2 tests the tests)
  --set SET          'version': tests of what depends on Open MPI's version, to be run with each; 'once': all others
                     (default: both)
  --filter REGEX     only the tests whose names match
HELP
}

# harness_begin WHAT ARGUMENTS...: options; finds the Open MPI; compiles every program in this folder for it.
harness_begin() {
    local what=$1 prefix="" reference=no version mpicc
    shift
    while [ $# -gt 0 ]; do
        case "$1" in
            -h | --help)
                harness_usage "${0##*/}" "$what"
                exit 0
                ;;
            --reference) reference=yes ;;
            --openmpi | --bml | --set | --filter)
                [ $# -ge 2 ] || die "$1 needs a value."
                case "$1" in
                    --openmpi) prefix=$2 ;;
                    --bml) harness_bml=$2 ;;
                    --set) harness_set=$2 ;;
                    --filter) harness_filter=$2 ;;
                esac
                shift
                ;;
            *) die "unknown option '$1'; --help lists them." ;;
        esac
        shift
    done
    case "$harness_set" in
        '' | version | once) ;;
        *) die "--set: there is no set '$harness_set'; there are 'version' and 'once'." ;;
    esac
    is_root || die "the MPI tests need root, for their virtual clusters."
    if [ "$reference" = yes ]; then
        [ -z "$prefix" ] || die "--reference and --openmpi exclude each other."
        prefix=$(reference_prefix)
        [ -n "$prefix" ] || die "the reference Open MPI has not been built; './fsbml build --reference' does that."
        harness_which=(--reference)
    else
        [ -n "$prefix" ] || prefix=$(openmpi_prefix) || die "there is no Open MPI; './fsbml build' installs Debian's."
        harness_which=(--openmpi "$prefix")
        if [ "$harness_bml" = fsbml ] && ! component_dir "$prefix" >/dev/null; then
            die "the component has not been built for the Open MPI in $prefix; './fsbml build --openmpi $prefix' does that."
        fi
    fi
    version=$(openmpi_version "$prefix") || die "'$prefix' holds no Open MPI."
    mpicc=$(openmpi_tool "$prefix" mpicc) || die "the Open MPI in '$prefix' has no mpicc."
    harness_version=$version
    harness_major=${version%%.*}
    harness_programs=$FSBML_BUILD/tests-$version-$(printf '%s' "$prefix" | sha256sum | cut -c 1-8)
    mkdir -p "$harness_programs"
    harness_compile "$mpicc"
    harness_logs=$(mktemp -d "${TMPDIR:-/tmp}/fsbml-test.XXXXXX")
    harness_stdout=$harness_logs/stdout
    harness_stderr=$harness_logs/stderr
    # A signal must end the run, and the run's end takes the cluster down.
    trap harness_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    printf '# Open MPI %s in %s, bml %s\n' "$version" "$prefix" "$harness_bml"
}

# harness_has NAME: is there such a program for this Open MPI? Sessions came with Open MPI 5; PRRTE in 5.0.7 damages its
# heap when a job spawns or connects, and every tenth mpirun or so dies of it, whatever the BML. One case wants memory.
harness_has() {
    case "$1" in
        sessions) [ "$harness_major" -ge 5 ] ;;
        spawn | connect) [ "$harness_major" -lt 5 ] ;;
        big) awk '/^MemTotal:/ { enough = $2 >= 8 * 1024 * 1024 } END { exit !enough }' /proc/meminfo ;;
    esac
}

# harness_in SET: are the tests of that set wanted?
harness_in() { [ -z "$harness_set" ] || [ "$harness_set" = "$1" ]; }

# harness_compile MPICC
harness_compile() {
    local skip=""
    harness_has sessions || skip=sessions
    make -C "$harness_programs" -f "$harness_sources/programs.mk" -j "$(nproc)" TOP="$FSBML_TOP" MPICC="$1" SKIP="$skip" \
        >"$harness_programs/log" 2>&1 || {
        cat "$harness_programs/log" >&2
        die "the programs in tests/mpi do not compile."
    }
}

harness_cleanup() {
    harness_lanes_end
    harness_cluster_down
    rm -rf -- "$harness_logs"
}

# harness_fsbml ARGUMENTS...: the driver, silent unless it fails.
harness_fsbml() {
    "$FSBML_TOP/fsbml" "$@" >"$harness_logs/driver" 2>&1 </dev/null || {
        cat "$harness_logs/driver" >&2
        die "'fsbml $*' failed."
    }
}

# harness_ask_nodes: sets harness_nodes, of the cluster that is up.
harness_ask_nodes() {
    mapfile -t harness_nodes < <("$FSBML_TOP/fsbml" cluster status --name "$harness_cluster" | awk '$1 ~ /^node[0-9]+$/ { print $2 }')
}

# harness_cluster_up NODES RATE...: nothing if that very cluster is up and unspoilt.
harness_cluster_up() {
    local nodes=$1 rate rails=() more=""
    [ "$harness_shape" != "$*" ] || return 0
    harness_cluster_down
    shift
    # Packets larger than a frame, as network cards take them: frame by frame, the processors have more work than the rails.
    # The emulator, which carries all where one rail has a delay, takes frames only.
    [[ $* = *delay=* ]] || more=,offload=$harness_offload
    for rate in "$@"; do rails+=(--rail "rate=$rate$more"); done
    harness_fsbml cluster up --name "$harness_cluster" --nodes "$nodes" "${rails[@]}"
    harness_shape="$nodes $*"
    harness_ask_nodes
    [ "${#harness_nodes[@]}" -eq "$nodes" ] || die "the cluster has ${#harness_nodes[@]} nodes instead of $nodes."
    # No TIME_WAIT: it keeps ports busy, and in its second life (sessions) the tcp BTL, which never asks to reuse a port,
    # would listen on another one than PMIx still tells the peers.
    local node
    for node in "${harness_nodes[@]}"; do
        nsenter --net="/run/netns/$node" sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets'
    done
}

harness_cluster_down() {
    [ -n "$harness_shape" ] || return 0
    harness_shape=""
    harness_fsbml cluster down --name "$harness_cluster"
}

# harness_table FILE RATE...: parameters as `bml_fsbml_table` takes them, of rails with these rates, such as 200mbit. For jobs that
# are not about measuring, so that a busy machine does not decide which rails they use.
harness_table() {
    local file=$1 rate rail=0
    shift
    printf 'fsbml-table 2\n' >"$file"
    for rate in "$@"; do
        rate=${rate%%,*}
        rate=${rate/gbit/000mbit}
        # Frames' headers take 5 % of a rail.
        awk -v rail=$((rail++)) -v rate="${rate%mbit}" 'BEGIN {
            printf "rail tcp:10.71.%d.0/24 rail%d L=20000 o_s=5000 o_r=5000 g=1000 G=%g\n", rail, rail, 8400 / rate }' >>"$file"
    done
}

# harness_wanted NAME
harness_wanted() { [ -z "$harness_filter" ] || [[ $1 =~ $harness_filter ]]; }

# harness_start LIMIT RANKS ARGUMENTS...: starts mpirun with ARGUMENTS on the cluster; its process is harness_pid.
harness_start() {
    local limit=$1 ranks=$2
    shift 2
    harness_started=${EPOCHREALTIME/[.,]/}
    : >"$harness_stdout"
    : >"$harness_stderr"
    timeout -k 20 "$limit" "${harness_undisturbed[@]}" "$FSBML_TOP/fsbml" cluster run --name "$harness_cluster" "${harness_which[@]}" -n "$ranks" -- "$@" \
        >"$harness_stdout" 2>"$harness_stderr" </dev/null &
    harness_pid=$!
}

# harness_wait: until that job has ended; sets harness_status, _seconds and the two output files. Status 124 or 137 is a job
# that did not end within its limit.
harness_wait() {
    harness_status=0
    wait "$harness_pid" || harness_status=$?
    # PRRTE writes the zero byte at the end of some of its lines.
    sed -i 's/\x00//g' "$harness_stdout" "$harness_stderr"
    harness_seconds=$(awk -v us=$((${EPOCHREALTIME/[.,]/} - harness_started)) 'BEGIN { printf "%.1f", us / 1e6 }')
}

harness_job() {
    harness_start "$@"
    harness_wait
}

# harness_measure RANKS ARGUMENTS...: a job that measures its rails. Other programs cannot take the processors from it, where real-time
# priority is allowed. Not for jobs in whose midst a rail is changed: the kernel's own threads, by which it is, would have to wait.
harness_undisturbed=()
harness_measure() {
    local harness_undisturbed=()
    ! chrt -r 1 true 2>/dev/null || harness_undisturbed=(chrt -r 1)
    harness_job "$LIMIT" "$@"
}

# harness_job_until COMMAND LIMIT RANKS ARGUMENTS...: stops the job once the command is true; harness_status is then 'stopped'.
harness_job_until() {
    local seen="" condition=$1
    shift
    harness_start "$@"
    while kill -0 "$harness_pid" 2>/dev/null; do
        if "$condition"; then
            seen=stopped
            kill -TERM "$harness_pid"
            break
        fi
        sleep 0.1
    done
    harness_wait
    harness_status=${seen:-$harness_status}
}

# harness_has_come FILE PATTERN: waits for a line of the job that runs, for some seconds; false if it has not come.
harness_has_come() {
    local turns=0
    until grep -qE "$2" "$1"; do
        [ $((turns += 1)) -le 200 ] && kill -0 "$harness_pid" 2>/dev/null || return 1
        sleep 0.05
    done
}

# harness_stream SECONDS: the program is a stream that ends after so long, or once harness_enough is called.
harness_stream() {
    rm -f -- "$harness_logs/enough"
    harness_program stream "$1" "$harness_logs/enough"
}
harness_enough() { : >"$harness_logs/enough"; }

# harness_stop NODE SECONDS: a rank on that node does not run for so long. False: none is there. By the node, as jobs on other
# clusters have the same programs and ranks.
harness_stop() {
    local pid
    for pid in $(ip netns pids "${harness_nodes[$1]}"); do
        grep -qz '^OMPI_COMM_WORLD_RANK=' "/proc/$pid/environ" 2>/dev/null || continue
        kill -STOP "$pid"
        sleep "$2"
        kill -CONT "$pid"
        return 0
    done
    return 1
}

# harness_stream_paused NAME UNWANTED: the TAP line of the stream that runs, whose rank 1 is stopped for 3 s: it pauses, and stderr has no
# line of that pattern.
harness_stream_paused() {
    local reason=""
    harness_stop 1 3 || reason="its process was not found"
    harness_wait
    [ -n "$reason" ] || reason=$(harness_said stream "$LIMIT" "" "$2")
    [ -n "$reason" ] || grep -qE '^stream: .*pause took [2-9]\.' "$harness_stdout" || reason="it did not pause"
    harness_result "$1" "$reason"
}

# harness_result NAME [REASON]: the TAP line; with a reason it is a failure, and what the job said follows.
harness_result() {
    if [ -n "${2:-}" ]; then
        harness_not_ok "$1" "$2"
        grep -A 33 ": hung: rank" "$harness_stderr" | sed "s/^/#   /" || :
        head -n 40 "$harness_stdout" | sed 's/^/#   stdout: /'
        awk 'NR <= 30 { print; next } { last[NR % 30] = $0 }
            END { if (NR > 60) print "..."; for (n = NR > 60 ? NR - 29 : 31; n <= NR; n++) print last[n % 30] }' "$harness_stderr" |
            sed 's/^/#   stderr: /'
        return
    fi
    harness_passed=$((harness_passed + 1))
    printf 'ok %d - %s (%s s)\n' $((harness_passed + harness_failed)) "$1" "$harness_seconds"
}

# harness_not_ok NAME REASON: a failure that the last job's output does not explain.
harness_not_ok() {
    harness_failed=$((harness_failed + 1))
    printf 'not ok %d - %s (%s s)\n# %s\n' $((harness_passed + harness_failed)) "$1" "$harness_seconds" "$2"
}

# harness_left_out NAME REASON: a test that this Open MPI makes no sense of; the run names it at its end.
harness_left_out() { printf 'ok - %s # SKIP %s\n' "$1" "$2"; }

# harness_ended_late LIMIT: prints the reason if the last job had to be killed. (137 is also a job of which a rank was killed.)
harness_ended_late() {
    [ "${harness_seconds%.*}" -ge "$1" ] || return 0
    case "$harness_status" in
        124 | 137) printf 'hung: it did not end within %s s' "$1" ;;
    esac
}

# harness_second_init_hung NAME LIMIT: true if a job that initialises MPI twice may run once more. On a busy machine the fence of the
# second MPI_Init of Open MPI 5.0.7 now and then never ends, with r2 as well (5 of 100 jobs). FSBML measures behind it, for some
# seconds at most, and then shows its table: where the second table is missing, it was not asked for anything yet.
harness_second_init_hung() {
    [ -n "$(harness_ended_late "$2")" ] && [ "$(grep -cE 'fsbml: (rail  |not measured)' "$harness_stderr")" -lt 2 ] &&
        again "$1" "Open MPI's second MPI_Init did not end" 3
}

# harness_failure NAME LIMIT: prints why the last job did not do what every job must, or nothing: it ends in time and well,
# and rank 0 says once that all checks of the program, or of the case with its arguments, passed.
harness_failure() {
    local reason count
    reason=$(harness_ended_late "$2")
    count=$(grep -cE "^(case )?$1: [1-9][0-9]* checks passed" "$harness_stdout") || :
    if [ -n "$reason" ]; then
        printf '%s' "$reason"
    elif [ "$harness_status" -ne 0 ]; then
        printf 'exit status %d' "$harness_status"
    elif [ "$count" -ne 1 ]; then
        printf "'%s: N checks passed' was printed %d times" "$1" "$count"
    fi
}

# harness_said NAME LIMIT WANTED [UNWANTED]: the same, and stderr has a line of the one pattern and none of the other; "": no pattern.
harness_said() {
    local reason
    reason=$(harness_failure "$1" "$2")
    if [ -n "$reason" ]; then
        printf '%s' "$reason"
    elif [ -n "$3" ] && ! grep -qE -- "$3" "$harness_stderr"; then
        printf "nothing says '%s'" "$3"
    elif [ -n "${4:-}" ] && grep -qE -- "$4" "$harness_stderr"; then
        printf "something says '%s'" "$4"
    fi
}

# What may stand on stderr, whatever the BML.
HARNESS_NOISE=(
    '^$'
    '^fsbml: [^e]'  # the driver's progress
    'plm:(rsh|ssh): Warning: setpgid\([0-9]+,[0-9]+\) failed in parent'  # mpirun lost a race with its own child
    # Open MPI 6.0.0rc2 says of itself:
    '^ $'
    'WARNING: Calling MPI_Cancel for a request created by a non-blocking send is deprecated'
    'osc_ucx_component\.c:[0-9]+ +Error: OSC UCX component priority set inside component query failed'
)

# harness_noise: prints the last job's first line on stderr that may not be there, if there is one.
harness_noise() {
    local patterns
    patterns=$(printf '%s\n' "${HARNESS_NOISE[@]}")
    grep -m 1 -vE "$patterns" "$harness_stderr" || :
}

# harness_end: the plan, the summary line, and the script's exit status.
harness_end() {
    local total=$((harness_passed + harness_failed))
    harness_cluster_down
    if [ "$total" -eq 0 ] && [ -n "$harness_set" ] && [ -z "$harness_filter" ]; then
        printf '1..0 # SKIP no test of this script is in the set "%s"\n' "$harness_set"
        return
    fi
    [ "$total" -gt 0 ] || die "no test matches '$harness_filter'."
    printf '1..%d\n%d passed, %d failed\n' "$total" "$harness_passed" "$harness_failed"
    [ "$harness_failed" -eq 0 ]
}
