/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* BTLs that refuse: the message goes to the next best rail. Each time all descriptors are accounted for
 * (world_down), and only the rail that took a message is charged for it. */

#include "fake_refusal.h"

FAKE_TEST(alloc_takes_the_next_rail)
{
    mca_bml_base_btl_t *bml_btl = up(3);
    fake[0].no_alloc = fake[1].no_alloc = true;
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    CHECK(1 == fake[2].n_sent && charged(2, 1, 100) && charged(0, 0, 0) && charged(1, 0, 0));
    CHECK(1 == complete_all(3) && 100 == done.bytes);
    fake[2].no_alloc = true;
    mca_btl_base_descriptor_t *des = (void *) &done;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, 0);
    CHECK(NULL == des);
    CHECK(2 + 2 + 1
          == fake[0].n_refused + fake[1].n_refused + fake[2].n_refused); /* each asked once a message */
    world_down(3);
}

/* Not so before any rail is proved: messages are pending then, on any rail that has a descriptor. */
FAKE_TEST(alloc_before_the_proof_takes_the_next_rail)
{
    fakes_up(2);
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    fake[0].no_alloc = true;
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG));
    CHECK(0 == fake[0].n_sent + fake[1].n_sent);
    all_answer(2);
    CHECK(1 == fake[1].n_sent && 1 == complete_all(2));
    world_down(2);
}

FAKE_TEST(prepare_takes_the_next_rail)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL;
    size_t size = 1000000;
    fake[0].super.btl_max_send_size = 1000; /* shortens it, and then has no descriptor */
    fake[0].no_prepare = true;
    mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 32, &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                             &des);
    CHECK(NULL != des && 1 == fsbml_des_rail(des) && 65536 - 32 == size);
    des->des_cbfunc = pml_completion;
    CHECK(0 <= mca_bml_base_send(bml_btl, des, TAG));
    CHECK(charged(1, 1, 65536) && charged(0, 0, 0) && 1 == complete_all(2));
    fake[1].no_prepare = true;
    size = 100;
    mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 32, &size, 0, &des);
    CHECK(NULL == des);
    world_down(2);
}

/* The descriptor is copied for the next rail, header and data, and the first rail gets its own back. */
FAKE_TEST(send_takes_the_next_rail)
{
    static const int code[] = {OMPI_ERR_OUT_OF_RESOURCE, OMPI_ERR_TEMP_OUT_OF_RESOURCE,
                               OMPI_ERR_NOT_AVAILABLE};
    for (size_t e = 0; e < sizeof(code) / sizeof(code[0]); ++e) {
        mca_bml_base_btl_t *bml_btl = up(3);
        mca_btl_base_descriptor_t *des = NULL;
        size_t size = 5000;
        memset(&done, 0, sizeof(done));
        fake[0].refuses = fake[1].refuses = true;
        fake[0].error = fake[1].error = code[e];
        mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 24, &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                                 &des);
        CHECK(NULL != des && 0 == fsbml_des_rail(des));
        memset(des->des_segments[0].seg_addr.pval, 'h', 24);
        memset(des->des_segments[1].seg_addr.pval, 'd', 5000);
        des->des_cbfunc = pml_completion;
        des->des_cbdata = &done;
        CHECK(0 <= mca_bml_base_send(bml_btl, des, TAG));
        CHECK(1 == fake[2].n_sent && charged(2, 1, 5024) && charged(0, 0, 0) && charged(1, 0, 0));
        CHECK(fake[0].n_alloc == fake[0].n_free && fake[1].n_alloc == fake[1].n_free);
        CHECK(1 == complete_all(3) && 5024 == done.bytes && 'h' == done.first && 'd' == done.last);
        CHECK(bml_btl->btl == done.btl && &done == done.data);
        world_down(3);
    }
}

/* tcp reports a connection's failure for a descriptor that it has queued: that must not be freed, and not be
 * sent a second time. The PML takes it for sent, and is told that it is lost. */
