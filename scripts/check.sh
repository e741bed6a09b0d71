# The tests that `make check` runs, on the builds that the driver keeps. Sourced after stock.sh.
# shellcheck shell=bash
#
#   check_component PREFIX   unit, shim, layout and patch tests, and the DSO, built for that Open MPI (stock or reference)
#   check_sanitized          the core's unit tests with ASan and UBSan

need_googletest() {
    printf '#include <gtest/gtest.h>\n' | "${CXX:-c++}" -x c++ -E - >/dev/null 2>&1 || need_packages "the unit tests" libgtest-dev
}

# run_check DIR WHAT: prints the tests' results on stdout.
run_check() {
    local dir=$1 what=$2 log=$FSBML_BUILD/log/${1##*/}-check.log rc=0
    logged "$log" "$what" make -C "$dir/build" -j "$(nproc)" check || rc=$?
    grep -E '^(PASS|FAIL): ' "$log" | sed 's|: .*/\(abi/\)|: \1|'
    [ "$rc" -eq 0 ] || die "$what failed; the log is $log"
}

check_component() {
    local prefix=$1 dir
    need_googletest
    stock_build "$prefix" no ""
    dir=$(stock_dir "$prefix")
    run_check "$dir" "testing the component for Open MPI $(openmpi_version "$prefix")"
}

check_sanitized() {
    local dir=$FSBML_BUILD/sanitized farm=$FSBML_BUILD/src key
    need_build_tools
    need_googletest
    prepare_build
    key=$(autotools_key)
    if [ "$(cat "$dir/.configured" 2>/dev/null)" != "$key" ]; then
        rm -rf "$dir"
        mkdir -p "$dir/build"
        (cd "$dir/build" && logged "$FSBML_BUILD/log/sanitized-configure.log" "configuring the core with sanitizers" \
            "$farm/configure" --quiet --enable-sanitizers CFLAGS="-g -O1" CXXFLAGS="-g -O1") ||
            die "$(configure_error "$FSBML_BUILD/log/sanitized-configure.log") (log: $FSBML_BUILD/log/sanitized-configure.log)"
        printf '%s\n' "$key" >"$dir/.configured"
    fi
    run_check "$dir" "testing the core with ASan and UBSan"
    exec 9>&-
}
