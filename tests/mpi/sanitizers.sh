#!/usr/bin/env bash
# MPI jobs with the whole component, core and shim, under ASan, UBSan and LeakSanitizer, under TSan, and under valgrind's memcheck:
# any report fails.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/mpi/harness.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/harness.sh"
# shellcheck source=tests/mpi/test_btl.sh
. "$harness_sources/test_btl.sh"
# shellcheck source=scripts/check.sh
. "$FSBML_TOP/scripts/check.sh"

LIMIT=${FSBML_TEST_LIMIT:-90}
# A measurement that the processors' work disturbs does not hold, and then one rail carries all: under the tools, only slow
# rails are slower than the processors.
RAILS=(60mbit 30mbit)
SLOW_RAILS=(20mbit 10mbit)
budget=2000 # milliseconds for the measurement

# component NAME FLAGS: builds it with these, unless it is done; sets `dso`.
component() {
    local dir=$FSBML_BUILD/$1-mpi-$version flags=$2 log=$FSBML_BUILD/log/$1-mpi options
    need_build_tools
    prepare_build
    mapfile -t options < <(configure_options "$prefix")
    configure_in "$dir" "$(configure_key "$prefix" "$flags")" "configuring the component with sanitizers" \
        "${options[@]}" CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS="$flags"
    logged "$log-make.log" "compiling the component with sanitizers" \
        make -C "$dir/build/ompi/mca/bml/fsbml" -j "$(nproc)" mca_bml_fsbml.la ||
        die "the component does not compile with sanitizers; the log is $log-make.log"
    exec 9>&-
    dso=$dir/component/mca_bml_fsbml.so
    put_file "$dir/build/ompi/mca/bml/fsbml/.libs/mca_bml_fsbml.so" "$dso"
    put_file "$FSBML_TOP/ompi/mca/bml/fsbml/help-mca-bml-fsbml.txt" "$dir/component/help-mca-bml-fsbml.txt"
}

# helpers: what jobs take beside the programs: a library with which nothing is unloaded, so that stacks keep their names; a
# program that loses memory, which shows that the tools see leaks of a job.
helpers() {
    local mpicc
    mpicc=$(openmpi_tool "$prefix" mpicc)
    printf 'int dlclose(void *handle)\n{\n    (void) handle;\n    return 0;\n}\n' |
        "${CC:-cc}" -shared -fPIC -x c - -o "$harness_logs/keep.so" &&
        "$mpicc" -g -O0 -x c - -o "$harness_logs/loses" <<'C'
#include <mpi.h>
#include <stdlib.h>
static void *volatile last;
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; ++i) {
        last = malloc(77);
    }
    return MPI_Finalize();
}
C
}

