# What all of the driver's commands share: messages, packages, paths. Sourced, never run.
# shellcheck shell=bash

# is_installed: this driver is the one of a package (`make install-tools`): the component is in Open MPI's own folder, and
# nothing may be written to the driver's.
is_installed() { [ ! -f "$FSBML_TOP/configure.ac" ]; }

# Built things live here, outside of the sources' git tree: one folder per Open MPI (stock) or patches' hash (reference).
FSBML_CACHE=${FSBML_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fsbml}
if is_installed; then FSBML_BUILD=${FSBML_BUILD:-$FSBML_CACHE/build}; else FSBML_BUILD=${FSBML_BUILD:-$FSBML_TOP/build}; fi

# fsbml_version: prints the version of these sources.
fsbml_version() { sed -n 's/^#define FSBML_VERSION "\(.*\)"$/\1/p' "$FSBML_TOP/ompi/mca/bml/fsbml/compat/fsbml_version.h"; }

# say TEXT: progress for users, on stderr so that stdout stays a command's result.
say() { printf 'fsbml: %s\n' "$*" >&2; }

# die TEXT: the one clear message that a failure ends in.
die() {
    printf 'fsbml: error: %s\n' "$*" >&2
    exit 1
}

# have PROGRAM...: true if all are on the PATH.
have() {
    local program
    for program in "$@"; do command -v "$program" >/dev/null 2>&1 || return 1; done
}

is_root() { [ "$(id -u)" -eq 0 ]; }

# need_packages WHY PACKAGE...: installs what is missing of Debian's packages; says so, or says what to ask an admin for.
need_packages() {
    local why=$1 package missing=()
    shift
    for package in "$@"; do
        grep -q 'ok installed' <<<"$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    have apt-get || die "$why needs the Debian packages ${missing[*]}, and this system has no apt-get; install their like by hand."
    is_root || die "$why needs the packages ${missing[*]}, and only root can install them: sudo apt-get install ${missing[*]}"
    mkdir -p "$FSBML_BUILD/log"
    local log=$FSBML_BUILD/log/apt.log
    say "installing ${missing[*]} for $why (log: $log)"
    # Another command may be installing something at this moment.
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "${missing[@]}")
    if ! { "${install[@]}" >"$log" 2>&1 || { apt-get -q update >>"$log" 2>&1 && "${install[@]}" >>"$log" 2>&1; }; }; then
        tail -n 5 "$log" >&2
        die "could not install ${missing[*]}; the log is $log"
    fi
}

# use_compiler_cache: from here on, what was compiled before in another build folder is taken from a cache (ccache), if the system
# has one. Tests compile the same sources many times; nothing but time depends on it.
use_compiler_cache() {
    local links=/usr/lib/ccache
    [ -d "$links" ] || links=/usr/lib64/ccache
    # Each system has its own, as each has another ccache.
    local dir=$FSBML_CACHE/ccache/${FSBML_SYSTEM:-here}
    have ccache && [ -d "$links" ] && mkdir -p "$dir" 2>/dev/null && [ -w "$dir" ] || return 0
    export PATH=$links:$PATH FSBML_COMPILER_CACHE=$dir CCACHE_DIR=$dir CCACHE_MAXSIZE=1G
    # By what the compiler says of itself: packages may be renewed. Debug information may name another build folder.
    export CCACHE_COMPILERCHECK='%compiler% -v' CCACHE_NOHASHDIR=1
    # What the tests of the core precompile: it defines no macro by the clock.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    # What a file includes is read from the list that the compiler writes (-MD): to preprocess it beforehand takes as long as half of
    # the compiling.
    export CCACHE_DEPEND=1
    cache_by_folder
}
# cache_by_folder: the same sources in another folder, such as another user's, are the same.
cache_by_folder() {
    case "$FSBML_BUILD" in
        "$FSBML_TOP"/*) export CCACHE_BASEDIR=$FSBML_TOP ;;
        *) export CCACHE_BASEDIR=$FSBML_BUILD ;;
    esac
}
# Those of the command that said so may be others.
if [ -n "${FSBML_COMPILER_CACHE:-}" ]; then
    cache_by_folder
    [ -w "$FSBML_COMPILER_CACHE" ] || export CCACHE_DISABLE=1
fi

# newer_than_all PROGRAM PATH...: the program is there, and no C++ source under the paths is newer.
newer_than_all() { [ -x "$1" ] && [ -z "$(find "${@:2}" -name '*.[ch]pp' -newer "$1" -print -quit)" ]; }

# logged LOG WHAT COMMAND...: runs a long command with its output in LOG and a sign of life every few seconds.
logged() {
    local log=$1 what=$2 pid start=$SECONDS
    shift 2
    mkdir -p "$(dirname -- "$log")"
    say "$what (log: $log)"
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        [ ! -t 2 ] || printf '\rfsbml: %s ... %d s' "$what" $((SECONDS - start)) >&2
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    if ! wait "$pid"; then
        tail -n 15 "$log" >&2
        return 1
    fi
    say "$what: done in $((SECONDS - start)) s"
}

# passing_signals COMMAND...: runs it and returns its exit status. A signal that would end this shell goes to the command, and
# this shell goes on when that has ended: bash by itself would either leave it behind or not hear the signal before its end.
passing_signals() {
    local pid status=0 ending=0
    "$@" <&0 &
    pid=$!
    trap 'ending=130; kill -INT "$pid"' INT
    trap 'ending=143; kill -TERM "$pid"' TERM
    trap 'ending=129; kill -HUP "$pid"' HUP
    # A trapped signal breaks off wait while the command may still be at work.
    while :; do
        status=0
        wait "$pid" || status=$?
        kill -0 "$pid" || break
    done 2>/dev/null
    trap - INT TERM HUP
    [ "$ending" -eq 0 ] || status=$ending
    return "$status"
}
