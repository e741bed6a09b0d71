#!/usr/bin/env bash
# Tests of the harness' table, bars, sentence and document on made-up results whose figures are known.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
set -euo pipefail
# shellcheck source=tests/driver/tap.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/tap.sh" scripts/lib.sh scripts/openmpi.sh scripts/programs.sh
own_folder
harness=$(programs_build "$(openmpi_prefix)" harness.program)/harness.program

# point ARM MESSAGES BYTES SAMPLE,...: one launch's line.
point() {
    printf '{"bench":"onetoone","operation":"exchange","variant":"","arm":"%s","messages":%d,"bytes":%d,"unit":"us","mean":0,"traffic":{"eth0":90,"eth1":10},"samples":[%s]}\n' "$@"
}

# grid FACTOR: results in which r2 takes 12 times as long as the best rail, and fsbml FACTOR times.
grid() {
    local messages bytes
    for messages in 1 8 16 32; do
        for bytes in 16 256 1024 4096 16384 65536; do
            point rail0 "$messages" "$bytes" "$((bytes * 4 / 100 + 10))"
            point rail1 "$messages" "$bytes" "$((bytes * 4 / 10 + 10))"
            point r2 "$messages" "$bytes" "$(((bytes * 4 / 100 + 10) * 12))"
            point fsbml "$messages" "$bytes" "$(awk -v us=$((bytes * 4 / 100 + 10)) -v factor="$1" 'BEGIN { print us * factor }')"
        done
    done
    printf '{"bench":"onetoone","operation":"init","arm":"r2","seconds":0.1}\n{"bench":"onetoone","operation":"init","arm":"fsbml","seconds":%s}\n' "$2"
}

# told PATTERN: the last summary's output has such a line.
# summarise EXPERIMENT ARMS: of two rails, or of one if ARMS names none.
summarise() {
    "$harness" --bench "$1" --setting test --rails rail0,rail1 --arms "${2:-rail0,rail1,r2,fsbml}" --bars "$1" --log "$scratch/log" \
        --json "$scratch/json" --summarise "$scratch/in" >"$scratch/out"
}

printf '[node0:1] fsbml: %s\n' 'rail   key  L us o_s us o_r us g us G ns/B MB/s burst B probes residual' \
    'rail0  tcp:10.71.0.0/24  0.00 3.64 3.64 5.89 40.30 23.9 2960 62 0.07 %' \
    'rail1  tcp:10.71.1.0/24  0.00 3.60 3.60 18.70 430.0 2.394 2980 44 0.00 %' >"$scratch/log"

grid 0.92 0.4 >"$scratch/in"
ok "a good run is summarised" summarise onetoone
ok "... with its rows" told '^ +32 +4096 +173\.0 ± 0\.0% +1648\.0 .* 2076\.0 .* 159\.2 .* 0\.92 +13\.04 +1\.02$'
ok "... the bar of the rails is met" told '^  met +N=32, 4 and 16 KiB: fsbml <= 0\.95 x best rail +worst 0\.920'
ok "... the bar of r2 is met" told '^  met +N=32, 4 and 16 KiB: r2 >= 10 x fsbml +worst 13\.04'
ok "... the bar of small messages is met" told '^  met +N=1\.\.32, 16 B to 1 KiB'
ok "... the bar of MPI_Init is met" told '^  met +MPI_Init .* 0\.300 s'
ok "... that of G is not, by the rail that is off" told '^  NOT MET +G within 5 % .*rail0 40\.30 ns/B \(\+0\.[0-9] %\), rail1 430\.00 ns/B \(\+7\.5 %\)'
ok "... in a sentence" told '^With 32 messages of 4096 bytes, FSBML is faster than the best rail alone: 159\.16 us against 173 us'
ok "... and in JSON" grep -q '"met": true' "$scratch/json"

# act: the same as an act of a demo, whose outcome is in $scratch/told.
act() {
    rm -f "$scratch/told"
    "$harness" --bench onetoone --setting test --rails rail0,rail1 --arms rail0,rail1,r2,fsbml --told "$scratch/told" --summarise "$scratch/in" \
        >"$scratch/out"
}

for _ in 1 2 3 4 5 6 7 8; do grid 0.92 0.4; done >"$scratch/in"
ok "an act of a demo" act
ok "... has a row a size" equal "$(grep -cE '^ *(16|256|1024|4096|16384|65536) ' "$scratch/out") $(wc -l <"$scratch/out")" "6 8"
ok "... with a bar that ends before the best rail's, and a verdict" told '^  4096 +173\.0 +2076 +159\.2  ######### \|   faster +173\.0 .* faster$'
ok "... and says how it came out" grep -qxF "FSBML takes 0.92 to 0.92 of the best rail's time. Of 24 points, FSBML is faster at 24, \
the same within 3 % at 0, slower at 0; unclear: 0. r2 takes up to 13.0 times FSBML's time." "$scratch/told"
for _ in 1 2 3 4 5 6 7 8; do grid 1.5 0.4; done >"$scratch/in"
ok "an act in which FSBML is slower says so" act
ok "... with a bar beyond the best rail's" told '^  4096 +173\.0 +2076 +259\.5  ############# SLOWER '
ok "... and in its sentence" grep -q 'takes 1\.50 to 1\.50 .* faster at 0, .* slower at 24;' "$scratch/told"
grid 0.92 0.4 >"$scratch/in"
ok "an act of one round tells no difference" act
ok "... and why" grep -qF '1 round cannot tell a difference from noise: at least 5 are needed' "$scratch/told"
cat >"$scratch/launcher" <<EOF
#!/bin/sh
for word; do case "\$word" in rail0 | r2 | fsbml) arm=\$word ;; esac; done
grep "\"arm\":\"\$arm\",\"messages\":1,\"bytes\":16," "$scratch/in"
EOF
chmod +x "$scratch/launcher"
# in_terminal: three rounds of a launcher that says what is known, in a terminal.
in_terminal() {
    rm -f "$scratch/told"
    script -qec "$harness --bench onetoone --setting test --rails rail0,rail1 --arms rail0,r2,fsbml --rounds 3 --launcher $scratch/launcher \
        --folder $scratch --told $scratch/told -- program" /dev/null </dev/null >"$scratch/out"
}
ok "an act in a terminal" in_terminal
ok "... writes its table of three lines three times, in one place" equal "$(grep -c 'FSBML : best' "$scratch/out") $(grep -oF $'\033[3A\033[J' "$scratch/out" | wc -l)" "3 2"

