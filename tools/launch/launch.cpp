// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "launch.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void on_signal(int signal)
{
    caught_signal = signal;
}

void point_to(int descriptor, const char *file, int flags)
{
    const int opened = open(file, flags, 0666);
    if (opened < 0 || dup2(opened, descriptor) < 0) {
        _exit(127);
    }
    close(opened);
}

pid_t start(const Launch &launch)
{
    std::vector<char *> arguments;
    for (const std::string &word : launch.command) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0) {
        throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
    }
    if (child == 0) {
        point_to(STDIN_FILENO, "/dev/null", O_RDONLY);
        point_to(STDOUT_FILENO, launch.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
        point_to(STDERR_FILENO, launch.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    return child;
}

} // namespace

void catch_signals()
{
    struct sigaction action = {};
    action.sa_handler = on_signal;
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
        sigaction(signal, &action, nullptr);
    }
}

int interrupted()
{
    return caught_signal;
}

Outcome run(const Launch &launch, const std::function<void()> &meanwhile)
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto since = [](Clock::time_point then) {
        return std::chrono::duration<double>(Clock::now() - then).count();
    };
    const pid_t child = start(launch);
    Outcome outcome;
    bool ending = false;
    Clock::time_point ended = begin;
    int status = 0;
    for (int turn = 0;; ++turn) {
        const pid_t waited = waitpid(child, &status, WNOHANG);
        if (waited == child || (waited < 0 && errno != EINTR)) {
            break;
        }
        if (!ending && (caught_signal != 0 || since(begin) > launch.limit_seconds)) {
            ending = true;
            ended = Clock::now();
            outcome.end = caught_signal != 0 ? End::interrupted : End::timeout;
            kill(child, SIGTERM);
        } else if (ending && since(ended) > 15) {
            kill(child, SIGKILL);
        }
        if (turn % 10 == 0) {
            meanwhile();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    outcome.seconds = since(begin);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!ending) {
        outcome.end = outcome.status == 0 ? End::success : End::failure;
    }
    return outcome;
}

int ended(const char *command, const std::function<void()> &work)
{
    try {
        work();
    } catch (const std::exception &error) {
        if (interrupted() != 0) {
            std::signal(interrupted(), SIG_DFL);
            std::raise(interrupted());
        }
        std::fflush(stdout);
        fmt::print(stderr, "fsbml: error: {}: {}\n", command, error.what());
        return 1;
    }
    return 0;
}

std::string last_lines(const std::string &file, std::size_t count)
{
    std::ifstream stream(file);
    std::deque<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
        if (lines.size() > count) {
            lines.pop_front();
        }
    }
    std::string text;
    for (const std::string &line : lines) {
        text += line + '\n';
    }
    return text;
}

} // namespace fsbml::bench
