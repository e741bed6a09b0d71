/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rail is known by: names of fake BTLs as tcp and others give them, and the words by which a user
 * means a rail. machine_test.c has rails whose devices hwloc knows. */

#include "fake_names.h"

#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

/* ----------------------------------------------------------- BTLs with names */

/* A second interface in the network of the first, as far as this process can see. */
static bool has_twin;
static struct ifaddrs twin;

unsigned if_nametoindex(const char *name)
{
    static unsigned (*real)(const char *);
    *(void **) &real = dlsym(RTLD_NEXT, "if_nametoindex");
    return real(has_twin && 0 == strcmp(name, "twin") ? "lo" : name);
}

int getifaddrs(struct ifaddrs **all)
{
    static int (*real)(struct ifaddrs **);
    *(void **) &real = dlsym(RTLD_NEXT, "getifaddrs");
    const int rc = real(all);
    for (struct ifaddrs *a = *all; 0 == rc && has_twin && NULL != a; a = a->ifa_next) {
        if (0 == strcmp(a->ifa_name, "lo") && NULL != a->ifa_addr && AF_INET == a->ifa_addr->sa_family) {
            twin = *a;
            twin.ifa_name = (char *) "twin";
            a->ifa_next = &twin;
            break;
        }
    }
    return rc;
}

/* Two interfaces in one network are two rails, each with parameters of its own: by key, which is the same on
 * all nodes. The network's name means both. */
FAKE_TEST(interfaces_of_one_network_are_told_apart)
{
    static const char *const names[] = {"lo", "twin", "lo:1"};
    has_twin = true;
    for (int i = 0; i < 3; ++i) {
        name_fake(i, names[i]);
    }
    world_up(3);
    CHECK(3 == fsbml_rails.n_rails);
    CHECK(0 == strcmp("net:127.0.0.0/8", fsbml_rails.rail[0].key));
    CHECK(0 == strcmp("net:127.0.0.0/8#2", fsbml_rails.rail[1].key));
    CHECK(0 == strcmp("net:127.0.0.0/8:1", fsbml_rails.rail[2].key));
    world_down(3);
    mca_bml_fsbml_params.include = (char *) "127.0.0.0/8";
    world_up(3);
    CHECK(3 == fsbml_rails.n_rails);
    world_down(3);
    mca_bml_fsbml_params.include = NULL;
    forget_names(3, names);
    has_twin = false;
}

/* The loopback interface is there everywhere. A name that is no interface says nothing of one. */
FAKE_TEST(a_rail_knows_its_interface)
{
    static const char *const names[] = {"lo", "verbs_1:1"};
    char full[FSBML_NAME_FULL], detail[FSBML_NAME_DETAIL], facts[FSBML_NAME_DETAIL];
    name_fake(0, names[0]);
    name_fake(1, names[1]);
    world_up(2);
    const mca_bml_fsbml_rail_t *rail = fsbml_rails.rail;
    CHECK(2 == fsbml_rails.n_rails);
    CHECK(0 == strcmp("lo", rail[0].name) && 0 == strcmp("net:127.0.0.0/8", rail[0].key));
    CHECK(0 == strcmp("lo", rail[0].about.interface) && 0 == strcmp("lo", rail[0].about.device));
    CHECK(0 == strcmp("127.0.0.1", rail[0].about.address)
          && 0 == strcmp("127.0.0.0/8", rail[0].about.network));
    CHECK(rail[0].about.mtu >= 1280 && 0 == rail[0].about.speed_mbps);
    CHECK('\0' == rail[0].about.pci[0] && rail[0].about.numa < 0 && !rail[0].about.far_numa);
    CHECK(0 == strcmp("lo (127.0.0.1)", fsbml_name_full(rail[0].name, &rail[0].about, full)));
    CHECK(0 == strcmp("127.0.0.1, net:127.0.0.0/8", fsbml_name_detail(&rail[0], detail)));
    CHECK(0 == strncmp(", MTU ", fsbml_name_facts(&rail[0].about, facts), 6));
    CHECK(0 == strcmp("verbs_1:1", rail[1].name) && 0 == strcmp("net#1", rail[1].key));
    CHECK('\0' == rail[1].about.interface[0] && '\0' == rail[1].about.address[0] && 0 == rail[1].about.mtu);
    CHECK(0 == strcmp("verbs_1:1", fsbml_name_full(rail[1].name, &rail[1].about, full)));
    CHECK(0 == strcmp("net#1", fsbml_name_detail(&rail[1], detail)));
    world_down(2);
    forget_names(2, names);
}

