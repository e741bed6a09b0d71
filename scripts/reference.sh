# Builds the reference: Open MPI with the base patches and the component inside. Sourced after openmpi.sh and stock.sh.
# shellcheck shell=bash
# shellcheck source=scripts/source.sh
. "$FSBML_TOP/scripts/source.sh"
#
#   reference_build SOURCE FORCE   SOURCE: folder or tarball, "" = download. FORCE=yes begins anew
#
# In the folder that reference_dir names: src/ (patched), build/, prefix/, log/, and one file per finished step, so that a
# build that broke off goes on where it was. The file "stamp" comes last; without it nothing counts as built.

need_reference_tools() {
    local missing=()
    need_build_tools
    have flex || missing+=(flex)
    have perl || missing+=(perl)
    have patch || missing+=(patch)
    have xz || missing+=(xz-utils)
    # By the files that configure looks for, so that a system without Debian's packages can have them too.
    has_header event2/event.h || missing+=(libevent-dev)
    has_header hwloc.h || missing+=(libhwloc-dev)
    [ ${#missing[@]} -eq 0 ] || need_packages "building Open MPI $FSBML_REFERENCE_VERSION" "${missing[@]}"
}

# The component's sources, in the form that says whether they have changed.
component_key() {
    (cd "$FSBML_TOP/ompi/mca/bml/fsbml" && component_files | sort | tr '\n' '\0' | xargs -0 sha256sum) | sha256sum | cut -c 1-16
}

component_files() {
    find . -type f \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.am' -o -name '*.m4' -o -name '*.mk' -o -name '*.map' -o -name '*.txt' \) -print
}

# Brings the tree's copy up to date; files that are equal keep their times, so that make does no more than is needed.
copy_component() {
    local to=$1/ompi/mca/bml/fsbml from=$FSBML_TOP/ompi/mca/bml/fsbml file
    mkdir -p "$to"
    (cd "$from" && component_files) | while IFS= read -r file; do put_file "$from/$file" "$to/$file"; done
    (cd "$to" && component_files) | while IFS= read -r file; do [ -f "$from/$file" ] || rm -f -- "$to/$file"; done
}

apply_patches() {
    local tree=$1 source=$2 log=$3 patch
    : >"$log"
    while IFS= read -r patch; do
        case "$patch" in "" | "#"*) continue ;; esac
        say "applying $patch"
        (cd "$tree" && patch -p1 --forward --batch --fuzz=0 --reject-file=- <"$FSBML_REFERENCE_PATCHES/$patch") >>"$log" 2>&1 || {
            grep -E 'FAILED|Reversed|No file|malformed' "$log" | tail -n 3 >&2
            die "the base patch $patch does not apply to $source (is it the pristine $FSBML_REFERENCE_VERSION?); the log is $log"
        }
    done <"$FSBML_REFERENCE_PATCHES/series"
}

# Open MPI's own autogen.pl, for the whole tree: it has to find the new component. The packages inside (PMIx, PRRTE, ROMIO)
# bring their configure in the tarball and are not changed, so their two thirds of the time are saved by a stand-in.
bootstrap_tree() {
    local tree=$1 dir name rc=0 without
    without=$(IFS=, && printf '%s' "${FSBML_REFERENCE_WITHOUT[*]}")
    cd "$tree" || return
    for dir in 3rd-party/*/; do
        [ -f "$dir/configure" ] || continue
        for name in autogen.pl autogen.sh; do
            [ ! -f "$dir/$name" ] || mv -- "$dir/$name" "$dir/$name.kept"
        done
        printf '#!/bin/sh\nexit 0\n' >"$dir/autogen.pl"
        chmod +x "$dir/autogen.pl"
    done
    ./autogen.pl --force --jobs "$(nproc)" --exclude "$without" || rc=$?
    for dir in 3rd-party/*/; do
        [ -f "$dir/configure" ] || continue
        rm -f -- "$dir/autogen.pl"
        for name in autogen.pl autogen.sh; do
            [ ! -f "$dir/$name.kept" ] || mv -- "$dir/$name.kept" "$dir/$name"
        done
    done
    return "$rc"
}

configure_tree() {
    local dir=$1 runtime
    mapfile -t runtime < <(reference_runtime)
    rm -rf "$dir/build"
    mkdir -p "$dir/build" && cd "$dir/build" || return
    ../src/configure --prefix="$dir/prefix" "${FSBML_REFERENCE_FLAGS[@]}" "${runtime[@]}"
}

# Open MPI's configure once more, where the component's part of it has changed. One process: autoconf and automake share a cache.
refresh_tree() { make -C "$1/build" -j 1 am--refresh; }

# step DIR NAME WHAT COMMAND...: runs a step once; dies with the log's name.
step() {
    local dir=$1 name=$2 what=$3
    shift 3
    [ ! -f "$dir/.$name" ] || return 0
    (logged "$dir/log/$name.log" "$what" "$@") || die "$what failed; the log is $dir/log/$name.log"
    : >"$dir/.$name"
}

reference_unpack() {
    local dir=$1 source=$2
    [ ! -f "$dir/.patched" ] || return 0
    rm -rf "$dir"
    mkdir -p "$dir/log"
    [ -n "$source" ] || source=$(source_fetch)
    say "unpacking $source"
    source_unpack "$source" "$dir/src" "$FSBML_REFERENCE_VERSION" "the base patches are for"
    apply_patches "$dir/src" "$source" "$dir/log/patch.log"
    : >"$dir/.patched"
}

reference_build() {
    local source=$1 force=$2 dir key component=ompi/mca/bml/fsbml
    [ -z "$source" ] || source=$(readlink -f -- "$source") || die "there is no source tree or tarball $1."
    dir=$(reference_dir) || die "$FSBML_REFERENCE_PATCHES/series is missing: this copy of FSBML is incomplete."
    key=$(component_key)
    if [ "$force" != yes ] && [ "$(cat "$dir/stamp" 2>/dev/null)" = "$key" ]; then
        say "Open MPI $FSBML_REFERENCE_VERSION with FSBML is in $dir/prefix"
        return 0
    fi
    need_reference_tools
    mkdir -p "$FSBML_CACHE/reference"
    one_at_a_time "$FSBML_CACHE/reference/.lock"
    # A source that is named is meant: what an unfinished build had unpacked from elsewhere does not count.
    if [ "$force" = yes ] || { [ -n "$source" ] && [ ! -f "$dir/stamp" ]; }; then rm -rf "$dir"; fi
    reference_unpack "$dir" "$source"
    copy_component "$dir/src"
    # A tree whose configure cannot be made anew was left half-made, and begins again with that.
    if [ -f "$dir/stamp" ] && ! refresh_tree "$dir" >"$dir/log/refresh.log" 2>&1; then
        rm -f -- "$dir"/{stamp,.autogen,.configure,.make,.install}
    fi
    if [ -f "$dir/stamp" ]; then
        # The component alone; the old one counts until the new one is there.
        logged "$dir/log/component.log" "rebuilding the component in Open MPI $FSBML_REFERENCE_VERSION" \
            make -C "$dir/build/$component" -j "$(nproc)" install ||
            die "the component did not compile; the log is $dir/log/component.log"
    else
        step "$dir" autogen "making Open MPI's configure (autogen.pl, about half a minute)" bootstrap_tree "$dir/src"
        step "$dir" configure "configuring Open MPI $FSBML_REFERENCE_VERSION (some minutes)" configure_tree "$dir"
        step "$dir" make "compiling Open MPI $FSBML_REFERENCE_VERSION (some minutes)" make -C "$dir/build" -j "$(nproc)"
        step "$dir" install "installing it in $dir/prefix" make -C "$dir/build" -j "$(nproc)" install
    fi
    reference_check "$dir/prefix"
    printf '%s\n' "$key" >"$dir/stamp.new" && mv -f -- "$dir/stamp.new" "$dir/stamp"
    exec 9>&-
    say "Open MPI $FSBML_REFERENCE_VERSION with FSBML is in $dir/prefix"
}

# What was built must be what was asked for, before it counts.
reference_check() {
    local prefix=$1 version
    version=$(openmpi_version "$prefix") || die "the Open MPI that was installed in $prefix does not run."
    [ "$version" = "$FSBML_REFERENCE_VERSION" ] || die "the Open MPI that was installed in $prefix is $version, not $FSBML_REFERENCE_VERSION."
    component_loads "$prefix" "$(openmpi_path "$prefix" pkglibdir)" ||
        die "the Open MPI that was installed in $prefix does not know the component fsbml."
}
