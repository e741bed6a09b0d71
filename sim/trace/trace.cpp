// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "trace.hpp"

#include <ostream>
#include <utility>

namespace fsbml::sim
{
namespace
{

Op read_op(TraceLines &lines, std::uint32_t rank, std::uint32_t ranks)
{
    Op op;
    const std::string_view what = lines.word("what the rank does");
    if (what == "send") {
        op.kind = Op::Kind::send;
        op.peer = lines.rank("the peer", ranks);
        op.bytes = lines.number("the number of bytes");
    } else if (what == "recv") {
        op.kind = Op::Kind::recv;
        op.peer = lines.peer_or_any(ranks);
    } else if (what == "compute") {
        op.kind = Op::Kind::compute;
        op.time = lines.time("the time");
    } else if (what == "until") {
        op.kind = Op::Kind::until;
        op.time = lines.time("the time");
    } else {
        lines.fail("'" + std::string(what.substr(0, 40)) + "' is not send, recv, compute or until");
    }
    if ((op.kind == Op::Kind::send || op.kind == Op::Kind::recv) && op.peer == rank) {
        lines.fail("the peer is the rank itself");
    }
    lines.done();
    return op;
}

[[noreturn]] void refuse(std::uint32_t rank, const std::string &why)
{
    throw std::invalid_argument("rank " + std::to_string(rank) + ": a trace cannot say " + why);
}

} // namespace

void read_trace(std::istream &in, TraceSink &sink)
{
    TraceLines lines(in, "");
    TraceHeader header;
    if (!lines.next()) {
        lines.fail("there is no header: fsbml-trace 1 ranks N");
    }
    lines.keyword("fsbml-trace");
    if (const std::uint64_t version = lines.number("the version"); version != 1) {
        lines.fail("version " + std::to_string(version) + ", but only 1 is known");
    }
    lines.keyword("ranks");
    header.ranks = lines.ranks();
    if (lines.more()) {
        lines.keyword("name");
        header.name = lines.name();
    }
    sink.begin(header);

    std::uint64_t ops = 0;
    while (lines.next()) {
        if (lines.at("end")) {
            lines.end(ops);
            break;
        }
        const std::uint32_t rank = lines.rank("the rank", header.ranks);
        sink.op(rank, read_op(lines, rank, header.ranks));
        ++ops;
    }
    sink.end();
}

Workload read_trace(std::istream &in)
{
    TraceCollector all;
    read_trace(in, all);
    return std::move(all.workload);
}

void TraceWriter::begin(const TraceHeader &header)
{
    if (header.ranks < 1 || header.ranks > TraceLines::kMostRanks) {
        throw std::invalid_argument(std::to_string(header.ranks) + " ranks are not what a trace can have");
    }
    line_ = "fsbml-trace 1 ranks " + std::to_string(header.ranks);
    if (!header.name.empty()) {
        line_ += " name " + header.name;
        if (!valid_trace_name(header.name) || line_.size() > TraceLines::kLongest) {
            throw std::invalid_argument("a name that a trace cannot hold: " + header.name);
        }
    }
    line_ += '\n';
    ranks_ = header.ranks;
    ops_ = 0;
    out_ << line_;
}

void TraceWriter::op(std::uint32_t rank, const Op &op)
{
    if (rank >= ranks_) {
        refuse(rank, "what a rank does that is not there");
    }
    const bool message = op.kind == Op::Kind::send || op.kind == Op::Kind::recv;
    const bool any_rank = op.kind == Op::Kind::recv && op.peer == kAnyPeer;
    if (message ? !any_rank && (op.peer >= ranks_ || op.peer == rank) : op.peer != 0) {
        refuse(rank, "a peer of " + std::to_string(op.peer));
    }
    if (message ? op.time != 0 : op.time < 0) {
        refuse(rank, "a time of " + std::to_string(op.time) + " ps");
    }
    if (op.kind != Op::Kind::send && op.bytes != 0) {
        refuse(rank, "a size of an op that is no send");
    }
    line_ = std::to_string(rank);
    switch (op.kind) {
    case Op::Kind::send:
        line_ += " send " + std::to_string(op.peer) + ' ' + std::to_string(op.bytes);
        break;
    case Op::Kind::recv:
        line_ += any_rank ? " recv any" : " recv " + std::to_string(op.peer);
        break;
    case Op::Kind::compute:
    case Op::Kind::until:
        line_ += op.kind == Op::Kind::compute ? " compute " : " until ";
        append_ns(line_, op.time);
        break;
    default:
        refuse(rank, "an op of kind " + std::to_string(static_cast<int>(op.kind)));
    }
    line_ += '\n';
    out_ << line_;
    ++ops_;
}

void TraceWriter::end()
{
    out_ << "end " << std::to_string(ops_) << '\n' << std::flush;
    if (!out_) {
        throw std::runtime_error("the trace could not be written");
    }
}

void write_trace(std::ostream &out, const Workload &workload)
{
    if (workload.process.size() > TraceLines::kMostRanks) {
        throw std::invalid_argument(std::to_string(workload.process.size())
                                    + " ranks are more than a trace has");
    }
    TraceWriter writer(out);
    writer.begin({static_cast<std::uint32_t>(workload.process.size()), workload.name});
    for (std::uint32_t rank = 0; rank < workload.process.size(); ++rank) {
        for (const Op &op : workload.process[rank]) {
            writer.op(rank, op);
        }
    }
    writer.end();
}

} // namespace fsbml::sim
