// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "whatif.hpp"

#include "sim/trace/trace.hpp"
#include "sim/traffic/traffic.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

namespace fsbml::whatif
{
namespace
{

namespace fs = std::filesystem;

std::ifstream opened(const std::string &path)
{
    std::ifstream stream(path);
    if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
        throw std::runtime_error(fmt::format("cannot read '{}', or it is empty", path));
    }
    return stream;
}

bool is_record(const std::string &path)
{
    std::ifstream stream(path);
    std::string word;
    stream >> word;
    return word == "fsbml-sends" || word == sim::DecisionReader::kFirstWord;
}

std::vector<std::string> records_in(const std::string &folder)
{
    std::vector<std::string> records;
    for (const auto &entry : fs::directory_iterator(folder)) {
        if (entry.is_regular_file() && is_record(entry.path().string())) {
            records.push_back(entry.path().string());
        }
    }
    if (records.empty()) {
        throw std::runtime_error(fmt::format("no file in '{}' is a record of a process", folder));
    }
    std::sort(records.begin(), records.end());
    return records;
}

sim::Workload merged(const std::vector<std::string> &files, const std::string &name, sim::Time receive_after)
{
    std::vector<std::unique_ptr<std::ifstream>> streams;
    std::vector<sim::TraceRecord> records;
    for (const std::string &file : files) {
        streams.push_back(std::make_unique<std::ifstream>(opened(file)));
        records.push_back({file, streams.back().get()});
    }
    sim::TraceCollector all;
    sim::merge(records, {name, receive_after}, all);
    return std::move(all.workload);
}

sim::Workload read(const std::vector<std::string> &paths, sim::Time receive_after)
{
    const std::string &first = paths.at(0);
    if (fs::is_directory(first) && paths.size() == 1) {
        return merged(records_in(first), fs::path(first).filename().string(), receive_after);
    }
    if (!fs::is_directory(first) && is_record(first)) {
        return merged(paths, "", receive_after);
    }
    if (paths.size() > 1) {
        throw std::runtime_error("give one trace, or one folder with records, or records");
    }
    std::ifstream stream = opened(first);
    try {
        return sim::read_trace(stream);
    } catch (const sim::TraceError &error) {
        throw std::runtime_error(fmt::format("'{}', {}", first, error.what()));
    }
}

// The simulator has rank r on node r % nodes.
void place(Job &job)
{
    std::vector<std::vector<sim::Op>> placed(std::size_t{job.nodes} * job.ranks_per_node);
    const auto place_of = [&](std::uint32_t rank) {
        return rank / job.ranks_per_node + job.nodes * (rank % job.ranks_per_node);
    };
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
        std::vector<sim::Op> &ops = placed[place_of(rank)];
        ops = std::move(job.workload.process[rank]);
        for (sim::Op &op : ops) {
            if (op.kind == sim::Op::Kind::send || op.kind == sim::Op::Kind::recv) {
                op.peer = op.peer == sim::kAnyPeer ? op.peer : place_of(op.peer);
            }
        }
    }
    job.workload.process = std::move(placed);
}

} // namespace

Job read_job(const std::vector<std::string> &paths, std::uint32_t ranks_per_node, sim::Time receive_after)
{
    Job job;
    job.workload = read(paths, receive_after);
    sim::check(job.workload); // names ranks as the trace does
    job.ranks = static_cast<std::uint32_t>(job.workload.process.size());
    job.ranks_per_node = std::min(ranks_per_node, job.ranks);
    job.nodes = (job.ranks + job.ranks_per_node - 1) / job.ranks_per_node;
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
        for (const sim::Op &op : job.workload.process[rank]) {
            job.clocked = job.clocked || (op.kind == sim::Op::Kind::until && op.time > 0);
            if (op.kind == sim::Op::Kind::send && rank / job.ranks_per_node != op.peer / job.ranks_per_node) {
                ++job.messages;
                job.bytes += op.bytes;
            }
        }
    }
    place(job);
    return job;
}

} // namespace fsbml::whatif
