// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The node's ledger: schedulers of several processes see each other's charges, nothing is lost, and neither
// dead processes nor garbage hold any process up.
#include "node.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <random>
#include <thread>

#include <signal.h>

// Two schedulers: what one charges moves the other's next message to the other rail.
TEST_F(LedgerTest, ChargesAreSeen)
{
    const LedgerPtr a = open();
    const LedgerPtr b = open(0, kNow + 500);
    ASSERT_TRUE(a && b) << reason;
    EXPECT_EQ(fsbml_ledger_joined(a.get()), 2U);
    const SchedPtr first = sharing(a.get());
    const SchedPtr second = sharing(b.get());
    EXPECT_EQ(send_one(first.get(), kNow, 1001, 3), 0);
    EXPECT_EQ(backlog(second, 0), 11000U);
    EXPECT_EQ(send_one(second.get(), kNow, 1001, 3), 1);
    EXPECT_EQ(backlog(first, 1), 11000U);
    EXPECT_EQ(backlog(first, 1, kNow + 1000), 10000U); // one clock
    EXPECT_EQ(counters(first.get(), 1).messages, 0U);  // counters are of a process
}

// Rails are known by their keys: ranks that leave out the first or last share the rest, other rails are
// apart.
TEST_F(LedgerTest, RailsByKey)
{
    const char *const later[] = {kKeys[1], kKeys[2]};
    const char *const swapped[] = {kKeys[1], kKeys[0]};
    const LedgerPtr l = open();
    ASSERT_TRUE(l) << reason;
    const SchedPtr all = sharing(l.get(), 3);
    const SchedPtr front = sharing(l.get(), 2);
    const SchedPtr back = sharing(l.get(), 2, later);
    const SchedPtr other = sharing(l.get(), 2, swapped);
    const SchedPtr same = sharing(l.get(), 2, swapped);
    fsbml_sched_charge(all.get(), 1, kNow, 1001);
    EXPECT_EQ(backlog(front, 1), 11000U);
    EXPECT_EQ(backlog(back, 0), 11000U);
    EXPECT_EQ(backlog(front, 0) + backlog(back, 1) + backlog(other, 0) + backlog(other, 1), 0U);
    fsbml_sched_charge(other.get(), 0, kNow, 1001);
    EXPECT_EQ(backlog(same, 0), 11000U);
    EXPECT_EQ(backlog(front, 1), 11000U);
}

// Where there is no room, the scheduler stays as it was.
TEST_F(LedgerTest, Full)
{
    const LedgerPtr l = open();
    ASSERT_TRUE(l) << reason;
    const SchedPtr s = make_sched({kRail, kRail});
    int rc = 0;
    int sets = 0;
    for (; 0 == rc && sets < 1000; ++sets) {
        const std::string a = "a" + std::to_string(sets);
        const std::string b = "b" + std::to_string(sets);
        const char *const keys[] = {a.c_str(), b.c_str()};
        fsbml_sched_charge(s.get(), 0, kNow, 1001);
        rc = fsbml_sched_share(s.get(), l.get(), keys);
    }
    EXPECT_EQ(rc, -ENOSPC);
    EXPECT_EQ(sets, FSBML_MAX_RAILS + 1);
    EXPECT_EQ(backlog(s, 0), 11000U); // of the last one that fitted
}

