/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails that are taken out of use and come back, with messages under way: bml_del_btl, bml_del_proc_btl,
 * bml_add_btl. Nothing is lost, nothing is sent twice, and each descriptor goes back to the BTL that made it
 * (world_down). */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static mca_bml_base_btl_t *entry(uint32_t p)
{
    mca_bml_base_endpoint_t *ep =
        (mca_bml_base_endpoint_t *) peers[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_eager)
          && 1 == mca_bml_base_btl_array_get_size(&ep->btl_send));
    CHECK(mca_bml_base_btl_array_get_index(&ep->btl_send, 0)->btl == &fsbml_rails.group[0]->pseudo);
    return eager_of(ep);
}

/* n rails to n_procs peers, all live; rail 0 is the best. */
static mca_bml_base_btl_t *up(int n, uint32_t n_procs)
{
    world_up(n);
    while (n_peers < n_procs) {
        world_add_peer();
    }
    for (uint32_t p = 0; p < n_procs; ++p) {
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[p]));
    }
    all_answer(n);
    known_procs = n_procs;
    return entry(0);
}

static void down(int n)
{
    known_procs = 0;
    world_down(n);
}

static mca_btl_base_descriptor_t *make(mca_bml_base_btl_t *bml_btl, size_t bytes)
{
    mca_btl_base_descriptor_t *des = NULL;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, bytes, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
    CHECK(NULL != des);
    memset(des->des_segments[0].seg_addr.pval, 'm', bytes);
    des->des_cbfunc = pml_completion;
    des->des_cbdata = &done;
    return des;
}

/* What was given to the rail completes there; what it had made goes by another; nothing new takes it. */
FAKE_TEST(messages_under_way_survive_a_removal)
{
    fakes_construct(2);
    mca_bml_base_btl_t *bml_btl = up(2, 1);
    mca_btl_base_descriptor_t *des = make(bml_btl, 200), *unused = make(bml_btl, 300);
    CHECK(0 == fsbml_des_rail(des));
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    CHECK(1 == fake[0].n_sent);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[0].super));
    CHECK(0 <= mca_bml_base_send(bml_btl, des, TAG));
    pass_time(1);
    CHECK(1 == fake[0].n_sent && 1 == fake[1].n_sent && 200 == fake[1].bytes);
    CHECK(0 <= pml_send(bml_btl, 400, TAG));
    CHECK(1 == fake[0].n_sent && 2 == fake[1].n_sent);
    mca_bml_base_free(bml_btl, unused);
    CHECK(fake_complete(&fake[0], OPAL_SUCCESS) && 1 == done.n && 100 == done.bytes);
    CHECK(fake_complete(&fake[1], OPAL_SUCCESS) && 2 == done.n && 200 == done.bytes);
    CHECK('m' == done.first && 'm' == done.last && &done == done.data);
    CHECK(fake_complete(&fake[1], OPAL_SUCCESS) && 3 == done.n && 400 == done.bytes);
    CHECK(OPAL_SUCCESS == done.status && bml_btl->btl == done.btl);
    down(2);
}

/* An answer that comes after the removal changes nothing, and does not prove the rail when it comes back. */
FAKE_TEST(a_removed_rail_needs_a_new_proof)
{
    fakes_up(2);
    (void) peer_up();
    mca_bml_base_btl_t *bml_btl = entry(0);
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    known_procs = 1;
    CHECK(1 == fake_answer(&fake[1], true));
    pass_time(2);
    CHECK(2 == ep->live && 3 == ep->possible);
    uint32_t early[8]; /* the answer to the question of before */
    memcpy(early, fake[0].queue[0].des->segment[0].seg_addr.pval, sizeof(early));
    early[1] = FSBML_PACKET_ANSWER;
    early[2] = early[3] = 1;
    (void) fake_answer(&fake[0], false);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[0].super));
    fake_deliver(&fake[0], FSBML_TAG_PROBE, early, sizeof(early));
    CHECK(2 == ep->live && 2 == ep->possible);
    uint32_t ask[8] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ASK, 1, 1, 0}; /* nor does the peer's question */
    fake_deliver(&fake[0], FSBML_TAG_PROBE, ask, sizeof(ask));
    CHECK(0 == fake_answer(&fake[0], false) && 2 == ep->possible);
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[0].super));
    fake_deliver(&fake[0], FSBML_TAG_PROBE, early, sizeof(early));
    CHECK(2 == ep->live && 3 == ep->possible);
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    CHECK(0 == fake[0].n_sent && 1 == fake[1].n_sent);
    CHECK(1 == fake_answer(&fake[0], true));
    CHECK(3 == ep->live);
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    CHECK(1 == fake[0].n_sent);
    CHECK(fake_complete(&fake[0], OPAL_SUCCESS) && fake_complete(&fake[1], OPAL_SUCCESS));
    down(2);
}