FAKE_TEST(what_a_broken_connection_keeps_is_lost)
{
    static const int code[] = {OMPI_ERR_UNREACH, OMPI_ERROR};
    for (size_t e = 0; e < 2; ++e) {
        mca_bml_base_btl_t *bml_btl = up(2);
        mca_btl_base_descriptor_t *des = (void *) &done;
        fsbml_rails.error_cb = pml_error;
        error.n = 0;
        fake[0].refuses = fake[0].keeps = true;
        fake[0].error = code[e];
        CHECK(0 <= pml_send(bml_btl, 100, TAG));
        CHECK(MCA_BTL_ERROR_FLAGS_FATAL == error.flags && error.has_reason);
        CHECK(1 == error.n && 1 == fake[0].n_queue && 1 == fake[0].n_alloc - fake[0].n_free);
        CHECK(OMPI_SUCCESS == sendi(bml_btl, &des) && NULL == des);
        CHECK(2 == error.n && 2 == fake[0].n_queue);
        CHECK(fake[1].n_alloc == fake[1].n_free && 0 == fake[1].n_sent && 0 == done.n);
        CHECK(fake_complete(&fake[0], OMPI_ERR_UNREACH)); /* the PML's; it names no BTL */
        CHECK(1 == done.n && OMPI_ERR_UNREACH == done.status && NULL == done.btl);
        CHECK(fake_complete(&fake[0], OPAL_SUCCESS) && 2 == error.n);
        memset(&done, 0, sizeof(done));
        world_down(2);
    }
}

/* The same before the path is proved. */
FAKE_TEST(what_a_broken_connection_keeps_of_a_question_is_not_freed)
{
    fakes_up(2);
    fake[0].refuses = fake[0].keeps = true;
    fake[0].error = OMPI_ERR_UNREACH;
    (void) peer_up();
    CHECK(2 == fsbml_endpoint_of_proc(peer)->possible);
    CHECK(1 == fake[0].n_queue && 0 == fake[0].n_free);
    (void) fake_answer(&fake[0], false); /* ... until its BTL does */
    CHECK(1 == fake[0].n_free);
    world_down(2);
}

/* An immediate send has nothing to complete: its error is told, or the loss would go unseen. */
FAKE_TEST(a_copy_that_is_not_delivered_is_told)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    fsbml_rails.error_cb = pml_error;
    CHECK(OMPI_SUCCESS == sendi(bml_btl, NULL) && OMPI_SUCCESS == sendi(bml_btl, NULL));
    CHECK(fake_complete(&fake[0], OPAL_SUCCESS) && 0 == error.n);
    CHECK(fake_complete(&fake[0], OMPI_ERR_UNREACH) && 1 == error.n);
    CHECK(MCA_BTL_ERROR_FLAGS_FATAL == error.flags && error.has_reason);
    CHECK(OMPI_SUCCESS == sendi(bml_btl, NULL));
    ompi_mpi_state = OMPI_MPI_STATE_FINALIZE_STARTED; /* peers have what they waited for, and close */
    CHECK(fake_complete(&fake[0], OMPI_ERR_UNREACH) && 1 == error.n && 0 == done.n);
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
    world_down(2);
}

/* The PML frees a descriptor of its own when the send is over: it must still be the one that it knows. */
FAKE_TEST(the_pmls_own_descriptor_is_not_replaced)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL;
    fake[0].refuses = true;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, 0);
    des->des_cbfunc = pml_completion;
    CHECK(OMPI_ERR_OUT_OF_RESOURCE == mca_bml_base_send(bml_btl, des, TAG));
    fake[0].refuses = false;
    CHECK(0 <= mca_bml_base_send(bml_btl, des, TAG));
    CHECK(1 == complete_all(2));
    mca_bml_base_free(bml_btl, des);
    world_down(2);
}

