# ./fsbml install: puts the built component where Open MPI looks for components by itself.
# shellcheck shell=bash
# shellcheck source=scripts/install.sh
. "$FSBML_TOP/scripts/install.sh"
# shellcheck source=scripts/stock.sh
. "$FSBML_TOP/scripts/stock.sh"

cmd_install_help() {
    cat <<'HELP'
usage: ./fsbml install [--user | --system] [--openmpi PREFIX]

Puts the component (built first, if it has not been) where Open MPI finds it. Afterwards `mpirun --mca pml ob1 --mca bml fsbml` works;
on Debian 13 with the two variables that it prints.
Jobs that do not ask for it are not affected: Open MPI's default stays r2. The man page, fsbml(7), is installed as well: to
~/.local/share/man, or beside those of Open MPI.

  --user             into ~/.openmpi/components: for you, on every node that shares this home (the default)
  --system           into the component folder of that Open MPI: for all users of this machine. On a cluster, do it on every
                     node, or where the shared install is. (With other commands, --system NAME is a Debian release.)
  --openmpi PREFIX   the Open MPI to install for (default: the one that './fsbml prefix' prints)

A component belongs to the Open MPI version that it was built for. ~/.openmpi/components is searched by every Open MPI that
you run: in one of another version, a job that asks for FSBML says so in one sentence and uses r2. An Open MPI that finds no
component fsbml at all ends such a job. So write 'bml = fsbml' into ~/.openmpi/mca-params.conf only if every Open MPI that you run
has FSBML, else into the openmpi-mca-params.conf of those that have it (docs/quickstart.md).
'./fsbml uninstall' takes the component out again.
HELP
}

cmd_install() {
    install_options install "$@"
    local prefix version dir helpdir mandir other options
    # shellcheck disable=SC2154 # set by install_options
    prefix=$(stock_openmpi "$install_prefix")
    version=$(openmpi_version "$prefix")
    install_dirs "$install_kind" "$prefix"
    dir=$install_dir helpdir=$install_help_dir mandir=$install_man_dir

    # Open MPI takes the first one that it finds, and looks into its own folder first.
    install_dirs "$([ "$install_kind" = user ] && echo system || echo user)" "$prefix"
    other=$install_dir/mca_bml_fsbml.so
    if [ "$install_kind" = user ]; then not_of_a_package "$other"; else not_of_a_package "$dir/mca_bml_fsbml.so"; fi
    if [ "$install_kind" = user ] && [ -f "$other" ]; then
        die "Open MPI $version has the component in its own folder already ($other), and would go on using that one. Renew it with './fsbml install --system', or remove it first with './fsbml uninstall --system'."
    fi
    may_write "$dir"
    may_write "$helpdir"
    may_write "$mandir"
    stock_build "$prefix" no ""
    local built
    built=$(component_dir "$prefix")
    put_file "$built/help-mca-bml-fsbml.txt" "$helpdir/help-mca-bml-fsbml.txt" || die "could not write to $helpdir."
    put_file "$FSBML_TOP/docs/man/fsbml.7" "$mandir/fsbml.7" || die "could not write to $mandir."
    put_file "$built/mca_bml_fsbml.so" "$dir/mca_bml_fsbml.so" || die "could not write to $dir."
    found_by_default "$prefix" ||
        die "the component is in $dir, but Open MPI $version does not find it there; is mca_base_component_path set in the environment or in a parameter file?"
    [ "$install_kind" = user ] || [ ! -f "$other" ] ||
        say "warning: there is a copy in $other as well; Open MPI $version uses the one just installed. './fsbml uninstall --user' removes the copy."
    options=$(component_path_options "$prefix")
    say "installed for Open MPI $version in $dir; use it with: mpirun --mca pml ob1 --mca bml fsbml ${options:+$options }..."
    [ -z "$options" ] ||
        say "without the options after it, this mpirun has jobs search other folders only. In the environment they are: export OMPI_MCA_mca_base_component_path=SYS_DEFAULT:USER_DEFAULT PMIX_MCA_mca_base_component_path=${options##* }"
}
