// The progress of launches: a bar on a terminal, a line a round elsewhere. All on stderr.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <chrono>
#include <string>

namespace fsbml::bench
{

// "0:07", "12:30", "1:02:03".
std::string clock_text(double seconds);

// The bar's text: how much is done, what is under way, how long it has taken and will take.
std::string bar_text(int done, int all, const std::string &now, double seconds);

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

} // namespace fsbml::bench
