// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What is around a test: a folder of its own, another locale.
#ifndef FSBML_TESTS_UNIT_AROUND_HPP
#define FSBML_TESTS_UNIT_AROUND_HPP

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <locale>
#include <string>

// A folder of its own for each test, and the path of the one file that the test may leave there.
class FolderTest : public ::testing::Test
{
protected:
    explicit FolderTest(const char *file) : path(file) {}

    void SetUp() override
    {
        folder = (std::filesystem::temp_directory_path() / "fsbml-test-XXXXXX").string();
        ASSERT_NE(mkdtemp(&folder[0]), nullptr);
        path = folder + "/" + path;
    }
    void TearDown() override
    {
        for (std::filesystem::path at = path; at.string().size() >= folder.size(); at = at.parent_path()) {
            std::error_code wrong;
            std::filesystem::remove(at, wrong);
            EXPECT_FALSE(wrong) << "something is left in " << at;
        }
    }

    std::string folder, path;
};

// As long as it is there, 1.5 is 1,5 and 1000 is 1.000: a program may have set such a locale.
class CommaLocale
{
public:
    CommaLocale() = default;
    ~CommaLocale() { std::locale::global(before_); }
    CommaLocale(const CommaLocale &) = delete;
    CommaLocale &operator=(const CommaLocale &) = delete;

private:
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before_ = std::locale::global(std::locale(std::locale::classic(), new Comma));
};

#endif
