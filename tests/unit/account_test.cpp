// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process' decisions come to, by hand-computed times.
#include "sched.hpp"
#include "summaries.hpp"

#include "api/fsbml_explain.h"
#include "explain/account/account.hpp"

#include "test.hpp"

namespace
{

struct DestroyAccount {
    void operator()(fsbml_account_t *a) const noexcept { fsbml_account_destroy(a); }
};
using AccountPtr = std::unique_ptr<fsbml_account_t, DestroyAccount>;

// gap(s) = 1000 + G (s-1); an idle rail delivers 1000 byte steps after 10000 + 100 + 100 + 1000 G.
constexpr fsbml_loggp_t kFast = loggp(10e3, 100.0, 100.0, 1000.0, 10.0);
constexpr fsbml_loggp_t kSlow = loggp(10e3, 100.0, 100.0, 1000.0, 100.0);

AccountPtr make_account(const std::vector<fsbml_loggp_t> &models)
{
    AccountPtr a(fsbml_account_create(models.size()));
    for (std::size_t i = 0; i < models.size(); ++i) {
        EXPECT_EQ(fsbml_account_set_model(a.get(), i, &models[i]), 0);
    }
    return a;
}

void decide(const AccountPtr &a, std::uint64_t now, std::uint64_t bytes, std::uint32_t candidates,
            std::uint32_t rail, std::uint32_t peer = 0)
{
    fsbml_decision_t d{};
    d.peer = peer;
    d.now_ns = now;
    d.bytes = bytes;
    d.candidates = candidates;
    d.rail = rail;
    const fsbml_audience_t audience = fsbml_account_audience(a.get());
    audience.decision(audience.context, &d);
}

void state(const AccountPtr &a, std::size_t rail, const fsbml_r2_rail_t &r)
{
    EXPECT_EQ(fsbml_account_set_r2(a.get(), rail, &r), 0);
}

} // namespace

TEST(UnderWay, IsTheUnionOfTimes)
{
    fsbml::UnderWay u;
    u.add(100, 50);
    u.add(120, 10); // within
    u.add(140, 30); // 20 more
    EXPECT_EQ(u.total_ns(), 70U);
    u.add(1000, 5);
    EXPECT_EQ(u.total_ns(), 75U);
}

TEST(Account, ReplaysByOtherRules)
{
    const AccountPtr a = make_account({kFast, kSlow});
    // Two messages of 1001 bytes at once, far apart from two others. All on the fast rail: 20200; the second
    // one waits for the gap of 11000, but its overhead does not: 31100.
    for (const std::uint64_t t : {1000000U, 9000000U}) {
        decide(a, t, 1001, 3, 0);
        decide(a, t, 1001, 3, 0);
    }
    const SummaryPtr s = summary({"a", "b"});
    s->n_ranks = 1;
    fsbml_account_add(a.get(), s.get());
    EXPECT_EQ(s->time_ns, 2 * 31100U);
    EXPECT_EQ(s->rail[0].alone_ns, s->time_ns);
    EXPECT_EQ(s->rail[1].alone_ns, 2 * (101000U + 110100U));
    EXPECT_EQ(s->r2_ns, s->rail[1].alone_ns); // both on the second rail
    EXPECT_EQ(s->chose, 1U);
    EXPECT_EQ(s->messages, 4U);
    EXPECT_EQ(s->bytes, 4004U);
    EXPECT_EQ(s->rail[0].by_size[fsbml::class_of(1001)].messages, 4U);
    EXPECT_EQ(s->rank[0].rail_share[0], 1000U);
    EXPECT_EQ(s->rank[0].time_ns, s->time_ns);
}

