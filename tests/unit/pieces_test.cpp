// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Gaps of two pieces and overheads by size: the scheduler's integers against the model in doubles.
#include "sched.hpp"

#include "test.hpp"

#include <atomic>
#include <thread>

namespace
{

constexpr std::uint64_t kIdle = std::uint64_t{1} << 50; // ns: every rail is long idle

// gap(s) as the scheduler takes it: never less than that of a smaller message.
double gap_of(const fsbml_loggp_t &p, double s)
{
    const auto below = [&](double bytes) { return p.g_ns + p.G_ns_per_byte * (bytes - 1.0); };
    if (0.0 == p.break_bytes || s < p.break_bytes) {
        return below(s);
    }
    return std::max(p.g_above_ns, below(p.break_bytes - 1.0)) + p.G_above_ns_per_byte * (s - p.break_bytes);
}

// max(now + o_s, VFT - credit) + what follows: L + gap(s) - gap(1) + (O_s + O_r) (s-1) + o_r. `more` is what
// ties add.
double arrival_of(const fsbml_loggp_t &p, double s, double now, double vft, double more = 0.0)
{
    const bool above = p.break_bytes > 0.0 && s >= p.break_bytes;
    const double bytes =
        ((above ? p.G_above_ns_per_byte : p.G_ns_per_byte) + p.O_s_ns_per_byte + p.O_r_ns_per_byte)
        * (s - 1.0);
    return std::max(now + p.o_s_ns, vft - credit_of(p, bytes)) + p.L_ns + gap_of(p, s) - p.g_ns + p.o_r_ns
           + (p.O_s_ns_per_byte + p.O_r_ns_per_byte) * (s - 1.0) + more;
}

// 400 us at the break.
constexpr fsbml_loggp_t kBroken = broken(loggp(20e3, 2e3, 3e3, 4e3, 8.0), 32769, 400e3, 12.0);

class Random
{
public:
    explicit Random(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    double log_uniform(double low, double high)
    {
        return low * std::pow(high / low, std::uniform_real_distribution<double>(0.0, 1.0)(random_));
    }
    fsbml_loggp_t rail()
    {
        fsbml_loggp_t p = loggp(log_uniform(100.0, 1e6), log_uniform(100.0, 1e5), log_uniform(100.0, 1e5),
                                log_uniform(100.0, 1e5), log_uniform(0.01, 1e3));
        p.O_s_ns_per_byte = 0 != below(4) ? log_uniform(1e-4, 10.0) : 0.0;
        p.O_r_ns_per_byte = 0 != below(4) ? log_uniform(1e-4, 10.0) : 0.0;
        if (0 != below(4)) {
            // Some breaks are common to several rails, some are not; some gaps jump up, some a little down.
            const double from = 0 != below(2) ? 32769.0 : 2.0 + static_cast<double>(below(65536));
            const double before = p.g_ns + p.G_ns_per_byte * (from - 1.0);
            p = broken(p, from, before * log_uniform(0.6, 3.0), p.G_ns_per_byte * log_uniform(0.2, 5.0));
        }
        return p;
    }
    // Any size, or one next to a rail's break.
    std::size_t bytes(const std::vector<fsbml_loggp_t> &models)
    {
        const double from = models[below(models.size())].break_bytes;
        if (from > 0.0 && 0 != below(2)) {
            return static_cast<std::size_t>(from) - 1 + below(3);
        }
        return 1 + below(131072);
    }

private:
    std::mt19937_64 random_;
};

} // namespace

// The sizes on both sides of the break, by the formulas: the gap, and an idle rail's delivery.
TEST(Pieces, OnBothSidesOfTheBreak)
{
    fsbml_loggp_t p = kBroken;
    p.O_s_ns_per_byte = 0.5;
    p.O_r_ns_per_byte = 0.25;
    const struct {
        std::size_t bytes;
        double gap;
    } cases[] = {{1, 4e3},       {2, 4008.0},       {32768, 4e3 + 8.0 * 32767},
                 {32769, 400e3}, {32770, 400012.0}, {65537, 793216.0}};
    for (const auto &c : cases) {
        const SchedPtr s = make_sched({p});
        const double overheads = 0.75 * static_cast<double>(c.bytes - 1);
        EXPECT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), 0, kIdle, c.bytes)),
                    25e3 + c.gap - 4e3 + overheads, 1.0)
            << c.bytes;
        fsbml_sched_charge(s.get(), 0, kIdle, c.bytes);
        EXPECT_NEAR(static_cast<double>(fsbml_sched_backlog(s.get(), 0, kIdle)), c.gap, 1.0) << c.bytes;
    }
}

