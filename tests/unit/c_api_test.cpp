// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary: bad arguments get a negative errno or nothing, handles work, logging goes where it was
// told.
#include "api/fsbml_core.h"
#include "sched.hpp"

#include "test.hpp"

#include <type_traits>

namespace
{
constexpr fsbml_loggp_t kRail = loggp(20e3, 2e3, 2e3, 3e3, 8.0);
constexpr fsbml_calib_config_t kConfig{16, 2048, 1, 9, 300000000, 1, 0};
constexpr fsbml_calib_rail_t kMax[2] = {{65536, {}}, {65536, {}}};

struct DestroyCalib {
    void operator()(fsbml_calib_t *c) const noexcept { fsbml_calib_destroy(c); }
};
using CalibPtr = std::unique_ptr<fsbml_calib_t, DestroyCalib>;

CalibPtr make_calib(const fsbml_calib_config_t &c = kConfig, std::size_t n = 2,
                    const fsbml_calib_rail_t *rails = kMax)
{
    errno = 0;
    return CalibPtr(fsbml_calib_create(&c, n, rails));
}
} // namespace

// Nothing may be thrown into C.
static_assert(noexcept(fsbml_sched_create(1, FSBML_POLICY_ARRIVAL)), "noexcept");
static_assert(noexcept(fsbml_calib_next(nullptr, 0, nullptr)), "noexcept");
static_assert(noexcept(fsbml_table_text(nullptr, nullptr, 0)), "noexcept");
static_assert(noexcept(fsbml_table_display(nullptr, nullptr, nullptr, 0)), "noexcept");
static_assert(std::is_trivial<fsbml_table_t>::value && std::is_standard_layout<fsbml_table_t>::value,
              "plain data");
static_assert(std::is_trivial<fsbml_hello_t>::value && std::is_standard_layout<fsbml_hello_t>::value,
              "plain data");

