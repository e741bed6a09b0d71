// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A program that the driver calls: its command line, its work, and its error messages.
#ifndef FSBML_TOOLS_LAUNCH_COMMAND_HPP
#define FSBML_TOOLS_LAUNCH_COMMAND_HPP

#include <functional>

#include <CLI/CLI.hpp>

namespace fsbml::bench
{

// Reads the words, then does the work. Returns the exit status: 0, also after --help; 2 for words that are
// wrong, which is told as an error of the command that has the app's name; 1 if the work failed (launch.hpp).
int run_command(CLI::App &app, int argc, char **argv, const std::function<void()> &work);

} // namespace fsbml::bench

#endif
