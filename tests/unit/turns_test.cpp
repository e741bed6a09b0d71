// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Extra latency between two nodes of which neither looks at its networks for milliseconds at a time:
// what is there is found, and what is not there is not made up of the looks.
#include "api/fsbml_core.h"

#include "test.hpp"

namespace
{

constexpr std::uint64_t kUs = 1000, kMs = 1000 * kUs;
using Random = std::mt19937_64;

// When a process looks at its networks: after such a gap, and another.
class Looks
{
public:
    using Gap = std::function<std::uint64_t(Random &)>;
    Looks(Gap gap, std::uint64_t seed) : gap_(std::move(gap)), random_(seed), at_(random_() % (4 * kMs)) {}

    // The first look not before a time.
    std::uint64_t from(std::uint64_t ns)
    {
        while (at_ < ns) {
            at_ += gap_(random_);
        }
        return at_;
    }

private:
    Gap gap_;
    Random random_;
    std::uint64_t at_;
};

struct Destroy {
    void operator()(fsbml_distance_t *d) const noexcept { fsbml_distance_destroy(d); }
};

struct Outcome {
    std::uint32_t farther = 0;
    double extra[FSBML_MAX_RAILS] = {};
    bool over = false;
};

// Two rails, of a model with ways of 50 us. A question or answer that arrives between two looks waits for the
// next.
Outcome ask(const std::uint64_t (&way_ns)[2], Looks mine, Looks peers)
{
    const fsbml_distance_rail_t known[FSBML_MAX_RAILS] = {{50e3, 40e3}, {50e3, 40e3}};
    const std::unique_ptr<fsbml_distance_t, Destroy> d(fsbml_distance_create(3, known, 4));
    Outcome o;
    std::uint64_t arrives = 0, now = mine.from(1000 * kMs);
    const std::uint64_t end = now + 120000 * kMs;
    for (std::uint32_t rail = 0, seq = 1, asked = 0; now < end && !o.over; now = mine.from(now + 1)) {
        const int rc = fsbml_distance_next(d.get(), now, 3, 3, ++seq, &rail);
        o.over = -ENODATA == rc;
        if (1 == rc) {
            asked = seq;
            arrives = peers.from(now + way_ns[rail]) + way_ns[rail];
        } else if (0 != arrives && arrives <= now) {
            fsbml_distance_answered(d.get(), asked, now, true);
            arrives = 0;
        }
    }
    o.farther = fsbml_distance_result(d.get(), o.extra);
    return o;
}

// Beside programs that compute: the processor comes back after 2 ms, now and then only after 12.
std::uint64_t shares_its_processor(Random &random)
{
    return 0 == random() % 6 ? 12 * kMs : 1700 * kUs + random() % (500 * kUs);
}

Looks::Gap every(std::uint64_t ns)
{
    return [ns](Random &) { return ns; };
}

} // namespace

TEST(Turns, BusyNodes)
{
    constexpr std::uint64_t kSeed = 17;
    int found = 0, wrong = 0;
    for (std::uint64_t run = 0; run < 500; ++run) {
        const Looks mine(shares_its_processor, kSeed + 2 * run),
            peers(shares_its_processor, kSeed + 2 * run + 1);
        const Outcome far = ask({2100 * kUs, 100 * kUs}, mine, peers);
        found += 1U == far.farther && far.extra[0] > 1e6 && far.extra[0] < 4e6 ? 1 : 0;
        wrong += 0 != ask({100 * kUs, 100 * kUs}, mine, peers).farther ? 1 : 0;
        EXPECT_TRUE(far.over);
    }
    EXPECT_GE(found, 470) << "seed " << kSeed;
    EXPECT_LE(wrong, 1) << "seed " << kSeed;
}

// Looks at fixed intervals on both sides round what is nearly alike up, to what is far apart.
TEST(Turns, LooksInStep)
{
    for (const std::uint64_t period : {900 * kUs, 2900 * kUs, 3000 * kUs, 7000 * kUs}) {
        for (const std::uint64_t peers_period : {50 * kUs, 1000 * kUs, 2990 * kUs, 3000 * kUs, 6000 * kUs}) {
            for (std::uint64_t seed = 0; seed < 8; ++seed) {
                const Outcome o = ask({1505 * kUs, 1490 * kUs}, Looks(every(period), seed),
                                      Looks(every(peers_period), 100 + seed));
                EXPECT_TRUE(o.over);
                EXPECT_LT(o.extra[0], 100e3) << period << " and " << peers_period << " ns, seed " << seed;
                EXPECT_EQ(o.extra[1], 0.0) << period << " and " << peers_period << " ns, seed " << seed;
            }
        }
    }
}

// One side alternates between short and long gaps: that falls on both rails.
TEST(Turns, LooksInTurns)
{
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto alternates = [turn = 0](Random &) mutable {
            return 0 == ++turn % 2 ? 1200 * kUs : 9 * kMs;
        };
        wrong +=
            0 != ask({100 * kUs, 100 * kUs}, Looks(alternates, seed), Looks(every(50 * kUs), seed)).farther;
        wrong +=
            0 != ask({100 * kUs, 100 * kUs}, Looks(every(50 * kUs), seed), Looks(alternates, seed)).farther;
        wrong +=
            0 != ask({100 * kUs, 100 * kUs}, Looks(alternates, seed), Looks(alternates, seed + 1000)).farther;
    }
    EXPECT_LE(wrong, 1);
}

// Nor is it the question's place in a turn: a peer that answers every other one late, whatever it asks.
TEST(Turns, EveryOtherAnswerIsLate)
{
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        const fsbml_distance_rail_t known[FSBML_MAX_RAILS] = {{50e3, 40e3}, {50e3, 40e3}};
        const std::unique_ptr<fsbml_distance_t, Destroy> d(fsbml_distance_create(3, known, 4));
        std::uint64_t now = 1000 * kMs;
        std::uint32_t rail = 0, seq = 1, asked = 0;
        for (int rc = 0; - ENODATA != rc; now += 50 * kUs) {
            rc = fsbml_distance_next(d.get(), now, 3, 3, ++seq, &rail);
            if (1 == rc) {
                const std::uint64_t arrives = now + (0 == ++asked % 2 ? 9 * kMs : kMs) + random() % kMs;
                for (; now < arrives; now += 50 * kUs) { // a poll
                    (void) fsbml_distance_next(d.get(), now, 3, 3, seq + 1, &rail);
                }
                fsbml_distance_answered(d.get(), seq, now, true);
            }
        }
        double extra[FSBML_MAX_RAILS];
        wrong += 0 != fsbml_distance_result(d.get(), extra) ? 1 : 0;
    }
    EXPECT_LE(wrong, 2);
}

// A process that asks when an answer has come asks in step with the peer's looks: two ways that are nearly
// alike would take one look and two.
TEST(Turns, InStepWithThePeer)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Outcome o =
            ask({1515 * kUs, 1480 * kUs}, Looks(every(10 * kUs), seed), Looks(every(3000 * kUs), 100 + seed));
        EXPECT_TRUE(o.over);
        EXPECT_LT(o.extra[0], 200e3) << "seed " << seed;
        EXPECT_LT(o.extra[1], 200e3) << "seed " << seed;
    }
}
