# ./fsbml uninstall: takes out what ./fsbml install has put in.
# shellcheck shell=bash
# shellcheck source=scripts/install.sh
. "$FSBML_TOP/scripts/install.sh"

cmd_uninstall_help() {
    cat <<'HELP'
usage: ./fsbml uninstall [--user | --system] [--openmpi PREFIX]

Removes the component, its help file and its man page, and nothing else, from where './fsbml install' puts them.

  --user             from ~/.openmpi/components (the default)
  --system           from the component folder of the Open MPI that is meant
  --openmpi PREFIX   the Open MPI that is meant (default: the one that './fsbml prefix' prints)
HELP
}

cmd_uninstall() {
    install_options uninstall "$@"
    local prefix file dir removed=no
    # shellcheck disable=SC2154 # set by install_options
    prefix=$install_prefix
    if [ "$install_kind" = system ]; then
        [ -n "$prefix" ] || prefix=$(openmpi_prefix) || die "there is no Open MPI on the PATH to remove the component from; name it with --openmpi PREFIX."
        openmpi_version "$prefix" >/dev/null || die "$prefix is not the prefix of an Open MPI."
    fi
    install_dirs "$install_kind" "$prefix"
    not_of_a_package "$install_dir/mca_bml_fsbml.so"
    for file in "$install_dir/mca_bml_fsbml.so" "$install_help_dir/help-mca-bml-fsbml.txt" "$install_man_dir/fsbml.7"; do
        [ -e "$file" ] || continue
        rm -f -- "$file" 2>/dev/null || die "$file could not be removed: is $(dirname -- "$file") writable?"
        removed=yes
        say "removed $file"
    done
    # Folders that the installation may have made go when nothing else is in them.
    if [ "$removed" = yes ] && [ "$install_kind" = user ]; then
        for dir in "$install_dir" "$install_man_dir"; do
            [ ! -d "$dir" ] || (cd "$HOME" && rmdir --parents --ignore-fail-on-non-empty -- "${dir#"$HOME"/}")
        done
    fi
    [ "$removed" = yes ] || say "the component is not installed in $install_dir; nothing to do"
}
