/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Liveness before use, on fake BTLs: nothing goes over a path whose peer has not answered on it, and nothing
 * is lost. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static mca_bml_base_btl_t *up(void)
{
    fakes_up(2);
    return eager_of(peer_up());
}

static mca_btl_base_module_error_cb_fn_t btl_error[N_FAKES];

static int register_error(mca_btl_base_module_t *btl, mca_btl_base_module_error_cb_fn_t fn)
{
    btl_error[fake_number(btl)] = fn;
    return OPAL_SUCCESS;
}

/* It waits for the first answer, and leaves on the rail that gave it, unchanged. */
FAKE_TEST(held_messages_leave_on_the_first_live_rail)
{
    mca_bml_base_btl_t *bml_btl = up();
    for (int i = 0; i < 3; ++i) {
        CHECK(OMPI_SUCCESS == pml_send(bml_btl, 300 + (size_t) i, TAG));
    }
    CHECK(0 == fake[0].n_sent && 0 == fake[1].n_sent && 0 == done.n);
    CHECK(1 == fake_answer(&fake[1], true)); /* the slower rail answers first */
    pass_time(2);
    CHECK(0 == fake[0].n_sent && 3 == fake[1].n_sent);
    for (int i = 0; i < 3; ++i) {
        fake_complete(&fake[1], OPAL_SUCCESS);
        CHECK(i + 1 == done.n && OPAL_SUCCESS == done.status);
        CHECK(bml_btl->btl == done.btl && &done == done.data && 300 + (size_t) i == done.bytes);
        CHECK(0x5a == done.first && 0x5a == done.last);
    }
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    CHECK(0 == fake[0].n_sent && 4 == fake[1].n_sent); /* rail 0 is still unproved */
    fake_complete(&fake[1], OPAL_SUCCESS);
    CHECK(1 == fake_answer(&fake[0], true));
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    CHECK(1 == fake[0].n_sent);
    fake_complete(&fake[0], OPAL_SUCCESS);
    world_down(2);
}

#ifdef MCA_BTL_BASE_TAG_RDMA
static void active_message_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                mca_btl_base_descriptor_t *des, int status)
{
    done.n++;
    done.btl = btl;
    done.endpoint = endpoint;
    done.status = status;
    done.data = des;
}

/* osc/rdma keeps its descriptor and context, whichever rail the held message takes, and sends it again. */
FAKE_TEST(active_messages_keep_their_descriptor)
{
    mca_bml_base_btl_t *bml_btl = up();
    mca_btl_base_module_t *pseudo = bml_btl->btl;
    mca_btl_base_descriptor_t *des = pseudo->btl_alloc(pseudo, bml_btl->btl_endpoint, MCA_BTL_NO_ORDER, 500,
                                                       MCA_BTL_DES_SEND_ALWAYS_CALLBACK);
    CHECK(NULL != des && 0 == fsbml_des_rail(des));
    des->des_cbfunc = active_message_done;
    des->des_context = &done;
    CHECK(OMPI_SUCCESS == pseudo->btl_send(pseudo, bml_btl->btl_endpoint, des, MCA_BTL_BASE_TAG_RDMA));
    CHECK(1 == fake_answer(&fake[1], true));
    pass_time(2);
    CHECK(0 == fake[0].n_sent && 1 == fake[1].n_sent);
    CHECK(fake_complete(&fake[1], OPAL_SUCCESS));
    CHECK(1 == done.n && des == done.data && pseudo == done.btl && bml_btl->btl_endpoint == done.endpoint);
    CHECK(&done == des->des_context && active_message_done == des->des_cbfunc);
    CHECK(1 == fake_answer(&fake[0], true));
    CHECK(OMPI_SUCCESS == pseudo->btl_send(pseudo, bml_btl->btl_endpoint, des, MCA_BTL_BASE_TAG_RDMA));
    CHECK(1 == fake[0].n_sent && fake_complete(&fake[0], OPAL_SUCCESS));
    CHECK(2 == done.n && des == done.data && &done == des->des_context);
    pseudo->btl_free(pseudo, des);
    world_down(2);
}
#endif

