// What goes into a file that the user names.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/text/text.hpp"

#include "../unit/test.hpp"

#include <filesystem>

#include <unistd.h>

namespace
{

using fsbml::bench::write;

TEST(Write, ReplacesWhatTheFileHas)
{
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("fsbml-write-test-" + std::to_string(getpid()));
    write(file, "something long\n");
    write(file, "short {}\n");
    std::ifstream stream(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "short {}\n");
    std::filesystem::remove(file);
}

TEST(Write, GoesToStdoutWhereTheFileIsADash)
{
    testing::internal::CaptureStdout();
    write("-", "{}\n");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "{}\n");
    EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(Write, NamesTheFileThatCannotBeWritten)
{
    for (const std::string file : {"/nowhere/file", "/dev/full"}) {
        try {
            write(file, "text");
            ADD_FAILURE() << file;
        } catch (const std::runtime_error &error) {
            EXPECT_EQ(std::string(error.what()), "cannot write '" + file + "'");
        }
    }
}

} // namespace
