// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Jobs that are launched: each with its output in files, a limit of time and an end; their progress, and a
// quiet machine for them. A program's command line is in command.hpp, as CLI11 takes long to compile.
#ifndef FSBML_TOOLS_LAUNCH_HPP
#define FSBML_TOOLS_LAUNCH_HPP

#include <chrono>
#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace fsbml::bench
{

// One launch of a job: a process with its output in files, a limit of time, and an end.
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

// "0:07", "12:30", "1:02:03".
std::string clock_text(double seconds);

// The bar's text: how much is done, what is under way, how long it has taken and will take.
std::string bar_text(int done, int all, const std::string &now, double seconds);

// The progress of launches: a bar on a terminal, a line a round elsewhere. All on stderr.
class Progress
{
public:
    Progress(int rounds, int arms);
    ~Progress();

    void round(int number, const std::string &arms); // counted from 1
    void arm(const std::string &name);
    void done();  // with that arm
    void tick();  // the time goes on
    void clear(); // before anything else is printed

private:
    double seconds() const;

    bool terminal_;
    int rounds_;
    int all_;
    int done_ = 0;
    std::string now_;
    std::chrono::steady_clock::time_point start_;
};

// ---- Waiting until other programs leave the processors alone.

// Ticks of all processors since boot, from the text of /proc/stat; both 0 if it does not tell.
struct Ticks {
    long long busy = 0;
    long long all = 0;
};
Ticks read_ticks(std::istream &stat);

// Percent busy in between.
int busy_percent(const Ticks &before, const Ticks &after);

// Ranks that poll and programs that compute take turns of some milliseconds, and then the figures say nothing
// about networks. So a round begins when others leave the processors alone, at most `limit` seconds later;
// `say` gets a word if it must wait. False if it waited in vain.
bool wait_for_quiet(const std::function<void(const std::string &)> &say, int seconds = 10);

} // namespace fsbml::bench

#endif
