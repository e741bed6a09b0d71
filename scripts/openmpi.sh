# Which Open MPI is in use, and where the things built for it are. Sourced after lib.sh; builds and installs nothing.
# shellcheck shell=bash
#
#   openmpi_prefix             prints the prefix of the Open MPI in use for the stock component; 1 (and nothing) if there is none.
#                              In this order: $FSBML_OPENMPI, the last `build --openmpi`, the mpicc on the PATH.
#   openmpi_tool PREFIX NAME   prints the path of a program of that Open MPI (mpicc, mpirun, ompi_info, ...); 1 if it has none
#   openmpi_version PREFIX     prints e.g. 4.1.4; 1 if PREFIX holds no Open MPI
#   openmpi_path PREFIX WHAT   prints a folder that ompi_info knows: pkglibdir (components), pkgdatadir (help files), incdir, libdir, ...
#   stock_dir PREFIX           prints the folder in which the stock component for PREFIX is built (it need not exist)
#   component_dir [PREFIX]     prints the folder that holds the built stock DSO and its help file, to be used as
#                              mca_base_component_path; 1 (and nothing) if it has not been built
#   headers_dir PREFIX         prints the folder of its internal headers: the installation's, or those that `build --source` has
#                              made for it; 1 (and nothing) if there are none
#   reference_dir              prints the folder of the reference build for the present patches and flags (it need not exist)
#   reference_prefix           prints the prefix of the finished reference build (patched Open MPI, component inside),
#                              or nothing (and 0) if there is none

# The version that base-patches are made for, and how it is configured: both are part of the reference build's key.
FSBML_REFERENCE_VERSION=5.0.7
FSBML_REFERENCE_PATCHES=$FSBML_TOP/ompi/mca/bml/base-patches/${FSBML_REFERENCE_VERSION%.*}
FSBML_REFERENCE_FLAGS=(
    --with-hwloc=external --with-libevent=external
    --enable-mpi-fortran=no --disable-oshmem --disable-sphinx --without-ucx --without-ofi --without-verbs --disable-io-romio
    --with-devel-headers --enable-mca-dso=bml-fsbml
    # For tests and demonstrations, not for speed: -O3 and debug information would double the time.
    CFLAGS=-O1
)
# Components left out, as FRAMEWORK-COMPONENT for autogen.pl: what has nothing to do with BTLs is a third of the time of making configure, and
# of compiling: files, other PMLs than ob1, other networks and accelerators, collectives that are off by default.
FSBML_REFERENCE_WITHOUT=(
    io-{ompio,romio341} fs-{gpfs,ime,lustre,plfs,pvfs2,ufs} fbtl-{ime,plfs,posix,pvfs2} sharedfp-{individual,lockedfile,sm}
    fcoll-{dynamic,dynamic_gen2,individual,static,vulcan} common-{monitoring,ofi,ompio,ucx} mtl-{mxm,ofi,portals4,psm2}
    pml-{cm,monitoring,ucx,v} vprotocol-pessimist osc-{monitoring,portals4,ucx} topo-treematch op-{aarch64,avx}
    btl-{ofi,portals4,scif,smcuda,uct,ugni,usnic} coll-{adapt,cuda,ftagree,han,hcoll,monitoring,portals4,spacc,ucc}
    accelerator-cuda rcache-{gpusm,udreg} smsc-{knem,xpmem} threads-{argobots,qthreads} mpool-memkind pmix-pmix2x
)

# reference_runtime: flags for PMIx and PRRTE, one a line: the system's, where its PMIx and its prterun go with 5.0, which saves half of
# the compiling; else those in Open MPI's tarball. A prterun without headers will do, as Open MPI only starts it.
reference_runtime() {
    local prterun version
    if prterun=$(command -v prterun) && version=$(grep -oE -m 1 '[0-9]+(\.[0-9]+)+' <<<"$("$prterun" --version 2>/dev/null)") &&
        [ "${version%%.*}" -eq 3 ] && pkg-config --exists 'pmix >= 5.0.1 pmix < 6' 2>/dev/null; then
        printf '%s\n' --with-pmix=external "--with-prrte=${prterun%/bin/prterun}" \
            ac_cv_header_prte_h=yes ompi_setup_prrte_cv_version_happy=yes
    else
        printf '%s\n' --with-pmix=internal --with-prrte=internal
    fi
}

# The record of the last `build --openmpi PREFIX`.
openmpi_record() { printf '%s\n' "$FSBML_BUILD/openmpi"; }

