// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How a step of the file system is said to have failed.
#ifndef FSBML_FAILED_HPP
#define FSBML_FAILED_HPP

#include <cstring>
#include <string>

namespace fsbml
{

// -error, and in `reason` what the step was about.
inline int failed(std::string &reason, const char *what, int error)
{
    reason = std::string(what) + ": " + std::strerror(error);
    return -error;
}

} // namespace fsbml

#endif
