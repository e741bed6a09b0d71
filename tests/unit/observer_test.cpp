// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// An observer reports decisions as they were: compared with a scheduler beside it without an observer.
#include "sched.hpp"

#include "schedule/schedule.hpp"
#include "test.hpp"

#include <thread>

namespace
{

struct DestroyObserver {
    void operator()(fsbml_observer_t *o) const noexcept { fsbml_observer_destroy(o); }
};
using ObserverPtr = std::unique_ptr<fsbml_observer_t, DestroyObserver>;

ObserverPtr make_observer(const SchedPtr &s, std::uint32_t every = 0, std::uint32_t entries = 0,
                          const fsbml_audience_t &audience = {})
{
    const fsbml_observer_config_t config{every, entries, audience};
    return ObserverPtr(fsbml_observer_create(s.get(), &config));
}

fsbml_rail_seen_t seen(const ObserverPtr &o, std::size_t rail)
{
    fsbml_rail_seen_t out;
    fsbml_observer_rail(o.get(), rail, &out);
    return out;
}

std::vector<fsbml_decision_t> trace(const ObserverPtr &o, std::uint64_t *lost = nullptr)
{
    std::vector<fsbml_decision_t> all;
    const std::uint64_t n = o->impl.trace(
        [](void *to, const fsbml_decision_t *d) {
            static_cast<std::vector<fsbml_decision_t> *>(to)->push_back(*d);
        },
        &all);
    if (nullptr != lost) {
        *lost = n;
    }
    return all;
}

constexpr fsbml_loggp_t kFast = loggp(20e3, 1e3, 1e3, 2e3, 40.0);
constexpr fsbml_loggp_t kSlow = loggp(20e3, 1e3, 1e3, 2e3, 400.0);

} // namespace

// Observed or not, the scheduler does the same, and what is kept agrees with its counters.
TEST(Observer, ChangesNoDecision)
{
    const SchedPtr plain = make_sched({kFast, kSlow, kFast}), looked_at = make_sched({kFast, kSlow, kFast});
    const ObserverPtr o = make_observer(looked_at, 1, 5000);
    std::mt19937 dice(4711);
    std::uint64_t now = 1000, passed[3] = {}, most[3] = {};
    for (int i = 0; i < 4000; ++i) {
        const std::size_t bytes = dice() % 70000;
        const std::uint32_t mask = 0 == dice() % 4 ? 1 + dice() % 7 : 7;
        const int a = fsbml_sched_choose(plain.get(), now, bytes, mask);
        const int b = fsbml_sched_choose(looked_at.get(), now, bytes, mask);
        ASSERT_EQ(a, b) << i;
        const auto rail = static_cast<std::size_t>(a);
        fsbml_sched_charge(plain.get(), rail, now, bytes);
        fsbml_observer_charge(o.get(), rail, now, bytes, mask, 3, nullptr);
        for (std::size_t r = 0; r < 3; ++r) {
            passed[r] += r != rail && 0 != (mask >> r & 1);
        }
        most[rail] = std::max(most[rail], fsbml_sched_backlog(plain.get(), rail, now));
        now += dice() % 400000;
    }
    for (std::size_t r = 0; r < 3; ++r) {
        EXPECT_EQ(counters(plain.get(), r).bytes, counters(looked_at.get(), r).bytes);
        EXPECT_EQ(counters(plain.get(), r).busy_ns, counters(looked_at.get(), r).busy_ns);
        EXPECT_EQ(seen(o, r).passed_over, passed[r]);
        EXPECT_EQ(seen(o, r).backlog_max_ns, most[r]);
    }
    std::uint64_t messages[3] = {}, bytes[3] = {};
    for (const fsbml_decision_t &d : trace(o)) {
        ++messages[d.rail];
        bytes[d.rail] += d.bytes;
    }
    for (std::size_t r = 0; r < 3; ++r) {
        EXPECT_EQ(messages[r], counters(plain.get(), r).messages);
        EXPECT_EQ(bytes[r], counters(plain.get(), r).bytes);
    }
}

// A kept decision has what the scheduler would have said right before it.
TEST(Observer, KeepsWhatThereWasToChooseFrom)
{
    const SchedPtr s = make_sched({kFast, kSlow, kFast});
    const ObserverPtr o = make_observer(s, 1, 16);
    double extra[FSBML_MAX_RAILS] = {0, 0, 5000};
    fsbml_far_t far;
    fsbml_far_set(&far, extra);
    std::uint64_t arrival[2], backlog[2];
    fsbml_sched_charge(s.get(), 0, 1000, 50000);
    for (const std::size_t r : {0U, 1U}) {
        arrival[r] = fsbml_sched_predict(s.get(), 2 * r, 2000, 100);
        backlog[r] = fsbml_sched_backlog(s.get(), 2 * r, 2000);
    }
    fsbml_observer_charge(o.get(), 2, 2000, 100, 5, 9, &far);
    const auto all = trace(o);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].now_ns, 2000U);
    EXPECT_EQ(all[0].bytes, 100U);
    EXPECT_EQ(all[0].peer, 9U);
    EXPECT_EQ(all[0].candidates, 5U);
    EXPECT_EQ(all[0].rail, 2U);
    EXPECT_EQ(all[0].arrival_ns[0], arrival[0]);
    EXPECT_EQ(all[0].arrival_ns[2], arrival[1] + 5000);
    EXPECT_EQ(all[0].extra_ns[0], 0U);
    EXPECT_EQ(all[0].extra_ns[2], 5000U);
    EXPECT_EQ(all[0].backlog_ns[0], backlog[0]);
    EXPECT_GT(backlog[0], 0U);
    EXPECT_EQ(all[0].arrival_ns[1], 0U);
}

