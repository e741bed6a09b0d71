/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* BTLs that refuse: the message goes to the next best rail, and what no rail takes is held until one does.
 * Each time all descriptors are accounted for (world_down), and only the rail that took a message is charged
 * for it. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static char header[16] = "header", payload[100] = "payload";
static opal_datatype_t type;
static opal_convertor_t convertor;

#ifndef FSBML_OMPI_4
static void *copy_bytes(void *to, const void *from, size_t n, opal_convertor_t *unused)
{
    (void) unused;
    return memcpy(to, from, n);
}
#endif

/* n rails to one peer, all live; rail 0 is the best and stays so. */
static mca_bml_base_btl_t *up(int n)
{
    for (int i = 0; i < n; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
    }
    world_up(n);
    mca_bml_base_btl_t *bml_btl = mca_bml_base_btl_array_get_index(&peer_up()->btl_eager, 0);
    all_answer(n);
    convertor = (opal_convertor_t){.flags = CONVERTOR_NO_OP | CONVERTOR_SEND | OPAL_DATATYPE_FLAG_NO_GAPS,
                                   .local_size = sizeof(payload),
                                   .pDesc = &type};
    convertor.pBaseBuf = (unsigned char *) payload;
#ifndef FSBML_OMPI_4
    convertor.cbmemcpy = copy_bytes;
#endif
    return bml_btl;
}

static bool charged(uint32_t rail, uint64_t messages, uint64_t bytes)
{
    fsbml_rail_counters_t c;
    fsbml_sched_counters(mca_bml_fsbml.sched, rail, &c);
    return c.messages == messages && c.bytes == bytes;
}

/* Returns how many the rails had; each is the PML's to hear of once. */
static int complete_all(int n)
{
    int completed = 0;
    for (int i = 0; i < n; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
            ++completed;
        }
    }
    CHECK(completed == done.n && OPAL_SUCCESS == done.status);
    return completed;
}

static int sendi(mca_bml_base_btl_t *bml_btl, mca_btl_base_descriptor_t **des)
{
    return mca_bml_base_sendi(bml_btl, &convertor, header, sizeof(header), sizeof(payload), MCA_BTL_NO_ORDER,
                              0, TAG, des);
}

static void alloc_takes_the_next_rail(void)
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

/* Not so before any rail is proved: what is sent then is held, on any rail that has a descriptor. */
static void alloc_before_the_proof_takes_the_next_rail(void)
{
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
    mca_bml_base_btl_t *bml_btl = mca_bml_base_btl_array_get_index(&peer_up()->btl_eager, 0);
    fake[0].no_alloc = true;
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG));
    CHECK(0 == fake[0].n_sent + fake[1].n_sent);
    all_answer(2);
    CHECK(1 == fake[1].n_sent && 1 == complete_all(2));
    world_down(2);
}

