// Ping-pong: with the same memory each time, with fresh memory, and with many connections.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "message.hpp"
#include "p2p.hpp"

#include <algorithm>

namespace fsbml::bench::p2p
{

namespace
{

const std::size_t least_pool = std::size_t{32} << 20;
const int trips_per_sample = 4; // with quarters of reuse, every sample has its share of both kinds of memory

// Sends and receives now with the same memory, now with pages that no message has been in.
class Reusing : public Message
{
public:
    explicit Reusing(std::size_t bytes)
        : Message(bytes), slot_(out_pages_.size()), pool_(std::max(least_pool, 2 * trips_per_sample * slot_))
    {
    }

    // Other pages, if those left are too few for a sample; returns whether they were. That takes its time,
    // and both ranks need it at once.
    bool refill()
    {
        if (used_ + 2 * trips_per_sample * slot_ <= pool_.size()) {
            return false;
        }
        pool_.renew();
        used_ = 0;
        return true;
    }

    void choose(bool reuse)
    {
        out_ = reuse ? out_pages_.data() : fresh();
        in_ = reuse ? in_pages_.data() : fresh();
    }

private:
    unsigned char *fresh()
    {
        unsigned char *place = pool_.data() + used_;
        used_ += slot_;
        return place;
    }

    std::size_t slot_;
    Pages pool_;
    std::size_t used_ = 0;
};

} // namespace

void measure_latency(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        Message message(size);
        measure_round_trip(session, "latency", "", message);
    }
}

void measure_reuse(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        Reusing message(size);
        for (int reused = 0; reused <= trips_per_sample; ++reused) {
            auto prepare = [&] {
                if (message.refill()) {
                    await_other(session);
                }
            };
            prepare();
            for (int trip = 0; trip < trips_per_sample; ++trip) {
                message.choose(trip < reused);
                check_round_trip(session, message);
            }
            const std::string variant = "reuse=" + std::to_string(100 * reused / trips_per_sample) + "%";
            session.measure({"", "reuse", variant, trips_per_sample, size, "us", {}, {}}, [&] {
                prepare();
                double seconds = 0;
                for (int trip = 0; trip < trips_per_sample; ++trip) {
                    message.choose(trip < reused);
                    seconds += round_trip(session, message);
                }
                return seconds / (2 * trips_per_sample) * 1e6;
            });
        }
    }
}

void measure_connections(Session &session, const Choice &choice)
{
    const int most = session.ranks() - 1;
    for (int count = 1;; count = std::min(2 * count, most)) {
        for (std::size_t size : choice.sizes) {
            Message message(size);
            for (int other = 2; other <= count; ++other) {
                check_round_trip(session, message, other);
            }
            measure_round_trip(session, "connections", "connections=" + std::to_string(count), message);
        }
        if (count == most) {
            return;
        }
    }
}

} // namespace fsbml::bench::p2p
