// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Many summaries made one, and the way to another process.
#include "summaries.hpp"

#include "explain/account/account.hpp"
#include "formats/wire.hpp"

#include "test.hpp"

#include <initializer_list>

namespace
{

void text(char *to, const char *from)
{
    std::strcpy(to, from);
}

} // namespace

TEST(Classes, GoUpToTheirLimits)
{
    EXPECT_EQ(fsbml::class_of(0), 0U);
    for (std::uint32_t c = 0; c + 1 < FSBML_CLASSES; ++c) {
        EXPECT_EQ(fsbml::class_of(fsbml::class_limit(c)), c);
        EXPECT_EQ(fsbml::class_of(fsbml::class_limit(c) + 1), c + 1);
    }
    EXPECT_EQ(fsbml::class_of(~std::uint64_t{0}), FSBML_CLASSES - 1);
    EXPECT_EQ(fsbml::class_limit(FSBML_CLASSES - 1), 0U);
}

// Rails are known by their keys, whatever their order; sums are sums, extremes extremes.
TEST(Merge, AddsRailsByTheirKeys)
{
    const SummaryPtr a = summary({"x", "y"}), b = summary({"z", "y"});
    a->rail[1].bytes = 10;
    b->rail[1].bytes = 5;
    b->rail[0].bytes = 7;
    a->rail[1].backlog_max_ns = 100;
    b->rail[1].backlog_max_ns = 200;
    b->rail[1].backlog_max_rank = 4;
    a->duration_ns = 9;
    b->duration_ns = 8;
    a->n_ranks = b->n_ranks = 1;
    a->rank[0].time_ns = 5;
    b->rank[0].time_ns = 6;
    b->rank[0].rank = 1;
    b->rank[0].rail_share[0] = 300;
    b->rank[0].rail_share[1] = 700;
    fsbml_summary_merge(a.get(), b.get());
    ASSERT_EQ(a->n_rails, 3U);
    EXPECT_STREQ(a->rail[2].key, "z");
    EXPECT_EQ(a->rail[1].bytes, 15U);
    EXPECT_EQ(a->rail[2].bytes, 7U);
    EXPECT_EQ(a->rail[1].backlog_max_ns, 200U);
    EXPECT_EQ(a->rail[1].backlog_max_rank, 4U);
    EXPECT_EQ(a->rail[1].processes, 2U);
    EXPECT_EQ(a->heard, 2U);
    EXPECT_EQ(a->duration_ns, 9U);
    ASSERT_EQ(a->n_ranks, 2U);
    EXPECT_EQ(a->rank[0].rank, 1U); // it waited longer
    EXPECT_EQ(a->rank[0].rail_share[2], 300U);
    EXPECT_EQ(a->rank[0].rail_share[1], 700U);
    EXPECT_EQ(a->rank[0].rail_share[0], 0U);
}

// Two interfaces in one network have one key.
TEST(Merge, KeepsRailsOfOneKeyApart)
{
    const SummaryPtr a = summary({"x", "y", "x"}), b = summary({"x", "x", "x"});
    for (std::uint32_t i = 0; i < 3; ++i) {
        a->rail[i].bytes = 1U << i;
        b->rail[i].bytes = 10U << i;
    }
    fsbml_summary_merge(a.get(), b.get());
    ASSERT_EQ(a->n_rails, 4U);
    const std::uint64_t bytes[] = {1 + 10, 2, 4 + 20, 40};
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(a->rail[i].bytes, bytes[i]) << i;
    }
    fsbml_summary_merge(a.get(), b.get());
    EXPECT_EQ(a->n_rails, 4U);
    EXPECT_EQ(a->rail[3].bytes, 80U);
}

// A large job that runs for hours has more arrivals than 32 bits count, and an overflow would look like late
// messages.
TEST(Merge, CountsTheArrivalsOfLongJobs)
{
    const SummaryPtr a = summary({"x"}), b = summary({"x"});
    a->rail[0].ratio[32] = b->rail[0].ratio[32] = 3000000000U;
    fsbml_summary_merge(a.get(), b.get());
    EXPECT_EQ(a->rail[0].ratio[32], 6000000000U);
}

// Of one process' peers, too, the farthest stay, in whatever order they were found.
TEST(Merge, KeepsTheFarthestPeers)
{
    const SummaryPtr s = summary({"x"});
    for (std::uint32_t i = 0; i < 100; ++i) {
        fsbml_summary_peer_t peer{};
        peer.to = i;
        peer.extra_ns = 1 + i * 37 % 100;
        fsbml_summary_add_peer(s.get(), &peer);
    }
    ASSERT_EQ(s->n_peers, static_cast<std::uint32_t>(FSBML_MOST_PEERS));
    EXPECT_EQ(s->more_peers, 100U - FSBML_MOST_PEERS);
    for (std::uint32_t i = 0; i < FSBML_MOST_PEERS; ++i) {
        EXPECT_EQ(s->peer[i].extra_ns, 100U - i);
    }
}