// ob1 asks twice for each eager message, so it takes the second of two rails, of three each (in the order 1,
// 0, 2), of four two. Every message goes to one of a hundred times the cost, or to none, so the time tells
// how many.
TEST(Account, R2TakesTheNextRailButOne)
{
    const auto slow_ones = [](std::size_t rails, std::size_t slow, const std::vector<fsbml_r2_rail_t> &stated,
                              std::uint64_t bytes = 1001) {
        std::vector<fsbml_loggp_t> models(rails, loggp(0, 0, 0, 1.0, 0.01));
        models[slow] = loggp(1e6, 0, 0, 1.0, 0.01);
        const AccountPtr a = make_account(models);
        for (std::size_t i = 0; i < stated.size(); ++i) {
            state(a, i, stated[i]);
        }
        for (std::uint64_t i = 0; i < 12; ++i) {
            decide(a, i * 1000000000, bytes, (1U << rails) - 1, 0);
        }
        const SummaryPtr s = summary(std::vector<const char *>(rails, "a"));
        fsbml_account_add(a.get(), s.get());
        return static_cast<int>(s->r2_ns / 1000000);
    };
    EXPECT_EQ(slow_ones(2, 0, {}), 0);
    EXPECT_EQ(slow_ones(2, 1, {}), 12);
    for (const std::size_t slow : {0U, 1U, 2U}) {
        EXPECT_EQ(slow_ones(3, slow, {}), 4) << slow;
    }
    EXPECT_EQ(slow_ones(4, 0, {}), 0);
    EXPECT_EQ(slow_ones(4, 1, {}), 6);
    EXPECT_EQ(slow_ones(4, 3, {}), 6);
    // The list is by stated bandwidth, of those of the least stated latency.
    EXPECT_EQ(slow_ones(2, 0, {{1000, 100, 65536, 0}, {9000, 100, 65536, 0}}), 12);
    EXPECT_EQ(slow_ones(2, 1, {{9000, 100, 65536, 0}, {1000, 200, 65536, 0}}), 0);
    // A BTL that has btl_sendi takes short messages at the first call: rails in turn.
    const std::vector<fsbml_r2_rail_t> sendi(2, {1000, 100, 65536, 1});
    EXPECT_EQ(slow_ones(2, 1, sendi, 100), 6);
    EXPECT_EQ(slow_ones(2, 1, sendi, 1001), 12);
}

// Each peer has a list of its own.
TEST(Account, R2KeepsItsPlaceByPeer)
{
    const AccountPtr a =
        make_account({loggp(0, 0, 0, 1.0, 0.01), loggp(0, 0, 0, 1.0, 0.01), loggp(1e6, 0, 0, 1.0, 0.01)});
    for (std::uint32_t peer = 0; peer < 3; ++peer) {
        decide(a, (1 + peer) * 1000000000U, 1001, 7, 0, peer); // the first message to each: rail 1
    }
    const SummaryPtr s = summary({"a", "b", "c"});
    fsbml_account_add(a.get(), s.get());
    EXPECT_LT(s->r2_ns, 1000000U);
}

// r2 shares long messages by the bandwidths that the BTLs state, right or wrong.
TEST(Account, R2SharesLongMessagesByBandwidth)
{
    const AccountPtr a = make_account({kFast, kSlow});
    state(a, 0, {3000, 100, 5000, 0});
    state(a, 1, {1000, 100, 5000, 0});
    for (int i = 0; i < 4; ++i) {
        decide(a, 1000, 6001, 3, 0); // one of them to the slow rail: 10200 + 600000
    }
    const SummaryPtr long_ones = summary({"a", "b"});
    fsbml_account_add(a.get(), long_ones.get());
    EXPECT_EQ(long_ones->r2_ns, 610200U);
    // A full fragment below the eager limit is of a long message: by nine to one, all of three go to the fast
    // rail.
    const AccountPtr b = make_account({kFast, kSlow});
    state(b, 0, {9000, 100, 5000, 0});
    state(b, 1, {1000, 100, 5000, 0});
    for (const std::size_t rail : {0U, 1U}) {
        EXPECT_EQ(fsbml_account_set_fragment(b.get(), rail, 1001), 0);
    }
    for (int i = 0; i < 3; ++i) {
        decide(b, 1000, 1001, 3, 0);
    }
    const SummaryPtr fragments = summary({"a", "b"});
    fsbml_account_add(b.get(), fragments.get());
    EXPECT_LT(fragments->r2_ns, 110200U) << "the slow rail has got one";
    EXPECT_EQ(fragments->r2_ns, fragments->rail[0].alone_ns);
    const fsbml_r2_rail_t r{1000, 100, 1, 0};
    EXPECT_EQ(fsbml_account_set_r2(a.get(), 2, &r), -EINVAL);
    EXPECT_EQ(fsbml_account_set_r2(a.get(), 0, nullptr), -EINVAL);
    EXPECT_EQ(fsbml_account_set_fragment(nullptr, 0, 1), -EINVAL);
}

