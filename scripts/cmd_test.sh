# ./fsbml test: all tests, the same that CI runs.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
for part in scripts/{openmpi,stock,check,system,tally,test_sections}.sh tools/cluster/contain.sh; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

cmd_test_help() {
    local section
    cat <<HELP
usage: ./fsbml test [--quick | --only SECTION [--only SECTION]...] [--system NAME]

Runs all tests. The last line is 'N passed, M failed', with ', K left out' if something could not be tested here; each of these
is named above it, with the reason. The exit status is 0 if nothing failed and at most $TALLY_MOST_REPEATED % of the tests had to be repeated.

Installs what is missing of Debian's packages (root). Sections that need root, network namespaces or the network are left out where
there is none. Compiled things are kept in $FSBML_CACHE/ccache (1 GB a system at most), so that a second run is shorter.

  --quick          units, and the basic MPI programs on one virtual cluster: what to run before each commit
  --only SECTION   this section; may be repeated
  --system NAME    in that system ('./fsbml system' lists them): what depends on its Open MPI and its compiler

Sections that only compute; they run one at a time, beside all others and at idle priority:
HELP
    section_lines "${TEST_COMPUTING[@]}"
    printf '\nSections that run two at a time:\n'
    section_lines "${TEST_BESIDE[@]}"
    printf '\nSections that run by themselves, as other work would disturb what they measure:\n'
    section_lines "${TEST_ALONE[@]}"
    printf '\nSections that run only by --only SECTION (by --quick: %s):\n' "${TEST_QUICK[*]}"
    for section in "${TEST_BY_NAME[@]}"; do section_line "$section"; done
}

section_line() { printf '  %-18s %s\n' "$1" "$(test_about "$1")"; }

# section_lines SECTION...: a line for each that runs without being named.
section_lines() {
    local section
    for section in "$@"; do
        [[ " ${TEST_BY_NAME[*]} " == *" $section "* ]] || section_line "$section"
    done
}

# cluster_can_shape: has this kernel what a virtual cluster's rails get their rates by?
cluster_can_shape() {
    unshare --net sh -c 'ip link add here type veth peer name there && tc qdisc add dev here root tbf rate 1mbit burst 3100 limit 4000' 2>/dev/null
}

# test_obstacle SECTION: prints why the section cannot run here, or nothing.
test_obstacle() {
    local section=$1 system
    case "$(test_needs "$section")" in
        cluster)
            if ! is_root; then
                echo "it needs root, for virtual clusters"
            elif [ "$(cluster_isolation)" != --net ]; then
                no_cluster_here
            elif ! cluster_can_shape; then
                echo "this kernel has no 'tc qdisc ... tbf', by which a virtual cluster's rails get their rates"
            fi
            ;;
        system)
            for system in $(test_system "$section"); do
                # On that very system, and in it, nothing has to be made.
                if system_is_here "$system"; then continue; fi
                if [ -n "${FSBML_SYSTEM:-}" ]; then
                    echo "it belongs to system $system, and this is system $FSBML_SYSTEM"
                    return
                # Its last words say why it cannot be made.
                elif ! ("$FSBML_TOP/fsbml" system make "$system") >"$FSBML_BUILD/log/system-$section.log" 2>&1; then
                    tail -n 1 "$FSBML_BUILD/log/system-$section.log" | sed 's/^fsbml: error: //'
                    return
                fi
            done
            ;;
    esac
}

# run_section SECTION: its tests, or one line that says why it is left out.
run_section() {
    local section=$1 obstacle=""
    obstacle=$(test_obstacle "$section")
    if [ -n "$obstacle" ]; then
        printf 'ok - all of it # SKIP %s\n' "$obstacle"
        return 0
    fi
    "test_$section"
}

# run_beside SECTION...: two at a time, in this order; the third begins when the first of them has ended.
run_beside() {
    local section
    # Ranks of a job that waits leave the processors to the other section.
    local -x OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
    for section in "$@"; do
        [ "$(tally_running)" -lt 2 ] || tally_finish
        tally_look
        tally_start "$section" "$(test_about "$section")" run_section "$section"
    done
    while [ "$(tally_running)" -gt 0 ]; do tally_finish; done
}

# wanted SECTION...: those of the arguments that the options ask for, one a line. A system's own release is not tested twice.
wanted() {
    local section
    for section in "$@"; do
        if [ ${#only[@]} -gt 0 ]; then
            [[ " ${only[*]} " == *" $section "* ]] || continue
        elif [ "$quick" = yes ]; then
            [[ " ${TEST_QUICK[*]} " == *" $section "* ]] || continue
        elif [ -n "${FSBML_SYSTEM:-}" ]; then
            [[ " ${TEST_INSIDE[*]} " == *" $section "* ]] || [ "$(test_system "$section")" = "$FSBML_SYSTEM" ] || continue
            [[ $section != "$FSBML_SYSTEM"-* ]] || continue
        elif [[ " ${TEST_BY_NAME[*]} " == *" $section "* ]]; then
            continue
        elif [[ $section =~ ^(.*)-(check|package|badinput|mpi)$ ]] && system_is_here "${BASH_REMATCH[1]}"; then
            continue
        fi
        printf '%s\n' "$section"
    done
}

cmd_test() {
    local quick=no only=() computing=() beside=() alone=() all=() section packages
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
    [ "$quick" = no ] || [ ${#only[@]} -eq 0 ] || die "test: --quick and --only exclude each other."
    exec </dev/null
    export PATH=$PATH:/usr/sbin:/sbin
    tally_begin
    trap tally_abort EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mapfile -t computing < <(wanted "${TEST_COMPUTING[@]}")
    mapfile -t beside < <(wanted "${TEST_BESIDE[@]}")
    mapfile -t alone < <(wanted "${TEST_ALONE[@]}")
    all=("${computing[@]}" "${beside[@]}" "${alone[@]}")
    [ ${#all[@]} -gt 0 ] || die "test: no section is left to run; './fsbml test --help' lists them."
    # All at once: each call of apt-get takes seconds.
    mapfile -t packages < <(for section in "${all[@]}"; do test_packages "$section"; done | tr ' ' '\n' | sort -u)
    need_packages "the tests" "${packages[@]}"
    use_compiler_cache
    # Sections that run beside each other find it done.
    case " ${all[*]} " in
        *" units "* | *" commands "* | *" driver "* | *" demo "* | *" clusters "* | *" mpi "* | *" mpi-quick "* | *" badinput "* | \
            *" hardware "* | *" trouble "*)
            "$FSBML_TOP/fsbml" build || exit 1 ;;
    esac
    tally_queue run_section "${computing[@]}"
    run_beside "${beside[@]}"
    for section in "${alone[@]}"; do
        [[ " ${TEST_QUIET[*]} " != *" $section "* ]] || tally_pause
        tally_section "$section" "$(test_about "$section")" run_section "$section"
        tally_resume
        tally_look
    done
    tally_wait
    say "all sections took $((SECONDS / 60)):$(printf '%02d' $((SECONDS % 60))) min"
    tally_end
}
