// One direction of an emulated link, in virtual time.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/link/link.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using fsbml::link::Direction;
using fsbml::link::Ns;
using fsbml::link::Shape;

namespace
{

constexpr std::uint64_t kSeed = 20261121;
constexpr std::size_t kFrame = 1514;

Shape shape(double mbit, Ns delay = 0)
{
    Shape s;
    s.rate = static_cast<std::uint64_t>(mbit * 1e6);
    s.delay = delay;
    return s;
}

Ns wire(double mbit, double bytes)
{
    return static_cast<Ns>(bytes * 8e3 / mbit);
}

} // namespace

// A single frame: time on the wire and the delay. No credit for the second before it.
TEST(Direction, OneFrame)
{
    for (const double mbit : {1.0, 20.0, 100.0, 10000.0}) {
        Direction d(shape(mbit, 100000), false, kSeed);
        EXPECT_NEAR(*d.offer(1000000000, kFrame), 1000000000 + wire(mbit, kFrame) + 100000, 1) << mbit;
        EXPECT_NEAR(*d.offer(3000000000, 64), 3000000000 + wire(mbit, 64) + 100000, 1) << mbit;
    }
}

// Frames that come at once leave at the rate, to the nanosecond in the long run.
TEST(Direction, RateOfABurst)
{
    Shape s = shape(100);
    s.queue = 1000000000;
    Direction d(s, false, kSeed);
    Ns last = 0;
    for (int i = 0; i < 100000; ++i) {
        last = *d.offer(5000, kFrame);
    }
    EXPECT_NEAR(last, 5000 + 100000.0 * wire(100, kFrame), 2);
    EXPECT_EQ(d.counters().frames, 100000U);
    EXPECT_EQ(d.counters().bytes, 100000U * kFrame);
}

// Behind a link of the same rate a frame costs its time once; two senders to one receiver still share it.
TEST(Direction, CutThrough)
{
    Direction up(shape(100, 30000), false, kSeed);
    Direction other(shape(100, 30000), false, kSeed);
    Direction down(shape(100, 70000), true, kSeed);
    const Ns at_bridge = *up.offer(0, kFrame);
    EXPECT_NEAR(*down.offer(at_bridge, kFrame), wire(100, kFrame) + 100000, 2);
    Ns last = 0;
    for (int i = 1; i <= 1000; ++i) {
        const Ns now = 1000000000 + i * wire(100, kFrame);
        up.offer(now, kFrame);
        other.offer(now, kFrame);
        const Ns first = *down.offer(now, kFrame);
        const auto second = down.offer(now, kFrame);
        last = second ? *second : first;
    }
    EXPECT_GT(down.counters().full, 0U); // twice the rate comes in, and the queue is bounded
    EXPECT_LE(last, 1000000000 + 1000 * wire(100, kFrame) + wire(100, 400000 + kFrame) + 70000 + 2);
}

// The queue holds that many bytes and not one frame more than that.
TEST(Direction, QueueIsBounded)
{
    Shape s = shape(10);
    s.queue = 10 * kFrame;
    Direction d(s, false, kSeed);
    int taken = 0;
    for (int i = 0; i < 100; ++i) {
        taken += d.offer(0, kFrame) ? 1 : 0;
    }
    EXPECT_EQ(taken, 11);
    EXPECT_EQ(d.counters().full, 89U);
    EXPECT_TRUE(d.offer(20 * wire(10, kFrame), kFrame)); // once it has drained
}

// Without a rate nothing waits, and the queue is never full.
TEST(Direction, NoRate)
{
    Direction d(shape(0, 5000), false, kSeed);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(*d.offer(77, kFrame), 5077);
    }
}

// Jitter spreads the delay over both sides, within its bounds, and never swaps frames.
TEST(Direction, Jitter)
{
    Shape s = shape(0, 1000000);
    s.jitter = 200000;
    Direction d(s, false, kSeed);
    double sum = 0.0;
    Ns last = 0;
    const int n = 10000;
    for (int i = 0; i < n; ++i) {
        const Ns now = i * Ns{10000000}; // far apart: order does not bind
        const Ns due = *d.offer(now, 64);
        EXPECT_GE(due - now, 800000);
        EXPECT_LE(due - now, 1200000);
        sum += static_cast<double>(due - now);
    }
    EXPECT_NEAR(sum / n, 1e6, 5e3) << "seed " << kSeed;
    for (int i = 0; i < n; ++i) {
        const Ns due = *d.offer(n * Ns{10000000} + i * 1000, 64); // close together
        EXPECT_GE(due, last);
        last = due;
    }
}

TEST(Direction, Loss)
{
    for (const double loss : {0.001, 0.1, 0.5}) {
        Shape s = shape(0);
        s.loss = loss;
        Direction d(s, false, kSeed);
        const int n = 200000;
        int lost = 0;
        for (int i = 0; i < n; ++i) {
            lost += d.offer(i, 64) ? 0 : 1;
        }
        const double sigma = std::sqrt(loss * (1 - loss) / n);
        EXPECT_NEAR(static_cast<double>(lost) / n, loss, 5 * sigma) << "seed " << kSeed;
        EXPECT_EQ(d.counters().lost, static_cast<std::uint64_t>(lost));
    }
    Shape all = shape(100);
    all.loss = 1.0;
    Direction d(all, false, kSeed);
    EXPECT_FALSE(d.offer(0, 64));
}

// A change holds for what comes after it. A cut link drops, and works again afterwards.
TEST(Direction, Changes)
{
    Direction d(shape(100, 1000), false, kSeed);
    const Ns first = *d.offer(0, kFrame);
    Shape s = shape(10, 1000);
    d.set_shape(s);
    EXPECT_NEAR(*d.offer(0, kFrame), first + wire(10, kFrame), 2); // behind the first
    s.delay = 0; // shorter: still not before what is under way
    d.set_shape(s);
    EXPECT_GE(*d.offer(0, 64), first);
    s.down = true;
    d.set_shape(s);
    EXPECT_FALSE(d.offer(1, 64));
    EXPECT_EQ(d.counters().cut, 1U);
    s.down = false;
    d.set_shape(s);
    EXPECT_TRUE(d.offer(2, 64));
}