// What has only one rail takes that one in all replays, and no other could have done all alone.
TEST(Account, ARailThatIsNotEverywhereCannotDoItAlone)
{
    const AccountPtr a = make_account({kFast, kSlow});
    decide(a, 1000, 1001, 3, 0);
    decide(a, 1000, 1001, 2, 1);
    const SummaryPtr s = summary({"a", "b"});
    fsbml_account_add(a.get(), s.get());
    EXPECT_EQ(s->rail[0].alone_processes, 0U);
    EXPECT_EQ(s->rail[1].alone_processes, 1U);
    EXPECT_EQ(s->r2_ns, s->rail[1].alone_ns);
}

// A message or two that went before a rail was proved are no reason not to tell.
TEST(Account, ARailThatComesALittleLaterCouldHaveDoneItAlone)
{
    const AccountPtr a = make_account({kFast, kSlow});
    decide(a, 1000, 1001, 2, 1);
    for (std::uint64_t i = 1; i < 20; ++i) {
        decide(a, 10000000 * i, 1001, 3, 0);
    }
    const SummaryPtr s = summary({"a", "b"});
    fsbml_account_add(a.get(), s.get());
    EXPECT_EQ(s->rail[0].alone_processes, 1U);
    EXPECT_EQ(s->rail[0].alone_ns, 20 * 20200U); // the first one, too
    EXPECT_EQ(s->rail[1].alone_processes, 1U);
}

TEST(Account, WithoutParametersOrChoiceThereIsNoTime)
{
    const AccountPtr unmeasured(fsbml_account_create(2)), single = make_account({kFast, kSlow});
    decide(unmeasured, 1000, 100, 3, 1);
    decide(single, 1000, 100, 1, 0);
    for (const AccountPtr *a : {&unmeasured, &single}) {
        const SummaryPtr s = summary({"a", "b"});
        fsbml_account_add(a->get(), s.get());
        EXPECT_EQ(s->messages, 1U);
        EXPECT_EQ(s->chose, 0U);
        EXPECT_EQ(s->time_ns, 0U);
    }
    EXPECT_EQ(fsbml_account_create(0), nullptr);
    EXPECT_EQ(fsbml_account_create(33), nullptr);
}

TEST(Account, ArrivalsGoIntoBins)
{
    const AccountPtr a = make_account({kFast, kSlow});
    const fsbml_audience_t audience = fsbml_account_audience(a.get());
    const fsbml_arrival_t twice{1, 5000, 1000, 2000}, never{1, 5000, 0, ~std::uint64_t{0}},
        early{1, 5000, 1000, 1};
    for (const fsbml_arrival_t *arrival : {&twice, &never, &early}) {
        audience.arrival(audience.context, arrival);
    }
    const SummaryPtr s = summary({"a", "b"});
    fsbml_account_add(a.get(), s.get());
    EXPECT_EQ(s->rail[1].ratio[40], 1U); // 2^1: 4 octaves and one above the first bin's begin
    EXPECT_EQ(s->rail[1].ratio[FSBML_RATIO_BINS - 1], 1U);
    EXPECT_EQ(s->rail[1].ratio[0], 1U);
    EXPECT_EQ(s->rail[1].by_size[fsbml::class_of(5000)].arrivals, 3U);
}
