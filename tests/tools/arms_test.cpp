// From requests to arms.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/arms/arms.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;
using Words = std::vector<std::string>;

const Words rails = {"eth0", "eth1"};

Words all_names(const std::vector<Arm> &arms)
{
    Words names;
    for (const Arm &arm : arms) {
        names.push_back(arm.name);
    }
    return names;
}

TEST(Arms, AreAsAskedFor)
{
    const std::vector<Arm> arms =
        make_arms({"r2", "rails", "fsbml:thesis", "fsbml"}, rails, RailKind::network);
    EXPECT_EQ(all_names(arms), (Words{"r2", "eth0", "eth1", "fsbml:thesis", "fsbml"}));
    EXPECT_EQ(arms[0].options, (Words{"--mca", "bml", "r2", "--mca", "btl_tcp_if_include", "eth0,eth1"}));
    EXPECT_EQ(arms[2].options, (Words{"--mca", "bml", "r2", "--mca", "btl_tcp_if_include", "eth1"}));
    EXPECT_EQ(arms[3].options, (Words{"--mca", "bml", "fsbml", "--mca", "btl_tcp_if_include", "eth0,eth1",
                                      "--mca", "bml_fsbml_policy", "thesis"}));
    EXPECT_EQ(names_of(arms, Role::rail), rails);
    EXPECT_EQ(names_of(arms, Role::fsbml), Words{"fsbml"});
}

TEST(Arms, ComeOnceEach)
{
    EXPECT_EQ(all_names(make_arms({"eth1", "rails", "r2", "r2"}, rails, RailKind::network)),
              (Words{"eth1", "eth0", "r2"}));
}

TEST(Arms, OfOneHostAreBtls)
{
    const std::vector<Arm> arms = make_arms({"sm", "fsbml"}, {"sm", "tcp"}, RailKind::btl);
    EXPECT_EQ(arms[0].options, (Words{"--mca", "bml", "r2", "--mca", "btl", "self,sm"}));
    EXPECT_EQ(arms[1].options, (Words{"--mca", "bml", "fsbml", "--mca", "btl", "self,sm,tcp"}));
}

TEST(Arms, OfUnevenNodesLeaveTheRailsToThem)
{
    const std::vector<Arm> arms = make_arms({"fsbml:thesis", "r2", "eth0"}, rails, RailKind::uneven);
    EXPECT_EQ(arms[0].options, (Words{"--mca", "bml", "fsbml", "--mca", "bml_fsbml_policy", "thesis"}));
    EXPECT_EQ(arms[1].options, (Words{"--mca", "bml", "r2"}));
    EXPECT_EQ(arms[2].options, (Words{"--mca", "bml", "r2", "--mca", "btl_tcp_if_include", "eth0"}));
    EXPECT_THROW(make_arms({"ucx"}, rails, RailKind::uneven), std::invalid_argument);
}

TEST(Arms, RefuseWhatIsNot)
{
    for (const char *wrong : {"eth2", "fsbml:fast", "fsbml:", "", "R2"}) {
        EXPECT_THROW(make_arms({wrong}, rails, RailKind::network), std::invalid_argument) << wrong;
    }
    try {
        make_arms({"eth2"}, rails, RailKind::network);
    } catch (const std::invalid_argument &error) {
        EXPECT_STREQ(error.what(),
                     "there is no arm 'eth2'; there are: fsbml, fsbml:{arrival,thesis,roundrobin,single}, "
                     "r2, ucx, rails, and each rail: eth0, eth1");
    }
}

TEST(Arms, HaveParametersOfTheirOwn)
{
    const std::vector<Arm> arms = make_arms(
        {"fsbml", "fsbml:bml_fsbml_quantum=65536", "fsbml:thesis:a=b:c=1.5/x", "rails:btl_tcp_links=2"},
        rails, RailKind::network);
    EXPECT_EQ(all_names(arms), (Words{"fsbml", "fsbml:bml_fsbml_quantum=65536", "fsbml:thesis:a=b:c=1.5/x",
                                      "eth0:btl_tcp_links=2", "eth1:btl_tcp_links=2"}));
    EXPECT_EQ(arms[1].options, (Words{"--mca", "bml", "fsbml", "--mca", "btl_tcp_if_include", "eth0,eth1",
                                      "--mca", "bml_fsbml_quantum", "65536"}));
    EXPECT_EQ(arms[2].options,
              (Words{"--mca", "bml", "fsbml", "--mca", "btl_tcp_if_include", "eth0,eth1", "--mca",
                     "bml_fsbml_policy", "thesis", "--mca", "a", "b", "--mca", "c", "1.5/x"}));
    EXPECT_EQ(arms[4].options, (Words{"--mca", "bml", "r2", "--mca", "btl_tcp_if_include", "eth1", "--mca",
                                      "btl_tcp_links", "2"}));
    // Neither is what FSBML is judged by.
    EXPECT_EQ(names_of(arms, Role::rail), Words{});
    EXPECT_EQ(names_of(arms, Role::fsbml), Words{"fsbml"});
    EXPECT_TRUE(is_fsbml(arms[1]) && is_fsbml(arms[2]) && !is_fsbml(arms[3]));
}

TEST(Arms, RefuseParametersThatAreNone)
{
    for (const char *wrong : {"fsbml:=1", "fsbml:a=", "fsbml:a=b c", "fsbml:a b=1", "fsbml:a==1", "eth2:a=1",
                              "fsbml:a=1:thesis", "a=1"}) {
        EXPECT_THROW(make_arms({wrong}, rails, RailKind::network), std::invalid_argument) << wrong;
    }
}

TEST(Arms, KeepColonsOfRails)
{
    const std::vector<Arm> arms = make_arms({"eth0:1", "eth0:1:a=1"}, {"eth0:1"}, RailKind::network);
    EXPECT_EQ(all_names(arms), (Words{"eth0:1", "eth0:1:a=1"}));
}

TEST(Arms, OfRailsAloneAreEveryRailOrNotEnough)
{
    EXPECT_EQ(every_rail(make_arms({"fsbml", "rails"}, rails, RailKind::network)), rails);
    EXPECT_EQ(every_rail(make_arms({"fsbml", "eth0"}, rails, RailKind::network)), Words{});
}

TEST(Arms, UcxNeedsInterfaces)
{
    EXPECT_EQ(make_arms({"ucx"}, rails, RailKind::network)[0].options.back(), "UCX_NET_DEVICES=eth0,eth1");
    EXPECT_THROW(make_arms({"ucx"}, {"10.0.0.0/24"}, RailKind::network), std::invalid_argument);
    EXPECT_THROW(make_arms({"ucx"}, {"sm", "tcp"}, RailKind::btl), std::invalid_argument);
}

TEST(Arms, TheBestRailGoesNextToFsbml)
{
    std::vector<Arm> arms = make_arms({"eth0", "eth1", "r2", "fsbml"}, rails, RailKind::network);
    put_before_fsbml(arms, "eth0");
    EXPECT_EQ(all_names(arms), (Words{"eth1", "r2", "eth0", "fsbml"}));
    put_before_fsbml(arms, "eth7");
    EXPECT_EQ(all_names(arms), (Words{"eth1", "r2", "eth0", "fsbml"}));
}

} // namespace
