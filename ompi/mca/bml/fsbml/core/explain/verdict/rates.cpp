// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/verdict/verdict.hpp"

namespace fsbml
{

void add_changed(const Figures &f, bool fell, std::vector<std::string> &to)
{
    for (const Rates &r : f.rates) {
        if (fell != r.fell()) {
            continue;
        }
        const fsbml_change_t &first = *r.changes.front();
        const std::size_t n = r.changes.size();
        const std::string rail = clean_of(first.name).empty() ? f.name[r.rail] : clean_of(first.name);
        const std::string node = clean_of(first.node);
        std::string s = rail + " changed its rate" + (node.empty() ? "" : " on " + node)
                        + (n > 2 ? ' ' + count_text(n) + " times, between " + digits3(r.least) + " and "
                                       + digits3(r.most) + " Mbit/s; first "
                                 : ": ")
                        + "from " + digits3(first.before_mbps) + " to " + digits3(first.after_mbps)
                        + " Mbit/s, " + time_text(static_cast<double>(first.ns)) + " into the job";
        if (2 == n) {
            s += ", and to " + digits3(r.changes[1]->after_mbps) + " after "
                 + time_text(static_cast<double>(r.changes[1]->ns));
        }
        to.push_back(s + '.');
    }
}

} // namespace fsbml
