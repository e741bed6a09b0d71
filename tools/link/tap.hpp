// A TAP device: a network interface whose frames this process carries.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstddef>
#include <string>

namespace fsbml::link
{

constexpr std::size_t kFrameMax = 9216; // of a frame without its checksum; jumbo frames fit

// Exists as long as this object does: with the process, the interface is gone.
class Tap
{
public:
    // Makes `interface` in the network namespace of that file (such as /run/netns/NAME; "" is this process'
    // own). Throws std::system_error, std::invalid_argument.
    Tap(const std::string &name_space, const std::string &interface);
    ~Tap();
    Tap(Tap &&other) noexcept;
    Tap(const Tap &) = delete;
    Tap &operator=(const Tap &) = delete;
    Tap &operator=(Tap &&) = delete;

    int fd() const { return fd_; }
    // A frame that the kernel sends, into a buffer of kFrameMax bytes; 0 if there is none now.
    std::size_t read(void *buffer);
    // Gives a frame to the kernel. False if it takes none: the interface is down, or memory is short.
    bool write(const void *frame, std::size_t bytes);

private:
    int fd_ = -1;
};

} // namespace fsbml::link
