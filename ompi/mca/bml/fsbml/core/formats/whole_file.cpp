// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "formats/formats.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fsbml
{

namespace
{

constexpr off_t kLongest = 1048576;

bool read_all(int fd, std::string &text)
{
    char part[4096];
    text.clear();
    while (text.size() <= static_cast<std::size_t>(kLongest)) {
        const ssize_t n = read(fd, part, sizeof part);
        if (0 == n) {
            return true;
        }
        if (n < 0 && EINTR != errno) {
            return false;
        }
        text.append(part, n > 0 ? static_cast<std::size_t>(n) : 0);
    }
    errno = EFBIG; // it grows while it is read
    return false;
}

void make_folders(const std::string &path, mode_t mode)
{
    for (std::size_t slash = path.find('/', 1); std::string::npos != slash;
         slash = path.find('/', slash + 1)) {
        (void) mkdir(path.substr(0, slash).c_str(), mode); // what is wrong with it, its file will say
    }
}

} // namespace

int read_file(const std::string &path, bool trusted_only, std::string &text, std::string &reason)
{
    // Not to wait for the other end of a pipe.
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return failed(reason, "it cannot be opened", errno);
    }
    struct stat st;
    int rc = 0;
    if (0 != fstat(fd, &st)) {
        rc = failed(reason, "it cannot be examined", errno);
    } else if (!S_ISREG(st.st_mode)) {
        reason = "it is not a file";
        rc = -EINVAL;
    } else if (trusted_only && (geteuid() != st.st_uid || 0 != (st.st_mode & 022))) {
        reason = "others than this user can write it";
        rc = -EPERM;
    } else if (st.st_size > kLongest) {
        reason = "it is longer than 1 MiB";
        rc = -EFBIG;
    } else if (!read_all(fd, text)) {
        rc = failed(reason, "it cannot be read", errno);
    }
    close(fd);
    return rc;
}

NewFile::~NewFile()
{
    if (fd_ >= 0) {
        close(fd_);
    }
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
    }
}

int NewFile::begin(std::string &reason)
{
    make_folders(path_, For::User == for_ ? 0700 : 0777);
    struct stat st;
    // A device or a pipe is written to, not replaced; a pipe without a reader is an error.
    const bool special = 0 == stat(path_.c_str(), &st) && !S_ISREG(st.st_mode);
    fd_ = special ? open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : open_temporary();
    return fd_ < 0 ? failed(reason, "it cannot be made", errno) : 0;
}

// mkostemp() would leave others no rights, whatever the umask.
int NewFile::open_temporary()
{
    static std::atomic<unsigned> next{0};
    for (int tries = 0; tries < 100; ++tries) { // names may be left from a process that was killed
        std::string name = path_ + "." + std::to_string(getpid()) + "-" + std::to_string(next++);
        const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            For::User == for_ ? 0600 : 0666);
        if (fd >= 0) {
            temporary_ = std::move(name);
        }
        if (fd >= 0 || EEXIST != errno) {
            return fd;
        }
    }
    return -1;
}

// All of it, also when a signal comes in between.
int NewFile::write(const char *text, std::size_t length) noexcept
{
    for (std::size_t at = 0; 0 == error_ && at < length;) {
        const ssize_t n = ::write(fd_, text + at, length - at);
        if (n < 0 && EINTR != errno) {
            error_ = errno;
        }
        at += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return -error_;
}

int NewFile::end(std::string &reason)
{
    const int fd = std::exchange(fd_, -1);
    if (0 != close(fd) && 0 == error_) { // where a full disk may be noticed late
        error_ = errno;
    }
    if (0 != error_) {
        return failed(reason, "it cannot be written", error_);
    }
    if (!temporary_.empty() && 0 != std::rename(temporary_.c_str(), path_.c_str())) {
        return failed(reason, "it cannot be named", errno);
    }
    temporary_.clear();
    return 0;
}

int replace_file(const std::string &path, const std::string &text, For users, std::string &reason)
{
    NewFile file(path, users);
    if (const int rc = file.begin(reason); 0 != rc) {
        return rc;
    }
    (void) file.write(text.data(), text.size()); // end() says how it went
    return file.end(reason);
}

} // namespace fsbml
