// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Names of the policies; what each one minimises is in vft_scheduler.cpp.
#ifndef FSBML_POLICY_HPP
#define FSBML_POLICY_HPP

#include "api/fsbml_core.h"

namespace fsbml
{

bool policy_known(fsbml_policy_t p) noexcept;
int policy_parse(const char *text, fsbml_policy_t *out) noexcept;
const char *policy_name(fsbml_policy_t p) noexcept;
const char *policy_list() noexcept;

} // namespace fsbml

#endif
