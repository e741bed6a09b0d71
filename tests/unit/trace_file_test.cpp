// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The file of decisions: its text, its name, and what is said when it cannot be. tests/sim/decisions_test.cpp
// reads it.
#include "trace_file.hpp"

#include <cerrno>
#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_F(TraceFileTest, IsForPeople)
{
    Traced t(2, 1, 16);
    t.told.measured[1] = false;
    t.told.name[1] = "eth 0|x";
    t.told.node = "#1 node";
    t.told.model[0] = loggp(20e3, 1e3, 2e3, 1.5e3, 0.8);
    const double extra[FSBML_MAX_RAILS] = {0, 77};
    fsbml_far_t far;
    fsbml_far_set(&far, extra);
    fsbml_observer_charge(t.observer.get(), 0, 2000, 1, 1, 0, nullptr);
    fsbml_observer_charge(t.observer.get(), 1, 1900, 1, 3, FSBML_PEER_ELSEWHERE, &far);
    t.told.messages = 2;
    ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
    EXPECT_STREQ(reason, "");
    const auto kept = t.kept();
    std::ostringstream second;
    second << "1000 elsewhere 1 -> eth_0_x | eth0 " << kept[1].arrival_ns[0] << " " << kept[1].backlog_ns[0]
           << " | eth_0_x " << kept[1].arrival_ns[1] << " 0 +77\n";
    std::string got = text();
    const std::size_t comment = got.find("\n# ns peer bytes -> ") + 1; // a line for users
    ASSERT_NE(comment, 0U);
    got.erase(comment, got.find('\n', comment) + 1 - comment);
    EXPECT_EQ(got, "fsbml-decisions 2 rank 1 ranks 4 node _1_node policy arrival origin 1764000000000000100 "
                   "every 1 lost 0 "
                   "messages 2\n"
                   "rail tcp:10.0.0.0/24 eth0 L=20000 o_s=1000 o_r=2000 g=1500 G=0.8 burst=0\n"
                   "rail tcp:10.0.1.0/24 eth_0_x unmeasured\n"
                   "1000 0 1 -> eth0 | eth0 "
                       + std::to_string(kept[0].arrival_ns[0]) + " 0\n" + second.str() + "end 2\n");
    struct stat st;
    ASSERT_EQ(stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600U);
    EXPECT_EQ(files(), 1U);
}

// Rails of one name are told apart, whatever they are called.
TEST_F(TraceFileTest, NamesAreUnique)
{
    Traced t(3, 1, 16);
    const std::string longest(100, 'x');
    t.told.name[0] = t.told.name[1] = t.told.name[2] = longest.c_str();
    ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
    EXPECT_NE(text().find(" " + std::string(63, 'x') + " "), std::string::npos);
    EXPECT_NE(text().find("x~2 "), std::string::npos);
    EXPECT_NE(text().find("x~3 "), std::string::npos);
}

// 32 rails and a full ring: some 100 MB of text, of which no more than a block is held.
TEST_F(TraceFileTest, IsWrittenInPieces)
{
    std::vector<fsbml_loggp_t> models(FSBML_MAX_RAILS, loggp(20e3, 1e3, 2e3, 1.5e3, 0.8));
    const SchedPtr s = make_sched(models);
    const fsbml_observer_config_t config{1, 20000, {}};
    const std::unique_ptr<fsbml_observer_t, DestroyObserver> o(fsbml_observer_create(s.get(), &config));
    const std::string name(50, 'n');
    fsbml_trace_t told{};
    told.ranks = 2;
    told.trace_every = 1;
    told.n_rails = FSBML_MAX_RAILS;
    told.observer = o.get();
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        told.name[i] = name.c_str();
        told.measured[i] = true;
        told.model[i] = models[i];
    }
    for (std::uint64_t i = 0; i < 20000; ++i) {
        fsbml_observer_charge(o.get(), i % 32, 1000 + i, 1000000, ~0U, 1, nullptr);
    }
    struct rusage before, after;
    ASSERT_EQ(getrusage(RUSAGE_SELF, &before), 0);
    ASSERT_EQ(fsbml_trace_store(path.c_str(), &told, reason), 0) << reason;
    ASSERT_EQ(getrusage(RUSAGE_SELF, &after), 0);
    EXPECT_GT(std::filesystem::file_size(path), 40000000U);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 8192); // KiB
    std::ifstream in(path);
    std::string line, last;
    std::size_t lines = 0;
    for (; std::getline(in, line); ++lines) {
        last = line;
    }
    EXPECT_EQ(lines, 20000U + 32 + 3);
    EXPECT_EQ(last, "end 20000");
}

