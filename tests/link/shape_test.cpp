// How users write a link's shape.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/link/link.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

using namespace fsbml::link;

TEST(Shape, Words)
{
    Shape s;
    change_all(s, {"rate=200mbit", "delay=1.5ms", "jitter=20us", "loss=0.1%", "queue=64kb", "down"});
    EXPECT_EQ(s.rate, 200000000U);
    EXPECT_EQ(s.delay, 1500000);
    EXPECT_EQ(s.jitter, 20000);
    EXPECT_DOUBLE_EQ(s.loss, 0.001);
    EXPECT_EQ(s.queue, 64000U);
    EXPECT_TRUE(s.down);
    change(s, "up");
    change(s, "rate=1gbit");
    change(s, "queue=1514");
    EXPECT_EQ(s.rate, 1000000000U);
    EXPECT_EQ(s.queue, 1514U);
    EXPECT_FALSE(s.down);
}

// Each is refused with a sentence that names it, and nothing of the list is applied.
TEST(Shape, BadWords)
{
    for (const char *bad : {"",
                            "rate",
                            "rate=",
                            "rate=fast",
                            "rate=200",
                            "rate=0mbit",
                            "rate=-1mbit",
                            "rate=11gbit",
                            "rate=nanmbit",
                            "rate=infgbit",
                            "rate=0x10mbit",
                            "rate=1e99mbit",
                            "delay=2",
                            "delay=11s",
                            "delay=-1us",
                            "delay=1 ms",
                            "jitter=1min",
                            "loss=0.1",
                            "loss=101%",
                            "loss=-1%",
                            "queue=100",
                            "queue=1tb",
                            "speed=1mbit",
                            "UP",
                            "=5"}) {
        Shape s;
        try {
            change_all(s, {"delay=1ms", bad});
            ADD_FAILURE() << "taken: " << bad;
        } catch (const std::invalid_argument &error) {
            EXPECT_NE(std::string(error.what()).find(bad), std::string::npos) << error.what();
        }
        EXPECT_EQ(s.delay, 0) << bad;
    }
}

// Two links together do what was said of the way.
TEST(Shape, Half)
{
    Shape s;
    change_half(s, {"rate=20mbit", "delay=100us", "jitter=10us", "loss=19%", "queue=64kb"});
    EXPECT_EQ(text_of(s), "rate=20mbit delay=50us jitter=5us loss=10% queue=64000 up");
    change_half(s, {"delay=2ms", "down"});
    EXPECT_EQ(text_of(s), "rate=20mbit delay=1000us jitter=5us loss=10% queue=64000 down");
    EXPECT_THROW(change_half(s, {"delay=1ms", "loss=2"}), std::invalid_argument);
    EXPECT_EQ(s.delay, 1000000);
}

// What is printed can be read back.
TEST(Shape, Text)
{
    Shape s;
    change_all(s, {"rate=20mbit", "delay=100us", "jitter=5us", "loss=2.5%", "queue=400000", "down"});
    EXPECT_EQ(text_of(s), "rate=20mbit delay=100us jitter=5us loss=2.5% queue=400000 down");
    Shape back;
    std::istringstream words(text_of(s));
    for (std::string word; words >> word;) {
        change(back, word);
    }
    EXPECT_EQ(text_of(back), text_of(s));
    EXPECT_EQ(text_of(Shape{}), "delay=0us jitter=0us loss=0% queue=400000 up");
}
