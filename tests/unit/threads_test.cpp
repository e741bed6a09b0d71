// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Threads on one scheduler: no charge is lost and models can be replaced meanwhile. Meant to run under TSan
// too.
#include "sched.hpp"

#include "test.hpp"

#include <atomic>
#include <thread>

namespace
{

constexpr fsbml_loggp_t kRail = loggp(20e3, 2e3, 2e3, 3e3, 8.0);
constexpr int kCharges = 20000;
constexpr int kAllCharges = 600000; // of all threads: long enough for them to meet on few cores

template <class F>
void run_threads(int n, F body)
{
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) {
        threads.emplace_back([&, i] {
            ++ready;
            while (ready.load() < n) {
            }
            body(i);
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
}

} // namespace

// The sum of all charges stands in the VFT and in the counters, also with more threads than counter stripes.
TEST(Threads, NoChargeIsLost)
{
    for (const int n : {2, 4, 24}) {
        const SchedPtr s = make_sched({kRail, kRail});
        fsbml_sched_choose(s.get(), 1000, 1, 3); // starts the clock
        run_threads(n, [&](int) {
            for (int i = 0; i < kAllCharges / n; ++i) {
                fsbml_sched_charge(s.get(), 0, 1000, 1001);
            }
        });
        const auto messages = std::uint64_t{kAllCharges};
        EXPECT_EQ(fsbml_sched_backlog(s.get(), 0, 1000), messages * 11000U) << n;
        EXPECT_EQ(counters(s.get(), 0).messages, messages) << n;
        EXPECT_EQ(counters(s.get(), 0).bytes, messages * 1001U) << n;
        EXPECT_EQ(counters(s.get(), 0).busy_ns, messages * 11000U) << n;
        EXPECT_EQ(counters(s.get(), 1).messages, 0U) << n;
    }
}

// All policies: threads that choose and charge keep rails of equal speed level and lose no message.
TEST(Threads, ChooseAndCharge)
{
    for (int policy = FSBML_POLICY_ARRIVAL; policy <= FSBML_POLICY_SINGLE; ++policy) {
        const SchedPtr s =
            make_sched(std::vector<fsbml_loggp_t>(4, kRail), static_cast<fsbml_policy_t>(policy));
        std::atomic<int> bad{0};
        run_threads(4, [&](int t) {
            for (int i = 0; i < kCharges; ++i) {
                const std::uint32_t mask = 1U + static_cast<std::uint32_t>(i + t) % 15U;
                const int rail = send_one(s.get(), static_cast<std::uint64_t>(i) * 1000, 512, mask);
                bad += rail < 0 || 0 == (mask >> rail & 1) ? 1 : 0;
            }
        });
        EXPECT_EQ(bad.load(), 0);
        std::uint64_t sum = 0;
        for (std::size_t r = 0; r < 4; ++r) {
            sum += counters(s.get(), r).messages;
        }
        EXPECT_EQ(sum, 4U * kCharges);
    }
}

// Models swapped while others schedule: every charge is one of the two models', or of their mixture, never
// beyond.
TEST(Threads, ModelsAreReplacedMeanwhile)
{
    const fsbml_loggp_t models[2] = {loggp(10e3, 1e3, 1e3, 1e3, 1.0), loggp(90e3, 9e3, 9e3, 9e3, 9.0)};
    const SchedPtr s = make_sched({models[0], models[1]});
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (unsigned i = 0; !stop.load(); ++i) {
            fsbml_sched_set_model(s.get(), i % 2, &models[i / 2 % 2]);
        }
    });
    std::atomic<int> bad{0};
    run_threads(3, [&](int) {
        for (int i = 0; i < kCharges; ++i) {
            const int rail = send_one(s.get(), 1000, 1001, 3);
            bad += rail < 0 || rail > 1 ? 1 : 0;
            // Idle, hence without VFT in it: between the two models' arrivals.
            const std::uint64_t p = fsbml_sched_predict(s.get(), 0, 1ULL << 50, 1001);
            bad += p < 13000 || p > 117000 ? 1 : 0;
        }
    });
    stop = true;
    writer.join();
    EXPECT_EQ(bad.load(), 0);
    const std::uint64_t busy = counters(s.get(), 0).busy_ns + counters(s.get(), 1).busy_ns;
    EXPECT_GE(busy, 3ULL * kCharges * 2000);
    EXPECT_LE(busy, 3ULL * kCharges * 18000);
}

// The clock's first start is raced for: all threads end up on one time scale.
TEST(Threads, ClockStartsOnce)
{
    for (int round = 0; round < 50; ++round) {
        const SchedPtr s = make_sched({kRail, kRail});
        const std::uint64_t base = 1ULL << 60;
        run_threads(4,
                    [&](int t) { fsbml_sched_charge(s.get(), 0, base + static_cast<std::uint64_t>(t), 1); });
        const std::uint64_t backlog = fsbml_sched_backlog(s.get(), 0, base + 3);
        EXPECT_GE(backlog, 4U * 3000U - 3U);
        EXPECT_LE(backlog, 4U * 3000U + 4U);
    }
}
