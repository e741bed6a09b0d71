# ./fsbml build: the component for this machine's Open MPI, or the reference: Open MPI with base patches and the component.
# shellcheck shell=bash
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"
# shellcheck source=scripts/stock.sh
. "$FSBML_TOP/scripts/stock.sh"
# shellcheck source=scripts/headers.sh
. "$FSBML_TOP/scripts/headers.sh"
# shellcheck source=scripts/reference.sh
. "$FSBML_TOP/scripts/reference.sh"

cmd_build_help() {
    cat <<HELP
usage: ./fsbml build [--openmpi PREFIX] [--source DIR|TARBALL] [--debug] [--force]
       ./fsbml build --reference [--source DIR|TARBALL] [--force]

Without --reference (about a minute): builds the component for an installed Open MPI 4.1, 5.0 or 6.0 (its second release
candidate), against its internal headers. Nothing in that Open MPI is changed. If there is no Open MPI, Debian's is installed
(root only).

  --openmpi PREFIX   the Open MPI to build for, e.g. /opt/openmpi-5.0.7; it stays the one in use for the other commands
                     (default: \$FSBML_OPENMPI, the last PREFIX named, the mpicc on the PATH)
  --source DIR|TARBALL   for an Open MPI that was installed without its internal headers (most clusters' are): the source of
                     the same version. A copy of it is configured as ompi_info says that the installation was (minutes, the
                     first time; nothing of Open MPI is compiled), its headers are kept, and they are used only if sizes and
                     offsets agree with the installed libraries
  --debug            without optimisation, with debug information
  --force            begin anew, even if it has been built

With --reference (minutes): obtains the source of Open MPI $FSBML_REFERENCE_VERSION, applies the base patches, and builds and installs it with
the component inside. The result is kept: a second run does nothing, or compiles only the component, if that has changed.

  --source DIR|TARBALL   take the source from here instead of downloading it from Debian's archive; it is not changed
  --force                begin anew, even if it has been built

The built things are below $FSBML_BUILD (stock; \$FSBML_BUILD) and
$FSBML_CACHE (reference, headers from a source; \$FSBML_CACHE). Logs are beside them, and named when they are written.
HELP
}

cmd_build() {
    local reference=no force=no flags="-g1 -O2" prefix="" source="" debug=no
    while [ $# -gt 0 ]; do
        case "$1" in
            --reference) reference=yes ;;
            --force) force=yes ;;
            --debug) debug=yes ;;
            --openmpi | --source)
                [ -n "${2:-}" ] || die "build: $1 needs a value; see './fsbml build --help'."
                if [ "$1" = --openmpi ]; then prefix=$2; else source=$2; fi
                shift
                ;;
            --openmpi=?*) prefix=${1#*=} ;;
            --source=?*) source=${1#*=} ;;
            *) die "build: unknown option '$1'; './fsbml build --help' lists them." ;;
        esac
        shift
    done
    if [ "$reference" = yes ]; then
        [ -z "$prefix" ] || die "build: --openmpi and --reference do not go together: the reference is an Open MPI of its own."
        [ "$debug" = no ] || die "build: --debug and --reference do not go together."
        reference_build "$source" "$force"
        return
    fi
    [ "$debug" = no ] || flags="-g3 -O0"
    local named=$prefix
    # A relative PREFIX would mean another folder to the next command.
    if [ -n "$prefix" ] && [ -d "$prefix" ]; then prefix=$(cd -- "$prefix" && pwd); fi
    prefix=$(stock_openmpi "$prefix" "$source")
    if [ -n "$source" ]; then
        headers_from_source "$prefix" "$source" "$force"
    elif [ -n "$named" ] && [ -f "$(openmpi_path "$prefix" pkgincludedir)/ompi/mca/bml/bml.h" ]; then
        rm -f "$(headers_record "$prefix")"
    fi
    stock_build "$prefix" "$force" "$flags"
    [ -z "$named" ] || printf '%s\n' "$prefix" >"$(openmpi_record)"
}
