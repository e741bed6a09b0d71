// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The table as users read it.
#include "records.hpp"

#include "test.hpp"

namespace
{

std::string text_of(const fsbml_table_t &t)
{
    std::string s(16384, '\0');
    const int n = fsbml_table_text(&t, &s[0], s.size());
    s.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return s;
}

std::vector<std::string> lines_of(const std::string &s)
{
    std::vector<std::string> lines;
    std::istringstream in(s);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

} // namespace

// One line a rail under aligned heads; units are us, ns/B and MB/s of 1e6 bytes.
TEST(TableText, AlignedLines)
{
    const std::vector<std::string> lines = lines_of(text_of(table_of(2)));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].size(), lines[1].size());
    EXPECT_EQ(lines[1].size(), lines[2].size());
    for (const char *word : {"rail", "key", "L us", "o_s us", "o_r us", "g us", "G ns/B", "MB/s", "burst B",
                             "probes", "residual", "until"}) {
        EXPECT_NE(lines[0].find(word), std::string::npos) << word;
    }
    for (const char *value :
         {"eth0", "tcp:10.71.1.0/24", "20.00", "2.00", "2.10", "3.00", " 40 ", " 25 ", " 100 ", "1.25 %"}) {
        EXPECT_NE(lines[1].find(value), std::string::npos) << value << "\n" << lines[1];
    }
    EXPECT_NE(lines[2].find(" 1500 "), std::string::npos) << lines[2]; // 120 us at 80 ns/B
    EXPECT_EQ(lines[0].find("break"), std::string::npos) << "no rail has one";
}

// Why the measurement ended.
TEST(TableText, UntilTightOrBudgetSpent)
{
    fsbml_table_t t = table_of(2);
    t.rail[1].fit.tight = true;
    const std::vector<std::string> lines = lines_of(text_of(t));
    EXPECT_NE(lines[1].find("disturbed"), std::string::npos) << lines[1];
    EXPECT_EQ(lines[1].find("tight"), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find("tight"), std::string::npos) << lines[2];
}

// A break gets two columns, and dashes on rails without one; all stays aligned and within 160 characters.
TEST(TableText, Breaks)
{
    fsbml_table_t t = table_of(3);
    t.rail[1].fit.params = broken(t.rail[1].fit.params, 32769, 3e6, 95.5);
    t.rail[2].fit = {};
    const std::vector<std::string> lines = lines_of(text_of(t));
    ASSERT_EQ(lines.size(), 4U);
    for (const std::string &line : lines) {
        EXPECT_EQ(line.size(), lines[0].size());
        EXPECT_LE(line.size(), 160U);
    }
    EXPECT_NE(lines[0].find("break B    G above"), std::string::npos);
    EXPECT_NE(lines[2].find("   32769       95.5 "), std::string::npos) << lines[2];
    EXPECT_NE(lines[1].find("        -          - "), std::string::npos) << lines[1];
}

// The other direction and several at once are worth a line where they differ by more than 5 %.
TEST(TableText, WhatElseIsRemarkable)
{
    fsbml_table_t t = table_of(1);
    fsbml_fit_t &fit = t.rail[0].fit;
    const auto more = [&] {
        const std::vector<std::string> lines = lines_of(text_of(t));
        return lines.size() > 2 ? lines[2] : "";
    };
    EXPECT_EQ(more(), "") << "nothing is known";
    fit.back = fit.params;
    fit.back.G_ns_per_byte *= 1.049;
    fit.duplex = 1.04;
    fit.together = 0.97;
    EXPECT_EQ(more(), "");
    fit.back.G_ns_per_byte = 44.0;
    EXPECT_EQ(more(), "eth0: the other way o_s 2.00 us, g 3.00 us, G 44 ns/B");
    fit.back = fit.params;
    fit.back.o_s_ns = 2500.0;
    fit.duplex = 1.9;
    fit.together = 1.25;
    EXPECT_EQ(more(),
              "eth0: the other way o_s 2.50 us, g 3.00 us, G 40 ns/B; both ways at once take 1.90 times "
              "one; beside the other rails it takes 1.25 times that alone");
}

