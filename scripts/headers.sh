# The internal headers of an Open MPI that has not installed them, from the source of its version. Sourced after stock.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/source.sh
. "$FSBML_TOP/scripts/source.sh"
#
#   headers_from_source PREFIX SOURCE FORCE   configures a copy of SOURCE, a tarball or a folder, as ompi_info says that PREFIX
#                      was, and keeps its headers; from then on headers_dir (openmpi.sh) prints their folder for PREFIX.
#                      Nothing of Open MPI is compiled. Whether they fit is proved by stock_build before they are used.
#
# A configuration names packages (UCX, Slurm, CUDA ...) whose files may be on other machines only. Only the options that
# change Open MPI's own structures are kept, and no component is configured but those that the headers include.

# One option of the command line a line. xargs knows the quotes, and expands nothing.
headers_cli() {
    local tool
    tool=$(openmpi_tool "$1" ompi_info) || return 1
    "$tool" --all 2>/dev/null | sed -n 's/^ *Configure command line: //p' | head -n 1 | xargs -r -n 1 printf '%s\n'
}

# flags_kept VALUE: of compilers' flags, those that can change a structure or find a header.
flags_kept() {
    local flag kept=()
    for flag in $1; do
        case "$flag" in -[DUIm]* | -fshort-enums | -fpack-struct*) kept+=("$flag") ;; esac
    done
    printf '%s' "${kept[*]}"
}

# headers_options PREFIX: prints what is kept of the installation's options, one a line.
headers_options() {
    local option value
    headers_cli "$1" | while IFS= read -r option; do
        case "$option" in
            --*-mpi-fortran* | --*-mpi-java* | --*-mpi-cxx* | --*-oshmem* | --*-mca-dso* | --*-mca-static* | --*-mca-no-build*) ;;
            --*-memchecker* | --*-wrapper-* | --*-static | --*-shared | --*-sphinx | --*-*-rules | --*-maintainer-mode) ;;
            --*-dependency-tracking | --*-option-checking | --*-io-romio* | --*-btl-* | --*-prte-* | --*-man-pages | --*-picky) ;;
            --enable-* | --disable-*) printf '%s\n' "$option" ;;
            --with*-hwloc* | --with-libevent* | --with-threads* | --with-argobots* | --with-qthreads*) printf '%s\n' "$option" ;;
            --with*-cuda* | --with*-ft* | --with-max-* | --with-platform=*) printf '%s\n' "$option" ;;
            # 4.1 has an interface of its own around PMIx.
            --with-pmix*) case "$(openmpi_version "$1")" in 4.*) ;; *) printf '%s\n' "$option" ;; esac ;;
            CFLAGS=* | CPPFLAGS=*)
                value=$(flags_kept "${option#*=}")
                [ -z "$value" ] || printf '%s=%s\n' "${option%%=*}" "$value"
                ;;
        esac
    done
}

# headers_unused TREE: prints the frameworks of which no header includes a component's, with a comma between two.
headers_unused() {
    (cd "$1" && find opal/mca orte/mca ompi/mca oshmem/mca -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null) | sort -u |
        grep -vxE 'base|hwloc|event|timer|memory|threads|installdirs|if|backtrace|dl|rte|bml' | paste -sd ,
}

headers_configure() {
    local prefix=$1 tree=$2 options
    mapfile -t options < <(headers_options "$prefix")
    # A component that is called directly has to be configured.
    [[ " ${options[*]} " == *" --enable-mca-direct="* ]] || options+=("--enable-mca-no-build=$(headers_unused "$tree")")
    printf 'the installation: %s\nkept of that: %s\n\n' "$(headers_cli "$prefix" | paste -sd ' ')" "${options[*]}"
    cd "$tree" || return
    "${CONFIG_SHELL:-/bin/sh}" ./configure --prefix="$tree/prefix" "${options[@]}" --enable-mpi-fortran=no --disable-oshmem \
        --disable-io-romio --disable-sphinx --without-prrte --disable-dependency-tracking
}

