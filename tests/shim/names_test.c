/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What a rail is known by: names of fake BTLs as tcp and others give them, the words by which a user means a
 * rail, where its device is on a machine of two NUMA nodes (two_numa_nodes.xml), and what the display says of
 * all that. */

#define FSBML_WANT_HWLOC
#include "fake_pml.h"
#include "opal/mca/base/mca_base_var.h"

#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

static char machine_file[4096];

static fsbml_rail_about_t about_of(const char *interface, const char *address, const char *network)
{
    fsbml_rail_about_t about;
    fsbml_about_interface("", &about);
    snprintf(about.interface, sizeof(about.interface), "%s", interface);
    snprintf(about.address, sizeof(about.address), "%s", address);
    snprintf(about.network, sizeof(about.network), "%s", network);
    snprintf(about.device, sizeof(about.device), "%s", interface);
    return about;
}

/* ------------------------------------------------- what goes to stderr, as text */

static int real_stderr;
static FILE *caught;

static void catch_stderr(void)
{
    fflush(stderr);
    caught = tmpfile();
    real_stderr = dup(STDERR_FILENO);
    (void) dup2(fileno(caught), STDERR_FILENO);
}

static char said[16384];

static void release_stderr(void)
{
    fflush(stderr);
    (void) dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    rewind(caught);
    said[fread(said, 1, sizeof(said) - 1, caught)] = '\0';
    fclose(caught);
}

static bool is_said(const char *text)
{
    return NULL != strstr(said, text);
}

#define SAID(text) CHECK(is_said(text) || (fprintf(stderr, "said is: %s\n", said), false))

/* ----------------------------------------------------------- BTLs with names */

static mca_btl_base_component_t net = {.btl_version = {MCA_BTL_DEFAULT_VERSION("net")}};

/* As tcp does, and openib: a variable whose name ends in the interface, and whose storage is the module's. */
static void name_fake(int i, const char *name)
{
    char variable[64];
    fake_construct(&fake[i], 4096, 65536, 10);
    fake[i].super.btl_component = &net;
    snprintf(variable, sizeof(variable), "bandwidth_%s", name);
    CHECK(0 <= mca_base_var_register("opal", "btl", "net", variable, "", MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL,
                                     0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY,
                                     &fake[i].super.btl_bandwidth));
}

static void forget_names(int n, const char *const names[])
{
    char variable[64];
    for (int i = 0; i < n; ++i) {
        snprintf(variable, sizeof(variable), "bandwidth_%s", names[i]);
        (void) mca_base_var_deregister(mca_base_var_find("opal", "btl", "net", variable));
    }
}

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
 * all nodes. Who names the network means both. */
static void interfaces_of_one_network_are_told_apart(void)
{
    static const char *const names[] = {"lo", "twin", "lo:1"};
    has_twin = true;
    for (int i = 0; i < 3; ++i) {
        name_fake(i, names[i]);
    }
    world_up(3);
    CHECK(3 == mca_bml_fsbml.n_rails);
    CHECK(0 == strcmp("net:127.0.0.0/8", mca_bml_fsbml.rail[0].key));
    CHECK(0 == strcmp("net:127.0.0.0/8#2", mca_bml_fsbml.rail[1].key));
    CHECK(0 == strcmp("net:127.0.0.0/8:1", mca_bml_fsbml.rail[2].key));
    world_down(3);
    mca_bml_fsbml_params.include = (char *) "127.0.0.0/8";
    world_up(3);
    CHECK(3 == mca_bml_fsbml.n_rails);
    world_down(3);
    mca_bml_fsbml_params.include = NULL;
    forget_names(3, names);
    has_twin = false;
}

