// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "points.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace fsbml::bench
{

// As mmap() gives it, all is 0. The turn of job I of N is I + 1, and each N further on.
struct Turns::Shared {
    std::atomic<std::uint32_t> turn;
    std::atomic<std::uint32_t> arrived;
};

namespace
{

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "it is shared by processes");

long futex(std::atomic<std::uint32_t> &word, int operation, std::uint32_t value, const timespec *timeout)
{
    return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

} // namespace

Turns::Turns(const std::string &file, int flags)
{
    const auto fail = [&](const char *what) {
        throw std::runtime_error("cannot " + std::string(what) + " '" + file
                                 + "', by which jobs take turns: " + std::strerror(errno));
    };
    const int opened = open(file.c_str(), flags, 0600);
    if (opened < 0) {
        fail("open");
    }
    struct stat about = {};
    const bool sized = (flags & O_CREAT) != 0 ? ftruncate(opened, sizeof(Shared)) == 0
                                              : fstat(opened, &about) == 0
                                                    && about.st_size == static_cast<off_t>(sizeof(Shared));
    void *const memory =
        sized ? mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0) : MAP_FAILED;
    close(opened);
    if (memory == MAP_FAILED) {
        fail("use");
    }
    shared_ = static_cast<Shared *>(memory);
}

Turns::Turns(const std::string &file) : Turns(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC) {}

Turns Turns::of_job(const std::string &own)
{
    unsigned job = 0;
    unsigned jobs = 0;
    int length = 0;
    if (std::sscanf(own.c_str(), "%u/%u:%n", &job, &jobs, &length) != 2 || length == 0 || job >= jobs) {
        throw std::runtime_error("'" + own + "' is not like 0/4:FILE");
    }
    Turns turns(own.substr(static_cast<std::size_t>(length)), O_RDWR | O_CLOEXEC);
    turns.next_ = job + 1;
    turns.jobs_ = jobs;
    return turns;
}

std::string Turns::word(unsigned job, unsigned jobs, const std::string &file)
{
    return std::to_string(job) + '/' + std::to_string(jobs) + ':' + file;
}

Turns::Turns(Turns &&other) noexcept
    : shared_(std::exchange(other.shared_, nullptr)), next_(other.next_), jobs_(other.jobs_)
{
}

Turns::~Turns()
{
    if (shared_ != nullptr) {
        munmap(shared_, sizeof(Shared));
    }
}

void Turns::arrive()
{
    shared_->arrived.fetch_add(1);
}

unsigned Turns::arrived() const
{
    return shared_->arrived.load();
}

void Turns::begin()
{
    pass();
}

void Turns::pass()
{
    shared_->turn.fetch_add(1);
    futex(shared_->turn, FUTEX_WAKE, INT_MAX, nullptr);
}

void Turns::wait()
{
    using Clock = std::chrono::steady_clock;
    const timespec second = {1, 0};
    const auto end = Clock::now() + std::chrono::minutes(10);
    for (std::uint32_t turn = shared_->turn.load(); turn != next_; turn = shared_->turn.load()) {
        if (Clock::now() > end) {
            throw std::runtime_error(
                "the other jobs that take turns with this one have not passed theirs on");
        }
        futex(shared_->turn, FUTEX_WAIT, turn, &second);
    }
    next_ += jobs_;
}

} // namespace fsbml::bench