/* del_btl and add_btl do so for all peers, and for those that come meanwhile. */
FAKE_TEST(a_btl_leaves_all_peers_and_returns)
{
    fakes_construct(3);
    (void) up(3, 2);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(&fake[0].super));
    CHECK(2 == fsbml_rails.n_btls && 0 == strcmp(fsbml_rails.btl_key[0], "fake#1"));
    world_add_peer();
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[2]));
    known_procs = 3;
    CHECK(0 == fake_answer(&fake[0], true) && 1 == fake_answer(&fake[1], true)
          && 1 == fake_answer(&fake[2], true));
    for (uint32_t p = 0; p < 3; ++p) {
        CHECK(0 <= pml_send(entry(p), 100, TAG));
    }
    CHECK(0 == fake[0].n_sent && 3 == fake[1].n_sent + fake[2].n_sent);
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[0].super));
    CHECK(3 == fsbml_rails.n_btls && 0 == strcmp(fsbml_rails.btl_key[2], "fake#0"));
    CHECK(3 == fake_answer(&fake[0], true));
    for (uint32_t p = 0; p < 3; ++p) {
        CHECK(0 <= pml_send(entry(p), 100, TAG));
    }
    CHECK(3 == fake[0].n_sent);
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[0].super)); /* nothing to bring back */
    CHECK(0 == fake_answer(&fake[0], true));
    for (int i = 0; i < 3; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
        }
    }
    CHECK(6 == done.n);
    down(3);
}

/* One rail of a group is enough, and the last BTL of all stays. */
FAKE_TEST(a_group_can_shrink_to_one_rail)
{
    fakes_construct(3);
    mca_bml_base_btl_t *bml_btl = up(3, 1);
    mca_btl_base_descriptor_t *des[2] = {make(bml_btl, 100), NULL};
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(&fake[0].super));
    des[1] = make(bml_btl, 200);
    CHECK(1 == fsbml_des_rail(des[1]));
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(&fake[1].super));
    CHECK(OMPI_SUCCESS != mca_bml.bml_del_btl(&fake[2].super));
    CHECK(0 <= mca_bml_base_send(bml_btl, des[0], TAG) && 0 <= mca_bml_base_send(bml_btl, des[1], TAG));
    pass_time(1);
    for (int i = 0; i < 50; ++i) {
        CHECK(0 <= pml_send(bml_btl, 1000, TAG));
    }
    CHECK(52 == fake[2].n_sent && 0 == fake[0].n_sent + fake[1].n_sent);
    while (fake_complete(&fake[2], OPAL_SUCCESS)) {
    }
    CHECK(52 == done.n);
    down(3);
}

/* Pending before any path is live, for a rail that goes: leaves by the one that is left. */
FAKE_TEST(held_messages_survive_a_removal)
{
    fakes_up(2);
    (void) peer_up();
    known_procs = 1;
    CHECK(OMPI_SUCCESS == pml_send(entry(0), 111, TAG));
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(&fake[0].super));
    (void) fake_answer(&fake[0], true);
    pass_time(1);
    CHECK(0 == fake[0].n_sent + fake[1].n_sent);
    CHECK(1 == fake_answer(&fake[1], true));
    CHECK(1 == fake[1].n_sent && fake_complete(&fake[1], OPAL_SUCCESS) && 111 == done.bytes);
    down(2);
}

/* A peer whose rails are all gone: quiet as long as nothing is to be sent, then the messages fail and MPI is
 * told. */
FAKE_TEST(without_any_rail_messages_fail)
{
    for (int held_before = 0; held_before < 2; ++held_before) {
        fakes_construct(2);
        mca_bml_base_btl_t *bml_btl = up(2, 1);
        memset(&done, 0, sizeof(done));
        memset(&error, 0, sizeof(error));
        fsbml_rails.error_cb = pml_error;
        mca_btl_base_descriptor_t *des = make(bml_btl, 100);
        CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[0].super));
        if (held_before) {
            CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
        }
        CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[1].super));
        pass_time(30);
        if (!held_before) {
            CHECK(0 == error.n && 0 == done.n);
            CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
            pass_time(30);
        }
        if (0 == fake[1].n_sent) {
            CHECK(1 == done.n && OMPI_ERR_UNREACH == done.status && NULL == done.btl);
            CHECK(1 == error.n && MCA_BTL_ERROR_FLAGS_FATAL == error.flags);
        } else { /* released to the other rail before that left, too */
            CHECK(held_before && fake_complete(&fake[1], OPAL_SUCCESS) && OPAL_SUCCESS == done.status);
        }
        down(2);
    }
}

