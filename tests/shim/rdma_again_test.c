/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get on rails that die: what a rail fails with is done again by another one, and told once.
 *   rdma_again_test [JOBS [SEED]]     so many jobs, in each of which two of three rails die */
#define FAKE_OWN_MAIN
#include "fake_rdma.h"

#include <inttypes.h>

#include "failover/failover.h"

enum { RAILS = 3, BYTES = 1 << 18, MOST_OPERATIONS = 200 };

#if FSBML_BTL_FLAGS_REMOTE_COMPLETION
static const uint32_t both = MCA_BTL_FLAGS_RDMA | FSBML_BTL_FLAGS_REMOTE_COMPLETION;
#else
static const uint32_t both = MCA_BTL_FLAGS_RDMA;
#endif

static uint64_t random_state;
static char *here, *there;
static uint8_t n_told[MOST_OPERATIONS];
static int not_done, n_failed;

static uint64_t chance(uint64_t of)
{
    return (next_random(&random_state) >> 16) % of;
}

static void operation_told(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, void *local,
                           mca_btl_base_registration_handle_t *handle, void *context, void *data, int status)
{
    (void) local;
    (void) handle;
    (void) context;
    CHECK(OPAL_SUCCESS == status && expected_endpoint == (void *) ep && fsbml_rail_of(btl) < 0);
    CHECK(1 == ++*(uint8_t *) data);
    --not_done;
}

static void complete_one(int i, int status)
{
    const pending_t p = pending[i];
    pending[i] = pending[--n_pending];
    status = rdma[p.rail].refuses ? OMPI_ERR_UNREACH : status;
    p.fn(&fake[p.rail].super, (struct mca_btl_base_endpoint_t *) fake_endpoint[p.rail], p.local, p.handle,
         p.context, p.data, status);
}

/* All that it has fails; or it takes no more, and completes what it refuses at once, later, or not at all. */
static void dies(int rail)
{
    if (0 == chance(4)) {
        const uint64_t how = chance(3);
        rdma[rail].refuses = true;
        rdma[rail].error = OMPI_ERR_UNREACH;
        rdma[rail].completes = 1 == how;
        rdma[rail].keeps = 2 == how;
        return;
    }
    for (int i = n_pending; i-- > 0;) {
        if (i < n_pending && rail == pending[i].rail) {
            complete_one(i, OMPI_ERR_UNREACH);
        }
    }
}

static bool works(int rail)
{
    return 0 != (fsbml_failover_rails(fsbml_endpoint_of_proc(peer)) & fsbml_bit((uint32_t) rail));
}

/* What failover has to say to the peer, which does not answer. */
static void drop_frames(void)
{
    int to;
    for (int i = 0; i < RAILS; ++i) {
        for (fake_des_t *des; NULL != (des = fake_take(&fake[i], false, &to));) {
            des->super.des_cbfunc(&fake[i].super, NULL, &des->super, OPAL_SUCCESS);
            fake_free(&fake[i].super, &des->super);
        }
    }
}

static void step(void)
{
    if (n_pending > 0 && 0 != chance(3)) {
        complete_one((int) chance((uint64_t) n_pending), OPAL_SUCCESS);
    } else {
        pass_time(1);
    }
}

