// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "link.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fsbml::link
{
namespace
{

class File
{
public:
    File(const std::string &path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC))
    {
        if (fd_ < 0) {
            throw std::system_error(errno, std::generic_category(), path);
        }
    }
    ~File()
    {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    int fd() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

// This thread in another network namespace, until the end of the scope. A TAP device is made in the namespace
// in which its file was opened.
class Inside
{
public:
    explicit Inside(const std::string &name_space) : home_("/proc/self/ns/net", O_RDONLY)
    {
        if (name_space.empty()) {
            return;
        }
        const File there(name_space, O_RDONLY);
        if (::setns(there.fd(), CLONE_NEWNET) != 0) {
            throw std::system_error(errno, std::generic_category(), name_space);
        }
    }
    ~Inside() { (void) ::setns(home_.fd(), CLONE_NEWNET); }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

private:
    File home_;
};

} // namespace

Tap::Tap(const std::string &name_space, const std::string &interface)
{
    ifreq request{};
    if (interface.empty() || interface.size() >= sizeof request.ifr_name) {
        throw std::invalid_argument("'" + interface + "': an interface has 1 to 15 characters");
    }
    std::memcpy(request.ifr_name, interface.c_str(), interface.size());
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    const Inside inside(name_space);
    File device("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (::ioctl(device.fd(), TUNSETIFF, &request) != 0) {
        throw std::system_error(errno, std::generic_category(), "TAP device " + interface);
    }
    fd_ = device.release();
}

Tap::~Tap()
{
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Tap::Tap(Tap &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

std::size_t Tap::read(void *buffer)
{
    const ssize_t got = ::read(fd_, buffer, kFrameMax);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool Tap::write(const void *frame, std::size_t bytes)
{
    return ::write(fd_, frame, bytes) == static_cast<ssize_t>(bytes);
}

} // namespace fsbml::link
