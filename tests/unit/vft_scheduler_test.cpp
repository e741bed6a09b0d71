// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Properties of the scheduler, in virtual time.
#include "sched.hpp"

#include "schedule/schedule.hpp"
#include "test.hpp"

namespace
{

constexpr fsbml_loggp_t kFast = loggp(20e3, 2e3, 2e3, 3e3, 40.0);  // 200 Mbit/s
constexpr fsbml_loggp_t kSlow = loggp(20e3, 2e3, 2e3, 3e3, 400.0); // 20 Mbit/s

double charge_of(const fsbml_loggp_t &p, std::size_t bytes)
{
    return p.g_ns + p.G_ns_per_byte * static_cast<double>(bytes - 1);
}

} // namespace

// The prediction is the arrival formula, idle and busy: max(now + o_s, VFT) + L + G (s-1) + o_r.
TEST(Arrival, PredictionIsTheFormula)
{
    const SchedPtr s = make_sched({kFast});
    const double idle = 2e3 + 20e3 + 40.0 * 4095 + 2e3;
    EXPECT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), 0, 1000, 4096)), idle, 1.0);
    fsbml_sched_charge(s.get(), 0, 1000, 4096);
    const double busy = charge_of(kFast, 4096);
    EXPECT_NEAR(static_cast<double>(fsbml_sched_backlog(s.get(), 0, 1000)), busy, 1.0);
    EXPECT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), 0, 1000, 4096)), busy + idle - 2e3, 1.0);
    // o overlaps the wait, but for what of it is longer than the wait.
    const std::uint64_t later = 1000 + static_cast<std::uint64_t>(busy) - 500;
    EXPECT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), 0, later, 4096)), idle, 1.0);
}

// A rail that was idle for long has no credit: its backlog after a charge is that charge, no less.
TEST(Arrival, NoCreditForIdleness)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    fsbml_sched_charge(s.get(), 0, 0, 1024);
    const std::uint64_t later = 3600ULL * 1000000000ULL;
    EXPECT_EQ(fsbml_sched_backlog(s.get(), 0, later), 0U);
    fsbml_sched_charge(s.get(), 0, later, 65536);
    EXPECT_NEAR(static_cast<double>(fsbml_sched_backlog(s.get(), 0, later)), charge_of(kFast, 65536), 1.0);
}

// The case that the thesis' rule gets wrong: low L and high G against high L and low G.
TEST(Arrival, CountsTheBytes)
{
    const fsbml_loggp_t near = loggp(10e3, 2e3, 2e3, 3e3, 400.0);
    const fsbml_loggp_t wide = loggp(50e3, 2e3, 2e3, 3e3, 8.0);
    const SchedPtr arrival = make_sched({near, wide});
    EXPECT_EQ(fsbml_sched_choose(arrival.get(), 1000, 64, 3), 0);
    EXPECT_EQ(fsbml_sched_choose(arrival.get(), 1000, 65536, 3), 1);
    const SchedPtr thesis = make_sched({near, wide}, FSBML_POLICY_THESIS);
    EXPECT_EQ(fsbml_sched_choose(thesis.get(), 1000, 65536, 3), 0);
}

// Equal arrivals go to the lower index, whatever the mask, and again and again.
TEST(Arrival, TiesGoToTheLowerIndex)
{
    const SchedPtr s = make_sched(std::vector<fsbml_loggp_t>(32, kFast));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 100, ~0U), 0);
        EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 100, 0xfffffff0U), 4);
        EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 100, 0x80000800U), 11);
        EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 100, 0x80000000U), 31);
    }
}

// Rails whose o + L differ by no more than measurements do: a small message takes the one that is free again
// sooner.
TEST(Arrival, NearTiesGoToTheLowerG)
{
    fsbml_loggp_t slow = kSlow;
    slow.L_ns -= 1000.0;
    for (const bool first : {true, false}) {
        const std::vector<fsbml_loggp_t> models = first ? std::vector{slow, kFast} : std::vector{kFast, slow};
        const int fast = first ? 1 : 0;
        const SchedPtr s = make_sched(models);
        EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 1, 3), fast);
        const SchedPtr thesis = make_sched(models, FSBML_POLICY_THESIS);
        EXPECT_EQ(fsbml_sched_choose(thesis.get(), 1000, 1, 3), 1 - fast)
            << "the thesis' rule is left as it is";
    }
}