// On a busy rail o_s overlaps the wait; what the bytes add does not, as they are copied when it is over.
TEST(Pieces, OverheadsOverlapTheWait)
{
    fsbml_loggp_t p = loggp(20e3, 2e3, 3e3, 4e3, 8.0);
    p.O_s_ns_per_byte = 4.0;
    const SchedPtr s = make_sched({p});
    fsbml_sched_charge(s.get(), 0, kIdle, 10001); // 84 us
    const auto predict = [&](std::size_t bytes) {
        return static_cast<double>(fsbml_sched_predict(s.get(), 0, kIdle, bytes));
    };
    EXPECT_NEAR(predict(1), 84e3 + 20e3 + 3e3, 1.0);
    EXPECT_NEAR(predict(10001), 84e3 + 20e3 + 120e3 + 3e3, 1.0);
}

// Choices, charges and predictions are those of doubles, over random rails, and sizes around their breaks.
TEST(Pieces, AgreeWithDoubles)
{
    const std::uint64_t seed = 2718;
    Random random(seed);
    for (int run = 0; run < 300; ++run) {
        std::vector<fsbml_loggp_t> models(1 + random.below(8));
        for (fsbml_loggp_t &p : models) {
            p = random.rail();
            p.burst_ns = 0 != run % 3 ? random.log_uniform(100.0, 1e8) : 0.0;
        }
        const SchedPtr s = make_sched(models);
        // What settles near ties is not of this test: what it adds is that of one byte, whatever the size.
        std::vector<double> ties;
        for (std::size_t r = 0; r < models.size(); ++r) {
            ties.push_back(static_cast<double>(fsbml_sched_predict(s.get(), r, kIdle, 1))
                           - arrival_of(models[r], 1, 0.0, 0.0));
        }
        std::vector<double> vft(models.size(), 0.0);
        auto now = static_cast<double>(kIdle); // where a double is exact to 1/8 ns, at each step
        for (int i = 0; i < 200; ++i) {
            now += std::floor(random.log_uniform(1.0, 1e6));
            const auto at = static_cast<std::uint64_t>(now);
            const std::size_t bytes = random.bytes(models);
            const std::uint32_t mask =
                0 != i % 4 ? all_rails(models.size())
                           : 1 + static_cast<std::uint32_t>(random.below(all_rails(models.size())));
            double best = INFINITY;
            std::vector<double> wait(models.size());
            for (std::size_t r = 0; r < models.size(); ++r) {
                wait[r] = arrival_of(models[r], static_cast<double>(bytes), 0.0, vft[r] - now, ties[r]);
                ASSERT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), r, at, bytes)), wait[r],
                            2.0 + 0.1 * i + 1e-6 * wait[r])
                    << "seed " << seed << " run " << run << " bytes " << bytes << " rail " << r;
                wait[r] += handicap_of(models, r);
                best = 0 != (mask >> r & 1) ? std::min(best, wait[r]) : best;
            }
            const int got = send_one(s.get(), at, bytes, mask);
            ASSERT_GE(got, 0);
            const auto rail = static_cast<std::size_t>(got);
            ASSERT_NE(mask >> rail & 1, 0U);
            ASSERT_NEAR(wait[rail], best, 2.0 + 0.1 * i + 1e-6 * best)
                << "seed " << seed << " run " << run << " bytes " << bytes;
            vft[rail] = std::max(vft[rail], now) + gap_of(models[rail], static_cast<double>(bytes));
            ASSERT_NEAR(static_cast<double>(fsbml_sched_backlog(s.get(), rail, at)), vft[rail] - now,
                        2.0 + 0.1 * i)
                << "seed " << seed << " run " << run << " bytes " << bytes;
        }
    }
}

