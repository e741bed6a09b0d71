# Parsing of the virtual cluster's options: everything is checked before anything is touched. Sourced, never run.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by those who source this
# A /24 a rail leaves room for 254; the interface names of 250 nodes and 16 rails stay within Linux' 15 characters.
FSBML_MAX_NODES=250 FSBML_MAX_RAILS=16
FSBML_MIN_KBIT=1000
FSBML_MAX_KBIT=1000000

# check_name NAME: it becomes part of namespace names and paths.
check_name() {
    [[ $1 =~ ^[a-z0-9][a-z0-9-]{0,19}$ ]] ||
        die "cluster name '$1': use 1 to 20 lower-case letters, digits and '-', not '-' first."
}

# check_count WHAT TEXT MAX: a whole number from 1 to MAX.
check_count() {
    if ! [[ $2 =~ ^[0-9]{1,6}$ ]] || [ "$((10#$2))" -lt 1 ] || [ "$((10#$2))" -gt "$3" ]; then
        die "$1 '$2': give a whole number from 1 to $3."
    fi
}

# rate_kbit TEXT: the rate in kbit/s, or 1 if TEXT is none.
rate_kbit() {
    local number unit
    [[ $1 =~ ^([0-9]{1,7})(kbit|mbit|gbit)$ ]] || return 1
    number=$((10#${BASH_REMATCH[1]})) unit=${BASH_REMATCH[2]}
    case "$unit" in
        kbit) printf '%s\n' "$number" ;;
        mbit) printf '%s\n' $((number * 1000)) ;;
        gbit) printf '%s\n' $((number * 1000000)) ;;
    esac
}

# rail_rate SPEC: the rate of `--rail SPEC`, SPEC being key=value[,key=value...]; dies on anything unknown.
rail_rate() {
    local spec=$1 item rate="" kbit items
    IFS=, read -r -a items <<<"$spec"
    [ ${#items[@]} -gt 0 ] || die "--rail needs a value such as rate=200mbit."
    for item in "${items[@]}"; do
        case "$item" in
            rate=*)
                [ -z "$rate" ] || die "--rail '$spec': rate is given twice."
                rate=${item#rate=}
                if ! kbit=$(rate_kbit "$rate") || [ "$kbit" -lt "$FSBML_MIN_KBIT" ] || [ "$kbit" -gt "$FSBML_MAX_KBIT" ]; then
                    die "--rail '$spec': the rate must be a whole number with kbit, mbit or gbit, from 1mbit to 1gbit."
                fi
                ;;
            *=*) die "--rail '$spec': unknown key '${item%%=*}'; known: rate." ;;
            *) die "--rail '$spec': '$item' is not KEY=VALUE, such as rate=200mbit." ;;
        esac
    done
    [ -n "$rate" ] || die "--rail '$spec': no rate; give one such as rate=200mbit."
    printf '%s\n' "$rate"
}

# value_of OPTION COUNT: dies if OPTION is the last word of the command line (COUNT words are left).
value_of() { [ "$2" -ge 2 ] || die "$1 needs a value."; }
