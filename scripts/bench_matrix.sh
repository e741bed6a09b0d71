# ./fsbml bench matrix: one table of FSBML against the best of all other arms, over many kinds of rails. Sourced by cmd_bench.sh.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# Slow to fast, quiet to busy.
MATRIX_REGIMES="slow unlike alike three delay shaped fast faster ten unshaped busy busyfast ranks"

# matrix_regime NAME: sets rails, processes (a node), busy, and to (the ranks that messages go to).
# shellcheck disable=SC2054 # the commas are the rails'
matrix_regime() {
    processes=1 busy=0 to=fixed
    case "$1" in
        slow) rails=(rate=50mbit rate=20mbit) ;;
        unlike) rails=(rate=200mbit rate=20mbit) ;;
        alike) rails=(rate=100mbit rate=100mbit) ;;
        three) rails=(rate=200mbit rate=100mbit rate=20mbit) ;;
        delay) rails=(rate=100mbit,delay=1ms rate=50mbit,delay=100us) ;;
        shaped) rails=(rate=500mbit,offload=on,burst=1mb rate=200mbit,offload=on,burst=200kb) ;;
        fast) rails=(rate=2gbit,offload=on rate=1gbit,offload=on) ;;
        faster) rails=(rate=5gbit,offload=on,burst=200kb rate=2gbit,offload=on,burst=200kb) ;;
        ten) rails=(rate=10gbit,offload=on rate=10gbit,offload=on) ;;
        unshaped) rails=(rate=none,offload=on rate=none,offload=on) ;;
        busy) rails=(rate=200mbit rate=20mbit) busy=$(nproc) ;;
        busyfast) rails=(rate=2gbit,offload=on rate=1gbit,offload=on) busy=$(nproc) ;;
        ranks) rails=(rate=200mbit rate=20mbit) processes=$((4 * $(nproc))) to=random ;;
        *) die "bench matrix: there is no regime '$1'; there are: $MATRIX_REGIMES." ;;
    esac
}

bench_matrix_help() {
    cat <<'HELP'
usage: ./fsbml bench matrix [options]

Runs the exchange of N messages over many kinds of rails, slow to fast, quiet to busy, and makes one table of FSBML against the best
of all other arms: r2 on each rail alone, r2 on all, r2 that was told the rails' speeds. A cell is SLOWER, and red on the page, where
FSBML's time is beyond 1.03 times that of the best, and more than the rounds differ. Takes some 35 s a regime and round.

options:
  --regimes LIST   only these (default: all, as `--list` names them)
  --rounds K       launches of every arm (3)
  --starts N       also start N jobs on each kind of rails, and say how the measurement came out (10; 0: none; needs root)
  --list           what the regimes are
  --json FILE      write everything (docs/matrix.schema.json)
  --html FILE      write a page
  --leaflet FILE   write a page to hand round: a few of the figures as bars, and what FSBML is (docs/index.html)
HELP
}

matrix_list() {
    local name rails processes busy to text
    for name in $MATRIX_REGIMES; do
        matrix_regime "$name"
        text=${rails[*]}
        [ "$busy" -eq 0 ] || text+=", beside $busy busy programs"
        [ "$processes" -eq 1 ] || text+=", $processes ranks a node"
        printf '%-10s %s\n' "$name" "$text"
    done
}

