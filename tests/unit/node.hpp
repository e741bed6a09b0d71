// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A node for tests: a ledger in a folder of its own, schedulers on it, child processes.
#ifndef FSBML_TESTS_UNIT_NODE_HPP
#define FSBML_TESTS_UNIT_NODE_HPP

#include "around.hpp"
#include "ledger/ledger.hpp"
#include "sched.hpp"

#include <cerrno>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr fsbml_loggp_t kRail = loggp(20e3, 2e3, 2e3, 3e3, 8.0, 0.0); // 11 us for 1001 bytes
constexpr std::uint64_t kNow = 1000000;
constexpr std::uint64_t kClock = 4711;
constexpr std::uint64_t kSecond = 1000000000;
constexpr const char *kKeys[] = {"tcp:10.0.0.0/24 eth0", "tcp:10.0.1.0/24 eth1", "tcp:10.0.2.0/24 eth2"};

struct CloseLedger {
    void operator()(fsbml_ledger_t *l) const noexcept { fsbml_ledger_close(l); }
};
using LedgerPtr = std::unique_ptr<fsbml_ledger_t, CloseLedger>;

class LedgerTest : public FolderTest
{
protected:
    LedgerTest() : FolderTest("ledger") {}

    LedgerPtr open(std::uint32_t members = 0, std::uint64_t now = kNow, std::uint64_t clock = kClock)
    {
        const fsbml_ledger_config_t c{path.c_str(), now, clock, members};
        errno = 0;
        return LedgerPtr(fsbml_ledger_open(&c, reason));
    }
    bool exists() const { return 0 == access(path.c_str(), F_OK); }
    void write(const void *data, std::size_t len, long at = 0)
    {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
        ASSERT_EQ(pwrite(fd, data, len, at), static_cast<ssize_t>(len));
        close(fd);
    }

    char reason[FSBML_REASON_MAX] = "";
};

inline SchedPtr sharing(fsbml_ledger_t *ledger, std::size_t rails = 2, const char *const *keys = kKeys)
{
    SchedPtr s = make_sched(std::vector<fsbml_loggp_t>(rails, kRail));
    EXPECT_EQ(fsbml_sched_share(s.get(), ledger, keys), 0);
    return s;
}

inline std::uint64_t backlog(const SchedPtr &s, std::size_t rail, std::uint64_t now = kNow)
{
    return fsbml_sched_backlog(s.get(), rail, now);
}

// A child process; its exit status is what `body` returns. Ended by the kernel if it hangs.
inline pid_t child(const std::function<int()> &body)
{
    const pid_t pid = fork();
    if (0 == pid) {
        alarm(120);
        _exit(body());
    }
    return pid;
}

inline int status_of(pid_t pid)
{
    int status = 0;
    return pid == waitpid(pid, &status, 0) && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
