// Waiting until other programs leave the processors alone.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <functional>
#include <istream>
#include <string>

namespace fsbml::bench
{

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
