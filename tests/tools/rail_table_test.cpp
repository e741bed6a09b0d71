// Reading FSBML's table of rails from a job's log.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/arms/arms.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;

const char *const log = R"(some warning of another program's
[node0:00031] fsbml: rail 0: rail0 (tcp:10.71.0.0/24)
[node0:00031] fsbml: PRTT(1,0.0 us,32 B) on rail0: 20.0 us
[node0:00031] fsbml: fragments of long messages: at most 8320 bytes
[node0:00031] fsbml: rail   key                    L us   o_s us   o_r us     g us     G ns/B       MB/s  burst B probes residual
[node1:00032] fsbml: rail   key                    L us   o_s us   o_r us     g us     G ns/B       MB/s  burst B probes residual
[node0:00031] fsbml: rail0  tcp:10.71.0.0/24       0.50     6.61     2.11     5.70      41.86      23.89     2344     44   0.06 %
[node1:00032] fsbml: rail0  tcp:10.71.0.0/24       9.00     9.00     9.00     9.00      99.99      23.89     2344     44   0.06 %
[node0:00031] fsbml: rail1  tcp:10.71.1.0/24       0.00     6.84     1.10    15.97      417.9      2.393     2869     36   0.00 %
[node0:00031] fsbml: rail1: note: only 2 samples of some sizes
[node0:00031] fsbml: rail rail1 to [[23842,1],1] is live
[node0:00031] fsbml: rail1: note: this is no longer of the table
)";

RailTable read(const std::string &text)
{
    std::istringstream stream(text);
    return read_rail_table(stream);
}

TEST(RailTable, IsThatOfOneProcess)
{
    const RailTable table = read(log);
    ASSERT_EQ(table.rails.size(), 2u);
    EXPECT_EQ(table.rails[0].name, "rail0");
    EXPECT_EQ(table.rails[0].key, "tcp:10.71.0.0/24");
    EXPECT_DOUBLE_EQ(table.rails[0].latency_us, 0.5);
    EXPECT_DOUBLE_EQ(table.rails[0].overhead_send_us, 6.61);
    EXPECT_DOUBLE_EQ(table.rails[0].overhead_receive_us, 2.11);
    EXPECT_DOUBLE_EQ(table.rails[0].gap_us, 5.7);
    EXPECT_DOUBLE_EQ(table.rails[0].ns_per_byte, 41.86);
    EXPECT_DOUBLE_EQ(table.rails[1].ns_per_byte, 417.9);
    ASSERT_EQ(table.lines.size(), 4u);
    EXPECT_EQ(table.lines[3], "rail1: note: only 2 samples of some sizes");
}

TEST(RailTable, IsEmptyWithoutOne)
{
    EXPECT_TRUE(read("").rails.empty());
    EXPECT_TRUE(
        read("rail key of something else\n[node0:1] fsbml: rail0 tcp:x 1 2 3 4 5 6 7 8\n").rails.empty());
    EXPECT_TRUE(
        read("[node0:1] fsbml: rail key\n[node0:1] fsbml: rail0 tcp:x one 2 3 4 5 6 7 8\n").rails.empty());
}

} // namespace
