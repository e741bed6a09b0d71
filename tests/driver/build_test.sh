#!/usr/bin/env bash
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# The driver's build, install, uninstall and prefix, on a copy of the sources, with a home and caches of its own.
# Needs an Open MPI with its headers (./fsbml build installs one). Takes about a minute; downloads and installs nothing.
set -euo pipefail

source_top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
real=$("$source_top/fsbml" prefix)
work=$(mktemp -d "${TMPDIR:-/tmp}/fsbml-build-test.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
top=$work/fsbml
mkdir -p "$top" "$work/home"
(cd "$source_top" && tar -cf - --exclude=.libs --exclude='*.o' --exclude=Makefile.in \
    fsbml scripts configure.ac configure.m4 Makefile.am LICENSE docs ompi sim tests) | tar -xf - -C "$top"
# Where it is by default: from elsewhere, the compiler's cache would know none of the files.
export HOME=$work/home FSBML_BUILD=$top/build FSBML_CACHE=$work/cache
unset FSBML_OPENMPI
unset "${!OMPI_MCA_@}"

failures=0
out="" err="" rc=0

check() { # TEXT COMMAND...
    local text=$1
    shift
    if "$@"; then
        echo "ok - $text"
    else
        echo "not ok - $text"
        printf '    exit %s\n    stdout: %s\n    stderr: %s\n' "$rc" "$out" "$err"
        failures=$((failures + 1))
    fi
}

fsbml() { # ARGS...: runs the driver of the copy; sets out, err, rc
    rc=0
    "$top/fsbml" "$@" >"$work/out" 2>"$work/err" || rc=$?
    out=$(cat "$work/out") err=$(cat "$work/err")
}

# The one clear message: the last line, an error, and with the words that tell what to do.
fails_with() { # WORDS
    [ "$rc" -ne 0 ] && [ "$(grep -c '^fsbml: error: ' <<<"$err")" -eq 1 ] && grep -q -- "^fsbml: error: .*$1" <<<"$(tail -n 1 <<<"$err")"
}
succeeds() { [ "$rc" -eq 0 ]; }
says() { grep -q -- "$1" <<<"$err"; }
does_not_say() { ! grep -q -- "$1" <<<"$err"; }
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
    check "$command: an unknown option is named" fails_with "unknown option '--no-such-option'"
    fsbml "$command" --help
    check "$command --help explains itself" succeeds
    check "$command --help goes to stdout" grep -q "^usage: ./fsbml $command" <<<"$out"
done
fsbml build --openmpi
check "build: --openmpi without a value" fails_with "--openmpi needs a value"
fsbml build --reference --openmpi /usr
check "build: --reference with --openmpi" fails_with "do not go together"
fsbml install --user --system
check "install: --user with --system" fails_with "do not go together"

fsbml build --openmpi "$work/nowhere"
check "build: a prefix that does not exist" fails_with "is not a folder"
fsbml build --openmpi "$work/home"
check "build: a folder that is no prefix" fails_with "is not the prefix of an Open MPI"
fake_openmpi "$work/other" "x"
printf '#!/bin/sh\necho "gcc -I/usr/include/mpich"\n' >"$work/other/bin/mpicc"
fsbml build --openmpi "$work/other"
check "build: another MPI's mpicc" fails_with "its mpicc is another MPI's"
fake_openmpi "$work/old" 3.1.6
fsbml build --openmpi "$work/old"
check "build: a version that is not supported" fails_with "needs Open MPI 4.1 or newer; .* is 3.1.6"
fake_openmpi "$work/bare" 4.1.6
fsbml build --openmpi "$work/bare"
check "build: internal headers missing" fails_with "--with-devel-headers, or name the source of Open MPI 4.1.6: .*--source"
check "build: nothing is remembered of what failed" test ! -e "$FSBML_BUILD/openmpi"

# ---- packages that only root can install

mkdir -p "$work/poor"
ln -s -t "$work/poor" /usr/bin/*
rm -f "$work/poor"/{mpicc,ompi_info,mpirun,id,dpkg-query}*
printf '#!/bin/sh\necho 1000\n' >"$work/poor/id"
printf '#!/bin/sh\nexit 1\n' >"$work/poor/dpkg-query"
chmod +x "$work/poor/id" "$work/poor/dpkg-query"
PATH=$work/poor fsbml build
check "build: no Open MPI and not root" fails_with "sudo apt-get install openmpi-bin libopenmpi-dev"
PATH=$work/poor fsbml prefix
check "prefix: no Open MPI" fails_with "no mpicc on the PATH"
rm -f "$work/poor"/flex*
PATH=$work/poor fsbml build --reference --source "$work/home"
check "build --reference: a tool missing and not root" fails_with "sudo apt-get install .*flex"

# ---- version

version=$(sed -n 's/^#define FSBML_VERSION "\([0-9]*\.[0-9]*\.[0-9]*\)"$/\1/p' "$top/ompi/mca/bml/fsbml/compat/fsbml_version.h")
for option in --version -V; do
    fsbml "$option"
    check "$option: prints it and nothing else" test "$out$err" = "fsbml $version"
done
in_recipe() { grep -qE -- "$2" "$source_top/$1"; }
check "version: debian/changelog" in_recipe debian/changelog "^openmpi-bml-fsbml \\(${version//./\\.}\\)"
check "version: the RPM recipe" in_recipe packaging/rpm/openmpi-bml-fsbml.spec "^Version: +${version//./\\.}\$"
check "version: the Spack recipe" in_recipe packaging/spack/package.py "version\\(\"${version//./\\.}\""

# ---- the stock component

before=$(listing "$top")
fsbml build --openmpi "$real"
check "build for $real" succeeds
check "build: the log is named" says "log: $FSBML_BUILD/log/"
check "build: the sources are as they were" test "$before" = "$(listing "$top")"
fsbml prefix
check "prefix: prints the prefix and nothing else" test "$out$err" = "$real"
component=$(FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; component_dir')
check "component_dir: the DSO is there" test -f "$component/mca_bml_fsbml.so"
check "component_dir: its help file is there" test -f "$component/help-mca-bml-fsbml.txt"

before=$(listing "$FSBML_BUILD")
fsbml build
check "build again" succeeds
check "build again: does nothing" test "$before" = "$(listing "$FSBML_BUILD")"
check "build again: and says that it is there" says "is in $component"

fsbml build --debug
check "build --debug" succeeds
check "build --debug: compiles" says "compiling the component"
fsbml build --force
check "build --force" succeeds
check "build --force: configures" says "configuring the component"

old=$(sha256sum <"$component/mca_bml_fsbml.so")
echo '#error "broken on purpose"' >>"$top/ompi/mca/bml/fsbml/bml_fsbml_component.c"
fsbml build
check "build: a compile error" fails_with "did not compile.*the log is"
check "build: the component from before is still there" test "$old" = "$(sha256sum <"$component/mca_bml_fsbml.so")"
cp "$source_top/ompi/mca/bml/fsbml/bml_fsbml_component.c" "$top/ompi/mca/bml/fsbml/"
fsbml build
check "build: repaired" succeeds
check "build: repaired without configuring" does_not_say "configuring"

# ---- ordinary way: configure by itself

configure_fails_with() { # WORDS OPTIONS...
    local words=$1
    shift
    rm -rf "$work/own" && mkdir "$work/own"
    (cd "$work/own" && "$FSBML_BUILD/src/configure" "$@") >"$work/out" 2>"$work/err" && return 1
    err=$(cat "$work/err")
    grep -q -- "^configure: error: .*$words" <<<"$err"
}
check "configure: knows the version" grep -qx "PACKAGE_VERSION='$version'" "$FSBML_BUILD/src/configure"
check "configure: no prefix" configure_fails_with "is not the prefix of an Open MPI" --with-openmpi="$work/home"
check "configure: unsupported version" configure_fails_with "needs Open MPI 4.1 or newer; .* belongs to 3.1.6" --with-openmpi="$work/old"
check "configure: headers missing" configure_fails_with "libopenmpi-dev.*--with-devel-headers" --with-openmpi="$work/bare"

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
check "uninstall: nothing to do" succeeds
fsbml install
check "install" succeeds
check "install: the DSO" test -f "$HOME/.openmpi/components/mca_bml_fsbml.so"
check "install: the help file beside it" test -f "$HOME/.openmpi/components/help-mca-bml-fsbml.txt"
check "install: the man page" cmp -s "$HOME/.local/share/man/man7/fsbml.7" "$top/docs/man/fsbml.7"
check "install: Open MPI finds it by itself" grep -q '^mca:bml:fsbml:' <<<"$("$(real_tool ompi_info)" --parsable)"
fsbml install --system --openmpi "$work/system"
check "install --system beside a user's copy" succeeds
check "install --system beside a user's copy: warns" says "warning: there is a copy in $HOME/.openmpi/components"
check "install --system: the DSO" test -f "$work/system/lib/openmpi/mca_bml_fsbml.so"
check "install --system: the help file" test -f "$work/system/share/openmpi/help-mca-bml-fsbml.txt"
check "install --system: the man page" test -f "$work/system/share/man/man7/fsbml.7"
fsbml uninstall --user
check "uninstall" succeeds
check "uninstall: the home is as it was" test "$before" = "$(cd "$HOME" && find .)"
fsbml install --user --openmpi "$work/system"
check "install --user where the system's copy would win" fails_with "would go on using that one"
check "install --user: refused, so nothing is there" test "$before" = "$(cd "$HOME" && find .)"
touch "$work/system/lib/openmpi/mca_bml_other.so"
fsbml uninstall --system --openmpi "$work/system"
check "uninstall --system" succeeds
check "uninstall --system: removes its own files only" test \
    "$(cd "$work/system" && find lib share -type f)" = lib/openmpi/mca_bml_other.so

mkdir -p "$HOME/.openmpi/components"
touch "$HOME/.openmpi/components/mine"
fsbml install && fsbml uninstall
check "uninstall: other files in the folder stay" test "$(cd "$HOME/.openmpi" && find . -type f)" = ./components/mine
rm -rf "$HOME/.openmpi"

# ---- the reference build, as far as it goes in seconds

mkdir -p "$work/tree/ompi/mca/bml"
fsbml build --reference --source "$work/nowhere.tar.xz"
check "build --reference: no such source" fails_with "no source tree or tarball"
fsbml build --reference --source "$work/home"
check "build --reference: a folder that is no source tree" fails_with "is not a source tree"
echo "not a tarball" >"$work/bad.tar.xz"
fsbml build --reference --source "$work/bad.tar.xz"
check "build --reference: not a tarball" fails_with "is not a tarball"
printf 'major=5\nminor=0\nrelease=6\n' >"$work/tree/VERSION"
echo "/* nothing that a patch would know */" >"$work/tree/ompi/mca/bml/bml.h"
fsbml build --reference --source "$work/tree"
check "build --reference: another version" fails_with "is Open MPI 5.0.6, but the base patches are for 5.0.7"
sed -i 's/release=6/release=7/' "$work/tree/VERSION"
fsbml build --reference --source "$work/tree"
check "build --reference: a patch does not apply" fails_with "0001-.*does not apply to $work/tree"
check "build --reference: the user's tree is as it was" test "$(find "$work/tree" -type f | wc -l)" -eq 2
fsbml prefix --reference
check "prefix --reference: a broken build does not count" fails_with "has not been built"

reference=$(FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; reference_dir')
key() { FSBML_TOP=$top bash -c '. "$FSBML_TOP/scripts/lib.sh"; . "$FSBML_TOP/scripts/openmpi.sh"; . "$FSBML_TOP/scripts/reference.sh"; component_key'; }
mkdir -p "$reference/prefix"
key >"$reference/stamp"
fsbml build --reference
check "build --reference: finished, nothing to do" succeeds
check "build --reference: finished, says where" says "is in $reference/prefix"
fsbml prefix --reference
check "prefix --reference: prints the prefix and nothing else" test "$out$err" = "$reference/prefix"
old=$(key)
echo "/* changed */" >>"$top/ompi/mca/bml/fsbml/bml_fsbml_component.c"
check "the component's changes are noticed" test "$old" != "$(key)"
echo "# changed" >>"$top/ompi/mca/bml/base-patches/5.0/0001-array-access-by-get-index.patch"
fsbml prefix --reference
check "prefix --reference: other patches, another build" fails_with "has not been built"

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
check "source entry: deb822" test "$(entry)" = "http://mirror.example/debian /usr/share/keyrings/right.gpg"
rm "$work/apt/sources.list.d/debian.sources"
cat >"$work/apt/sources.list" <<'APT'
# deb http://commented.example/debian bookworm main
deb [arch=amd64] https://elsewhere.example/apt stable main
deb [ arch=amd64 signed-by=/usr/share/keyrings/right.gpg ] http://one-line.example/debian bookworm main
APT
check "source entry: one line" test "$(entry)" = "http://one-line.example/debian /usr/share/keyrings/right.gpg"
echo 'deb http://plain.example/debian/ bookworm main' >"$work/apt/sources.list"
check "source entry: one line, no options" test "$(entry)" = "http://plain.example/debian/"
echo 'deb http://archive.example/ubuntu jammy main' >"$work/apt/sources.list"
check "source entry: none" test "$(entry)" = ""

echo "failures: $failures"
[ "$failures" -eq 0 ]
