#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# The driver's build, install, uninstall and prefix, on a copy of the sources, with a home and caches of its own.
# Needs an Open MPI with its headers (./fsbml build installs one). Takes about a minute; downloads and installs nothing.
set -euo pipefail

# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh
own_folder

source_top=$FSBML_TOP
real=$("$source_top/fsbml" prefix)
work=$scratch
top=$work/fsbml
mkdir -p "$top" "$work/home"
(cd "$source_top" && tar -cf - --exclude=.libs --exclude='*.o' --exclude=Makefile.in \
    fsbml scripts configure.ac configure.m4 Makefile.am LICENSE docs ompi sim tests) | tar -xf - -C "$top"
# Where it is by default: from elsewhere, the compiler's cache would know none of the files.
export HOME=$work/home FSBML_BUILD=$top/build FSBML_CACHE=$work/cache
unset FSBML_OPENMPI
unset "${!OMPI_MCA_@}"

out="" err="" rc=0
fsbml() { # ARGS...: runs the driver of the copy; sets out, err, rc
    rc=0
    "$top/fsbml" "$@" >"$work/out" 2>"$work/err" || rc=$?
    out=$(cat "$work/out") err=$(cat "$work/err")
}

# The one clear message: the last line, an error, and with the words that tell what to do.
failed() { # WORDS
    [ "$rc" -ne 0 ] && [ "$(grep -c '^fsbml: error: ' <<<"$err")" -eq 1 ] && last_error "$1"
}
succeeds() { [ "$rc" -eq 0 ]; }
said() { grep -q -- "$1" "$work/err"; }
not_said() { ! said "$1"; }
listing() { (cd "$1" && find . -path ./build -prune -o -mindepth 1 -printf '%p %s %T@\n' | sort); }

# fake_openmpi DIR VERSION: programs that answer as an Open MPI of that version would; INCLUDE, LIB and DATA below DIR.
fake_openmpi() {
    mkdir -p "$1/bin" "$1/include/openmpi" "$1/lib/openmpi" "$1/share/openmpi"
    cat >"$1/bin/mpicc" <<FAKE
#!/bin/sh
case "\$1" in
    --showme:version) echo "mpicc: Open MPI $2 (Language: C)" ;;
    --showme:compile) echo "-I$1/include -I$1/include/openmpi" ;;
    *) echo "-lmpi" ;;
esac
FAKE
    cat >"$1/bin/ompi_info" <<FAKE
#!/bin/sh
[ "\$2" = --path ] || exit 0
case "\$3" in
    pkgincludedir) echo "path:pkgincludedir:$1/include/openmpi" ;;
    pkglibdir) echo "path:pkglibdir:$1/lib/openmpi" ;;
    pkgdatadir) echo "path:pkgdatadir:$1/share/openmpi" ;;
    mandir) echo "path:mandir:$1/share/man" ;;
esac
FAKE
    chmod +x "$1/bin/mpicc" "$1/bin/ompi_info"
}

# ---- wrong input

for command in build install uninstall prefix; do
    fsbml "$command" --no-such-option
    ok "$command: an unknown option is named" failed "unknown option '--no-such-option'"
    fsbml "$command" --help
    ok "$command --help explains itself" succeeds
    ok "$command --help goes to stdout" grep -q "^usage: ./fsbml $command" <<<"$out"
done
fsbml build --openmpi
ok "build: --openmpi without a value" failed "--openmpi needs a value"
fsbml build --reference --openmpi /usr
ok "build: --reference with --openmpi" failed "do not go together"
fsbml install --user --system
ok "install: --user with --system" failed "do not go together"

