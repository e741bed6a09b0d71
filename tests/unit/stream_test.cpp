// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Streams over rails in virtual time: plain ones, shaped ones, busy ends, lost stamps.
#include "link.hpp"

using namespace fsbml;

TEST(Stream, FindsTheRateOfRailsFromTenMbitToAHundredGbit)
{
    for (const double G : {800.0, 400.0, 40.0, 8.0, 4.0, 1.6, 0.8, 0.08}) {
        Link link{G, G / 2};
        const fsbml_rate_t rate = rate_of(link);
        EXPECT_NEAR(G, rate.G_ns_per_byte, 0.05 * G);
        EXPECT_LE(rate.low_ns_per_byte, rate.G_ns_per_byte);
        EXPECT_GE(rate.high_ns_per_byte, rate.G_ns_per_byte);
        EXPECT_LT(link.took_ns, 40e6) << G;
    }
}

TEST(Stream, IsNotDeceivedByABucket)
{
    for (const double G : {400.0, 80.0, 40.0, 8.0, 4.0, 1.6}) {
        for (const double bucket : {3e3, 20e3, 200e3, 1e6}) {
            Link link{G, 0.4};
            link.bucket = bucket;
            const fsbml_rate_t rate = rate_of(link);
            EXPECT_NEAR(G, rate.G_ns_per_byte, 0.1 * G) << bucket;
            if (bucket * G > 400e3) {
                EXPECT_NEAR(bucket, rate.burst_bytes, 0.4 * bucket) << G;
            }
            EXPECT_LT(link.took_ns, 120e6) << G << " " << bucket;
        }
    }
}

// With offloads a packet has up to 64 KiB, and a slow rail lets one pass every few milliseconds.
TEST(Stream, IsNotDeceivedByLargePackets)
{
    std::size_t good = 0;
    std::size_t all = 0;
    for (const double G : {160.0, 80.0, 40.0, 16.0, 8.0, 4.0}) {
        for (const double bucket : {70e3, 200e3, 1e6}) {
            for (const double packet : {16e3, 65e3}) {
                Link link;
                link.G = G;
                link.bucket = bucket;
                link.packet = packet;
                link.latency_ns = 20e3;
                const fsbml_rate_t rate = rate_of(link);
                EXPECT_NEAR(G, rate.G_ns_per_byte, 0.15 * G) << bucket << " " << packet;
                EXPECT_LT(link.took_ns, 60e6) << G << " " << bucket << " " << packet;
                good += std::fabs(rate.G_ns_per_byte - G) <= 0.1 * G ? 1 : 0;
                ++all;
            }
        }
    }
    EXPECT_GE(20 * good, 18 * all) << good << " of " << all;
}

// A stream begins slowly, with what is under way until its first answers, and falls behind the rate at first.
TEST(Stream, FindsABucketThoughItBeginsSlowly)
{
    for (const double latency : {20e3, 40e3, 60e3, 80e3}) {
        for (const double look : {2e3, 8e3}) {
            Link link{8.0, 1.5, 70e3, latency};
            link.least_look_ns = look;
            EXPECT_NEAR(55e3, rate_of(link).burst_bytes, 15e3) << latency << " " << look;
        }
    }
}

TEST(Stream, HasNoBucketWhereThereIsNone)
{
    for (const double G : {400.0, 40.0, 4.0, 0.4}) {
        Link link{G, G};
        EXPECT_EQ(0.0, rate_of(link).burst_bytes) << G;
    }
}

// Little is under way: what follows a stream does not wait long for it.
TEST(Stream, QueuesLittle)
{
    for (const double G : {400.0, 40.0, 4.0}) {
        Link link{G, G};
        (void) rate_of(link);
        EXPECT_LT(link.most_queued_ns, 6e6) << G;
    }
    Link link; // the worst: a large bucket before a slow rail
    link.G = 400.0;
    link.bucket = 1e6;
    (void) rate_of(link);
    EXPECT_LT(link.most_queued_ns, 100e6);
}