// A gap that drops at the break, within what is valid, is kept level: no larger message is cheaper.
TEST(Pieces, NoLargerMessageIsCheaper)
{
    const fsbml_loggp_t falling = broken(loggp(20e3, 2e3, 2e3, 3e3, 8.0), 32769, 140e3, 4.0);
    const fsbml_loggp_t tiny = broken(loggp(0, 0, 0, 0, 0.001), 2, 0.001, 0.001);
    for (const fsbml_loggp_t &p : {kBroken, falling, tiny}) {
        const SchedPtr s = make_sched({p});
        std::uint64_t before = 0;
        std::uint64_t now = kIdle;
        const auto from = static_cast<std::size_t>(p.break_bytes);
        for (std::size_t bytes = from - std::min<std::size_t>(from, 40); bytes < from + 40; ++bytes) {
            const fsbml_rail_counters_t was = counters(s.get(), 0);
            for (int i = 0; i < 64; ++i) { // in ticks
                fsbml_sched_charge(s.get(), 0, now, bytes);
            }
            const std::uint64_t cost = counters(s.get(), 0).busy_ns - was.busy_ns;
            EXPECT_GE(cost + 1, before) << bytes;
            EXPECT_GE(cost + 1, 1U) << bytes;
            before = cost;
            now += std::uint64_t{1} << 40;
        }
    }
}

// A break of another rail changes nothing for one that has none.
TEST(Pieces, AreEachRailsOwn)
{
    const fsbml_loggp_t straight = loggp(20e3, 2e3, 2e3, 3e3, 5.0); // the lowest G: no ties settle it
    const SchedPtr alone = make_sched({straight});
    const SchedPtr beside = make_sched({straight, kBroken, broken(straight, 100, 5e3, 3.0)});
    for (const std::size_t bytes : {0U, 1U, 99U, 100U, 101U, 32768U, 32769U, 1000000U}) {
        EXPECT_EQ(fsbml_sched_predict(beside.get(), 0, kIdle, bytes),
                  fsbml_sched_predict(alone.get(), 0, kIdle, bytes))
            << bytes;
    }
}

// As many breaks as there can be rails, each at its place.
TEST(Pieces, EachRailWithAnotherBreak)
{
    std::vector<fsbml_loggp_t> models;
    for (int i = 0; i < FSBML_MAX_RAILS; ++i) { // later ones first
        models.push_back(broken(loggp(1e3, 1e3, 1e3, 1e3, 10.0), 40000 - 1000.0 * i, 500e3, 20.0));
    }
    const SchedPtr s = make_sched(models);
    for (std::size_t r = 0; r < models.size(); ++r) {
        const auto from = static_cast<std::size_t>(models[r].break_bytes);
        for (const std::size_t bytes : {from - 1, from, from + 1}) {
            fsbml_sched_charge(s.get(), r, kIdle, bytes);
            const double gap = gap_of(models[r], static_cast<double>(bytes));
            EXPECT_NEAR(static_cast<double>(fsbml_sched_backlog(s.get(), r, kIdle)), gap, 1.0) << bytes;
            const SchedPtr anew = make_sched({models[r]});
            fsbml_sched_charge(anew.get(), 0, kIdle, bytes);
            EXPECT_NEAR(static_cast<double>(fsbml_sched_backlog(anew.get(), 0, kIdle)), gap, 1.0);
            ASSERT_EQ(fsbml_sched_share(s.get(), nullptr, nullptr), 0); // all idle again
        }
    }
}

// A new model takes the break of the old one away, or moves it.
TEST(Pieces, ModelsAreReplaced)
{
    const SchedPtr s = make_sched({kBroken, kBroken});
    const auto predict = [&](std::size_t rail) {
        return static_cast<double>(fsbml_sched_predict(s.get(), rail, kIdle, 40001));
    };
    EXPECT_NEAR(predict(0), 25e3 + 396e3 + 12.0 * 7232, 1.0);
    const fsbml_loggp_t straight = loggp(20e3, 2e3, 3e3, 4e3, 8.0);
    ASSERT_EQ(fsbml_sched_set_model(s.get(), 0, &straight), 0);
    EXPECT_NEAR(predict(0), 25e3 + 8.0 * 40000, 1.0);
    EXPECT_NEAR(predict(1), 25e3 + 396e3 + 12.0 * 7232, 1.0);
    const fsbml_loggp_t moved = broken(straight, 40002, 400e3, 8.0);
    ASSERT_EQ(fsbml_sched_set_model(s.get(), 1, &moved), 0);
    EXPECT_NEAR(predict(1), 25e3 + 8.0 * 40000, 1.0);
}

