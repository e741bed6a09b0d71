// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Extra latency of a peer's rails, in virtual time: true differences are found, and nothing else is.
#include "api/fsbml_core.h"

#include "test.hpp"

namespace
{

constexpr std::uint64_t kTick = 200000; // between two looks
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr int kMost = 3 * 4 + 48; // questions a rail, if none was answered in vain

struct Destroy {
    void operator()(fsbml_distance_t *d) const noexcept { fsbml_distance_destroy(d); }
};
using DistancePtr = std::unique_ptr<fsbml_distance_t, Destroy>;

// Two rails and more to a peer, of the same model: one way of 50 us.
class World
{
public:
    explicit World(std::size_t rails, std::uint32_t tries = 4) : rails_(rails)
    {
        for (std::size_t i = 0; i < rails; ++i) {
            known_[i] = {50e3, 40e3};
        }
        live = idle = all();
        d.reset(fsbml_distance_create(live, known_, tries));
    }

    // Time from a question on a rail at `now` to its answer, kNever: there is none.
    using Trip = std::function<std::uint64_t(std::uint32_t rail, std::uint64_t now)>;

    // Goes on until it is over, or for a minute. Returns what is farther.
    std::uint32_t run(const Trip &trip)
    {
        std::uint32_t rail = 0;
        for (const std::uint64_t end = now + 60000000000U; now < end; now += kTick) {
            const int rc = fsbml_distance_next(d.get(), now, live, idle, ++seq, &rail);
            if (-ENODATA == rc) {
                over = true;
                break;
            }
            if (1 == rc) {
                ++asked;
                ++asked_on[rail];
                const std::uint64_t took = trip(rail, now);
                if (kNever != took) {
                    const std::uint64_t arrives = now + took;
                    while (now + look_every < arrives) {
                        now += look_every;
                        asked += 1 == fsbml_distance_next(d.get(), now, live, idle, seq + 1, &rail) ? 1 : 0;
                    }
                    now = arrives;
                    fsbml_distance_answered(d.get(), seq, now, peer_idle);
                }
            }
        }
        return fsbml_distance_result(d.get(), extra);
    }

    std::uint32_t all() const { return (UINT32_C(1) << rails_) - 1; }

    DistancePtr d;
    std::uint64_t now = 1000000000;
    std::uint32_t live = 0, idle = 0, seq = 0;
    std::uint64_t look_every = kTick; // while an answer is awaited
    bool peer_idle = true, over = false;
    int asked = 0, asked_on[FSBML_MAX_RAILS] = {};
    double extra[FSBML_MAX_RAILS] = {};

private:
    std::size_t rails_;
    fsbml_distance_rail_t known_[FSBML_MAX_RAILS] = {};
};

} // namespace

// As measured: one round, four questions a rail, in turn, and it is over.
TEST(Distance, NothingToTell)
{
    World w(2);
    EXPECT_EQ(w.run([](auto, auto) { return 100000; }), 0U);
    EXPECT_TRUE(w.over);
    EXPECT_EQ(w.asked_on[0], 4);
    EXPECT_EQ(w.asked_on[1], 4);
    EXPECT_EQ(w.extra[0] + w.extra[1], 0.0);
}

// A switch more on one rail: found in two rounds, as half of what the round trip is longer.
TEST(Distance, OneRailIsFarther)
{
    World w(2);
    EXPECT_EQ(w.run([](auto rail, auto) { return 1 == rail ? 340000U : 100000U; }), 2U);
    EXPECT_EQ(w.asked, 16);
    EXPECT_DOUBLE_EQ(w.extra[0], 0.0);
    EXPECT_DOUBLE_EQ(w.extra[1], 120e3);
}

// Only what the rails differ by counts: 2 ms more on all, and 1 ms more on one of them.
TEST(Distance, WhatAllHaveInCommonIsLeftOut)
{
    World w(3);
    EXPECT_EQ(w.run([](auto rail, auto) { return 4100000U + (2 == rail ? 2000000U : 0); }), 4U);
    EXPECT_DOUBLE_EQ(w.extra[2], 1e6);
    World alike(3);
    EXPECT_EQ(alike.run([](auto, auto) { return 4100000U; }), 0U);
    EXPECT_EQ(alike.asked, 36); // three rounds, as a peer that computes can look like that
}

