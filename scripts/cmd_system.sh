# ./fsbml system: root file systems of Debian releases, to build and run FSBML with the Open MPI and the compiler of each.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"
# shellcheck source=scripts/system.sh
. "$FSBML_TOP/scripts/system.sh"

cmd_system_help() {
    cat <<HELP
usage: ./fsbml system [list]
       ./fsbml system make NAME...
       ./fsbml system run NAME COMMAND [ARGS]
       ./fsbml system remove NAME...

A system is a root file system of a Debian release with its packages of Open MPI and its compilers: debian12 (Open MPI 4.1,
GCC 12), debian13 (5.0, GCC 14), sid (the next ones). It is made from the archive that this machine's /etc/apt names, in half a
minute, kept in $FSBML_CACHE/system, and made anew when it is old (sid 7 days, releases 60). Needs root.

Any command of ./fsbml runs in one with --system NAME, such as

  ./fsbml build --system debian13
  ./fsbml cluster run --system debian13 -- --mca bml fsbml ./my_program     (compiled there: system run debian13 mpicc ...)
  ./fsbml test --system sid

This project's tree, its cache, the present folder and /tmp are the same there. What is built there is below
build/system/NAME.

list     the systems and their states (the default)
make     makes systems that are missing or old
run      runs any command in one
remove   deletes them
HELP
}

cmd_system() {
    local action=${1:-list} name
    [ $# -eq 0 ] || shift
    case "$action" in
        list)
            [ $# -eq 0 ] || die "system list: takes no argument, such as '$1'."
            printf '%-10s %-10s %-8s %s\n' system suite state folder
            for name in "${FSBML_SYSTEMS[@]}"; do
                printf '%-10s %-10s %-8s %s\n' "$name" "$(system_suite "$name")" "$(system_state "$name")" "$(system_dir "$name")"
            done
            ;;
        make | remove)
            [ $# -gt 0 ] || die "system $action: say which: ${FSBML_SYSTEMS[*]}."
            for name in "$@"; do system_must_exist "$name"; done
            for name in "$@"; do "system_$action" "$name" || exit 1; done
            ;;
        run)
            [ $# -ge 2 ] || die "system run: say in which system, and what: ./fsbml system run debian13 mpicc --version"
            system_must_exist "$1"
            system_run "$1" own "${@:2}"
            ;;
        *) die "system: unknown action '$action'; there are list, make, run and remove." ;;
    esac
}