/* A held fragment with header and data in two places arrives whole on another rail. */
FAKE_TEST(held_fragments_are_moved_whole)
{
    mca_bml_base_btl_t *bml_btl = up();
    mca_btl_base_descriptor_t *des = NULL;
    size_t size = 5000;
    mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 24, &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                             &des);
    CHECK(NULL != des && 5000 == size && 0 == fsbml_des_rail(des));
    memset(des->des_segments[0].seg_addr.pval, 'h', 24);
    memset(des->des_segments[1].seg_addr.pval, 'd', 5000);
    des->des_cbfunc = pml_completion;
    CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
    (void) fake_answer(&fake[1], true);
    pass_time(2); /* it is the slower one */
    CHECK(1 == fake[1].n_sent && 5024 == fake[1].bytes);
    fake_complete(&fake[1], OPAL_SUCCESS);
    CHECK(5024 == done.bytes && 'h' == done.first && 'd' == done.last);
    world_down(2);
}

/* A peer that does not answer (it computes) loses no rail, however long it takes. */
FAKE_TEST(silence_everywhere_proves_nothing)
{
    mca_bml_base_btl_t *bml_btl = up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG));
    for (int i = 0; i < 20; ++i) {
        pass_time(5);
    }
    CHECK(3 == ep->possible && 0 == ep->live && 0 == fake[0].n_sent + fake[1].n_sent);
    (void) fake_answer(&fake[0], true);
    (void) fake_answer(&fake[1], true);
    CHECK(3 == ep->live && 1 == fake[0].n_sent + fake[1].n_sent);
    fake_complete(fake[0].n_queue > 0 ? &fake[0] : &fake[1], OPAL_SUCCESS);
    world_down(2);
}

/* A rail is given up only when the peer, asked again, answers on another rail and not on this one. */
FAKE_TEST(a_silent_rail_is_given_up_after_a_second_question)
{
    (void) up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    (void) fake_answer(&fake[0], true);
    (void) fake_answer(&fake[1], false);
    for (int i = 0; i < 12; ++i) {
        pass_time(5); /* well over the time-out: the second question is out, no answer yet */
    }
    CHECK(3 == ep->possible && 1 == ep->live);
    CHECK(1 == fake_answer(&fake[0], true));
    CHECK(1 == fake_answer(&fake[1], false));
    for (int i = 0; i < 30; ++i) {
        pass_time(5);
    }
    CHECK(1 == ep->possible && 1 == ep->live);
    CHECK(NULL == progress_fn); /* nothing left to look after */
    world_down(2);
}

/* An answer that comes after all brings the rail back. */
FAKE_TEST(a_late_answer_brings_a_rail_back)
{
    (void) up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    (void) fake_answer(&fake[0], true);
    CHECK(fsbml_proof_failed(ep, 1, "test"));
    CHECK(1 == ep->possible);
    CHECK(1 == fake_answer(&fake[1], true));
    CHECK(3 == ep->possible && 3 == ep->live);
    CHECK(!fsbml_proof_failed(ep, 1, "test")); /* live now: the PML's business */
    world_down(2);
}

/* As tcp of 5.0 does where the peer has gone before and takes no goodbye. */
static int tell_goodbye_failed(mca_btl_base_module_t *btl, size_t n, struct opal_proc_t **procs,
                               struct mca_btl_base_endpoint_t **endpoints)
{
    btl_error[fake_number(btl)](btl, 0, procs[0], "Socket closed");
    return fake_del_procs(btl, n, procs, endpoints);
}

/* A connection that fails before it was proved is no error for the PML; one that was live is, and by the
 * pseudo BTL; and none is while its peer is deleted, or later. */
FAKE_TEST(errors_reach_the_pml_only_from_live_rails)
{
    fakes_construct(2);
    fake[0].super.btl_register_error = fake[1].super.btl_register_error = register_error;
    fake[0].super.btl_del_procs = tell_goodbye_failed;
    world_up(2);
    fsbml_calibrated = true;
    CHECK(OMPI_SUCCESS == mca_bml.bml_register_error(pml_error));
    (void) peer_up();
    (void) fake_answer(&fake[0], true);
    btl_error[1](&fake[1].super, 0, &peer->super, "refused");
    CHECK(0 == error.n && 1 == fsbml_endpoint_of_proc(peer)->possible);
    btl_error[0](&fake[0].super, 0, &peer->super, "closed");
    CHECK(1 == error.n);
    world_down(2);
    CHECK(1 == error.n && NULL == btl_error[0] && NULL == btl_error[1]);
}

static size_t n_deleted;