fsbml build --openmpi "$work/nowhere"
ok "build: a prefix that does not exist" failed "is not a folder"
fsbml build --openmpi "$work/home"
ok "build: a folder that is no prefix" failed "is not the prefix of an Open MPI"
fake_openmpi "$work/other" "x"
printf '#!/bin/sh\necho "gcc -I/usr/include/mpich"\n' >"$work/other/bin/mpicc"
fsbml build --openmpi "$work/other"
ok "build: another MPI's mpicc" failed "its mpicc is another MPI's"
fake_openmpi "$work/old" 3.1.6
fsbml build --openmpi "$work/old"
ok "build: a version that is not supported" failed "needs Open MPI 4.1 or newer; .* is 3.1.6"
fake_openmpi "$work/bare" 4.1.6
fsbml build --openmpi "$work/bare"
ok "build: internal headers missing" failed "--with-devel-headers, or name the source of Open MPI 4.1.6: .*--source"
ok "build: nothing is remembered of what failed" test ! -e "$FSBML_BUILD/openmpi"

# ---- packages that only root can install

mkdir -p "$work/poor"
ln -s -t "$work/poor" /usr/bin/*
rm -f "$work/poor"/{mpicc,ompi_info,mpirun,id,dpkg-query}*
printf '#!/bin/sh\necho 1000\n' >"$work/poor/id"
printf '#!/bin/sh\nexit 1\n' >"$work/poor/dpkg-query"
chmod +x "$work/poor/id" "$work/poor/dpkg-query"
PATH=$work/poor fsbml build
ok "build: no Open MPI and not root" failed "sudo apt-get install openmpi-bin libopenmpi-dev"
PATH=$work/poor fsbml prefix
ok "prefix: no Open MPI" failed "no mpicc on the PATH"
rm -f "$work/poor"/flex*
PATH=$work/poor fsbml build --reference --source "$work/home"
ok "build --reference: a tool missing and not root" failed "sudo apt-get install .*flex"

# ---- version

version=$(sed -n 's/^#define FSBML_VERSION "\([0-9]*\.[0-9]*\.[0-9]*\)"$/\1/p' "$top/ompi/mca/bml/fsbml/compat/fsbml_version.h")
for option in --version -V; do
    fsbml "$option"
    ok "$option: prints it and nothing else" test "$out$err" = "fsbml $version"
done
in_recipe() { grep -qE -- "$2" "$source_top/$1"; }
ok "version: debian/changelog" in_recipe debian/changelog "^openmpi-bml-fsbml \\(${version//./\\.}\\)"
ok "version: the RPM recipe" in_recipe packaging/rpm/openmpi-bml-fsbml.spec "^Version: +${version//./\\.}\$"
ok "version: the Spack recipe" in_recipe packaging/spack/package.py "version\\(\"${version//./\\.}\""

# ---- the stock component

before=$(listing "$top")
fsbml build --openmpi "$real"
ok "build for $real" succeeds
ok "build: the log is named" said "log: $FSBML_BUILD/log/"
ok "build: the sources are as they were" test "$before" = "$(listing "$top")"
fsbml prefix
ok "prefix: prints the prefix and nothing else" test "$out$err" = "$real"
component=$(FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; component_dir')
ok "component_dir: the DSO is there" test -f "$component/mca_bml_fsbml.so"
ok "component_dir: its help file is there" test -f "$component/help-mca-bml-fsbml.txt"

before=$(listing "$FSBML_BUILD")
fsbml build
ok "build again" succeeds
ok "build again: does nothing" test "$before" = "$(listing "$FSBML_BUILD")"
ok "build again: and says that it is there" said "is in $component"

fsbml build --debug
ok "build --debug" succeeds
ok "build --debug: compiles" said "compiling the component"
fsbml build --force
ok "build --force" succeeds
ok "build --force: configures" said "configuring the component"

old=$(sha256sum <"$component/mca_bml_fsbml.so")
echo '#error "broken on purpose"' >>"$top/ompi/mca/bml/fsbml/bml_fsbml_component.c"
fsbml build
ok "build: a compile error" failed "did not compile.*the log is"
ok "build: the component from before is still there" test "$old" = "$(sha256sum <"$component/mca_bml_fsbml.so")"
cp "$source_top/ompi/mca/bml/fsbml/bml_fsbml_component.c" "$top/ompi/mca/bml/fsbml/"
fsbml build
ok "build: repaired" succeeds
ok "build: repaired without configuring" not_said "configuring"

# ---- ordinary way: configure by itself

configure_fails_with() { # WORDS OPTIONS...
    local words=$1
    shift
    rm -rf "$work/own" && mkdir "$work/own"
    (cd "$work/own" && "$FSBML_BUILD/src/configure" "$@") >"$work/out" 2>"$work/err" && return 1
    grep -q -- "^configure: error: .*$words" "$work/err"
}
ok "configure: knows the version" grep -qx "PACKAGE_VERSION='$version'" "$FSBML_BUILD/src/configure"
ok "configure: no prefix" configure_fails_with "is not the prefix of an Open MPI" --with-openmpi="$work/home"
ok "configure: unsupported version" configure_fails_with "needs Open MPI 4.1 or newer; .* belongs to 3.1.6" --with-openmpi="$work/old"
ok "configure: headers missing" configure_fails_with "libopenmpi-dev.*--with-devel-headers" --with-openmpi="$work/bare"

# ---- install, uninstall

# The real Open MPI, but with component and help folders of our own, so that --system touches nothing of the machine.
fake_openmpi "$work/system" "$(FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; openmpi_version "$1"' - "$real")"
real_tool() { FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; openmpi_tool "$@"' - "$real" "$1"; }
ln -sf "$(real_tool mpicc)" "$work/system/bin/mpicc"
cat >"$work/system/bin/ompi_info" <<FAKE
#!/bin/sh
case "\$*" in
    *"--path pkglibdir") echo "path:pkglibdir:$work/system/lib/openmpi" ;;
    *"--path pkgdatadir") echo "path:pkgdatadir:$work/system/share/openmpi" ;;
    *"--path mandir") echo "path:mandir:$work/system/share/man" ;;
    *"--path "*) exec "$(real_tool ompi_info)" "\$@" ;;
    *)
        own=\$("$(real_tool ompi_info)" --parsable --path pkglibdir | sed 's/^path:pkglibdir://')
        : "\${OMPI_MCA_mca_base_component_path:=$work/system/lib/openmpi:\$own:\$HOME/.openmpi/components}"
        export OMPI_MCA_mca_base_component_path
        exec "$(real_tool ompi_info)" "\$@"
        ;;
esac
FAKE

before=$(cd "$HOME" && find .)
fsbml uninstall
ok "uninstall: nothing to do" succeeds
fsbml install
ok "install" succeeds
ok "install: the DSO" test -f "$HOME/.openmpi/components/mca_bml_fsbml.so"
ok "install: the help file beside it" test -f "$HOME/.openmpi/components/help-mca-bml-fsbml.txt"
ok "install: the man page" cmp -s "$HOME/.local/share/man/man7/fsbml.7" "$top/docs/man/fsbml.7"
ok "install: Open MPI finds it by itself" grep -q '^mca:bml:fsbml:' <<<"$("$(real_tool ompi_info)" --parsable)"
fsbml install --system --openmpi "$work/system"
ok "install --system beside a user's copy" succeeds
ok "install --system beside a user's copy: warns" said "warning: there is a copy in $HOME/.openmpi/components"
ok "install --system: the DSO" test -f "$work/system/lib/openmpi/mca_bml_fsbml.so"
ok "install --system: the help file" test -f "$work/system/share/openmpi/help-mca-bml-fsbml.txt"
ok "install --system: the man page" test -f "$work/system/share/man/man7/fsbml.7"
fsbml uninstall --user
ok "uninstall" succeeds
ok "uninstall: the home is as it was" test "$before" = "$(cd "$HOME" && find .)"
fsbml install --user --openmpi "$work/system"
ok "install --user where the system's copy would win" failed "would go on using that one"
ok "install --user: refused, so nothing is there" test "$before" = "$(cd "$HOME" && find .)"
touch "$work/system/lib/openmpi/mca_bml_other.so"
fsbml uninstall --system --openmpi "$work/system"
ok "uninstall --system" succeeds
ok "uninstall --system: removes its own files only" test \
    "$(cd "$work/system" && find lib share -type f)" = lib/openmpi/mca_bml_other.so

mkdir -p "$HOME/.openmpi/components"
touch "$HOME/.openmpi/components/mine"
fsbml install && fsbml uninstall
ok "uninstall: other files in the folder stay" test "$(cd "$HOME/.openmpi" && find . -type f)" = ./components/mine
rm -rf "$HOME/.openmpi"

# ---- the reference build, as far as it goes in seconds

mkdir -p "$work/tree/ompi/mca/bml"
fsbml build --reference --source "$work/nowhere.tar.xz"
ok "build --reference: no such source" failed "no source tree or tarball"
fsbml build --reference --source "$work/home"
ok "build --reference: a folder that is no source tree" failed "is not a source tree"
echo "not a tarball" >"$work/bad.tar.xz"
fsbml build --reference --source "$work/bad.tar.xz"
ok "build --reference: not a tarball" failed "is not a tarball"
printf 'major=5\nminor=0\nrelease=6\n' >"$work/tree/VERSION"
echo "/* nothing that a patch would know */" >"$work/tree/ompi/mca/bml/bml.h"
fsbml build --reference --source "$work/tree"
ok "build --reference: another version" failed "is Open MPI 5.0.6, but the base patches are for 5.0.7"
sed -i 's/release=6/release=7/' "$work/tree/VERSION"
fsbml build --reference --source "$work/tree"
ok "build --reference: a patch does not apply" failed "0001-.*does not apply to $work/tree"
ok "build --reference: the user's tree is as it was" test "$(find "$work/tree" -type f | wc -l)" -eq 2
fsbml prefix --reference
ok "prefix --reference: a broken build does not count" failed "has not been built"

