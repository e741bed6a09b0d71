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

class Child
{
public:
    explicit Child(const Launch &launch)
        : limit_(launch.limit_seconds), begin_(Clock::now()), process_(start(launch))
    {
    }

    bool over() const { return over_; }
    const Outcome &outcome() const { return outcome_; }

    // Looks whether it is over, and ends it if it has to end.
    void look(bool others_failed)
    {
        if (over_) {
            return;
        }
        int status = 0;
        const pid_t waited = waitpid(process_, &status, WNOHANG);
        if (waited == process_ || (waited < 0 && errno != EINTR)) {
            over_ = true;
            outcome_.seconds = since(begin_);
            outcome_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (!ending_) {
                outcome_.end = outcome_.status == 0 ? End::success : End::failure;
            }
        } else if (!ending_ && (caught_signal != 0 || others_failed || since(begin_) > limit_)) {
            ending_ = true;
            ended_ = Clock::now();
            outcome_.end = caught_signal != 0 || others_failed ? End::interrupted : End::timeout;
            kill(process_, SIGTERM);
        } else if (ending_ && since(ended_) > 15) {
            kill(process_, SIGKILL);
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    static double since(Clock::time_point then)
    {
        return std::chrono::duration<double>(Clock::now() - then).count();
    }

    double limit_;
    Clock::time_point begin_;
    pid_t process_;
    Clock::time_point ended_;
    bool ending_ = false;
    bool over_ = false;
    Outcome outcome_;
};

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
    return run_all(
               {launch}, [] { return true; }, meanwhile)
        .front();
}

std::vector<Outcome> run_all(const std::vector<Launch> &launches, const std::function<bool()> &next,
                             const std::function<void()> &meanwhile)
{
    std::vector<Child> children;
    bool failed = false;
    for (int turn = 0;; ++turn) {
        if (!failed && caught_signal == 0 && children.size() < launches.size()
            && (children.empty() || next())) {
            children.emplace_back(launches[children.size()]);
        }
        bool all_over = true;
        for (Child &child : children) {
            child.look(failed);
            all_over = all_over && child.over();
            failed = failed || (child.over() && child.outcome().end != End::success);
        }
        if (all_over && (failed || caught_signal != 0 || children.size() == launches.size())) {
            break;
        }
        if (turn % 10 == 0) {
            meanwhile();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    std::vector<Outcome> outcomes;
    for (const Child &child : children) {
        outcomes.push_back(child.outcome());
    }
    Outcome never;
    never.end = End::interrupted;
    outcomes.resize(launches.size(), never);
    return outcomes;
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
