// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Streams between ends that are away from time to time, as others have the processors.
#include "link.hpp"

using namespace fsbml;

TEST(StreamBusy, BearsBusyProcessors)
{
    std::size_t good = 0;
    std::size_t all = 0;
    for (const double G : {400.0, 80.0, 8.0, 4.0, 0.8}) {
        for (int phase = 0; phase < 8; ++phase) {
            for (const double other : {0.0, 2e6, 3e6}) { // both look half, a quarter, an eighth of the time
                Link link{G, G};
                link.sender_away = busy(phase * 1e6);
                link.receiver_away = busy(phase * 1e6 + other);
                const fsbml_rate_t rate = rate_of(link);
                EXPECT_GT(rate.G_ns_per_byte, 0.0);
                EXPECT_LT(link.took_ns, 100e6);
                good += std::fabs(rate.G_ns_per_byte - G) <= 0.3 * G ? 1 : 0;
                ++all;
            }
        }
    }
    EXPECT_GE(good * 20, all * 17) << good << " of " << all;
}

// A bucket that fills in each pause makes a rail look like the line in front of it.
TEST(StreamBusy, BearsBusyProcessorsBehindABucket)
{
    int good = 0;
    int far_too_fast = 0;
    constexpr int kRuns = 480;
    for (int run = 0; run < kRuns; ++run) {
        Link link{86.0, 3.4};
        link.bucket = run % 4 < 2 ? 70e3 : 200e3;
        link.packet = run % 8 < 4 ? 0.0 : 65e3;
        link.sender_away = at_random(2 * run, run % 2 == 0 ? 1e6 : 4e6);
        link.receiver_away = at_random(2 * run + 1, run % 2 == 0 ? 1e6 : 4e6);
        const double found = rate_of(link).G_ns_per_byte / link.G;
        good += found >= 0.7 && found <= 1.4 ? 1 : 0;
        far_too_fast += found < 1.0 / 3.0 ? 1 : 0;
    }
    EXPECT_GE(20 * good, 19 * kRuns) << good;
    EXPECT_LE(100 * far_too_fast, kRuns) << far_too_fast;
}

// Ends of which one never looks while the other does.
TEST(StreamBusy, HasARateInAnyCase)
{
    for (int phase = 0; phase < 8; ++phase) {
        Link link;
        link.sender_away = busy(phase * 1e6);
        link.receiver_away = busy(phase * 1e6 + 3.9e6);
        const fsbml_rate_t rate = rate_of(link);
        EXPECT_GT(rate.G_ns_per_byte, 0.0);
        EXPECT_FALSE(rate.steady);
        EXPECT_LT(link.took_ns, 100e6);
    }
}

// All that is known of a stream with pauses is how long it took: from the first that came on time.
TEST(StreamBusy, IsNoFasterForAReceiverThatIsLateAtFirst)
{
    Stream s(kLimits);
    std::uint64_t came = 0;
    for (int i = 1; i <= 6; ++i) { // 100 ns a byte; the first three are taken in at 30 ms
        const std::uint32_t bytes = s.next(1000);
        ASSERT_NE(0u, bytes);
        s.sent(bytes);
        came += bytes;
        const std::uint64_t at = 100 * came;
        const bool away = i != 4;
        s.arrived(came, std::max<std::uint64_t>(at, i < 4 ? 100 * 3 * came / i : 0), away);
    }
    EXPECT_NEAR(100.0, s.rate().G_ns_per_byte, 1.0);
}

constexpr int kRuns = 200;

struct Found {
    int good = 0, far_too_fast = 0;
};

// 70 kB, with offloads; what comes in waits for a processor as well.
Found behind_a_bucket(bool asks_kernel, bool acks_wait)
{
    Found found;
    for (int run = 0; run < kRuns; ++run) {
        Link link{run % 2 == 0 ? 84.0 : 42.0, 0.8};
        link.bucket = 70e3;
        link.packet = 65e3;
        link.takes = 5.0;
        link.least_look_ns = 3000.0;
        link.kernel_away = at_random(1000 + run, 5e6);
        link.asks_kernel = asks_kernel;
        link.acks_wait = acks_wait;
        link.sender_away = at_random(2 * run, run % 4 < 2 ? 8e6 : 12e6);
        link.receiver_away = at_random(2 * run + 1, run % 4 < 2 ? 8e6 : 12e6);
        const double by = rate_of(link).G_ns_per_byte / link.G;
        found.good += by >= 0.7 && by <= 1.5 ? 1 : 0;
        found.far_too_fast += by < 1.0 / 3.0 ? 1 : 0;
    }
    return found;
}

TEST(StreamBusy, GoesByTheKernelWhereEndsAreAwayForLong)
{
    EXPECT_GE(behind_a_bucket(false, false).far_too_fast, kRuns / 8); // or this test tests nothing
    for (const bool acks_wait : {false, true}) {
        const Found found = behind_a_bucket(true, acks_wait);
        EXPECT_GE(found.good, kRuns * 6 / 10) << acks_wait;
        EXPECT_LE(found.far_too_fast, kRuns / 20) << acks_wait;
    }
}

TEST(StreamBusy, TheKernelSaysNothingOfARailThatWasThrough)
{
    Backlog backlog;
    std::uint64_t ns = 1'000'000;
    for (std::uint64_t i = 0; i < 60; ++i, ns += 1'000'000) { // by every third look
        backlog.look({ns, i * 50'000, i % 3 == 2 ? 0U : 200'000U, 0});
    }
    EXPECT_EQ(0.0, backlog.G());
    for (std::uint64_t i = 0; i < 20; ++i, ns += 1'000'000) { // the receiver has no room
        backlog.look({ns, 4'000'000 + i * 50'000, 200'000, (i + 1) * 500'000});
    }
    EXPECT_EQ(0.0, backlog.G());
    for (std::uint64_t i = 0; i < 20; ++i) { // it is another connection each time
        backlog.look({ns += 1'000'000, 60'000'000 - i, 200'000, 0});
    }
    EXPECT_EQ(0.0, backlog.G());
    backlog.look({ns += 1'000'000, 6'000'000, 700'000, 0});
    backlog.look({ns += 1'000'000, 6'500'000, 200'000, 0}); // out of a bucket
    for (std::uint64_t i = 1; i <= 20; ++i) {
        backlog.look({ns += 1'000'000, 6'500'000 + i * 50'000, 200'000, 0});
    }
    EXPECT_DOUBLE_EQ(20.0, backlog.G());
}

// Nothing came on time, and the whole took five times as long as the kernel did.
TEST(StreamBusy, IsNoSlowerThanTheKernelForItsPauses)
{
    Stream s(kLimits);
    std::uint64_t came = 0;
    for (std::uint64_t ns = 1'000'000; ns < 20'000'000; ns += 1'000'000) {
        s.look({ns, ns / 20, 200'000, 0});
        const std::uint32_t bytes = s.next(ns);
        s.sent(bytes);
        came += bytes;
        s.arrived(came, 100 * came, true);
    }
    EXPECT_EQ(0U, s.rate().stamps);
    EXPECT_NEAR(20.0, s.rate().G_ns_per_byte, 0.1);
}
