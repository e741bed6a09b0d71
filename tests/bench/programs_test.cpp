// What the benchmark programs share: random draws, contents, counters of interfaces.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "bench/mpi/draws.hpp"
#include "tools/points/points.hpp"
#include "tools/text/text.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;

TEST(Draws, AreTheSameFromTheSameSeed)
{
    std::mt19937_64 one(7), same(7), other(8);
    const auto draw = [](std::mt19937_64 &generator) {
        std::vector<std::size_t> sizes;
        for (const Message &message : draw_messages(4, 50, Distribution::log, 16, 65536, generator)) {
            sizes.push_back(message.bytes * 16 + static_cast<std::size_t>(message.destination));
        }
        return sizes;
    };
    const std::vector<std::size_t> first = draw(one);
    EXPECT_EQ(first, draw(same));
    EXPECT_NE(first, draw(other));
}

TEST(Draws, GoToAllOthersAndNotToOneself)
{
    std::mt19937_64 generator(1);
    std::map<std::pair<int, int>, int> seen;
    for (const Message &message : draw_messages(3, 600, Distribution::uniform, 5, 5, generator)) {
        EXPECT_NE(message.source, message.destination);
        EXPECT_EQ(message.bytes, 5u);
        ++seen[{message.source, message.destination}];
    }
    EXPECT_EQ(seen.size(), 6u);
    for (const auto &entry : seen) {
        EXPECT_GT(entry.second, 200);
    }
}

TEST(Draws, OfSizesKeepTheirRangeAndShape)
{
    std::mt19937_64 generator(3);
    int below = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::size_t log = draw_size(Distribution::log, 0, 65535, generator);
        ASSERT_LE(log, 65535u);
        below += log < 255 ? 1 : 0;
        const std::size_t uniform = draw_size(Distribution::uniform, 10, 12, generator);
        ASSERT_TRUE(uniform >= 10 && uniform <= 12);
        const std::size_t ends = draw_size(Distribution::ends, 8, 4096, generator);
        ASSERT_TRUE(ends == 8 || ends == 4096);
    }
    // Half of the powers of two.
    EXPECT_NEAR(below, 1000, 150);
}

TEST(Pattern, ShowsEveryKindOfMistake)
{
    std::vector<unsigned char> buffer(3000);
    fill(buffer.data(), buffer.size(), 5, 9);
    EXPECT_EQ(first_wrong(buffer.data(), buffer.size(), 5, 9), buffer.size());
    EXPECT_LT(first_wrong(buffer.data(), buffer.size(), 6, 9), 16u);
    EXPECT_LT(first_wrong(buffer.data(), buffer.size(), 5, 10), 16u);
    EXPECT_LT(first_wrong(buffer.data() + 256, buffer.size() - 256, 5, 9), 16u);
    buffer[2999] ^= 1;
    EXPECT_EQ(first_wrong(buffer.data(), buffer.size(), 5, 9), 2999u);
}

TEST(OptionsOf, ABenchmarkYieldToTheUsers)
{
    using Words = std::vector<std::string>;
    EXPECT_EQ(last_of_each({"--sizes", "1,2", "--json", "--seconds", "3", "--sizes=7", "--json"}),
              (Words{"--seconds", "3", "--sizes=7", "--json"}));
    EXPECT_EQ(last_of_each({"word", "word", "--a", "-1"}), (Words{"word", "word", "--a", "-1"}));
    EXPECT_EQ(last_of_each({}), Words{});
}

TEST(OptionsOf, AProgramAreCheckedOnce)
{
    int count = 1;
    std::vector<std::size_t> sizes = {1};
    Options options("program", "about");
    options.add("count", count, 1, 9, "help");
    options.add("sizes", sizes, 0, 100, "help");
    const auto parse = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "program");
        std::vector<char *> pointers;
        for (std::string &word : words) {
            pointers.push_back(word.data());
        }
        return options.parse(static_cast<int>(pointers.size()), pointers.data(), false);
    };
    EXPECT_EQ(parse({"--count", "10"}), 2);
    EXPECT_EQ(parse({"--nothing"}), 2);
    EXPECT_EQ(parse({"--sizes", "1,two"}), 2);
    EXPECT_EQ(parse({"--min-samples", "9", "--max-samples", "8"}), 2);
    EXPECT_EQ(parse({"--arm", "a\"b"}), 2);
    EXPECT_EQ(parse({"--help"}), 1);
    EXPECT_EQ(parse({"--count", "3", "--sizes", "1,2", "--sizes", "4,5,6", "--min-samples", "1"}), 0);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 5, 6}));
}

TEST(Quantile, Interpolates)
{
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({7}, 0.25), 7);
    EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4, 5}, 1), 5);
}

const char *const table = R"(Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
 rail0: 5000 10 0 0 0 0 0 0 7000 20 0 0 0 0 0 0
broken: 1 2
 a"b: 5000 10 0 0 0 0 0 0 7000 20 0 0 0 0 0 0
)";

TEST(Interfaces, AreReadFromProc)
{
    std::istringstream stream(table);
    EXPECT_EQ(read_interface_bytes(stream), (Traffic{{"lo", 100}, {"rail0", 7000}}));
}

TEST(Interfaces, DifferencesLeaveOutWhatIsIdleOrNew)
{
    EXPECT_EQ(traffic_between({{"a", 10}, {"b", 5}, {"gone", 1}}, {{"a", 17}, {"b", 5}, {"new", 9}}),
              (Traffic{{"a", 7}}));
}

TEST(Interfaces, AreSummedOverNodes)
{
    Traffic sum;
    add_traffic_text(traffic_text({{"a", 7}, {"b", 1}}).data(), sum);
    add_traffic_text(traffic_text({{"a", 3}}).data(), sum);
    EXPECT_EQ(sum, (Traffic{{"a", 10}, {"b", 1}}));
    Traffic many;
    for (int i = 0; i < 1000; ++i) {
        many["interface" + std::to_string(i)] = 1;
    }
    EXPECT_EQ(traffic_text(many).size(), static_cast<std::size_t>(traffic_text_size));
}

} // namespace
