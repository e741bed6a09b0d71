// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a user is told of where messages would go, before any is sent.
#include "api/fsbml_explain.h"
#include "sched.hpp"

#include "test.hpp"

namespace
{

fsbml_plan_t plan_of(const std::vector<fsbml_loggp_t> &models)
{
    static const char *const names[] = {"eth0", "eth1", "eth2"};
    fsbml_plan_t plan{};
    for (const fsbml_loggp_t &m : models) {
        plan.name[plan.n_rails] = names[plan.n_rails];
        plan.model[plan.n_rails++] = m;
    }
    plan.policy = FSBML_POLICY_ARRIVAL;
    plan.eager = 65536;
    plan.quantum = 16384;
    plan.pieces = true;
    return plan;
}

std::vector<std::string> lines(const fsbml_plan_t &plan)
{
    std::vector<std::string> all;
    const std::unique_ptr<char, void (*)(void *)> text(fsbml_plan(&plan), std::free);
    std::istringstream in(text ? text.get() : "");
    for (std::string line; std::getline(in, line);) {
        all.push_back(line);
    }
    return all;
}

constexpr fsbml_loggp_t kFast = loggp(20e3, 2e3, 2e3, 0, 40.0), kHalf = loggp(20e3, 2e3, 2e3, 0, 80.0);

} // namespace

TEST(DisplayPlan, TellsRailsSharesAndTimes)
{
    const std::vector<std::string> l = lines(plan_of({kFast, kHalf}));
    ASSERT_EQ(l.size(), 5U);
    EXPECT_EQ(l[1], "    64 B        26.5 us  eth0"); // o + L + o + 40 * 63
    EXPECT_EQ(l[2].substr(0, 12), "     4 KiB  ");
    EXPECT_NE(l[3].find("us  eth0 67 %, eth1 33 %"), std::string::npos) << l[3];
    EXPECT_NE(l[4].find("ms  eth0 67 %, eth1 33 %, in fragments of 16384 bytes"), std::string::npos) << l[4];
    EXPECT_NEAR(std::stod(l[3].substr(11)), 40 * 65.536 * 2 / 3, 100) << l[3];
    EXPECT_NEAR(std::stod(l[4].substr(11)), 40 * 1.048576 * 2 / 3, 2) << l[4];
}

TEST(DisplayPlan, WithoutPiecesOneRailTakesAMessage)
{
    fsbml_plan_t plan = plan_of({kFast, kHalf});
    plan.pieces = false;
    const std::vector<std::string> l = lines(plan);
    ASSERT_EQ(l.size(), 5U);
    EXPECT_NE(l[3].find("2645.4 us  eth0"), std::string::npos) << l[3];
    EXPECT_EQ(l[3].find('%'), std::string::npos);
}

TEST(DisplayPlan, WhatIsNotCutHasOneRail)
{
    const std::vector<std::string> l = lines(plan_of({kFast, loggp(20e3, 2e3, 2e3, 0, 800.0)}));
    ASSERT_EQ(l.size(), 5U);
    EXPECT_NE(l[3].find("2645.4 us  eth0"), std::string::npos) << l[3];
    EXPECT_EQ(l[3].find('%'), std::string::npos);
}

TEST(DisplayPlan, OfOneRailOrNone)
{
    const std::vector<std::string> l = lines(plan_of({kHalf}));
    ASSERT_EQ(l.size(), 5U);
    EXPECT_EQ(l[4].find('%'), std::string::npos);
    EXPECT_TRUE(lines(plan_of({})).empty());
    EXPECT_EQ(fsbml_plan(nullptr), nullptr);
}
