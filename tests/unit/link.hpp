// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A stream over a rail in virtual time, with ends that may be away.
#ifndef FSBML_TESTS_UNIT_LINK_HPP
#define FSBML_TESTS_UNIT_LINK_HPP

#include "measure/start/start.hpp"

#include "test.hpp"

using fsbml::Stream;

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
    std::function<double(double)> kernel_away = [](double t) { return t; }; // the receiver's
    double takes = 0.0;       // the receiver, ns per byte that it takes in
    bool asks_kernel = false; // what is acknowledged; with a receiver that is away, once it has looked
    bool acks_wait = false;

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
        std::uint64_t taken = 0;
        std::uint64_t total = 0;
        std::uint64_t passed = 0;
        std::uint64_t head = 0; // bytes of the packet that waits for tokens
        std::deque<Message> waiting;
        std::deque<Message> acks;
        std::uint64_t acked = 0;
        double asked = 0.0;
        const auto goes = [&](double at, std::uint64_t bytes) {
            const double comes = kernel_away(at + latency_ns);
            messages.push_back(Message{comes, bytes, 0.0, false});
            if (asks_kernel) {
                acks.push_back(
                    Message{(acks_wait ? receiver_away(comes) : comes) + latency_ns, bytes, 0.0, false});
            }
        };
        double t = 1e6;
        for (std::size_t turn = 0; !s.drained(); ++turn) {
            ASSERT_LT(turn, 10000000U);
            t = std::max(t + least_look_ns, sender_away(t));
            while (!answers.empty() && answers.front().at <= t) {
                const Message a = answers.front();
                answers.pop_front();
                s.arrived(a.total, static_cast<std::uint64_t>(a.stamp), a.away);
            }
            for (; !acks.empty() && acks.front().at <= t; acks.pop_front()) {
                acked = acks.front().total;
            }
            if (asks_kernel && s.asks() && t - asked > 300e3) {
                asked = t;
                s.look({static_cast<std::uint64_t>(t), acked, total - acked, 0});
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
                goes(free, total);
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
                    goes(at, waiting.front().total);
                }
            }
            while (!messages.empty() && receiver_away(messages.front().at) <= t) {
                Message m = messages.front();
                messages.pop_front();
                const double begins = std::max({receiver_away(m.at), looked, m.at});
                m.stamp = begins + takes * static_cast<double>(m.total - taken) + 7e12; // another clock
                taken = m.total;
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

inline fsbml_rate_t rate_of(Link &link, const fsbml_streaming_limits_t &limits = kLimits)
{
    Stream s(limits);
    link.play(s);
    return link.rate;
}

// Away for some ms again and again, as where another program has the processor half of the time.
inline std::function<double(double)> busy(double phase_ns)
{
    return [phase_ns](double t) {
        const double within = std::fmod(t + phase_ns, 8e6);
        return within < 4e6 ? t : t + 8e6 - within;
    };
}

// Half of the time away, for as long as it happens.
inline std::function<double(double)> at_random(int seed, double mean_ns)
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

#endif
