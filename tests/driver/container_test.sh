#!/usr/bin/env bash
# Tests of the driver in a container without privileges, where no network namespace can be made: as root without the
# capabilities for it, and as a user under a seccomp filter like that of a container. `demo` shows what can be shown on one host
# and succeeds; every other command that needs a cluster says why there is none.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, to give capabilities up and to become another user. Prints TAP.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh
is_root || die "container_test.sh needs root, to give capabilities up and to become another user."
own_folder
prefix=$(fsbml prefix)
export FSBML_OPENMPI=$prefix

# The system calls that Docker's default profile refuses to a process without CAP_SYS_ADMIN: unshare, mount and clone3, and
# clone with a flag for a namespace.
cat >"$scratch/confined.c" <<'EOF'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER offsetof(struct seccomp_data, nr)
#define FLAGS offsetof(struct seccomp_data, args[0])
#define REFUSE(call, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NUMBER),
        REFUSE(SYS_unshare, EPERM),
        REFUSE(SYS_mount, EPERM),
        REFUSE(SYS_setns, EPERM),
        REFUSE(SYS_clone3, ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7e020000, 0, 1), /* CLONE_NEW* */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("confined");
        return 125;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
EOF
"${CC:-cc}" -O1 -Wall -o "$scratch/confined" "$scratch/confined.c"

# A copy of the sources that the user may read, and one build for both, made by the user.
top=$scratch/top
mkdir -p "$top/build" "$scratch/home"
(cd -- "$FSBML_TOP" && tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.lo' .) | tar -xf - -C "$top"
chown -R nobody: "$scratch/home" "$top/build"
chmod -R a+rX "$scratch"
lend_compiler_cache "$scratch" nobody
export HOME=$scratch/home FSBML_BUILD=$top/build FSBML_CACHE=$scratch/home/cache

as_root() { setpriv --bounding-set=-sys_admin,-net_admin --inh-caps=-sys_admin,-net_admin "$scratch/confined" "$@"; }
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all "$scratch/confined" "$@"; }

# says WHO PATTERN ARGUMENTS...: the command fails, its last line is an error that matches, and nothing is built for it.
says() {
    local who=$1 pattern=$2 status=0
    shift 2
    "$who" "$top/fsbml" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    [ "$status" -eq 1 ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -qE "^fsbml: error: $pattern" "$scratch/err" && return 0
    sed 's/^/# /' "$scratch/err" >&9
    return 1
}

# demo WHO FILE: ends with 0 and leaves no error.
demo() {
    "$1" "$top/fsbml" demo --rounds 1 --json "$2" >"$scratch/out" 2>"$scratch/err" </dev/null && return 0
    tail -n 5 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

for who in as_nobody as_root; do
    json=$scratch/home/$who.json
    ok "$who: no namespace can be made" eval "! $who unshare --user --map-root-user --net true 2>/dev/null"
    ok "$who: demo succeeds" demo "$who" "$json"
    ok "$who: ... says in one sentence what cannot be shown, and why" \
        equal "$(grep -c 'needs network namespaces, and this kernel or container lets .* make none: so .* cannot be shown here' "$scratch/err")" 1
    ok "$who: ... says what it measures instead" grep -q 'shared memory, and TCP over loopback' "$scratch/err"
    ok "$who: ... measures all arms" equal "$(from "$json" '",".join(sorted(a["name"].replace("vader", "sm") for a in d["arms"]))')" "fsbml,r2,sm,tcp"
    ok "$who: ... with a table and a sentence" told '^With 32 messages of 4096 bytes, FSBML is '
    if [ "$who" = as_nobody ]; then
        ok "$who: cluster up" says "$who" "cluster up needs root" cluster up
    else
        ok "$who: cluster up" says "$who" "cluster up: a virtual cluster needs network namespaces" cluster up
    fi
    ok "$who: bench" says "$who" "bench: a virtual cluster needs network namespaces, .* there are --one-host and --hostfile" bench collectives
    ok "$who: demo of an experiment that needs the cluster" says "$who" "demo: a virtual cluster needs network namespaces" demo --experiment equal
    ok "$who: calibrate" says "$who" "calibrate: a virtual cluster needs network namespaces, .* there are --hostfile and --host" calibrate
    ok "$who: replay" says "$who" "replay: a virtual cluster needs network namespaces" replay --case ping_pong
done
tap_end
