# The link emulator of a virtual cluster: building, starting, telling and ending it. Sourced after state.sh and contain.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
#
# Its files are in the cluster's folder: link.sock, link.pid, link.start (start time of that process, so that no other one
# with the same number is ever taken for it).

# emulator_program: where it is, or is to be.
emulator_program() { printf '%s/link/link\n' "$FSBML_BUILD"; }

# emulator_compile DIR: in a folder of its own, as another command may do so at the same time.
emulator_compile() {
    local part own status=0
    own=$(mktemp -d "$1/own.XXXXXX")
    # Both cores at once.
    # shellcheck disable=SC2016
    for part in shape direction tap board control main; do printf '%s\0' "$part"; done |
        xargs -0 -P 2 -I '{}' "${CXX:-g++}" -std=c++17 -O2 -Wall -Wextra -c "$FSBML_TOP/tools/link/{}.cpp" -o "$own/{}.o" &&
        "${CXX:-g++}" -o "$own/link" "$own"/{shape,direction,tap,board,control,main}.o -lfmt && mv -f "$own/link" "$1/link" || status=1
    rm -rf -- "$own"
    return "$status"
}

# emulator_build: makes it unless it is up to date.
emulator_build() {
    local program log=$FSBML_BUILD/log/link.log
    program=$(emulator_program)
    ! newer_than_all "$program" "$FSBML_TOP/tools/link" || return 0
    need_packages "the link emulator" g++ libcli11-dev libfmt-dev
    mkdir -p "$(dirname -- "$program")"
    logged "$log" "compiling the link emulator" emulator_compile "$(dirname -- "$program")" ||
        die "could not compile the link emulator; the log is $log"
}

# emulator_start STATE LINKS: returns when all of its interfaces are there. From within the folder, because the path of a
# socket ends after 107 characters.
emulator_start() {
    local program
    program=$(emulator_program)
    if [ ! -w /dev/net/tun ]; then
        say "the link emulator needs /dev/net/tun, which root may use where the kernel has it; rails with a rate only do without."
        return 1
    fi
    (cd -- "$1" && "$program" --socket link.sock run --background link.pid <<<"$2") || return 1
    process_start "$(cat "$1/link.pid")" >"$1/link.start"
}

# emulator_tell STATE WORD...: a request to the running emulator.
emulator_tell() {
    local state=$1
    shift
    (cd -- "$state" && "$(emulator_program)" --socket link.sock "$@")
}

# emulator_runs STATE
emulator_runs() {
    local pid
    [ -s "$1/link.start" ] || return 1
    pid=$(cat "$1/link.pid")
    # One that has ended and that no shell has waited for yet is still listed.
    [ "$(process_start "$pid")" = "$(cat "$1/link.start")" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$pid/status" 2>/dev/null
}

# emulator_stop STATE: ends it if it runs; 1 if it cannot.
emulator_stop() {
    local try
    emulator_runs "$1" || return 0
    kill -TERM "$(cat "$1/link.pid")" || return 1
    for ((try = 0; try < 50; try++)); do
        emulator_runs "$1" || return 0
        sleep 0.1
    done
    kill -KILL "$(cat "$1/link.pid")"
}