TEST(Stream, FillsALongWay)
{
    Link link{80.0, 80.0};
    link.latency_ns = 2.5e6;
    const fsbml_streaming_limits_t limits = {32, 65536, 60000000, 180000000};
    EXPECT_NEAR(80.0, rate_of(link, limits).G_ns_per_byte, 4.0);
}

// TCP waits for a frame that was lost.
TEST(Stream, BearsAStall)
{
    for (double at = 0.2e6; at < 8e6; at += 0.3e6) {
        Link link;
        link.stall_at_ns = 1e6 + at;
        link.stall_ns = 200e6;
        EXPECT_NEAR(link.G, rate_of(link).G_ns_per_byte, 0.3 * link.G) << at;
    }
}

TEST(Stream, SaysThatItIsSteadyOnlyWhereItIs)
{
    Link link;
    EXPECT_TRUE(rate_of(link).steady);
    Stream none(kLimits);
    EXPECT_FALSE(none.rate().steady);
    EXPECT_EQ(0.0, none.rate().G_ns_per_byte);
}

// A few stamps are a rate, if a rough one.
TEST(Stream, MakesDoWithTwoStamps)
{
    Stream s(kLimits);
    s.sent(s.next(1000));
    s.sent(s.next(1000));
    s.arrived(1400, 5000, false);
    EXPECT_EQ(0.0, s.rate().G_ns_per_byte);
    s.arrived(2800, 19000, false);
    EXPECT_DOUBLE_EQ(10.0, s.rate().G_ns_per_byte);
    EXPECT_FALSE(s.rate().steady);
}

TEST(Stream, IgnoresWhatCannotBe)
{
    Stream s(kLimits);
    s.sent(s.next(1000));
    s.sent(s.next(1000));
    s.sent(s.next(1000));
    s.arrived(1400, 5000, false);
    s.arrived(1400, 6000, false);    // twice
    s.arrived(1000000, 6000, false); // never sent
    s.arrived(2800, 4000, false);    // before
    s.arrived(2800, 19000, false);
    EXPECT_DOUBLE_EQ(10.0, s.rate().G_ns_per_byte);
}

TEST(Stream, EndsWhateverArrives)
{
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        Stream s(kLimits);
        std::uint64_t now = 1;
        std::uint64_t sent = 0;
        std::uint64_t arrived = 0;
        for (int turn = 0; !s.drained(); ++turn) {
            ASSERT_LT(turn, 1000000) << "seed " << seed;
            now += random() % 100000;
            if (const std::uint32_t bytes = s.next(now); 0 != bytes) {
                s.sent(bytes);
                sent += bytes;
            }
            if (sent > arrived && random() % 4 != 0) {
                arrived += 1 + random() % (sent - arrived);
                s.arrived(arrived, now, 0 == random() % 16);
            }
        }
        const fsbml_rate_t rate = s.rate();
        EXPECT_TRUE(std::isfinite(rate.G_ns_per_byte) && rate.G_ns_per_byte >= 0.0) << "seed " << seed;
        EXPECT_TRUE(std::isfinite(rate.burst_bytes) && rate.burst_bytes >= 0.0) << "seed " << seed;
    }
}

TEST(StreamApi, ChecksItsArguments)
{
    fsbml_streaming_limits_t limits = kLimits;
    errno = 0;
    EXPECT_EQ(nullptr, fsbml_streaming_create(nullptr));
    EXPECT_EQ(EINVAL, errno);
    limits.most_bytes = 1;
    EXPECT_EQ(nullptr, fsbml_streaming_create(&limits));
    limits = kLimits;
    limits.longest_ns = 1;
    EXPECT_EQ(nullptr, fsbml_streaming_create(&limits));
    EXPECT_EQ(0U, fsbml_streaming_next(nullptr, 1));
    EXPECT_TRUE(fsbml_streaming_over(nullptr));
    EXPECT_EQ(0.0, fsbml_streaming_rate(nullptr).G_ns_per_byte);
    fsbml_streaming_t *s = fsbml_streaming_create(&kLimits);
    ASSERT_NE(nullptr, s);
    EXPECT_GT(fsbml_streaming_next(s, 1), 0U);
    EXPECT_FALSE(fsbml_streaming_over(s));
    fsbml_streaming_destroy(s);
}
