// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A job report as text, JSON or a page with plots; where messages would go, as text.
#ifndef FSBML_EXPLAIN_FORMS_HPP
#define FSBML_EXPLAIN_FORMS_HPP

#include "api/fsbml_explain.h"
#include "explain/verdict/verdict.hpp"

#include <string>
#include <vector>

namespace fsbml
{

// text.cpp: the report as text, at most 100 columns wide.
std::string report_text(const fsbml_job_t &job);

// What kind of run it was: "Open MPI 5.0.7", "64 ranks on 8 nodes", "12.3 s", ...
std::vector<std::string> about_job(const fsbml_job_t &job);

// How sure a rail's fit is: "120 probes, less sure than wanted; shaped".
std::string fit_quality(const fsbml_fit_t &fit);

// json.cpp: the report as JSON (docs/report.schema.json): all of the summary and of the table. Units are in
// the names.
std::string report_json(const fsbml_job_t &job);

// page.cpp: the report as one page of HTML, with all that it needs in itself.
std::string report_page(const fsbml_job_t &job);

// ---- The plots of the page. Each is rows of a label, a bar of SVG and a value; bars are drawn in per cent
// of the width that there is, so that writing keeps its size on a phone.

// Text for HTML, in elements and in attributes.
std::string html(const std::string &text);

// A rail's colour as a class of the page's style: "c0" to "c5" for those that carried most, "c6" for all
// others.
class Colours
{
public:
    explicit Colours(const Figures &f);
    const std::string &of(std::size_t rail) const { return name_[rail]; }
    std::string legend(const Figures &f) const;

private:
    std::vector<std::string> name_;
};

std::string shares_plot(const Figures &f, const Colours &c);       // of all messages and bytes
std::string sizes_plot(const Figures &f, const Colours &c);        // of bytes, by size of message
std::string arrivals_plot(const Figures &f, const Colours &c);     // observed by predicted
std::string alternatives_plot(const Figures &f, const Colours &c); // time under way
std::string rates_plot(const Figures &f, const Colours &c);        // over time, where they changed
std::string ranks_plot(const Figures &f, const Colours &c);        // the slowest

// What the scheduler would do with messages of several sizes between two hosts, while nothing else is sent.
std::string plan_text(const fsbml_plan_t &plan);

} // namespace fsbml

#endif
