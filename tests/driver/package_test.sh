#!/usr/bin/env bash
# Tests of the Debian package: built from these sources, then installed, used and removed in a throw-away copy of the system that
# this runs in (an overlay in memory), of which nothing is left.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root and apt. Prints TAP. In another release: ./fsbml system run sid bash tests/driver/package_test.sh
set -euo pipefail
# shellcheck source=tests/driver/tap.sh source=scripts/install.sh source=tests/driver/copy.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/{lib,install}.sh tests/driver/copy.sh

PACKAGE=openmpi-bml-fsbml
WORK=/var/fsbml-package # the copy's own

package_is_built() {
    copy_of_sources "$WORK/source"
    cd "$WORK/source"
    # Optimised in one system: in the others the component itself is, and this compiles it once more.
    DEB_BUILD_OPTIONS="nocheck ${FSBML_SYSTEM:+noopt }parallel=$(nproc)" ok "dpkg-buildpackage" quietly dpkg-buildpackage -us -uc -b
    cd /
    deb=$(echo "$WORK/${PACKAGE}_$(fsbml_version)"_*.deb)
    ok "... has the sources' version" test -f "$deb"
}

# is_in_range RELATION VERSION
is_in_range() {
    [[ $1 =~ ^[a-z0-9]+\ \(\>=\ ([^\)]+)\),\ [a-z0-9]+\ \(\<\<\ ([^\)]+)\)$ ]] || return 1
    dpkg --compare-versions "$2" ge "${BASH_REMATCH[1]}" && dpkg --compare-versions "$2" lt "${BASH_REMATCH[2]}"
}

depends_on_the_release() {
    local library installed relation
    relation=$(dpkg-deb -f "$deb" Depends | grep -oE 'libopenmpi[^,]*>=[^,]*, libopenmpi[^,]*<<[^,]*')
    library=${relation%% *}
    # shellcheck disable=SC2016
    installed=$(dpkg-query -W -f '${Version}' "$library")
    ok "depends on the installed Open MPI ($relation)" is_in_range "$relation" "$installed"
    ok "... on any packaging of that release" is_in_range "$relation" "${installed%-*}-99"
    ok "... not on the next release" not is_in_range "$relation" "$(perl -pe 's/[-+].*//; s/(\d+)$/$1 + 1/e' <<<"$installed")"
}

