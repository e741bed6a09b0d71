# ./fsbml prefix: prints the Open MPI prefix in use.
# shellcheck shell=bash
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"

cmd_prefix_help() {
    cat <<'HELP'
usage: ./fsbml prefix [--reference]

Prints the prefix of the Open MPI in use, and nothing else, e.g. for PATH="$(./fsbml prefix)/bin:$PATH".

  --reference   the patched Open MPI that `./fsbml build --reference` has built

Without an option: $FSBML_OPENMPI if set, else the PREFIX of the last `./fsbml build --openmpi PREFIX`,
else the install that the mpicc on the PATH belongs to.
HELP
}

cmd_prefix() {
    local prefix
    case "${1:-}" in
        "")
            prefix=$(openmpi_prefix) ||
                die "there is no Open MPI: no mpicc on the PATH; './fsbml build' installs Debian's, './fsbml build --openmpi PREFIX' names another."
            ;;
        --reference)
            prefix=$(reference_prefix)
            [ -n "$prefix" ] || die "the reference Open MPI has not been built; './fsbml build --reference' does that."
            ;;
        *) die "prefix: unknown option '$1'; './fsbml prefix --help' lists them." ;;
    esac
    [ $# -le 1 ] || die "prefix: unknown option '$2'; './fsbml prefix --help' lists them."
    printf '%s\n' "$prefix"
}