/* ob1 may still have to send, or have moved, what it made before: the limits never rise. Only the quantum
 * follows. */
FAKE_TEST(limits_stay_and_the_quantum_follows)
{
    fakes_construct(2);
    fake[1].super.btl_eager_limit = 1000;
    fake[1].super.btl_max_send_size = 32768;
    fake[1].super.btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_NEED_ACK;
    (void) up(2, 1);
    mca_btl_base_module_t *p = &fsbml_rails.group[0]->pseudo;
    /* gap of 0.4 and of 40 us beside 10 ns/B: 6 % of the bytes' time is less than the least, and more than 64
     * KiB */
    static const fsbml_loggp_t near = LOGGP(10e3, 100, 400, 10), far = LOGGP(10e3, 100, 40e3, 10);
    for (int i = 0; i < 2; ++i) {
        fsbml_rails.rail[i].measured = fsbml_rails.rail[i].in_table = true;
        fsbml_rails.rail[i].params = 0 == i ? near : far;
    }
    fsbml_limits_apply_quantum();
    const mca_btl_base_module_t before = *p;
    CHECK(32768 == p->btl_max_send_size);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(&fake[1].super));
    CHECK(8192 + FSBML_PML_HEADER == p->btl_max_send_size);
    CHECK(before.btl_eager_limit == p->btl_eager_limit && before.btl_flags == p->btl_flags);
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[1].super));
    CHECK(0 == memcmp(&before, p, sizeof(before)));
    CHECK(1 == fake_answer(&fake[1], true));
    down(2);
}

/* A peer that cannot be asked gets another of its rails, and none before it needs one. */
FAKE_TEST(a_peer_without_fsbml_changes_its_rail)
{
    fakes_up(2);
    peer_has_fsbml = false;
    (void) peer_up();
    known_procs = 1;
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    const uint32_t first = ep->live;
    const int f = 1 == first ? 0 : 1, g = 1 - f;
    CHECK(1 == first || 2 == first);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[f].super));
    CHECK((3 ^ first) == ep->live);
    CHECK(0 <= pml_send(entry(0), 100, TAG) && 1 == fake[g].n_sent);
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[f].super));
    CHECK((3 ^ first) == ep->live);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[g].super));
    CHECK(first == ep->live);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[f].super));
    CHECK(0 == ep->live);
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[g].super));
    CHECK((3 ^ first) == ep->live);
    CHECK(0 == fake[f].n_queue && 1 == fake[g].n_queue); /* no question among them */
    CHECK(fake_complete(&fake[g], OPAL_SUCCESS));
    down(2);
}

/* ob1 would follow an empty list into nowhere: the only BTL of a peer stays. */
FAKE_TEST(the_only_btl_of_a_peer_stays)
{
    fakes_construct(2);
    fake_construct(&fake[2], 4096, 65536, 99);
    world_up(3);
    mca_bml_base_endpoint_t *ep = peer_up();
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[0].super)); /* not in use there */
    CHECK(OMPI_SUCCESS != mca_bml.bml_del_proc_btl(peer, &fake[2].super));
    CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_eager)
          && 1 == mca_bml_base_btl_array_get_size(&ep->btl_send));
    CHECK(&fake[2].super == mca_bml_base_btl_array_get_index(&ep->btl_send, 0)->btl);
    down(3);
}

static int no_progress(void)
{
    return 0;
}

/* The progress function of a BTL that goes still has to complete what it was given. */
FAKE_TEST(a_removed_btl_makes_progress)
{
    static mca_btl_base_component_t other = {.btl_version = {MCA_BTL_DEFAULT_VERSION("other")},
                                             .btl_progress = no_progress};
    fakes_construct(2);
    fake[1].super.btl_component = &other;
    fake[1].super.btl_flags |= MCA_BTL_FLAGS_PUT;
    fake[1].super.btl_put = (mca_btl_base_module_put_fn_t) abort;
    (void) up(2, 1);
    mca_bml_base_endpoint_t *ep =
        (mca_bml_base_endpoint_t *) peer->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    CHECK(NULL != mca_bml_base_btl_array_find(&ep->btl_rdma, &fake[1].super));
    CHECK(1 == fsbml_rails.n_progress);
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(&fake[1].super));
    CHECK(1 == fsbml_rails.n_progress && no_progress == fsbml_rails.progress[0]);
    CHECK(NULL
          == mca_bml_base_btl_array_find(&ep->btl_rdma, &fake[1].super)); /* no one-sided traffic any more */
    down(2);
}