# under_asan / under_valgrind PROGRAM ARGUMENTS...: a job of two ranks; what the tool says is in $report.
under_asan() {
    OMPI_MCA_mca_base_component_path=${dso%/*}:${test_btl:+$test_btl:}SYS_DEFAULT:USER_DEFAULT harness_job "$LIMIT" 2 --mca bml fsbml \
        --mca bml_fsbml_budget "$budget" --mca bml_fsbml_verbose 1 \
        -x "LD_PRELOAD=$(readlink -f -- "$("${CC:-cc}" -print-file-name=libasan.so)"):$harness_logs/keep.so" \
        -x ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=16 -x UBSAN_OPTIONS=print_stacktrace=1 \
        -x "LSAN_OPTIONS=suppressions=$harness_sources/openmpi.lsan:print_suppressions=0" "$@"
    grep -E -A 40 'ERROR: (Address|Leak)Sanitizer|runtime error:|Sanitizer has encountered' "$harness_stderr" >"$report" || :
}

under_valgrind() {
    rm -f "$harness_logs"/valgrind.*
    harness_job "$LIMIT" 2 --mca bml fsbml --mca bml_fsbml_budget "$budget" --mca bml_fsbml_verbose 1 \
        valgrind --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        --keep-debuginfo=yes --num-callers=40 --error-exitcode=9 \
        --suppressions="$harness_sources/openmpi.supp" --log-file="$harness_logs/valgrind.%q{OMPI_COMM_WORLD_RANK}" "$@"
    cat "$harness_logs"/valgrind.* >"$report" 2>&1 || : # without a log, the complaint is the report
    [ "$(grep -c 'ERROR SUMMARY: 0 errors' "$report")" -ne 2 ] || : >"$report"
}

# judged NAME PROGRAM: the verdict on the last job.
judged() {
    local reason
    reason=$(harness_ended_late "$LIMIT")
    if [ -z "$reason" ] && [ -s "$report" ]; then
        reason="a report: $(grep -m 1 -E 'ERROR: |error: |uninitialised|Invalid|lost in' "$report" || head -n 1 "$report")"
    elif [ -z "$reason" ] && [ "$harness_status" -ne 0 ]; then
        reason="exit status $harness_status"
    elif [ -z "$reason" ] && ! grep -qE "^(case )?$2: [1-9][0-9]* checks passed" "$harness_stdout"; then
        reason="'$2: N checks passed' was not printed"
    fi
    harness_result "$1" "$reason"
    [ -z "$reason" ] || head -n 60 "$report" | sed 's/^/#   report: /'
}

# on_both_rails NAME COMMAND...: a job of the test NAME in which both rails have figures, without which one carries all.
on_both_rails() {
    local budget=5000
    while :; do
        "${@:2}"
        if [ "$harness_status" -ne 0 ] || [ -s "$report" ]; then return; fi
        [ "$(grep -cE 'fsbml: rail[01] +tcp:[0-9./]+ +[0-9]' "$harness_stderr")" -ne 2 ] || return 0
        again "$1" "the measurement was disturbed" 2 || break
    done
    printf 'rails without figures: error: the processors were too busy\n' >"$report"
}

# over_hardware PROGRAM OPTION...: the same over modules of the test BTL; OPTIONs without "btl_hw_".
over_hardware() {
    local program=$1 option words=()
    shift
    local name="ASan and UBSan: $program over hw $*"
    harness_wanted "$name" || return 0
    for option in "$@"; do words+=(--mca "btl_hw_${option%%=*}" "${option#*=}"); done
    # shellcheck disable=SC2086
    harness_program $program
    under_asan --mca btl self,hw --mca osc_rdma_btls hw --mca mpi_yield_when_idle 1 "${words[@]}" "${harness_command[@]}"
    judged "$name" "$program"
}

# finds NAME COMMAND...: the tool under COMMAND reports what the program `loses` loses, and fails the job.
finds() {
    local reason="" budget=10
    "${@:2}" "$harness_logs/loses"
    [ "$harness_status" -ne 0 ] && grep -qE 'leak of 693 byte|693 bytes in 9 blocks are definitely lost' "$report" ||
        reason="no report of what was lost on purpose"
    harness_result "$1" "$reason"
}

sanitized() {
    local symbols reason="" program
    component sanitized "$SANITIZED"
    symbols=$(nm -D "$dso")
    [[ $symbols == *__asan_report_* && $symbols == *__ubsan_handle_* ]] || reason="the component is not instrumented"
    harness_result "ASan and UBSan: the component is instrumented" "$reason"
    harness_cluster_up 2 "${RAILS[@]}"
    finds "LeakSanitizer finds a leak of a job" under_asan
    for program in pt2pt datatypes threads "lifecycle unreceived"; do
        # shellcheck disable=SC2086  # a name and its arguments
        harness_program $program
        under_asan "${harness_command[@]}"
        judged "ASan and UBSan: $program" "${program%% *}"
    done
    # shellcheck disable=SC2086
    test_btl_build $SANITIZED
    for program in pt2pt "order 1" requests stress onesided onesided_passive; do
        over_hardware "$program" modules=2
        over_hardware "$program" modules=3 refuse=5 descriptors=16
    done
    harness_cluster_up 2 "${SLOW_RAILS[@]}"
    on_both_rails "ASan and UBSan: lifecycle busy, on both rails" under_asan "$harness_programs/lifecycle" busy
    judged "ASan and UBSan: lifecycle busy, on both rails" lifecycle
}

# raced: eight threads a rank over the test BTL under TSan. Open MPI itself is not compiled with it: what its own threads do between
# its own functions does not count.
raced() {
    local symbols options reason=""
    component raced "$RACED"
    # shellcheck disable=SC2086
    test_btl_build $RACED
    symbols=$(nm -D "$dso")
    [[ $symbols == *__tsan_write* ]] || reason="the component is not instrumented"
    harness_result "TSan: the component is instrumented" "$reason"
    harness_cluster_up 2 "${RAILS[@]}"
    harness_program stress
    for options in "--mca btl_hw_modules 2" "--mca btl_hw_modules 3 --mca btl_hw_refuse 5" "--mca btl_hw_descriptors 8"; do
        # shellcheck disable=SC2086
        OMPI_MCA_mca_base_component_path=${dso%/*}:$test_btl:SYS_DEFAULT:USER_DEFAULT harness_job "$LIMIT" 2 --mca bml fsbml \
            --mca btl self,hw --mca mpi_yield_when_idle 1 $options \
            -x "LD_PRELOAD=$(readlink -f -- "$("${CC:-cc}" -print-file-name=libtsan.so)"):$harness_logs/keep.so" \
            -x TSAN_OPTIONS=ignore_noninstrumented_modules=1:history_size=4:exitcode=0 "${harness_command[@]}"
        grep -A 40 'WARNING: ThreadSanitizer' "$harness_stderr" >"$report" || :
        judged "TSan: stress, $options" stress
    done
}

memchecked() {
    harness_cluster_up 2 "${SLOW_RAILS[@]}"
    finds "memcheck finds a leak of a job" under_valgrind
    on_both_rails "memcheck: lifecycle busy, on both rails" under_valgrind "$harness_programs/lifecycle" busy
    judged "memcheck: lifecycle busy, on both rails" lifecycle
}

dso=""
need_packages "memcheck" valgrind
harness_begin "Runs MPI programs with the stock component under ASan, UBSan and LeakSanitizer, and under valgrind." "$@"
prefix=${harness_which[1]}
version=$(openmpi_version "$prefix")
report=$harness_logs/report
[ "$harness_major" -eq 4 ] || die "the known leaks are those of Open MPI 4.1; the one in $prefix is $version."
helpers || die "the helpers do not compile."
if harness_in once; then
    ! harness_wanted "ASan and UBSan" || sanitized
    ! harness_wanted TSan || raced
    ! harness_wanted memcheck || memchecked
fi
harness_end
