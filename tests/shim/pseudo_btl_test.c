/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo BTL on fake BTLs: what the PML sees and what it never sees, and where each descriptor goes. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static mca_bml_base_btl_t *eager(mca_bml_base_endpoint_t *ep)
{
    CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_eager));
    return mca_bml_base_btl_array_get_next(&ep->btl_eager);
}

static void two_rails(void)
{
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 8192, 32768, 10);
}

/* The PML sees one BTL, with limits that every rail keeps and flags that every rail has. */
FAKE_TEST(limits_and_flags_hold_on_every_rail)
{
    two_rails();
    fake[1].super.btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_PUT | MCA_BTL_FLAGS_NEED_CSUM;
    world_up(2);
    mca_bml_base_endpoint_t *ep = peer_up();
    const mca_btl_base_module_t *p = eager(ep)->btl;
    CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_send));
    CHECK(p == mca_bml_base_btl_array_get_index(&ep->btl_send, 0)->btl);
    CHECK(p != &fake[0].super && p != &fake[1].super);
    CHECK(4096 + FSBML_PML_HEADER == p->btl_eager_limit && 32768 == p->btl_max_send_size);
    CHECK(200 == p->btl_bandwidth);
    CHECK(MCA_BTL_FLAGS_SEND & p->btl_flags);
    CHECK(0 == (p->btl_flags & (MCA_BTL_FLAGS_SEND_INPLACE | MCA_BTL_FLAGS_PUT)));
    CHECK(MCA_BTL_FLAGS_NEED_CSUM & p->btl_flags);
    CHECK(NULL == p->btl_put && NULL == p->btl_get);
    world_down(2);
}

/* A BTL alone at its level of exclusivity is used as it is, by the PML itself. */
FAKE_TEST(a_lone_btl_is_not_hidden)
{
    two_rails();
    fake_construct(&fake[2], 1024, 2048, 99);
    world_up(3);
    CHECK(2 == fsbml_rails.n_rails && 1 == fsbml_rails.n_groups);
    mca_bml_base_endpoint_t *ep = peer_up(); /* reachable over all three: the exclusive one wins */
    CHECK(&fake[2].super == eager(ep)->btl);
    CHECK(NULL == fsbml_endpoint_of(ep));
    world_down(3);
}

/* Each message goes to the rail that delivers it first: 10 to 1 here, each by the BTL that made its
 * descriptor. */
FAKE_TEST(messages_follow_the_arrival_rule)
{
    two_rails();
    world_up(2);
    mca_bml_base_btl_t *bml_btl = eager(peer_up());
    all_answer(2);
    for (int i = 0; i < 220; ++i) {
        CHECK(0 <= pml_send(bml_btl, 4000, TAG));
    }
    /* 4000 bytes keep the rails busy for 163 and 1603 us: all arrive soonest with 20 of 220 on the slow
     * one */
    CHECK(220 == fake[0].n_sent + fake[1].n_sent);
    CHECK(20 == fake[1].n_sent);
    while (fake[0].n_queue + fake[1].n_queue > 0) {
        fake_complete(fake[0].n_queue > 0 ? &fake[0] : &fake[1], OPAL_SUCCESS);
    }
    CHECK(220 == done.n);
    fsbml_rail_counters_t counters;
    fsbml_sched_counters(fsbml_rails.sched, 1, &counters);
    CHECK((uint64_t) fake[1].n_sent == counters.messages && fake[1].bytes == counters.bytes);
    world_down(2);
}

/* A completion names the pseudo BTL and the entry that the PML sent by, whichever rail was taken. */
FAKE_TEST(completions_name_the_pseudo_btl)
{
    two_rails();
    world_up(2);
    mca_bml_base_btl_t *bml_btl = eager(peer_up());
    all_answer(2);
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    fake_complete(&fake[0], OPAL_SUCCESS);
    CHECK(1 == done.n && OPAL_SUCCESS == done.status && bml_btl->btl == done.btl);
    CHECK(bml_btl->btl_endpoint == done.endpoint && &done == done.data);
    CHECK(bml_btl->btl == ((const mca_bml_base_btl_t *) done.context)->btl);
    /* On an error ob1 removes the BTL that it is told from the peer's list: it must find none. */
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    fake_complete(&fake[0], OMPI_ERR_UNREACH);
    CHECK(2 == done.n && OMPI_ERR_UNREACH == done.status && NULL == done.btl);
    world_down(2);
}