// A rail that is nearer than measured makes the others farther; by its L at most.
TEST(Distance, OneRailIsNearer)
{
    World w(2);
    EXPECT_EQ(w.run([](auto rail, auto) { return 0 == rail ? 40000U : 100000U; }), 2U);
    EXPECT_DOUBLE_EQ(w.extra[1], 30e3);
    World most(2);
    EXPECT_EQ(most.run([](auto rail, auto) { return 0 == rail ? 2000U : 100000U; }), 2U);
    EXPECT_DOUBLE_EQ(most.extra[1], 40e3);
}

// Below 10 us, or a quarter of the way, it is none; and beside a true one it is left out.
TEST(Distance, SmallDifferencesAreNone)
{
    World w(3);
    EXPECT_EQ(w.run([](auto rail, auto) { return 100000U + (2 == rail ? 30000U : 0); }), 0U);
    EXPECT_EQ(w.asked, 12);
    World beside(3);
    EXPECT_EQ(beside.run([](auto rail, auto) {
        return 100000U + (2 == rail ? 30000U : 1 == rail ? 400000U : 0);
    }),
              2U);
    EXPECT_DOUBLE_EQ(beside.extra[1], 200e3);
    EXPECT_DOUBLE_EQ(beside.extra[2], 0.0);
}

// What disturbs an answer adds to its time: the least counts, if a second one is near it.
TEST(Distance, DisturbancesAreNone)
{
    World w(2);
    int turn = 0;
    EXPECT_EQ(w.run([&](auto rail, auto) {
        return 100000U + (1 == rail ? 200000U : 0) + (0 == ++turn % 3 ? 4000000U : 0);
    }),
              2U);
    EXPECT_NEAR(w.extra[1], 100e3, 1.0);
    World once(2); // one good answer a round and rail is enough, of two rounds
    turn = 0;
    EXPECT_EQ(once.run([&](auto rail, auto) {
        return 100000U + (1 == rail ? 200000U : 0) + (0 != turn++ / 2 % 4 ? 1000000U * turn : 0);
    }),
              2U);
    EXPECT_DOUBLE_EQ(once.extra[1], 100e3);
    EXPECT_EQ(once.asked, 2 * 8);
    World never(2); // no two alike, once
    turn = 0;
    EXPECT_EQ(
        never.run([&](auto rail, auto) { return 100000U + (1 == rail ? 200000U : 0) + 1000000U * turn++; }),
        0U);
    EXPECT_TRUE(never.over);
    EXPECT_EQ(never.asked, 2 * kMost);
}

// One rail is slow for a while, as beside another job's traffic: the next round does not find that again.
TEST(Distance, APassingDifferenceIsNone)
{
    World w(2);
    const std::uint64_t until = w.now + 40000000;
    EXPECT_EQ(w.run([&](auto rail, auto now) { return 1 == rail && now < until ? 900000U : 100000U; }), 0U);
    EXPECT_EQ(w.asked, 16);
    // Nor one that changes from round to round.
    World changing(2);
    EXPECT_EQ(changing.run([&](auto rail, auto) {
        return 100000U + (1 == rail ? 200000U << std::min(3, (changing.asked - 1) / 8) : 0);
    }),
              0U);
    EXPECT_EQ(changing.asked, 2 * kMost);
}

// A peer that computes: it looks at its network every 10 ms or so, and answers all rails alike late.
TEST(Distance, APeerThatComputes)
{
    const std::uint64_t seed = 42;
    std::mt19937_64 random(seed);
    int corrected = 0;
    for (int run = 0; run < 500; ++run) {
        World w(2);
        (void) w.run([&](auto, auto) { return 5000000U + random() % 10000000U; });
        EXPECT_TRUE(w.over);
        EXPECT_LE(w.asked, 2 * kMost);
        corrected += w.extra[0] > 0.0 || w.extra[1] > 0.0 ? 1 : 0;
    }
    EXPECT_LE(corrected, 2) << "seed " << seed;
    // Once it communicates, the truth is found.
    World w(2);
    const std::uint64_t until = w.now + 100000000;
    EXPECT_EQ(w.run([&](auto rail, auto now) {
        return now < until ? 3000000U + random() % 9000000U : 100000U + (0 == rail ? 100000U : 0);
    }),
              1U)
        << "seed " << seed;
    EXPECT_DOUBLE_EQ(w.extra[0], 50e3);
}