/* The loopback interface is there everywhere. A name that is no interface says nothing of one. */
static void a_rail_knows_its_interface(void)
{
    static const char *const names[] = {"lo", "verbs_1:1"};
    char full[FSBML_NAME_FULL], detail[FSBML_NAME_DETAIL], facts[FSBML_NAME_DETAIL];
    name_fake(0, names[0]);
    name_fake(1, names[1]);
    world_up(2);
    const mca_bml_fsbml_rail_t *rail = mca_bml_fsbml.rail;
    CHECK(2 == mca_bml_fsbml.n_rails);
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
static void speeds_are_not_made_up(void)
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

static void words_for_a_rail(void)
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

static void words_for_a_network(void)
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

#ifndef FSBML_NO_HWLOC

/* How many rails are left, and what was said. */
static uint32_t left_with(const char *include, const char *exclude, int n)
{
    mca_bml_fsbml_params.include = (char *) include;
    mca_bml_fsbml_params.exclude = (char *) exclude;
    catch_stderr();
    world_up(n);
    release_stderr();
    const uint32_t left = mca_bml_fsbml.n_rails;
    world_down(n);
    mca_bml_fsbml_params.include = mca_bml_fsbml_params.exclude = NULL;
    return left;
}

/* Addresses, devices and PCI addresses leave out a rail of three; who names an unknown one is told what there
 * is. */
static void rails_by_other_names(void)
{
    static const char *const names[] = {"lo", "verbs_1:1", "fsbml1"};
    setenv("HWLOC_XMLFILE", machine_file, 1);
    for (int i = 0; i < 3; ++i) {
        name_fake(i, names[i]);
    }
    CHECK(3 == left_with(NULL, NULL, 3) && '\0' == said[0]);
    CHECK(2 == left_with(NULL, "127.0.0.1", 3) && '\0' == said[0]);
    CHECK(2 == left_with(NULL, "127.0.0.0/8", 3) && '\0' == said[0]);
    CHECK(2 == left_with(NULL, "127.8.9.1", 3) && '\0' == said[0]); /* as another node may have it */
    CHECK(2 == left_with(NULL, "0000:af:00.0", 3) && '\0' == said[0]);
    CHECK(2 == left_with(NULL, "af:00.0", 3) && '\0' == said[0]);
    CHECK(2 == left_with(NULL, "verbs_1", 3) && '\0' == said[0]);
    CHECK(2 == left_with("127.0.0.1,3b:00.0", NULL, 3) && '\0' == said[0]);
    CHECK(3 == left_with(NULL, "af:00.1", 3)); /* another namespace's lo */
    SAID("does not exist on this node");
    SAID("lo (127.0.0.1), verbs_1:1, fsbml1");
    unsetenv("HWLOC_XMLFILE");
    forget_names(3, names);
}

/* ------------------------------------------------------------------ the machine */

static hwloc_topology_t load(void)
{
    hwloc_topology_t topology;
    CHECK(0 == hwloc_topology_init(&topology) && 0 == fsbml_hwloc_want_devices(topology)
          && 0 == hwloc_topology_set_xml(topology, machine_file) && 0 == hwloc_topology_load(topology));
    return topology;
}

static void processors_have_nodes(void)
{
    hwloc_topology_t topology = load();
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_bitmap_only(set, 0);
    CHECK(1 == fsbml_machine_nodes(topology, set));
    hwloc_bitmap_only(set, 1);
    CHECK(2 == fsbml_machine_nodes(topology, set));
    hwloc_bitmap_set_range(set, 0, 1); /* bound to all is bound to none */
    CHECK(0 == fsbml_machine_nodes(topology, set) && 0 == fsbml_machine_nodes(topology, NULL));
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}

static const char *const sentence =
    "rail r is at NUMA node 1, this process runs on node 0: that is in its o and L";

static void devices_are_found(void)
{
    const fsbml_machine_t here = {.topology = load(), .nodes = 1}, unbound = {.topology = here.topology};
    fsbml_rail_about_t about = about_of("fsbml1", "", "");
    mca_bml_fsbml_params.verbose = FSBML_V_RAILS;
    fsbml_machine_place(&here, "fsbml1", &about); /* its own node: not told */
    CHECK(0 == strcmp("0000:3b:00.0", about.pci) && 0 == about.numa && !about.far_numa
          && 0 == strcmp("fsbml1", about.device));
    catch_stderr();
    fsbml_machine_tell(&here, "r", &about);
    release_stderr();
    CHECK('\0' == said[0]);

    about = about_of("fsbml2", "", ""); /* the other one: told */
    fsbml_machine_place(&here, "fsbml2:1", &about);
    CHECK(0 == strcmp("0000:af:00.0", about.pci) && 1 == about.numa && about.far_numa
          && 0 == strcmp("verbs_1", about.device));
    catch_stderr();
    fsbml_machine_tell(&here, "r", &about);
    release_stderr();
    SAID(sentence);
    mca_bml_fsbml_params.verbose = FSBML_V_TABLE;
    catch_stderr();
    fsbml_machine_tell(&here, "r", &about);
    release_stderr();
    CHECK('\0' == said[0]);

    fsbml_machine_place(&unbound, "fsbml2", &about);
    CHECK(1 == about.numa && !about.far_numa);

    fsbml_about_interface("", &about); /* a BTL that has no interface, but a device */
    fsbml_machine_place(&here, "verbs_1:1", &about);
    CHECK(0 == strcmp("0000:af:00.0", about.pci) && 1 == about.numa && about.far_numa
          && 0 == strcmp("verbs_1", about.device));

    about = about_of("fsbml3", "", ""); /* the driver has told where it is */
    snprintf(about.pci, sizeof(about.pci), "0000:af:00.0");
    fsbml_machine_place(&here, "fsbml3", &about);
    CHECK(1 == about.numa && about.far_numa && 0 == strcmp("verbs_1", about.device));

    fsbml_about_interface("lo", &about); /* that of another namespace has another hardware address */
    fsbml_machine_place(&here, "lo", &about);
    CHECK('\0' == about.pci[0] && about.numa < 0 && !about.far_numa && 0 == strcmp("lo", about.device));

    fsbml_about_interface("", &about);
    fsbml_machine_place(&here, "net#1", &about);
    CHECK('\0' == about.pci[0] && about.numa < 0 && !about.far_numa && '\0' == about.device[0]);
    mca_bml_fsbml_params.verbose = 0;
    hwloc_topology_destroy(here.topology);
}

/* ------------------------------------------------------------------ the display */

static fsbml_hello_t hello_of(const char *node, uint32_t ranks)
{
    fsbml_hello_t hello = {.flags = FSBML_HELLO_FIRST, .node_ranks = ranks};
    snprintf(hello.node, sizeof(hello.node), "%s", node);
    return hello;
}

static void display(const fsbml_pair_t *pair)
{
    catch_stderr();
    fsbml_display(pair);
    release_stderr();
}

/* Nothing is said unasked; nothing measured is told with the reason; measured rails stand beside others. */
static void the_display(void)
{
    static const char *const names[] = {"lo", "verbs_1:1", "fsbml1"};
    static const fsbml_pair_t pair = {.rank = {0, 1}};
    fsbml_table_t table = {.n_rails = 1};
    setenv("HWLOC_XMLFILE", machine_file, 1);
    for (int i = 0; i < 3; ++i) {
        name_fake(i, names[i]);
    }
    mca_bml_fsbml_params.exclude = "fsbml1";
    world_up(3);
    fsbml_display_hosts();
    for (uint32_t i = 0; i < 9; ++i) {
        char node[16];
        snprintf(node, sizeof(node), "n%u", i);
        fsbml_hello_t hello = hello_of(node, i + 1);
        fsbml_display_host(&hello);
        hello.flags = 0; /* another rank of it */
        fsbml_display_host(&hello);
    }
    fsbml_display_host(NULL);
    display(NULL);
    CHECK('\0' == said[0]);

    mca_bml_fsbml_params.display = true;
    mca_bml_fsbml_params.policy = FSBML_POLICY_THESIS;
    display(NULL);
    SAID("on 9 hosts: n0 (1), n1 (2), n2 (3), n3 (4), n4 (5), n5 (6), ..., n8 (9)\n");
    SAID("of 1 ranks nothing is known");
    SAID("fsbml: policy thesis; rails as ");
    SAID("fsbml: not measured: ");
    SAID("fsbml: rail       address    Mbit/s  device   PCI           NUMA  key  ");
    SAID("fsbml: lo         127.0.0.1  -       lo       -             -     net:127.0.0.0/8 ");
    SAID("fsbml: verbs_1:1  -          -       verbs_1  0000:af:00.0  1     net#1 ");
    SAID("fsbml: fsbml1: left out: bml_fsbml_exclude names it");
    CHECK(!is_said("other interfaces")); /* a rail that is none: nobody knows which interface it is */

    snprintf(table.rail[0].key, sizeof(table.rail[0].key), "net#1");
    snprintf(table.rail[0].name, sizeof(table.rail[0].name), "verbs_1:1");
    table.rail[0].fit.valid = true;
    table.rail[0].fit.params = (fsbml_loggp_t) LOGGP(10e3, 2e3, 3e3, 40);
    fsbml_table_apply(&table);
    display(&pair);
    SAID(" verbs_1:1  -          -       verbs_1  0000:af:00.0  1     net#1                10.00     2.00 ");
    SAID("fsbml: lo         127.0.0.1 ");
    CHECK(!is_said("not measured"));
    CHECK(strstr(said, " verbs_1:1  ") < strstr(said, " lo         "));

    mca_bml_fsbml_params.display = false; /* the table alone has no more columns than ever */
    mca_bml_fsbml_params.verbose = FSBML_V_TABLE;
    display(&pair);
    SAID("fsbml: rail       key         L us ");
    CHECK(!is_said("address") && !is_said("lo") && !is_said("hosts"));
    display(NULL);
    CHECK('\0' == said[0]);
    mca_bml_fsbml_params.verbose = 0;
    world_down(3);
    mca_bml_fsbml_params.exclude = NULL;

    mca_bml_fsbml_params.display = true; /* nothing of it is left for the next life */
    world_up(3);
    display(NULL);
    CHECK(!is_said("left out") && !is_said("n8"));
    world_down(3);
    mca_bml_fsbml_params.display = false;
    unsetenv("HWLOC_XMLFILE");
    forget_names(3, names);
}

#endif

int main(void)
{
    static void (*const test[])(void) = {
        a_rail_knows_its_interface, interfaces_of_one_network_are_told_apart,
        speeds_are_not_made_up,     words_for_a_rail,
        words_for_a_network,
#ifndef FSBML_NO_HWLOC /* by a machine that hwloc reads from a file */
        rails_by_other_names,       processors_have_nodes,
        devices_are_found,          the_display,
#endif
    };
    snprintf(machine_file, sizeof(machine_file), "%.*s/two_numa_nodes.xml",
             (int) (strrchr(__FILE__, '/') - __FILE__), __FILE__);
    return fake_main(test, sizeof(test) / sizeof(test[0]));
}
