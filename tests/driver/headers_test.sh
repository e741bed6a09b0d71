#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# `build --source`: internal headers from a source, for an Open MPI without them. The Open MPI is this machine's, seen through
# programs that hide its internal headers; the source is made of those headers, with a configure script that only writes down
# its options. Some half a minute.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tap.sh" scripts/lib.sh scripts/openmpi.sh scripts/stock.sh scripts/headers.sh

own_folder
real=$(openmpi_prefix)
version=$(openmpi_version "$real")
installed=$(openmpi_path "$real" pkgincludedir)
prefix=$scratch/openmpi
source=$scratch/source
export FSBML_OPENMPI=$prefix FSBML_CACHE=$scratch/cache
unset "${!OMPI_MCA_@}"

mkdir -p "$prefix/bin" "$prefix/include"
cat >"$prefix/bin/mpicc" <<FAKE
#!/bin/sh
case "\$1" in
    --showme:compile) "$(openmpi_tool "$real" mpicc)" "\$1" | tr ' ' '\n' | grep -vxF -e "-I$installed" | paste -sd ' ' ;;
    *) exec "$(openmpi_tool "$real" mpicc)" "\$@" ;;
esac
FAKE
cat >"$prefix/bin/ompi_info" <<FAKE
#!/bin/sh
case "\$*" in
    "--parsable --path pkgincludedir") echo "path:pkgincludedir:$prefix/include" ;;
    --all) cat "$prefix/all" ;;
    *) exec "$(openmpi_tool "$real" ompi_info)" "\$@" ;;
esac
FAKE
cat >"$prefix/all" <<'FAKE'
                Ident string: x
FAKE
{
    printf '  Configure command line:'
    # shellcheck disable=SC2016 # configure's
    printf " '%s'" --prefix=/opt/it '--libdir=${prefix}/lib64' --enable-ipv6 --with-ucx=/no/where --with-slurm \
        '--with-hwloc=/opt/hw loc' --enable-mpi-fortran=all CC=icc 'CFLAGS=-O3 -xHost -DSPEED=1 -mcx16' --with-ft=no \
        --enable-mca-no-build=btl-uct
    echo
} >>"$prefix/all"
chmod +x "$prefix/bin/mpicc" "$prefix/bin/ompi_info"
clean() {
    rm -rf -- "$scratch" "$dir" "$record" "$FSBML_BUILD/log/${dir##*/}"-*
}
dir=$(stock_dir "$prefix") record=$(headers_record "$prefix")
trap clean EXIT

# The source: what the installation has, in a source's places.
mkdir -p "$source/opal/include"
cp -r -- "$(headers_dir "$real")"/{ompi,opal} "$source"
[ ! -d "$installed/orte" ] || cp -r -- "$installed/orte" "$source"
find "$installed" -maxdepth 1 -name '*.h' ! -name 'mpi*.h' -exec cp -t "$source/opal/include" {} +
sed -E 's/^([0-9]+)\.([0-9]+)\.([0-9]+)(.*)/major=\1\nminor=\2\nrelease=\3\ngreek=\4/' <<<"$version" >"$source/VERSION"
cat >"$source/configure" <<'CONFIGURE'
#!/bin/sh
printf '%s\n' "$@" >>"$FSBML_CACHE/options"
[ ! -f fails ] || { echo "configure: error: no such library"; exit 1; }
CONFIGURE
chmod +x "$source/configure"
tar -cf "$scratch/source.tar.gz" -z -C "$scratch" source
pristine=$(cd "$source" && find . -type f -printf '%p %s %T@\n' | sort | sha256sum)

# ---- without a source

ok "no headers, no source: both ways out are named" refuses \
    "no internal headers.*--with-devel-headers, or name the source of Open MPI $version: .*--source" build
mkdir "$prefix/.spack"
ok "no headers, Spack's" refuses "Spack does not install them, or name the source" build
mv "$prefix/.spack" "$prefix/easybuild"
ok "no headers, EasyBuild's" refuses "configopts have --with-devel-headers, or name the source" build
rmdir "$prefix/easybuild"

# ---- a source that does not do

ok "there is no such source" refuses "there is no source tree or tarball $scratch/nowhere" build --source "$scratch/nowhere"
ok "a folder that is no source" fails_with 2 "is not a source tree of Open MPI" build --source "$prefix"
head -c 20000 "$scratch/source.tar.gz" >"$scratch/damaged.tar.gz"
ok "a damaged tarball" fails_with 2 "is not a tarball that tar can unpack, or it is damaged" build --source "$scratch/damaged.tar.gz"
tar -cf "$scratch/other.tar" -C "$prefix" bin include
ok "a tarball of something else" fails_with 2 "is not a source tarball of Open MPI" build --source "$scratch/other.tar"
cp -r "$source" "$scratch/changed"
sed -i 's/^release=.*/release=99/' "$scratch/changed/VERSION"
ok "another version" fails_with 2 "is Open MPI ${version%.*}.99.*, but the installation in $prefix is $version" build --source "$scratch/changed"
cp "$source/VERSION" "$scratch/changed"
mv "$scratch/changed/configure" "$scratch/configure"
ok "a source without a configure script" fails_with 2 "has no configure script; run ./autogen.pl" build --source "$scratch/changed"
mv "$scratch/configure" "$scratch/changed"
FSBML_CACHE=/proc/fsbml ok "a cache that cannot be written" refuses "cannot be written to /proc/fsbml/headers; name a folder of your own" \
    build --source "$source"
