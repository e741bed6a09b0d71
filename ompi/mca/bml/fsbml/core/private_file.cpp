// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "private_file.hpp"

#include "failed.hpp"

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

// All of it, also when a signal comes in between.
bool write_all(int fd, const std::string &text)
{
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t n = write(fd, text.data() + at, text.size() - at);
        if (n < 0 && EINTR != errno) {
            return false;
        }
        at += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return true;
}

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

void make_folders(const std::string &path)
{
    for (std::size_t slash = path.find('/', 1); std::string::npos != slash;
         slash = path.find('/', slash + 1)) {
        (void) mkdir(path.substr(0, slash).c_str(), 0700); // what is wrong with it, its file will say
    }
}

} // namespace

int read_file(const std::string &path, bool trusted_only, std::string &text, std::string &reason)
{
    // Not to wait for whoever writes into a pipe.
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

int replace_file(const std::string &path, const std::string &text, std::string &reason)
{
    make_folders(path);
    std::string temporary = path + ".XXXXXX";
    const int fd = mkostemp(&temporary[0], O_CLOEXEC); // mode 0600
    if (fd < 0) {
        return failed(reason, "it cannot be made", errno);
    }
    int rc = 0;
    if (!write_all(fd, text)) {
        rc = failed(reason, "it cannot be written", errno);
    }
    if (0 != close(fd) && 0 == rc) {
        rc = failed(reason, "it cannot be written", errno);
    }
    if (0 == rc && 0 != std::rename(temporary.c_str(), path.c_str())) {
        rc = failed(reason, "it cannot be named", errno);
    }
    if (0 != rc) {
        unlink(temporary.c_str());
    }
    return rc;
}

} // namespace fsbml
