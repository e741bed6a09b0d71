// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "link.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <sys/epoll.h>
#include <unistd.h>

namespace fsbml::link
{
namespace
{

std::atomic<bool> stopping{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

constexpr int kBatch = 32; // frames of one interface before others get their turn

Ns now_ns()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return Ns{1000000000} * now.tv_sec + now.tv_nsec;
}

} // namespace

Board::Board() : epoll_(::epoll_create1(EPOLL_CLOEXEC))
{
    if (epoll_ < 0) {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }
    stopping = false; // what ended another board
}

Board::~Board()
{
    ::close(epoll_);
}

void Board::watch(int fd, std::uint64_t what)
{
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }
}

void Board::add(std::unique_ptr<Link> link)
{
    watch(link->near.fd(), 2 * links_.size() + 1);
    watch(link->far.fd(), 2 * links_.size());
    links_.push_back(std::move(link));
}

Link *Board::find(const std::string &name)
{
    for (const auto &link : links_) {
        if (link->name == name) {
            return link.get();
        }
    }
    return nullptr;
}

void Board::stop() noexcept
{
    stopping = true;
}

Board::Frame *Board::frame()
{
    if (free_.empty()) {
        frames_.push_back(std::make_unique<Frame>());
        return frames_.back().get();
    }
    Frame *last = free_.back();
    free_.pop_back();
    return last;
}

void Board::take(Link &link, bool from_near)
{
    Tap &from = from_near ? link.near : link.far;
    Direction &direction = from_near ? link.out : link.in;
    for (int i = 0; i < kBatch; ++i) {
        Frame *taken = frame();
        taken->bytes = from.read(taken->data.data());
        const Ns now = now_ns();
        const auto at = taken->bytes > 0 ? direction.offer(now, taken->bytes) : std::nullopt;
        if (!at) {
            free_.push_back(taken);
            if (taken->bytes == 0) {
                return;
            }
            continue;
        }
        due_.push(Due{*at, order_++, from_near ? &link.far : &link.near, &link, taken});
        deliver(now);
    }
}

void Board::deliver(Ns now)
{
    while (!due_.empty() && due_.top().at <= now) {
        const Due due = due_.top();
        due_.pop();
        if (!due.to->write(due.frame->data.data(), due.frame->bytes)) {
            ++due.link->refused;
        }
        free_.push_back(due.frame);
        now = now_ns();
    }
}

void Board::run()
{
    std::array<epoll_event, 64> events;
    while (!stopping) {
        deliver(now_ns());
        timespec wait{};
        if (!due_.empty()) {
            const Ns rest = std::max(Ns{0}, due_.top().at - now_ns());
            wait.tv_sec = rest / 1000000000;
            wait.tv_nsec = rest % 1000000000;
        }
        const int n = ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()),
                                     due_.empty() ? nullptr : &wait, nullptr);
        if (n < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "epoll_pwait2");
        }
        for (int i = 0; i < n; ++i) {
            const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
            if (what == kOther) {
                other_();
            } else {
                take(*links_[what / 2], what % 2 == 1);
            }
        }
    }
}

} // namespace fsbml::link