touch "$scratch/changed/fails"
# Below the log's last lines.
ok "a configuration that fails: configure's own words" fails_with 7 \
    "could not be configured .*: no such library" build --source "$scratch/changed"
rm "$scratch/changed/fails"
ok "nothing is kept of those" equal "$(find "$FSBML_CACHE/headers" -mindepth 1 -maxdepth 1 -type d)" ""

# ---- a source that does not fit

# With padding taken away, so that no size tells it.
sed -i 's/^ *size_t  *btl_max_send_size;/size_t added; &/; s/padding\[256\]/padding[248]/' "$scratch/changed/opal/mca/btl/btl.h"
misfit() { ! fsbml build --source "$1" >"$scratch/out" 2>&1 && told "error: .*do not fit the libraries.*not used: $2"; }
ok "a field more in a header: refused, with the field" misfit "$scratch/changed" \
    "the offset of .*::btl_max_send_size is 32 by the headers, but 24 in the library"
ok "a field more in a header: no component" test ! -e "$dir/component"
ok "a field more in a header: not used the next time" refuses "has no internal headers" build

# ---- one that fits, as a folder in which Open MPI was built

cp -r "$source" "$scratch/built"
echo 'exit 1' >"$scratch/built/config.status"
mkdir "$scratch/built/.libs"
rm "$FSBML_CACHE/options"
fits() { (headers_from_source "$prefix" "$1" no && stock_configure "$prefix" no "") >"$scratch/out" 2>&1; }
ok "a folder with build products: the headers fit" fits "$scratch/built"
ok "and that is said" told "the headers from the source fit: [0-9]* sizes, offsets and results compared, 0 differ"
ok "kept of the installation's options: what touches structures" equal \
    "$(grep -vE '^--(prefix|enable-mca-no-build)=' "$FSBML_CACHE/options" | head -n 4 | paste -sd '|')" \
    "--enable-ipv6|--with-hwloc=/opt/hw loc|CFLAGS=-DSPEED=1 -mcx16|--with-ft=no"
ok "MPI's own headers stay the installation's" test ! -e "$(headers_dir "$prefix")/mpi.h"
ok "the headers are those of the record" equal "$(headers_dir "$prefix")" "$(cat "$record")"
rm "$FSBML_CACHE/options"
ok "the same source again" fits "$scratch/built"
ok "is not configured again" test ! -e "$FSBML_CACHE/options"
ok "the source is as it was" equal "$(cd "$source" && find . -type f -printf '%p %s %T@\n' | sort | sha256sum)" "$pristine"

# ---- the proof sees each of these

# proof_refuses TYPE HEADER SED: with the changed header before the others, the proof fails.
proof_refuses() {
    local include what=$1 header=$2 changed=$scratch/other
    include=$(headers_dir "$prefix")
    rm -rf "$changed"
    mkdir -p "$changed/${header%/*}"
    cp "$include"/*.h "$changed"
    sed "$3" "$include/$header" >"$changed/$header"
    ! cmp -s "$include/$header" "$changed/$header" || return
    rm -f "$dir/build/tests/abi/layout_test"
    make -C "$dir/build/tests" FSBML_CPPFLAGS="-I$changed $(sed -n 's/^FSBML_CPPFLAGS = //p' "$dir/build/tests/Makefile")" \
        abi/layout_test >"$scratch/out" 2>&1 || { told 'no such message'; return 1; }
    ! "$dir/build/tests/abi/layout_test" >"$scratch/out" 2>&1 && told "$what"
}
ok "the proof: debugging" proof_refuses "the size of opal_object_t" opal/../opal_config.h 's/OPAL_ENABLE_DEBUG 0/OPAL_ENABLE_DEBUG 1/'
ok "the proof: another number of components' slots" proof_refuses "the size of ompi_proc_t" opal/../opal_config.h \
    's/\(OMPI_PROC_ENDPOINT_TAG_MAX\) .*/\1 9/'
ok "the proof: a function more in the BML" proof_refuses "the size of mca_bml" ompi/mca/bml/bml.h \
    's/^ *mca_bml_base_module_add_btl_fn_t .*/void *added; &/'
ok "the proof: a function more in the BTL" proof_refuses "btl_dump is not mca_btl_base_dump" opal/mca/btl/btl.h \
    's/^ *mca_btl_base_module_send_fn_t .*/void *added; &/; s/padding\[256\]/padding[248]/'

tap_end
