// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "matrix.hpp"

#include "explain/verdict/verdict.hpp"
#include "tools/text/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fsbml::matrix
{

namespace
{

constexpr const char *kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>FSBML: the networks of a node for one MPI job</title>
<style>
:root { color-scheme: light dark; --ground: #fbfbfa; --ink: #1c1f24; --soft: #5b626d; --line: #dfe2e7; --other: #8a94a3; --own: #1f5fa8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --ink: #e8eaed; --soft: #a3abb6; --line: #333941; --other: #68717e; --own: #6fb0f5; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
h1 { font-size: clamp(1.5rem, 1rem + 2.4vw, 2.2rem); line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .3rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 1rem 0 .3rem; }
p { max-width: 44rem; margin: .4rem 0; }
small, .soft { color: var(--soft); }
.bars { display: grid; grid-template-columns: minmax(7rem, 12rem) minmax(0, 1fr) 6.5rem; gap: .25rem .8rem; align-items: center; font-size: .9rem; }
.bars b { display: block; height: 1.1rem; min-width: 2px; background: var(--other); border-radius: 2px; }
.bars .own { background: var(--own); }
.bars span:nth-child(3n) { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: color-mix(in srgb, var(--line) 45%, transparent); padding: .8rem 1rem; overflow-x: auto; border-radius: 6px; }
svg { width: 100%; height: auto; margin: .6rem 0; }
svg text { fill: var(--ink); font-size: 13px; }
svg .busy { fill: var(--other); } svg .new { fill: var(--own); } svg .axis { stroke: var(--soft); }
</style>
</head>
<body>
<main>
<h1>Two networks in a node? With FSBML, an MPI job uses both where that is faster.</h1>
<p>FSBML is a component of Open MPI. It measures each network when MPI starts, tracks how busy each one is while the job runs, and sends
each message, or each piece of one, over the network that delivers it first. Neither the program nor Open MPI is changed.</p>
<p>Open MPI's own rule (<code>r2</code>) sends all messages up to 64 KiB over one network, the second of its list, whatever its speed.</p>
)";

// Two rails, what they have to do, and by which one a message would be there first.
constexpr const char *kPicture = R"(<h2>How it chooses</h2>
<svg viewBox="0 0 700 170" role="img" aria-label="The fast rail is busy for longer, so the next message takes the slow one, where it arrives earlier">
<text x="0" y="38">fast rail</text><text x="0" y="98">slow rail</text>
<rect class="busy" x="90" y="20" width="330" height="28" rx="3"/><rect class="new" x="424" y="20" width="60" height="28" rx="3" opacity=".35"/>
<rect class="busy" x="90" y="80" width="60" height="28" rx="3"/><rect class="new" x="154" y="80" width="260" height="28" rx="3"/>
<text x="492" y="38">it would be there later</text><text x="422" y="98">the message takes this one</text>
<line class="axis" x1="90" y1="135" x2="680" y2="135"/><text x="90" y="157">now</text><text x="640" y="157">time</text>
</svg>
<p>Grey is what a rail has still to do. Both ends are known from what was measured, and from what the kernel says that has been delivered:
a rail that becomes slower in mid-job gets less (over TCP). With <code>bml_fsbml_failover 1</code>, a job goes on without a rail whose cable
is pulled; otherwise such a rail ends the job, or stops it until the rail works again or TCP gives up, as with r2.</p>
)";

std::string bars_of(const Cell &cell)
{
    struct Bar {
        const char *name;
        double us;
    };
    Bar bars[] = {{"best network alone", 0.0},
                  {"r2 on both", 0.0},
                  {"r2, told the speeds", 0.0},
                  {"FSBML on both", cell.fsbml_us}};
    for (const Arm &arm : cell.arms) {
        Bar &bar = arm.name.compare(0, 3, "r2:") == 0 ? bars[2] : arm.name == "r2" ? bars[1] : bars[0];
        if (arm.name.compare(0, 5, "fsbml") != 0) {
            bar.us = bar.us > 0.0 ? std::min(bar.us, arm.us) : arm.us;
        }
    }
    double most = 0.0;
    for (const Bar &bar : bars) {
        most = std::max(most, bar.us);
    }
    std::string text =
        fmt::format("<h3>{}{} there and back</h3>\n<div class=\"bars\">\n",
                    cell.messages == 1 ? "one message of " : fmt::format("{} messages of ", cell.messages),
                    size_text(static_cast<double>(cell.bytes)));
    for (const Bar &bar : bars) {
        if (bar.us > 0.0) {
            text +=
                fmt::format("<span>{}</span><span><b{} style=\"width: {:.2f}%\"></b></span><span>{}</span>\n",
                            bar.name, bar.us == cell.fsbml_us ? " class=\"own\"" : "", 100.0 * bar.us / most,
                            bench::duration(1e3 * bar.us));
        }
    }
    return text + "</div>\n";
}

// A few that stand for all: many of a size that programs send, and one of the largest.
bool is_shown(const Cell &cell)
{
    return (cell.messages > 1 && cell.bytes == 16384)
           || (cell.messages == 1 && (cell.bytes == 65536 || cell.bytes == 4U << 20));
}

} // namespace

std::string leaflet_of(const Matrix &matrix)
{
    std::string text = kHead;
    for (const auto &[regime, about] : matrix.about) {
        std::string bars;
        for (const Cell &cell : matrix.cells) {
            bars += cell.regime == regime && is_shown(cell) ? bars_of(cell) : "";
        }
        text += bars.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", about, bars);
    }
    return text
           + fmt::format("<p class=\"soft\">Time of a message, one way, medians; two nodes. {}</p>\n",
                         matrix.setting)
           + kPicture
           + "<h2>Try it</h2>\n<pre>./fsbml demo                      # a virtual cluster on your machine: three minutes\n"
             "./fsbml rails --host n1,n2        # which networks do my nodes share?\n"
             "./fsbml build &amp;&amp; ./fsbml install\n"
             "mpirun --mca pml ob1 --mca bml fsbml ./my_program</pre>\n"
             "<p>Open MPI 4.1, 5.0 and 6.0 (its second release candidate), with the PML ob1. What it cannot do, and all figures, "
             "are in its README and docs/results.md.</p>\n"
             "</main>\n</body>\n</html>\n";
}

} // namespace fsbml::matrix
