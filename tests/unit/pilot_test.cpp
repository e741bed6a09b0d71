// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The pilot's last probes, which tell whether answers are slower.
#include "measure/prtt/prtt.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

constexpr fsbml_calib_config_t kConfig{16, 2048, 1, 9, 300000000, 1, 0};

// A pilot that has come to PRTT(2,0,4096), after 3 ms for PRTT(1,0,4096).
Pilot at_two()
{
    Pilot pilot(kConfig, 65536, 1.5e6);
    while (pilot.next().bytes < 4096) {
        pilot.learn(pilot.next().packets > 1 ? 200e3 : 40e3);
    }
    pilot.learn(3e6);
    EXPECT_TRUE(pilot.at_once());
    EXPECT_EQ(pilot.next().packets, 2U);
    return pilot;
}

} // namespace

// A second message takes as long as the first: no more is asked.
TEST(Pilot, BothWaysAlike)
{
    Pilot pilot = at_two();
    pilot.learn(3.44e6);
    EXPECT_EQ(pilot.next().packets, 1U);
    pilot.learn(1.72e6);
    EXPECT_TRUE(pilot.done());
    EXPECT_NEAR(pilot.pace().per_byte_ns, 420.0, 1.0);
    EXPECT_EQ(pilot.pace().answer_per_byte_ns, 0.0);
}

// It takes nothing: the answers, at 1680 ns/B, are what both wait for.
TEST(Pilot, SlowerAnswers)
{
    Pilot pilot = at_two();
    pilot.learn(6.90e6);
    pilot.learn(6.90e6);
    EXPECT_FALSE(pilot.done());
    EXPECT_TRUE(pilot.at_once());
    EXPECT_TRUE(pilot.is_sample());
    EXPECT_EQ(pilot.next().packets, 1U);
    EXPECT_EQ(pilot.next().bytes, 4096U);
    EXPECT_NEAR(pilot.predicted_ns(), 6.90e6, 1.0);
    pilot.learn(6.95e6);
    EXPECT_TRUE(pilot.done());
    EXPECT_NEAR(pilot.pace().answer_per_byte_ns, 1680.0, 10.0);
    EXPECT_EQ(pilot.answer_per_byte_ns(), pilot.pace().answer_per_byte_ns);
    EXPECT_LT(pilot.pace().per_byte_ns, 1000.0);
}

// Without a bucket: a quarter of the rate back, so that the second adds a sixth to what both take.
TEST(Pilot, SlowerAnswersOfARailWithoutABucket)
{
    Pilot pilot = at_two();
    pilot.learn(2.0 * 1.7e6 + 6.8e6);
    pilot.learn(1.7e6 + 6.8e6);
    pilot.learn(1.7e6 + 6.8e6);
    EXPECT_TRUE(pilot.done());
    EXPECT_NEAR(pilot.pace().answer_per_byte_ns, 6.8e6 / 4096.0, 12.0);
}

// One that was late looks alike, until it comes again. What the rail's pace is, is left as it was.
TEST(Pilot, ALateProbeIsNoSlowAnswer)
{
    Pilot pilot = at_two();
    pilot.learn(3.44e6);
    pilot.learn(3.72e6);
    EXPECT_FALSE(pilot.done());
    pilot.learn(1.00e6); // the bucket has filled again
    EXPECT_TRUE(pilot.done());
    EXPECT_EQ(pilot.pace().answer_per_byte_ns, 0.0);
    EXPECT_EQ(pilot.answer_per_byte_ns(), 0.0);
    EXPECT_NEAR(pilot.pace().per_byte_ns, 3.4e6 / (3.0 * 4096.0), 1.0);
}