static void prepare_takes_the_next_rail(void)
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
static void send_takes_the_next_rail(void)
{
    static const int error[] = {OMPI_ERR_OUT_OF_RESOURCE, OMPI_ERR_TEMP_OUT_OF_RESOURCE,
                                OMPI_ERR_NOT_AVAILABLE};
    for (size_t e = 0; e < sizeof(error) / sizeof(error[0]); ++e) {
        mca_bml_base_btl_t *bml_btl = up(3);
        mca_btl_base_descriptor_t *des = NULL;
        size_t size = 5000;
        memset(&done, 0, sizeof(done));
        fake[0].refuses = fake[1].refuses = true;
        fake[0].error = fake[1].error = error[e];
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

/* It is held and sent as soon as a rail takes it: ob1 would send it again when something of its own
 * completes, and an immediate send completes without a word. */
static void what_all_refuse_is_held(void)
{
    for (int round = 0; round < 2; ++round) {
        mca_bml_base_btl_t *bml_btl = up(2);
        memset(&done, 0, sizeof(done));
        fake[0].refuses = fake[1].refuses = true;
        fake[0].error = fake[1].error = OMPI_ERR_TEMP_OUT_OF_RESOURCE;
        CHECK(OMPI_SUCCESS == pml_send(bml_btl, 101, TAG));
        CHECK(OMPI_SUCCESS == pml_send(bml_btl, 102, TAG));
        fake[1].no_alloc = true; /* no descriptor for the copy is a refusal, too */
        CHECK(OMPI_SUCCESS == pml_send(bml_btl, 103, TAG));
        pass_time(1);
        CHECK(0 == done.n && 0 == fake[0].n_queue + fake[1].n_queue && charged(0, 0, 0) && charged(1, 0, 0));
        fake[0].refuses = false;
        pass_time(1);
        CHECK(3 == fake[0].n_queue && charged(0, 3, 306) && 3 == complete_all(2) && 103 == done.bytes);
        CHECK(bml_btl->btl == done.btl && &done == done.data);
        fake[0].refuses = true;
        CHECK(OMPI_SUCCESS == pml_send(bml_btl, 104, TAG)); /* it goes with its peer */
        world_down(2);
    }
}

/* The same where no rail has a descriptor: it is FSBML's own until a rail has. */
static void what_has_no_descriptor_is_held(void)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL, *other = NULL;
    const uint32_t flags = MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
    size_t size = 100;
    fake[0].no_alloc = fake[1].no_alloc = fake[0].no_prepare = fake[1].no_prepare = true;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, 0);
    CHECK(NULL == des); /* its sender keeps it */
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, flags);
    CHECK(NULL != des && 100 == des->des_segments[0].seg_len);
    CHECK(OMPI_SUCCESS
          != mca_bml_base_sendi(bml_btl, &convertor, header, sizeof(header), sizeof(payload),
                                MCA_BTL_NO_ORDER, flags, TAG, &other));
    CHECK(NULL != other && 116 == other->des_segments[0].seg_len && 0 == convertor.bConverted);
    mca_bml_base_free(bml_btl, des); /* not sent after all */
    mca_bml_base_free(bml_btl, other);
    mca_bml_base_prepare_src(bml_btl, &convertor, MCA_BTL_NO_ORDER, 16, &size, flags, &des);
    CHECK(NULL != des && 100 == size && 116 == des->des_segments[0].seg_len);
    memcpy(des->des_segments[0].seg_addr.pval, header, 16);
    des->des_cbfunc = pml_completion;
    des->des_cbdata = &done;
    CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
    pass_time(1);
    CHECK(0 == fake[0].n_alloc - fake[0].n_free && 0 == fake[1].n_queue);
    fake[1].no_alloc = false;
    pass_time(1);
    CHECK(1 == fake[1].n_queue && charged(1, 1, 116));
    const char *at = fake[1].queue[0].des->segment[0].seg_addr.pval;
    CHECK(0 == memcmp(at, header, 16) && 0 == memcmp(at + 16, payload, 100));
    CHECK(1 == complete_all(2) && &done == done.data && bml_btl->btl == done.btl);
    world_down(2);
}

/* An eager message is longer than a fragment may be, and goes as a whole. */
static void what_has_no_descriptor_is_held_whole(void)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL;
    size_t size = 3000;
    fake[0].no_alloc = fake[1].no_alloc = fake[0].no_prepare = fake[1].no_prepare = true;
    mca_bml_fsbml.group[0]->pseudo.btl_max_send_size = 1000; /* the quantum */
    mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 16, &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                             &des);
    CHECK(NULL != des && 3000 == size && 3016 == des->des_segments[0].seg_len);
    mca_bml_base_free(bml_btl, des);
    world_down(2);
}

