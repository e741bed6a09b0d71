# A throw-away copy of the system that a test runs in, for tests that install packages. Sourced after tap.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck disable=SC2154 # `scratch` is of tap.sh, `options` of the test
#
#   in_a_copy WHAT PACKAGE...   runs the test's own script again, with the argument `inside`, in a copy of / of which nothing is
#                            left; before that installs the packages here, as other tests use them as well. Prints one test
#                            that is left out, where there can be no copy

# /: an overlay whose upper layer is in memory; the project's tree can be read there, the folders behind it be written.
# shellcheck disable=SC2016
IN_A_COPY='
    set -e
    scratch=$1 tree=$2
    shift 2
    mount --make-rprivate /
    mount -t tmpfs -o mode=755 tmpfs "$scratch"
    mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
    mount -t overlay -o "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" overlay "$scratch/root"
    cd "$scratch/root"
    for dir in proc sys dev; do mount --rbind "/$dir" "$dir"; done
    for dir in tmp run; do mount -t tmpfs -o mode=1777 tmpfs "$dir"; done
    for file in resolv.conf hosts; do [ ! -e "/etc/$file" ] || mount --bind "/etc/$file" "etc/$file"; done
    mkdir -p ".$tree"
    mount --bind "$tree" ".$tree"
    mount -o remount,ro,bind ".$tree"
    while [ "$1" != -- ]; do
        mkdir -p ".$1"
        mount --bind "$1" ".$1"
        shift
    done
    shift
    exec chroot . "$@"'

in_a_copy() {
    local what=$1 folders=() copy=(unshare --mount sh -c "$IN_A_COPY" copy)
    shift
    is_root || die "${0##*/} needs root, to install a package."
    PATH=$PATH:/usr/sbin:/sbin
    if ! have apt-get dpkg; then
        printf 'ok 1 - %s # SKIP this is not a Debian\n1..1\n' "$what"
        return
    fi
    own_folder
    if ! "${copy[@]}" "$scratch" "$FSBML_TOP" -- true 2>"$scratch/err"; then
        printf 'ok 1 - %s # SKIP there can be no copy of this system: %s\n1..1\n' "$what" "$(head -n 1 "$scratch/err")"
        return
    fi
    need_packages "building $what" "$@"
    use_compiler_cache
    [ -z "${FSBML_COMPILER_CACHE:-}" ] || folders+=("$FSBML_COMPILER_CACHE")
    # What source_fetch (source.sh) has obtained.
    folders+=("$FSBML_CACHE/source")
    mkdir -p "${folders[@]}"
    env -u FSBML_BUILD -u FSBML_CACHE -u FSBML_CLUSTERS -u FSBML_OPENMPI -u XDG_CACHE_HOME \
        FSBML_TEST_BESIDE="$FSBML_CACHE" \
        "${copy[@]}" "$scratch" "$FSBML_TOP" "${folders[@]}" -- "$BASH" "$(readlink -f -- "$0")" inside
}

# quietly COMMAND...: its output, in $WORK/out, only where it fails: first errors, and the end.
quietly() {
    "$@" >"$WORK/out" 2>&1 </dev/null && return 0
    { grep -E '(^|: )error: ' "$WORK/out" | head -n 5; tail -n 10 "$WORK/out"; } | sed 's/^/# /' >&9
    return 1
}

# not COMMAND...: it fails, and what it would say of that is not wanted.
not() { ! "$@" 9>/dev/null; }

# copy_of_sources DIR: the tree without what was built in it.
copy_of_sources() {
    mkdir "$1"
    tar -C "$FSBML_TOP" --exclude-vcs --exclude=./build --exclude='*.o' --exclude='*.lo' -cf - . | tar -C "$1" --no-same-owner -xf -
}

# files: what package managers do not keep for themselves, in the folders that are theirs: others may work in those of users meanwhile,
# and other tests change the cache of all.
files() {
    find /bin /boot /etc /lib /lib64 /opt /sbin /srv /usr /var -xdev \
        \( -path "$WORK" -o -path "$FSBML_TOP" -o -path "$FSBML_TEST_BESIDE" -o -path /var/tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log \) -prune -o -printf '%p %y %l\n' 2>/dev/null | sort
}

# job RANKS ARGUMENTS...: on this host, without its networks; shared memory and TCP are equals, and both rails. More of mpirun's
# options: `options`.
job() {
    local ranks=$1 memory=sm
    shift
    [[ $(mpirun --version) != *"Open MPI) 4."* ]] || memory=vader
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 \
        mpirun "${options[@]}" --host "localhost:$ranks" -n "$ranks" --mca pml ob1 --mca btl_tcp_if_include lo \
        --mca btl_tcp_exclusivity 65536 --mca bml_fsbml_include "lo,$memory" "$@" \
        >"$WORK/job" 2>&1 </dev/null && return 0
    sed 's/^/# /' "$WORK/job" >&9
    return 1
}
job_said() {
    grep -qE -- "$1" "$WORK/job" && return 0
    sed 's/^/# /' "$WORK/job" >&9
    return 1
}