// Policy `single` compares what 64 KiB cost, above a break by the second line.
TEST(Pieces, SingleComparesTheBulkCost)
{
    const fsbml_loggp_t straight = loggp(20e3, 2e3, 3e3, 4e3, 10.0); // 659 us; the broken one 793 us
    const SchedPtr s = make_sched({kBroken, straight}, FSBML_POLICY_SINGLE);
    EXPECT_EQ(fsbml_sched_choose(s.get(), kIdle, 1, 3), 1);
    const fsbml_loggp_t later = broken(loggp(20e3, 2e3, 3e3, 4e3, 8.0), 65537, 600e3, 12.0); // 528 us
    ASSERT_EQ(fsbml_sched_set_model(s.get(), 0, &later), 0);
    EXPECT_EQ(fsbml_sched_choose(s.get(), kIdle, 1, 3), 0);
}

// The largest parameters at once wrap nothing.
TEST(Pieces, NothingWraps)
{
    fsbml_loggp_t worst = broken(loggp(1e12, 1e12, 1e12, 1e12, 1e6, 1e12), 1000.0, 1e12, 1e6);
    worst.O_s_ns_per_byte = worst.O_r_ns_per_byte = 1e3;
    const SchedPtr s = make_sched({worst, loggp(1e3, 1e3, 1e3, 1e3, 1.0)});
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{999}, std::size_t{1000}, ~std::size_t{0}}) {
        EXPECT_EQ(fsbml_sched_choose(s.get(), kIdle, bytes, 3), 1) << bytes;
        EXPECT_GE(fsbml_sched_predict(s.get(), 0, kIdle, bytes), 3000000000000U) << bytes;
        fsbml_sched_charge(s.get(), 0, kIdle, bytes);
        EXPECT_GE(fsbml_sched_backlog(s.get(), 0, kIdle), 1000000000000U) << bytes;
    }
}

// Breaks that come, go and move while others schedule: a charge may be of a mixture, but none is nothing, and
// none puts a rail out of use.
TEST(Pieces, AreReplacedWhileOthersSchedule)
{
    // Their second lines begin below 0.
    const fsbml_loggp_t models[] = {loggp(10e3, 1e3, 1e3, 1e3, 1.0),
                                    broken(loggp(10e3, 1e3, 1e3, 1e3, 1.0), 1000, 3e3, 100.0),
                                    broken(loggp(10e3, 1e3, 1e3, 1e3, 2.0), 3000, 9e3, 50.0)};
    const SchedPtr s = make_sched({models[0], models[1]});
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (unsigned i = 0; !stop.load(); ++i) {
            fsbml_sched_set_model(s.get(), i % 2, &models[i / 2 % 3]);
        }
    });
    constexpr int kCharges = 50000;
    int bad = 0;
    for (int i = 0; i < kCharges; ++i) {
        const int rail = send_one(s.get(), kIdle, 900 + 700 * static_cast<std::size_t>(i % 4), 3);
        bad += rail < 0 || rail > 1 ? 1 : 0;
    }
    stop = true;
    writer.join();
    EXPECT_EQ(bad, 0);
    // The dearest mixture: 9 us and 100 ns for each of 3000 bytes.
    const std::uint64_t busy = counters(s.get(), 0).busy_ns + counters(s.get(), 1).busy_ns;
    EXPECT_GT(busy, std::uint64_t{kCharges} / 64);
    EXPECT_LE(busy, std::uint64_t{kCharges} * 310000);
    EXPECT_EQ(counters(s.get(), 0).messages + counters(s.get(), 1).messages, std::uint64_t{kCharges});
}
