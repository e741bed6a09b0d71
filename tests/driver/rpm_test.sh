#!/usr/bin/env bash
# Tests of the RPM: built from these sources by packaging/rpm/openmpi-bml-fsbml.spec, then installed, used and removed in a throw-away
# copy of the system that this runs in.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# The system is a Debian with rpmbuild, as no other can be had from Debian's archive. What stands for Fedora's packages openmpi and
# openmpi-devel is Debian's Open MPI, seen through links in Fedora's folders (/usr/lib64/openmpi/bin), and the source of its release
# (Source1) is Debian's. So the dependencies on packages are not tested (--nodeps), the rest of the spec is.
#
# Needs root and apt. Prints TAP. ./fsbml system run debian13 bash tests/driver/rpm_test.sh
set -euo pipefail
# shellcheck source=tests/driver/tap.sh source=scripts/install.sh source=scripts/source.sh source=tests/driver/copy.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/{lib,install,source}.sh tests/driver/copy.sh

PACKAGE=openmpi-bml-fsbml
WORK=/var/fsbml-rpm # the copy's own
LIBDIR=/usr/lib64
OMPI=$LIBDIR/openmpi

outside() {
    local version said
    version=$(openmpi_version /usr) || version=none
    if [ "$version" != "$FSBML_REFERENCE_VERSION" ]; then
        said="the source at hand is that of Open MPI $FSBML_REFERENCE_VERSION, and this system has $version"
    elif ! said=$(source_fetch 2>&1 >/dev/null); then
        said=$(tail -n 1 <<<"$said")
    else
        in_a_copy "the RPM" rpm elfutils debugedit bzip2 build-essential autoconf automake libtool perl util-linux openmpi-bin libopenmpi-dev g++
        return
    fi
    printf 'ok 1 - the RPM # SKIP %s\n1..1\n' "${said#fsbml: error: }"
}

# Fedora's folders, as its packages openmpi and openmpi-devel make them.
stand_in() {
    local tool
    mkdir -p "$OMPI"/{bin,lib/openmpi,share/openmpi} /usr/share/{licenses,man/man7} "$WORK/rpm/SOURCES"
    for tool in mpicc ompi_info mpirun; do ln -s "$(openmpi_tool /usr "$tool")" "$OMPI/bin/$tool"; done
}

# Source0 and Source1, under the names that the spec has for them.
sources_are_there() {
    copy_of_sources "$WORK/source"
    cd "$WORK/source"
    ok "autoreconf, configure" quietly sh -c 'autoreconf -i && ./configure --with-openmpi'
    ok "make dist" quietly make dist
    cd /
    cp "$WORK/source/fsbml-$(fsbml_version).tar.gz" "$WORK/rpm/SOURCES"
    # tar knows what it is by its contents.
    cp "$(FSBML_CACHE=$FSBML_TEST_BESIDE source_fetch)" "$WORK/rpm/SOURCES/openmpi-$release.tar.bz2"
}

# job_options: sets `options`, by which Debian's mpirun looks for components in Fedora's folder first.
job_options() {
    local words path=$OMPI/lib/openmpi:SYS_DEFAULT
    read -r -a words <<<"$(component_path_options /usr)"
    [ ${#words[@]} -gt 0 ] || words=(--mca mca_base_component_path SYS_DEFAULT:USER_DEFAULT)
    options=("${words[@]/SYS_DEFAULT/$path}")
}

inside() {
    export HOME=$WORK/home
    # shellcheck disable=SC2034 # for job
    local rpm release options=() db=(--dbpath "$WORK/db") version component=$OMPI/lib/openmpi/mca_bml_fsbml.so
    release=$(openmpi_version /usr)
    version=$(fsbml_version)
    mkdir -p "$HOME"
    stand_in
    sources_are_there
    ok "rpmbuild" quietly rpmbuild -bb --nodeps --define "_topdir $WORK/rpm" --define "_libdir $LIBDIR" --define "ompi_version $release" \
        "$WORK/source/packaging/rpm/$PACKAGE.spec"
    ok "... with headers that were proved to fit" grep -q 'the headers from the source fit: .* 0 differ' "$WORK/out"
    rpm=$(find "$WORK/rpm/RPMS" -name "$PACKAGE-$version-*.rpm")
    ok "... makes a package of the sources' version" test -f "$rpm"
    [ -f "$rpm" ] || tap_end
    # Debian's rpm has the version in the names of the folders of licences and docs, Fedora's has not.
    ok "its files" equal "$(rpm -qlp "$rpm" | sed "s/-$version//" | grep -v "^/usr/share/doc/$PACKAGE" | LC_ALL=C sort | paste -sd ' ')" \
        "$component $OMPI/share/openmpi/help-mca-bml-fsbml.txt /usr/share/licenses/$PACKAGE /usr/share/licenses/$PACKAGE/LICENSE /usr/share/man/man7/fsbml.7.gz"
    ok "requires the release" grep -qxE "openmpi(\(.*\))? = $release" <<<"$(rpm -qp --requires "$rpm")"
    files >"$WORK/before"
    ok "rpm -i" quietly rpm "${db[@]}" -i --nodeps "$rpm"
    ok "rpm -V" quietly rpm "${db[@]}" -V --nodeps "$PACKAGE"
    ok "its texts" cmp "$OMPI/share/openmpi/help-mca-bml-fsbml.txt" "$FSBML_TOP/ompi/mca/bml/fsbml/help-mca-bml-fsbml.txt"
    ok "the man page" grep -q '^\.TH FSBML 7' <<<"$(zcat /usr/share/man/man7/fsbml.7.gz)"
    ok "no path of the build in the component" not grep -qE 'RPATH|RUNPATH' <<<"$(readelf -d "$component")"
    mpicc -O1 -o "$WORK/suite" "$FSBML_TOP"/tests/mpi/{suite,check,order}.c
    job_options
    ok "a job of two ranks verifies its data" job 2 --mca bml fsbml --mca bml_fsbml_display 1 "$WORK/suite" "order 1"
    ok "... and says the version" job_said "fsbml: version $version for Open MPI $release\$"
    ok "rpm -e" quietly rpm "${db[@]}" -e "$PACKAGE"
    files >"$WORK/after"
    ok "... leaves nothing" quietly diff "$WORK/before" "$WORK/after"
    ok "... and no job that has it" not job 2 --mca bml fsbml "$WORK/suite" "order 1"
    tap_end
}

if [ "${1:-}" = inside ]; then inside; else outside; fi
