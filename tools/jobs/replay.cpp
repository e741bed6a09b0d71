// Does a trace (docs/trace.md): each rank sends, receives, computes and waits as it says there. Printed is
// the makespan of each round, the time until the last rank is done, as the simulator of a cluster has it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "sim/trace/trace.hpp"
#include "tools/session/session.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <exception>
#include <fstream>
#include <thread>
#include <vector>

namespace
{

using namespace fsbml::bench;
namespace sim = fsbml::sim;
using Clock = std::chrono::steady_clock;

const char *const about =
    "Does a trace, one rank of the job for each of its ranks. Sends are MPI_Isend, which are completed "
    "when a rank has done its ops; receives are MPI_Recv. Printed is the makespan: from a start that "
    "all ranks agree on until the last of them has done everything. No data is checked.";

const int data_tag = 1;
// From the agreement on a start to the start: all have heard of it by then, and the rails are idle again.
constexpr std::chrono::milliseconds notice{5};
// The nodes of a virtual cluster have one clock. A start farther off than this is of another one.
constexpr std::chrono::seconds far_off{10};

// What one rank does, and how large messages get.
class Part final : public sim::TraceSink
{
public:
    explicit Part(const Session &session) : session_(session) {}

    void begin(const sim::TraceHeader &header) override
    {
        if (header.ranks != static_cast<std::uint32_t>(session_.ranks())) {
            throw std::runtime_error("the trace is of " + std::to_string(header.ranks)
                                     + " ranks, but the job has " + std::to_string(session_.ranks()));
        }
    }
    void op(std::uint32_t rank, const sim::Op &op) override
    {
        if (op.kind == sim::Op::Kind::send) {
            if (op.bytes > INT_MAX) {
                throw std::runtime_error("a message of " + std::to_string(op.bytes)
                                         + " bytes is more than MPI_Isend takes");
            }
            ++messages;
            bytes += op.bytes;
            most = std::max(most, static_cast<std::size_t>(op.bytes));
        }
        if (rank == static_cast<std::uint32_t>(session_.rank())) {
            ops.push_back(op);
        }
    }
    void end() override {}

    std::vector<sim::Op> ops;
    std::uint64_t messages = 0, bytes = 0; // of all ranks
    std::size_t most = 0;                  // the largest message's bytes

private:
    const Session &session_;
};

class Player
{
public:
    Player(const Session &session, const Part &part)
        : session_(session), ops_(part.ops), out_(part.most + 1, 1), in_(part.most + 1)
    {
        const auto sends = std::count_if(ops_.begin(), ops_.end(),
                                         [](const sim::Op &op) { return op.kind == sim::Op::Kind::send; });
        requests_.reserve(static_cast<std::size_t>(sends));
    }

