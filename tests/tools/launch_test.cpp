// Launches and what is shown meanwhile.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/arms/arms.hpp"
#include "tools/launch/launch.hpp"
#include "tools/points/points.hpp"
#include "tools/text/text.hpp"

#include "../unit/test.hpp"

#include <filesystem>
#include <mutex>
#include <thread>

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

// A launcher that says what a program would, 10 us on the fast rail, 100 on the slow one, and keeps what it
// was asked.
class Rounds : public Launches
{
protected:
    void SetUp() override
    {
        Launches::SetUp();
        std::ofstream(folder / "launcher") << R"(#!/bin/sh
for word; do case "$before" in --arm) arm=$word ;; --sizes) sizes=$word ;; esac; before=$word; done
echo "$arm $sizes" >>"${0%/*}/asked"
us=10; [ "$arm" != slow ] || us=100
for bytes in $(echo "$sizes" | tr , ' '); do
    printf '{"bench":"onetoone","operation":"exchange","variant":"","arm":"%s","messages":1,"bytes":%s,"unit":"us","mean":%s,"samples":[%s]}\n' "$arm" "$bytes" "$us" "$us"
done
)";
        std::filesystem::permissions(folder / "launcher", std::filesystem::perms::owner_all);
        job.launcher = folder / "launcher";
        job.folder = folder;
        job.program = {"program", "--sizes", "16,65536"};
        measured.arms = make_arms({"fsbml", "r2", "fast", "slow"}, {"fast", "slow"}, RailKind::network);
    }

    std::size_t asked(const std::string &what) const
    {
        std::ifstream lines(folder / "asked");
        std::size_t n = 0;
        for (std::string line; std::getline(lines, line);) {
            n += line == what ? 1U : 0U;
        }
        return n;
    }

    Job job;
    Measurements measured;
};

TEST_F(Rounds, LaunchWhatIsSlowAsOftenAsSaid)
{
    job.first = {"--sizes", "16"};
    job.slow_rounds = 2;
    std::size_t looks = 0, all = 0;
    run_rounds(job, measured, [&](const Results &seen, bool is_first) {
        ++all;
        if (!is_first) {
            return;
        }
        ++looks;
        EXPECT_EQ(seen.places().size(), 1U);
        EXPECT_EQ(seen.arms().size(), 4U);
        EXPECT_TRUE(measured.results.places().empty());
    });
    EXPECT_EQ(looks, 1U);
    EXPECT_EQ(all, 5U); // after each round but the last as well
    EXPECT_EQ(asked("fsbml 16,65536"), 5U);
    EXPECT_EQ(asked("r2 16,65536"), 5U);
    EXPECT_EQ(asked("fast 16,65536"), 5U);
    EXPECT_EQ(asked("slow 16,65536"), 2U);
    EXPECT_EQ(asked("slow 16"), 1U);
    EXPECT_EQ(measured.results.launches("fsbml", {"exchange", "", 1, 16, "us"}).size(),
              5U); // the first look does not count
}

// As the others, but that each takes its turn: it says that it is there, waits, and passes it on.
class InTurns : public Rounds
{
protected:
    void SetUp() override
    {
        Rounds::SetUp();
        std::ofstream(folder / "launcher") << R"sh(#!/bin/sh
for word; do case "$before" in --arm) arm=$word ;; --turns) turns=$word ;; esac; before=$word; done
job=${turns%%/*} file=${turns#*:}
byte() { printf "\\$(printf %o "$1")" | dd of="$file" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
[ "$arm" != "$(cat "${0%/*}/fails" 2>/dev/null)" ] || exit 7
sleep 0.1 # none may be started before this one is there
[ "$(od -An -tu1 -j4 -N1 "$file" | tr -d ' ')" = "$job" ] || exit 8
byte $((job + 1)) 4
until [ "$(od -An -tu1 -N1 "$file" | tr -d ' ')" = $((job + 1)) ]; do sleep 0.01; done
echo "$arm ${turns%:*}" >>"${0%/*}/asked"
echo '{"bench":"onetoone","operation":"exchange","variant":"","arm":"'$arm'","messages":1,"bytes":16,"unit":"us","mean":10,"samples":[10]}'
byte $((job + 2)) 0
)sh";
        job.interleaved = true;
        job.rounds = 1;
    }
};

TEST_F(InTurns, JobsRunAtOnce)
{
    run_rounds(job, measured, [](const Results &, bool) {});
    EXPECT_EQ(asked("fsbml 0/4") + asked("r2 1/4") + asked("fast 2/4") + asked("slow 3/4"), 4U);
    EXPECT_EQ(measured.results.launches("slow", {"exchange", "", 1, 16, "us"}).size(), 1U);
}

TEST_F(InTurns, OneThatFailsIsNamedAndEndsAll)
{
    std::ofstream(folder / "fails") << "fast";
    try {
        run_rounds(job, measured, [](const Results &, bool) {});
        FAIL() << "it must throw";
    } catch (const std::runtime_error &error) {
        EXPECT_NE(std::string(error.what()).find("the launch of 'fast' failed with status 7"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_EQ(asked("fsbml 0/4"), 0U);
}

TEST(Turns, GoRound)
{
    const std::string file =
        std::filesystem::temp_directory_path() / ("fsbml-turns-test-" + std::to_string(getpid()));
    Turns all(file);
    std::string order;
    std::mutex lock;
    std::vector<std::thread> jobs;
    for (unsigned job = 0; job < 3; ++job) {
        jobs.emplace_back([&, job] {
            Turns own = Turns::of_job(Turns::word(job, 3, file));
            own.arrive();
            for (int turn = 0; turn < 100; ++turn) {
                own.wait();
                {
                    const std::lock_guard<std::mutex> held(lock);
                    order += static_cast<char>('a' + job);
                }
                own.pass();
            }
        });
    }
    while (all.arrived() < 3) {
        std::this_thread::yield();
    }
    all.begin();
    for (std::thread &job : jobs) {
        job.join();
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        ASSERT_EQ(order[i], static_cast<char>('a' + i % 3)) << i;
    }
    EXPECT_EQ(order.size(), 300U);
    std::filesystem::remove(file);
}

TEST(Turns, TellWhatIsNoTurn)
{
    for (const char *wrong : {"", "0/4", "4/4:file", "x/4:file", "0/4:/no/such/file", "0/4:/dev/null"}) {
        EXPECT_THROW(Turns::of_job(wrong), std::runtime_error) << wrong;
    }
}

TEST_F(Rounds, AreAlikeUnlessAsked)
{
    std::size_t looks = 0, all = 0;
    run_rounds(job, measured, [&](const Results &seen, bool is_first) {
        ++all;
        if (!is_first) {
            return;
        }
        ++looks;
        EXPECT_EQ(seen.launches("slow", {"exchange", "", 1, 65536, "us"}).size(), 1U);
    });
    EXPECT_EQ(looks, 1U);
    EXPECT_EQ(all, 4U);
    EXPECT_EQ(asked("slow 16,65536"), 5U);
}

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

TEST(Wrapped, BreaksBetweenWords)
{
    EXPECT_EQ(wrapped("one ±2 three longer-than-that x", 6), "one ±2\nthree\nlonger-than-that\nx\n");
    EXPECT_EQ(wrapped("", 6), "");
}

TEST(Aligned, CountsCharactersAndTrimsEnds)
{
    EXPECT_EQ(aligned({{"a", "±1", ""}, {"long", "22", "x"}, {}}, 1), "a     ±1\nlong  22  x\n\n");
}

} // namespace