# matrix_told: r2, with the rails' speeds in Mbit/s; nothing where one has none.
matrix_told() {
    local arm=r2 number rate
    for number in "${!rails[@]}"; do
        rate=${rails[$number]#rate=}
        rate=${rate%%,*}
        [ "$rate" != none ] || return 0
        arm+=:btl_tcp_bandwidth_rail$number=$(($(rate_kbit "$rate") / 1000))
    done
    printf ',%s' "$arm"
}

# matrix_words: the rails' rates, for a person.
matrix_words() {
    local rail text=""
    for rail in "${rails[@]}"; do
        rail=${rail#rate=}
        text+=${text:+" and "}$(sed -E 's/^([0-9]+)([mg])bit.*/\1 \u\2bit\/s/; s/^none.*/no limit/' <<<"$rail")
    done
    printf '%s' "$text"
}

# matrix_set: the rails' G in ns a byte, of full frames: 1514 bytes of which 1448 are data; 0 where there is no rate.
matrix_set() {
    local rail rate set=()
    for rail in "${rails[@]}"; do
        rate=${rail#rate=}
        rate=${rate%%,*}
        if [ "$rate" = none ]; then
            set+=(0)
        else
            set+=("$(awk -v kbit="$(rate_kbit "$rate")" 'BEGIN { printf "%.4g", 8e6 / kbit * 1514 / 1448 }')")
        fi
    done
    (IFS=, && printf '%s' "${set[*]}")
}

# matrix_starts NAME N: prints the tables of N jobs.
matrix_starts() {
    local i cluster=matrix$$ rail options=() programs
    local busy_words=()
    [ "$busy" -eq 0 ] || busy_words=(--busy "$busy")
    for rail in "${rails[@]}"; do options+=(--rail "$rail"); done
    programs=$(programs_build "$(openmpi_prefix)" calibrate_job)
    # shellcheck disable=SC2064
    trap "'$FSBML_TOP/fsbml' cluster down --name '$cluster' >/dev/null 2>&1" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    "$FSBML_TOP/fsbml" cluster up --name "$cluster" --replace "${options[@]}" >/dev/null 2>&1 || return 1
    for ((i = 1; i <= $2; i++)); do
        printf '\r%s: start %d of %d' "$1" "$i" "$2" >&2
        timeout 60 "$FSBML_TOP/fsbml" cluster run --name "$cluster" -n $((2 * processes)) "${busy_words[@]}" -- --mca bml fsbml \
            --mca bml_fsbml_verbose 1 "$programs/calibrate_job" /dev/null 2>&1 </dev/null || printf 'a start failed\n' >&2
    done
    printf '\r%40s\r' "" >&2
    "$FSBML_TOP/fsbml" cluster down --name "$cluster" >/dev/null 2>&1
    trap - EXIT INT TERM
}

# matrix_measure NAME [OPTION]... -- ARGUMENTS...: all arms in one regime, into $folder/NAME.json; sets `interrupted` if a signal ended it.
# shellcheck disable=SC2154 # bench_matrix has them
matrix_measure() {
    local into=$1 status=0 how=()
    local -x FSBML_BUSY=$busy
    shift
    while [ "$1" != -- ]; do how+=("$1") && shift; done
    shift
    passing_signals "$FSBML_TOP/fsbml" bench onetoone "${options[@]}" "${how[@]}" --rounds "$rounds" --json "$folder/$into.json" \
        --arms "fsbml,r2,rails$(matrix_told)" -- --to "$to" "$@" >"$folder/${into%%.*}.out" || status=$?
    [ "$status" -le 128 ] || interrupted=$status
    return "$status"
}

bench_matrix() {
    local interrupted=0
    local regimes=$MATRIX_REGIMES rounds=3 starts=10 json="" html="" leaflet="" name rail rails=() processes busy to folder options words=() sizes middle large
    while [ $# -gt 0 ]; do
        case "$1" in
            --regimes | --rounds | --starts | --json | --html | --leaflet) value_of "$1" $# ;;
        esac
        case "$1" in
            --regimes) regimes=${2//,/ } && shift ;;
            --rounds) set_count rounds "$1" "$2" 100 && shift ;;
            --starts)
                if [ "$2" = 0 ]; then starts=0; else set_count starts "$1" "$2" 1000; fi
                shift
                ;;
            --json) json=$(readlink -m -- "$2") && shift ;;
            --html) html=$(readlink -m -- "$2") && shift ;;
            --leaflet) leaflet=$(readlink -m -- "$2") && shift ;;
            --list)
                matrix_list
                return 0
                ;;
            -h | --help)
                bench_matrix_help
                return 0
                ;;
            *) die "bench matrix: unknown option '$1'; './fsbml bench matrix --help' lists them." ;;
        esac
        shift
    done
    for name in $regimes; do matrix_regime "$name"; done
    if [ "$starts" -gt 0 ] && ! is_root; then
        say "starts are not counted: a cluster that stays up needs root."
        starts=0
    fi
    component_needed
    mkdir -p "$FSBML_BUILD/demo"
    folder=$(mktemp -d "$FSBML_BUILD/demo/matrix.XXXXXX")
    for name in $regimes; do
        matrix_regime "$name"
        options=()
        for rail in "${rails[@]}"; do options+=(--rail "$rail"); done
        [ "$processes" -eq 1 ] || options+=(--ranks $((2 * processes)))
        # What a slow rail takes by itself is not to last for minutes.
        sizes=16,1024,16384,65536 middle="" large=262144,1048576,4194304
        # Number of ranks with large messages among their 32.
        [ "$processes" -eq 1 ] || { sizes=16,1024,16384 large=65536,262144; }
        # In turns of milliseconds differences of a few percent can be told, but a bucket fills while the others have theirs.
        [[ ${rails[*]} != *burst=* ]] || { sizes=16,1024 middle=16384,65536; }
        say "regime $name: ${rails[*]}"
        if matrix_measure "$name" --interleaved -- --messages 1,32 --sizes "$sizes" &&
            { [ -z "$middle" ] || matrix_measure "$name.middle" -- --messages 1,32 --sizes "$middle" --min-samples 1; } &&
            matrix_measure "$name.large" -- --messages 1 --sizes "$large" --min-samples 1; then
            words+=(--about "$name=$(matrix_words)")
            for sizes in "$name" ${middle:+"$name.middle"} "$name.large"; do words+=(--cells "$name=$folder/$sizes.json"); done
        else
            [ "$interrupted" -eq 0 ] || exit "$interrupted"
            say "regime $name did not succeed; what it printed is in $folder/$name.out"
        fi
        if [ "$starts" -gt 0 ] && matrix_starts "$name" "$starts" >"$folder/$name.starts"; then
            words+=(--starts "$name=$(matrix_set):$folder/$name.starts")
        fi
    done
    [ ${#words[@]} -gt 0 ] || die "bench matrix: no regime succeeded."
    [ -z "$json" ] || words+=(--json "$json")
    [ -z "$html" ] || words+=(--html "$html")
    [ -z "$leaflet" ] || words+=(--leaflet "$leaflet")
    simulator_run matrix --setting "Open MPI $(openmpi_version "$(openmpi_prefix)"), $(nproc) processors, $rounds rounds" "${words[@]}"
}
