// The link emulator: joins pairs of TAP devices and gives each direction a rate, a delay, jitter, loss and a
// queue.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "link.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace
{

using namespace fsbml::link;

// One line of standard input: NAME NEAR_NAMESPACE NEAR_INTERFACE FAR_NAMESPACE FAR_INTERFACE [WORD...] [out
// WORD...] [in WORD...] Words before `out` and `in` are those of a way over two such links.
std::unique_ptr<Link> link_of(const std::string &line, std::uint64_t seed)
{
    std::istringstream words(line);
    std::string name, near_space, near, far_space, far;
    if (!(words >> name >> near_space >> near >> far_space >> far)) {
        throw std::invalid_argument("'" + line + "': a link has a name, two namespaces and two interfaces");
    }
    Shape out;
    Shape in;
    Shape *now = nullptr;
    for (std::string word; words >> word;) {
        if (word == "out" || word == "in") {
            now = word == "out" ? &out : &in;
        } else if (now != nullptr) {
            change(*now, word);
        } else {
            change_half(out, {word});
            change_half(in, {word});
        }
    }
    // What comes from the switch has had its time on the wire of the sender's link.
    return std::unique_ptr<Link>(new Link{name, Tap(near_space, near), Tap(far_space, far),
                                          Direction(out, false, seed), Direction(in, true, seed + 1)});
}

// Frames are due at times that others' time slices know nothing of.
void be_punctual()
{
    (void) ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    sched_param priority{};
    priority.sched_priority = 10;
    if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        fmt::print(std::cerr,
                   "link: warning: no real-time priority ({}): on busy processors frames will be late\n",
                   std::strerror(errno));
    }
}

// Goes on in the background. The caller's end comes when everything is there, so that a script that waits for
// it can go on too.
void to_background(const std::string &pid_file)
{
    const pid_t child = ::fork();
    if (child < 0) {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (child > 0) {
        std::ofstream(pid_file) << child << '\n';
        ::_exit(0); // without destructors: the devices and the socket are the child's
    }
    ::setsid();
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) {
        ::dup2(nowhere, fd);
    }
}

int run(const std::string &socket, const std::string &pid_file, std::uint64_t seed)
{
    Board board;
    for (std::string line; std::getline(std::cin, line);) {
        if (!line.empty()) {
            board.add(link_of(line, seed + 2 * board.links().size()));
        }
    }
    if (board.links().empty()) {
        throw std::invalid_argument("no link: standard input has a line for each");
    }
    const Control control(board, socket);
    struct sigaction action {
    };
    action.sa_handler = [](int) { Board::stop(); };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        ::sigaction(signal, &action, nullptr);
    }
    be_punctual();
    if (!pid_file.empty()) {
        to_background(pid_file);
    }
    board.run();
    return 0;
}

int tell(const std::string &socket, const std::string &request)
{
    const std::string reply = ask(socket, request);
    if (reply.rfind("error: ", 0) == 0) {
        fmt::print(std::cerr, "link: {}\n", reply);
        return 1;
    }
    if (reply != "ok") {
        std::cout << reply;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app{"The link emulator of FSBML's virtual cluster: joins pairs of TAP devices."};
    app.require_subcommand(1);
    std::string socket, pid_file, name;
    std::uint64_t seed = 1;
    std::vector<std::string> words;
    app.add_option("--socket", socket, "the emulator's control socket")->required();
    CLI::App *runner = app.add_subcommand(
        "run",
        "carries frames. Standard input has a line for each link:\n"
        "NAME NAMESPACE INTERFACE NAMESPACE INTERFACE [WORD...] [out WORD...] [in WORD...]\n"
        "NAMESPACE is a file such as /run/netns/x; out leads from the first interface to the second;\n"
        "words: rate=20mbit delay=2ms jitter=100us loss=0.1% queue=64kb up down; before out and in they\n"
        "are those of a way over two such links, of which each then has half of the delay");
    runner->add_option("--background", pid_file,
                       "go on in the background, with the process' number in this file");
    runner->add_option("--seed", seed, "of loss and jitter");
    CLI::App *setter =
        app.add_subcommand("set", "changes a link that is in use: LINK [out|in] WORD..., as with run");
    setter->add_option("link", name)->required();
    setter->add_option("words", words)->required();
    CLI::App *shower = app.add_subcommand("show", "prints shape and counters of every direction");
    app.add_subcommand("stop", "ends the emulator");
    CLI11_PARSE(app, argc, argv);
    try {
        if (runner->parsed()) {
            return run(socket, pid_file, seed);
        }
        if (setter->parsed()) {
            return tell(socket, fmt::format("set {} {}", name, fmt::join(words, " ")));
        }
        return tell(socket, shower->parsed() ? "show" : "stop");
    } catch (const std::exception &error) {
        fmt::print(std::cerr, "link: error: {}\n", error.what());
        return 1;
    }
}
