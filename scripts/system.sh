# Systems: root file systems of Debian releases, with the Open MPI and the compiler that each has. Sourced after lib.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck source=scripts/source.sh
. "$FSBML_TOP/scripts/source.sh"
#
#   system_suite NAME        prints the suite of Debian's archive; 1 if there is no such system
#   system_is_here NAME      true on a machine (or in a system) that runs that very release
#   system_state NAME        prints 'ready', 'stale' or 'missing'
#   system_make NAME         makes it, unless it is ready; dies with the reason where that cannot be
#   system_run NAME NETWORK COMMAND...
#                            runs COMMAND in it. NETWORK: 'own', or 'shared' for one that uses the virtual clusters of this machine
#   system_remove NAME       deletes it
#
# In $FSBML_CACHE/system/NAME/: root/ and, written last, the file `made` with the recipe's key. The project's tree, its build
# folder, its cache, the present folder and /tmp are the machine's own, under the same names.

FSBML_SYSTEMS=(debian12 debian13 sid)

# What tests and builds use; what is missing later is installed by need_packages, as on any machine.
FSBML_SYSTEM_PACKAGES=(
    ca-certificates openmpi-bin libopenmpi-dev g++ clang make autoconf automake libtool pkg-config flex perl patch xz-utils ccache
    libgtest-dev nlohmann-json3-dev libcli11-dev libfmt-dev libhwloc-dev libevent-dev libpmix-dev zlib1g-dev
    iproute2 ethtool procps file debhelper build-essential python3
)

system_suite() {
    case "$1" in
        debian12) echo bookworm ;;
        debian13) echo trixie ;;
        sid) echo sid ;;
        *) return 1 ;;
    esac
}

# Days after which a system is renewed: releases get corrections, sid changes every day.
system_days() { if [ "$1" = sid ]; then echo 7; else echo 60; fi; }

system_dir() { printf '%s/system/%s\n' "$FSBML_CACHE" "$1"; }

system_key() { printf '%s\n' "$1" "$(system_suite "$1")" "${FSBML_SYSTEM_PACKAGES[@]}" | sha256sum | cut -c 1-12; }

system_is_here() {
    local suite
    suite=$(system_suite "$1") || return 1
    # sid calls itself by the name of the next release.
    if [ "$suite" = sid ]; then grep -q '/sid$' /etc/debian_version 2>/dev/null; return; fi
    grep -qx "VERSION_CODENAME=$suite" /etc/os-release 2>/dev/null && ! grep -q '/sid$' /etc/debian_version
}

system_state() {
    local dir
    dir=$(system_dir "$1")
    if [ "$(cat "$dir/made" 2>/dev/null)" != "$(system_key "$1")" ] || [ ! -x "$dir/root/bin/sh" ]; then
        echo missing
    elif [ -n "$(find "$dir/made" -mtime "+$(system_days "$1")")" ]; then
        echo stale
    else
        echo ready
    fi
}

system_must_exist() {
    system_suite "$1" >/dev/null || die "there is no system '$1'; there are: ${FSBML_SYSTEMS[*]}."
}

system_make() {
    local name=$1 dir state
    system_must_exist "$name"
    dir=$(system_dir "$name")
    [ "$(system_state "$name")" != ready ] || return 0
    is_root || die "a system needs root, for its files and mounts (sudo ./fsbml system make $name)."
    have unshare chroot || need_packages "systems" util-linux coreutils
    unshare --mount true 2>/dev/null ||
        die "system $name: this process may not mount anything (a container without privileges?), and a system needs mounts of its own."
    mkdir -p "$dir"
    exec 8>>"$dir/.lock"
    flock -n 8 || { say "waiting for another command that makes $name" && flock 8; }
    state=$(system_state "$name")
    if [ "$state" != ready ] && ! (system_bootstrap "$name" "$dir"); then
        [ "$state" = stale ] || exit 1
        say "warning: system $name is more than $(system_days "$name") days old and could not be renewed; it is used as it is."
    fi
    exec 8>&-
}