    // Returns this rank's time in ns.
    double round()
    {
        const Clock::time_point start = common_start();
        late_.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
        for (const sim::Op &op : ops_) {
            act(op, start);
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        const double time = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
        session_.rest_until_all_are_here();
        return time;
    }

    // How long after the common start it has begun, by round.
    const std::vector<double> &late() const { return late_; }

private:
    static std::chrono::nanoseconds nanoseconds(sim::Time time)
    {
        return std::chrono::nanoseconds(time / sim::kPsPerNs);
    }

    // Rank 0 says when.
    static Clock::time_point common_start()
    {
        MPI_Barrier(MPI_COMM_WORLD);
        long long at = (Clock::now() + notice).time_since_epoch() / std::chrono::nanoseconds(1);
        MPI_Bcast(&at, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        const Clock::time_point start{std::chrono::nanoseconds(at)};
        const Clock::time_point now = Clock::now();
        if (start > now + far_off || start < now - far_off) {
            return now; // as the barrier lets it go
        }
        // Ranks that share a processor leave it to those that have yet to hear of it; a rank that wakes may
        // be late.
        std::this_thread::sleep_until(start - notice / 4);
        spin_until(start);
        return start;
    }

    // Without MPI. Nodes of a virtual cluster that share a processor each have one in the trace: no rank
    // computes at another one's cost.
    static void spin_until(Clock::time_point time)
    {
        while (Clock::now() < time) {
            std::this_thread::yield();
        }
    }

    void act(const sim::Op &op, Clock::time_point start)
    {
        switch (op.kind) {
        case sim::Op::Kind::send:
            // Many may read the same bytes.
            requests_.emplace_back();
            MPI_Isend(out_.data(), static_cast<int>(op.bytes), MPI_BYTE, static_cast<int>(op.peer), data_tag,
                      MPI_COMM_WORLD, &requests_.back());
            break;
        case sim::Op::Kind::recv:
            MPI_Recv(in_.data(), static_cast<int>(in_.size()), MPI_BYTE,
                     op.peer == sim::kAnyPeer ? MPI_ANY_SOURCE : static_cast<int>(op.peer), data_tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case sim::Op::Kind::compute:
            spin_until(Clock::now() + nanoseconds(op.time));
            break;
        case sim::Op::Kind::until:
            await(start + nanoseconds(op.time));
            break;
        }
    }

    // The simulator's processes take in what arrives while they wait for a time: so does MPI, if it is asked.
    static void await(Clock::time_point time)
    {
        int found = 0;
        while (Clock::now() < time) {
            MPI_Iprobe(MPI_ANY_SOURCE, data_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        }
    }

    const Session &session_;
    const std::vector<sim::Op> &ops_;
    std::vector<unsigned char> out_, in_;
    std::vector<MPI_Request> requests_;
    std::vector<double> late_;
};

// All ranks read it, on whatever node they are. Empty if it went well here.
std::string trouble_of(const std::string &file, Part &part)
{
    std::ifstream stream(file);
    if (!stream) {
        return "cannot read '" + file + "'";
    }
    try {
        sim::read_trace(stream, part);
    } catch (const sim::TraceError &error) {
        return "'" + file + "', " + error.what();
    } catch (const std::exception &error) {
        return "'" + file + "': " + error.what();
    }
    return "";
}

// True if no rank has trouble; else one of those that have it tells.
bool all_well(const Session &session, const std::string &trouble)
{
    const int mine = trouble.empty() ? session.ranks() : session.rank();
    int first = 0;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == session.rank()) {
        std::fprintf(stderr, "replay: %s\n", trouble.c_str());
    }
    return first == session.ranks();
}

// A point for each rank: how late it has begun.
void print_late(Session &session, const std::vector<double> &late)
{
    const auto rounds = late.size();
    std::vector<double> all(rounds * static_cast<std::size_t>(session.ranks()));
    MPI_Gather(late.data(), static_cast<int>(rounds), MPI_DOUBLE, all.data(), static_cast<int>(rounds),
               MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (std::size_t at = 0; at < all.size(); at += rounds) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
        session.print({"",
                       "late",
                       "rank" + std::to_string(at / rounds),
                       1,
                       0,
                       "ns",
                       {first, first + static_cast<std::ptrdiff_t>(rounds)},
                       {}});
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::string trace;
    Options options("replay", about);
    options.add("trace", trace, std::vector<std::string>{}, "the file with the trace");
    Session session("replay", options, argc, argv);
    if (!session.ready()) {
        return session.exit_code();
    }
    Part part(session);
    if (!all_well(session, trace.empty() ? "no trace; give one by --trace" : trouble_of(trace, part))) {
        return 2;
    }
    Player player(session, part);
    const std::uint64_t messages = std::max<std::uint64_t>(part.messages, 1);
    session.measure(
        {"",
         "makespan",
         "",
         static_cast<int>(std::min<std::uint64_t>(messages, INT_MAX)),
         part.bytes / messages,
         "ns",
         {},
         {}},
        [&] { return player.round(); }, Session::Counts::worst);
    print_late(session, player.late());
    return 0;
}
