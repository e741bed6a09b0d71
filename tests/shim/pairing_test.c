/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rail the bytes of a tcp module take, on fake BTLs that pair as tcp of the Open MPI in use does. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1, NOTHING = -1 };

static mca_btl_base_component_t tcp_component = {.btl_version = {MCA_BTL_DEFAULT_VERSION("tcp")}};

/* The second peer's share of the networks, and which peer got which; the first one is this process. */
static bool has_network[N_FAKES];
static int given[N_FAKES];
static int n_modules, n_asked, n_puts;

static bool is_given(int network)
{
    for (int i = 0; i < n_modules; ++i) {
        if (network == given[i]) {
            return true;
        }
    }
    return false;
}

/* 4.1: the first pair that is free, in the order of interfaces; 5.0: the module's own, if there is one. */
static int next_pair(int module)
{
    if (!FSBML_TCP_PAIRS_IN_TURN) {
        return has_network[module] ? module : NOTHING;
    }
    for (int i = 0; i < n_modules; ++i) {
        if (has_network[i] && !is_given(i)) {
            return i;
        }
    }
    return NOTHING;
}

static int tcp_add_procs(mca_btl_base_module_t *btl, size_t n, struct opal_proc_t **procs,
                         struct mca_btl_base_endpoint_t **eps, struct opal_bitmap_t *reachable)
{
    const int module = fake_number(btl);
    (void) reachable;
    CHECK(1 == n && 2 == procs[0]->proc_name.vpid);
    if (NOTHING == given[module]) {
        ++n_asked;
        given[module] = next_pair(module);
    }
    if (NOTHING != given[module]) {
        eps[0] = (struct mca_btl_base_endpoint_t *) &fake_endpoint[module][1];
    }
    return OPAL_SUCCESS;
}

static int tcp_del_procs(mca_btl_base_module_t *btl, size_t n, struct opal_proc_t **procs,
                         struct mca_btl_base_endpoint_t **eps)
{
    (void) n;
    (void) procs;
    (void) eps;
    given[fake_number(btl)] = NOTHING;
    return OPAL_SUCCESS;
}

static int tcp_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                   uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                   mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                   mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    (void) btl, (void) endpoint, (void) local, (void) remote, (void) local_handle, (void) remote_handle,
        (void) size;
    (void) flags, (void) order, (void) fn, (void) context, (void) data;
    ++n_puts;
    return OPAL_SUCCESS;
}

/* So many modules here, and the networks of the peer, which has those and no others. */
static void up(int modules, const char *networks)
{
    memset(&peer_hello, 0, sizeof(peer_hello));
    n_modules = modules;
    n_asked = n_puts = 0;
    for (int i = 0; i < modules; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
        fake[i].super.btl_component = &tcp_component;
        fake[i].super.btl_add_procs = tcp_add_procs;
        fake[i].super.btl_del_procs = tcp_del_procs;
        fake[i].super.btl_put = tcp_put;
        given[i] = NOTHING;
        has_network[i] = NULL != strchr(networks, '0' + i);
        if (has_network[i]) {
            peer_hello.rail[peer_hello.n_rails].exclusivity = 10;
            snprintf(peer_hello.rail[peer_hello.n_rails++].key, sizeof(peer_hello.rail[0].key), "tcp#%d", i);
        }
    }
    world_up(modules);
    world_add_peer();
}

static void down(void)
{
    for (int i = 0; i < n_modules; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
        }
    }
    world_down(n_modules);
    memset(&peer_hello, 0, sizeof(peer_hello));
}

static mca_bml_fsbml_endpoint_t *add(void)
{
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[1]));
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peers[1]);
    CHECK(NULL != ep);
    return ep;
}

static uint64_t charged(uint32_t rail)
{
    fsbml_rail_counters_t c;
    fsbml_sched_counters(fsbml_rails.sched, rail, &c);
    return c.bytes;
}

/* Each module has its own network, and is charged for it. */
FAKE_TEST(equal_nodes)
{
    up(3, "012");
    mca_bml_fsbml_endpoint_t *ep = add();
    CHECK(3 == ep->n_paths && 7 == atomic_load(&ep->possible));
    for (uint32_t i = 0; i < 3; ++i) {
        CHECK((int) i == given[i]);
        CHECK(&fake[i].super == fsbml_path(ep, i)->super.btl && i == fsbml_path(ep, i)->module);
    }
    down();
}