/* A BTL that is busy has taken what it was given to send, and is charged; where ob1 asks for the status
 * itself, it would send such a message again. */
FAKE_TEST(busy_is_taken)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL;
    fake[0].busy = true;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
    des->des_cbfunc = pml_completion;
    CHECK(0 <= mca_bml_base_send_status(bml_btl, des, TAG));
    CHECK(charged(0, 1, 100) && charged(1, 0, 0) && 1 == complete_all(2));
    CHECK(OMPI_SUCCESS == sendi(bml_btl, NULL)); /* copied, and sent */
    CHECK(charged(0, 2, 216) && 2 == fake[0].n_sent);
    (void) fake_complete(&fake[0], OPAL_SUCCESS);
    world_down(2);
}

/* An immediate send, by rails with and without one of their own. */
FAKE_TEST(sendi_takes_the_next_rail)
{
    mca_btl_base_descriptor_t *des = (void *) &done;
    for (int own = 0; own < 4; ++own) {
        mca_bml_base_btl_t *bml_btl = up(2);
        for (int i = 0; i < 2; ++i) {
            fake[i].super.btl_sendi = 0 != (own >> i & 1) ? fake_sendi : NULL;
        }
        fake[0].refuses = true;
        fake[0].error =
            0 != (own & 1) ? OMPI_ERR_RESOURCE_BUSY : 0; /* a sendi that is busy has sent nothing */
        CHECK(OMPI_SUCCESS == sendi(bml_btl, &des) && NULL == des);
        size_t start = 0;
        CHECK(OPAL_SUCCESS == opal_convertor_set_position(&convertor, &start));
        CHECK(OMPI_SUCCESS == sendi(bml_btl, NULL));
        CHECK(charged(0, 0, 0) && charged(1, 2, 232));
        CHECK((0 != (own & 2) ? 2 : 0) == fake[1].n_sendi);
        while (fake[1].n_queue
               > 0) { /* the payload from its first byte, though the first rail had packed it already */
            const char *at = fake[1].queue[0].des->segment[0].seg_addr.pval;
            CHECK(0 == memcmp(at, header, 16) && 0 == memcmp(at + 16, payload, 100));
            CHECK(fake_complete(&fake[1], OPAL_SUCCESS));
        }
        CHECK(0 == done.n);
        world_down(2);
    }
}

/* If no rail sends at once, the PML gets one descriptor, or none, as it asked. */
FAKE_TEST(sendi_that_all_refuse_gives_one_descriptor)
{
    for (int own = 0; own < 4; ++own) {
        mca_bml_base_btl_t *bml_btl = up(3);
        mca_btl_base_descriptor_t *des = NULL;
        for (int i = 0; i < 3; ++i) {
            fake[i].super.btl_sendi = 0 != (own >> i & 1) ? fake_sendi : NULL;
            fake[i].refuses = true;
        }
        CHECK(OMPI_SUCCESS != sendi(bml_btl, NULL));
        CHECK(OMPI_SUCCESS != sendi(bml_btl, &des));
        CHECK(NULL != des && 0 == fsbml_des_rail(des)
              && 0 == (MCA_BTL_DES_FLAGS_BTL_OWNERSHIP & des->des_flags));
        CHECK(0 == convertor.bConverted); /* the PML packs it anew */
        CHECK(charged(0, 0, 0) && charged(1, 0, 0) && charged(2, 0, 0));
        mca_bml_base_free(bml_btl, des);
        fake[0].no_alloc = true;
        CHECK(OMPI_SUCCESS != sendi(bml_btl, &des));
        CHECK(NULL != des && 1 == fsbml_des_rail(des));
        mca_bml_base_free(bml_btl, des);
        fake[1].no_alloc = fake[2].no_alloc = true;
        CHECK(OMPI_SUCCESS != sendi(bml_btl, &des) && NULL == des);
        world_down(3);
    }
}
