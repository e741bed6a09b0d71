# The sections of a test run: what each is about, what it needs, and what it runs. Sourced by cmd_test.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck disable=SC2034 # cmd_test.sh reads the lists
#
# A new section NAME is a word in one of the lists, a line in test_about and test_needs, and a function test_NAME that prints TAP.

# What only computes. It has the processors while the others wait, for their rails for one, and takes nothing from them.
TEST_COMPUTING=(patched-check sanitizers bench component units debian13-check sid-check debian12-check clang)
# The longest first. What needs a build that is made meanwhile, last.
TEST_BESIDE=(driver demo commands package debian13-package sid-package debian12-package mpi-sanitizers badinput debian13-badinput
    sid-badinput debian12-badinput hardware versions threads trouble rpm link patched-r2)
# What measures rails, or counts what each of them carried, or keeps the processors busy itself.
TEST_ALONE=(mpi-quick mpi clusters debian12-mpi debian13-mpi sid-mpi patched-mpi)
# Of these, what looks whether the processors are idle, before it measures.
TEST_QUIET=(clusters)
# Parts of others, which run only where they are asked for: each test of the core runs once, in sanitizers or in component.
TEST_BY_NAME=(units rpm mpi-quick)
TEST_QUICK=(units mpi-quick)
# In a system: what depends on its Open MPI and its compiler.
TEST_INSIDE=(units mpi badinput)

# Tests of the driver that need neither a virtual cluster nor a quiet machine.
COMMANDS_TESTS=(build harness headers rails sections simulate suite system tally trace whatif)
# Those whose jobs' figures mean nothing to them.
DRIVER_TESTS=(bench docs link)
DEMO_TESTS=(demo container)

test_about() {
    case "$1" in
        units) echo "core, shim, layout, base patches and DSO, built for the Open MPI in use (make check)" ;;
        component) echo "shim, layout, base patches and DSO, built for the Open MPI in use (make check; the core's unit tests run with sanitizers)" ;;
        clang) echo "the component, compiled with clang (the newest: by --system sid)" ;;
        sanitizers) echo "core with ASan and UBSan" ;;
        threads) echo "threads on the scheduler, and in the pseudo BTL, with TSan" ;;
        link) echo "the link emulator's parts, with ASan and UBSan" ;;
        bench) echo "the bench's parts, with ASan and UBSan" ;;
        commands) echo "the driver's commands that need no cluster" ;;
        package) echo "the Debian package: built, installed, used in a job, and removed" ;;
        rpm) echo "the RPM: built by its spec, installed, used in a job, and removed, in a system whose Open MPI's source is at hand (debian13)" ;;
        driver) echo "the driver's commands on virtual clusters, but those that measure" ;;
        demo) echo "the demo, as root, as another user, in a container" ;;
        clusters) echo "the driver's commands that measure, on virtual clusters" ;;
        mpi) echo "MPI programs on virtual clusters, stock component" ;;
        mpi-quick) echo "the basic MPI programs on one virtual cluster, stock component" ;;
        badinput) echo "bad parameters and broken rails, stock component" ;;
        mpi-sanitizers) echo "MPI programs under ASan, UBSan, LeakSanitizer, TSan and memcheck, stock component for Open MPI 4.1" ;;
        debian12-check | debian13-check | sid-check) echo "system ${1%-check}: make check but for the core, with its compiler, for its Open MPI" ;;
        debian12-badinput | debian13-badinput | sid-badinput) echo "system ${1%-badinput}: bad parameters and broken rails" ;;
        debian12-package | debian13-package | sid-package) echo "system ${1%-package}: the Debian package" ;;
        debian12-mpi | debian13-mpi | sid-mpi) echo "system ${1%-mpi}: what depends on its Open MPI: programs on virtual clusters" ;;
        patched-check) echo "patched Open MPI in system debian13: build, and make check but for the core, with the base patches' own tests" ;;
        patched-mpi) echo "patched Open MPI in system debian13: MPI programs on virtual clusters" ;;
        hardware) echo "MPI programs over a BTL with the semantics of hardware" ;;
        trouble) echo "MPI programs on nodes in trouble: paused, short of file descriptors, two interfaces in one network" ;;
        versions) echo "a component in an Open MPI of another version: this machine's and those of systems debian13 and sid" ;;
        patched-r2) echo "r2 in the patched Open MPI: MPI programs as without patches" ;;
    esac
}

# test_needs SECTION: 'cluster', 'system' (which has clusters of its own), or nothing.
test_needs() {
    case "$1" in
        debian12-* | debian13-* | sid-* | patched-* | versions) echo system ;;
        driver | demo | clusters | mpi | mpi-quick | badinput | mpi-sanitizers | hardware | trouble) echo cluster ;;
    esac
}

