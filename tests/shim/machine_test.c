/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a rail's device is, on a machine of two NUMA nodes that hwloc reads from a file (two_numa_nodes.xml):
 * rails named by their devices, the warning about a device of another NUMA node, and the display. */

#define FSBML_WANT_HWLOC
#define FAKE_OWN_MAIN
#include "fake_names.h"

#ifndef FSBML_NO_HWLOC

#    include <unistd.h>

static char machine_file[4096];

/* ------------------------------------------------- what goes to stderr, as text */

static int real_stderr;
static FILE *caught;
static char said[16384]; /* what was printed between catch_stderr and release_stderr */

static void catch_stderr(void)
{
    fflush(stderr);
    caught = tmpfile();
    real_stderr = dup(STDERR_FILENO);
    (void) dup2(fileno(caught), STDERR_FILENO);
}

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

#    define SAID(text) CHECK(is_said(text) || (fprintf(stderr, "said is: %s\n", said), false))

/* ------------------------------------------------------------- users' words */

/* How many rails are left, and what was said. */
static uint32_t left_with(const char *include, const char *exclude, int n)
{
    mca_bml_fsbml_params.include = (char *) include;
    mca_bml_fsbml_params.exclude = (char *) exclude;
    catch_stderr();
    world_up(n);
    release_stderr();
    const uint32_t left = fsbml_rails.n_rails;
    world_down(n);
    mca_bml_fsbml_params.include = mca_bml_fsbml_params.exclude = NULL;
    return left;
}

/* Addresses, devices and PCI addresses leave out a rail of three; a user who names an unknown one is told
 * what there is. */
FAKE_TEST(rails_by_other_names)
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

FAKE_TEST(processors_have_nodes)
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

FAKE_TEST(devices_are_found)
{
    const fsbml_machine_t here = {.topology = load(), .nodes = 1}, unbound = {.topology = here.topology};
    fsbml_rail_about_t about = about_of("fsbml1", "", "");
    fsbml_verbosity = FSBML_V_RAILS;
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
    fsbml_verbosity = FSBML_V_TABLE;
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
    fsbml_verbosity = 0;
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
FAKE_TEST(the_display)
{
    mca_bml_fsbml_params.measure = true;
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
    CHECK(!is_said("other interfaces")); /* a rail that is none: its interface is not known */

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
    fsbml_verbosity = FSBML_V_TABLE;
    display(&pair);
    SAID("fsbml: rail       key         L us ");
    CHECK(!is_said("address") && !is_said("lo") && !is_said("hosts"));
    display(NULL);
    CHECK('\0' == said[0]);
    fsbml_verbosity = 0;
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

int main(void)
{
    snprintf(machine_file, sizeof(machine_file), "%s/shim/two_numa_nodes.xml", FAKE_FOLDER);
    return fake_main();
}

#else

int main(void)
{
    return 0; /* without hwloc no device is found */
}

#endif