/* prepare_src: the rail is chosen by header and data together, and charged with what was really packed. */
FAKE_TEST(prepared_fragments_are_charged_by_their_bytes)
{
    two_rails();
    world_up(2);
    mca_bml_base_btl_t *bml_btl = eager(peer_up());
    all_answer(2);
    mca_btl_base_descriptor_t *des = NULL;
    size_t size = 1000000;
    mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 32, &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                             &des);
    CHECK(NULL != des && size < 1000000);
    des->des_cbfunc = pml_completion;
    CHECK(0 <= mca_bml_base_send(bml_btl, des, TAG));
    CHECK(32 + size == fake[0].bytes + fake[1].bytes);
    fsbml_rail_counters_t counters;
    fsbml_sched_counters(fsbml_rails.sched, 0, &counters);
    CHECK(32 + size == counters.bytes);
    fake_complete(&fake[0], OPAL_SUCCESS);
    world_down(2);
}

/* A part of a message has the bucket's credit that all of it has: 4 ms here, not the 0.7 that it takes. */
static void send_parts(uint32_t flags_of_peer)
{
    enum { PARTS = 6, PART = 16384 };
    static char bytes[8 * PART];
    fsbml_loggp_t shaped = LOGGP(50e3, 1e3, 1e3, 40), plain = LOGGP(50e3, 1e3, 1e3, 80);
    shaped.burst_ns = 16e6;
    opal_datatype_t type = {.true_lb = 0};
    opal_convertor_t convertor = fake_convertor(bytes, sizeof(bytes), &type);
    two_rails();
    peer_flags = flags_of_peer;
    peer_hello.n_rails = 2;
    mca_bml_fsbml_params.failover = 0 != flags_of_peer;
    world_up(2);
    mca_bml_base_btl_t *bml_btl = eager(peer_up());
    all_answer(2);
    CHECK((NULL != fsbml_framed_of((mca_bml_fsbml_endpoint_t *) bml_btl->btl_endpoint))
          == (0 != flags_of_peer));
    CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, 0, &shaped));
    CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, 1, &plain));
    const size_t before = fake[1].bytes;
    for (int i = 0; i < PARTS; ++i) {
        mca_btl_base_descriptor_t *des = NULL;
        size_t size = PART;
        mca_bml_base_prepare_src(bml_btl, &convertor, MCA_BTL_NO_ORDER, 32, &size,
                                 MCA_BTL_DES_FLAGS_BTL_OWNERSHIP, &des);
        CHECK(NULL != des && PART == size);
        des->des_cbfunc = pml_completion;
        CHECK(0 <= mca_bml_base_send(bml_btl, des, TAG));
    }
    CHECK(fake[0].bytes >= PARTS * PART && before == fake[1].bytes);
    while (fake[0].n_queue > 0) {
        fake_complete(&fake[0], OPAL_SUCCESS);
    }
    world_down(2);
    peer_flags = 0;
    mca_bml_fsbml_params.failover = false;
}

FAKE_TEST(a_fragment_is_credited_by_its_message)
{
    send_parts(0);
}

FAKE_TEST(so_is_one_that_is_framed)
{
    send_parts(FSBML_HELLO_FRAMES);
}

