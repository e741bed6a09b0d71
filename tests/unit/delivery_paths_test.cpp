// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Delivery to one peer where no path is left, or one flaps. In virtual time.
#include "delivery_world.hpp"

namespace
{

using namespace delivery;

// The only path: what it lost is found out and sent again by itself, once it is back.
TEST(Delivery, ResumesByTheSamePath)
{
    World w(limits(), 1, 1);
    stream(w, 0, 100);
    w.fault(World::kCut, w.clock.now + 60 * kUs, 0, 0);
    w.fault(World::kMend, w.clock.now + 3 * kSecond, 0, 0);
    w.run_for(2 * kSecond);
    EXPECT_LT(w.end[0].messages.arrived(), 100U);
    EXPECT_EQ(0U, fsbml_delivery_paths(w.d(0)));
    w.run_for(3 * kSecond);
    expect_done(w);
    EXPECT_EQ(1U, w.end[0].up);
}

TEST(Delivery, IsStrandedWhenThereWasNoPathForLong)
{
    fsbml_delivery_limits_t l = limits();
    l.wait_ns = 2 * kSecond;
    World w(l, 2, 1);
    stream(w, 0, 10);
    for (unsigned p = 0; p < 2; ++p) {
        w.fault(World::kCut, w.clock.now + 60 * kUs, 0, p);
    }
    w.run_for(1900 * kMs);
    EXPECT_EQ(0U, w.end[0].stranded);
    w.run_for(200 * kMs);
    EXPECT_EQ(1U, w.end[0].stranded);
    w.run_for(10 * kSecond);
    EXPECT_EQ(1U, w.end[0].stranded); // told once
    w.fault(World::kMend, w.clock.now, 0, 1);
    w.run_for(5 * kSecond);
    expect_done(w); // for a caller that goes on all the same

    l.wait_ns = 0;
    World at_once(l, 1, 1);
    stream(at_once, 0, 10);
    at_once.fault(World::kCut, at_once.clock.now + 60 * kUs, 0, 0);
    at_once.run_for(kMs);
    EXPECT_EQ(1U, at_once.end[0].stranded);
}

// No call says that a path has failed: only the transport's signs go on, of what was sent and of what is
// asked.
TEST(Delivery, IsStrandedWhenAllPathsAreSilentForLong)
{
    fsbml_delivery_limits_t l = limits();
    l.wait_ns = 2 * kSecond;
    for (const bool both : {true, false}) {
        World w(l, 2, 1);
        stream(w, 0, 10);
        w.run_for(60 * kUs);
        w.lines.loses_control = 1000;
        const auto silent_for = [&](std::uint64_t ns) {
            for (std::uint64_t left = ns / (10 * kMs); left > 0; --left) {
                fsbml_delivery_path_doubtful(w.d(0), 0, w.clock.now);
                if (both) {
                    fsbml_delivery_path_doubtful(w.d(0), 1, w.clock.now);
                }
                w.run_for(10 * kMs);
            }
        };
        silent_for(1900 * kMs);
        EXPECT_EQ(0U, w.end[0].stranded);
        silent_for(1500 * kMs);
        EXPECT_EQ(both ? 1U : 0U, w.end[0].stranded);
        w.lines.loses_control = 0;
        w.run_for(5 * kSecond);
        expect_done(w);
    }
}

// What comes from the peer helps no message to it.
TEST(Delivery, IsStrandedThoughThePeerIsHeard)
{
    fsbml_delivery_limits_t l = limits();
    l.wait_ns = 2 * kSecond;
    World w(l, 1, 1);
    stream(w, 0, 10);
    w.run_for(20 * kUs);
    fsbml_delivery_path_failed(w.d(0), 0, w.clock.now);
    for (unsigned i = 0; i < 30; ++i) {
        w.lines.loses_control = 1000;
        stream(w, 1, 1);
        w.run_for(100 * kMs);
    }
    EXPECT_EQ(1U, w.end[0].stranded);
}

TEST(Delivery, HoldsDownAPathThatFlaps)
{
    World w(limits(), 2, 1);
    std::vector<std::uint64_t> held;
    for (int i = 0; i < 12; ++i) {
        w.fault(World::kCut, w.clock.now, 0, 0);
        w.fault(World::kMend, w.clock.now, 0, 0);
        const std::uint64_t began = w.clock.now;
        while (w.end[0].up < held.size() + 1 && w.clock.now < began + 100 * kSecond) {
            w.run_for(10 * kMs);
        }
        held.push_back(w.clock.now - began);
    }
    EXPECT_LT(held[0], 300 * kMs); // the first failure is forgiven
    const std::uint64_t expected[] = {500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_NEAR(static_cast<double>(held[i + 1]) / 1e6, static_cast<double>(expected[i]), 30.0) << i;
    }
    w.run_for(2000 * kSecond); // sound for long
    w.fault(World::kCut, w.clock.now, 0, 0);
    w.fault(World::kMend, w.clock.now, 0, 0);
    w.run_for(300 * kMs);
    EXPECT_EQ(13U, w.end[0].up);
}

TEST(Delivery, HoldsNoPathDownThatIsTheOnlyOne)
{
    World w(limits(), 2, 1);
    w.fault(World::kCut, w.clock.now, 0, 1);
    for (unsigned i = 1; i <= 8; ++i) {
        w.fault(World::kCut, w.clock.now, 0, 0);
        w.fault(World::kMend, w.clock.now, 0, 0);
        w.run_for(300 * kMs);
        EXPECT_EQ(i, w.end[0].up);
    }
}

} // namespace
