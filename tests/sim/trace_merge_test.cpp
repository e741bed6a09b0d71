// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Records of processes merged to a trace.
#include "sim/trace/trace.hpp"
#include "sim/traffic/traffic.hpp"
#include "workloads.hpp"

#include "../unit/test.hpp"

namespace fsbml::sim
{
namespace
{

std::string merged(const std::vector<std::string> &records, Time after = TraceMerge::kAtEnd)
{
    std::deque<std::istringstream> in;
    std::vector<TraceRecord> sources;
    for (const std::string &r : records) {
        in.emplace_back(r);
        sources.push_back({"record " + std::to_string(in.size()), &in.back()});
    }
    std::ostringstream out;
    TraceWriter writer(out);
    merge(sources, {"job", after}, writer);
    return out.str();
}

// ------------------------------------------------------------------- merge

// Rank 1 begins 100 ns after rank 0: its own 50 ns are 150.
const std::vector<std::string> kTwo{"# of rank 1\nfsbml-sends 1 rank 1 ranks 2 origin 1764000000000000100\n"
                                    "50 0 7\n400 0 8\nend 2\n",
                                    "fsbml-sends 1 rank 0 ranks 2 origin 1764000000000000000\n"
                                    "0 1 1\n0 1 2\n200.5 1 3 # the third\nend 3"};

TEST(Merge, KeepsTheTimesOfSendsAndReceivesAtTheEnd)
{
    EXPECT_EQ(merged(kTwo), "fsbml-trace 1 ranks 2 name job\n"
                            "0 send 1 1\n"
                            "0 send 1 2\n"
                            "1 until 150\n"
                            "1 send 0 7\n"
                            "0 until 200.5\n"
                            "0 send 1 3\n"
                            "1 until 500\n"
                            "1 send 0 8\n"
                            "0 recv 1\n"
                            "0 recv 1\n"
                            "1 recv 0\n"
                            "1 recv 0\n"
                            "1 recv 0\n"
                            "end 13\n");
}

TEST(Merge, ReceivesBeforeWhatCameLater)
{
    // After 100 ns: rank 1 has both of time 0 before its send of 150, rank 0 has that of 150 at 250, not at
    // 200.5.
    EXPECT_EQ(merged(kTwo, 100 * kPsPerNs), "fsbml-trace 1 ranks 2 name job\n"
                                            "0 send 1 1\n"
                                            "0 send 1 2\n"
                                            "1 recv 0\n"
                                            "1 recv 0\n"
                                            "1 until 150\n"
                                            "1 send 0 7\n"
                                            "0 until 200.5\n"
                                            "0 send 1 3\n"
                                            "0 recv 1\n"
                                            "1 recv 0\n"
                                            "1 until 500\n"
                                            "1 send 0 8\n"
                                            "0 recv 1\n"
                                            "end 13\n");
    // Due at the very time of a send: after it.
    EXPECT_EQ(merged({"fsbml-sends 1 rank 0 ranks 2 origin 0\n5 1 1\nend 1\n",
                      "fsbml-sends 1 rank 1 ranks 2 origin 0\n5 0 1\nend 1\n"},
                     0),
              "fsbml-trace 1 ranks 2 name job\n"
              "0 until 5\n"
              "0 send 1 1\n"
              "1 until 5\n"
              "1 send 0 1\n"
              "1 recv 0\n"
              "0 recv 1\n"
              "end 6\n");
}

// Whatever was sent when: the trace ends, and has each rank's sends with their times and in their order.
TEST(Merge, EndsAndLosesNothing)
{
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        TrafficDice dice(seed);
        const auto n = static_cast<std::uint32_t>(dice.integer(2, 9));
        std::vector<std::string> records;
        std::vector<std::vector<Op>> sent(n); // with the time of each
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            const std::uint64_t origin = rank == 0 ? 0 : dice.integer(0, 50);
            std::string text = "fsbml-sends 1 rank " + std::to_string(rank) + " ranks " + std::to_string(n)
                               + " origin " + std::to_string(origin) + '\n';
            std::uint64_t at = 0;
            const std::uint64_t count = dice.integer(0, 40);
            for (std::uint64_t i = 0; i < count; ++i) {
                at += dice.integer(0, 3) * dice.integer(0, 9); // often at the same time
                sent[rank].push_back({Op::Kind::send, dice.peer(n, rank), dice.integer(0, 9999),
                                      static_cast<Time>(origin + at) * kPsPerNs});
                text += std::to_string(at) + ' ' + std::to_string(sent[rank].back().peer) + ' '
                        + std::to_string(sent[rank].back().bytes) + '\n';
            }
            records.push_back(text + "end " + std::to_string(count) + '\n');
        }
        std::swap(records[0], records[dice.integer(0, n - 1)]);
        for (const Time after : {TraceMerge::kAtEnd, Time{0}, 7 * kPsPerNs, 1000 * kPsPerNs}) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", after " + std::to_string(after));
            const Workload w = workload_of(merged(records, after));
            EXPECT_NO_THROW(check(w));
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                std::size_t i = 0;
                Time clock = 0;
                for (const Op &op : w.process[rank]) {
                    clock = op.kind == Op::Kind::until ? op.time : clock;
                    if (op.kind == Op::Kind::send) {
                        ASSERT_LT(i, sent[rank].size());
                        EXPECT_EQ(op.peer, sent[rank][i].peer);
                        EXPECT_EQ(op.bytes, sent[rank][i].bytes);
                        EXPECT_EQ(clock, sent[rank][i++].time);
                    }
                }
                EXPECT_EQ(i, sent[rank].size());
            }
        }
    }
}