// A rail that was slow at first and is dead now is dead, and the rank that has found the cause is believed.
TEST(Merge, TakesTheWordThatTellsMost)
{
    const auto told = [](std::initializer_list<std::uint32_t> kinds) {
        const SummaryPtr all = summary({"x"});
        for (const std::uint32_t kind : kinds) {
            const SummaryPtr one = summary({"x"});
            one->n_faults = 1;
            text(one->fault[0].rail, "x");
            one->fault[0].kind = kind;
            fsbml_summary_merge(all.get(), one.get());
        }
        EXPECT_EQ(all->n_faults, 1U);
        EXPECT_EQ(all->more_faults, 0U);
        return all->fault[0].kind;
    };
    EXPECT_EQ(told({FSBML_FAULT_ONLY_SLOW, FSBML_FAULT_CUT}), FSBML_FAULT_CUT);
    EXPECT_EQ(told({FSBML_FAULT_CUT, FSBML_FAULT_ONLY_SLOW}), FSBML_FAULT_CUT);
    EXPECT_EQ(told({FSBML_FAULT_OTHER, FSBML_FAULT_MTU}), FSBML_FAULT_MTU);
    EXPECT_EQ(told({FSBML_FAULT_MTU, FSBML_FAULT_OTHER}), FSBML_FAULT_MTU);
    EXPECT_EQ(told({FSBML_FAULT_ONLY_SLOW, FSBML_FAULT_OTHER, FSBML_FAULT_ONLY_SLOW}), FSBML_FAULT_OTHER);
}

// 10,000 ranks with something to tell: what is kept is the gravest, each once, and the rest is counted.
TEST(Merge, StaysBounded)
{
    const SummaryPtr all = summary({"x"});
    all->heard = 0;
    for (std::uint32_t r = 0; r < 10000; ++r) {
        const SummaryPtr one = summary({r % 50 == 0 ? ("k" + std::to_string(r)).c_str() : "x"});
        one->n_faults = 2;
        text(one->fault[0].rail, "x");
        text(one->fault[0].from,
             ("node" + std::to_string(r / 100)).c_str()); // 100 ranks a node tell the same
        one->fault[0].kind = 1 + r / 100;
        text(one->fault[1].rail, "y");
        one->fault[1].kind = 500;
        one->n_peers = 1;
        one->peer[0].extra_ns = (r * 7919) % 10007;
        one->n_ranks = 1;
        one->rank[0].rank = r;
        one->rank[0].time_ns = (r * 7919) % 10007;
        fsbml_summary_merge(all.get(), one.get());
    }
    EXPECT_EQ(all->heard, 10000U);
    EXPECT_EQ(all->n_rails, static_cast<std::uint32_t>(FSBML_MAX_RAILS));
    ASSERT_EQ(all->n_faults, static_cast<std::uint32_t>(FSBML_MOST_FAULTS));
    EXPECT_EQ(all->fault[0].kind, 1U);
    EXPECT_EQ(all->fault[FSBML_MOST_FAULTS - 1].kind, static_cast<std::uint32_t>(FSBML_MOST_FAULTS));
    EXPECT_GT(all->more_faults, 0U);
    ASSERT_EQ(all->n_peers, static_cast<std::uint32_t>(FSBML_MOST_PEERS));
    EXPECT_EQ(all->n_peers + all->more_peers, 10000U);
    for (std::uint32_t i = 1; i < FSBML_MOST_RANKS; ++i) {
        EXPECT_GE(all->rank[i - 1].time_ns, all->rank[i].time_ns);
    }
    EXPECT_EQ(all->rank[0].time_ns, 10006U);
}

namespace
{

// Every member is something else.
SummaryPtr full()
{
    SummaryPtr s(new fsbml_summary_t);
    auto *const bytes = reinterpret_cast<unsigned char *>(s.get());
    std::mt19937 dice(7);
    for (std::size_t i = 0; i < sizeof *s; ++i) {
        bytes[i] = static_cast<unsigned char>('A' + dice() % 26);
    }
    s->n_rails = FSBML_MAX_RAILS;
    s->n_faults = FSBML_MOST_FAULTS;
    s->n_peers = FSBML_MOST_PEERS;
    s->n_ranks = FSBML_MOST_RANKS;
    for (auto &r : s->rail) {
        r.key[60] = r.name[63] = r.about[100] = 0;
    }
    for (auto &f : s->fault) {
        f.rail[63] = f.from[5] = f.to[0] = f.why[159] = 0;
    }
    for (auto &p : s->peer) {
        p.rail[63] = 0;
    }
    for (auto &r : s->rank) {
        r.node[63] = 0;
    }
    s->changes.n = FSBML_MOST_CHANGES;
    for (std::uint32_t i = 0; i < FSBML_MOST_CHANGES; ++i) {
        fsbml_change_t &c = s->changes.change[i];
        c.rail = i % FSBML_MAX_RAILS;
        c.name[63] = c.node[63] = 0;
        c.ns = 1000 + i / 2;
        c.before_mbps = 1.0 + i / 3.0;
        c.after_mbps = 100.0 / (1.0 + i);
    }
    return s;
}

} // namespace