reference=$(FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; reference_dir')
key() { FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; . "$FSBML_TOP/scripts/reference.sh"; component_key'; }
mkdir -p "$reference/prefix"
key >"$reference/stamp"
fsbml build --reference
ok "build --reference: finished, nothing to do" succeeds
ok "build --reference: finished, says where" said "is in $reference/prefix"
fsbml prefix --reference
ok "prefix --reference: prints the prefix and nothing else" test "$out$err" = "$reference/prefix"
old=$(key)
echo "/* changed */" >>"$top/ompi/mca/bml/fsbml/bml_fsbml_component.c"
ok "the component's changes are noticed" test "$old" != "$(key)"
echo "# changed" >>"$top/ompi/mca/bml/base-patches/5.0/0001-array-access-by-get-index.patch"
fsbml prefix --reference
ok "prefix --reference: other patches, another build" failed "has not been built"

# ---- the entry that Debian's source is obtained by

entry() { FSBML_APT_DIR=$work/apt FSBML_TOP=$top bash -c 'set -euo pipefail; . "$FSBML_TOP/scripts/source.sh"; debian_entry' | paste -sd ' '; }
mkdir -p "$work/apt/sources.list.d"
cat >"$work/apt/sources.list.d/debian.sources" <<'APT'
Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/wrong.gpg

# the main archive
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/right.gpg
APT
ok "source entry: deb822" test "$(entry)" = "http://mirror.example/debian /usr/share/keyrings/right.gpg"
rm "$work/apt/sources.list.d/debian.sources"
cat >"$work/apt/sources.list" <<'APT'
# deb http://commented.example/debian bookworm main
deb [arch=amd64] https://elsewhere.example/apt stable main
deb [ arch=amd64 signed-by=/usr/share/keyrings/right.gpg ] http://one-line.example/debian bookworm main
APT
ok "source entry: one line" test "$(entry)" = "http://one-line.example/debian /usr/share/keyrings/right.gpg"
echo 'deb http://plain.example/debian/ bookworm main' >"$work/apt/sources.list"
ok "source entry: one line, no options" test "$(entry)" = "http://plain.example/debian/"
echo 'deb http://archive.example/ubuntu jammy main' >"$work/apt/sources.list"
ok "source entry: none" test "$(entry)" = ""

tap_end
