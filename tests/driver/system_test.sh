#!/usr/bin/env bash
# ./fsbml system, with a stand-in for mmdebstrap that makes a root file system of a shell and its libraries: what is made, kept, renewed
# and refused, and what a command sees inside. The real systems are used by the sections of './fsbml test' that are named after them.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh scripts/system.sh

is_root || die "${0##*/} needs root, for mounts."
own_folder
export FSBML_CACHE=$scratch/cache FSBML_BUILD=$scratch/build FSBML_APT_DIR=$scratch/apt
unset FSBML_SYSTEM
mkdir -p "$scratch/bin" "$scratch/apt/sources.list.d"
PATH=$scratch/bin:$PATH
echo 'deb [signed-by=/keys/archive.gpg] http://mirror.invalid/debian bookworm main' >"$scratch/apt/sources.list"

# It notes its arguments; with the file `broken` it ends with an error, with half of the files made.
cat >"$scratch/bin/mmdebstrap" <<FAKE
#!/bin/bash
printf '%s\n' "\$@" >>"$scratch/calls"
for word in "\$@"; do case "\$word" in /*) root=\$word ;; esac; done
mkdir -p "\$root"/{bin,etc,proc,sys,dev,tmp,run}
[ ! -e "$scratch/broken" ] || exit 1
for program in sh cat; do
    file=\$(readlink -f "\$(command -v "\$program")")
    cp "\$file" "\$root/bin/\$program"
    for library in \$(ldd "\$file" | grep -o '/[^ ]*'); do mkdir -p "\$root\${library%/*}" && cp -n "\$library" "\$root\$library"; done
done
echo made >"\$root/etc/stamp"
FAKE
chmod +x "$scratch/bin/mmdebstrap"

calls() { grep -c '^--variant' "$scratch/calls" 2>/dev/null || :; }
inside() { fsbml system run debian13 /bin/sh -c "$1" 2>"$scratch/err"; }
state() { fsbml system | awk -v name="$1" '$1 == name { print $3 }'; }

fails_to_make() { fails_with 2 "$@"; }

ok "no system is there at first" equal "$(fsbml system | awk 'NR > 1 { print $1, $2, $3 }' | paste -sd,)" \
    "debian12 bookworm missing,debian13 trixie missing,sid sid missing"
ok "an unknown system is refused" refuses "there is no system 'debian9'; there are: debian12 debian13 sid" build --system debian9
ok "... before the command, too" refuses "there is no system 'debian9'" --system debian9 build
ok "--system wants a name" refuses "--system needs a name" build --system
ok "an unknown action is refused" refuses "unknown action 'fly'" system fly
ok "run wants a command" refuses "say in which system, and what" system run debian13
ok "a cluster is not of a system" refuses "clusters are made of this machine's network" cluster up --system debian13
ok "what has not been made cannot be removed" refuses "system sid has not been made" system remove sid

: >"$scratch/broken"
ok "without its archive, a system cannot be made, and that is said" fails_to_make "system debian13 could not be made.*is the network there" \
    build --system debian13
ok "... and nothing counts as made" equal "$(state debian13) $(ls "$FSBML_CACHE/system/debian13")" "missing log"
rm "$scratch/broken"

ok "it is made when it is needed" equal "$(inside 'cat /etc/stamp')" made
ok "... from the archive that this machine uses, with its key" equal \
    "$(grep '^deb ' "$scratch/calls" | sort -u)" "deb [signed-by=/keys/archive.gpg] http://mirror.invalid/debian trixie main"
ok "... and kept" equal "$(before=$(calls) && inside 'cat /etc/stamp' && echo $(($(calls) - before)))" $'made\n0'
ok "it is another root" equal "$(inside 'cat /etc/debian_version || echo none')" none
ok "... with this tree, /tmp and a build folder of its own" equal \
    "$(inside 'cat "'"$FSBML_TOP"'/LICENSE" >/dev/null && cat "'"$scratch"'/apt/sources.list" >/dev/null && echo $FSBML_BUILD $FSBML_SYSTEM')" \
    "$FSBML_BUILD/system/debian13 debian13"
ok "... in the same folder" equal "$(cd "$FSBML_TOP/tests" && inside 'pwd')" "$FSBML_TOP/tests"
ok "... without what is installed for this machine" equal "$(FSBML_OPENMPI=/opt/none inside 'echo ${FSBML_OPENMPI:-none}')" none
ok "... and its exit status is the command's" equal "$(inside 'exit 7' || echo $?)" 7
ok "nothing stays mounted" equal "$(grep -c "$scratch" /proc/self/mounts || :)" 0

half() {
    rm "$FSBML_CACHE/system/debian13/made"
    mkdir "$FSBML_CACHE/system/debian13/new"
    echo half >"$FSBML_CACHE/system/debian13/root/etc/stamp"
    state debian13
}
ok "a half-made one does not count" equal "$(half)" missing
ok "... and is made anew" equal "$(inside 'cat /etc/stamp') $(state debian13)" "made ready"
touch -d '100 days ago' "$FSBML_CACHE/system/debian13/made"
ok "an old one is stale" equal "$(state debian13)" stale
: >"$scratch/broken"
ok "... used, with a warning, where it cannot be renewed" equal "$(inside 'cat /etc/stamp') $(grep -c 'warning: system debian13 is more than 60 days old' "$scratch/err")" "made 1"
rm "$scratch/broken"
ok "... and renewed where it can" equal "$(inside 'cat /etc/stamp') $(state debian13)" "made ready"
echo another-recipe >"$FSBML_CACHE/system/debian13/made"
ok "one of another recipe is made anew" equal "$(state debian13) $(inside 'cat /etc/stamp') $(state debian13)" "missing made ready"
nested() { FSBML_SYSTEM=sid refuses "this is system sid already" build --system debian13; }
ok "systems do not nest" nested
ok "it can be removed" equal "$(fsbml system remove debian13 && state debian13)" missing
rm -r "$FSBML_APT_DIR" && mkdir -p "$FSBML_APT_DIR"
ok "without an archive in /etc/apt, the error says so" refuses "no entry for Debian's archive was found" build --system sid
tap_end