TEST_F(LedgerTest, BadArguments)
{
    const LedgerPtr l = open();
    ASSERT_TRUE(l) << reason;
    const SchedPtr s = make_sched({kRail, kRail});
    const char *const keys[] = {"a", nullptr};
    EXPECT_EQ(fsbml_sched_share(nullptr, l.get(), kKeys), -EINVAL);
    EXPECT_EQ(fsbml_sched_share(s.get(), l.get(), nullptr), -EINVAL);
    EXPECT_EQ(fsbml_sched_share(s.get(), l.get(), keys), -EINVAL);
    EXPECT_EQ(fsbml_ledger_open(nullptr, reason), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(fsbml_ledger_joined(nullptr), 0U);
    fsbml_ledger_close(nullptr);
}

// Back to its own state: the ledger keeps what was charged to it and gets no more.
TEST_F(LedgerTest, Detach)
{
    const LedgerPtr l = open();
    ASSERT_TRUE(l) << reason;
    const SchedPtr s = make_sched({kRail, kRail});
    fsbml_sched_charge(s.get(), 0, kNow - 1000, 1001);
    ASSERT_EQ(fsbml_sched_share(s.get(), l.get(), kKeys), 0);
    EXPECT_EQ(backlog(s, 0), 0U); // begins anew
    fsbml_sched_charge(s.get(), 0, kNow, 1001);
    const SchedPtr other = sharing(l.get());
    ASSERT_EQ(fsbml_sched_share(s.get(), nullptr, nullptr), 0);
    EXPECT_EQ(backlog(s, 0), 0U);
    fsbml_sched_charge(s.get(), 0, kNow, 2001);
    EXPECT_EQ(backlog(s, 0), 19000U);
    EXPECT_EQ(backlog(other, 0), 11000U);
}

// Processes that charge at once: the sum of all charges stands in the VFT.
TEST_F(LedgerTest, NoChargeOfAProcessIsLost)
{
    constexpr int kProcesses = 4;
    constexpr int kCharges = 100000;
    const LedgerPtr l = open();
    ASSERT_TRUE(l) << reason;
    const SchedPtr s = sharing(l.get());
    std::vector<pid_t> pids;
    for (int i = 0; i < kProcesses; ++i) {
        pids.push_back(child([&] {
            const LedgerPtr mine = open();
            if (!mine) {
                return 1;
            }
            const SchedPtr own = sharing(mine.get());
            for (int k = 0; k < kCharges; ++k) {
                fsbml_sched_charge(own.get(), 1, kNow, 1001);
            }
            return 0;
        }));
    }
    for (const pid_t pid : pids) {
        EXPECT_EQ(status_of(pid), 0);
    }
    EXPECT_EQ(backlog(s, 1), std::uint64_t{11000} * kProcesses * kCharges);
    EXPECT_EQ(backlog(s, 0), 0U);
}

// Processes that are killed at any instant, while they make, join, claim and charge: every process that is
// left, or comes later, goes on.
TEST_F(LedgerTest, KilledProcesses)
{
    const unsigned seed = std::random_device{}();
    RecordProperty("seed", static_cast<int>(seed));
    std::mt19937 random(seed);
    const auto busy = [&] {
        for (std::uint64_t n = 0;; ++n) {
            const LedgerPtr mine = open();
            if (!mine) {
                return 1;
            }
            const std::string key = "rail " + std::to_string(n % 8);
            const char *const keys[] = {kKeys[0], key.c_str()};
            const SchedPtr s = make_sched({kRail, kRail});
            (void) fsbml_sched_share(s.get(), mine.get(), keys);
            for (int k = 0; k < 100; ++k) {
                send_one(s.get(), kNow + n, 1001, 3);
            }
        }
    };
    for (int round = 0; round < 40; ++round) {
        // Every other time a survivor holds the ledger, else the killed ones' file is left over.
        LedgerPtr held = 0 == round % 2 ? open() : nullptr;
        const pid_t pids[] = {child(busy), child(busy)};
        usleep(random() % 3000);
        for (const pid_t pid : pids) {
            kill(pid, SIGKILL);
            EXPECT_EQ(status_of(pid), -1) << "it ended by itself; seed " << seed << " round " << round;
        }
        LedgerPtr next = open();
        ASSERT_TRUE(next) << reason << "; seed " << seed << " round " << round;
        const SchedPtr s = sharing(next.get());
        const std::uint64_t before = backlog(s, 0);
        EXPECT_LE(before, 70 * kSecond);
        fsbml_sched_charge(s.get(), 0, kNow, 1001);
        EXPECT_GE(backlog(s, 0), std::max(before, std::uint64_t{11000}))
            << "seed " << seed << " round " << round;
        if (held) {
            const SchedPtr survivor = sharing(held.get());
            EXPECT_EQ(backlog(survivor, 0), backlog(s, 0)) << "seed " << seed << " round " << round;
        } else {
            EXPECT_EQ(fsbml_ledger_joined(next.get()), 1U) << "seed " << seed << " round " << round;
        }
    }
}

// A VFT that no charge can have made delays no message, and the next charge repairs it; one that might be
// real is over soon.
TEST_F(LedgerTest, GarbageRecovers)
{
    const LedgerPtr l = open();
    ASSERT_TRUE(l) << reason;
    for (int policy = FSBML_POLICY_ARRIVAL; policy <= FSBML_POLICY_THESIS; ++policy) {
        for (const std::uint64_t garbage :
             {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 43}) {
            const SchedPtr s = make_sched({kRail, kRail}, static_cast<fsbml_policy_t>(policy));
            ASSERT_EQ(fsbml_sched_share(s.get(), l.get(), kKeys), 0);
            for (std::size_t i = 0; i < 2; ++i) {
                const std::size_t at = offsetof(fsbml::Ledger, slot) + i * sizeof(fsbml::VftSlot)
                                       + offsetof(fsbml::VftSlot, vft);
                const std::uint64_t vft = 0 == i ? garbage : 0;
                write(&vft, sizeof(vft), static_cast<long>(at));
            }
            EXPECT_EQ(backlog(s, 0), 0U);
            EXPECT_EQ(fsbml_sched_predict(s.get(), 0, kNow, 1), 24000U);
            EXPECT_EQ(send_one(s.get(), kNow, 1001, 3), 0);
            EXPECT_EQ(backlog(s, 0), 11000U);
            EXPECT_EQ(send_one(s.get(), kNow, 1001, 3), 1);
        }
    }
    const SchedPtr s = sharing(l.get());
    for (int i = 0; i < 100; ++i) {
        fsbml_sched_charge(s.get(), 0, kNow, std::size_t{1} << 30);
    }
    EXPECT_GT(backlog(s, 0), 60 * kSecond);
    EXPECT_EQ(backlog(s, 0, kNow + 70 * kSecond), 0U);
}

// A ledger that comes and goes while threads schedule: they choose well, and leave no VFT of another clock in
// it.
TEST_F(LedgerTest, ThreadsGoOn)
{
    const LedgerPtr l = open(0, 90 * kSecond); // younger than the schedulers' own clock
    ASSERT_TRUE(l) << reason;
    const std::uint64_t now = 100 * kSecond;
    const SchedPtr s = make_sched({kRail, kRail});
    fsbml_sched_charge(s.get(), 0, 1, 1);
    std::atomic<bool> stop{false};
    std::atomic<int> bad{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            while (!stop.load()) {
                bad += send_one(s.get(), now, 1, 3) < 0 ? 1 : 0;
            }
        });
    }
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(fsbml_sched_share(s.get(), 0 == i % 2 ? l.get() : nullptr, kKeys), 0);
        std::this_thread::yield();
    }
    stop = true;
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(bad.load(), 0);
    const std::uint64_t charged = counters(s.get(), 0).busy_ns + counters(s.get(), 1).busy_ns;
    const SchedPtr after = sharing(l.get());
    EXPECT_LE(backlog(after, 0, now), charged);
    EXPECT_LE(backlog(after, 1, now), charged);
}