// A scheduler has 1 to 32 rails and a policy that exists.
TEST(SchedApi, Create)
{
    for (const std::size_t n : {std::size_t{0}, std::size_t{33}, ~std::size_t{0}}) {
        errno = 0;
        EXPECT_EQ(fsbml_sched_create(n, FSBML_POLICY_ARRIVAL), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
    EXPECT_TRUE(SchedPtr(fsbml_sched_create(32, FSBML_POLICY_SINGLE)));
    fsbml_sched_destroy(nullptr);
}

// A model needs a rail that exists and sane parameters; a refused one leaves the old.
TEST(SchedApi, SetModel)
{
    const SchedPtr s(fsbml_sched_create(2, FSBML_POLICY_ARRIVAL));
    EXPECT_EQ(fsbml_sched_set_model(nullptr, 0, &kRail), -EINVAL);
    EXPECT_EQ(fsbml_sched_set_model(s.get(), 0, nullptr), -EINVAL);
    EXPECT_EQ(fsbml_sched_set_model(s.get(), 2, &kRail), -EINVAL);
    EXPECT_EQ(fsbml_sched_set_model(s.get(), 1, &kRail), 0);
    fsbml_loggp_t bad = kRail;
    bad.G_ns_per_byte = 0.0;
    EXPECT_EQ(fsbml_sched_set_model(s.get(), 1, &bad), -EINVAL);
    EXPECT_EQ(fsbml_sched_predict(s.get(), 1, 0, 1), 24000U);
}

// A rail that does not exist has no state and takes no charge.
TEST(SchedApi, RailsBeyondTheLast)
{
    const SchedPtr s = make_sched({kRail});
    fsbml_sched_charge(s.get(), 1, 0, 4096);
    fsbml_sched_charge(s.get(), ~std::size_t{0}, 0, 4096);
    EXPECT_EQ(fsbml_sched_backlog(s.get(), 1, 0), 0U);
    EXPECT_EQ(fsbml_sched_predict(s.get(), 40, 0, 1), 0U);
    EXPECT_EQ(counters(s.get(), 40).messages, 0U);
    EXPECT_EQ(counters(s.get(), 0).messages, 0U);
}

// A new model counts from the next message on; the VFT stays.
TEST(SchedApi, ModelMayBeReplaced)
{
    const SchedPtr s = make_sched({kRail});
    fsbml_sched_charge(s.get(), 0, 0, 1001);
    fsbml_loggp_t slower = kRail;
    slower.G_ns_per_byte = 80.0;
    ASSERT_EQ(fsbml_sched_set_model(s.get(), 0, &slower), 0);
    EXPECT_EQ(fsbml_sched_backlog(s.get(), 0, 0), 11000U);
    fsbml_sched_charge(s.get(), 0, 0, 1001);
    EXPECT_EQ(fsbml_sched_backlog(s.get(), 0, 0), 94000U);
}

// Each member of the configuration has its range, and each rail must carry the small size.
TEST(CalibApi, Create)
{
    EXPECT_TRUE(make_calib());
    EXPECT_EQ(fsbml_calib_create(nullptr, 2, kMax), nullptr);
    EXPECT_EQ(fsbml_calib_create(&kConfig, 2, nullptr), nullptr);
    EXPECT_FALSE(make_calib(kConfig, 0));
    EXPECT_FALSE(make_calib(kConfig, 33));
    const auto refused = [](auto member, auto value) {
        fsbml_calib_config_t c = kConfig;
        c.*member = value;
        return !make_calib(c) && EINVAL == errno;
    };
    EXPECT_TRUE(refused(&fsbml_calib_config_t::packets, 1U));
    EXPECT_TRUE(refused(&fsbml_calib_config_t::packets, 1025U));
    EXPECT_TRUE(refused(&fsbml_calib_config_t::size_step, 0U));
    EXPECT_TRUE(refused(&fsbml_calib_config_t::small_size, 0U));
    EXPECT_TRUE(refused(&fsbml_calib_config_t::small_size, 65537U));
    EXPECT_TRUE(refused(&fsbml_calib_config_t::samples, 0U));
    EXPECT_TRUE(refused(&fsbml_calib_config_t::budget_ns, 0U));
    fsbml_calib_destroy(nullptr);
}

// Next, report, next: out of turn is refused and changes nothing.
TEST(CalibApi, ProbesTakeTurns)
{
    const CalibPtr c = make_calib();
    fsbml_probe_t p;
    fsbml_probe_t q;
    EXPECT_EQ(fsbml_calib_report(c.get(), &p, 1), -EINVAL);
    ASSERT_EQ(fsbml_calib_next(c.get(), 0, &p), 1);
    EXPECT_TRUE(p.warm_up);
    EXPECT_EQ(fsbml_calib_next(c.get(), 0, &q), -EBUSY);
    q = p;
    q.id += 1;
    EXPECT_EQ(fsbml_calib_report(c.get(), &q, 1), -EINVAL);
    EXPECT_EQ(fsbml_calib_report(c.get(), &p, 50000), 0);
    EXPECT_EQ(fsbml_calib_report(c.get(), &p, 50000), -EINVAL);
    EXPECT_EQ(fsbml_calib_next(c.get(), 60000, &q), 1);
    EXPECT_NE(q.id, p.id);
    EXPECT_EQ(fsbml_calib_next(nullptr, 0, &q), -EINVAL);
    EXPECT_EQ(fsbml_calib_next(c.get(), 0, nullptr), -EINVAL);
}

// A rail that fails is asked nothing more, its fit says why, and the others go on.
TEST(CalibApi, FailedRail)
{
    const CalibPtr c = make_calib();
    fsbml_probe_t p;
    ASSERT_EQ(fsbml_calib_next(c.get(), 0, &p), 1);
    const std::uint32_t failed = p.rail;
    EXPECT_EQ(fsbml_calib_fail(c.get(), failed, "no answer within 1 s"), 0);
    EXPECT_EQ(fsbml_calib_report(c.get(), &p, 5), -EINVAL); // too late
    std::uint64_t elapsed = 1000;
    int probes = 0;
    while (1 == fsbml_calib_next(c.get(), elapsed, &p)) {
        EXPECT_NE(p.rail, failed);
        const std::uint64_t time =
            40000 + std::uint64_t{8} * (p.packets + 1) * p.bytes + (p.packets - 1) * (p.delay_ns + 2000);
        EXPECT_EQ(fsbml_calib_report(c.get(), &p, time), 0);
        elapsed += time;
        ++probes;
    }
    EXPECT_GT(probes, 50);
    fsbml_fit_t fit;
    EXPECT_EQ(fsbml_calib_fit(c.get(), failed, &fit), 0);
    EXPECT_FALSE(fit.valid);
    EXPECT_STREQ(fit.reason, "no answer within 1 s");
    EXPECT_EQ(fsbml_calib_fit(c.get(), 1 - failed, &fit), 0);
    EXPECT_TRUE(fit.valid) << fit.reason;
    EXPECT_EQ(fsbml_calib_fail(c.get(), 2, "x"), -EINVAL);
    EXPECT_EQ(fsbml_calib_fit(c.get(), 2, &fit), -EINVAL);
}

// All rails failed: the calibration is over. A reason of any length, or none, is taken.
TEST(CalibApi, AllRailsFailed)
{
    const CalibPtr c = make_calib();
    EXPECT_EQ(fsbml_calib_fail(c.get(), 0, std::string(1000, 'x').c_str()), 0);
    EXPECT_EQ(fsbml_calib_fail(c.get(), 1, nullptr), 0);
    fsbml_probe_t p;
    EXPECT_EQ(fsbml_calib_next(c.get(), 0, &p), 0);
    fsbml_fit_t fit;
    ASSERT_EQ(fsbml_calib_fit(c.get(), 0, &fit), 0);
    EXPECT_EQ(std::string(fit.reason), std::string(FSBML_REASON_MAX - 1, 'x'));
    ASSERT_EQ(fsbml_calib_fit(c.get(), 1, &fit), 0);
    EXPECT_STREQ(fit.reason, "failed");
}

// Time that is up before the first probe, and times beyond all measure, end it in an orderly way.
TEST(CalibApi, ExtremeTimes)
{
    const CalibPtr late = make_calib();
    fsbml_probe_t p;
    EXPECT_EQ(fsbml_calib_next(late.get(), kConfig.budget_ns, &p), 0);
    const CalibPtr c = make_calib();
    std::uint64_t elapsed = 0;
    int probes = 0;
    while (1 == fsbml_calib_next(c.get(), elapsed, &p) && ++probes < 1000) {
        EXPECT_EQ(fsbml_calib_report(c.get(), &p, ~std::uint64_t{0}), 0);
        elapsed += 1;
    }
    EXPECT_LT(probes, 20);
    const CalibPtr zero = make_calib();
    for (probes = 0; 1 == fsbml_calib_next(zero.get(), 0, &p) && probes < 100000; ++probes) {
        EXPECT_EQ(fsbml_calib_report(zero.get(), &p, 0), 0);
    }
    EXPECT_LT(probes, 2000);
    fsbml_fit_t fit;
    EXPECT_EQ(fsbml_calib_fit(zero.get(), 0, &fit), 0);
    EXPECT_FALSE(fit.valid); // a rail that takes no time has no G
}

// NULL records are refused.
TEST(RecordApi, NullPointers)
{
    char buf[16];
    fsbml_table_t t{};
    fsbml_hello_t h{};
    EXPECT_EQ(fsbml_table_pack(nullptr, buf, sizeof buf), -EINVAL);
    EXPECT_EQ(fsbml_table_pack(&t, nullptr, 16), -EINVAL);
    EXPECT_EQ(fsbml_table_unpack(&t, nullptr, 16), -EINVAL);
    EXPECT_EQ(fsbml_table_text(&t, nullptr, 16), -EINVAL);
    EXPECT_EQ(fsbml_table_text(nullptr, buf, 16), -EINVAL);
    EXPECT_EQ(fsbml_hello_pack(nullptr, buf, sizeof buf), -EINVAL);
    EXPECT_EQ(fsbml_hello_unpack(&h, nullptr, 16), -EINVAL);
}
