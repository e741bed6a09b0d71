# The experiment `failover`: a stream, a cable that is out for a while, what arrives in each moment. Sourced by scripts/measure.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/measure and its plan set command, out, rates, version, setting and plots

OUTAGE_FROM=2 OUTAGE_FOR=5 OUTAGE_SECONDS=10

outage_seconds() { date +%s.%N; }

# outage_launch ARM [MCA PARAMETER]...: a job, whose first rail fails at node 0 and comes back; its output in $out/ARM.
outage_launch() {
    local arm=$1 turns=0 pid status=0
    shift
    say "bml $arm: a stream of $OUTAGE_SECONDS s; rail0's cable is out for $OUTAGE_FOR s"
    job_run "$FSBML_LAUNCH_STATE" 2 -- "$FSBML_LAUNCH_MPIRUN" "$@" "${command[@]}" --for "$OUTAGE_SECONDS" >"$out/$arm" 2>"$out/$arm.said" </dev/null &
    pid=$!
    until grep -qs '^0\.0 ' "$out/$arm"; do
        if [ $((turns += 1)) -gt 600 ] || ! kill -0 "$pid" 2>/dev/null; then break; fi
        sleep 0.1
    done
    sleep "$OUTAGE_FROM"
    outage_link "$arm" out down
    sleep "$OUTAGE_FOR"
    outage_link "$arm" in up
    wait "$pid" || status=$?
    if [ "$status" -ne 0 ] || ! grep -q '^pause' "$out/$arm"; then die "the job of $arm failed; its messages are in $out/$arm.said"; fi
}

# outage_link ARM NAME WORD: sets the link, and notes when.
outage_link() {
    plain_set fsbml-demo-node0 fsbml-demo-net 0 0 "${rates[0]}" "$3"
    printf '%s %s\n' "$2" "$(outage_seconds)" >>"$out/$1.times"
}

# outage_table ARM: "SECONDS MB/s", means of half a second, with the longest pause and when the cable was out, as comments.
outage_table() {
    awk 'FNR == NR { when[$1] = $2; next }
        $1 == "begins" { begins = $2; next }
        $1 == "pause" { printf "# pause %s out %.1f in %.1f\n", $2, when["out"] - begins, when["in"] - begins; next }
        { sum += $2; if (++n == 5) { printf "%.1f %.1f\n", $1 - 0.4, 2 * sum; sum = n = 0 } }' "$out/$1.times" "$out/$1"
}

# outage_told NAME ARM: a sentence. Before: the first seconds; then what the others carry; then when it is as before.
outage_told() {
    awk -v name="$1" '$1 == "#" { pause = $3; out = $5; back = $7; next }
        { rate[n] = $2; at[n++] = $1 }
        END {
            for (i = 0; i < n; i++) {
                if (at[i] >= 0.5 && at[i] + 0.5 <= out) { before += rate[i]; n_before++ }
                if (at[i] >= out + 0.5 && at[i] + 0.5 <= back) { during += rate[i]; n_during++ }
            }
            before /= n_before > 0 ? n_before : 1
            during /= n_during > 0 ? n_during : 1
            for (i = 0; i < n && !again; i++) if (at[i] >= back - 0.5 && rate[i] >= 0.9 * before) again = at[i] + 0.5 - back
            printf "%s: %.1f MB/s, %.1f while the cable is out; nothing arrives for %s s at most; ", name, before, during, pause
            printf again ? "as before within %.1f s of its return.\n" : "not as before until the end.\n", again < 0.1 ? 0.1 : again
        }'
}

# outage_show: the rates as columns, and what they say; as an act of a demo, that is for its end.
outage_show() {
    local arm
    for arm in r2 fsbml; do outage_table "$arm" >"$out/$arm.rates"; done
    [ -n "$told" ] || printf '\nOpen MPI %s, %s\n\n' "$version" "$setting"
    awk 'function column(v, row) { return v >= (row - 0.5) * most / rows ? "#" : " " }
        /^# / { out[FNR != NR] = $5; back[FNR != NR] = $7; next }
        FNR == NR { r2[$1] = $2 }
        FNR != NR { own[$1] = $2 }
        { if (most < $2) most = $2; if (last < $1) last = $1 }
        END {
            rows = 4
            n = 2 * last + 1
            printf "%5s  %-" n + 2 "s%s\n", "MB/s", "r2 on all rails", "FSBML with failover"
            for (row = rows; row > 0; row--) {
                line = sprintf("%5.0f  ", row * most / rows)
                for (i = 0; i < n; i++) line = line column(r2[sprintf("%.1f", i / 2)], row)
                line = line "  "
                for (i = 0; i < n; i++) line = line column(own[sprintf("%.1f", i / 2)], row)
                print line
            }
            line = "       "
            for (i = 0; i < n; i++) line = line (i / 2 + 0.5 > out[0] && i / 2 < back[0] ? "x" : "-")
            line = line "  "
            for (i = 0; i < n; i++) line = line (i / 2 + 0.5 > out[1] && i / 2 < back[1] ? "x" : "-")
            print line "  each: half a second; x: the cable is out"
        }' "$out/r2.rates" "$out/fsbml.rates"
    if [ -n "$told" ]; then exec >>"$told"; else printf '\n'; fi
    outage_told "r2 on all rails" <"$out/r2.rates"
    outage_told "FSBML" <"$out/fsbml.rates"
    [ -z "$plots" ] || outage_plot
}

outage_plot() {
    local kind times
    read -r -a times < <(awk '$1 == "#" { print $5, $7 }' "$out/fsbml.rates")
    for kind in svg png; do
        gnuplot <<PLOT || die "gnuplot failed."
set terminal ${kind/png/pngcairo} size 900,420 background 'white'
set output '$plots/failover.$kind'
set title 'What arrives while a cable is out (between the dashed lines)'
set xlabel 'seconds'
set ylabel 'MB/s'
set yrange [0:*]
set grid ytics linecolor rgb '#dddddd'
set key outside bottom center horizontal
set arrow from ${times[0]}, graph 0 rto 0, graph 1 nohead dashtype 2
set arrow from ${times[1]}, graph 0 rto 0, graph 1 nohead dashtype 2
plot '$out/r2.rates' using (\$1+0.25):2 with linespoints pointtype 7 pointsize 0.4 title 'r2 on all rails', \
     '$out/fsbml.rates' using (\$1+0.25):2 with linespoints pointtype 7 pointsize 0.4 title 'FSBML with failover'
PLOT
    done
    say "the plot is $plots/failover.svg, and .png"
}

failover() {
    outage_launch r2 --mca bml r2
    outage_launch fsbml --mca bml fsbml --mca bml_fsbml_failover 1
    outage_show
}