# test_system SECTION: the system that it runs in, or the systems that it needs.
test_system() {
    case "$1" in
        patched-*) echo debian13 ;;
        versions) echo debian13 sid ;;
        debian12-* | debian13-* | sid-*) echo "${1%-*}" ;;
    esac
}

# test_packages SECTION: what is installed for it beforehand.
test_packages() {
    echo "g++ make autoconf automake libtool ccache libgtest-dev nlohmann-json3-dev libcli11-dev libfmt-dev procps util-linux"
    case "$(test_needs "$1")" in cluster) echo "iproute2 ethtool" ;; esac
    case "$1" in
        clang) echo "clang" ;;
        bench) echo "gnuplot-nox" ;;
        commands | driver | demo | clusters) echo "libbenchmark-dev valgrind gnuplot-nox python3 python3-jsonschema file" ;;
        mpi-sanitizers) echo "valgrind" ;;
        # Before it begins: what is installed beside the package's test would be that test's.
        rpm) echo "rpm elfutils debugedit bzip2 build-essential perl" ;;
    esac
}

# inside SYSTEM SECTION...: these sections in the system, or here if this is it. Their lines are ours.
inside() {
    local system=$1 section words=()
    shift
    for section in "$@"; do words+=(--only "$section"); done
    # What was repeated there counts here, of all tests.
    FSBML_TEST_REPEATED=100 "$FSBML_TOP/fsbml" test --system "$system" "${words[@]}"
}

# run_scripts ARGUMENT... -- SCRIPT...: each with these arguments, also after one that has failed.
run_scripts() {
    local script status=0 own=$FSBML_BUILD/log/test-script-$BASHPID.log arguments=() passed start
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    for script in "$@"; do
        say "${script##*/}"
        printf '# %s\n' "${script##*/}"
        start=$SECONDS passed=no
        "$BASH" "$script" "${arguments[@]}" | tee "$own" && passed=yes
        printf '# %s took %d s\n' "${script##*/}" $((SECONDS - start))
        [ "$passed" = no ] || continue
        status=1
        # One that breaks off has failed, also where all of its lines said ok.
        grep -q '^not ok' "$own" || printf 'not ok - %s ended with an error\n' "${script##*/}"
    done
    rm -f "$own"
    return "$status"
}

# run_mpi ARGUMENT...: all scripts of MPI jobs but those that have a section of their own.
run_mpi() { run_scripts "$@" -- "$FSBML_TOP"/tests/mpi/{run,feedback,failover,uneven,classes,cache,faults,calibrate,record,display,report}.sh; }

# ---- built for the Open MPI in use

test_units() { make_check "$(stock_dir "$(openmpi_prefix)")" check_component "$(openmpi_prefix)"; }

# The simulator once, not in each system and with each compiler.
test_component() {
    local without=${1:-${FSBML_SYSTEM:+no-core}}
    "$FSBML_TOP/fsbml" build
    make_check "$(stock_dir "$(openmpi_prefix)")" check_component "$(openmpi_prefix)" "${without:-no-unit}"
    run_scripts -- "$FSBML_TOP/tests/bench/inside_test.sh"
}

test_clang() { CC=clang CXX=clang++ FSBML_BUILD=$FSBML_BUILD/clang test_component no-core; }

test_mpi() { run_mpi ${FSBML_SYSTEM:+--set version}; }

test_mpi-quick() { run_scripts --filter '^2 nodes, 2 ranks, (200mbit 20mbit|2gbit 200mbit): ' -- "$FSBML_TOP/tests/mpi/run.sh"; }

test_badinput() { run_scripts ${FSBML_SYSTEM:+--set version} -- "$FSBML_TOP/tests/mpi/badinput.sh"; }

test_mpi-sanitizers() {
    case "$(openmpi_version "$(openmpi_prefix)")" in
        4.1.*) run_scripts -- "$FSBML_TOP/tests/mpi/sanitizers.sh" ;;
        # What other versions leak is not known.
        *) echo "ok - all of it # SKIP what Open MPI itself leaks is known of 4.1 only" ;;
    esac
}

# ---- no Open MPI's

test_sanitizers() { make_check "$FSBML_BUILD/sanitized" check_sanitized; }

