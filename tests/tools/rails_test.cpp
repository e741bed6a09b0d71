// Which networks nodes share, from what they say of their interfaces.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/rails/rails.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace
{

using namespace fsbml::rails;

std::string line(const std::string &name, const std::string &address, const std::string &more)
{
    return "interface\t" + name + '\t' + address + '\t' + more + '\n';
}

std::string node(int number, const std::string &lines)
{
    return "node\tn" + std::to_string(number) + '\n'
           + line("lo", "127.0.0.1/8", "up\t65536\t-\t-\t-\t-\tloopback\t-") + lines;
}

std::string card(const std::string &name, int net, int host, const std::string &state = "up\t1500\t10000")
{
    return line(name, "10.71." + std::to_string(net) + '.' + std::to_string(host) + "/24",
                state + "\t0000:0" + std::to_string(net) + ":00.0\tixgbe\t0\thardware\t-");
}

std::vector<Network> of(const std::string &text)
{
    return networks_of(read_nodes(text));
}

bool says(const Network &network, const std::string &words)
{
    for (const std::string &note : network.notes) {
        if (note.find(words) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST(Rails, FindsWhatTwoNodesShare)
{
    const auto nets = of(node(1, card("eth0", 0, 1) + card("eth1", 1, 1))
                         + node(2, card("eth0", 0, 2) + card("eth7", 1, 2)));
    ASSERT_EQ(nets.size(), 2U); // loopback is none
    EXPECT_EQ(nets[0].network, "10.71.0.0/24");
    EXPECT_EQ(nets[1].members[1].interface.name, "eth7");
    for (const Network &n : nets) {
        EXPECT_EQ(n.use, Use::rail);
        EXPECT_TRUE(n.notes.empty());
        EXPECT_DOUBLE_EQ(mbit_of(n), 10000.0);
    }
    const std::string text = verdict_of(nets, 2);
    EXPECT_NE(text.find("FSBML would use these rails: eth0, eth1."), std::string::npos) << text;
    EXPECT_NE(text.find("By the devices' speeds"), std::string::npos) << text;
}

TEST(Rails, TellsWhatIsNoRail)
{
    const std::string bridge = line("docker0", "172.17.0.1/16", "up\t1500\t-\t-\t-\t-\tprivate\t-");
    const auto nets = of(node(1, card("eth0", 0, 1) + card("eth1", 1, 1) + card("eth2", 2, 1) + bridge)
                         + node(2, card("eth0", 0, 2) + card("eth1", 1, 2, "cut\t1500\t-") + bridge));
    ASSERT_EQ(nets.size(), 4U);
    EXPECT_EQ(nets[0].use, Use::rail);
    EXPECT_EQ(nets[1].use, Use::cut);
    EXPECT_TRUE(says(nets[1], "No carrier, or not up, on n2"));
    EXPECT_EQ(nets[2].use, Use::alone);
    EXPECT_TRUE(says(nets[2], "Only n1 has it"));
    EXPECT_EQ(nets[3].use, Use::private_);
    EXPECT_TRUE(says(nets[3], "n1, n2 have the same address, 172.17.0.1"));
    const std::string text = verdict_of(nets, 2);
    EXPECT_NE(text.find("only one network to use"), std::string::npos) << text;
    EXPECT_NE(text.find("btl_tcp_if_exclude 127.0.0.1/8,sppp,172.17.0.0/16"), std::string::npos) << text;
}

// A bridge over a network card carries what the card does.
TEST(Rails, TakesABridgeOverACardForARail)
{
    const std::string bridge = line("br0", "10.9.0.1/24", "up\t1500\t-\t-\t-\t-\tbridge\teth0,vnet3");
    const std::string port = line("eth0", "-", "up\t1500\t1000\tvirtio2\tvirtio_net\t-\thardware\t-");
    EXPECT_EQ(of(node(1, bridge + port))[0].use, Use::rail);
}

TEST(Rails, TellsWhatIsUnusual)
{
    const auto has = [](const std::string &lines, const std::string &more, std::size_t which,
                        const std::string &words) {
        const auto nets = of(node(1, lines) + node(2, more));
        ASSERT_LT(which, nets.size()) << words;
        EXPECT_TRUE(says(nets[which], words)) << words;
        EXPECT_EQ(nets[which].use, Use::rail) << words;
    };
    has(card("eth0", 0, 1) + card("eth1", 0, 3), card("eth0", 0, 2), 0, "n1 has eth0, eth1 in one subnet");
    has(card("eth0", 0, 1) + card("eth0", 0, 9), card("eth0", 0, 2), 0, "n1 eth0 has 2 addresses there");
    has(card("eth0", 0, 1), card("eth0", 0, 2, "up\t9000\t10000"), 0,
        "The MTU differs: 1500 on n1, 9000 on n2.");
    has(card("eth0", 0, 1), card("eth0", 0, 2, "up\t1500\t1000"), 0, "The speed differs");
    const std::string first = line("v1", "10.1.0.1/24", "up\t1500\t-\t-\t-\t-\tvlan\teth0"),
                      second = line("v2", "10.2.0.1/24", "up\t1500\t-\t-\t-\t-\tvlan\teth0");
    has(first + second, first + second, 1, "It shares eth0 with 10.1.0.0/24");
    const std::string bond = line("bond0", "10.3.0.1/24", "up\t1500\t2000\t-\t-\t-\tbond\teth0,eth1");
    has(bond, line("bond0", "10.3.0.2/24", "up\t1500\t2000\t-\t-\t-\tbond\teth0,eth1"), 0,
        "bond0 is a bond of eth0, eth1");
}

TEST(Rails, RefusesWhatNoNodeSays)
{
    for (const char *text :
         {"interface\teth0\n", "node\n", "node\tn1\ninterface\teth0\t10.0.0.1/33\tup\t1\t1\t-\t-\t-\tx\t-\n",
          "node\tn1\ninterface\teth0\t10.0.0/24\tup\t1\t1\t-\t-\t-\tx\t-\n",
          "node\tn1\ninterface\teth0\t10.0.0.1/24\tasleep\t1\t1\t-\t-\t-\tx\t-\n",
          "node\tn1\ninterface\teth0\t10.0.0.1/24\tup\t1\tfast\t-\t-\t-\tx\t-\n", "hello\n"}) {
        EXPECT_THROW(static_cast<void>(read_nodes(text)), std::runtime_error) << text;
    }
    EXPECT_TRUE(read_nodes("").empty());
}
