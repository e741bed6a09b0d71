// Launches and what is shown meanwhile.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/arms/rounds.hpp"
#include "tools/launch/launch.hpp"
#include "tools/launch/progress.hpp"
#include "tools/launch/quiet.hpp"
#include "tools/text/aligned.hpp"

#include "../unit/test.hpp"

#include <filesystem>

namespace
{

using namespace fsbml::bench;

class Launches : public testing::Test
{
protected:
    void SetUp() override
    {
        folder = std::filesystem::temp_directory_path() / ("fsbml-launch-test-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    Outcome shell(const std::string &script, double limit = 60)
    {
        return run({{"sh", "-c", script}, folder / "out", folder / "log", limit}, [] {});
    }

    std::string text(const char *name) const
    {
        std::ifstream file(folder / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::filesystem::path folder;
};

TEST_F(Launches, KeepOutputAndStatus)
{
    const Outcome outcome = shell("echo result; echo word >&2; exit 3");
    EXPECT_EQ(outcome.end, End::failure);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(text("out"), "result\n");
    EXPECT_EQ(text("log"), "word\n");
    EXPECT_EQ(shell("true").end, End::success);
}

TEST_F(Launches, TellASignalAndAMissingProgram)
{
    EXPECT_EQ(shell("kill -KILL $$").status, 128 + 9);
    EXPECT_EQ(run({{"/no/such/program"}, folder / "out", folder / "log", 60}, [] {}).status, 127);
}

TEST_F(Launches, EndInTime)
{
    // exec: the shell itself is what gets the signal.
    const Outcome outcome = shell("exec sleep 100", 0.1);
    EXPECT_EQ(outcome.end, End::timeout);
    EXPECT_EQ(outcome.status, 128 + 15);
}

TEST_F(Launches, ReadNothingFromTheTerminal)
{
    EXPECT_EQ(shell("cat").end, End::success);
}

TEST_F(Launches, LastLinesOfALog)
{
    shell("for i in 1 2 3 4 5; do echo $i >&2; done");
    EXPECT_EQ(last_lines(folder / "log", 2), "4\n5\n");
    EXPECT_EQ(last_lines(folder / "nothing", 2), "");
}

TEST(ProbeLines, AreFoundInALog)
{
    std::istringstream log("word\n[1,0]<stderr>:fsbml-probe: {\"a\":1}\nfsbml-probe: {\"b\":2}\nend\n");
    EXPECT_EQ(probe_lines(log), "{\"a\":1}\n{\"b\":2}\n");
}

TEST(Bar, ShowsWhatIsDoneAndToDo)
{
    EXPECT_EQ(bar_text(0, 4, "r2", 1), "[........................] 0 of 4 launches, r2; 0:01 so far");
    EXPECT_EQ(bar_text(1, 4, "fsbml", 61),
              "[######..................] 1 of 4 launches, fsbml; 1:01 so far, about 3:03 to go");
    EXPECT_EQ(bar_text(4, 4, "fsbml", 10),
              "[########################] 4 of 4 launches, fsbml; 0:10 so far, about 0:00 to go");
    EXPECT_EQ(clock_text(3723), "1:02:03");
}

TEST(Processors, AreBusyByTheirTicks)
{
    std::istringstream one("cpu  100 0 50 800 20 5 5 20 0 0\ncpu0 ...\n"),
        two("cpu  190 0 50 900 20 5 5 30 0 0\n"), none("x");
    const Ticks before = read_ticks(one);
    EXPECT_EQ(before.busy, 180);
    EXPECT_EQ(before.all, 1000);
    EXPECT_EQ(busy_percent(before, read_ticks(two)), 49);
    EXPECT_EQ(read_ticks(none).all, 0);
}

TEST(Aligned, CountsCharactersAndTrimsEnds)
{
    EXPECT_EQ(aligned({{"a", "±1", ""}, {"long", "22", "x"}, {}}, 1), "a     ±1\nlong  22  x\n\n");
}

} // namespace
