// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How the page looks. Colours of rails can be told apart by the colour-blind, and have a contrast of 3 and
// more to the ground, writing of 4.5 and more, in light and in dark.
#ifndef FSBML_EXPLAIN_STYLE_HPP
#define FSBML_EXPLAIN_STYLE_HPP

namespace fsbml
{

constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --ground: #fbfbfa; --card: #ffffff; --ink: #1c1f24; --soft: #5b626d; --line: #e2e4e8;
  --empty: #eef0f3; --alarm: #b3261e; --fine: #1f5fa8; --cut: #ffffff;
  --c0: #1f5fa8; --c1: #b85607; --c2: #0d8577; --c3: #a8327a; --c4: #7a6a00; --c5: #5a4fcf; --c6: #68717e; --done: #1c1f24; --rule: #68717e;
  --on: #ffffff; }
@media (prefers-color-scheme: dark) {
:root { --ground: #14171b; --card: #1c2026; --ink: #e8eaed; --soft: #a3abb6; --line: #333941; --empty: #2a2f37;
  --alarm: #ff8a80; --fine: #6fb0f5; --cut: #1c2026;
  --c0: #6fb0f5; --c1: #f5a250; --c2: #4fc7b3; --c3: #ee8cc4; --c4: #d6c544; --c5: #aaa2ff; --c6: #98a1ad; --done: #e8eaed; --rule: #98a1ad;
  --on: #14171b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100%;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
main { max-width: 58rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
.over { margin: 0 0 .5rem; color: var(--soft); font-size: .875rem; }
h1 { margin: 0 0 1rem; font-size: clamp(1.4rem, 1rem + 2vw, 2rem); line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: pretty; }
.verdict { padding: .25rem 0 .25rem 1.25rem; border-left: 5px solid var(--fine); margin-bottom: 1.5rem; }
.verdict.alarm { border-color: var(--alarm); }
.verdict .mark { display: block; margin-bottom: .25rem; font-size: .875rem; font-weight: 650; color: var(--fine); }
.verdict.alarm .mark { color: var(--alarm); }
.verdict p { margin: 0 0 .4rem; font-size: 1.0625rem; max-width: 44rem; }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0 0 2rem; padding: 0; list-style: none; color: var(--soft); font-size: .9375rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.25rem 1.25rem; margin: 0 0 1.25rem; }
h2 { margin: 0 0 .15rem; font-size: 1.125rem; line-height: 1.35; font-weight: 650; }
.caption { margin: 0 0 .9rem; color: var(--soft); font-size: .875rem; max-width: 46rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: 0 0 .75rem; font-size: .875rem; }
.key { display: inline-flex; align-items: center; gap: .4rem; overflow-wrap: anywhere; }
.row { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr) 14rem; column-gap: .9rem; align-items: center; font-size: .875rem; margin: .1rem 0; }
.tight .row { margin: 0; }
.label { overflow-wrap: anywhere; line-height: 1.25; }
.value { color: var(--soft); line-height: 1.25; }
svg.bar { display: block; width: 100%; overflow: visible; }
.ground { fill: var(--empty); }
.part { stroke: var(--card); stroke-width: 1.5; }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); } .c3 { fill: var(--c3); }
.c4 { fill: var(--c4); } .c5 { fill: var(--c5); } .c6 { fill: var(--c6); } .done { fill: var(--done); } .rule { fill: var(--rule); }
text { font-size: 12.5px; font-weight: 600; text-anchor: middle; }
text.in { fill: var(--on); }
text.tick { fill: var(--soft); font-weight: 400; }
text.strong { fill: var(--ink); font-weight: 650; }
.grid { stroke: var(--line); stroke-width: 1; }
.one { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; }
.whisker { opacity: .45; }
.edge { stroke: var(--card); stroke-width: 7; }
.halo { stroke: var(--card); stroke-width: 4; }
.mean { stroke: var(--ink); stroke-width: 2; }
.median { stroke: var(--ink); stroke-width: 3; }
.cut { stroke: var(--cut); stroke-width: 4; }
.scroll { overflow-x: auto; margin: 0 -.25rem; padding: 0 .25rem; }
table { border-collapse: collapse; font-size: .875rem; min-width: 100%; }
th, td { text-align: right; padding: .4rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
th { color: var(--soft); font-weight: 500; vertical-align: bottom; white-space: normal; line-height: 1.3; }
tr:last-child td { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; min-width: 5rem; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
tbody th { text-align: left; overflow-wrap: anywhere; padding-bottom: 0; border-bottom: 0; color: var(--ink); font-weight: 650; }
th small { font-weight: 400; color: var(--soft); font-size: .8125rem; margin-left: .4rem; }
td small { display: block; color: var(--soft); font-size: .8125rem; }
ul.list { margin: .4rem 0 0; padding-left: 1.1rem; font-size: .9375rem; }
ul.list li { margin: .15rem 0; }
ul.notes { color: var(--soft); font-size: .8125rem; }
footer { color: var(--soft); font-size: .8125rem; }
@media (max-width: 40rem) {
  main { padding: 1.25rem .9rem 2rem; }
  section { padding: .9rem .9rem 1rem; }
  .row { grid-template-columns: minmax(0, 1fr) auto; margin: .45rem 0; column-gap: .6rem; }
  .row svg.bar { grid-column: 1 / -1; grid-row: 2; }
  .value { text-align: right; }
  .row.axis .value { grid-row: 3; grid-column: 1 / -1; }
}
@media print { section { break-inside: avoid; } }
)";

} // namespace fsbml

#endif
