#!/usr/bin/env bash
# Tests of what the documents say: every mpirun command in them runs on a virtual cluster, every subcommand, option and parameter
# that they name exists, and every link leads somewhere.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# Needs root, for virtual clusters. Prints TAP.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh scripts/stock.sh tools/cluster/{state,contain,options,job}.sh scripts/programs.sh bench/experiment.sh
name="" scratch="" # set by:
own_clusters d
documents=("$FSBML_TOP/README.md" "$FSBML_TOP"/docs/*.md "$FSBML_TOP"/docs/results/*.md)

# commands PATTERN: lines of fenced blocks that begin with it, without comments, each once.
commands() {
    awk -v pattern="^ *($1)" '/^ *```/ { inside = !inside; next } inside && $0 ~ pattern { sub(/ +#.*/, ""); sub(/^ +/, ""); print }' \
        "${documents[@]}" | sort -u
}

# The documents' interfaces, nodes and program are the virtual cluster's.
run_mpirun() {
    local line=$1 words word arguments=()
    line=${line//eth0/rail0}
    line=${line//eth1/rail1}
    line=${line//10.1.0.0\/24/10.71.0.0\/24}
    line=${line//\/tmp\/records/records/}
    read -r -a words <<<"${line#mpirun }"
    while [ ${#words[@]} -gt 0 ]; do
        word=${words[0]}
        words=("${words[@]:1}")
        case "$word" in
            --host) words=("${words[@]:1}") ;;
            ./my_program | ./a.out | ...) arguments+=("$scratch/my_program") ;;
            rails.txt) arguments+=("$scratch/rails.txt") ;;
            *) arguments+=("$word") ;;
        esac
    done
    (cd "$scratch" && timeout 90 "$FSBML_TOP/fsbml" cluster run --name "$name" -n 2 -- "${arguments[@]}" >out 2>err </dev/null) && return 0
    tail -n 10 "$scratch/err" | sed 's/^/# /' >&9
    return 1
}

# options_exist LINE: subcommand and options of a command of the driver are in its help.
options_exist() {
    local words word help
    read -r -a words <<<"${1#./fsbml }"
    help=$(fsbml "${words[0]}" --help 2>&1; [ "${words[0]}" != bench ] || fsbml bench "${words[1]:-}" --help 2>&1 || :)
    [ -n "$help" ] || return 1
    for word in "${words[@]:1}"; do
        [ "$word" != -- ] || break
        [[ $word != --* ]] || grep -qF -- "$word" <<<"$help" || { printf '# no %s in the help of %s\n' "$word" "${words[0]}" >&9 && return 1; }
    done
}

# parameters_exist: whatever is called bml_fsbml_NAME is a parameter, or a performance variable.
parameters_exist() {
    local known word missing=0
    known=$(OMPI_MCA_mca_component_path="$(component_dir "$prefix")" OMPI_MCA_mca_base_component_path="$(component_dir "$prefix")" \
        "$prefix/bin/ompi_info" --param bml fsbml --level 9 2>/dev/null | grep -oE 'bml_fsbml_[a-zA-Z_]+' | sort -u)
    [ "$(wc -l <<<"$known")" -gt 20 ] || return 1
    for word in $(grep -ohE 'bml_fsbml_[a-zA-Z][a-zA-Z_]*' "${documents[@]}" "$FSBML_TOP/ompi/mca/bml/fsbml/help-mca-bml-fsbml.txt" | sort -u); do
        # names of files are no parameters
        grep -qx -- "$word" <<<"$known" || ls "$FSBML_TOP/ompi/mca/bml/fsbml/$word".[ch] >/dev/null 2>&1 ||
            { printf '# there is no %s\n' "$word" >&9 && missing=1; }
    done
    return "$missing"
}

# parameters_documented: each registered parameter is in the table of docs/using.md, with its default, and in the man page; and these name no
# other.
parameters_documented() {
    OMPI_MCA_mca_component_path="$(component_dir "$prefix")" OMPI_MCA_mca_base_component_path="$(component_dir "$prefix")" \
        "$prefix/bin/ompi_info" --parsable --param bml fsbml --level 9 2>/dev/null >"$scratch/registered"
    /usr/bin/python3 - "$scratch/registered" "$FSBML_TOP/docs/using.md" "$FSBML_TOP/docs/man/fsbml.7" >"$scratch/differences" <<'EOF'
import re, sys
registered, using, man = (open(name).read() for name in sys.argv[1:])
default = dict(re.findall(r'^mca:bml:fsbml:param:bml_fsbml_(\w+):value:"?([^"\n]*)"?$', registered, re.M))
for name in re.findall(r"^mca:bml:fsbml:param:bml_fsbml_(\w+):source:synonym", registered, re.M):
    default.pop(name, None)
default.pop("rail_names", None)  # read only: what rails there are
if len(default) < 20:
    print("only", len(default), "parameters are registered")
table = {}
for names, values in re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| ([^|]*)\|", using, re.M):
    names = re.findall(r"[a-z_]+", names)
    values = [value.strip(" `") for value in values.split(",")]
    table.update(zip(names, values + [""] * (len(names) - len(values))))
section = man.split(".SH PARAMETERS")[1].split(".SH")[0]
listed = {word for line in re.findall(r"^\.BR? (.*)$", section, re.M) for word in re.findall(r"\w+", line)}
for name, value in sorted(default.items()):
    if name not in table:
        print("using.md lacks", name)
    elif table[name] != value:
        print("using.md has", repr(table[name]), "as the default of", name + ", registered is", repr(value))
    if name not in listed:
        print("the man page lacks", name)
for name in sorted(set(table) - set(default)):
    print("using.md has", name + ", which is not registered")
EOF
    [ ! -s "$scratch/differences" ] || { sed 's/^/# /' "$scratch/differences" >&9 && return 1; }
}

links_lead() {
    local document link missing=0
    for document in "${documents[@]}"; do
        for link in $(grep -oE '\]\([^)#]+' "$document" | sed 's/^](//' | grep -v '^https\?:' || :); do
            [ -e "$(dirname -- "$document")/$link" ] || { printf '# %s: %s\n' "${document##*/}" "$link" >&9 && missing=1; }
        done
    done
    return "$missing"
}

# anchors_exist: the heading that a link names by '#' is in that document.
anchors_exist() {
    /usr/bin/python3 - "${documents[@]}" >"$scratch/anchors" <<'EOF'
import os, re, sys
def headings(name):
    text = re.sub(r"^```.*?^```", "", open(name).read(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)", text, re.M)}
for name in sys.argv[1:]:
    for path, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", open(name).read()):
        target = os.path.join(os.path.dirname(name), path) if path else name
        if os.path.exists(target) and anchor not in headings(target):
            print(os.path.basename(name) + ":", path + "#" + anchor)
EOF
    [ ! -s "$scratch/anchors" ] || { sed 's/^/# /' "$scratch/anchors" >&9 && return 1; }
}

# A message does not end with its facts: what to do comes behind them.
messages_advise() {
    local without
    without=$(awk '/^#/ { next }
        /^\[/ { if (last ~ /^  /) print "# " topic; topic = $0; next }
        NF { last = $0 }
        END { if (last ~ /^  /) print "# " topic }' "$FSBML_TOP/ompi/mca/bml/fsbml/help-mca-bml-fsbml.txt")
    [ -z "$without" ] || { printf '%s\n' "$without" >&9 && return 1; }
}

prefix=$(stock_openmpi "")
"$FSBML_TOP/fsbml" build >/dev/null 2>&1 || :
"$prefix/bin/mpicc" -O1 -I "$FSBML_TOP/tests/mpi" -o "$scratch/my_program" "$FSBML_TOP"/tests/mpi/{witness,check}.c
printf 'fsbml-table 2\nrail tcp:10.71.0.0/24 rail0 L=20000 o_s=5000 o_r=5000 g=1000 G=42\n' >"$scratch/rails.txt"
fsbml cluster up --name "$name" --nodes 2 >/dev/null 2>&1 || die "the cluster could not be started."

ok "links lead somewhere" links_lead
ok "... also to a heading" anchors_exist
ok "parameters and variables exist" parameters_exist
ok "using.md and man page have all parameters, with their defaults" parameters_documented
ok "messages to users say what to do" messages_advise
while read -r line; do
    ok "exists: $line" options_exist "$line"
done < <(commands '[.]/fsbml')
runs=0
while read -r line; do
    runs=$((runs + 1))
    ok "runs: $line" run_mpirun "$line"
done < <(commands mpirun | grep -v '\.\.\.$')
ok "there were commands to run" [ "$runs" -ge 5 ]
ok "the page of the report is there" grep -q '</html>' "$scratch/report.html"
ok "... and trace reads what the job left" fsbml trace "$scratch/trace" >"$scratch/out"
tap_end
