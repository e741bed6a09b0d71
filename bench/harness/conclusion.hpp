// The outcome in a sentence, and whether the machine was quiet enough for it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/arms/arms.hpp"

#include <string>
#include <vector>

namespace fsbml::bench
{

struct Conclusion {
    std::string sentence; // how FSBML compares, whichever way
    std::string noise;    // what cannot be said, and why; empty if all can
    int points = 0;       // compared
    int unclear = 0;      // of them, those that are too noisy to say anything of
    // Half of the points and more are clear.
    bool conclusive() const { return points > 0 && unclear * 2 <= points; }
};

Conclusion conclude(const Results &results, const std::vector<Arm> &arms);

} // namespace fsbml::bench