grid 1.3 0.7 >"$scratch/in"
ok "a bad run is summarised" summarise onetoone
ok "... no bar of time is met" equal "$(grep -c '^  NOT MET' "$scratch/out")" 6
ok "... with how often it was missed" told 'worst 1\.300 .*missed at 12 of 12'
ok "... in a plain sentence" told '^With 32 messages of 4096 bytes, FSBML is SLOWER than the best rail alone'

grid 1.005 0.1 >"$scratch/in"
ok "half a percent is no difference" summarise onetoone
ok "... in the sentence" told 'FSBML is as fast as the best rail alone'
ok "... which blames no rail, as r2 uses both" equal "$(grep -c 'as it sends all of them' "$scratch/out")" 0
sed -i '/"arm":"r2"/s/"eth1":10/"eth1":1/' "$scratch/in"
ok "r2 that uses one rail" summarise onetoone
ok "... is told so" told "times FSBML's time, as it sends all of them by eth0\."

grid 0.54 0.1 >"$scratch/in"
ok "two equal rails at 0.54 are summarised" summarise equal
ok "... and not good enough" told '^  NOT MET +N>=8, 4 to 64 KiB: fsbml <= 0\.53 x one rail'

{ point r2 1 16 10,20,30 && point r2 1 16 20,20,20 && point r2 1 16 40,40,41,42,40 && point fsbml 1 16 20.2; } >"$scratch/in"
ok "launches count once each, whatever their samples" summarise single r2,fsbml
ok "... median and quartiles are those of their means" told '^ +1 +16 +20\.0 ±25\.8% +20\.2 ± 0\.0% +1\.01$'
ok "... and one rail within 2 % meets its bar" told '^  met +everywhere: fsbml <= 1\.02 x r2'

for pair in "10 13.1" "13 13.1" "10 10.1"; do point r2 1 16 "${pair% *}" && point fsbml 1 16 "${pair#* }"; done >"$scratch/in"
ok "a machine that changes its speed between rounds" summarise single r2,fsbml
ok "... is seen in the medians" told '^ +1 +16 +10\.0 ± *7\.5% +13\.1 .* 1\.01$'
ok "... and not in the ratio" told '^  met +everywhere: fsbml <= 1\.02 x r2 +worst 1\.010 ± 0\.076'

# Five rounds, in which fsbml takes RATIO... times as long as the rail alone.
rounds() {
    local factor
    for factor in "$@"; do
        for bytes in 16 1024 4096; do point rail0 1 "$bytes" 100 && point fsbml 1 "$bytes" "$((factor))"; done
    done >"$scratch/in"
}
rounds 80 95 100 105 120
ok "a machine that is too noisy" summarise onetoone rail0,fsbml
ok "... is told from one that is not" told '^Not told apart: 3 of 3 points, where rounds differ more than FSBML and its rival do'
ok "... in JSON, too" grep -q '"conclusive": false' "$scratch/json"
ok "... with no verdict" equal "$(grep -c 'unclear$' "$scratch/out")" 3
rounds 90 95 106 115 120
ok "a bar that is missed within the noise" summarise onetoone rail0,fsbml
ok "... is neither met nor missed" told '^  unclear +N=1\.\.32, 16 B to 1 KiB.* worst 1\.060 .*, missed at 2 of 2, within the noise at 2$'
ok "... in JSON, too" grep -q '"unclear": true' "$scratch/json"
rounds 104 105 106 107 108
ok "a bar that is surely missed" summarise onetoone rail0,fsbml
ok "... is missed" told '^  NOT MET +N=1\.\.32, 16 B to 1 KiB.* worst 1\.060 .*, missed at 2 of 2$'
rounds 90 91 90 89 90
ok "a quiet machine" summarise onetoone rail0,fsbml
ok "... has verdicts" equal "$(grep -c 'faster$' "$scratch/out")" 3
ok "... is conclusive" grep -q '"conclusive": true' "$scratch/json"
ok "... and has no word about noise" equal "$(grep -ciE 'noisy|not told apart' "$scratch/out")" 0
rounds 99 100 101 102 100
ok "two percent are no difference" summarise onetoone rail0,fsbml
ok "... and a verdict" equal "$(grep -c 'same$' "$scratch/out")" 3

point r2 1 16 10 >"$scratch/in"
ok "without fsbml there is a table" summarise single r2,fsbml
ok "... no bar met" told '^  NOT MET .* not measured$'
ok "... and nothing to compare" told '^There is nothing to compare'

printf 'mpirun: something broke\n' >>"$scratch/in"
summarise single r2,fsbml 2>"$scratch/err" && status=0 || status=$?
ok "what is no result is refused" equal "$status" 1
ok "... with the line's number" grep -q 'line 2: ' "$scratch/err"
tap_end
