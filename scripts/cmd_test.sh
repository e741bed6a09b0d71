# ./fsbml test: all tests, the same that CI runs.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"
# shellcheck source=scripts/stock.sh
. "$FSBML_TOP/scripts/stock.sh"
# shellcheck source=scripts/check.sh
. "$FSBML_TOP/scripts/check.sh"
# shellcheck source=scripts/tally.sh
. "$FSBML_TOP/scripts/tally.sh"

# In the order in which they run. Sections of the reference build begin with ref-.
TEST_SECTIONS=(units sanitizers threads link bench driver mpi badinput mpi-sanitizers ref-units ref-mpi ref-badinput ref-r2)

test_about() {
    case "$1" in
        units) echo "core, shim, layout, base patches and DSO, built for the Open MPI in use (make check)" ;;
        sanitizers) echo "core with ASan and UBSan" ;;
        threads) echo "threads on the scheduler, and in the pseudo BTL, with TSan" ;;
        link) echo "the link emulator's parts, with ASan and UBSan" ;;
        bench) echo "the bench's parts, with ASan and UBSan" ;;
        driver) echo "the driver's commands" ;;
        mpi) echo "MPI programs on virtual clusters, stock component" ;;
        badinput) echo "bad parameters and broken rails, stock component" ;;
        mpi-sanitizers) echo "MPI programs under ASan, UBSan, LeakSanitizer and memcheck, stock component for Open MPI 4.1" ;;
        ref-units) echo "reference build: make check but for the core, with the base patches' own tests" ;;
        ref-mpi) echo "MPI programs on virtual clusters, reference build" ;;
        ref-badinput) echo "bad parameters and broken rails, reference build" ;;
        ref-r2) echo "r2 in the patched Open MPI: MPI programs as without patches" ;;
    esac
}

cmd_test_help() {
    local section
    cat <<HELP
usage: ./fsbml test [--quick] [--only SECTION]...

Runs all tests and prints 'N passed, N failed' as the last line; the exit status says the same. Installs what is missing of
Debian's packages (root). Needs root for the virtual clusters. The reference build takes some 15 minutes the first time.

  --quick          without the reference build
  --only SECTION   this section; may be repeated

Sections:
HELP
    for section in "${TEST_SECTIONS[@]}"; do printf '  %-14s %s\n' "$section" "$(test_about "$section")"; done
}

test_units() {
    "$FSBML_TOP/fsbml" build
    make_check "$(stock_dir "$(openmpi_prefix)")" check_component "$(openmpi_prefix)"
}

test_sanitizers() { make_check "$FSBML_BUILD/sanitized" check_sanitized; }

# compile_tests PROGRAM LIBRARIES FLAG... -- SOURCE...: a program of gtest's, by as many compilers at a time as there are processors.
compile_tests() {
    local program=$1 libraries=$2 flags=()
    shift 2
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    rm -rf "$program.objects"
    mkdir -p "$program.objects"
    (cd "$program.objects" && printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "${CXX:-c++}" -std=c++17 -g1 -O1 "${flags[@]}" -c) || return 1
    # shellcheck disable=SC2086 # several libraries
    "${CXX:-c++}" "${flags[@]}" -o "$program" "$program.objects"/*.o $libraries -lgtest_main -lgtest -pthread
}

# The core as it is and one test program: quicker than a third configured build.
test_threads() {
    local program=$FSBML_BUILD/tsan/threads_test core=$FSBML_TOP/ompi/mca/bml/fsbml/core
    need_build_tools
    need_googletest
    logged "$FSBML_BUILD/log/tsan-make.log" "compiling the core with TSan" \
        compile_tests "$program" "" -fsanitize=thread -I "$core" -- "$core"/*.cpp "$FSBML_TOP/tests/unit/threads_test.cpp" ||
        die "the core does not compile with TSan; the log is $FSBML_BUILD/log/tsan-make.log"
    # TSan of gcc 12 cannot place its shadow memory where the kernel randomises addresses much.
    TSAN_OPTIONS=halt_on_error=1 setarch "$(uname -m)" -R "$program" | gtest_to_tap threads_test
    check_shim_threads "$(stock_openmpi "")"
}

test_link() {
    local program=$FSBML_BUILD/link-tests/link_test link=$FSBML_TOP/bench/link
    need_googletest
    need_packages "the link emulator" libcli11-dev libfmt-dev
    logged "$FSBML_BUILD/log/link-tests.log" "compiling the emulator's tests" \
        compile_tests "$program" -lfmt -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -I "$link" -- \
        "$link"/{direction,shape,tap,board,control}.cpp "$FSBML_TOP"/tests/link/*_test.cpp ||
        die "the emulator's tests do not compile; the log is $FSBML_BUILD/log/link-tests.log"
    "$program" | gtest_to_tap link_test
}

test_bench() {
    local dir=$FSBML_BUILD/bench-tests log=$FSBML_BUILD/log/bench-tests.log flags="-g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    need_googletest
    need_packages "the bench" make nlohmann-json3-dev libcli11-dev libfmt-dev gnuplot-nox
    mkdir -p "$dir"
    logged "$log" "compiling the bench's tests" make -C "$dir" -f "$FSBML_TOP/bench/programs.mk" -j "$(nproc)" "TOP=$FSBML_TOP" MPICC=true \
        "CXXFLAGS=$flags" "LDFLAGS=$flags" bench_tests || die "the bench's tests do not compile; the log is $log"
    "$dir/bench_tests" | gtest_to_tap bench_tests
}

# run_scripts ARGUMENT... -- SCRIPT...: each with these arguments, also after one that has failed.
run_scripts() {
    local script status=0 own=$FSBML_BUILD/log/test-script.log arguments=()
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    for script in "$@"; do
        say "${script##*/}"
        "$BASH" "$script" "${arguments[@]}" | tee "$own" && continue
        status=1
        # One that breaks off has failed, also where all of its lines said ok.
        grep -q '^not ok' "$own" || printf 'not ok - %s ended with an error\n' "${script##*/}"
    done
    return "$status"
}