/* One transfer of `n` bytes in many operations, while rails 1 and 2 die. */
static void job(void)
{
    mca_bml_base_endpoint_t *bml_ep = up(RAILS, both, true);
    mca_bml_base_btl_t *e = rdma_entry(bml_ep);
    const bool put = 0 != (e->btl_flags & MCA_BTL_FLAGS_PUT) && 0 == chance(2);
    mca_btl_base_registration_handle_t *lh = NULL, *rh = NULL;
    int operations = 0;
    size_t at = 0;
    const int first = (int) chance(60), second = (int) chance(60);
    CHECK(NULL != fsbml_framed_of(fsbml_endpoint_of_proc(peer)));
    CHECK(put || 0 != (e->btl_flags & MCA_BTL_FLAGS_GET));
    mca_bml_base_register_mem(e, here, BYTES, 0, &lh);
    mca_bml_base_register_mem(e, there, BYTES, 0, &rh);
    for (int i = 0; i < BYTES; ++i) {
        (put ? here : there)[i] = (char) (i * 7 + i / 255);
        (put ? there : here)[i] = 0;
    }
    memset(n_told, 0, sizeof(n_told));
    not_done = 0;
    for (; at < BYTES && operations < MOST_OPERATIONS; ++operations) {
        const size_t some = 1 + chance(4096), bytes = some < BYTES - at ? some : BYTES - at;
        ++not_done;
        CHECK(OMPI_SUCCESS
              == (put ? mca_bml_base_put(e, here + at, (uintptr_t) (there + at), lh, as_sent(e, rh), bytes, 0,
                                         MCA_BTL_NO_ORDER, operation_told, &n_told[operations])
                      : mca_bml_base_get(e, here + at, (uintptr_t) (there + at), lh, as_sent(e, rh), bytes, 0,
                                         MCA_BTL_NO_ORDER, operation_told, &n_told[operations])));
        at += bytes;
        if (first == operations) {
            dies(1);
        }
        if (second == operations) {
            dies(2);
        }
        for (uint64_t i = chance(3); i > 0; --i) {
            step();
        }
    }
    for (int i = 0; i < 10000 && (0 != not_done || 0 != n_pending); ++i) {
        step();
    }
    CHECK(0 == not_done && 0 == memcmp(here, there, at));
    CHECK(works(0));
    n_failed += !works(1) + !works(2);
    drop_frames();
    mca_bml_base_deregister_mem(e, lh);
    mca_bml_base_deregister_mem(e, rh);
    drop_frames();
    down(RAILS);
}

static int n_jobs = 200;
static uint64_t seed = 1;

FAKE_TEST(what_a_rail_fails_with_is_done_again)
{
    here = malloc(BYTES);
    there = malloc(BYTES);
    mca_bml_fsbml_params.failover = true;
    peer_hello.n_rails = RAILS;
    random_state = 0x9e3779b97f4a7c15u * seed;
    for (int i = 0; i < n_jobs && 0 == failures; ++i) {
        job();
    }
    printf("%d rails died, seed %" PRIu64 "\n", n_failed, seed);
    CHECK(n_failed > n_jobs);
    mca_bml_fsbml_params.failover = false;
    free(here);
    free(there);
}

/* What follows a put that is complete here may come by another rail. */
FAKE_TEST(puts_that_land_later_are_not_offered)
{
    mca_bml_fsbml_params.failover = true;
    mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_RDMA, true);
    CHECK(MCA_BTL_FLAGS_GET == (rdma_entry(ep)->btl_flags & MCA_BTL_FLAGS_RDMA));
    drop_frames();
    down(2);
    ep = up(2, MCA_BTL_FLAGS_PUT, true);
    CHECK(NULL == rdma_entry(ep) || rdma_entry(ep)->btl != eager_of(ep)->btl); /* not over all rails */
    drop_frames();
    down(2);
    mca_bml_fsbml_params.failover = false;
}

static mca_btl_base_module_error_cb_fn_t tell_error;

static int register_error(mca_btl_base_module_t *btl, mca_btl_base_module_error_cb_fn_t fn)
{
    (void) btl;
    tell_error = fn;
    return OPAL_SUCCESS;
}

/* What hardware calls fatal is the end of one rail, unless it is the last one. */
FAKE_TEST(a_fatal_error_is_of_one_rail)
{
    static char info[] = "its port is down";
    mca_bml_fsbml_params.failover = true;
    (void) up(2, MCA_BTL_FLAGS_RDMA, true);
    const int before = error.n;
    fake[0].super.btl_register_error = fake[1].super.btl_register_error = register_error;
    CHECK(OMPI_SUCCESS == mca_bml.bml_register_error(pml_error));
    tell_error(&fake[1].super, MCA_BTL_ERROR_FLAGS_FATAL, &peer->super, info);
    CHECK(before == error.n && works(0) && !works(1));
    tell_error(&fake[0].super, MCA_BTL_ERROR_FLAGS_FATAL, &peer->super, info);
    CHECK(before + 1 == error.n);
    drop_frames();
    down(2);
    mca_bml_fsbml_params.failover = false;
}

int main(int argc, char **argv)
{
    n_jobs = argc > 1 ? atoi(argv[1]) : n_jobs;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    return fake_main();
}