TEST(SummaryRecord, ComesBackAsItWas)
{
    const SummaryPtr s = full(), read(new fsbml_summary_t{});
    std::vector<unsigned char> buffer(fsbml_summary_packed_max()), again(buffer.size());
    const long len = fsbml_summary_pack(s.get(), buffer.data(), buffer.size());
    ASSERT_GT(len, 0);
    EXPECT_LT(len, 65536); // one eager message also with 32 rails
    ASSERT_EQ(fsbml_summary_unpack(read.get(), buffer.data(), static_cast<std::size_t>(len)), 0);
    ASSERT_EQ(fsbml_summary_pack(read.get(), again.data(), again.size()), len);
    EXPECT_EQ(buffer, again);
    EXPECT_EQ(read->rail[31].by_size[8].observed_ns, s->rail[31].by_size[8].observed_ns);
    EXPECT_EQ(read->rank[15].rail_share[31], s->rank[15].rail_share[31]);
    EXPECT_STREQ(read->fault[15].why, s->fault[15].why);
    EXPECT_EQ(read->changes.change[63].ns, s->changes.change[63].ns);
    EXPECT_DOUBLE_EQ(read->changes.change[63].after_mbps, 100.0 / 64.0);
    EXPECT_EQ(fsbml_summary_pack(s.get(), buffer.data(), 100), -ENOSPC);
}

TEST(SummaryRecord, RefusesWhatIsNone)
{
    const SummaryPtr s = full(), read(new fsbml_summary_t{});
    std::vector<unsigned char> buffer(fsbml_summary_packed_max());
    const auto len = static_cast<std::size_t>(fsbml_summary_pack(s.get(), buffer.data(), buffer.size()));
    std::mt19937 dice(11);
    for (int i = 0; i < 300; ++i) {
        auto damaged = buffer;
        damaged[dice() % len] ^= static_cast<unsigned char>(1U << dice() % 8);
        EXPECT_LT(fsbml_summary_unpack(read.get(), damaged.data(), len), 0);
    }
    for (const std::size_t cut : {std::size_t{0}, std::size_t{15}, len / 2, len - 1}) {
        EXPECT_EQ(fsbml_summary_unpack(read.get(), buffer.data(), cut), -EBADMSG);
    }
    EXPECT_EQ(read->n_rails, 0U); // unchanged
    s->n_rails = FSBML_MAX_RAILS + 1;
    EXPECT_EQ(fsbml_summary_pack(s.get(), buffer.data(), buffer.size()), -EINVAL);
}

// Whole, and yet nothing that a process could have told.
TEST(SummaryRecord, RefusesChangesOfRatesThatAreNone)
{
    const std::vector<std::function<void(fsbml_changes_t &)>> wrongs = {
        [](auto &c) { c.n = FSBML_MOST_CHANGES + 1; },
        [](auto &c) { c.change[5].rail = FSBML_MAX_RAILS; },
        [](auto &c) { c.change[5].ns = c.change[4].ns - 1; },
        [](auto &c) { c.change[5].before_mbps = 0.0; },
        [](auto &c) { c.change[5].after_mbps = -20.0; },
        [](auto &c) { c.change[5].after_mbps = std::numeric_limits<double>::quiet_NaN(); },
        [](auto &c) { c.change[5].before_mbps = std::numeric_limits<double>::infinity(); },
    };
    std::vector<unsigned char> buffer(fsbml_summary_packed_max());
    for (std::size_t i = 0; i < wrongs.size(); ++i) {
        const SummaryPtr s = full();
        wrongs[i](s->changes);
        EXPECT_EQ(fsbml_summary_pack(s.get(), buffer.data(), buffer.size()), -EINVAL) << i;
    }
    // The same from a process that packs what it should not: of the bytes, only one rate is another one.
    const SummaryPtr s = full(), read(new fsbml_summary_t{});
    s->changes.change[63].after_mbps = 12345.0;
    const auto len = static_cast<std::size_t>(fsbml_summary_pack(s.get(), buffer.data(), buffer.size()));
    const double good = 12345.0, wrong = -12345.0;
    const auto at = std::search(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(len),
                                reinterpret_cast<const unsigned char *>(&good),
                                reinterpret_cast<const unsigned char *>(&good) + sizeof good);
    ASSERT_NE(at, buffer.begin() + static_cast<std::ptrdiff_t>(len));
    std::memcpy(&*at, &wrong, sizeof wrong);
    const std::uint32_t crc = fsbml::wire::record_crc(buffer.data(), len);
    std::memcpy(buffer.data() + fsbml::wire::kCrcAt, &crc, sizeof crc);
    EXPECT_EQ(fsbml_summary_unpack(read.get(), buffer.data(), len), -EBADMSG);
    EXPECT_EQ(read->n_rails, 0U);
    std::memcpy(&*at, &good, sizeof good);
    const std::uint32_t again = fsbml::wire::record_crc(buffer.data(), len);
    std::memcpy(buffer.data() + fsbml::wire::kCrcAt, &again, sizeof again);
    EXPECT_EQ(fsbml_summary_unpack(read.get(), buffer.data(), len), 0);
}