static int fail_to_delete(mca_btl_base_module_t *btl, size_t n, struct opal_proc_t **procs,
                          struct mca_btl_base_endpoint_t **endpoints)
{
    n_deleted += n;
    (void) fake_del_procs(btl, n, procs, endpoints);
    return OPAL_ERROR;
}

/* A BTL that cannot forget a peer keeps no other one from it, and the peer is none any more. */
FAKE_TEST(a_peer_is_deleted_on_all_rails)
{
    fakes_construct(2);
    fake[0].super.btl_del_procs = fake[1].super.btl_del_procs = fail_to_delete;
    world_up(2);
    (void) peer_up();
    CHECK(OPAL_ERROR == mca_bml.bml_del_procs(1, &peer));
    CHECK(2 == n_deleted && NULL == fsbml_endpoint_of_proc(peer));
    world_down(2);
}

/* With no rail left, the messages fail with an error and the PML is told; nothing hangs. */
FAKE_TEST(without_any_rail_the_messages_fail)
{
    mca_bml_base_btl_t *bml_btl = up();
    fsbml_rails.error_cb = pml_error;
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG));
    CHECK(fsbml_proof_failed(fsbml_endpoint_of_proc(peer), 0, "test"));
    CHECK(fsbml_proof_failed(fsbml_endpoint_of_proc(peer), 1, "test"));
    pass_time(5);
    CHECK(0 == done.n); /* the peer may still get through from its side */
    pass_time(30);
    CHECK(1 == done.n && OMPI_ERR_UNREACH == done.status && NULL == done.btl);
    CHECK(1 == error.n && MCA_BTL_ERROR_FLAGS_FATAL == error.flags);
    world_down(2);
}

/* A BTL that gives a probe back undelivered has failed on that path, also without an error callback. */
FAKE_TEST(an_undelivered_probe_closes_its_path)
{
    (void) up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    fake_des_t *des = fake[1].queue[0].des;
    CHECK(FSBML_TAG_PROBE == fake[1].queue[0].tag);
    fake[1].n_queue = 0;
    des->super.des_cbfunc(&fake[1].super, ep->path[1].super.btl_endpoint, &des->super, OMPI_ERR_UNREACH);
    fake_free(&fake[1].super, &des->super);
    CHECK(1 == ep->possible);
    world_down(2);
}

static int refuse_at_once(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                          mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    (void) tag;
    des->des_cbfunc(btl, ep, des, OMPI_ERR_UNREACH);
    fake_free(btl, des);
    return OMPI_ERR_UNREACH;
}

/* A connection that is refused at once: completed, freed and refused in one call; it must not be freed
 * again. */
FAKE_TEST(a_probe_refused_at_once_is_freed_once)
{
    fakes_construct(2);
    fake[1].super.btl_send = refuse_at_once;
    world_up(2);
    (void) peer_up();
    CHECK(1 == fsbml_endpoint_of_proc(peer)->possible);
    CHECK(1 == fake[1].n_alloc && 1 == fake[1].n_free);
    world_down(2);
}

/* Connections that failed from here come up from the peer's side: it asks, so the path is asked again, and is
 * good. */
FAKE_TEST(a_peer_that_gets_through_revives_its_path)
{
    mca_bml_base_btl_t *bml_btl = up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    fsbml_rails.error_cb = pml_error;
    CHECK(fsbml_proof_failed(ep, 0, "test"));
    CHECK(fsbml_proof_failed(ep, 1, "test"));
    CHECK(0 == ep->possible);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG)); /* waits for what may come */
    (void) fake_answer(&fake[0], false);
    (void) fake_answer(&fake[1], false);
    uint32_t ask[8] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ASK, 1, 1, 0};
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    CHECK(2 == ep->possible && 0 == ep->live && 2 == fake[1].n_queue);
    CHECK(1 == fake_answer(&fake[1], true));
    CHECK(2 == ep->live && 1 == fake[1].n_sent);
    pass_time(30);
    CHECK(0 == error.n && ep->path[0].reported && !ep->path[1].reported);
    fake_complete(&fake[1], OPAL_SUCCESS);
    CHECK(1 == done.n);
    world_down(2);
}

/* A question for which a BTL has no room (its queue is full, no descriptor is left) is asked when there is:
 * no path is lost by it, unless its BTL refuses for as long as a peer may be silent, and another one does
 * not.
 */
