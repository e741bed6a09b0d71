// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Lines of words, with comments: what a trace and the files that are merged to one have in common.
#ifndef FSBML_SIM_TRACE_LINES_HPP
#define FSBML_SIM_TRACE_LINES_HPP

#include "trace.hpp"

#include <istream>
#include <string_view>

namespace fsbml::sim
{

class TraceLines
{
public:
    TraceLines(const TraceLines &) = delete;
    TraceLines &operator=(const TraceLines &) = delete;

    static constexpr std::size_t kLongest = 1000; // characters of a line
    static constexpr std::size_t kLongestOfNames = 6000;
    static constexpr std::uint32_t kMostRanks = 1U << 20;

    // `source` names it in errors; empty: there is only one.
    TraceLines(std::istream &in, std::string source);

    // From the next line on there may be names of all rails, and in names a '#': comments begin with a word.
    void expect_names()
    {
        longest_ = kLongestOfNames;
        names_ = true;
    }

    // The next line that is not empty, without its comment. False at the end.
    bool next();
    // Its next word; what is named by `what` is missing if there is none.
    std::string_view word(const char *what);
    std::uint64_t number(const char *what); // 0 to 2^64 - 1, decimal
    std::uint64_t added(const char *what);  // the same with a '+' before
    std::uint32_t ranks();                  // 1 to kMostRanks
    std::uint32_t rank(const char *what, std::uint32_t ranks);
    std::uint32_t peer_or_any(std::uint32_t ranks);
    Time time(const char *what); // ns with up to three decimals, 0 or more
    void keyword(const char *is);
    bool at(std::string_view is) const; // begins the line with that word
    // The line "end N", after which nothing may come, counts them right.
    void end(std::uint64_t count);
    std::string name(); // all that is left, inner spaces kept
    bool more();        // words on the line
    void done();        // nothing may be left

    [[noreturn]] void fail(const std::string &why) const { throw TraceError(source_, line_, why); }

private:
    bool read();

    std::istream &in_;
    std::string source_;
    std::string text_;
    std::string_view left_;
    std::uint64_t line_ = 0;
    bool over_ = false;
    std::size_t longest_ = kLongest;
    bool names_ = false;
};

// Neither empty nor with a character that would not come back.
bool valid_trace_name(const std::string &name);

// A time as the reader takes it: ns, and decimals only if need be.
void append_ns(std::string &to, Time time);

} // namespace fsbml::sim

#endif