/* The peer lacks the first network: its modules must get their own, not the first ones what is left. */
FAKE_TEST(a_peer_without_the_first)
{
    up(3, "12");
    mca_bml_fsbml_endpoint_t *ep = add();
    CHECK(2 == ep->n_paths && 6 == atomic_load(&ep->possible));
    CHECK(NOTHING == given[0] && 1 == given[1] && 2 == given[2]);
    CHECK(1 == fsbml_path(ep, 1)->module && 2 == fsbml_path(ep, 2)->module);
    down();
}

/* The same peer connects first: tcp has asked for all modules in turn by then. What they send is charged to
 * the rail that it takes, and descriptors go back to the BTL that made them. */
FAKE_TEST(a_peer_without_the_first_that_comes_first)
{
    up(3, "12");
    for (int i = 0; i < 3; ++i) {
        struct mca_btl_base_endpoint_t *endpoint = NULL;
        (void) tcp_add_procs(&fake[i].super, 1, (opal_proc_t **) &peers[1], &endpoint, NULL);
    }
    mca_bml_fsbml_endpoint_t *ep = add();
    CHECK(2 == ep->n_paths && 6 == atomic_load(&ep->possible));
    mca_bml_base_btl_t *bml_btl = ep->bml_btl;
    for (uint32_t rail = 1; rail < 3; ++rail) {
        const mca_bml_fsbml_path_t *path = fsbml_path(ep, rail);
        CHECK(rail == (uint32_t) given[path->module] && &fake[path->module].super == path->super.btl);
        CHECK(path == fsbml_path_of_module(ep, path->module));
    }
    for (int i = 0; i < 3; ++i) {
        (void) fake_answer(&fake[i], true);
    }
    CHECK(6 == atomic_load(&ep->live));
    for (int i = 0; i < 20; ++i) {
        CHECK(0 <= pml_send(bml_btl, 30000, TAG));
    }
    CHECK(0 == charged(0) && 600000 == charged(1) + charged(2));
    for (uint32_t rail = 1; rail < 3; ++rail) {
        CHECK(charged(rail) > 0 && charged(rail) == fake[fsbml_path(ep, rail)->module].bytes);
    }
    /* a descriptor that is not sent after all */
    mca_btl_base_descriptor_t *des = NULL;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, 0);
    CHECK(NULL != des);
    CHECK(OMPI_SUCCESS == bml_btl->btl->btl_free(bml_btl->btl, des));
    down();
}

/* What the user left out gets its pair as well, so that the others get theirs, and gives it back. */
FAKE_TEST(the_first_is_left_out)
{
    mca_bml_fsbml_params.exclude = "tcp#0";
    up(3, "012");
    CHECK(2 == fsbml_rails.n_rails);
    mca_bml_fsbml_endpoint_t *ep = add();
    CHECK(2 == ep->n_paths && NOTHING == given[0] && 1 == given[1] && 2 == given[2]);
    down();
    mca_bml_fsbml_params.exclude = NULL;
}

/* A put past the pseudo BTL is charged to the rail that it takes. */
FAKE_TEST(puts_are_charged)
{
    up(3, "12");
    for (int i = 0; i < 3; ++i) {
        struct mca_btl_base_endpoint_t *endpoint = NULL;
        (void) tcp_add_procs(&fake[i].super, 1, (opal_proc_t **) &peers[1], &endpoint, NULL);
    }
    mca_bml_fsbml_endpoint_t *ep = add();
    const mca_bml_base_btl_t *real = &fsbml_path(ep, 1)->super;
    CHECK(OMPI_SUCCESS
          == real->btl->btl_put(real->btl, real->btl_endpoint, NULL, 0, NULL, NULL, 50000, 0,
                                MCA_BTL_NO_ORDER, NULL, NULL, NULL));
    CHECK(1 == n_puts && 50000 == charged(1) && 0 == charged(0) && 0 == charged(2));
    down();
    CHECK(tcp_put == fake[0].super.btl_put);
}
