// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What delivery costs a message while nothing fails, through the C boundary as the shim calls it.
//
//   delivery/B        a message of B bytes at both ends: numbered, its frame judged, let go; one
//   acknowledgement
//                     each 64 messages, made, sent and believed
//   delivery_answered/B  the same, each message is answered: acknowledgements go with messages
#include "api/fsbml_core.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>

namespace
{

struct Ends {
    Ends()
    {
        fsbml_delivery_limits(&limits);
        for (unsigned e = 0; e < 2; ++e) {
            const fsbml_delivery_peer_t peer{e + 1, 2 - e, static_cast<std::uint16_t>(e),
                                             static_cast<std::uint16_t>(1 - e), 2};
            end[e] = fsbml_delivery_create(&limits, &peer);
            fsbml_delivery_path_up(end[e], 0, now);
            fsbml_delivery_path_up(end[e], 1, now);
        }
    }
    ~Ends()
    {
        fsbml_delivery_destroy(end[0]);
        fsbml_delivery_destroy(end[1]);
    }
    Ends(const Ends &) = delete;
    Ends &operator=(const Ends &) = delete;

    // From one end to the other. False: it was not delivered.
    bool send(unsigned from, std::uint32_t bytes)
    {
        now += 1000;
        if (now >= fsbml_delivery_due(end[from])) {
            fsbml_delivery_tick(end[from], now);
        }
        fsbml_delivery_message_t &m = messages[n++ % messages.size()]; // at most 128 are under way
        m.bytes = bytes;
        m.tag = 65;
        fsbml_delivery_seal_t seal;
        if (0 != fsbml_delivery_send(end[from], 0, now, 10000, &m, &seal)) {
            return false;
        }
        std::memcpy(frame.data(), seal.header, seal.bytes);
        fsbml_delivery_arrival_t arrival;
        if (1 != fsbml_delivery_arrived(end[1 - from], 0, now, frame.data(), seal.bytes + bytes, &arrival)) {
            return false;
        }
        if (arrival.work || arrival.released || now >= fsbml_delivery_due(end[1 - from])) {
            work(1 - from);
        }
        return true;
    }

    void work(unsigned e)
    {
        fsbml_delivery_tick(end[e], now);
        fsbml_delivery_action_t action;
        fsbml_delivery_arrival_t arrival;
        while (fsbml_delivery_next(end[e], now, &action)) {
            if (FSBML_DELIVERY_FRAME == action.kind) {
                fsbml_delivery_arrived(end[1 - e], action.path, now, action.frame, action.bytes, &arrival);
                if (arrival.work || arrival.released) {
                    work(1 - e);
                }
            }
        }
    }

    fsbml_delivery_limits_t limits{};
    fsbml_delivery_t *end[2] = {};
    std::uint64_t now = 1000000000;
    std::size_t n = 0;
    std::array<fsbml_delivery_message_t, 256> messages{};
    std::array<std::uint8_t, 4096> frame{};
};

void send_on(benchmark::State &state, bool is_answered)
{
    Ends ends;
    const auto bytes = static_cast<std::uint32_t>(state.range(0));
    for (auto _ : state) {
        if (!ends.send(0, bytes) || (is_answered && !ends.send(1, bytes))) {
            state.SkipWithError("a message was not delivered");
            break;
        }
    }
    state.counters["bytes a peer"] = static_cast<double>(fsbml_delivery_bytes(ends.end[1]));
}

void delivery(benchmark::State &state)
{
    send_on(state, false);
}

void delivery_answered(benchmark::State &state)
{
    send_on(state, true);
}

BENCHMARK(delivery)->Arg(64)->Arg(1024);
BENCHMARK(delivery_answered)->Arg(64);

} // namespace