component_is_used() {
    local release options=()
    release=$(openmpi_version /usr)
    read -r -a options <<<"$(component_path_options /usr)"
    [ ${#options[@]} -eq 0 ] || echo "# mpirun needs ${options[*]} here" >&9
    ok "Open MPI knows the component" grep -q '^mca:bml:fsbml:' <<<"$(ompi_info --parsable)"
    ok "the man page of the component" grep -q '^\.TH FSBML 7' <<<"$(zcat /usr/share/man/man7/fsbml.7.gz)"
    ok "the man page of the driver" grep -q '^\.TH FSBML 1' <<<"$(zcat /usr/share/man/man1/fsbml.1.gz)"
    mpicc -O1 -o "$WORK/suite" "$FSBML_TOP"/tests/mpi/{suite,check,order}.c
    ok "a job of two ranks verifies its data" job 2 --mca bml fsbml --mca bml_fsbml_display 1 "$WORK/suite" "order 1"
    ok "... without a complaint of PMIx's" equal "$(grep -c 'PMIx components' "$WORK/job" || :)" 0
    ok "... and says the version" job_said "fsbml: version $(fsbml_version) for Open MPI ${release%%[a-z]*}\$"
    ok "... and has two unlike rails: TCP" job_said 'fsbml: lo +127\.0\.0\.1 .* tcp:127\.0\.0\.0/8 '
    ok "... and shared memory" job_said 'fsbml: (vader|sm) .* (vader|sm)#0 '
    # Not by a job that fails: Open MPI 4.1 loses one text in six on the way to mpirun, also those of its own.
    ok "its texts are in Open MPI's help folder" cmp "$(openmpi_path /usr pkgdatadir)/help-mca-bml-fsbml.txt" \
        "$FSBML_TOP/ompi/mca/bml/fsbml/help-mca-bml-fsbml.txt"
}

driver_is_used() {
    local command commands
    ok "fsbml --version" equal "$(fsbml --version)" "fsbml $(fsbml_version)"
    commands=$(fsbml --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p' | paste -sd' ')
    ok "the commands that it lists" equal "$commands" "rails demo bench simulate calibrate whatif trace replay prefix cluster"
    for command in $commands; do
        ok "fsbml $command --help" quietly fsbml "$command" --help
        ok "... names the installed command" not grep -qF ./fsbml "$WORK/out"
    done
    ok "fsbml prefix" equal "$(fsbml prefix)" /usr
    # A delay: the link emulator is compiled, below the user's cache; for what these rails carry, not optimised.
    CXXFLAGS=-O0 ok "fsbml cluster up" quietly fsbml cluster up --rail rate=200mbit,delay=20us --rail rate=20mbit
    ok "a job on two nodes" quietly fsbml cluster run -- --mca bml fsbml --mca bml_fsbml_display 1 "$WORK/suite" "order 1"
    ok "... has two rails" test "$(grep -cE 'fsbml: rail[01]  10\.71\.' "$WORK/out")" -eq 2
    ok "fsbml cluster down" quietly fsbml cluster down
}

# Without the time for compiling all programs: each file that they include is there.
tools_are_complete() {
    local top=/usr/share/fsbml file name missing=0
    while IFS=: read -r file name; do
        name=${name#*\"}
        name=${name%\"*}
        [ -z "$(find "${file%/*}" "$top" "$top/ompi/mca/bml/fsbml"{,/core} \
            -maxdepth 0 -exec test -f '{}'/"$name" \; -print)" ] || continue
        [[ $name != o[mp]* ]] || continue
        printf '# %s includes %s\n' "$file" "$name" >&9
        missing=$((missing + 1))
    done < <(grep -rE '^ *#include "' "$top" --include='*.[ch]pp' --include='*.h')
    [ "$missing" -eq 0 ]
}

inside() {
    export HOME=$WORK/home DEBIAN_FRONTEND=noninteractive
    fsbml() { /usr/bin/fsbml "$@"; }
    mkdir -p "$HOME"
    local deb command
    package_is_built
    [ -f "$deb" ] || tap_end
    depends_on_the_release
    files >"$WORK/before"
    ok "apt-get install" quietly apt-get -q -y --no-install-recommends install "$deb"
    component_is_used
    driver_is_used
    ok "the tools' sources are complete" tools_are_complete
    for command in "install --user" "install --system" "uninstall --system"; do
        # shellcheck disable=SC2086
        ok "$command from the sources is refused" not quietly "$FSBML_TOP/fsbml" $command
        ok "... with what to do" grep -q "belongs to the package $PACKAGE; remove that first: apt-get remove" "$WORK/out"
    done
    ok "apt-get remove" quietly apt-get -q -y remove "$PACKAGE"
    files >"$WORK/after"
    ok "... leaves nothing" quietly diff "$WORK/before" "$WORK/after"
    ok "apt-get install, again" quietly apt-get -q -y --no-install-recommends install "$deb"
    ok "apt-get purge" quietly apt-get -q -y purge "$PACKAGE"
    files >"$WORK/after"
    ok "... leaves nothing" quietly diff "$WORK/before" "$WORK/after"
    ok "... and Open MPI as it was" not grep -q fsbml <<<"$(ompi_info --parsable)"
    tap_end
}

if [ "${1:-}" = inside ]; then
    inside
else
    in_a_copy "the Debian package" debhelper build-essential openmpi-bin libopenmpi-dev g++ iproute2 ethtool libcli11-dev libfmt-dev
fi
