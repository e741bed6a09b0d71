// Bars, and whether results meet them.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <string>

namespace fsbml::bench
{

struct Bar {
    std::string text;
    bool met = false;
    std::string figures;
    bool unclear = false; // missed, but nowhere by more than noise can explain

    const char *outcome() const { return met ? "met" : unclear ? "unclear" : "NOT MET"; }
};

} // namespace fsbml::bench
