// Requests to the emulator: what they change and how they are refused. Without devices: a board without
// links, and the socket.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/link/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace fsbml::link;

namespace
{

std::string socket_path()
{
    return "/tmp/fsbml-link-test-" + std::to_string(::getpid());
}

} // namespace

TEST(Control, RefusesWithASentence)
{
    Board board;
    EXPECT_EQ(answer(board, "set n0r0 rate=5mbit"), "error: there is no link 'n0r0'");
    EXPECT_EQ(answer(board, "jump"), "error: 'jump': unknown request; there are set, show and stop");
    EXPECT_EQ(answer(board, ""), "error: '': unknown request; there are set, show and stop");
    EXPECT_EQ(answer(board, "show"), "");
}

// A request over the socket is answered while frames are carried; only the owner may ask; afterwards the file
// is gone.
TEST(Control, Socket)
{
    const std::string path = socket_path();
    {
        Board board;
        const Control control(board, path);
        struct stat info {
        };
        ASSERT_EQ(::stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, 0600U);
        EXPECT_THROW(Control(board, path), std::system_error); // one emulator a socket
        std::thread carrier([&] { board.run(); });
        EXPECT_EQ(ask(path, "set x down"), "error: there is no link 'x'");
        EXPECT_EQ(ask(path, std::string(5000, 'a')).rfind("error: ", 0), 0U); // longer than a request may be
        EXPECT_EQ(ask(path, "stop"), "ok");
        carrier.join();
    }
    EXPECT_THROW(ask(path, "show"), std::system_error);
    EXPECT_THROW(ask("/tmp/" + std::string(200, 'x'), "show"), std::system_error);
}

// A client that connects and does not ask yet holds up no other, and is answered whenever it asks; too many
// of them are sent away.
TEST(Control, WaitsForNobody)
{
    const std::string path = socket_path();
    Board board;
    const Control control(board, path);
    std::thread carrier([&] { board.run(); });
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    std::vector<int> idle;
    const auto connect = [&] {
        idle.push_back(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        return ::connect(idle.back(), reinterpret_cast<const sockaddr *>(&address), sizeof address);
    };
    std::array<char, 64> reply{};
    ASSERT_EQ(connect(), 0);
    EXPECT_EQ(ask(path, "set x down"), "error: there is no link 'x'");
    ASSERT_EQ(::send(idle[0], "set y up", 8, MSG_NOSIGNAL), 8);
    const ssize_t got = ::recv(idle[0], reply.data(), reply.size(), 0);
    EXPECT_EQ(std::string(reply.data(), static_cast<std::size_t>(std::max(got, ssize_t{0}))),
              "error: there is no link 'y'");
    for (int i = 0; i < 40; ++i) {
        ASSERT_EQ(connect(), 0);
    }
    EXPECT_EQ(ask(path, "set z down"), "error: there is no link 'z'");
    EXPECT_EQ(::recv(idle[1], reply.data(), reply.size(), 0), 0); // the oldest of them
    EXPECT_EQ(ask(path, "stop"), "ok");
    carrier.join();
    for (const int fd : idle) {
        (void) ::close(fd);
    }
}

// A namespace or an interface that cannot be had is an error with its name, not a crash.
TEST(Tap, Refused)
{
    EXPECT_THROW(Tap("", ""), std::invalid_argument);
    EXPECT_THROW(Tap("", "sixteen-or-more-letters"), std::invalid_argument);
    try {
        Tap("/nowhere/at/all", "t0");
        ADD_FAILURE();
    } catch (const std::system_error &error) {
        EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos) << error.what();
    }
}