/* Immediate sends: by the chosen rail's own if it has one, else by a copy. */
FAKE_TEST(sendi_goes_by_the_chosen_rail)
{
    char header[16] = "header", payload[100] = "payload";
    opal_datatype_t type = {.true_lb = 0};
    opal_convertor_t convertor = fake_convertor(payload, sizeof(payload), &type);
    two_rails();
    fake[0].super.btl_sendi = fake_sendi;
    world_up(2);
    mca_bml_base_btl_t *bml_btl = eager(peer_up());
    mca_btl_base_descriptor_t *des = NULL;
    /* nothing is proved yet: the PML must keep the message in a request */
    CHECK(OMPI_SUCCESS
          != mca_bml_base_sendi(bml_btl, &convertor, header, 16, 100, MCA_BTL_NO_ORDER, 0, TAG, NULL));
    CHECK(OMPI_SUCCESS
          != mca_bml_base_sendi(bml_btl, &convertor, header, 16, 100, MCA_BTL_NO_ORDER, 0, TAG, &des));
    CHECK(NULL != des && 0 == fake[0].n_sendi && 0 == fake[0].n_sent);
    mca_bml_base_free(bml_btl, des);
    all_answer(2);
    CHECK(OMPI_SUCCESS
          == mca_bml_base_sendi(bml_btl, &convertor, header, 16, 100, MCA_BTL_NO_ORDER, 0, TAG, &des));
    CHECK(1 == fake[0].n_sendi && NULL == des);
    /* the fast rail is busy for long: the other has no sendi */
    fsbml_sched_charge(fsbml_rails.sched, 0, fsbml_now_ns(), 100000000);
    const uint64_t idle = fsbml_sched_backlog(fsbml_rails.sched, 1, fsbml_now_ns());
    CHECK(OMPI_SUCCESS
          == mca_bml_base_sendi(bml_btl, &convertor, header, 16, 100, MCA_BTL_NO_ORDER, 0, TAG, &des));
    CHECK(NULL == des && 1 == fake[0].n_sendi && 1 == fake[1].n_sent && 116 == fake[1].bytes);
    CHECK(fsbml_sched_backlog(fsbml_rails.sched, 1, fsbml_now_ns()) > idle);
    const fake_des_t *sent = fake[1].queue[fake[1].n_queue - 1].des;
    CHECK(0 == memcmp(sent->segment[0].seg_addr.pval, header, 16));
    CHECK(0 == memcmp((char *) sent->segment[0].seg_addr.pval + 16, payload, 100));
    CHECK(MCA_BTL_DES_FLAGS_BTL_OWNERSHIP & sent->super.des_flags);
    fake_complete(&fake[1], OPAL_SUCCESS);
    world_down(2);
}

/* A connection that breaks while it is closed costs the job nothing, and the signal is afterwards what it
 * was. */
FAKE_TEST(a_goodbye_without_a_peer_is_survived)
{
    sigset_t pending, mask;
    two_rails();
    fake[0].breaks_pipe = true;
    world_up(2);
    (void) peer_up();
    all_answer(2);
    world_down(2); /* ends the process if SIGPIPE gets through */
    CHECK(0 == sigpending(&pending) && 0 == sigismember(&pending, SIGPIPE));
    CHECK(0 == sigprocmask(SIG_BLOCK, NULL, &mask) && 0 == sigismember(&mask, SIGPIPE));
}

static void tell(void)
{
    fsbml_job_tell(true);
}

/* From the beginning of MPI_Finalize, tcp may close a connection whenever it makes progress. */
FAKE_TEST(goodbyes_in_finalize_are_survived)
{
    sigset_t pending, mask;
    two_rails();
    world_up(2);
    fsbml_closing_init(tell);
    CHECK(NULL != hooked && NULL != hooked->hookm_mpi_finalize_top);
    hooked->hookm_mpi_finalize_top();
    hooked->hookm_mpi_finalize_top(); /* the second MPI_Finalize is told off later */
    raise(SIGPIPE);
    fake[0].breaks_pipe = true;
    (void) peer_up();
    all_answer(2);
    world_down(2);
    raise(SIGPIPE);
    fsbml_closing_fini();
    fsbml_closing_fini();
    CHECK(NULL == hooked);
    CHECK(0 == sigpending(&pending) && 0 == sigismember(&pending, SIGPIPE));
    CHECK(0 == sigprocmask(SIG_BLOCK, NULL, &mask) && 0 == sigismember(&mask, SIGPIPE));
}

