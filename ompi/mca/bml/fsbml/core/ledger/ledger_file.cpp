// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "ledger/ledger.hpp"

#include "formats/formats.hpp"

#include <cerrno>
#include <ctime>
#include <new>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fsbml
{

namespace
{

// A process that is in the way has a few system calls to do, and may have lost its processor: first a few
// looks at once, then one every millisecond for a second.
constexpr int kAttempts = 1010;
constexpr int kAtOnce = 10;
constexpr timespec kPause{0, 1'000'000};

} // namespace

LedgerFile::LedgerFile(const fsbml_ledger_config_t &config)
    : path_(config.path), now_ns_(config.now_ns), clock_id_(config.clock_id), members_(config.members)
{
}

LedgerFile::~LedgerFile()
{
    if (nullptr != table_ && 0 == flock(fd_, LOCK_EX | LOCK_NB) && has_name()) {
        unlink(path_.c_str()); // the last one
    }
    leave();
}

int LedgerFile::join(std::string &reason)
{
    int rc = -EAGAIN;
    for (int i = 0; - EAGAIN == rc && i < kAttempts; ++i) {
        if (i >= kAtOnce) {
            nanosleep(&kPause, nullptr);
        }
        reason = "it is locked or changes all the time";
        rc = try_join(reason);
        if (0 != rc) {
            leave();
        }
    }
    if (0 == rc) {
        const std::uint32_t joined = table_->attached.fetch_add(1, std::memory_order_relaxed) + 1;
        if (joined == members_ && has_name()) {
            unlink(path_.c_str());
        }
    }
    return rc;
}

// -EAGAIN: another process made or removed the file meanwhile.
int LedgerFile::try_join(std::string &reason)
{
    fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd_ >= 0) {
        return adopt(reason);
    }
    return ENOENT == errno ? create(reason) : failed(reason, "it cannot be opened", errno);
}

int LedgerFile::create(std::string &reason)
{
    const std::string folder = path_.substr(0, path_.find_last_of('/') + 1);
    std::string temporary;
    fd_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ < 0) { // not every file system has files without a name
        temporary = path_ + ".XXXXXX";
        fd_ = mkostemp(&temporary[0], O_CLOEXEC);
    }
    if (fd_ < 0) {
        return failed(reason, "it cannot be made", errno);
    }
    int rc = 0;
    // Room is taken now: a full file system would kill the process at its first access.
    if (int error = posix_fallocate(fd_, 0, sizeof(Ledger)); 0 != error) {
        rc = failed(reason, "there is no room for it", error);
    } else if (0 != fchmod(fd_, 0600) || 0 != flock(fd_, LOCK_SH | LOCK_NB)) {
        rc = failed(reason, "it cannot be locked", errno);
    } else if (rc = map(reason); 0 == rc) {
        new (table_) Ledger(now_ns_, clock_id_);
        const std::string self = "/proc/self/fd/" + std::to_string(fd_);
        if (0
            != linkat(AT_FDCWD, temporary.empty() ? self.c_str() : temporary.c_str(), AT_FDCWD, path_.c_str(),
                      temporary.empty() ? AT_SYMLINK_FOLLOW : 0)) {
            rc = EEXIST == errno ? -EAGAIN : failed(reason, "it cannot be named", errno);
        }
    }
    if (!temporary.empty()) {
        unlink(temporary.c_str());
    }
    return rc;
}

int LedgerFile::adopt(std::string &reason)
{
    struct stat st;
    if (0 != fstat(fd_, &st)) {
        return failed(reason, "it cannot be examined", errno);
    }
    if (!S_ISREG(st.st_mode) || geteuid() != st.st_uid || 0600 != (st.st_mode & 07777)) {
        reason = "it is not a file of this user alone";
        return -EPERM;
    }
    if (0 == flock(fd_, LOCK_EX | LOCK_NB)) { // it is not in use. Only with this lock may the name be removed
        if (has_name()) {
            unlink(path_.c_str());
        }
        return -EAGAIN;
    }
    if (EWOULDBLOCK != errno) {
        return failed(reason, "it cannot be locked", errno);
    }
    if (0 != flock(fd_, LOCK_SH | LOCK_NB)) {
        return EWOULDBLOCK == errno ? -EAGAIN : failed(reason, "it cannot be locked", errno);
    }
    if (!has_name()) { // removed before it was locked: no one else will find it
        return -EAGAIN;
    }
    if (st.st_size != static_cast<off_t>(sizeof(Ledger))) {
        reason = "it is malformed";
        return -EBADMSG;
    }
    const int rc = map(reason);
    if (const char *flaw = 0 == rc ? table_->flaw(now_ns_, clock_id_) : nullptr; nullptr != flaw) {
        reason = flaw;
        return -EBADMSG;
    }
    return rc;
}

int LedgerFile::map(std::string &reason)
{
    void *at = mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (MAP_FAILED == at) {
        return failed(reason, "it cannot be mapped", errno);
    }
    table_ = static_cast<Ledger *>(at);
    return 0;
}

// Whether the path still means this file.
bool LedgerFile::has_name() const noexcept
{
    struct stat mine;
    struct stat named;
    return 0 == fstat(fd_, &mine) && 0 == lstat(path_.c_str(), &named) && mine.st_dev == named.st_dev
           && mine.st_ino == named.st_ino;
}

void LedgerFile::leave() noexcept
{
    if (nullptr != table_) {
        munmap(table_, sizeof(Ledger));
        table_ = nullptr;
    }
    if (fd_ >= 0) {
        close(fd_);
        fd_ = -1;
    }
}

} // namespace fsbml
