/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration handles of the pseudo BTL, on fake BTLs that register memory: which rails are in them, and
 * what the PML is told if both sides have no rail in common. */

#include "fake_rdma.h"

static char mine[100000], theirs[100000];

static mca_btl_base_registration_handle_t *registered(const mca_bml_base_btl_t *e, char *memory)
{
    return e->btl->btl_register_mem(e->btl, e->btl_endpoint, memory, sizeof(mine), 0);
}

static void gets_by_rail_1(mca_bml_base_btl_t *e, mca_btl_base_registration_handle_t *lh,
                           const mca_btl_base_registration_handle_t *rh)
{
    CHECK(OMPI_SUCCESS
          == mca_bml_base_get(e, mine, (uintptr_t) theirs, lh, as_sent(e, rh), 1000, 0, 0, pml_rdma_done,
                              &told));
    complete_pending(OPAL_SUCCESS);
    CHECK(0 == rdma[0].bytes && 1000 == rdma[1].bytes && 1 == told.n);
}

/* A rail that could not register on either side carries nothing; without any, ob1 is told to send instead. */
FAKE_TEST(no_registration_no_traffic)
{
    mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_RDMA, true);
    mca_bml_base_btl_t *e = rdma_entry(ep);
    rdma[0].no_register = true;
    mca_btl_base_registration_handle_t *rh = registered(e, theirs);
    rdma[0].no_register = false;
    mca_btl_base_registration_handle_t *lh = registered(e, mine);
    expected_handle = lh;
    gets_by_rail_1(e, lh, rh);
    /* nothing that this process can read: as from a peer with other rails, or cut short */
    unsigned char junk[MCA_BTL_REG_HANDLE_MAX_SIZE];
    for (int fill = 0; fill < 256; fill += 17) {
        memset(junk, fill, sizeof(junk));
        CHECK(OMPI_ERR_NOT_AVAILABLE
              == mca_bml_base_get(e, mine, (uintptr_t) theirs, lh,
                                  (mca_btl_base_registration_handle_t *) junk, 1000, 0, 0, pml_rdma_done,
                                  &told));
    }
    rdma[0].no_register = rdma[1].no_register = true;
    CHECK(NULL == e->btl->btl_register_mem(e->btl, e->btl_endpoint, mine, sizeof(mine), 0));
    (void) e->btl->btl_deregister_mem(e->btl, lh);
    (void) e->btl->btl_deregister_mem(e->btl, rh);
    down(2);
}

/* A rail that is not proved yet is registered with: the peer may have proved that one first. */
FAKE_TEST(what_only_the_peer_has_proved)
{
    mca_bml_base_endpoint_t *ep = up_unproved(2, MCA_BTL_FLAGS_RDMA, true);
    mca_bml_base_btl_t *e = rdma_entry(ep);
    CHECK(1 == fake_answer(&fake[0], true)); /* the sender's view: by rail 0 only */
    mca_btl_base_registration_handle_t *rh = registered(e, theirs);
    CHECK(1 == fake_answer(&fake[1], true));
    rdma[0].no_register = true; /* the receiver's: by rail 1 only */
    mca_btl_base_registration_handle_t *lh = registered(e, mine);
    expected_handle = lh;
    gets_by_rail_1(e, lh, rh);
    (void) e->btl->btl_deregister_mem(e->btl, lh);
    (void) e->btl->btl_deregister_mem(e->btl, rh);
    down(2);
}

/* What has waited for a rail, and then finds none that both have registered with, is as if there was no room:
 * what ob1 does of "not available" hangs when its requests overtake each other. */
FAKE_TEST(no_put_instead_of_a_get)
{
    mca_bml_base_endpoint_t *ep = up_unproved(2, MCA_BTL_FLAGS_RDMA, true);
    mca_bml_base_btl_t *e = rdma_entry(ep);
    unsigned char unreadable[MCA_BTL_REG_HANDLE_MAX_SIZE] = {0};
    mca_btl_base_registration_handle_t *lh = registered(e, mine);
    expected_handle = lh;
    CHECK(OMPI_SUCCESS
          == mca_bml_base_get(e, mine, (uintptr_t) theirs, lh,
                              (mca_btl_base_registration_handle_t *) unreadable, 1000, 0, 0, pml_rdma_done,
                              &told));
    CHECK(0 == told.n);
    all_answer(2);
    pass_time(1);
    CHECK(1 == told.n && OMPI_ERR_OUT_OF_RESOURCE == told.status);
    (void) e->btl->btl_deregister_mem(e->btl, lh);
    down(2);
}
