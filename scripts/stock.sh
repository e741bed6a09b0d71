# Builds the stock component: one DSO against the headers of an Open MPI that is there already. Sourced after openmpi.sh.
# shellcheck shell=bash
#
#   stock_openmpi [PREFIX [SOURCE]]   prints a usable Open MPI's prefix: the given one, the one in use, or Debian's, installed
#                                 now; it has internal headers, unless there is a source for them
#   stock_build PREFIX FORCE CFLAGS   builds what is not built yet; FORCE=yes begins anew; CFLAGS="": as the last time
#   configure_options PREFIX      prints configure's options for that Open MPI, one a line

# dash takes a fifth less time than bash for configure, and for each call of libtool.
! have dash || export CONFIG_SHELL=${CONFIG_SHELL:-$(command -v dash)}

configure_options() {
    printf -- '--with-openmpi=%s\n' "$1"
    [ ! -f "$(headers_record "$1")" ] || printf -- '--with-openmpi-headers=%s\n' "$(headers_dir "$1")"
}

has_header() { printf '#include <%s>\n' "$1" | "${CC:-cc}" -E - >/dev/null 2>&1; }

# headers_remedy PREFIX: how internal headers are obtained for an Open MPI of this kind.
headers_remedy() {
    local prefix=$1
    if [ -f "$(headers_record "$prefix")" ]; then
        echo "Those made by 'build --source' have gone from $FSBML_CACHE: run that again"
    elif [ -d "$prefix/.spack" ]; then
        echo "Spack does not install them"
    elif [ -d "$prefix/easybuild" ]; then
        echo "EasyBuild installs them only if the easyconfig's configopts have --with-devel-headers"
    elif [ "$prefix" = /usr ] && have dpkg-query; then
        echo "On Debian they are in libopenmpi-dev: apt-get install --reinstall libopenmpi-dev"
    elif [[ $prefix == /usr/* ]] && have rpm; then
        echo "The package openmpi-devel has the headers of MPI only"
    else
        echo "An Open MPI of your own must be configured with --with-devel-headers"
    fi
}

# check_openmpi PREFIX [SOURCE]: dies unless FSBML supports that Open MPI and its internal headers are there, or a source that
# they can be taken from.
check_openmpi() {
    local prefix=$1 version include
    [ -d "$prefix" ] || die "$prefix is not a folder; --openmpi wants the prefix of an Open MPI, the folder that has bin/mpicc."
    openmpi_tool "$prefix" mpicc >/dev/null || die "$prefix is not the prefix of an Open MPI: it has no bin/mpicc."
    version=$(openmpi_version "$prefix") || die "$prefix is not the prefix of an Open MPI: its mpicc is another MPI's or does not run."
    case "$version" in
        [0-3].* | 4.0.*) die "FSBML needs Open MPI 4.1 or newer; the one in $prefix is $version." ;;
    esac
    include=$(openmpi_path "$prefix" pkgincludedir) || die "the ompi_info of $prefix is missing or does not run."
    [ -n "${2:-}" ] || headers_dir "$prefix" >/dev/null ||
        die "Open MPI $version in $prefix has no internal headers ($include/ompi/mca/bml/bml.h is missing). $(headers_remedy "$prefix"), or name the source of Open MPI $version: ./fsbml build --openmpi $prefix --source TARBALL|DIR"
}

stock_openmpi() {
    local prefix=${1:-}
    if [ -z "$prefix" ]; then
        if ! prefix=$(openmpi_prefix); then
            need_packages "an Open MPI (none is on the PATH)" openmpi-bin libopenmpi-dev
            hash -r
            prefix=$(openmpi_prefix) || die "openmpi-bin is installed, but there is no mpicc on the PATH ($PATH)."
        elif [ "$prefix" = /usr ] && have dpkg-query && dpkg-query -W openmpi-bin >/dev/null 2>&1; then
            need_packages "the headers of Debian's Open MPI" openmpi-bin libopenmpi-dev
        fi
    fi
    check_openmpi "$prefix" "${2:-}"
    printf '%s\n' "$prefix"
}

# need_build_tools: autotools and a compiler, by Debian package where they are missing.
need_build_tools() {
    local missing=()
    have autoconf autom4te || missing+=(autoconf)
    have automake aclocal || missing+=(automake)
    have libtoolize || missing+=(libtool)
    have make || missing+=(make)
    have "${CXX:-c++}" || missing+=(g++)
    have "${CC:-cc}" || missing+=(gcc)
    [ ${#missing[@]} -eq 0 ] || need_packages "building the component" "${missing[@]}"
}

# configure_error LOG: the one line in which configure says what is wrong.
configure_error() {
    local line
    line=$(grep -m 1 '^configure: error: ' "$1") || line="configure failed"
    printf '%s\n' "${line#configure: error: }"
}

# The sources as the build sees them: links into this tree, so that what autoreconf generates lies beside the links and not
# in the tree, which may be read-only or configured by hand.
link_sources() (
    farm=$1
    shopt -s nullglob
    cd "$FSBML_TOP" || exit
    # One call of ln a folder: one a file would take seconds. (A pattern, as what is not there has no place in the list: LICENS[E].)
    { echo . && find ompi/mca/bml/fsbml sim tests -type d; } | while IFS= read -r folder; do
        files=()
        for file in "$PWD/$folder"/{LICENS[E],*_test.sh,*.{ac,m4,am,mk,map,txt,c,h,cpp,hpp,awk,xml}}; do
            [ "$farm/$folder/${file##*/}" -ef "$file" ] || files+=("$file")
        done
        [ ${#files[@]} -eq 0 ] || { mkdir -p "$farm/$folder" && ln -sf -t "$farm/$folder" -- "${files[@]}"; }
    done
    find "$farm" -xtype l -delete
)

# Contents and times: make would else run the autotools by itself, in the middle of a build.
autotools_key() {
    (cd "$FSBML_TOP" && find configure.ac configure.m4 Makefile.am ompi/mca/bml/fsbml tests \
        \( -name '*.ac' -o -name '*.m4' -o -name '*.am' -o -name '*.mk' -o -name '*_version.h' \) -type f -print0 | sort -z |
        xargs -0 stat -c '%n %Y %s') | sha256sum | cut -c 1-16
}

# What the configured build depends on besides the sources.
configure_key() {
    local prefix=$1 flags=$2 include
    include=$(headers_dir "$prefix")
    {
        printf '%s\n' "$include" "$prefix" "$flags" "${CC:-} ${CXX:-} ${CPPFLAGS:-} ${LDFLAGS:-}" "$(autotools_key)"
        "$(openmpi_tool "$prefix" mpicc)" --showme
        sha256sum "$include/ompi/mca/bml/bml.h" "$include/opal_config.h"
    } | sha256sum | cut -c 1-16
}

# put_file FROM TO: replaces TO in one step, so that a running job keeps what it has mapped; nothing if they are equal.
put_file() {
    cmp -s -- "$1" "$2" && return 0
    mkdir -p "$(dirname -- "$2")"
    cp -- "$1" "$2.new.$$" && chmod 644 "$2.new.$$" && mv -f -- "$2.new.$$" "$2"
}

# component_loads PREFIX DIR: does that Open MPI's own loader take the component in DIR?
component_loads() {
    local prefix=$1 libdir
    libdir=$(openmpi_path "$prefix" pkglibdir)
    OMPI_MCA_mca_base_component_path=$2:$libdir "$(openmpi_tool "$prefix" ompi_info)" --parsable 2>/dev/null |
        grep -q '^mca:bml:fsbml:'
}

# one_at_a_time LOCKFILE: waits for another build of this kind to end; held until descriptor 9 is closed.
one_at_a_time() {
    exec 9>>"$1"
    flock -n 9 || {
        say "waiting for another build to end"
        flock 9
    }
}

# prepare_build: links and configure script are up to date, and no other build is on; ends with closing descriptor 9.
prepare_build() {
    local farm=$FSBML_BUILD/src key
    mkdir -p "$FSBML_BUILD/log"
    one_at_a_time "$FSBML_BUILD/.lock"
    link_sources "$farm"
    key=$(autotools_key)
    [ "$(cat "$farm/.bootstrap" 2>/dev/null)" != "$key" ] || return 0
    rm -f "$farm/.bootstrap"
    (cd "$farm" && logged "$FSBML_BUILD/log/autoreconf.log" "preparing the build (autoreconf)" autoreconf -i) ||
        die "autoreconf failed; the log is $FSBML_BUILD/log/autoreconf.log"
    printf '%s\n' "$key" >"$farm/.bootstrap"
}

# prove_headers PREFIX BUILD LOG: headers that the installation has not brought must agree with its libraries before anything
# is built with them.
prove_headers() {
    local test=$2/build/tests/abi/layout_test difference
    make -C "$2/build/tests" abi/layout_test >"$3" 2>&1 ||
        die "the headers from the source do not compile, or not link with the libraries of the Open MPI in $1; the log is $3"
    if ! timeout 60 "$test" >"$3" 2>&1; then
        rm -f "$(headers_record "$1")"
        difference=$(sed -n 's/^differs: //p' "$3" | head -n 1)
        die "the headers from the source do not fit the libraries of the Open MPI in $1, so they are not used: ${difference:-the test program did not end well} (log: $3)"
    fi
    say "the headers from the source fit: $(tail -n 1 "$3")"
}

# stock_configure PREFIX FORCE CFLAGS: as stock_build, up to the compilation.
stock_configure() {
    local prefix=$1 force=$2 flags=$3 version dir farm=$FSBML_BUILD/src log key options
    version=$(openmpi_version "$prefix")
    dir=$(stock_dir "$prefix")
    log=$FSBML_BUILD/log/${dir##*/}
    [ -n "$flags" ] || flags=$(cat "$dir/.flags" 2>/dev/null) || flags="-g1 -O2"
    need_build_tools
    prepare_build
    [ "$force" != yes ] || rm -rf "$dir"

    key=$(configure_key "$prefix" "$flags")
    [ "$(cat "$dir/.configured" 2>/dev/null)" != "$key" ] || return 0
    rm -rf "$dir"
    mkdir -p "$dir/build"
    mapfile -t options < <(configure_options "$prefix")
    (cd "$dir/build" && logged "$log-configure.log" "configuring the component for Open MPI $version in $prefix" \
        "$farm/configure" --quiet "${options[@]}" CFLAGS="$flags" CXXFLAGS="$flags") ||
        die "$(configure_error "$log-configure.log") (log: $log-configure.log)"
    sed -n 's/^configure: WARNING: /fsbml: warning: /p' "$log-configure.log" >&2
    [ ! -f "$(headers_record "$prefix")" ] || prove_headers "$prefix" "$dir" "$log-proof.log"
    printf '%s\n' "$flags" >"$dir/.flags"
    printf '%s\n' "$key" >"$dir/.configured"
}

stock_build() {
    local prefix=$1 version dir log
    stock_configure "$@"
    version=$(openmpi_version "$prefix")
    dir=$(stock_dir "$prefix")
    log=$FSBML_BUILD/log/${dir##*/}
    if ! make -q -C "$dir/build/ompi/mca/bml/fsbml" mca_bml_fsbml.la >/dev/null 2>&1; then
        logged "$log-make.log" "compiling the component" \
            make -C "$dir/build/ompi/mca/bml/fsbml" -j "$(nproc)" mca_bml_fsbml.la ||
            die "the component did not compile for Open MPI $version in $prefix; the log is $log-make.log"
    fi
    put_file "$FSBML_TOP/ompi/mca/bml/fsbml/help-mca-bml-fsbml.txt" "$dir/component/help-mca-bml-fsbml.txt"
    if ! cmp -s "$dir/build/ompi/mca/bml/fsbml/.libs/mca_bml_fsbml.so" "$dir/component/mca_bml_fsbml.so"; then
        put_file "$dir/build/ompi/mca/bml/fsbml/.libs/mca_bml_fsbml.so" "$dir/component/mca_bml_fsbml.so"
        component_loads "$prefix" "$dir/component" ||
            die "Open MPI $version in $prefix does not load the component in $dir/component; was it configured with --disable-dlopen?"
    fi
    exec 9>&-
    say "the component for Open MPI $version in $prefix is in $dir/component"
}
