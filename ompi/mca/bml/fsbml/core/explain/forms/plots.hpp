// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The plots of the page. Each is rows of a label, a bar of SVG and a value; bars are drawn in per cent of the
// width that there is, so that writing keeps its size on a phone.
#ifndef FSBML_EXPLAIN_PLOTS_HPP
#define FSBML_EXPLAIN_PLOTS_HPP

#include "explain/verdict/figures.hpp"

#include <string>

namespace fsbml
{

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

} // namespace fsbml

#endif