test_driver() {
    run_scripts -- "$FSBML_TOP"/tests/driver/*_test.sh
}

test_mpi() {
    "$FSBML_TOP/fsbml" build
    run_scripts -- "$FSBML_TOP"/tests/mpi/{run,uneven,classes,cache,faults,calibrate,record,display,report}.sh
}

test_badinput() {
    "$FSBML_TOP/fsbml" build
    "$FSBML_TOP/tests/mpi/badinput.sh"
}

test_mpi-sanitizers() {
    need_packages "memcheck" valgrind
    "$FSBML_TOP/fsbml" build
    case "$(openmpi_version "$(openmpi_prefix)")" in
        4.1.*) "$FSBML_TOP/tests/mpi/sanitizers.sh" ;;
        # What other versions leak is not known.
        *) echo "ok - mpi-sanitizers # SKIP they are for Open MPI 4.1" ;;
    esac
}

test_ref-units() {
    "$FSBML_TOP/fsbml" build --reference
    # Its core is the same, compiled in the same way, as that of the units.
    make_check "$(stock_dir "$(reference_prefix)")" check_component "$(reference_prefix)" no-core
}

test_ref-mpi() {
    "$FSBML_TOP/fsbml" build --reference
    run_scripts --reference -- "$FSBML_TOP"/tests/mpi/{run,uneven,classes,cache,faults,calibrate,record,display,report}.sh
}

test_ref-badinput() {
    "$FSBML_TOP/fsbml" build --reference
    "$FSBML_TOP/tests/mpi/badinput.sh" --reference
}

test_ref-r2() {
    "$FSBML_TOP/fsbml" build --reference
    # Without sessions: with r2, one job in twenty or thirty hangs in its second life, patched or not. Without unreceived
    # messages at the end: there SIGPIPE ends one in fifteen (fsbml guards against it).
    "$FSBML_TOP/tests/mpi/run.sh" --reference --bml r2 \
        --filter '^2 nodes, 2 ranks, (200mbit|200mbit 20mbit): ([a-k]|late|lifecycle [bpq]|[m-r]|spawn|threads)'
}

cmd_test() {
    local quick=no only=() section sections=() start=$SECONDS
    while [ $# -gt 0 ]; do
        case "$1" in
            --quick) quick=yes ;;
            --only)
                [ $# -ge 2 ] || die "test: --only needs a section; './fsbml test --help' lists them."
                [ -n "$(test_about "$2")" ] || die "test: there is no section '$2'; './fsbml test --help' lists them."
                only+=("$2")
                shift
                ;;
            *) die "test: unknown option '$1'; './fsbml test --help' lists them." ;;
        esac
        shift
    done
    is_root || die "test needs root, for the virtual clusters and the packages that may be missing."
    for section in "${TEST_SECTIONS[@]}"; do
        [ "$quick" = no ] || [[ $section != ref-* ]] || continue
        [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $section "* ]] || continue
        sections+=("$section")
    done
    [ ${#sections[@]} -gt 0 ] || die "test: nothing is left to run; --quick leaves out the sections of the reference build."
    exec </dev/null
    export PATH=$PATH:/usr/sbin:/sbin
    need_packages "the tests" g++ make autoconf automake libtool libgtest-dev iproute2 ethtool util-linux procps
    tally_begin
    for section in "${sections[@]}"; do tally_section "$section" "$(test_about "$section")" "test_$section"; done
    say "all sections took $(((SECONDS - start) / 60)) min"
    tally_end
}
