# The tests that `make check` runs, on the builds that the driver keeps. Sourced after stock.sh.
# shellcheck shell=bash
#
#   check_component PREFIX [WITHOUT]   unit, shim, layout and patch tests, and the DSO, built for that Open MPI (stock or
#                            reference); no-unit: without the core's unit tests; no-core: nor those of the simulator that drives it
#   check_sanitized          the core's unit tests with ASan and UBSan (the simulator plays for minutes with them)
#   sanitized_core           compiles that core alone; prints the path of its archive
#   check_threads PREFIX     threads on the scheduler, and on the shim, all with TSan; Open MPI itself is as it is

# The same in all builds with sanitizers, so that what one of them has compiled the others take from the compiler's cache. -Og: a
# third of the time of -O1. Of debug information, lines are enough for a stack.
SANITIZED="-g1 -Og -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
# Open MPI's fences are no news to TSan: it takes the locks for what they are.
RACED="-g1 -Og -fno-omit-frame-pointer -fsanitize=thread -Wno-tsan"

# Written JSON is read back by a library.
need_googletest() {
    printf '#include <gtest/gtest.h>\n#include <nlohmann/json.hpp>\n' | "${CXX:-c++}" -x c++ -std=c++17 -E - >/dev/null 2>&1 ||
        need_packages "the unit tests" libgtest-dev nlohmann-json3-dev
}

# run_check DIR WHAT [VARIABLE=VALUE]: prints the tests' results on stdout.
run_check() {
    local dir=$1 what=$2 log=$FSBML_BUILD/log/${1##*/}-check.log rc=0
    shift 2
    logged "$log" "$what" make -C "$dir/build" -j "$(nproc)" check "$@" || rc=$?
    grep -E '^(PASS|FAIL): ' "$log" | sed -E 's,: .*/((abi|layout)/),: \1,'
    # Also those of the component, which was compiled before.
    if grep -E -m 3 '^[^ ]+:[0-9]+(:[0-9]+)?: warning: ' <<<"$(cat "$log" "${log%-check.log}-make.log" 2>/dev/null)" >&2; then
        echo "FAIL: no warning of the compiler"
    else
        echo "PASS: no warning of the compiler"
    fi
    [ "$rc" -eq 0 ] || die "$what failed; the log is $log"
}

check_component() {
    local prefix=$1 dir tests=()
    # make's variables
    # shellcheck disable=SC2016
    case "${2:-}" in
        no-unit) tests=('tests_to_run=$(sim_programs) $(mpi_programs)' headers_to_check=component) ;;
        no-core) tests=('tests_to_run=$(mpi_programs)' headers_to_check=component) ;;
    esac
    need_googletest
    stock_build "$prefix" no ""
    dir=$(stock_dir "$prefix")
    run_check "$dir" "testing the component for Open MPI $(openmpi_version "$prefix")" "${tests[@]}"
}

# configure_in DIR KEY WHAT ARGUMENT...: configures in DIR/build, unless it was for the same KEY.
configure_in() {
    local dir=$1 key=$2 what=$3 log=$FSBML_BUILD/log/${1##*/}-configure.log
    shift 3
    [ "$(cat "$dir/.configured" 2>/dev/null)" != "$key" ] || return 0
    rm -rf "$dir"
    mkdir -p "$dir/build"
    (cd "$dir/build" && logged "$log" "$what" "$FSBML_BUILD/src/configure" --quiet "$@") ||
        die "$(configure_error "$log") (log: $log)"
    printf '%s\n' "$key" >"$dir/.configured"
}

sanitized_configured() {
    need_build_tools
    need_googletest
    prepare_build
    configure_in "$FSBML_BUILD/sanitized" "$(autotools_key) $SANITIZED" "configuring the core with sanitizers" \
        --without-openmpi CFLAGS="$SANITIZED" CXXFLAGS="$SANITIZED" LDFLAGS="$SANITIZED"
    # Other builds need not wait for what takes minutes there.
    one_at_a_time "$FSBML_BUILD/.lock-sanitized"
}

check_sanitized() {
    sanitized_configured
    # shellcheck disable=SC2016 # make's
    run_check "$FSBML_BUILD/sanitized" "testing the core with ASan and UBSan" 'tests_to_run=$(unit_programs)'
    exec 9>&-
}

sanitized_core() {
    local part=$FSBML_BUILD/sanitized/build/ompi/mca/bml/fsbml log=$FSBML_BUILD/log/sanitized-core.log
    sanitized_configured
    logged "$log" "compiling the core with ASan and UBSan" make -C "$part" -j "$(nproc)" libfsbml_core.la ||
        die "the core does not compile with sanitizers; the log is $log"
    exec 9>&-
    printf '%s\n' "$part/.libs/libfsbml_core.a"
}

check_threads() {
    local prefix=$1 dir=$FSBML_BUILD/tsan log=$FSBML_BUILD/log/tsan-make.log part options
    need_build_tools
    need_googletest
    prepare_build
    mapfile -t options < <(configure_options "$prefix")
    configure_in "$dir" "$(configure_key "$prefix" "$RACED")" "configuring the shim and the core with TSan" \
        "${options[@]}" CFLAGS="$RACED" CXXFLAGS="$RACED"
    exec 9>&-
    for part in "ompi/mca/bml/fsbml libfsbml_core.la libfsbml_shim.la" "tests unit/threads_test shim/threads_test"; do
        # shellcheck disable=SC2086 # a folder and its targets
        logged "$log" "compiling with TSan (${part%% *})" make -j "$(nproc)" -C "$dir"/build/$part ||
            die "the shim or the core does not compile with TSan; the log is $log"
    done
    # TSan of gcc 12 cannot place its shadow memory where the kernel randomises addresses much. Some containers forbid to change that.
    local fixed=(setarch "$(uname -m)" -R)
    "${fixed[@]}" true 2>/dev/null || fixed=()
    TSAN_OPTIONS=halt_on_error=1 "${fixed[@]}" "$dir/build/tests/unit/threads_test" | gtest_to_tap threads_test
    log=$FSBML_BUILD/log/tsan-shim.log
    if srcdir=$FSBML_BUILD/src/tests TSAN_OPTIONS=halt_on_error=1 timeout 300 "${fixed[@]}" "$dir/build/tests/shim/threads_test" >"$log" 2>&1; then
        sed -n 's/.* messages, /# &/p' "$log"
        printf 'ok - shim/threads_test\n'
    else
        printf 'not ok - shim/threads_test\n'
        sed 's/^/# /' "$log"
    fi
}
