// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace fsbml::link
{
namespace
{

[[noreturn]] void fail(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

constexpr std::size_t kMostClients = 16;

bool watch(int epoll, int fd)
{
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

sockaddr_un address_of(const std::string &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        fail(path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

std::string line_of(const Link &link, const char *way, const Direction &direction)
{
    const Direction::Counters &c = direction.counters();
    return fmt::format("{} {} {} frames={} bytes={} full={} lost={} cut={} refused={}\n", link.name, way,
                       text_of(direction.shape()), c.frames, c.bytes, c.full, c.lost, c.cut, link.refused);
}

std::string set(Board &board, std::istringstream &words)
{
    std::string name;
    words >> name;
    Link *link = board.find(name);
    if (link == nullptr) {
        return fmt::format("error: there is no link '{}'", name);
    }
    std::vector<std::string> list;
    bool out = true;
    bool in = true;
    for (std::string word; words >> word;) {
        if (list.empty() && (word == "out" || word == "in")) {
            out = word == "out";
            in = word == "in";
        } else {
            list.push_back(word);
        }
    }
    if (list.empty()) {
        return "error: nothing to set";
    }
    Shape there = link->out.shape();
    Shape back = link->in.shape();
    if (out && in) {
        change_half(there, list);
        change_half(back, list);
    } else {
        change_all(out ? there : back, list);
    }
    link->out.set_shape(there);
    link->in.set_shape(back);
    return "ok";
}

} // namespace

std::string answer(Board &board, const std::string &request)
{
    std::istringstream words(request);
    std::string verb;
    words >> verb;
    try {
        if (verb == "set") {
            return set(board, words);
        }
    } catch (const std::invalid_argument &error) {
        return fmt::format("error: {}", error.what());
    }
    if (verb == "show") {
        std::string text;
        for (const auto &link : board.links()) {
            text += line_of(*link, "out", link->out) + line_of(*link, "in", link->in);
        }
        return text;
    }
    if (verb == "stop") {
        Board::stop();
        return "ok";
    }
    return fmt::format("error: '{}': unknown request; there are set, show and stop", verb);
}

Control::Control(Board &board, const std::string &path)
    : board_(board), path_(path),
      listening_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      ready_(::epoll_create1(EPOLL_CLOEXEC))
{
    const sockaddr_un address = address_of(path);
    if (listening_ < 0 || ready_ < 0
        || ::bind(listening_, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0
        || ::chmod(path.c_str(), 0600) != 0 || ::listen(listening_, 16) != 0 || !watch(ready_, listening_)) {
        fail(path);
    }
    board.also(ready_, [this] { serve(); });
}

Control::~Control()
{
    ::unlink(path_.c_str());
    while (!clients_.empty()) {
        leave(clients_.front());
    }
    ::close(listening_);
    ::close(ready_);
}

// Nothing here waits, as frames would: a client on a busy machine may take its time between connecting and
// asking.
void Control::serve()
{
    std::array<epoll_event, kMostClients + 1> events;
    const int n = ::epoll_wait(ready_, events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < n; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd != listening_) {
            reply_to(fd);
        }
    }
    accept(); // afterwards, as it may close clients that have not asked for long
}

void Control::accept()
{
    const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
        return;
    }
    if (clients_.size() == kMostClients) {
        leave(clients_.front());
    }
    clients_.push_back(client);
    if (!watch(ready_, client)) {
        leave(client);
    }
}

void Control::reply_to(int client)
{
    std::array<char, 4096> request{};
    const ssize_t got = ::recv(client, request.data(), request.size(), 0);
    if (got > 0) {
        const std::string reply = answer(board_, std::string(request.data(), static_cast<std::size_t>(got)));
        (void) ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
    }
    leave(client);
}

void Control::leave(int client)
{
    clients_.erase(std::remove(clients_.begin(), clients_.end(), client), clients_.end());
    ::close(client); // which ends its being watched
}

std::string ask(const std::string &path, const std::string &request)
{
    const sockaddr_un address = address_of(path);
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const timeval patience{5, 0};
    std::string reply(1 << 20, '\0');
    ssize_t got = -1;
    if (fd >= 0 && ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0
        && ::connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0
        && ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
        got = ::recv(fd, reply.data(), reply.size(), 0);
    }
    const int error = got == 0 ? ECONNRESET : errno;
    if (fd >= 0) {
        ::close(fd);
    }
    if (got <= 0) {
        throw std::system_error(error, std::generic_category(), path);
    }
    reply.resize(static_cast<std::size_t>(got));
    return reply;
}

} // namespace fsbml::link