TEST(Merge, RefusesByRecordAndLine)
{
    const std::string other = "fsbml-sends 1 rank 1 ranks 2 origin 0\nend 0\n";
    const std::string head = "fsbml-sends 1 rank 0 ranks 2 origin 0\n";
    const struct {
        std::string text;
        const char *says;
    } cases[] = {
        {"", "record 1, line 1: there is no header"},
        {"fsbml-trace 1\n", "record 1, line 1: 'fsbml-trace' where 'fsbml-sends' is expected"},
        {"fsbml-sends 3 rank 0 ranks 2 origin 0\n", "record 1, line 1: version 3"},
        {"fsbml-sends 1 rank 2 ranks 2 origin 0\n", "record 1, line 1: rank 2 of 2"},
        {"fsbml-sends 1 rank 0 ranks 3 origin 0\n", "record 1, line 1: of 3 ranks, but there are 2 records"},
        {"fsbml-sends 1 rank 0 ranks 2\n", "record 1, line 1: origin is missing"},
        {"fsbml-sends 1 rank 0 ranks 2 origin 18446744073709551615\nend 0\n",
         "record 1, line 1: begins more than 106"},
        {"fsbml-sends 1 rank 1 ranks 2 origin 0\nend 0\n", "record 2, line 1: rank 1 is there twice"},
        {head, "record 1, line 2: it is cut off"},
        {head + "5 1 1\n", "record 1, line 3: it is cut off"},
        {head + "5 1 1\n4 1 1\nend 2\n", "record 1, line 3: its time stamp is before"},
        {head + "5 0 1\nend 1\n", "record 1, line 2: the peer is the rank itself"},
        {head + "5 2 1\nend 1\n", "record 1, line 2: the peer is 2"},
        {head + "5 any 1\nend 1\n", "record 1, line 2: the peer is 'any'"},
        {head + "x 1 1\nend 1\n", "record 1, line 2: the time stamp is 'x'"},
        {head + "5 1\nend 1\n", "record 1, line 2: the number of bytes is missing"},
        {head + "5 1 1 1\nend 1\n", "record 1, line 2: unexpected '1'"},
        {head + "5 1 1\nend 2\n", "record 1, line 3: ends after 2, but 1"},
        {head + "end 0\n5 1 1\n", "record 1, line 3: something comes after the end"},
    };
    for (const auto &c : cases) {
        try {
            merged({c.text, other});
            ADD_FAILURE() << "accepted: " << c.text;
        } catch (const TraceError &e) {
            EXPECT_NE(std::string(e.what()).find(c.says), std::string::npos)
                << e.what() << "\nnot: " << c.says;
        }
    }
    EXPECT_THROW(merged({}), std::invalid_argument);
    EXPECT_THROW(merged(kTwo, -2), std::invalid_argument);
}

} // namespace
} // namespace fsbml::sim