// Every Nth decision, the first one among them; of more than there is room for, the latest.
TEST(Observer, SamplesAndForgets)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    const ObserverPtr o = make_observer(s, 100, 4);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        fsbml_observer_charge(o.get(), 0, 1000 + i, i, 3, 0, nullptr);
    }
    std::uint64_t lost = 0;
    const auto all = trace(o, &lost);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(lost, 6U);
    EXPECT_EQ(all[0].bytes, 600U);
    EXPECT_EQ(all[3].bytes, 900U);
}

TEST(Observer, WithoutATraceThereIsNone)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    const ObserverPtr o = make_observer(s);
    fsbml_observer_charge(o.get(), 0, 1000, 10, 3, 0, nullptr);
    std::uint64_t lost = 1;
    EXPECT_TRUE(trace(o, &lost).empty());
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(seen(o, 1).passed_over, 1U);
}

// An audience hears each decision, also where only some are traced.
TEST(Observer, TellsItsAudience)
{
    struct Heard {
        std::uint64_t decisions = 0, bytes = 0, arrivals = 0;
    } heard;
    fsbml_audience_t audience{};
    audience.context = &heard;
    audience.decision = [](void *to, const fsbml_decision_t *d) {
        auto *h = static_cast<Heard *>(to);
        ++h->decisions;
        h->bytes += d->bytes;
    };
    audience.arrival = [](void *to, const fsbml_arrival_t *a) {
        static_cast<Heard *>(to)->arrivals += a->rail;
    };
    const SchedPtr s = make_sched({kFast, kSlow});
    const ObserverPtr o = make_observer(s, 10, 64, audience);
    for (std::uint64_t i = 0; i < 100; ++i) {
        fsbml_observer_charge(o.get(), 0, 1000, 7, 3, 0, nullptr);
    }
    EXPECT_EQ(heard.decisions, 100U);
    EXPECT_EQ(heard.bytes, 700U);
    EXPECT_EQ(trace(o).size(), 10U);
    const fsbml_arrival_t late{1, 100, 2000, 2500}, early{1, 100, 2000, 1900}, none{7, 1, 1, 1};
    fsbml_observer_arrived(o.get(), &late);
    fsbml_observer_arrived(o.get(), &early);
    fsbml_observer_arrived(o.get(), &none);
    EXPECT_EQ(heard.arrivals, 2U);
    EXPECT_EQ(seen(o, 1).arrivals, 2U);
    EXPECT_EQ(seen(o, 1).predicted_ns, 4000U);
    EXPECT_EQ(seen(o, 1).observed_ns, 4400U);
    EXPECT_EQ(seen(o, 1).error_ns, 600U);
    EXPECT_EQ(seen(o, 0).arrivals, 0U);
}

// More threads than stripes: nothing is lost, and every Nth decision is traced.
class ObserverThreads : public testing::TestWithParam<std::uint32_t>
{
};
INSTANTIATE_TEST_SUITE_P(Every, ObserverThreads, testing::Values(1U, 10U));

TEST_P(ObserverThreads, LoseNothing)
{
    constexpr std::uint64_t kThreads = 24, kEach = 20000;
    const SchedPtr s = make_sched({kFast, kSlow});
    const ObserverPtr o = make_observer(s, GetParam(), 1U << 20);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < kEach; ++i) {
                fsbml_observer_charge(o.get(), t % 2, 1000, 1, 3, 0, nullptr);
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    const std::uint64_t half = kThreads * kEach / 2;
    EXPECT_EQ(counters(s.get(), 0).messages, half);
    EXPECT_EQ(seen(o, 0).passed_over, half);
    EXPECT_EQ(seen(o, 1).passed_over, half);
    EXPECT_EQ(seen(o, 1).backlog_max_ns, fsbml_sched_backlog(s.get(), 1, 1000));
    const std::uint64_t kept = trace(o).size();
    EXPECT_GE(kept, kThreads * kEach / GetParam() - 16);
    EXPECT_LE(kept, kThreads * kEach / GetParam() + 16);
}

TEST(Observer, RefusesWhatItCannotBe)
{
    const SchedPtr s = make_sched({kFast});
    const fsbml_observer_config_t no_room{1, 0, {}};
    EXPECT_EQ(fsbml_observer_create(s.get(), &no_room), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(fsbml_observer_create(nullptr, &no_room), nullptr);
}
