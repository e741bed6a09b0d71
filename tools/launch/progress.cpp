// The progress of launches.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "launch.hpp"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace fsbml::bench
{

std::string clock_text(double seconds)
{
    const int whole = static_cast<int>(seconds + 0.5);
    return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                         : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar_text(int done, int all, const std::string &now, double seconds)
{
    const int width = 24;
    const int full = width * done / all;
    std::string text = fmt::format(
        "[{}{}] {} of {} launches, {}; {} so far", std::string(static_cast<std::size_t>(full), '#'),
        std::string(static_cast<std::size_t>(width - full), '.'), done, all, now, clock_text(seconds));
    if (done > 0) {
        text += fmt::format(", about {} to go", clock_text(seconds / done * (all - done)));
    }
    return text;
}

Progress::Progress(int rounds, int arms)
    : terminal_(isatty(STDERR_FILENO) != 0), rounds_(rounds), all_(rounds * arms),
      start_(std::chrono::steady_clock::now())
{
}

Progress::~Progress()
{
    clear();
}

double Progress::seconds() const
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::round(int number, const std::string &arms)
{
    if (!terminal_) {
        fmt::print(stderr, "fsbml: round {} of {}: {} ({} so far)\n", number, rounds_, arms,
                   clock_text(seconds()));
    }
}

void Progress::arm(const std::string &name)
{
    now_ = name;
    tick();
}

void Progress::done()
{
    ++done_;
    tick();
}

void Progress::tick()
{
    if (terminal_) {
        fmt::print(stderr, "\r\033[K{}", bar_text(done_, all_, now_, seconds()));
        std::fflush(stderr);
    }
}

void Progress::clear()
{
    if (terminal_) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }
}

} // namespace fsbml::bench
