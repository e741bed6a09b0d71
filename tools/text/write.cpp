// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "text.hpp"

#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{

void write(const std::string &file, const std::string &text)
{
    if (file == "-") {
        fmt::print("{}", text);
        return;
    }
    std::ofstream stream(file);
    stream << text;
    if (!stream.flush()) {
        throw std::runtime_error(fmt::format("cannot write '{}'", file));
    }
}

} // namespace fsbml::bench