openmpi_tool() {
    local prefix=$1 name=$2 candidate
    # Debian keeps Open MPI's programs under NAME.openmpi; NAME alone may be MPICH's.
    for candidate in "$prefix/bin/$name.openmpi" "$prefix/bin/$name"; do
        if [ -x "$candidate" ]; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

openmpi_version() {
    local tool text
    if tool=$(openmpi_tool "$1" mpicc) && text=$("$tool" --showme:version 2>/dev/null); then :
    elif tool=$(openmpi_tool "$1" ompi_info) && text=$("$tool" --version 2>/dev/null); then :
    else return 1; fi
    [[ $text =~ Open\ MPI\ v?([0-9]+\.[0-9]+\.[0-9]+[a-z0-9.]*) ]] || return 1
    printf '%s\n' "${BASH_REMATCH[1]}"
}

openmpi_path() {
    local tool line
    tool=$(openmpi_tool "$1" ompi_info) || return 1
    line=$(grep -m 1 "^path:$2:" <<<"$("$tool" --parsable --path "$2" 2>/dev/null)") || return 1
    printf '%s\n' "${line#path:"$2":}"
}

openmpi_prefix() {
    local tool prefix record
    if [ -n "${FSBML_OPENMPI:-}" ]; then
        printf '%s\n' "$FSBML_OPENMPI"
        return 0
    fi
    record=$(openmpi_record)
    if [ -f "$record" ]; then
        prefix=$(cat "$record")
        if openmpi_version "$prefix" >/dev/null; then
            printf '%s\n' "$prefix"
            return 0
        fi
    fi
    for tool in mpicc.openmpi mpicc; do
        tool=$(command -v "$tool") || continue
        # The PATH may have a link (or /bin on a merged /usr): the install knows its own prefix best.
        for prefix in "$(dirname -- "$(dirname -- "$tool")")" "$(dirname -- "$(dirname -- "$(readlink -f -- "$tool")")")"; do
            openmpi_version "${prefix:-/}" >/dev/null || continue
            openmpi_path "${prefix:-/}" prefix || printf '%s\n' "$prefix"
            return 0
        done
    done
    return 1
}

stock_dir() {
    local version
    version=$(openmpi_version "$1") || return 1
    printf '%s/stock-%s-%s\n' "$FSBML_BUILD" "$version" "$(printf '%s' "$1" | sha256sum | cut -c 1-8)"
}

# The record of the last `build --source` for PREFIX.
headers_record() { printf '%s.headers\n' "$(stock_dir "$1")"; }

headers_dir() {
    local record include
    record=$(headers_record "$1") || return 1
    if [ -f "$record" ]; then include=$(cat "$record"); else include=$(openmpi_path "$1" pkgincludedir) || return 1; fi
    [ -f "$include/ompi/mca/bml/bml.h" ] || return 1
    printf '%s\n' "$include"
}

component_dir() {
    local prefix dir
    prefix=${1:-$(openmpi_prefix)} || return 1
    if is_installed; then dir=$(openmpi_path "$prefix" pkglibdir); else dir=$(stock_dir "$prefix")/component; fi || return 1
    [ -f "$dir/mca_bml_fsbml.so" ] || return 1
    printf '%s\n' "$dir"
}

# Everything that the reference build depends on but the component, which is rebuilt inside it.
reference_key() {
    {
        printf '%s\n' "$FSBML_REFERENCE_VERSION" "${FSBML_REFERENCE_FLAGS[@]}" "${FSBML_REFERENCE_WITHOUT[@]}"
        reference_runtime
        # Its libraries are the release's.
        grep -E '^(ID|VERSION_ID)=' /etc/os-release 2>/dev/null
        grep -v '^#' "$FSBML_REFERENCE_PATCHES/series"
        (cd "$FSBML_REFERENCE_PATCHES" && sha256sum -- *.patch)
    } | sha256sum | cut -c 1-12
}

reference_dir() {
    [ -f "$FSBML_REFERENCE_PATCHES/series" ] || return 1
    printf '%s/reference/%s-%s\n' "$FSBML_CACHE" "$FSBML_REFERENCE_VERSION" "$(reference_key)"
}

reference_prefix() {
    local dir
    dir=$(reference_dir) || return 0
    # The stamp is written last, so a build that broke off never counts.
    [ ! -f "$dir/stamp" ] || printf '%s\n' "$dir/prefix"
}