test_threads() { check_threads "$(stock_openmpi "")"; }

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
    (cd "$program.objects" && printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "${CXX:-c++}" -std=c++17 -g1 -O1 "${flags[@]}" -MD -c) || return 1
    # shellcheck disable=SC2086 # several libraries
    "${CXX:-c++}" "${flags[@]}" -o "$program" "$program.objects"/*.o $libraries -lgtest_main -lgtest -pthread
}

test_link() {
    local program=$FSBML_BUILD/link-tests/link_test link=$FSBML_TOP/tools/link
    need_googletest
    need_packages "the link emulator" libcli11-dev libfmt-dev
    logged "$FSBML_BUILD/log/link-tests.log" "compiling the emulator's tests" \
        compile_tests "$program" -lfmt -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -I "$FSBML_TOP" -- \
        "$link"/{direction,shape,tap,board,control}.cpp "$FSBML_TOP"/tests/link/*_test.cpp ||
        die "the emulator's tests do not compile; the log is $FSBML_BUILD/log/link-tests.log"
    "$program" | gtest_to_tap link_test
}

test_bench() {
    local dir=$FSBML_BUILD/bench-tests log=$FSBML_BUILD/log/bench-tests.log core
    local sanitized="-g1 -O0 -fsanitize=address,undefined -fno-sanitize-recover=all"
    need_packages "the bench" make nlohmann-json3-dev libcli11-dev libfmt-dev gnuplot-nox
    core=$(sanitized_core)
    mkdir -p "$dir"
    logged "$log" "compiling the bench's tests" make -C "$dir" -f "$FSBML_TOP/bench/programs.mk" -j "$(nproc)" "TOP=$FSBML_TOP" MPICC=true \
        "CORE=$core" "CXXFLAGS=$sanitized" "LDFLAGS=$sanitized" bench_tests || die "the bench's tests do not compile; the log is $log"
    "$dir/bench_tests" | gtest_to_tap bench_tests
}

# ---- the driver

# run_driver NAME...: the driver's tests of these names.
run_driver() {
    local scripts=("${@/#/$FSBML_TOP/tests/driver/}")
    run_scripts -- "${scripts[@]/%/_test.sh}"
}

test_commands() {
    local name scripts=()
    for name in "${COMMANDS_TESTS[@]}"; do
        if [[ $name == sections || $name == system ]] && ! { is_root && unshare --mount true 2>/dev/null; }; then
            printf 'ok - %s_test.sh # SKIP it needs root and mounts of its own\n' "$name"
        else
            scripts+=("$name")
        fi
    done
    run_driver "${scripts[@]}"
}

test_package() { run_driver package; }

test_rpm() { run_driver rpm; }

# Nothing is measured for its own sake: no wait for a quiet machine.
test_driver() { FSBML_TEST_BUSY=1 run_driver "${DRIVER_TESTS[@]}"; }

test_demo() { FSBML_TEST_BUSY=1 run_driver "${DEMO_TESTS[@]}"; }

test_clusters() {
    local script scripts=()
    for script in "$FSBML_TOP"/tests/driver/*_test.sh; do
        [[ " ${COMMANDS_TESTS[*]} ${DRIVER_TESTS[*]} ${DEMO_TESTS[*]} package patched rpm versions " == *" $(basename -- "$script" _test.sh) "* ]] || scripts+=("$script")
    done
    run_scripts -- "${scripts[@]}"
}

# ---- other systems

# of_systems: makes test_SYSTEM-SECTION of each: sections of ours, in the system.
of_systems() {
    local name part
    for name in debian12 debian13 sid; do
        for part in check:component package:package badinput:badinput mpi:mpi; do
            eval "test_$name-${part%:*}() { inside $name ${part#*:}; }"
        done
    done
}
of_systems

test_hardware() { run_scripts -- "$FSBML_TOP/tests/mpi/hardware.sh"; }
test_trouble() { run_scripts -- "$FSBML_TOP/tests/mpi/trouble.sh"; }
test_versions() { run_driver versions; }

# in_debian13 SECTION COMMAND...: the section in that system, or COMMAND if this is it.
in_debian13() {
    local section=$1
    shift
    if system_is_here debian13; then "$@"; else inside debian13 "$section"; fi
}

test_patched-check() { in_debian13 patched-check patched_check; }
test_patched-mpi() { in_debian13 patched-mpi patched_mpi; }
test_patched-r2() { in_debian13 patched-r2 patched_r2; }

patched_check() {
    "$FSBML_TOP/fsbml" build --reference
    # Its core is the same, compiled in the same way, as that of the units.
    make_check "$(stock_dir "$(reference_prefix)")" check_component "$(reference_prefix)" no-core
}

patched_mpi() {
    "$FSBML_TOP/fsbml" build --reference
    # Where the hooks are in the way of a message; what measures and reports is the same as with the stock 5.0.7.
    run_scripts --reference --set version -- "$FSBML_TOP"/tests/mpi/{run,failover,uneven,classes,faults}.sh
    run_scripts -- "$FSBML_TOP/tests/driver/patched_test.sh"
}

patched_r2() {
    "$FSBML_TOP/fsbml" build --reference
    # Without sessions: with r2, one job in twenty or thirty hangs in its second life, patched or not. Without unreceived
    # messages at the end: there SIGPIPE ends one in fifteen (fsbml guards against it).
    run_scripts --reference --bml r2 --set version \
        --filter '^2 nodes, 2 ranks, (200mbit|200mbit 20mbit|2gbit 200mbit): ([a-k]|late|lifecycle [bpq]|[m-r]|spawn|threads)' -- "$FSBML_TOP/tests/mpi/run.sh"
}