// Round trips of which hardly two are alike hide no difference that is far above what they scatter.
TEST(Distance, FarAboveTheScatter)
{
    const std::uint64_t seed = 11;
    std::mt19937_64 random(seed);
    int found = 0;
    for (int run = 0; run < 500; ++run) {
        World w(2);
        const std::uint32_t farther =
            w.run([&](auto rail, auto) { return 100000U + random() % 300000 + (1 == rail ? 4000000U : 0); });
        found += 2U == farther && w.extra[1] > 1.7e6 && w.extra[1] < 2.3e6 ? 1 : 0;
    }
    EXPECT_GE(found, 495) << "seed " << seed;
}

// A peer that gets its processor every 4 ms for a while answers as late on all rails, and as evenly as if it
// were far.
TEST(Distance, APeerThatWaitsForItsProcessor)
{
    constexpr std::uint64_t slice = 4000000;
    World w(2);
    const std::uint64_t until = w.now + 300000000;
    EXPECT_EQ(w.run([&](auto rail, auto now) {
        const std::uint64_t took = 100000U + (0 == rail ? 3000000U : 0);
        return now < until ? (took + slice - 1) / slice * slice : took;
    }),
              1U);
    EXPECT_DOUBLE_EQ(w.extra[0], 1.5e6);
}

// A peer that never answers is asked four times, wider and wider apart, and then never again.
TEST(Distance, SilenceEnds)
{
    World w(2);
    std::vector<std::uint64_t> at;
    EXPECT_EQ(w.run([&](auto, auto now) {
        at.push_back(now);
        return kNever;
    }),
              0U);
    EXPECT_TRUE(w.over);
    ASSERT_EQ(at.size(), 4U);
    for (std::size_t i = 2; i < at.size(); ++i) {
        EXPECT_GT(at[i] - at[i - 1], 2 * (at[i - 1] - at[i - 2]));
    }
}

// Late, repeated, and foreign answers change nothing.
TEST(Distance, OnlyTheAwaitedAnswerCounts)
{
    World w(2);
    std::uint32_t rail = 9;
    ASSERT_EQ(fsbml_distance_next(w.d.get(), w.now, 3, 3, 77, &rail), 1);
    const std::uint32_t first = rail;
    EXPECT_EQ(fsbml_distance_next(w.d.get(), w.now + 1000, 3, 3, 78, &rail), 0) << "one at a time";
    fsbml_distance_answered(w.d.get(), 78, w.now + 1000, true);
    fsbml_distance_answered(w.d.get(), 0, w.now + 1000, true);
    EXPECT_EQ(fsbml_distance_next(w.d.get(), w.now + 1000, 3, 3, 79, &rail), 0);
    fsbml_distance_answered(w.d.get(), 77, w.now + 100000, true);
    ASSERT_EQ(fsbml_distance_next(w.d.get(), w.now + 200000, 3, 3, 80, &rail), 1);
    EXPECT_EQ(rail, 1U - first);
    fsbml_distance_answered(w.d.get(), 77, w.now + 201000, true); // again: no answer on the other rail
    EXPECT_EQ(fsbml_distance_next(w.d.get(), w.now + 202000, 3, 3, 81, &rail), 0);
}

