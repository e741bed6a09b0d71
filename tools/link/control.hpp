// Changing links while they carry frames: requests by a Unix socket, one packet each.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "board.hpp"

#include <deque>
#include <string>

namespace fsbml::link
{

// What a request does and answers; "error: ..." if it is refused, and then nothing is changed.
//   set LINK WORD...            changes both directions, as of a way over two such links (change_half)
//   set LINK out|in WORD...     changes one of them
//   show                        a line a direction: shape and counters
//   stop                        the emulator ends
std::string answer(Board &board, const std::string &request);

// The emulator's end: a socket that must not exist yet. Throws std::system_error.
class Control
{
public:
    Control(Board &board, const std::string &path);
    ~Control();
    Control(const Control &) = delete;
    Control &operator=(const Control &) = delete;

private:
    void serve();
    void accept();
    void reply_to(int client);
    void leave(int client);

    Board &board_;
    const std::string path_;
    int listening_;
    int ready_;               // wakes for the listening socket and the clients
    std::deque<int> clients_; // that have not asked yet, the oldest first
};

// The other end: sends a request to an emulator and returns its answer. Throws std::system_error, also if
// there is no answer within five seconds.
std::string ask(const std::string &path, const std::string &request);

} // namespace fsbml::link
