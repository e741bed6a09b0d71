// A program's command line and its work.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "command.hpp"

#include "launch.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace fsbml::bench
{

int run_command(CLI::App &app, int argc, char **argv, const std::function<void()> &work)
{
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        fmt::print(stderr, "fsbml: error: {}: {}; --help tells what it takes\n", app.get_name(),
                   error.what());
        return 2;
    }
    return ended(app.get_name().c_str(), work);
}

} // namespace fsbml::bench
