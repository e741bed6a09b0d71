// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Summaries of a process' rails, for the tests of account and merge.
#ifndef FSBML_TESTS_UNIT_SUMMARIES_HPP
#define FSBML_TESTS_UNIT_SUMMARIES_HPP

#include "api/fsbml_explain.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

using SummaryPtr = std::unique_ptr<fsbml_summary_t>;

inline SummaryPtr summary(const std::vector<const char *> &keys)
{
    SummaryPtr s(new fsbml_summary_t{});
    s->heard = 1;
    s->n_rails = static_cast<std::uint32_t>(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        std::strcpy(s->rail[i].key, keys[i]);
        s->rail[i].processes = 1;
    }
    return s;
}

#endif
