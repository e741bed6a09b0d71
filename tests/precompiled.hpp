// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What nearly all tests of the core include, to be compiled once for them all (tests/Makefile.am). No test relies on
// it: each includes what it uses.
#ifndef FSBML_TESTS_PRECOMPILED_HPP
#define FSBML_TESTS_PRECOMPILED_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#endif
