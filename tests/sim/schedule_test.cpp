// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// End to end in virtual time: the makespan of what the scheduler decides, against the best that there is.
#include "../unit/sched.hpp"

#include "../unit/test.hpp"

namespace
{

// Two rails of 10:1, as the cluster has them. The sender hands over messages as fast as it can.
constexpr fsbml_loggp_t kFast = loggp(20e3, 1e3, 1e3, 2e3, 40.0);
constexpr fsbml_loggp_t kSlow = loggp(20e3, 1e3, 1e3, 2e3, 400.0);

double gap(const fsbml_loggp_t &p, std::size_t bytes)
{
    const auto s = static_cast<double>(bytes);
    return p.break_bytes > 0.0 && s >= p.break_bytes
               ? p.g_above_ns + p.G_above_ns_per_byte * (s - p.break_bytes)
               : p.g_ns + p.G_ns_per_byte * (s - 1.0);
}

// LogGP as it happens: each message costs the one CPU o_s, waits for its rail, and is delivered L + gap(s) -
// gap(1) + o_r later.
class Machine
{
public:
    explicit Machine(const std::vector<fsbml_loggp_t> &rails) : rails_(rails), free_(rails.size(), 0.0) {}

    double now() const { return cpu_; }
    void send(std::size_t rail, std::size_t bytes)
    {
        const fsbml_loggp_t &p = rails_[rail];
        cpu_ += p.o_s_ns;
        const double start = std::max(cpu_, free_[rail]);
        free_[rail] = start + gap(p, bytes);
        done_ = std::max(done_, start + gap(p, bytes) - p.g_ns + p.L_ns + p.o_r_ns);
    }
    double makespan() const { return done_; }

private:
    std::vector<fsbml_loggp_t> rails_;
    std::vector<double> free_;
    double cpu_ = 0.0;
    double done_ = 0.0;
};

double scheduled(const std::vector<fsbml_loggp_t> &rails, const std::vector<std::size_t> &sizes,
                 fsbml_policy_t policy)
{
    const SchedPtr s = make_sched(rails, policy);
    Machine machine(rails);
    for (const std::size_t bytes : sizes) {
        const auto now = static_cast<std::uint64_t>(machine.now());
        machine.send(static_cast<std::size_t>(send_one(s.get(), now, bytes, all_rails(rails.size()))), bytes);
    }
    return machine.makespan();
}

// N equal messages: the best split into k on the second rail and N - k on the first one, the second's first.
double best_split(int n, std::size_t bytes, const fsbml_loggp_t &first = kFast,
                  const fsbml_loggp_t &second = kSlow)
{
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= n; ++k) {
        Machine machine({first, second});
        for (int i = 0; i < n; ++i) {
            machine.send(i < k ? 1 : 0, bytes);
        }
        best = std::min(best, machine.makespan());
    }
    return best;
}

double alone(const fsbml_loggp_t &rail, const std::vector<std::size_t> &sizes)
{
    Machine machine({rail});
    for (const std::size_t bytes : sizes) {
        machine.send(0, bytes);
    }
    return machine.makespan();
}

} // namespace

// 32 equal messages over 10:1 rails: within 2 % of the best split, from 256 bytes to 64 KiB.
TEST(Schedule, EqualMessagesNearTheBestSplit)
{
    for (const std::size_t bytes : {256U, 1024U, 4096U, 16384U, 65536U}) {
        const double got =
            scheduled({kFast, kSlow}, std::vector<std::size_t>(32, bytes), FSBML_POLICY_ARRIVAL);
        EXPECT_LE(got, 1.02 * best_split(32, bytes)) << bytes;
    }
}

// Any number of messages is never slower than the best rail alone, down to a single byte.
TEST(Schedule, NeverWorseThanTheBestRail)
{
    for (const int n : {1, 2, 8, 16, 32, 100}) {
        for (const std::size_t bytes : {1U, 16U, 256U, 1024U, 4096U, 65536U}) {
            const std::vector<std::size_t> sizes(static_cast<std::size_t>(n), bytes);
            EXPECT_LE(scheduled({kFast, kSlow}, sizes, FSBML_POLICY_ARRIVAL), alone(kFast, sizes) * 1.0001)
                << n << " x " << bytes;
        }
    }
}

