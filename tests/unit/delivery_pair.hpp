// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Two ends whose frames go by hand, one call at a time.
#ifndef FSBML_TESTS_UNIT_DELIVERY_PAIR_HPP
#define FSBML_TESTS_UNIT_DELIVERY_PAIR_HPP

#include "delivery_world.hpp"

namespace delivery
{

constexpr std::uint64_t kNow = 1000 * kMs;

// Two ends without lines: frames go by hand.
struct Pair {
    explicit Pair(const fsbml_delivery_limits_t &l, std::uint32_t paths = 2) : limits(l)
    {
        for (unsigned e = 0; e < 2; ++e) {
            const fsbml_delivery_peer_t peer{0x1111 * (e + 1), 0x1111 * (2 - e),
                                             static_cast<std::uint16_t>(0x0100 + e),
                                             static_cast<std::uint16_t>(0x0101 - e), paths};
            end[e].reset(fsbml_delivery_create(&limits, &peer));
            for (std::uint32_t p = 0; p < paths; ++p) {
                fsbml_delivery_path_up(end[e].get(), p, kNow);
            }
        }
    }
    fsbml_delivery_t *operator[](unsigned e) { return end[e].get(); }

    const fsbml_delivery_limits_t limits;
    Ptr end[2];
};

// One that stays until the tests are over.
inline fsbml_delivery_message_t *message(std::uint32_t bytes)
{
    static std::deque<fsbml_delivery_message_t> all;
    all.push_back({});
    all.back().bytes = bytes;
    all.back().tag = 65;
    return &all.back();
}

inline int send(fsbml_delivery_t *d, std::uint32_t path, fsbml_delivery_message_t *m,
                fsbml_delivery_seal_t *seal)
{
    return fsbml_delivery_send(d, path, kNow, 0, m, seal);
}

inline int send(fsbml_delivery_t *d, std::uint32_t path, std::uint32_t bytes,
                fsbml_delivery_seal_t *seal = nullptr)
{
    fsbml_delivery_seal_t other{};
    return send(d, path, message(bytes), nullptr == seal ? &other : seal);
}

inline int arrive(fsbml_delivery_t *d, std::uint32_t path, const fsbml_delivery_seal_t &seal,
                  fsbml_delivery_arrival_t *arrival = nullptr)
{
    fsbml_delivery_arrival_t other{};
    return fsbml_delivery_arrived(d, path, kNow, seal.header, seal.bytes,
                                  nullptr == arrival ? &other : arrival);
}

// Lets all frames of an end go to the other; returns how many actions of other kinds there were.
inline std::vector<fsbml_delivery_action_t> pump(Pair &p, unsigned e, std::uint64_t now = kNow)
{
    std::vector<fsbml_delivery_action_t> others;
    fsbml_delivery_action_t a{};
    fsbml_delivery_arrival_t arrival{};
    fsbml_delivery_tick(p[e], now);
    while (fsbml_delivery_next(p[e], now, &a)) {
        if (FSBML_DELIVERY_FRAME == a.kind) {
            EXPECT_EQ(0, fsbml_delivery_arrived(p[1 - e], a.path, now, a.frame, a.bytes, &arrival));
        } else {
            others.push_back(a);
        }
    }
    return others;
}

} // namespace delivery

#endif