// Rails of a microsecond or two: half of one is no chance there.
TEST(Arrival, NearTiesAreNearerOnFastRails)
{
    const fsbml_loggp_t wide = loggp(1500, 300, 400, 100, 0.08);
    for (const auto &[nearer_ns, small] : {std::pair{500.0, 1}, std::pair{200.0, 0}}) {
        const SchedPtr s = make_sched({wide, loggp(1500 - nearer_ns, 300, 400, 100, 0.32)});
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 8, 3), small) << nearer_ns;
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 65536, 3), 0) << nearer_ns;
    }
}

// More than that is a difference, and counts.
TEST(Arrival, ALowerLatencyCounts)
{
    fsbml_loggp_t near = kSlow;
    near.L_ns -= 5000.0;
    const SchedPtr s = make_sched({kFast, near});
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 1, 3), 1);
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 4096, 3), 0);
    // A new model of one rail settles all anew.
    ASSERT_EQ(fsbml_sched_set_model(s.get(), 1, &kSlow), 0);
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 1, 3), 0);
}

// The choice is that of a plain search in doubles, over random models, sizes, masks and times.
TEST(Arrival, AgreesWithAPlainSearch)
{
    const std::uint64_t seed = 4711;
    std::mt19937_64 random(seed);
    const auto log_uniform = [&](double low, double high) {
        return low * std::pow(high / low, std::uniform_real_distribution<double>(0.0, 1.0)(random));
    };
    for (int run = 0; run < 200; ++run) {
        std::vector<fsbml_loggp_t> models(1 + random() % 32);
        for (fsbml_loggp_t &p : models) {
            const double o = log_uniform(100.0, 1e5);
            p = loggp(log_uniform(100.0, 1e6), o, o, log_uniform(100.0, 1e5), log_uniform(0.01, 1e4));
            p.burst_ns = 0 != run % 3 ? log_uniform(100.0, 1e8) : 0.0;
        }
        const SchedPtr s = make_sched(models);
        std::vector<double> vft(models.size(), 0.0);
        double now = 0.0;
        for (int i = 0; i < 100; ++i) {
            now += std::floor(log_uniform(1.0, 1e6));
            const std::size_t bytes = 1 + random() % 100000;
            const std::uint32_t mask = static_cast<std::uint32_t>(random()) & all_rails(models.size());
            const std::size_t whole = bytes + (0 != i % 2 ? random() % 1000000 : 0); // it is a part of that
            const auto at = static_cast<std::uint64_t>(now);
            const int got = fsbml_sched_choose_part(s.get(), at, bytes, whole, mask, nullptr);
            ASSERT_TRUE(whole > bytes || got == fsbml_sched_choose(s.get(), at, bytes, mask));
            double best = INFINITY;
            std::vector<double> arrival(models.size(), INFINITY);
            for (std::size_t r = 0; r < models.size(); ++r) {
                if (0 != (mask >> r & 1)) {
                    const fsbml_loggp_t &p = models[r];
                    const double through = p.G_ns_per_byte * static_cast<double>(bytes - 1);
                    const double all = p.G_ns_per_byte * static_cast<double>(whole - 1);
                    arrival[r] = std::max(now + p.o_s_ns, vft[r] - credit_of(p, all))
                                 + settled_base(models, r) - p.o_s_ns + through;
                    best = std::min(best, arrival[r]);
                }
            }
            if (0 == mask) {
                ASSERT_EQ(got, -1);
                continue;
            }
            ASSERT_GE(got, 0);
            const auto rail = static_cast<std::size_t>(got);
            ASSERT_NE(mask >> rail & 1, 0U);
            ASSERT_NEAR(arrival[rail], best, 1.0 + best * 1e-9) << "seed " << seed << " run " << run;
            fsbml_sched_charge(s.get(), rail, at, bytes);
            vft[rail] = std::max(vft[rail], now) + charge_of(models[rail], bytes);
        }
    }
}