static struct {
    const mca_btl_base_module_t *btl;
    void *data;
    int n;
} got;

static void pml_receive(FSBML_RECV_PARAMS(btl, des))
{
#ifdef FSBML_OMPI_4
    (void) recv_tag;
#endif
    got.btl = btl;
    got.data = FSBML_RECV_DATA(des);
    got.n += 1 == des->des_segment_count && 8 == des->des_segments[0].seg_len;
}

/* Receive callbacks: a rail is named by its group's pseudo BTL, a lone BTL by itself; the PML's data is
 * passed on. */
FAKE_TEST(receive_callbacks_name_the_pseudo_btl)
{
    int data = 0;
    char message[8] = "";
    two_rails();
    fake_construct(&fake[2], 1024, 2048, 99);
    world_up(3);
    CHECK(OMPI_SUCCESS == mca_bml.bml_register(TAG, pml_receive, &data));
    for (int i = 0; i < 3; ++i) {
        memset(&got, 0, sizeof(got));
        fake_deliver(&fake[i], TAG, message, sizeof(message));
        CHECK(1 == got.n && &data == got.data);
        CHECK((2 == i ? &fake[2].super : &fsbml_rails.group[0]->pseudo) == got.btl);
    }
    (void) peer_up();
    world_down(3);
}

FAKE_TEST(messages_behind_one_that_was_sent_are_counted)
{
    char message[8] = "";
    two_rails();
    world_up(2);
    CHECK(OMPI_SUCCESS == mca_bml.bml_register(TAG, pml_receive, NULL));
    mca_bml_base_btl_t *bml_btl = eager(peer_up());
    all_answer(2);
    fake_deliver(&fake[0], TAG, message, sizeof(message)); /* whatever was sent before */
    const uint32_t received = fsbml_flow.received, answers = fsbml_flow.answers;
    for (int i = 0; i < 3; ++i) {
        CHECK(0 <= pml_send(bml_btl, 100, TAG) && 0 <= pml_send(bml_btl, 100, TAG));
        for (int k = 0; k < 4; ++k) {
            fake_deliver(&fake[k % 2], TAG, message, sizeof(message));
        }
    }
    CHECK(received + 12 == fsbml_flow.received && answers + 3 == fsbml_flow.answers);
    for (int i = 0; i < 2; ++i) {
        while (fake[i].n_queue > 0) {
            fake_complete(&fake[i], OPAL_SUCCESS);
        }
    }
    world_down(2);
}

/* One-sided communication works on the real BTLs; ob1 must not, and gets none if it were told to use all. */
FAKE_TEST(rdma_lists_hold_real_btls)
{
    two_rails();
    fake[0].super.btl_flags |= MCA_BTL_FLAGS_PUT;
    fake[0].super.btl_put = (mca_btl_base_module_put_fn_t) abort;
    peer_flags = FSBML_HELLO_RDMA;
    world_up(2);
    mca_bml_base_endpoint_t *ep = peer_up();
    peer_flags = 0;
    CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_rdma)); /* the pseudo BTL's rests */
    const mca_bml_base_btl_t *rdma = mca_bml_base_btl_array_get_index(&ep->btl_rdma, 0);
    CHECK(&fake[0].super == rdma->btl && eager(ep)->btl_endpoint != rdma->btl_endpoint);
    CHECK(rdma == mca_bml_base_btl_array_find(&ep->btl_rdma, &fake[0].super));
#ifdef FSBML_HOOKS_PATCHED
    /* the find hook: a search of the eager list for a real BTL gives the real BTL's own entry */
    const mca_bml_base_btl_t *real = mca_bml_base_btl_array_find(&ep->btl_eager, &fake[1].super);
    CHECK(NULL != real && &fake[1].super == real->btl && real->btl_endpoint != eager(ep)->btl_endpoint);
#else
    CHECK(NULL == mca_bml_base_btl_array_find(&ep->btl_eager, &fake[1].super));
#endif
    all_answer(2);
    world_down(2);
}
