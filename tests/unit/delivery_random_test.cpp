// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Random schedules of faults: each message arrives exactly once, is let go once, and nothing is stuck.
//
//   delivery_random_test [--schedules N] [--seed S]   schedules S, S + 1, ...; a failure names its own
//
// The tests before them count what the schedules contain: a fault that never happens proves nothing.
#include "delivery_world.hpp"

namespace
{

using namespace delivery;

std::uint64_t schedules = 20000, first_seed = 1;

struct Total {
    std::uint64_t messages = 0, again = 0, repeated = 0, stale = 0, dropped = 0, closed = 0, revived = 0;
    std::uint64_t lives = 0, dead = 0;
};

// One schedule. The gtest failure of the caller's scope names the seed.
void run(std::uint64_t seed, Total &total)
{
    std::mt19937_64 dice(seed);
    const auto below = [&](std::uint64_t n) { return dice() % n; };
    fsbml_delivery_limits_t l = limits();
    l.ack_messages = 2U << below(6);
    if (0 == below(4)) { // tight budgets
        l.lead_messages = 4 + static_cast<std::uint32_t>(below(20));
        l.lead_bytes = 100000;
    }
    const auto paths = static_cast<unsigned>(1 + below(4));
    World w(l, paths, dice());
    for (unsigned p = 0; p < paths; ++p) {
        const std::uint64_t delay = (10 + below(500)) * kUs;
        w.line(0, p).delay = w.line(1, p).delay = delay;
    }
    w.refuses = 0 == below(3) ? 30 : 0;
    w.lines.loses_control = 0 == below(3) ? 100 : 0;
    w.lines.repeats = 0 == below(3) ? 100 : 0;
    w.lines.swaps = 0 == below(3) ? 100 : 0;
    w.lines.loses_data = 0 == below(6) ? 20 : 0;

    // Then no frame is false, for all that is lost.
    bool clean = 0 == w.lines.repeats + w.lines.swaps + w.lines.loses_data;

    const std::uint64_t until = w.clock.now + (0 == below(3) ? 3 * kSecond : 300 * kMs);
    const auto some_time = [&] { return w.clock.now + below(until - w.clock.now); };
    for (unsigned e = 0; e < 2; ++e) {
        for (std::uint64_t bursts = 1 + below(4); bursts > 0; --bursts) {
            std::uint64_t when = some_time();
            for (std::uint64_t k = 1 + below(12); k > 0; --k) {
                const bool large = 0 == below(5);
                const std::uint64_t bytes = large           ? 4097 + below(200000)
                                            : 0 == below(6) ? 4 + below(4092)
                                                            : 4 + below(60);
                w.add(e, when, static_cast<std::uint32_t>(bytes));
                when += below(20 * kUs);
            }
        }
    }
    for (std::uint64_t faults = below(4); faults > 0; --faults) {
        const auto path = static_cast<unsigned>(below(paths));
        const auto e = static_cast<unsigned>(below(2));
        const std::uint64_t when = some_time();
        switch (below(7)) {
        case 0:
        case 1:
            w.fault(World::kCut, when, 0, path);
            w.fault(World::kMend, when + below(2 * kSecond), 0, path);
            break;
        case 2:
        case 3:
            w.fault(World::kStall, when, e, path);
            if (0 != below(3)) {
                w.fault(World::kStall, when, 1 - e, path);
            }
            w.fault(World::kMend, when + below(3 * kSecond), 0, path);
            break;
        case 6: // of a cable that is pulled, or of one that is not
            if (0 != below(2)) {
                w.fault(World::kStall, when, 0, path);
                w.fault(World::kStall, when, 1, path);
                w.fault(World::kMend, when + below(3 * kSecond), 0, path);
            }
            w.fault(World::kCarrier, when, e, path);
            break;
        case 4:
            w.fault(World::kPause, when, e, static_cast<unsigned>(100 + below(3000)));
            break;
        case 5:
            if (0 == below(4)) {
                clean = false;
                w.fault(World::kLife, when, 0, 0);
                ++total.lives;
            }
            break;
        }
    }
    w.fault(World::kQuiet, until + 3 * kSecond, 0, 0);

    const std::uint64_t late = w.clock.now + 400 * kSecond;
    while (w.clock.now < late && !testing::Test::HasFailure() && w.step()) {
        if (w.clock.now > until + 3 * kSecond && w.is_done()) {
            break;
        }
    }
    ASSERT_TRUE(w.is_done()) << "stuck";
    for (End &e : w.end) {
        const fsbml_delivery_counters_t c = w.counters(static_cast<unsigned>(&e - w.end));
        if (clean) {
            ASSERT_EQ(0U, c.false_frames);
            ASSERT_EQ(0U, c.repeated);
        }
        total.messages += c.delivered;
        total.again += c.sent_again;
        total.repeated += c.repeated;
        total.stale += c.stale;
        total.dropped += c.false_frames;
        total.closed += c.closed;
        total.revived += c.revived;
        total.dead += e.dead;
    }
}

TEST(DeliveryRandom, EachMessageOnce)
{
    Total total;
    for (std::uint64_t k = 0; k < schedules; ++k) {
        run(first_seed + k, total);
        ASSERT_FALSE(HasFailure()) << "again by: delivery_random_test --schedules 1 --seed "
                                   << first_seed + k;
    }
    std::printf(
        "%llu schedules from seed %llu: %llu messages, %llu sent again, %llu repeated, %llu stale, %llu "
        "false, %llu paths closed, %llu dead, %llu revived, %llu restarts\n",
        static_cast<unsigned long long>(schedules), static_cast<unsigned long long>(first_seed),
        static_cast<unsigned long long>(total.messages), static_cast<unsigned long long>(total.again),
        static_cast<unsigned long long>(total.repeated), static_cast<unsigned long long>(total.stale),
        static_cast<unsigned long long>(total.dropped), static_cast<unsigned long long>(total.closed),
        static_cast<unsigned long long>(total.dead), static_cast<unsigned long long>(total.revived),
        static_cast<unsigned long long>(total.lives));
    if (schedules >= 1000) {
        EXPECT_GT(total.again, schedules / 4);
        EXPECT_GT(total.repeated, schedules / 10);
        EXPECT_GT(total.stale, schedules / 10);
        EXPECT_GT(total.closed, schedules / 4);
        EXPECT_GT(total.dead, schedules / 100);
        EXPECT_GT(total.revived, schedules / 4);
        EXPECT_GT(total.lives, schedules / 100);
    }
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    return read_words(argc, argv, {{"--schedules", &schedules}, {"--seed", &first_seed}}) ? RUN_ALL_TESTS()
                                                                                          : 2;
}