TEST_F(TraceFileTest, TimeStampsNeverRunBack)
{
    Traced t(2, 1, 16);
    for (const std::uint64_t now :
         {5000U, 4000U, 900U, 6000U}) { // also before the origin, by a thread that was late
        fsbml_observer_charge(t.observer.get(), 0, now, 1, 3, 0, nullptr);
    }
    ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
    std::istringstream in(text());
    std::vector<std::string> stamps;
    for (std::string line; std::getline(in, line);) {
        if (line.find(" -> eth") != std::string::npos) {
            stamps.push_back(line.substr(0, line.find(' ')));
        }
    }
    EXPECT_EQ(stamps, (std::vector<std::string>{"4000", "4000", "4000", "5000"}));
}

// ------------------------------------------------------------ what goes wrong

TEST_F(TraceFileTest, SaysWhyThereIsNone)
{
    Traced t(2, 1, 4096);
    t.run(4000, 1);
    EXPECT_EQ(fsbml_trace_store("/proc/none/1.decisions", &t.told, reason), -ENOENT);
    EXPECT_STREQ(reason, "it cannot be made: No such file or directory");

    // No more room: what was there before stays, and nothing else.
    std::ofstream(path) << "what was before";
    const struct rlimit tight = {65536 * 2, RLIM_INFINITY};
    struct rlimit was;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const int rc = fsbml_trace_store(path.c_str(), &t.told, reason);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(rc, -EFBIG);
    EXPECT_STREQ(reason, "it cannot be written: File too large");
    EXPECT_EQ(text(), "what was before");
    EXPECT_EQ(files(), 1U);

    t.told.n_rails = 1; // the observer knows two
    EXPECT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), -EINVAL);
    EXPECT_STREQ(reason, "a message went by a rail that has no name");
    EXPECT_EQ(files(), 1U);
}

TEST_F(TraceFileTest, RefusesNonsense)
{
    Traced t(2, 1, 16);
    EXPECT_EQ(fsbml_trace_store(nullptr, &t.told, reason), -EINVAL);
    EXPECT_EQ(fsbml_trace_store(path.c_str(), nullptr, reason), -EINVAL);
    EXPECT_EQ(fsbml_trace_store(path.c_str(), &t.told, nullptr), -EINVAL);
    t.told.rank = t.told.ranks;
    EXPECT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), -EINVAL);
    EXPECT_EQ(files(), 0U);
}

// ------------------------------------------------------------------- names

TEST_F(TraceFileTest, NameIsInAFolderOrBeginsSo)
{
    char name[256];
    const auto named = [&](const std::string &to, std::uint32_t epoch = 1, std::uint32_t job = 0) {
        EXPECT_EQ(fsbml_record_name(to.c_str(), 7, job, epoch, "decisions", name, sizeof name), 0);
        return std::string(name);
    };
    EXPECT_EQ(named(folder), folder + "/7.decisions");
    EXPECT_EQ(named(folder + "/"), folder + "/7.decisions");
    EXPECT_EQ(named(folder + "/", 3), folder + "/7.3.decisions");
    EXPECT_EQ(named(folder + "/", 1, 2), folder + "/7.spawned2.decisions");
    EXPECT_EQ(named(folder + "/", 3, 12), folder + "/7.spawned12.3.decisions");
    EXPECT_EQ(named(folder + "/x"), folder + "/x.7.decisions");
    EXPECT_EQ(files(), 0U);
    EXPECT_EQ(named(folder + "/x/"), folder + "/x/7.decisions");
    EXPECT_TRUE(std::filesystem::is_directory(folder + "/x"));
    EXPECT_EQ(named(folder + "/x", 2), folder + "/x/7.2.decisions");
    char few[8];
    EXPECT_EQ(fsbml_record_name("longer", 7, 0, 1, "decisions", few, sizeof few), -ENAMETOOLONG);
    EXPECT_EQ(fsbml_record_name("", 7, 0, 1, "decisions", name, sizeof name), -EINVAL);
}