# headers_tags PREFIX TREE: an ompi_proc_t has a slot for every kind of component that wants one, so their number depends on
# the components that the installation was built with. The same order as in configure: by framework.
headers_tags() {
    local prefix=$1 tree=$2 tool component tag tags=()
    tool=$(openmpi_tool "$prefix" ompi_info)
    while IFS= read -r component; do
        [ -f "$tree/ompi/mca/$component/configure.m4" ] || continue
        tag=$(sed -n 's/.*OMPI_REQUIRE_ENDPOINT_TAG(\[\([A-Z0-9]*\)\]).*/\1/p' "$tree/ompi/mca/$component/configure.m4")
        [ -z "$tag" ] || [[ " ${tags[*]} " == *" $tag "* ]] || tags+=("$tag")
    done < <("$tool" --parsable 2>/dev/null | sed -n 's/^mca:\([a-z0-9]*\):\([a-z0-9_]*\):version:.*/\1\/\2/p' | LC_ALL=C sort -u)
    [ ${#tags[@]} -gt 0 ] || return 0
    sed -i '/OMPI_PROC_ENDPOINT_TAG_/d' "$tree/opal/include/opal_config.h"
    for component in "${!tags[@]}"; do printf '#define OMPI_PROC_ENDPOINT_TAG_%s %d\n' "${tags[component]}" "$component"; done |
        sed -i "/define OPAL_CONFIG_H/{
            r /dev/stdin
            a #define OMPI_PROC_ENDPOINT_TAG_MAX ${#tags[@]}
        }" "$tree/opal/include/opal_config.h"
}

# copy_headers FROM TO PATH: the headers below FROM/PATH, with their folders.
copy_headers() {
    (cd "$1" && find "$3" -name '*.h' -print0 | tar -cf - --null -T -) | tar -xf - -C "$2"
}

# headers_collect TREE TO: the layout that Open MPI's own installation has. MPI's own headers are the installation's.
headers_collect() {
    local tree=$1 to=$2 part component
    mkdir -p "$to"
    for part in opal orte ompi; do
        [ ! -d "$tree/$part" ] || copy_headers "$tree" "$to" "$part" || return
        [ ! -d "$tree/$part/include" ] || copy_headers "$tree/$part/include" "$to" . || return
    done
    # The packages inside of the source, where it is configured to use them.
    for part in "$tree"/3rd-party/*/config.status; do
        [ ! -d "${part%/*}/include" ] || copy_headers "${part%/*}/include" "$to" . || return
    done
    while IFS= read -r component; do
        for part in "$tree/${component%/*}"/*/include; do
            [ -d "$part" ] || continue
            copy_headers "$part" "$to" . || return
            # libevent has its older headers, and Open MPI its new names for libevent's symbols, beside the folder.
            find "${part%/*}" -maxdepth 1 \( -name 'ev*.h' -o -name opal_rename.h \) -exec cp -t "$to" {} + || return
        done
    done < <(sed -n 's/^#define MCA_.*_HEADER "\(.*\)".*/\1/p' "$to/opal_config.h")
    rm -f "$to"/mpi*.h
}

# headers_identity SOURCE: what tells one source from another.
headers_identity() {
    if [ -d "$1" ]; then
        (cd "$1" && find . -type f \( -name '*.h' -o -name '*.h.in' -o -name configure -o -name VERSION \) -print0 | sort -z |
            xargs -0 sha256sum) | sha256sum
    else
        sha256sum <"$1"
    fi
}

# headers_packages PREFIX: the packages whose headers those of Open MPI include, if it was not built with its own.
headers_packages() {
    local options missing=()
    options=" $(headers_options "$1" | paste -sd ' ') "
    [[ $options != *" --with-hwloc=external "* ]] || has_header hwloc.h || missing+=(libhwloc-dev)
    [[ $options != *" --with-libevent=external "* ]] || has_header event2/event.h || missing+=(libevent-dev)
    if [[ $options == *" --with-pmix=external "* ]] && ! has_header pmix.h; then
        # Debian keeps them in a folder of their own.
        { have pkg-config && pkg-config --exists pmix; } || missing+=(libpmix-dev pkg-config)
    fi
    [ ${#missing[@]} -eq 0 ] || need_packages "the headers of Open MPI" "${missing[@]}"
}

# headers_unpack PREFIX SOURCE TREE VERSION
headers_unpack() {
    case "$2" in
        *.xz) have xz || need_packages "unpacking $2" xz-utils ;;
        *.bz2) have bzip2 || need_packages "unpacking $2" bzip2 ;;
    esac
    say "unpacking $2"
    source_unpack "$2" "$3" "$4" "the installation in $1 is"
    [ -f "$3/configure" ] || die "$2 has no configure script; run ./autogen.pl there, or name a release's tarball."
    # configure makes all else anew where the source has been built.
    rm -f "$3/config.status" "$3/config.cache"
}

headers_make() {
    local prefix=$1 source=$2 dir=$3 version=$4 log=$5
    headers_unpack "$prefix" "$source" "$dir/src" "$version"
    headers_packages "$prefix"
    [ -n "$(headers_cli "$prefix")" ] ||
        say "the ompi_info of $prefix does not say how it was configured; the source's defaults are tried"
    (logged "$log" "configuring Open MPI's source as the one in $prefix is, for its headers (some minutes)" \
        headers_configure "$prefix" "$dir/src") ||
        die "the source $source could not be configured as the Open MPI in $prefix was: $(configure_error "$log") (log: $log)"
    headers_tags "$prefix" "$dir/src"
    headers_collect "$dir/src" "$dir/include" || die "the headers of $source could not be copied to $dir/include."
    rm -rf "$dir/src"
    : >"$dir/stamp"
}

headers_from_source() {
    local prefix=$1 source force=$3 version key dir
    source=$(readlink -e -- "$2") || die "there is no source tree or tarball $2."
    [ -r "$source" ] || die "the source $source cannot be read; look at its permissions."
    version=$(openmpi_version "$prefix")
    key=$({ headers_options "$prefix" && headers_identity "$source" && "${CC:-cc}" --version && openmpi_tool "$prefix" ompi_info &&
        sha256sum <"$FSBML_TOP/scripts/headers.sh"; } | sha256sum | cut -c 1-12)
    dir=$FSBML_CACHE/headers/$version-$key
    if ! mkdir -p "$FSBML_CACHE/headers" 2>/dev/null || [ ! -w "$FSBML_CACHE/headers" ]; then
        die "the headers cannot be written to $FSBML_CACHE/headers; name a folder of your own with FSBML_CACHE=DIR."
    fi
    one_at_a_time "$FSBML_CACHE/headers/.lock"
    if [ "$force" = yes ] || [ ! -f "$dir/stamp" ]; then
        rm -rf "$dir"
        # In a shell of its own, so that nothing is left of what is refused.
        (headers_make "$prefix" "$source" "$dir" "$version" "$FSBML_CACHE/headers/$version-$key-configure.log") ||
            { rm -rf "$dir" && exit 1; }
    fi
    exec 9>&-
    mkdir -p "$FSBML_BUILD"
    printf '%s\n' "$dir/include" >"$(headers_record "$prefix")"
}
