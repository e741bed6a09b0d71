// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Names of the policies and the digest.
#include "api/fsbml_core.h"

#include "test.hpp"

// Every policy's name is read back as that policy and stands in the list.
TEST(Policy, NamesRoundTrip)
{
    for (int i = FSBML_POLICY_ARRIVAL; i <= FSBML_POLICY_SINGLE; ++i) {
        const auto p = static_cast<fsbml_policy_t>(i);
        fsbml_policy_t got = FSBML_POLICY_ARRIVAL;
        EXPECT_EQ(fsbml_policy_parse(fsbml_policy_name(p), &got), 0);
        EXPECT_EQ(got, p);
        EXPECT_NE(std::string(fsbml_policy_list()).find(fsbml_policy_name(p)), std::string::npos);
    }
    EXPECT_STREQ(fsbml_policy_list(), "arrival, thesis, roundrobin, single");
}

// Anything else is refused and changes nothing.
TEST(Policy, OthersAreRefused)
{
    fsbml_policy_t p = FSBML_POLICY_SINGLE;
    for (const char *bad : {"", "Arrival", "arrival ", "round-robin", "arrivalx", "arr"}) {
        EXPECT_EQ(fsbml_policy_parse(bad, &p), -EINVAL) << bad;
    }
    EXPECT_EQ(fsbml_policy_parse(nullptr, &p), -EINVAL);
    EXPECT_EQ(fsbml_policy_parse("arrival", nullptr), -EINVAL);
    EXPECT_EQ(p, FSBML_POLICY_SINGLE);
}

// FNV-1a's published test values; equal texts only have equal digests.
TEST(Digest, KnownValues)
{
    EXPECT_EQ(fsbml_digest(""), 0x811c9dc5U);
    EXPECT_EQ(fsbml_digest("a"), 0xe40c292cU);
    EXPECT_EQ(fsbml_digest("foobar"), 0xbf9cf968U);
    EXPECT_EQ(fsbml_digest(nullptr), fsbml_digest(""));
    EXPECT_NE(fsbml_digest("packets=16;step=2048"), fsbml_digest("packets=16;step=2049"));
}
