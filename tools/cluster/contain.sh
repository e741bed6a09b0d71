# Running a command so that nothing of it outlives it. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# contained NOTE [unshare options] -- COMMAND...: runs COMMAND as the first process of namespaces of its own and returns its
# exit status. The kernel kills a PID namespace with its first process, that one with unshare, and unshare with this shell:
# whatever ends this shell, however it ends, ends every process of the command. Meanwhile the file NOTE.PID holds the start
# time of unshare's process, for scripts that end it.
contained() {
    local note=$1 options=() pid status=0 ending=0 traps
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    traps=$(trap -p INT TERM HUP)
    # stdin by name: a background command would get /dev/null.
    setpriv --pdeathsig KILL unshare "${options[@]}" --pid --fork --kill-child=KILL --mount "$@" <&0 &
    pid=$!
    trap 'ending=130; contained_end "$pid"' INT
    trap 'ending=143; contained_end "$pid"' TERM
    trap 'ending=129; contained_end "$pid"' HUP
    # A command so short that it is gone by now has no start time, and needs none.
    process_start "$pid" >"$note.$pid" || :
    # A trapped signal breaks off wait while the command may still be at work. No word from bash about killed children.
    while :; do
        status=0
        wait "$pid" || status=$?
        kill -0 "$pid" || break
    done 2>/dev/null
    rm -f -- "$note.$pid"
    trap - INT TERM HUP
    eval "$traps"
    [ "$ending" -eq 0 ] || status=$ending
    return "$status"
}

# contained_end PID: asks nicely: the child of unshare PID, the namespace's first process, passes TERM on and ends a few
# seconds later at the latest. Where the kernel does not tell the child, or it is not there yet, unshare is killed instead.
contained_end() {
    local child=""
    # The file has no newline at its end, which makes read say 1.
    if [ -r "/proc/$1/task/$1/children" ]; then read -r child _ <"/proc/$1/task/$1/children" || :; fi
    if [ -z "$child" ] || ! kill -TERM "$child" 2>/dev/null; then
        kill -KILL "$1" 2>/dev/null || :
    fi
}

# process_start PID: the process' start time in ticks, which with the PID names it beyond reuse of PIDs.
process_start() {
    local stat fields
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    # The name in parentheses may hold blanks, so count fields after it: 22 is the start time, 3 the first after the name.
    read -r -a fields <<<"${stat##*) }"
    printf '%s\n' "${fields[19]}"
}

# cluster_isolation: prints the options of unshare that a virtual cluster's namespaces take here; 1 if this process may make none.
cluster_isolation() {
    local options words
    for options in "--net" "--user --map-root-user --net"; do
        read -r -a words <<<"$options"
        # The mounts are tried too: a container may allow namespaces and forbid them.
        if unshare "${words[@]}" --pid --fork --kill-child=KILL --mount /bin/sh -c \
            'mount -t proc proc /proc && mount -t tmpfs tmpfs /run' 2>/dev/null; then
            printf '%s\n' "$options"
            return 0
        fi
    done
    return 1
}

# no_cluster_here: why there is no virtual cluster, for messages.
no_cluster_here() {
    printf 'a virtual cluster needs network namespaces, and this kernel or container lets %s make none' \
        "$(if is_root; then printf 'this process'; else printf 'user %s' "$(id -un 2>/dev/null || id -u)"; fi)"
}
