/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are farther than those that were measured, on fake rails in virtual time: which are asked, when,
 * how often, and what messages do then. */

#include "fake_net.h"
#include "ompi/runtime/params.h"

enum { TAG = MCA_BTL_TAG_PML + 1, ROUND = 8, MOST = 3 * ROUND + 96 }; /* questions over two rails */

static mca_bml_fsbml_endpoint_t *ep;
static mca_bml_base_btl_t *bml_btl;

/* A peer over two rails, the first of which is `farther_ns` farther than the table will say. */
static void up(uint64_t farther_ns)
{
    mca_bml_fsbml_params.per_peer = true;
    ep = net_up(40, 80);
    bml_btl = ep->bml_btl;
    net[0].L_ns += farther_ns;
}

static void down(void)
{
    net_down();
    mca_bml_fsbml_params.per_peer = false;
    mca_bml_fsbml_params.policy = FSBML_POLICY_ARRIVAL;
}

/* Lets time pass; in small steps while something is on its way. */
static void later(unsigned ms)
{
    for (const uint64_t until = virtual_ns + (uint64_t) ms * 1000000; virtual_ns < until;) {
        if (0 == net_messages) {
            virtual_ns += 50000;
        }
        opal_progress();
    }
}

/* Sends one message; returns its rail. */
static int send_one(size_t bytes)
{
    const int before = fake[0].n_sent;
    CHECK(0 <= pml_send(bml_btl, bytes, TAG));
    const int rail = before == fake[0].n_sent ? 1 : 0;
    CHECK(fake_complete(&fake[rail], OPAL_SUCCESS));
    return rail;
}

/* 120 us farther: small messages take the other rail, large ones do not. It takes two rounds, and then
 * nothing more. */
FAKE_TEST(a_farther_rail_is_found)
{
    up(120000);
    net_table_comes();
    CHECK(0 == send_one(100));
    CHECK(NULL == ep->far && NULL != progress_fn);
    later(200);
    CHECK(2 * ROUND == net_timed && NULL != ep->far && NULL == progress_fn && NULL == ep->distance);
    CHECK(NULL != ep->far && ep->far->ticks[0] > 115000 * 64 && ep->far->ticks[0] < 125000 * 64);
    CHECK(NULL != ep->far && 0 == ep->far->ticks[1]);
    CHECK(1 == send_one(100));
    later(1);
    CHECK(0 == send_one(8000));
    later(10000);
    CHECK(2 * ROUND == net_timed);
    down();
}

/* As far as measured: a round of questions, and all is as it was. */
FAKE_TEST(equal_peers_cost_one_round)
{
    up(0);
    net_table_comes();
    CHECK(0 == send_one(100));
    later(10000);
    CHECK(ROUND == net_timed && NULL == ep->far && NULL == ep->distance && NULL == progress_fn);
    CHECK(0 == send_one(100) && NULL == progress_fn);
    down();
}

/* No peer is asked without a message, nor before there is a table. */
FAKE_TEST(questions_wait_for_a_message_and_a_table)
{
    up(120000);
    CHECK(0 == send_one(100));
    later(100);
    CHECK(0 == net_timed && NULL == progress_fn);
    net_table_comes();
    later(100);
    CHECK(0 == net_timed && NULL == progress_fn);
    CHECK(0 == send_one(100));
    later(200);
    CHECK(2 * ROUND == net_timed && 1 == send_one(100));
    down();
}

/* Not before all rails are proved or given up. */
FAKE_TEST(questions_wait_for_all_paths)
{
    up(120000);
    net_table_comes();
    fsbml_path_close(ep, &ep->path[1], "test");
    atomic_fetch_or(&ep->possible, 2);
    CHECK(0 == send_one(100));
    later(1);
    CHECK(0 == net_timed);
    fsbml_path_open(ep, &ep->path[1]);
    CHECK(3 == ep->live && 0 == send_one(100));
    later(200);
    CHECK(2 * ROUND == net_timed && 1 == send_one(100));
    down();
}

