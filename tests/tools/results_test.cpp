// Reading what the benchmarks print.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/arms/arms.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;

const char *const good = R"({"bench":"b","operation":"init","arm":"r2","seconds":0.25}
{"bench":"b","operation":"latency","variant":"x=1","arm":"r2","messages":1,"bytes":64,"unit":"us","mean":4,"traffic":{"eth0":100,"eth1":5},"samples":[1,2,9]}
{"bench":"b","operation":"latency","variant":"x=1","arm":"r2","messages":1,"bytes":64,"unit":"us","mean":6,"traffic":{"eth0":10},"samples":[6]}
{"bench":"b","operation":"rate","variant":"","arm":"fsbml","messages":1,"bytes":8,"unit":"1/s","mean":4,"traffic":{},"samples":[4e6]}
)";

const Place latency{"latency", "x=1", 1, 64, "us"};

std::string error_of(const std::string &lines)
{
    Results results;
    std::istringstream stream(lines);
    try {
        results.read(stream);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

std::string replaced(std::string text, const std::string &what, const std::string &by)
{
    text.replace(text.find(what), what.size(), by);
    return text;
}

TEST(Results, ReadsLaunchesAndTraffic)
{
    Results results;
    std::istringstream stream(good);
    EXPECT_EQ(results.read(stream), 3u);
    EXPECT_EQ(results.arms(), (std::vector<std::string>{"r2", "fsbml"}));
    EXPECT_EQ(results.places().size(), 2u);
    EXPECT_EQ(results.launches("r2", latency), (std::vector<double>{4, 6}));
    const std::optional<Figure> figure = results.at("r2", latency);
    ASSERT_TRUE(figure);
    EXPECT_DOUBLE_EQ(figure->median, 5);
    EXPECT_DOUBLE_EQ(figure->least, 4);
    EXPECT_NEAR(figure->spread, 0.5 / 5, 1e-12);
    EXPECT_EQ(figure->launches, 2);
    EXPECT_EQ(results.traffic("r2", latency), (Traffic{{"eth0", 110}, {"eth1", 5}}));
    EXPECT_DOUBLE_EQ(*results.init_seconds("r2"), 0.25);
}

// One message of three is on a slow rail: the median does not see it, a program waits for it.
TEST(Results, ALaunchCountsWithWhatItsSamplesTookTogether)
{
    EXPECT_DOUBLE_EQ(launch_figure({9, 1, 2}, "us"), 4);
    EXPECT_DOUBLE_EQ(launch_figure({1, 3}, "MB/s"), 1.5); // two bytes in 1 + 1/3
    EXPECT_DOUBLE_EQ(launch_figure({0, 3}, "1/s"), 0);
    EXPECT_DOUBLE_EQ(launch_figure({1, 1, 1, 1, 1, 1, 1, 1, 100}, "us"), 12); // nine: all count
    EXPECT_DOUBLE_EQ(launch_figure({1, 1, 1, 100, 1, 1, 1, 1, 1, 1}, "us"), 1);
    EXPECT_DOUBLE_EQ(launch_figure({8, 8, 8, 0.01, 8, 8, 8, 8, 8, 8}, "MB/s"), 8);
    std::vector<double> many(98, 1);
    many.insert(many.end(), {99, 1000});
    EXPECT_DOUBLE_EQ(launch_figure(many, "ns"), 1); // two of a hundred
    many[0] = 50;
    EXPECT_DOUBLE_EQ(launch_figure(many, "ns"), (97 + 50) / 98.0);
}

TEST(Results, KnowWhatTheyDoNotHave)
{
    Results results;
    EXPECT_FALSE(results.at("r2", latency));
    EXPECT_TRUE(results.launches("r2", latency).empty());
    EXPECT_TRUE(results.traffic("r2", latency).empty());
    EXPECT_FALSE(results.init_seconds("r2"));
}

TEST(Results, RefuseWhatIsNoResult)
{
    EXPECT_EQ(error_of(good), "");
    EXPECT_EQ(error_of("mpirun: all is well\n").rfind("line 1: ", 0), 0u);
    EXPECT_EQ(error_of(std::string(good) + "{}\n").rfind("line 5: ", 0), 0u);
    for (const auto &[what, by] : std::vector<std::pair<std::string, std::string>>{
             {"\"samples\":[1,2,9]", "\"samples\":[]"},
             {"\"samples\":[1,2,9]", "\"samples\":[null]"},
             {"\"samples\":[1,2,9]", "\"samples\":7"},
             {"\"unit\":\"us\"", "\"unit\":\"hours\""},
             {"\"bytes\":64,", ""},
             {"\"traffic\":{\"eth0\":100,\"eth1\":5}", "\"traffic\":[3]"},
             {"\"traffic\":{\"eth0\":100,\"eth1\":5}", "\"traffic\":{\"eth0\":\"many\"}"},
         }) {
        EXPECT_EQ(error_of(replaced(good, what, by)).rfind("line 2: ", 0), 0u) << by;
    }
}

TEST(Results, TellRatesFromTimes)
{
    EXPECT_TRUE(is_rate("MB/s"));
    EXPECT_TRUE(is_rate("1/s"));
    EXPECT_FALSE(is_rate("s"));
    EXPECT_FALSE(is_rate("us"));
    EXPECT_DOUBLE_EQ(cost(4, "1/s"), 0.25);
    EXPECT_DOUBLE_EQ(cost(4, "us"), 4);
}

} // namespace
