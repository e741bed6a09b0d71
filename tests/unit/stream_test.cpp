// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Streams over rails in virtual time: plain ones, shaped ones, busy ends, lost stamps.
#include "measure/start/start.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

constexpr fsbml_streaming_limits_t kLimits = {32, 65536, 8000000, 24000000};

// A rail of G ns/byte behind a bucket that lets `bucket` bytes pass at line speed and fills at the rail's
// rate, and ends that are away from time to time: `away(t)` is until when an end that should look at t does
// not.
struct Link {
    double G = 10.0;
    double line = 0.5;
    double bucket = 0.0;
    double latency_ns = 10000.0;
    double packet = 0.0; // offloads: what waits passes in packets of up to so many bytes, each at once
    std::function<double(double)> sender_away = [](double t) { return t; };
    std::function<double(double)> receiver_away = [](double t) { return t; };
    double least_look_ns = 500.0;
    double stall_at_ns = 0.0; // nothing gets through for so long
    double stall_ns = 0.0;

    double took_ns = 0.0; // of the stream
    double most_queued_ns = 0.0;
    fsbml_rate_t rate{};

    void play(Stream &s)
    {
        struct Message {
            double at;
            std::uint64_t total;
            double stamp;
            bool away;
        };
        std::deque<Message> messages; // on their way
        std::deque<Message> answers;
        double tokens = bucket;
        double filled = 0.0;
        double free = 0.0;
        double looked = 0.0; // the receiver
        std::uint64_t total = 0;
        std::uint64_t passed = 0;
        std::uint64_t head = 0; // bytes of the packet that waits for tokens
        std::deque<Message> waiting;
        double t = 1e6;
        for (std::size_t turn = 0; !s.drained(); ++turn) {
            ASSERT_LT(turn, 10000000U);
            t = std::max(t + least_look_ns, sender_away(t));
            while (!answers.empty() && answers.front().at <= t) {
                const Message a = answers.front();
                answers.pop_front();
                s.arrived(a.total, static_cast<std::uint64_t>(a.stamp), a.away);
            }
            for (std::uint32_t bytes = s.next(static_cast<std::uint64_t>(t)); 0 != bytes;
                 bytes = s.next(static_cast<std::uint64_t>(t))) {
                s.sent(bytes);
                total += bytes;
                if (packet > 0.0) {
                    waiting.push_back(Message{t, total, 0.0, false});
                    continue;
                }
                double begin = std::max(t, free);
                if (begin >= stall_at_ns) {
                    begin += stall_ns;
                    stall_ns = 0.0;
                }
                tokens = std::min(bucket, tokens + (begin - filled) / G);
                const double from_bucket = std::min<double>(tokens, bytes);
                free = begin + from_bucket * line + (bytes - from_bucket) * G;
                filled = free;
                tokens -= from_bucket;
                most_queued_ns = std::max(most_queued_ns, free - t);
                messages.push_back(Message{free + latency_ns, total, 0.0, false});
            }
            while (!waiting.empty()) {
                head = 0 != head ? head : std::min(total - passed, static_cast<std::uint64_t>(packet));
                const double lacks = std::max(0.0, static_cast<double>(head) - tokens);
                const double at = std::max(waiting.front().at, filled + lacks * G);
                if (at > t) {
                    break;
                }
                tokens = std::min(bucket, tokens + (at - filled) / G) - static_cast<double>(head);
                filled = at;
                passed += std::exchange(head, 0);
                for (; !waiting.empty() && waiting.front().total <= passed; waiting.pop_front()) {
                    messages.push_back(Message{at + latency_ns, waiting.front().total, 0.0, false});
                }
            }
            while (!messages.empty() && receiver_away(messages.front().at) <= t) {
                Message m = messages.front();
                messages.pop_front();
                m.stamp = std::max({receiver_away(m.at), looked, m.at}) + 7e12; // another clock
                m.away = receiver_away(m.at) - m.at > 1e6;
                looked = m.stamp - 7e12;
                m.at = looked + latency_ns;
                answers.push_back(m);
            }
        }
        took_ns = t - 1e6;
        rate = s.rate();
    }
};

fsbml_rate_t rate_of(Link &link, const fsbml_streaming_limits_t &limits = kLimits)
{
    Stream s(limits);
    link.play(s);
    return link.rate;
}

// Away for some ms again and again, as where another program has the processor half of the time.
std::function<double(double)> busy(double phase_ns)
{
    return [phase_ns](double t) {
        const double within = std::fmod(t + phase_ns, 8e6);
        return within < 4e6 ? t : t + 8e6 - within;
    };
}

// Half of the time away, for as long as it happens.
std::function<double(double)> at_random(int seed, double mean_ns)
{
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::exponential_distribution<double> lasts(1.0 / mean_ns);
    return [=, leaves = 0.0, comes = 0.0](double t) mutable {
        while (t >= comes) {
            leaves = comes + lasts(random);
            comes = leaves + lasts(random);
        }
        return t < leaves ? t : comes;
    };
}

} // namespace

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

TEST(Stream, BearsBusyProcessors)
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
TEST(Stream, BearsBusyProcessorsBehindABucket)
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

// Ends of which one never looks while the other does.
TEST(Stream, HasARateInAnyCase)
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

// All that is known of a stream with pauses is how long it took: from the first that came on time.
TEST(Stream, IsNoFasterForAReceiverThatIsLateAtFirst)
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