// Rails finish together: after many messages no two differ by more than one message of the slower.
TEST(Arrival, RailsFinishTogether)
{
    for (const std::size_t bytes : {256U, 4096U, 65536U}) {
        const SchedPtr s = make_sched({kFast, kSlow});
        for (int i = 0; i < 1000; ++i) {
            send_one(s.get(), 0, bytes, 3);
        }
        const auto fast = static_cast<double>(fsbml_sched_backlog(s.get(), 0, 0));
        const auto slow = static_cast<double>(fsbml_sched_backlog(s.get(), 1, 0));
        EXPECT_LE(std::fabs(fast - slow), charge_of(kSlow, bytes) + 1.0) << bytes;
        EXPECT_GT(counters(s.get(), 1).messages, 0U);
    }
}

// That a bucket would let them all pass keeps no stream of small messages on one rail.
TEST(Arrival, RailsWithBucketsShareAStream)
{
    fsbml_loggp_t p = kFast;
    p.burst_ns = 70e3 * p.G_ns_per_byte;
    const SchedPtr s = make_sched({p, p});
    for (int i = 0; i < 16; ++i) {
        send_one(s.get(), 0, 4096, 3);
    }
    EXPECT_NEAR(8.0, static_cast<double>(counters(s.get(), 0).messages), 1.0);
}

// A small bucket is hardly ever full: the slow rail gets what it delivers in time without one.
TEST(Arrival, ASmallBucketOfASlowRailAttractsNothing)
{
    fsbml_loggp_t fast = loggp(20e3, 1e3, 1e3, 1e3, 40.0), slow = loggp(20e3, 1e3, 1e3, 1e3, 400.0);
    slow.burst_ns = 3100.0 * slow.G_ns_per_byte;
    const SchedPtr s = make_sched({fast, slow});
    for (int i = 0; i < 16; ++i) {
        send_one(s.get(), 0, 2048, 3);
    }
    EXPECT_EQ(1U, counters(s.get(), 1).messages);
}

// A rail's state is one for all destinations: traffic to a peer that only rail 0 reaches moves others to
// rail 1.
TEST(Arrival, SharedByAllPeers)
{
    const SchedPtr s = make_sched({kFast, kFast});
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(send_one(s.get(), 0, 65536, 1), 0); // peer A: rail 0 only
    }
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(send_one(s.get(), 0, 65536, 3), 1); // peer B: both
    }
    EXPECT_EQ(send_one(s.get(), 0, 65536, 3), 0); // now they are level
}

// An empty mask and bits beyond the last rail choose nothing.
TEST(Masks, EmptyAndBeyond)
{
    for (int policy = FSBML_POLICY_ARRIVAL; policy <= FSBML_POLICY_SINGLE; ++policy) {
        const SchedPtr s = make_sched({kFast, kSlow}, static_cast<fsbml_policy_t>(policy));
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 100, 0), -1);
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 100, ~3U), -1);
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 100, ~1U), 1);
    }
}

// Rails without a model carry nothing while another has one; if none has, it is the lowest index.
TEST(Masks, UnmeasuredRails)
{
    for (int policy = FSBML_POLICY_ARRIVAL; policy <= FSBML_POLICY_SINGLE; ++policy) {
        const SchedPtr s(fsbml_sched_create(4, static_cast<fsbml_policy_t>(policy)));
        EXPECT_EQ(send_one(s.get(), 0, 100, 0xf), 0);
        EXPECT_EQ(send_one(s.get(), 0, 100, 0xe), 1);
        ASSERT_EQ(fsbml_sched_set_model(s.get(), 2, &kSlow), 0);
        for (int i = 0; i < 50; ++i) {
            EXPECT_EQ(send_one(s.get(), 0, 65536, 0xf), 2);
        }
        EXPECT_EQ(send_one(s.get(), 0, 100, 0xb), 0); // rail 2 is not in the mask
    }
}