// A process that computes for 20 ms before each look does not know when the answer came: it asks again, a few
// times, and gives up. One that does so now and then finds what there is to find.
TEST(Distance, WhoAsksComputes)
{
    World w(2);
    w.look_every = 20000000;
    EXPECT_EQ(w.run([](auto rail, auto) { return 1 == rail ? 39000000U : 22000000U; }), 0U);
    EXPECT_TRUE(w.over);
    EXPECT_EQ(w.asked, 2 * (3 * 16 + 48));
    World sometimes(2);
    EXPECT_EQ(sometimes.run([&](auto rail, auto) {
        sometimes.look_every = 0 == sometimes.asked % 3 ? 50000000 : kTick;
        return 0 == sometimes.asked % 3 ? 60000000U : 1 == rail ? 340000U : 100000U;
    }),
              2U);
    EXPECT_DOUBLE_EQ(sometimes.extra[1], 120e3);
    EXPECT_LE(sometimes.asked, 2 * (3 * 16 + 48));
}

// A rail is not asked while it has something else to do, and what waited at the peer is no answer.
TEST(Distance, BusyRailsAreLeftInPeace)
{
    World w(2);
    w.idle = 1;
    EXPECT_EQ(w.run([](auto, auto) { return 100000; }), 0U);
    EXPECT_TRUE(w.over);
    EXPECT_EQ(w.asked_on[1], 0);
    World busy(2);
    busy.peer_idle = false;
    EXPECT_EQ(busy.run([](auto rail, auto) { return 0 == rail ? 100000U : 500000U; }), 0U);
    EXPECT_TRUE(busy.over);
    EXPECT_EQ(busy.asked, 2 * kMost);
}

// A rail that goes is out of it; with one rail there is nothing to tell.
TEST(Distance, RailsThatGo)
{
    World w(3);
    EXPECT_EQ(w.run([&](auto rail, auto) -> std::uint64_t {
        w.live = w.asked < 3 ? 7 : 3;
        return 2 == rail ? kNever : 1 == rail ? 300000U : 100000U;
    }),
              2U);
    EXPECT_EQ(w.asked_on[2], 1);
    EXPECT_DOUBLE_EQ(w.extra[1], 100e3);
    World one(2);
    EXPECT_EQ(one.run([&](auto, auto) {
        one.live = 2;
        return 100000;
    }),
              0U);
    EXPECT_EQ(one.asked, 1);
}

// A difference that is there is found among jitter of any kind that leaves two of four answers alone.
TEST(Distance, FoundInNoise)
{
    const std::uint64_t seed = 7;
    std::mt19937_64 random(seed);
    int found = 0, wrong = 0;
    for (int run = 0; run < 500; ++run) {
        World w(4);
        const std::uint32_t far = random() % 4;
        const std::uint32_t result = w.run([&](auto rail, auto) {
            return 100000U + random() % 10000 + (far == rail ? 200000U : 0)
                   + (0 == random() % 4 ? random() % 5000000 : 0);
        });
        found += UINT32_C(1) << far == result && w.extra[far] > 85e3 && w.extra[far] < 115e3 ? 1 : 0;
        wrong += 0 != (result & ~(UINT32_C(1) << far)) ? 1 : 0;
    }
    EXPECT_GE(found, 450) << "seed " << seed;
    EXPECT_LE(wrong, 2) << "seed " << seed;
}

TEST(Distance, BadArguments)
{
    const fsbml_distance_rail_t known[FSBML_MAX_RAILS] = {};
    std::uint32_t rail = 0;
    double extra[FSBML_MAX_RAILS];
    EXPECT_EQ(fsbml_distance_create(0, known, 4), nullptr);
    EXPECT_EQ(fsbml_distance_create(4, known, 4), nullptr);
    EXPECT_EQ(fsbml_distance_create(3, nullptr, 4), nullptr);
    EXPECT_EQ(fsbml_distance_create(3, known, 1), nullptr);
    EXPECT_EQ(errno, EINVAL);
    World w(2);
    EXPECT_EQ(fsbml_distance_next(nullptr, 0, 3, 3, 1, &rail), -EINVAL);
    EXPECT_EQ(fsbml_distance_next(w.d.get(), 0, 3, 3, 0, &rail), -EINVAL);
    EXPECT_EQ(fsbml_distance_result(w.d.get(), extra), 0U) << "not over yet";
    EXPECT_EQ(fsbml_distance_result(nullptr, extra), 0U);
    fsbml_distance_answered(nullptr, 1, 0, true);
    fsbml_distance_destroy(nullptr);
}
