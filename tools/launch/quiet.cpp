// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "launch.hpp"

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

const int quiet_percent = 10;

Ticks ticks_now()
{
    std::ifstream stat("/proc/stat");
    return read_ticks(stat);
}

} // namespace

Ticks read_ticks(std::istream &stat)
{
    std::string line;
    std::getline(stat, line);
    std::istringstream words(line);
    std::string name;
    long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
    if (!(words >> name >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal)
        || name != "cpu") {
        return {};
    }
    const long long busy = user + nice + system + irq + softirq + steal;
    return {busy, busy + idle + wait};
}

int busy_percent(const Ticks &before, const Ticks &after)
{
    return static_cast<int>(100 * (after.busy - before.busy) / (after.all - before.all + 1));
}

bool wait_for_quiet(const std::function<void(const std::string &)> &say, int seconds)
{
    int percent = 0;
    for (int turn = 0; turn < 2 * seconds && interrupted() == 0; ++turn) {
        const Ticks before = ticks_now();
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        percent = busy_percent(before, ticks_now());
        if (percent < quiet_percent) {
            return true;
        }
        if (turn == 0) {
            say(fmt::format("other programs use {} % of the processors; waiting up to {} s for them", percent,
                            seconds));
        }
    }
    say(fmt::format(
        "other programs still use {} % of the processors: the figures of this round will be too high",
        percent));
    return false;
}

} // namespace fsbml::bench
