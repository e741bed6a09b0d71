# What install and uninstall share: options, and where the files go. Sourced after lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the functions give their results in variables
# shellcheck source=scripts/openmpi.sh
. "$FSBML_TOP/scripts/openmpi.sh"

# install_options COMMAND ARGS...: sets install_kind (user, system) and install_prefix ("" = the one in use).
install_options() {
    local command=$1 kind=""
    install_prefix=""
    shift
    while [ $# -gt 0 ]; do
        case "$1" in
            --user | --system)
                [ -z "$kind" ] || [ "$kind" = "${1#--}" ] || die "$command: --user and --system do not go together."
                kind=${1#--}
                ;;
            --openmpi)
                [ -n "${2:-}" ] || die "$command: --openmpi needs a value; see './fsbml $command --help'."
                install_prefix=$2
                shift
                ;;
            --openmpi=?*) install_prefix=${1#*=} ;;
            *) die "$command: unknown option '$1'; './fsbml $command --help' lists them." ;;
        esac
        shift
    done
    install_kind=${kind:-user}
}

# install_dirs KIND PREFIX: sets install_dir (the DSO), install_help_dir (its help file) and install_man_dir (the man page).
install_dirs() {
    case "$1" in
        user)
            [ -n "${HOME:-}" ] || die "HOME is not set, so there is no ~/.openmpi/components."
            install_dir=$HOME/.openmpi/components
            # Open MPI's help folder is not the user's; the component looks beside itself.
            install_help_dir=$install_dir
            # man looks there if ~/.local/bin is on the PATH.
            install_man_dir=$HOME/.local/share/man/man7
            ;;
        system)
            install_dir=$(openmpi_path "$2" pkglibdir) || die "the ompi_info of $2 is missing or does not run."
            install_help_dir=$(openmpi_path "$2" pkgdatadir) || die "the ompi_info of $2 is missing or does not run."
            install_man_dir=$(openmpi_path "$2" mandir)/man7 || die "the ompi_info of $2 is missing or does not run."
            ;;
    esac
}

# may_write DIR: dies unless files can be made in DIR, which need not exist yet.
may_write() {
    local dir=$1
    while [ ! -e "$dir" ]; do dir=$(dirname -- "$dir"); done
    if ! [ -d "$dir" ] || ! [ -w "$dir" ]; then
        die "you may not write to $1; ./fsbml install --user needs no rights but your own."
    fi
}

# not_of_a_package FILE: dies if FILE came with a Debian package, whose files only apt-get may change.
not_of_a_package() {
    local package
    have dpkg-query || return 0
    package=$(dpkg-query -S "$1" 2>/dev/null) || return 0
    die "$1 belongs to the package ${package%%:*}; remove that first: apt-get remove ${package%%:*}"
}

# found_by_default PREFIX: does that Open MPI find the component without being told where?
found_by_default() {
    grep -q '^mca:bml:fsbml:' <<<"$("$(openmpi_tool "$1" ompi_info)" --parsable 2>/dev/null)"
}

# component_path_options PREFIX: prints what mpirun needs beside --mca bml fsbml for jobs to search Open MPI's own folders; as a
# rule nothing. Debian 13's PMIx is built with a component path, which mpirun of 5.0 gives to jobs as Open MPI's; PMIx keeps its own.
component_path_options() {
    local mpirun environment
    mpirun=$(openmpi_tool "$1" mpirun) || return 0
    # Where jobs are started in another way only (a login node), this says nothing.
    environment=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$mpirun" -n 1 env </dev/null 2>/dev/null) || return 0
    sed -n 's/^OMPI_MCA_mca_base_component_path=\(.*\)/--mca mca_base_component_path SYS_DEFAULT:USER_DEFAULT --pmixmca mca_base_component_path \1/p' <<<"$environment"
}
