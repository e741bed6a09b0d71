// Writes a file that the user has named.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <string>

namespace fsbml::bench
{

// Replaces what the file has; "-" is stdout. Throws std::runtime_error if not all of it can be written.
void write(const std::string &file, const std::string &text);

} // namespace fsbml::bench
