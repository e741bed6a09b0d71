// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Workloads by hand, compared, and as text.
#ifndef FSBML_TESTS_SIM_WORKLOADS_HPP
#define FSBML_TESTS_SIM_WORKLOADS_HPP

#include "sim/trace/trace.hpp"

#include <algorithm>
#include <sstream>
#include <string>

namespace fsbml::sim
{

inline Op send(std::uint32_t to, std::uint64_t bytes = 1)
{
    return {Op::Kind::send, to, bytes, 0};
}

inline Op recv(std::uint32_t from)
{
    return {Op::Kind::recv, from, 0, 0};
}

// Field by field, not by text: what a writer loses must show.
inline bool same(const Workload &a, const Workload &b)
{
    const auto equal = [](const Op &x, const Op &y) {
        return x.kind == y.kind && x.peer == y.peer && x.bytes == y.bytes && x.time == y.time;
    };
    return a.name == b.name
           && std::equal(a.process.begin(), a.process.end(), b.process.begin(), b.process.end(),
                         [&](const std::vector<Op> &x, const std::vector<Op> &y) {
                             return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
                         });
}

inline std::string text_of(const Workload &w)
{
    std::ostringstream out;
    write_trace(out, w);
    return out.str();
}

inline Workload workload_of(const std::string &text)
{
    std::istringstream in(text);
    return read_trace(in);
}

} // namespace fsbml::sim

#endif