/* An answer without the flag is no sample: four questions, and then never again. */
FAKE_TEST(old_peers_are_left_in_peace)
{
    up(120000);
    net_is_old = true;
    net_table_comes();
    CHECK(0 == send_one(100));
    later(20000);
    CHECK(4 == net_timed && NULL == ep->far && NULL == progress_fn && 3 == ep->live);
    CHECK(0 == send_one(100) && NULL == progress_fn);
    down();
}

/* What the peer says to have waited for its own messages is no sample either. */
FAKE_TEST(busy_peers_tell_nothing)
{
    up(120000);
    net_busy_ns = 1;
    net_table_comes();
    CHECK(0 == send_one(100));
    later(20000);
    CHECK(MOST == net_timed && NULL == ep->far && NULL == progress_fn);
    down();
}

/* While this node's own messages keep a rail busy, it is not asked. */
FAKE_TEST(busy_rails_are_not_asked)
{
    up(120000);
    net_table_comes();
    for (int i = 0; i < 20; ++i) {
        fsbml_sched_charge(fsbml_rails.sched, 0, virtual_ns, 65536); /* 2.6 ms each */
    }
    CHECK(1 == send_one(100));
    later(40);
    CHECK(0 == net_timed_on[0] && NULL != progress_fn);
    later(200);
    CHECK(2 * ROUND == net_timed && NULL != ep->far);
    down();
}

/* Answers that come twice, and those of questions long over, prove nothing. */
static uint32_t old_answer[N_WORDS];
static int repeated;

static void deliver_again(int rail, uint32_t *word)
{
    uint32_t first[N_WORDS];
    memcpy(first, word, sizeof(first));
    net_deliver(rail, word);
    net_deliver(rail, first);
    if (0 != (first[W_TYPE] >> 8 & FSBML_PACKET_TIMED)) {
        if (0 == old_answer[W_MAGIC]) {
            memcpy(old_answer, first, sizeof(old_answer));
        }
        ++repeated;
    }
}

FAKE_TEST(answers_count_once)
{
    up(120000);
    net_table_comes();
    repeated = 0;
    memset(old_answer, 0, sizeof(old_answer));
    net_to = deliver_again;
    CHECK(0 == send_one(100));
    for (int i = 0; i < 200; ++i) {
        uint32_t again[N_WORDS];
        memcpy(again, old_answer, sizeof(again));
        later(1);
        if (0 != again[W_MAGIC]) {
            net_deliver(i % 2, again); /* also while the next one is on its way */
        }
    }
    CHECK(2 * ROUND == repeated && 2 * ROUND == net_timed);
    CHECK(NULL != ep->far && ep->far->ticks[0] > 115000 * 64 && ep->far->ticks[0] < 125000 * 64);
    /* after its end, and from a peer that is not asked */
    net_deliver(0, old_answer);
    old_answer[W_RANK] = 5;
    net_deliver(0, old_answer);
    net_to = net_deliver;
    down();
}

/* A rail that is taken away leaves nothing to compare; the endpoint may go at any time. */
FAKE_TEST(rails_and_peers_may_go)
{
    up(120000);
    net_table_comes();
    CHECK(0 == send_one(100));
    later(1);
    CHECK(0 < net_timed && NULL != ep->distance);
    fsbml_path_remove(ep, &ep->path[0]);
    later(1);
    CHECK(NULL == ep->distance && NULL == ep->far && NULL == progress_fn);
    CHECK(1 == send_one(100));
    down();
    up(120000);
    net_table_comes();
    CHECK(0 == send_one(100));
    later(1);
    CHECK(NULL != ep->distance);
    down();
    up(120000);
    net_table_comes();
    CHECK(0 == send_one(100));
    later(200);
    CHECK(NULL != ep->far);
    fsbml_path_remove(ep, &ep->path[1]);
    CHECK(0 == send_one(100));
    down();
}

/* Not asked: the partner in the measurement; any peer, if the user does not want it, or if the policy asks
 * for no times. */