// Round robin takes the rails in turn, for each destination by itself fair, and asking twice skips none.
TEST(RoundRobin, InTurn)
{
    const SchedPtr s = make_sched({kFast, kSlow, kFast}, FSBML_POLICY_ROUNDROBIN);
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 1, 7), i % 3);
        EXPECT_EQ(send_one(s.get(), 0, 1, 7), i % 3);
    }
}

// Two destinations that alternate must not pin one of them to one rail.
TEST(RoundRobin, FairWithAlternatingMasks)
{
    const SchedPtr s = make_sched({kFast, kFast, kFast}, FSBML_POLICY_ROUNDROBIN);
    int count[3] = {0, 0, 0};
    for (int i = 0; i < 100; ++i) {
        ++count[send_one(s.get(), 0, 1, 3)];
        EXPECT_EQ(send_one(s.get(), 0, 1, 4), 2);
    }
    EXPECT_EQ(count[0], 50);
    EXPECT_EQ(count[1], 50);
}

// Single: the rail that is best for 64 KiB, however busy; ties to the lower index.
TEST(Single, AlwaysTheBestForBulk)
{
    const fsbml_loggp_t near = loggp(1e3, 1e2, 1e2, 1e2, 400.0);
    const SchedPtr s = make_sched({near, kSlow, kFast, kFast}, FSBML_POLICY_SINGLE);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(send_one(s.get(), 0, 1, 0xf), 2);
        EXPECT_EQ(send_one(s.get(), 0, 65536, 0xf), 2);
        EXPECT_EQ(send_one(s.get(), 0, 65536, 0x3), 0);
    }
}

// Each charge is at least a tick, also of a model without g and of no bytes, so that no rail can take for
// nothing.
TEST(Charge, IsNeverNothing)
{
    const fsbml_loggp_t free = loggp(0, 0, 0, 0, 0.001);
    const SchedPtr s = make_sched({free, free});
    int count[2] = {0, 0};
    for (int i = 0; i < 128 * 64; ++i) {
        ++count[send_one(s.get(), 0, 0, 3)];
    }
    EXPECT_NEAR(count[0], count[1], 2);                 // the first one is preferred by a tick
    EXPECT_EQ(fsbml_sched_backlog(s.get(), 0, 0), 64U); // 64 x 64 ticks
}

// Counters: messages, bytes and the sum of the charges.
TEST(Charge, Counters)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    for (std::size_t bytes : {1U, 1000U, 65536U}) {
        fsbml_sched_charge(s.get(), 1, 0, bytes);
    }
    EXPECT_EQ(counters(s.get(), 1).messages, 3U);
    EXPECT_EQ(counters(s.get(), 1).bytes, 66537U);
    const double busy = charge_of(kSlow, 1) + charge_of(kSlow, 1000) + charge_of(kSlow, 65536);
    EXPECT_NEAR(static_cast<double>(counters(s.get(), 1).busy_ns), busy, 1.0);
    EXPECT_EQ(counters(s.get(), 0).messages, 0U);
}

// A clock that is itself years old, and years of run time: the same choices as at the start.
TEST(Time, YearsLater)
{
    const std::uint64_t year = 31557600ULL * 1000000000ULL;
    for (const std::uint64_t origin : {std::uint64_t{0}, 5 * year, 500 * year}) {
        const SchedPtr s = make_sched({kFast, kSlow});
        std::vector<int> first;
        for (const std::uint64_t after : {std::uint64_t{0}, year, 4 * year, 7 * year + year / 2}) {
            std::vector<int> choices;
            for (int i = 0; i < 100; ++i) {
                choices.push_back(send_one(s.get(), origin + after, 4096, 3));
            }
            if (first.empty()) {
                first = choices;
            }
            EXPECT_EQ(choices, first) << origin / year << " + " << after / year << " years";
            EXPECT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), 0, origin + after + year / 8, 4096)),
                        24e3 + 40.0 * 4095, 1.0);
        }
    }
}

