/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that no rail takes is pending until one does. Each time all descriptors are accounted for
 * (world_down), and only the rail that took a message is charged for it. */

#include "fake_refusal.h"

/* It is held and sent as soon as a rail takes it: ob1 would send it again when something of its own
 * completes, and an immediate send completes without a word. */
FAKE_TEST(what_all_refuse_is_held)
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
FAKE_TEST(what_has_no_descriptor_is_held)
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
FAKE_TEST(what_has_no_descriptor_is_held_whole)
{
    mca_bml_base_btl_t *bml_btl = up(2);
    mca_btl_base_descriptor_t *des = NULL;
    size_t size = 3000;
    fake[0].no_alloc = fake[1].no_alloc = fake[0].no_prepare = fake[1].no_prepare = true;
    fsbml_rails.group[0]->pseudo.btl_max_send_size = 1000; /* the quantum */
    mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 16, &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                             &des);
    CHECK(NULL != des && 3000 == size && 3016 == des->des_segments[0].seg_len);
    mca_bml_base_free(bml_btl, des);
    world_down(2);
}

/* Descriptors may be few: pending messages leave them to the question and its answer, and to what can go. */
FAKE_TEST(what_is_held_takes_no_descriptor)
{
    fakes_up(2);
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
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
FAKE_TEST(what_has_a_descriptor_goes_first)
{
    fakes_up(2);
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
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
FAKE_TEST(few_fragments_are_held)
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

/* What was held for a proof goes to the next rail as well. */
FAKE_TEST(held_messages_take_the_next_rail)
{
    fakes_up(2);
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 111, TAG));
    fake[0].refuses = true;
    all_answer(2);
    pass_time(1);
    CHECK(1 == fake[1].n_sent && charged(1, 1, 111) && charged(0, 0, 0));
    CHECK(1 == complete_all(2) && 111 == done.bytes);
    world_down(2);
}

/* So much sooner a peer has a whole message of 65536 bytes by the fast rail (fake_pml.h). */
enum { SOONER_MS = 23 };

static void asked(void)
{
    fakes_up(2);
    fsbml_rails.group[0]->pseudo.btl_eager_limit = 65536;
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 5000, TAG));
}

static uint32_t live(void)
{
    return atomic_load(&fsbml_endpoint_of_proc(peer)->live);
}

/* An answer may come behind the bulk of others: what is held does not go by a slow rail at once, whose answer
 * is first. */
FAKE_TEST(held_messages_wait_for_the_faster_rail)
{
    asked();
    CHECK(1 == fake_answer(&fake[1], true));
    for (unsigned ms = 1; ms <= SOONER_MS; ++ms) {
        pass_time(1);
        CHECK(0 == fake[0].n_sent + fake[1].n_sent && 0 == live());
    }
    CHECK(1 == fake_answer(&fake[0], true));
    pass_time(1);
    CHECK(1 == fake[0].n_sent && 3 == live() && fake_complete(&fake[0], OPAL_SUCCESS));
    world_down(2);
}

/* ... but no longer than it may gain by that, and not for a rail that has failed, or that is no faster. */
FAKE_TEST(held_messages_do_not_wait_for_long)
{
    for (int round = 0; round < 3; ++round) {
        asked();
        const int first = round < 2 ? 1 : 0;
        CHECK(1 == fake_answer(&fake[first], true));
        CHECK((round < 2 ? 0 : 1) == live());
        if (1 == round) {
            CHECK(fsbml_proof_failed(fsbml_endpoint_of_proc(peer), 0, "test"));
        }
        pass_time(0 == round ? SOONER_MS + 1 : 1);
        CHECK(1 == fake[first].n_sent && (uint32_t) first + 1 == live());
        CHECK(fake_complete(&fake[first], OPAL_SUCCESS) && round + 1 == done.n && 5000 == done.bytes);
        world_down(2);
    }
}