FAKE_TEST(some_are_never_asked)
{
    for (int i = 0; i < 4; ++i) {
        mca_bml_fsbml_params.policy = 1 == i   ? FSBML_POLICY_ROUNDROBIN
                                      : 2 == i ? FSBML_POLICY_SINGLE
                                               : FSBML_POLICY_ARRIVAL;
        up(120000);
        net_table_comes();
        if (0 == i) {
            CHECK(fsbml_far_known(ep) && !fsbml_far_known(ep));
        } else if (3 == i) {
            mca_bml_fsbml_params.per_peer = false;
            fsbml_far_init(ep);
        }
        CHECK(NULL == ep->far);
        (void) send_one(100);
        later(200);
        CHECK(0 == net_timed && NULL == ep->far && NULL == progress_fn);
        down();
    }
}

/* A peer without FSBML has one rail, and is asked nothing. */
FAKE_TEST(mute_peers_are_not_asked)
{
    mca_bml_fsbml_params.per_peer = true;
    net_reset();
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
    peer_has_fsbml = false;
    net_table_comes();
    bml_btl = mca_bml_base_btl_array_get_index(&peer_up()->btl_eager, 0);
    ep = fsbml_endpoint_of_proc(peer);
    for (int i = 0; i < 100; ++i) {
        CHECK(0 == send_one(100));
        pass_time(1);
    }
    CHECK(ep->mute && 0 == fake[0].n_queue + fake[1].n_queue && NULL == ep->distance && NULL == progress_fn);
    peer_has_fsbml = true;
    down();
}

/* A timed question is answered as such, with its number and with what the answer waits for. */
FAKE_TEST(timed_questions_are_answered)
{
    mca_bml_fsbml_params.per_peer = true;
    fake_construct(&fake[0], 4096, 65536, 10);
    fake_construct(&fake[1], 4096, 65536, 10);
    world_up(2);
    (void) peer_up();
    CHECK(1 == fake_answer(&fake[0], true) && 1 == fake_answer(&fake[1], true));
    for (int i = 0; i < 3; ++i) {
        const uint32_t flags = i < 2 ? (uint32_t) FSBML_PACKET_TIMED << 8 : 0;
        uint32_t ask[N_WORDS] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ASK | flags, 1, 1, 0x80000007},
                 answer[N_WORDS];
        int to;
        if (1 == i) {
            fsbml_sched_charge(fsbml_rails.sched, 1, virtual_ns, 1001); /* 400 ns a byte */
        }
        fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
        fake_des_t *des = fake_take(&fake[1], true, &to);
        CHECK(NULL != des && 0 == fake[0].n_queue);
        memcpy(answer, des->segment[0].seg_addr.pval, sizeof(answer));
        CHECK((FSBML_PACKET_ANSWER | flags) == answer[W_TYPE] && 0x80000007 == answer[W_SEQ]);
        CHECK(1 == i ? 400000 <= answer[W_DELAY] && 410000 > answer[W_DELAY] : 0 == answer[W_DELAY]);
        fake_free(&fake[1].super, &des->super);
    }
    world_down(2);
    mca_bml_fsbml_params.per_peer = false;
}

/* A peer that is asked in MPI_Finalize may be gone, and the question be a write on a closed connection. */
FAKE_TEST(no_peer_is_asked_at_the_end)
{
    up(120000);
    net_table_comes();
    ompi_mpi_state = OMPI_MPI_STATE_INIT_STARTED; /* not before MPI_Init is done, either */
    CHECK(0 == send_one(100));
    later(1);
    CHECK(0 == net_timed && NULL == ep->distance);
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
    CHECK(0 == send_one(100));
    later(1);
    ompi_mpi_state = OMPI_MPI_STATE_FINALIZE_STARTED;
    later(1); /* what is on its way arrives */
    const int asked = net_timed;
    CHECK(0 < asked && asked < ROUND);
    later(100);
    CHECK(asked == net_timed);
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
    ompi_async_mpi_finalize = true; /* peers do not wait for this process */
    later(100);
    CHECK(asked == net_timed);
    ompi_async_mpi_finalize = false;
    later(100);
    CHECK(2 * ROUND == net_timed && NULL != ep->far);
    down();
}
