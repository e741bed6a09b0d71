// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One trace from what each process of a job has recorded of its sends (docs/trace.md).
#ifndef FSBML_SIM_TRACE_MERGE_HPP
#define FSBML_SIM_TRACE_MERGE_HPP

#include "trace.hpp"

namespace fsbml::sim
{

struct TraceRecord {
    std::string name; // for errors: of its file
    std::istream *in = nullptr;
};

struct TraceMerge {
    std::string name; // of the trace
    // Receives are not recorded. A process receives a message before the first of its own sends that comes
    // more than so long after the message's; or all at its end, so that it sends when it did, come what may.
    static constexpr Time kAtEnd = -1;
    Time receive_after = kAtEnd;
};

// The records may come in any order. Decisions (decisions.hpp) are a record, too, if they are those of all
// messages. Holds a line of each, and the messages of the last `receive_after` or, at the end, a number for
// each pair of ranks. The result ends, as check() has it. Throws TraceError.
void merge(const std::vector<TraceRecord> &records, const TraceMerge &how, TraceSink &sink);

} // namespace fsbml::sim

#endif