/* Of a link without a device these two are no speeds; others are what they are, and so are these with one. */
FAKE_TEST(speeds_are_not_made_up)
{
    static const struct {
        const char *interface;
        uint32_t mbps;
        bool made_up;
    } cases[] = {{"lo", 10000, true},
                 {"lo", 10, true},
                 {"lo", 1000, false},
                 {"lo", 0, false},
                 {"no interface", 10000, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        CHECK(cases[i].made_up == fsbml_speed_is_made_up(cases[i].interface, cases[i].mbps));
    }
    struct if_nameindex *all = if_nameindex();
    for (const struct if_nameindex *i = all; NULL != i && 0 != i->if_index; ++i) {
        char path[64];
        snprintf(path, sizeof(path), "/sys/class/net/%s/device", i->if_name);
        CHECK(0 != access(path, F_OK) || !fsbml_speed_is_made_up(i->if_name, 10000));
    }
    if_freenameindex(all);
}

/* -------------------------------------------------------------- users' words */

FAKE_TEST(words_for_a_rail)
{
    fsbml_rail_about_t about = about_of("eth1", "10.71.1.2", "10.71.1.0/24");
    snprintf(about.device, sizeof(about.device), "mlx5_0");
    snprintf(about.pci, sizeof(about.pci), "0000:3b:00.0");
    static const char *const right[] = {"eth1:0", "eth1",         "tcp:10.71.1.0/24", "tcp",     "10.71.1.2",
                                        "mlx5_0", "0000:3b:00.0", "10.71.1.0/24",     "3b:00.0", "3B:00.0"};
    static const char *const wrong[] = {"",          "eth",    "eth10", "10.71.1",     "10.71.1.20",
                                        "10.71.1.0", "b:00.0", "3b:00", "0001:3b:00.0"};
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); ++i) {
        CHECK(fsbml_name_means(right[i], "eth1:0", "tcp:10.71.1.0/24", "tcp", &about));
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        CHECK(!fsbml_name_means(wrong[i], "eth1:0", "tcp:10.71.1.0/24", "tcp", &about));
    }
    snprintf(about.pci, sizeof(about.pci), "0001:3b:00.0"); /* short is domain 0 */
    CHECK(!fsbml_name_means("3b:00.0", "eth1", "k", "tcp", &about));
    fsbml_about_interface("", &about);
    CHECK(!fsbml_name_means("", "eth1", "k", "tcp", &about));
}

FAKE_TEST(words_for_a_network)
{
    static const char *const right[] = {"10.71.1.0", "10.71.1.2", "10.71.1.127"};
    static const char *const wrong[] = {"10.71.1.128", "10.71.0.2", "10.71.1", "10.71.1.2/25",
                                        "eth1",        "",          "::1"};
    const fsbml_rail_about_t v4 = about_of("eth1", "10.71.1.2", "10.71.1.0/25"),
                             none = about_of("eth1", "", "");
    const fsbml_rail_about_t v6 = about_of("eth1", "fd00::5", "fd00::/63");
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); ++i) {
        CHECK(fsbml_name_is_near(right[i], &v4));
        CHECK(!fsbml_name_is_near(right[i], &none) && !fsbml_name_is_near(right[i], &v6));
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        CHECK(!fsbml_name_is_near(wrong[i], &v4));
    }
    CHECK(fsbml_name_is_near("fd00:0:0:1::9", &v6) && !fsbml_name_is_near("fd00:0:0:2::9", &v6));
}