FAKE_TEST(a_question_that_is_refused_is_asked_again)
{
    fakes_up(2);
    fake[0].refuses = true;
    fake[1].no_alloc = true;
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    CHECK(3 == ep->possible && 0 == fake[0].n_queue + fake[1].n_queue);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG));
    pass_time(50);
    pass_time(1);
    CHECK(3 == ep->possible); /* there is no better one */
    fake[0].refuses = false;
    pass_time(1);
    CHECK(1 == fake[0].n_queue && 1 == fake_answer(&fake[0], true));
    CHECK(1 == ep->live && 3 == ep->possible && 1 == fake[0].n_sent);
    pass_time(50);
    pass_time(1);
    CHECK(1 == ep->possible && NULL != strstr(ep->path[1].why, "refuses"));
    while (fake_complete(&fake[0], OPAL_SUCCESS)) {
    }
    CHECK(1 == done.n);
    world_down(2);
}

/* So is an answer: a peer with no other path would wait for it without end. */
FAKE_TEST(an_answer_that_is_refused_is_given_later)
{
    (void) up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    (void) fake_answer(&fake[0], true);
    (void) fake_answer(&fake[1], true);
    pass_time(1);
    CHECK(3 == ep->live && !ep->proving);
    uint32_t ask[8] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ASK, 1, 1, 7};
    fake[1].refuses = true;
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    ask[4] = 9; /* a newer question, the one that counts */
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    pass_time(5);
    CHECK(0 == fake[1].n_queue);
    fake[1].refuses = false;
    pass_time(1);
    pass_time(1);
    CHECK(0 == fake[0].n_queue && 1 == fake[1].n_queue && !ep->proving);
    uint32_t answer[8];
    memcpy(answer, fake[1].queue[0].des->segment[0].seg_addr.pval, sizeof(answer));
    CHECK(FSBML_PACKET_ANSWER == answer[1] && 9 == answer[4]);
    world_down(2);
}

/* What a live rail refuses for the moment is kept and tried again, in order. */
FAKE_TEST(held_messages_survive_a_busy_rail)
{
    mca_bml_base_btl_t *bml_btl = up();
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 111, TAG));
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 222, TAG));
    CHECK(fsbml_proof_failed(fsbml_endpoint_of_proc(peer), 1, "test"));
    fake[0].refuses = true;
    CHECK(1 == fake[0].n_queue); /* the question itself had gone out */
    (void) fake_answer(&fake[0], true);
    pass_time(2);
    CHECK(0 == fake[0].n_sent);
    fake[0].refuses = false;
    pass_time(2);
    CHECK(2 == fake[0].n_sent);
    fake_complete(&fake[0], OPAL_SUCCESS);
    CHECK(111 == done.bytes);
    fake_complete(&fake[0], OPAL_SUCCESS);
    CHECK(222 == done.bytes);
    world_down(2);
}

/* A BTL that loses the upper bits of the descriptor flags could not be told apart: it is left out. */
FAKE_TEST(a_btl_that_drops_flags_is_left_out)
{
    fakes_construct(2);
    fake[1].keeps_flags = false;
    world_up(2);
    (void) peer_up();
    CHECK(1 == fsbml_endpoint_of_proc(peer)->possible);
    CHECK(0 == fake[1].n_queue);
    world_down(2);
}

/* A question is answered on the rail that it came on; garbage is dropped. */
FAKE_TEST(questions_are_answered_on_their_rail)
{
    (void) up();
    (void) fake_answer(&fake[0], true);
    (void) fake_answer(&fake[1], true);
    uint32_t ask[8] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ASK, 1, 1, 7};
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    CHECK(0 == fake[0].n_queue && 1 == fake[1].n_queue);
    uint32_t answer[8];
    memcpy(answer, fake[1].queue[0].des->segment[0].seg_addr.pval, sizeof(answer));
    CHECK(FSBML_PACKET_ANSWER == answer[1] && 7 == answer[4]);
    fake_deliver(&fake[0], FSBML_TAG_PROBE, ask, 8); /* too short */
    ask[0] ^= 1;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, ask, sizeof(ask)); /* not ours */
    ask[0] ^= 1;
    ask[1] = 99;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, ask, sizeof(ask)); /* unknown */
    ask[1] = FSBML_PACKET_ASK;
    ask[3] = 5;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, ask, sizeof(ask)); /* from no rank */
    CHECK(0 == fake[0].n_queue);
    world_down(2);
}