# system_bootstrap NAME DIR: beside the old one, which counts until the new one is complete.
system_bootstrap() {
    local name=$1 dir=$2 suite entry uri key log=$2/log options=() proxy
    suite=$(system_suite "$name")
    have mmdebstrap || need_packages "system $name" mmdebstrap
    entry=$(debian_entry) || die "no entry for Debian's archive was found in /etc/apt to derive one for $suite from."
    uri=${entry%%$'\n'*}
    key=${entry#"$uri"}
    key=${key#$'\n'}
    # A mirror of one day has no other suites than those of that day, and lists that have expired.
    options+=(--aptopt='Acquire::Check-Valid-Until "false"')
    for proxy in http https; do
        eval "$(apt-config shell value "Acquire::$proxy::Proxy")"
        [ -z "${value:-}" ] || options+=(--aptopt="Acquire::$proxy::Proxy \"$value\"")
        value=""
    done
    rm -rf "$dir/new"
    logged "$log" "making system $name (Debian $suite with its Open MPI; about half a minute)" \
        mmdebstrap --mode=root --variant=minbase --format=directory "${options[@]}" \
        --include="$(IFS=, && printf '%s' "${FSBML_SYSTEM_PACKAGES[*]}")" \
        "$suite" "$dir/new" "deb ${key:+[signed-by=$key] }$uri $suite main" || {
        rm -rf "$dir/new"
        die "system $name could not be made from the archive that /etc/apt names; is the network there? The log is $log"
    }
    rm -rf "$dir/new/var/cache/apt/archives"/*.deb
    # Files that are bound over each time have to be there.
    touch "$dir/new/etc/resolv.conf" "$dir/new/etc/hosts"
    mkdir -p "$dir/new/home/fsbml"
    rm -f "$dir/made"
    rm -rf "$dir/root"
    mv -- "$dir/new" "$dir/root"
    system_key "$name" >"$dir/made"
}

# Not chroot alone: `ip netns exec` mounts / anew, which needs / to be a mount. /run is the system's own, so that namespaces made in it end with it.
# shellcheck disable=SC2016
SYSTEM_ENTER='
    set -e
    root=$1 network=$2 here=$3
    shift 3
    mount --make-rprivate /
    mount --bind "$root" "$root"
    for dir in proc sys dev tmp; do mount --rbind "/$dir" "$root/$dir"; done
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mkdir "$root/run/lock"
    if [ "$network" = shared ]; then mkdir "$root/run/netns"; mount --rbind /run/netns "$root/run/netns"; fi
    for file in resolv.conf hosts; do mount --bind "/etc/$file" "$root/etc/$file"; done
    while [ "$1" != -- ]; do
        mkdir -p "$1" "$root$1"
        mount --bind "$1" "$root$1"
        shift
    done
    shift
    cd "$root"
    mount --move . /
    exec chroot . sh -c "cd \"\$1\" && shift && exec \"\$@\"" system "$here" "$@"'

system_run() {
    local name=$1 network=$2 root dirs=("$FSBML_TOP")
    shift 2
    [ -z "${FSBML_SYSTEM:-}" ] || die "--system: this is system $FSBML_SYSTEM already, and systems do not nest."
    system_make "$name" || exit 1
    root=$(system_dir "$name")/root
    [ "$FSBML_BUILD" = "$FSBML_TOP/build" ] || dirs+=("$FSBML_BUILD")
    dirs+=("$FSBML_CACHE")
    # The user's program, and files by relative names.
    [[ $PWD = / || $PWD = "$FSBML_TOP"/* || $PWD =~ ^/(bin|boot|dev|etc|lib|lib64|mnt|proc|run|sbin|sys|tmp|usr|var)(/|$) ]] || dirs+=("$PWD")
    # An Open MPI, a component path and flags of the machine mean nothing there.
    env -u FSBML_OPENMPI -u OMPI_MCA_mca_base_component_path -u LD_LIBRARY_PATH \
        FSBML_SYSTEM="$name" FSBML_BUILD="$FSBML_BUILD/system/$name" FSBML_CACHE="$FSBML_CACHE" \
        FSBML_CLUSTERS="$([ "$network" = own ] && printf '%s' "$FSBML_BUILD/system/$name/cluster" || printf '%s' "${FSBML_CLUSTERS:-$FSBML_BUILD/cluster}")" \
        HOME=/home/fsbml PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        unshare --mount sh -c "$SYSTEM_ENTER" system "$root" "$network" "$PWD" "${dirs[@]}" -- "$@"
}

system_remove() {
    local dir
    system_must_exist "$1"
    dir=$(system_dir "$1")
    [ -d "$dir" ] || die "system $1 has not been made."
    rm -rf --one-file-system -- "$dir" || die "system $1 could not be removed; is a command still running in it? ($dir)"
}
