// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "schedule/schedule.hpp"

#include <cerrno>
#include <cstring>

namespace fsbml
{

namespace
{
// In the order of fsbml_policy_t.
constexpr const char *kNames[] = {"arrival", "thesis", "roundrobin", "single"};
constexpr const char *kList = "arrival, thesis, roundrobin, single";
} // namespace

bool policy_known(fsbml_policy_t p) noexcept
{
    return p >= FSBML_POLICY_ARRIVAL && p <= FSBML_POLICY_SINGLE;
}

int policy_parse(const char *text, fsbml_policy_t *out) noexcept
{
    if (nullptr == text || nullptr == out) {
        return -EINVAL;
    }
    for (int i = FSBML_POLICY_ARRIVAL; i <= FSBML_POLICY_SINGLE; ++i) {
        if (0 == std::strcmp(text, kNames[i])) {
            *out = static_cast<fsbml_policy_t>(i);
            return 0;
        }
    }
    return -EINVAL;
}

const char *policy_name(fsbml_policy_t p) noexcept
{
    return policy_known(p) ? kNames[p] : "unknown";
}

const char *policy_list() noexcept
{
    return kList;
}

} // namespace fsbml
