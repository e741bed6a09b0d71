# What the driver's tests share: parts of the driver, TAP, comparisons, folders, waiting for processes. Sourced first, with the
# parts that a test needs, such as scripts/lib.sh (always); never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
FSBML_TOP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
export FSBML_TOP
for part in "$@"; do
    # shellcheck disable=SC1090
    . "$FSBML_TOP/$part"
done

# shellcheck source=tests/repeat.sh
. "$FSBML_TOP/tests/repeat.sh"

tap_number=0
tap_failures=0

# ok DESCRIPTION COMMAND...: one line of TAP, on the stdout that the test began with; the command's status decides.
exec 9>&1
# shellcheck disable=SC2034 # of repeat.sh
repeat_fd=9
ok() {
    local description=$1 status=0
    shift
    tap_number=$((tap_number + 1))
    "$@" || status=$?
    if [ "$status" -eq 0 ]; then
        printf 'ok %d - %s\n' "$tap_number" "$description" >&9
    else
        printf 'not ok %d - %s\n' "$tap_number" "$description" >&9
        [ ! -s "${scratch:-/dev/null}/err" ] || tail -n 5 "$scratch/err" | sed 's/^/# /' >&9
        tap_failures=$((tap_failures + 1))
    fi
}

# tap_end: the plan, and the outcome as exit status.
tap_end() {
    printf '1..%d\n' "$tap_number" >&9
    [ "$tap_failures" -eq 0 ] || die "$tap_failures of $tap_number tests failed."
}

equal() {
    [ "$1" = "$2" ] && return 0
    printf '# expected: %s\n# found:    %s\n' "$2" "$1" >&9
    return 1
}

fsbml() { "$FSBML_TOP/fsbml" "$@"; }

# said PATTERN: in what the last command printed. last_error PATTERN: its last line on stderr is the driver's error, with that.
said() { grep -qE -- "$1" "$scratch/out" "$scratch/err"; }
last_error() { grep -qE -- "^fsbml: error: .*$1" <<<"$(tail -n 1 "$scratch/err")"; }

# refuses PATTERN ARGUMENTS...: the command fails with exactly one line on stderr, an error that matches. Needs $scratch.
refuses() { fails_with 1 "$@"; }

# fails_with LINES PATTERN ARGUMENTS...: the same with LINES lines, of which the last is the driver's own error.
fails_with() {
    local lines=$1 pattern=$2 status=0
    shift 2
    fsbml "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    [ "$status" -ne 0 ] && [ "$(wc -l <"$scratch/err")" -eq "$lines" ] &&
        last_error "$pattern" && return 0
    sed 's/^/# /' "$scratch/err" >&9
    return 1
}

# breaks PATTERN ARGUMENTS...: the command fails, its last line is an error that matches, and `nothing_left` of it, which the test has.
breaks() {
    local pattern=$1 status=0
    shift
    fsbml "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    if [ "$status" -ne 0 ] && last_error "$pattern"; then nothing_left && return 0; fi
    tail -n 5 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

# own_folder: sets `scratch`, a folder that is there until the end.
own_folder() {
    scratch=$(mktemp -d)
    trap 'rm -rf -- "$scratch"' EXIT
}

# own_clusters PREFIX: sets `name`, of this process alone, and `scratch`, where the clusters' state goes; at the end the cluster
# of that name is taken down.
own_clusters() {
    is_root || die "${0##*/} needs root, as the cluster does."
    PATH=$PATH:/usr/sbin:/sbin
    name=$1$$
    scratch=$(mktemp -d)
    export FSBML_CLUSTERS=$scratch/clusters
    trap clusters_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
clusters_end() {
    if [ -d "$FSBML_CLUSTERS/$name" ]; then fsbml cluster down --name "$name" || say "cluster '$name' could not be taken down"; fi
    rm -rf -- "$scratch"
}

# no_process PATTERN: within a few seconds there is no process with PATTERN on its command line. Write it with a letter in
# brackets, so that it does not find the search itself.
no_process() {
    local try
    for ((try = 0; try < 80; try++)); do
        pgrep -f "$1" >/dev/null || return 0
        sleep 0.1
    done
    pgrep -af "$1" | sed 's/^/# /' >&9
    return 1
}

# some_process PATTERN: within two minutes there is one; what it comes from may have to wait for a build of another test.
some_process() {
    local try
    for ((try = 0; try < 1200; try++)); do
        ! pgrep -f "$1" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# told PATTERN: a line of $scratch/out, which is shown if there is none.
told() {
    grep -qE -- "$1" "$scratch/out" && return 0
    sed 's/^/# /' "$scratch/out" >&9
    return 1
}

# lend_compiler_cache FOLDER USER: another user, who may not write to the compiler's cache, gets a copy of it, if there is one.
lend_compiler_cache() {
    [ -n "${FSBML_COMPILER_CACHE:-}" ] && [ -d "$FSBML_COMPILER_CACHE" ] || return 0
    cp -r "$FSBML_COMPILER_CACHE" "$1/lent" 2>/dev/null || : # others compile meanwhile: files come and go
    chown -R "$2": "$1/lent"
    export FSBML_COMPILER_CACHE=$1/lent CCACHE_DIR=$1/lent
}

# valid SCHEMA JSON [DEFINITION]: the document is as docs/SCHEMA.schema.json says, or as a definition in it.
valid() {
    # shellcheck disable=SC2016
    /usr/bin/python3 -c 'import json, sys, jsonschema
schema = json.load(open(sys.argv[2]))
if len(sys.argv) > 3: schema = {"definitions": schema["definitions"], "$ref": "#/definitions/" + sys.argv[3]}
jsonschema.validate(json.load(open(sys.argv[1])), schema)' "$2" "$FSBML_TOP/docs/$1.schema.json" "${@:3}" 2>&1 |
        tail -n 3 >"$scratch/invalid"
    [ ! -s "$scratch/invalid" ] || { sed 's/^/# /' "$scratch/invalid" >&9 && return 1; }
}

# from JSON EXPRESSION: what python makes of the document d, with the functions in `python_words`, if there are any.
from() {
    /usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[3])
print(eval(sys.argv[2]))' "$1" "$2" "${python_words:-}"
}

# holds EXPRESSION: it is true of the document in $scratch/json.
holds() { equal "$(from "$scratch/json" "$1")" True; }