// Past the 8 years, and with absurd loads, nothing wraps: the idle best rail is chosen, predictions stay huge
// or sane. A backlog saturates at 13 days.
TEST(Time, SaturatesInsteadOfWrapping)
{
    const std::uint64_t year = 31557600ULL * 1000000000ULL;
    const SchedPtr s = make_sched({kSlow, kFast});
    EXPECT_EQ(send_one(s.get(), 0, 4096, 3), 1);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(send_one(s.get(), 9 * year, 4096, 3), 1);
        EXPECT_EQ(send_one(s.get(), ~std::uint64_t{0}, 4096, 3), 1);
    }
    const fsbml_loggp_t worst = loggp(1e12, 1e12, 1e12, 1e12, 1e6);
    const SchedPtr w = make_sched({worst, kFast});
    std::uint64_t before = 0;
    for (int i = 0; i < 200; ++i) {
        fsbml_sched_charge(w.get(), 0, 1000, ~std::size_t{0});
        const std::uint64_t backlog = fsbml_sched_backlog(w.get(), 0, 1000);
        EXPECT_GE(backlog, before);
        EXPECT_GE(fsbml_sched_predict(w.get(), 0, 1000, ~std::size_t{0}), backlog);
        before = backlog;
        EXPECT_EQ(fsbml_sched_choose(w.get(), 1000, ~std::size_t{0}, 3), 1);
    }
    EXPECT_GT(before, 12 * (year / 365));
}

// A thread whose clock is a little behind the first one's is at the origin, not years ahead.
TEST(Time, BeforeTheOrigin)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    EXPECT_EQ(send_one(s.get(), 1000000, 4096, 3), 0);
    const std::uint64_t backlog = fsbml_sched_backlog(s.get(), 0, 999000);
    EXPECT_NEAR(static_cast<double>(backlog), charge_of(kFast, 4096), 1001.0);
}

// ---------------------------------------------------------------- feedback

// What the transport says replaces what was charged, unless more was charged meanwhile.
TEST(Feedback, CorrectsABacklog)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    fsbml_sched_charge(s.get(), 0, 1000, 1 << 20);
    const std::uint64_t seen = s->impl.vft(0);
    EXPECT_TRUE(s->impl.correct(0, seen, 2000, 5000000));
    EXPECT_EQ(5000000u, fsbml_sched_backlog(s.get(), 0, 2000));
    EXPECT_FALSE(s->impl.correct(0, seen, 2000, 0));
    EXPECT_EQ(5000000u, fsbml_sched_backlog(s.get(), 0, 2000));
    EXPECT_TRUE(s->impl.correct(0, s->impl.vft(0), 2000, 0));
    EXPECT_EQ(0u, fsbml_sched_backlog(s.get(), 0, 2000));
}

// A rail that has become ten times slower costs ten times as much, and another one is ahead of it.
TEST(Feedback, ScalesAModelUntilThereIsAnotherOne)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    fsbml_loggp_t given;
    const std::uint64_t before = fsbml_sched_predict(s.get(), 0, 1000, 1 << 20);
    EXPECT_EQ(0, fsbml_sched_choose(s.get(), 1000, 1 << 20, 3));
    s->impl.scale_model(0, 100.0);
    EXPECT_NEAR(100.0 * static_cast<double>(before),
                static_cast<double>(fsbml_sched_predict(s.get(), 0, 1000, 1 << 20)),
                2.0 * static_cast<double>(before));
    EXPECT_EQ(1, fsbml_sched_choose(s.get(), 1000, 1 << 20, 3));
    ASSERT_TRUE(fsbml_sched_model(s.get(), 0, &given));
    EXPECT_EQ(kFast.G_ns_per_byte, given.G_ns_per_byte); // as it was set
    s->impl.scale_model(0, 1e12);                        // makes it invalid
    EXPECT_EQ(1, fsbml_sched_choose(s.get(), 1000, 1 << 20, 3));
    s->impl.scale_model(0, 1.0);
    EXPECT_EQ(before, fsbml_sched_predict(s.get(), 0, 1000, 1 << 20));
    EXPECT_FALSE(fsbml_sched_model(s.get(), 2, &given));
}