// Remarks follow the table, by rail; a rail without parameters shows dashes and why.
TEST(TableText, RemarksAndFailures)
{
    fsbml_table_t t = table_of(2);
    std::snprintf(t.rail[0].fit.reason, sizeof t.rail[0].fit.reason, "only 2 samples of some sizes");
    t.rail[1].fit = {};
    std::snprintf(t.rail[1].fit.reason, sizeof t.rail[1].fit.reason, "no answer within 1 s");
    const std::vector<std::string> lines = lines_of(text_of(t));
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_NE(lines[2].find(" - "), std::string::npos);
    EXPECT_EQ(lines[3], "eth0: note: only 2 samples of some sizes");
    EXPECT_EQ(lines[4], "eth1: not used: no answer within 1 s");
}

// Without a measurement there is the reason alone.
TEST(TableText, NotMeasured)
{
    fsbml_table_t t{};
    std::snprintf(t.reason, sizeof t.reason, "no two nodes share two rails");
    EXPECT_EQ(text_of(t), "not measured: no two nodes share two rails\n");
}

// As snprintf: the full length is returned, what is written is cut and ends in a zero.
TEST(TableText, CutLikeSnprintf)
{
    const fsbml_table_t t = table_of(3);
    const std::string full = text_of(t);
    EXPECT_EQ(fsbml_table_text(&t, nullptr, 0), static_cast<int>(full.size()));
    char small[20];
    std::memset(small, 'x', sizeof small);
    EXPECT_EQ(fsbml_table_text(&t, small, 10), static_cast<int>(full.size()));
    EXPECT_EQ(std::string(small), full.substr(0, 9));
    EXPECT_EQ(small[10], 'x');
}

// Texts without an end and absurd counts, as a caller's mistake may leave them, are read no further than
// their arrays.
TEST(TableText, BadTables)
{
    fsbml_table_t t = table_of(1);
    t.n_rails = 1000;
    std::memset(t.rail[0].name, 'n', sizeof t.rail[0].name);
    std::memset(t.rail[0].fit.reason, 'f', sizeof t.rail[0].fit.reason);
    EXPECT_NE(text_of(t).find(std::string(FSBML_NAME_MAX, 'n')), std::string::npos);
}

// What is known of a rail stands between its name and its key, "-" for what is not; the table alone stays as
// it is.
TEST(TableText, WhatIsKnownOfARail)
{
    const fsbml_table_t t = table_of(3);
    fsbml_rail_about_t about[3] = {};
    std::strcpy(about[0].address, "10.71.1.2");
    std::strcpy(about[0].device, "mlx5_0");
    std::strcpy(about[0].pci, "0000:3b:00.0");
    about[0].speed_mbps = 100000;
    about[0].numa = 0;
    std::strcpy(about[1].address, "fd00:71:2::2");
    std::strcpy(about[1].device, "eth1");
    about[1].numa = 1;
    about[1].far_numa = true;
    about[2].numa = -1;
    std::string s(16384, '\0');
    s.resize(static_cast<std::size_t>(fsbml_table_display(&t, about, &s[0], s.size())));
    const std::vector<std::string> lines = lines_of(s);
    const std::vector<std::string> bare = lines_of(text_of(t));
    ASSERT_EQ(lines.size(), 5U);
    ASSERT_EQ(bare.size(), 4U);
    const std::string known[] = {"  address       Mbit/s  device  PCI           NUMA",
                                 "  10.71.1.2     100000  mlx5_0  0000:3b:00.0  0   ",
                                 "  fd00:71:2::2  -       eth1    -             1   ",
                                 "  -             -       -       -             -   "};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(lines[i], bare[i].substr(0, 4) + known[i] + bare[i].substr(4));
    }
    EXPECT_EQ(lines[4], "eth1: at NUMA node 1, and this process runs on others: that is in its o and L");
    EXPECT_EQ(fsbml_table_display(&t, about, nullptr, 0), static_cast<int>(s.size()));
    EXPECT_EQ(fsbml_table_display(&t, nullptr, &s[0], s.size()), -EINVAL);
}