// Random sizes too, over random pairs of rails; the seed names the run.
TEST(Schedule, RandomSizesNeverWorseThanTheBestRail)
{
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<std::size_t> sizes(64);
        for (std::size_t &s : sizes) {
            s = static_cast<std::size_t>(
                std::pow(2.0, std::uniform_real_distribution<double>(0.0, 16.0)(random)));
        }
        fsbml_loggp_t other = kSlow;
        other.G_ns_per_byte =
            kFast.G_ns_per_byte * std::uniform_real_distribution<double>(1.0, 100.0)(random);
        const double got = scheduled({kFast, other}, sizes, FSBML_POLICY_ARRIVAL);
        EXPECT_LE(got, alone(kFast, sizes) * 1.0001) << "seed " << seed;
    }
}

// Two equal rails halve the time; round robin on unlike rails shows what the rule is for.
TEST(Schedule, EqualRailsHalveTheTime)
{
    const std::vector<std::size_t> sizes(32, 16384);
    EXPECT_LE(scheduled({kFast, kFast}, sizes, FSBML_POLICY_ARRIVAL), 0.53 * alone(kFast, sizes));
    EXPECT_GE(scheduled({kFast, kSlow}, sizes, FSBML_POLICY_ROUNDROBIN),
              4.0 * scheduled({kFast, kSlow}, sizes, FSBML_POLICY_ARRIVAL));
    EXPECT_NEAR(scheduled({kSlow, kFast}, sizes, FSBML_POLICY_SINGLE), alone(kFast, sizes), 1.0);
}

// Where the thesis' rule, without the bytes' time, picks a rail by its latency alone, arrival time does not.
TEST(Schedule, ArrivalBeatsTheThesisRuleOnUnlikeRails)
{
    const fsbml_loggp_t near = loggp(5e3, 1e3, 1e3, 2e3, 400.0);
    const std::vector<std::size_t> one(1, 65536);
    const double arrival = scheduled({near, kFast}, one, FSBML_POLICY_ARRIVAL);
    const double thesis = scheduled({near, kFast}, one, FSBML_POLICY_THESIS);
    EXPECT_LT(arrival, 0.2 * thesis);
}

// Alike up to 32 KiB, and above one needs three times as long for each further byte: a stream's shares are as
// the gaps of that size, on both sides of the break, and its time is the best split's. Taken for straight,
// the rails would be given halves.
TEST(Schedule, SharesFollowTheBreak)
{
    fsbml_loggp_t bent = kFast;
    bent.break_bytes = 32769.0;
    bent.g_above_ns = kFast.g_ns + kFast.G_ns_per_byte * 32768.0;
    bent.G_above_ns_per_byte = 3.0 * kFast.G_ns_per_byte;
    constexpr int n = 400;
    for (const std::size_t bytes : {4096U, 32768U, 32769U, 65536U, 131072U, 1048576U}) {
        const SchedPtr s = make_sched({bent, kFast});
        for (int i = 0; i < n; ++i) {
            send_one(s.get(), 0, bytes, 3);
        }
        const double share = gap(kFast, bytes) / (gap(kFast, bytes) + gap(bent, bytes));
        EXPECT_NEAR(static_cast<double>(counters(s.get(), 0).messages), n * share, 1.5) << bytes;
        const std::vector<std::size_t> sizes(64, bytes);
        const double got = scheduled({bent, kFast}, sizes, FSBML_POLICY_ARRIVAL);
        EXPECT_LE(got, 1.02 * best_split(64, bytes, kFast, bent)) << bytes;
    }
    // At 1 MiB the bent rail carries about a quarter; halves would take half as long again.
    Machine halves({bent, kFast});
    for (int i = 0; i < 64; ++i) {
        halves.send(static_cast<std::size_t>(i % 2), 1048576);
    }
    EXPECT_LE(1.4 * scheduled({bent, kFast}, std::vector<std::size_t>(64, 1048576), FSBML_POLICY_ARRIVAL),
              halves.makespan());
}

// A jump at the break, as of a handshake: only from there on.
TEST(Schedule, AJumpCountsFromTheBreakOn)
{
    fsbml_loggp_t jumps = kFast;
    jumps.L_ns -= 5e3;
    jumps.break_bytes = 32769.0;
    jumps.g_above_ns = kFast.g_ns + kFast.G_ns_per_byte * 32768.0 + 200e3;
    jumps.G_above_ns_per_byte = kFast.G_ns_per_byte;
    const SchedPtr s = make_sched({kFast, jumps});
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 32768, 3), 1);
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 32769, 3), 0);
}
