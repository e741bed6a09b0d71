// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The ledger's file: made once, joined by those that it fits, replaced when it is left over, and gone in the
// end.
#include "node.hpp"

#include <cstddef>
#include <thread>

#include <sys/file.h>
#include <sys/stat.h>

// The name goes with the last expected process that joins, else with the last that leaves.
TEST_F(LedgerTest, LeavesNoFile)
{
    LedgerPtr a = open(2);
    EXPECT_TRUE(exists());
    struct stat st;
    ASSERT_EQ(stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600U);
    LedgerPtr b = open(2);
    ASSERT_TRUE(a && b) << reason;
    EXPECT_FALSE(exists());
    const SchedPtr first = sharing(a.get());
    const SchedPtr second = sharing(b.get());
    fsbml_sched_charge(first.get(), 0, kNow, 1001);
    EXPECT_EQ(backlog(second, 0), 11000U);

    LedgerPtr c = open(3); // another one, by now
    LedgerPtr d = open(3);
    EXPECT_EQ(fsbml_ledger_joined(d.get()), 2U);
    b.reset(); // must not take the others' name
    a.reset();
    EXPECT_TRUE(exists());
    c.reset();
    EXPECT_TRUE(exists());
    d.reset();
    EXPECT_FALSE(exists());
}

// Processes that all come at once make one ledger.
TEST_F(LedgerTest, MadeOnce)
{
    constexpr int kProcesses = 6;
    for (int round = 0; round < 20; ++round) {
        int ready[2];
        int go[2];
        ASSERT_EQ(pipe(ready) | pipe(go), 0);
        std::vector<pid_t> pids;
        for (int i = 0; i < kProcesses; ++i) {
            pids.push_back(child([&] {
                const LedgerPtr mine = open(kProcesses);
                char c = 0;
                return mine && 1 == ::write(ready[1], "", 1) && 1 == read(go[0], &c, 1)
                           ? static_cast<int>(fsbml_ledger_joined(mine.get()))
                           : -1;
            }));
        }
        close(ready[1]);
        char c[kProcesses] = "";
        for (int i = 0; i < kProcesses && 1 == read(ready[0], c, 1); ++i) {
        }
        EXPECT_FALSE(exists()) << round;
        EXPECT_EQ(::write(go[1], c, kProcesses), kProcesses);
        for (const pid_t pid : pids) {
            EXPECT_EQ(status_of(pid), kProcesses) << round;
        }
        for (const int fd : {ready[0], go[0], go[1]}) {
            close(fd);
        }
    }
}

// A process that was held up between its look at the clock and the file finds a ledger that is younger than
// that look.
TEST_F(LedgerTest, HeldUp)
{
    const LedgerPtr made = open(3, kNow + kSecond);
    const LedgerPtr late = open(3, kNow);
    ASSERT_TRUE(made && late) << reason;
    const SchedPtr first = sharing(made.get());
    const SchedPtr second = sharing(late.get());
    fsbml_sched_charge(second.get(), 0, kNow, 1001); // before the ledger's clock begins: at its origin
    EXPECT_EQ(backlog(first, 0, kNow + kSecond), 11000U);
}

// A process that removes a file that is left over holds its lock, and may lose its processor there.
TEST_F(LedgerTest, WaitsForTheLock)
{
    write("left over", 9);
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(fd, LOCK_EX), 0);
    std::thread slow([&] {
        usleep(20000);
        unlink(path.c_str());
        close(fd);
    });
    EXPECT_TRUE(open()) << reason;
    slow.join();
    write("left over", 9);
    const int stopped = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(stopped, LOCK_EX), 0);
    EXPECT_FALSE(open());
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_STREQ(reason, "it is locked or changes all the time");
    close(stopped);
}

// A file that no living process uses is replaced, whatever is in it; never another's.
TEST_F(LedgerTest, LeftOver)
{
    for (const char *text : {"", "short", "f-ledger and so on"}) {
        write(text, std::string(text).size());
        const LedgerPtr l = open();
        ASSERT_TRUE(l) << reason;
        EXPECT_EQ(fsbml_ledger_joined(l.get()), 1U);
        EXPECT_EQ(backlog(sharing(l.get()), 0), 0U);
    }
}

TEST_F(LedgerTest, NotOurs)
{
    write("x", 1);
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    EXPECT_FALSE(open());
    EXPECT_EQ(errno, EPERM);
    EXPECT_STREQ(reason, "it is not a file of this user alone");
    EXPECT_TRUE(exists());
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    if (0 == geteuid()) {
        ASSERT_EQ(chown(path.c_str(), 12345, 0), 0);
        EXPECT_FALSE(open());
        EXPECT_EQ(errno, EPERM);
        EXPECT_TRUE(exists());
    }
    unlink(path.c_str());
    ASSERT_EQ(symlink("/etc/passwd", path.c_str()), 0);
    EXPECT_FALSE(open());
    EXPECT_EQ(errno, ELOOP);
    unlink(path.c_str());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_FALSE(open());
    EXPECT_EQ(errno, EPERM);
    unlink(path.c_str());
    path += "/none";
    EXPECT_FALSE(open());
    EXPECT_EQ(errno, ENOENT);
    EXPECT_NE(std::string(reason), "");
    path = folder + "/ledger";
}

// Of files in use, only those of this version, clock and size are joined; the others stay as they are.
TEST_F(LedgerTest, Malformed)
{
    const struct {
        const char *reason;
        std::size_t at;
        std::uint64_t value;
    } cases[] = {
        {"it is malformed", offsetof(fsbml::Ledger, magic), 0},
        {"it is malformed", offsetof(fsbml::Ledger, version), 1}, // and no size
        {"it is of another version of FSBML", offsetof(fsbml::Ledger, version),
         2 | static_cast<std::uint64_t>(sizeof(fsbml::Ledger)) << 32},
        {"it is of the future", offsetof(fsbml::Ledger, origin_ns), kNow + fsbml::Ledger::kLate + 1},
        {"it is of processes with another clock (time namespace)", offsetof(fsbml::Ledger, clock),
         kClock + 1},
    };
    for (const auto &c : cases) {
        const LedgerPtr used = open();
        ASSERT_TRUE(used) << reason;
        write(&c.value, sizeof(c.value), static_cast<long>(c.at));
        EXPECT_FALSE(open());
        EXPECT_EQ(errno, EBADMSG);
        EXPECT_STREQ(reason, c.reason);
        EXPECT_TRUE(exists());
    }
    for (const long size : {0L, 100L, static_cast<long>(sizeof(fsbml::Ledger)) + 1}) {
        write("", 1);
        const int fd = ::open(path.c_str(), O_RDWR);
        ASSERT_EQ(ftruncate(fd, size) | flock(fd, LOCK_SH), 0);
        EXPECT_FALSE(open());
        EXPECT_EQ(errno, EBADMSG);
        EXPECT_STREQ(reason, "it is malformed");
        close(fd);
    }
}