/* Descriptors may be few: what is held leaves them to the question and its answer, and to what can go. */
static void what_is_held_takes_no_descriptor(void)
{
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
    mca_bml_base_btl_t *bml_btl = mca_bml_base_btl_array_get_index(&peer_up()->btl_eager, 0);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 101, TAG));
    CHECK(1 == fake[0].n_alloc - fake[0].n_free && 1 == fake[1].n_alloc - fake[1].n_free); /* questions */
    all_answer(2);
    CHECK(1 == complete_all(2) && 101 == done.bytes);
    fake[0].refuses = fake[1].refuses = true;
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 102, TAG));
    pass_time(1);
    CHECK(fake[0].n_alloc == fake[0].n_free && fake[1].n_alloc == fake[1].n_free);
    fake[0].refuses = fake[1].refuses = false;
    pass_time(1);
    CHECK(1 == fake[0].n_queue + fake[1].n_queue);
    while (fake_complete(&fake[0], OPAL_SUCCESS) || fake_complete(&fake[1], OPAL_SUCCESS)) {
    }
    CHECK(2 == done.n && 102 == done.bytes);
    world_down(2);
}

/* A descriptor that its sender keeps is given back when it is sent: nothing goes before it for want of one.
 */
static void what_has_a_descriptor_goes_first(void)
{
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
    mca_bml_base_btl_t *bml_btl = mca_bml_base_btl_array_get_index(&peer_up()->btl_eager, 0);
    mca_btl_base_descriptor_t *des = NULL;
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 101, TAG));
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 102, 0);
    des->des_cbfunc = pml_completion;
    CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
    fake[0].no_alloc = fake[1].no_alloc = true;
    all_answer(2);
    pass_time(1);
    CHECK(1 == fake[0].n_sent + fake[1].n_sent && 102 == fake[0].bytes + fake[1].bytes);
    CHECK(1 == complete_all(2));
    mca_bml_base_free(bml_btl, des);
    fake[0].no_alloc = fake[1].no_alloc = false;
    pass_time(1);
    CHECK(2 == fake[0].n_sent + fake[1].n_sent);
    (void) fake_complete(&fake[0], OPAL_SUCCESS);
    (void) fake_complete(&fake[1], OPAL_SUCCESS);
    world_down(2);
}

/* A long message is not copied as a whole: some fragments are held, the others refused, until one goes. */
static void few_fragments_are_held(void)
{
    enum { MOST = 8 };
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL;
    fake[0].no_alloc = fake[1].no_alloc = fake[0].no_prepare = fake[1].no_prepare = true;
    for (int k = 0; k <= MOST; ++k) {
        size_t size = 100;
        size_t start = 0;
        (void) opal_convertor_set_position(&convertor, &start);
        mca_bml_base_prepare_src(bml_btl, &convertor, MCA_BTL_NO_ORDER, 16, &size,
                                 MCA_BTL_DES_FLAGS_BTL_OWNERSHIP, &des);
        CHECK((k < MOST) == (NULL != des));
        if (NULL != des) {
            des->des_cbfunc = pml_completion;
            des->des_cbdata = &done;
            CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
        }
    }
    fake[1].no_alloc = false;
    pass_time(1);
    CHECK(MOST == fake[1].n_queue && MOST == complete_all(2));
    fake[1].no_alloc = true;
    size_t size = 100;
    mca_bml_base_prepare_src(bml_btl, &convertor, MCA_BTL_NO_ORDER, 16, &size,
                             MCA_BTL_DES_FLAGS_BTL_OWNERSHIP, &des);
    CHECK(NULL != des);
    mca_bml_base_free(bml_btl, des);
    world_down(2);
}

static int n_errors;

static void pml_error(mca_btl_base_module_t *btl, int32_t flags, opal_proc_t *proc, char *info)
{
    CHECK(&mca_bml_fsbml.group[0]->pseudo == btl && &peer->super == proc && NULL != info);
    CHECK(MCA_BTL_ERROR_FLAGS_FATAL == flags);
    n_errors++;
}

/* tcp reports a connection's failure for a descriptor that it has queued: that must not be freed, and not be
 * sent a second time. The PML takes it for sent, and is told that it is lost. */
