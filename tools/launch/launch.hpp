// One launch of a job: a process with its output in files, a limit of time, and an end.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fsbml::bench
{

struct Launch {
    std::vector<std::string> command;
    std::string out; // file for stdout
    std::string log; // file for stderr
    double limit_seconds = 600;
};

enum class End { success, failure, timeout, interrupted };

struct Outcome {
    End end = End::failure;
    int status = 0; // exit status, or 128 + signal
    double seconds = 0;
};

// Runs it, and calls `meanwhile` a few times a second. A job that exceeds its time, or that a signal to this
// process breaks off, gets SIGTERM and some seconds to end in order, then SIGKILL. Throws std::runtime_error
// if there is no starting it.
Outcome run(const Launch &launch, const std::function<void()> &meanwhile);
// The same of several jobs at once: each is started as soon as `next` says so, which is asked before each but
// the first. Where one does not succeed, the others are ended, too; the limit is for each.
std::vector<Outcome> run_all(const std::vector<Launch> &launches, const std::function<bool()> &next,
                             const std::function<void()> &meanwhile);

// From now on SIGINT, SIGTERM and SIGHUP end the job under way first. interrupted() tells the signal, or 0.
void catch_signals();
int interrupted();

// The whole of a program's work. Returns its exit status, with an error's text told as that of the command;
// does not return if a signal that was caught broke it off, but ends as a shell expects it then.
int ended(const char *command, const std::function<void()> &work);

// The last lines of a file, for messages.
std::string last_lines(const std::string &file, std::size_t count);

} // namespace fsbml::bench
