// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The text form of workloads, docs/trace.md, read and written an op at a time: no more than a line is held.
#ifndef FSBML_SIM_TRACE_TRACE_HPP
#define FSBML_SIM_TRACE_TRACE_HPP

#include "sim/job/workload.hpp"

#include <iosfwd>
#include <stdexcept>
#include <string>

namespace fsbml::sim
{

struct TraceHeader {
    std::uint32_t ranks = 0;
    std::string name;
};

// Takes a trace: its header, then ops, those of a rank in its order, then the end.
class TraceSink
{
public:
    virtual ~TraceSink() = default;
    virtual void begin(const TraceHeader &header) = 0;
    virtual void op(std::uint32_t rank, const Op &op) = 0;
    virtual void end() = 0;
};

// Keeps all of it.
class TraceCollector final : public TraceSink
{
public:
    void begin(const TraceHeader &header) override
    {
        workload.name = header.name;
        workload.process.resize(header.ranks);
    }
    void op(std::uint32_t rank, const Op &op) override { workload.process.at(rank).push_back(op); }
    void end() override {}

    Workload workload;
};

// Malformed input: "line 7: ..." or "NAME, line 7: ...".
class TraceError : public std::runtime_error
{
public:
    TraceError(const std::string &source, std::uint64_t line, const std::string &why);
    std::uint64_t line() const { return line_; }

private:
    std::uint64_t line_;
};

// Throws TraceError, and std::runtime_error if the stream itself fails. That receives match sends it does not
// look at: check() of traffic.hpp does.
void read_trace(std::istream &in, TraceSink &sink);
Workload read_trace(std::istream &in);

// Throws std::invalid_argument for what the form cannot say (a negative time, a peer that does not exist, a
// size of a receive, a name with a control character), std::runtime_error if the stream fails.
class TraceWriter : public TraceSink
{
public:
    explicit TraceWriter(std::ostream &out) : out_(out) {}
    void begin(const TraceHeader &header) override;
    void op(std::uint32_t rank, const Op &op) override;
    void end() override;

private:
    std::ostream &out_;
    std::uint32_t ranks_ = 0;
    std::uint64_t ops_ = 0;
    std::string line_;
};
void write_trace(std::ostream &out, const Workload &workload);

} // namespace fsbml::sim

#endif