static void what_a_broken_connection_keeps_is_lost(void)
{
    static const int error[] = {OMPI_ERR_UNREACH, OMPI_ERROR};
    for (size_t e = 0; e < 2; ++e) {
        mca_bml_base_btl_t *bml_btl = up(2);
        mca_btl_base_descriptor_t *des = (void *) &done;
        mca_bml_fsbml.error_cb = pml_error;
        n_errors = 0;
        fake[0].refuses = fake[0].keeps = true;
        fake[0].error = error[e];
        CHECK(0 <= pml_send(bml_btl, 100, TAG));
        CHECK(1 == n_errors && 1 == fake[0].n_queue && 1 == fake[0].n_alloc - fake[0].n_free);
        CHECK(OMPI_SUCCESS == sendi(bml_btl, &des) && NULL == des);
        CHECK(2 == n_errors && 2 == fake[0].n_queue);
        CHECK(fake[1].n_alloc == fake[1].n_free && 0 == fake[1].n_sent && 0 == done.n);
        CHECK(fake_complete(&fake[0], OMPI_ERR_UNREACH)); /* the PML's; it names no BTL */
        CHECK(1 == done.n && OMPI_ERR_UNREACH == done.status && NULL == done.btl);
        CHECK(fake_complete(&fake[0], OPAL_SUCCESS) && 2 == n_errors);
        memset(&done, 0, sizeof(done));
        world_down(2);
    }
}

/* The same before the path is proved. */
static void what_a_broken_connection_keeps_of_a_question_is_not_freed(void)
{
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
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
static void a_copy_that_is_not_delivered_is_told(void)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_bml_fsbml.error_cb = pml_error;
    n_errors = 0;
    CHECK(OMPI_SUCCESS == sendi(bml_btl, NULL) && OMPI_SUCCESS == sendi(bml_btl, NULL));
    CHECK(fake_complete(&fake[0], OPAL_SUCCESS) && 0 == n_errors);
    CHECK(fake_complete(&fake[0], OMPI_ERR_UNREACH) && 1 == n_errors);
    CHECK(OMPI_SUCCESS == sendi(bml_btl, NULL));
    ompi_mpi_state = OMPI_MPI_STATE_FINALIZE_STARTED; /* peers have what they waited for, and close */
    CHECK(fake_complete(&fake[0], OMPI_ERR_UNREACH) && 1 == n_errors && 0 == done.n);
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
    world_down(2);
}

/* The PML frees a descriptor of its own when the send is over: it must still be the one that it knows. */
static void the_pmls_own_descriptor_is_not_replaced(void)
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
static void busy_is_taken(void)
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
static void sendi_takes_the_next_rail(void)
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
static void sendi_that_all_refuse_gives_one_descriptor(void)
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

/* What was held for a proof goes to the next rail as well. */
static void held_messages_take_the_next_rail(void)
{
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
    mca_bml_base_btl_t *bml_btl = mca_bml_base_btl_array_get_index(&peer_up()->btl_eager, 0);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 111, TAG));
    fake[0].refuses = true;
    all_answer(2);
    pass_time(1);
    CHECK(1 == fake[1].n_sent && charged(1, 1, 111) && charged(0, 0, 0));
    CHECK(1 == complete_all(2) && 111 == done.bytes);
    world_down(2);
}

int main(void)
{
    static void (*const test[])(void) = {
        alloc_takes_the_next_rail,
        alloc_before_the_proof_takes_the_next_rail,
        prepare_takes_the_next_rail,
        send_takes_the_next_rail,
        what_a_broken_connection_keeps_is_lost,
        what_a_broken_connection_keeps_of_a_question_is_not_freed,
        a_copy_that_is_not_delivered_is_told,
        the_pmls_own_descriptor_is_not_replaced,
        busy_is_taken,
        sendi_takes_the_next_rail,
        what_all_refuse_is_held,
        what_has_no_descriptor_is_held,
        what_has_no_descriptor_is_held_whole,
        what_is_held_takes_no_descriptor,
        what_has_a_descriptor_goes_first,
        few_fragments_are_held,
        sendi_that_all_refuse_gives_one_descriptor,
        held_messages_take_the_next_rail,
    };
    return fake_main(test, sizeof(test) / sizeof(test[0]));
}
