/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* In a job of many processes, one connection to a peer is enough until another one can gain: the other paths
 * sleep. */

#include <unistd.h>

#include "fake_pml.h"
#include "fake_sockets.h"
#include "measure/measure.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static mca_bml_base_btl_t *up(uint32_t processes)
{
    sockets.resent = 0;
    ompi_process_info.num_procs = processes;
    mca_bml_fsbml_params.per_peer = true;
    mca_bml_fsbml_params.ledger = FSBML_LEDGER_OFF; /* there is no run-time to tell of its file */
    fakes_up(2);
    return eager_of(peer_up());
}

static void down(void)
{
    world_down(2);
    mca_bml_fsbml_params.per_peer = false;
    ompi_process_info.num_procs = 0;
}

static mca_bml_fsbml_endpoint_t *endpoint(const mca_bml_base_btl_t *bml_btl)
{
    return (mca_bml_fsbml_endpoint_t *) bml_btl->btl_endpoint;
}

FAKE_TEST(few_connect_all_rails_at_once)
{
    const mca_bml_base_btl_t *bml_btl = up(16);
    CHECK(0 == endpoint(bml_btl)->asleep);
    all_answer(2);
    down();
}

/* Those that wait for a processor are polled in turn, each with all its connections. */
FAKE_TEST(processes_that_share_processors_connect_one)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    set_local(0, (uint32_t) processors);
    CHECK(2 == endpoint(up(16))->asleep && 1 == fake_answer(&fake[0], true));
    down();
    set_local(0, (uint32_t) processors - 1);
    CHECK(0 == endpoint(up(16))->asleep);
    all_answer(2);
    down();
    set_local(0, 0);
}

FAKE_TEST(short_messages_wake_no_path_long_ones_do)
{
    mca_bml_base_btl_t *bml_btl = up(17);
    CHECK(1 == fake_answer(&fake[0], true) && 2 == endpoint(bml_btl)->asleep);
    for (int i = 0; i < 50; ++i) {
        CHECK(0 <= pml_send(bml_btl, 100, TAG));
        CHECK(fake_complete(&fake[0], OPAL_SUCCESS));
        pass_time(50);
    }
    CHECK(0 == fake_answer(&fake[1], true) && 1 == endpoint(bml_btl)->live);
    for (int i = 0; i < 8; ++i) { /* the last one asks, and waits for no answer */
        pass_time(1);
        CHECK(0 == fake_answer(&fake[1], true));
        CHECK(0 <= pml_send(bml_btl, 4096, TAG));
        CHECK(51 + i == (int) fake[0].n_sent && 0 == fake[1].n_sent);
        CHECK(fake_complete(&fake[0], OPAL_SUCCESS));
    }
    pass_time(1);
    CHECK(1 == fake_answer(&fake[1], true) && 3 == endpoint(bml_btl)->live && 0 == endpoint(bml_btl)->asleep);
    down();
}

/* Behind others that are short, it is a matter of when the other rail would deliver it. */
FAKE_TEST(short_messages_that_queue_wake_a_path_that_is_earlier)
{
    for (int slower = 0; slower < 2; ++slower) {
        mca_bml_base_btl_t *bml_btl = up(17);
        const fsbml_loggp_t first = LOGGP(10e3, 300, 40, 40),
                            other = LOGGP(10e3, 300, 40, 0 == slower ? 40 : 400);
        CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, 0, &first));
        CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, 1, &other));
        CHECK(1 == fake_answer(&fake[0], true));
        for (int i = 0; i < 20; ++i) {
            for (int n = 0; n < 5; ++n) {
                CHECK(0 <= pml_send(bml_btl, 1024, TAG));
                CHECK(fake_complete(&fake[0], OPAL_SUCCESS));
            }
            pass_time(1);
        }
        CHECK((0 == slower ? 1 : 0) == fake_answer(&fake[1], true));
        down();
    }
}

/* What is wrong with a rail is the node's: one of its ranks proves it for all. */
FAKE_TEST(an_answer_opens_the_paths_to_others_of_its_node)
{
    for (int failover = 0; failover < 2; ++failover) {
        mca_bml_fsbml_params.failover = 0 != failover;
        peers_share_node = true;
        mca_bml_base_btl_t *first = up(17);
        world_add_peer();
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[1]));
        mca_bml_base_btl_t *second =
            eager_of((mca_bml_base_endpoint_t *) peers[1]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML]);
        CHECK(0 <= pml_send(second, 100, TAG));
        uint32_t ask[8] = {FSBML_PACKET_MAGIC,          FSBML_PACKET_ASK,        1, 2, 0,
                           OMPI_PROC_MY_NAME->vpid + 1, OMPI_PROC_MY_NAME->jobid};
        fake_deliver(&fake[0], FSBML_TAG_PROBE, ask, sizeof(ask)); /* is answered, and no reason to ask */
        pass_time(50);
        CHECK(0 == endpoint(second)->live && 0 == fake[0].n_sent);
        CHECK(1 + failover == fake_answer(&fake[0], true) && 1 == endpoint(first)->live);
        pass_time(1);
        CHECK(1 == endpoint(second)->live && 1 == fake[0].n_sent && 0 == fake[1].n_sent);
        CHECK(fake_complete(&fake[0], OPAL_SUCCESS));
        fsbml_ask_wake(endpoint(first)); /* a second one is asked all the same: its connection must stand */
        pass_time(1);
        CHECK(1 == fake_answer(&fake[1], true) && 3 == endpoint(first)->live);
        fsbml_ask_wake(endpoint(second));
        pass_time(1);
        CHECK(1 == endpoint(second)->live && 1 == fake_answer(&fake[1], true) && 3 == endpoint(second)->live);
        down();
    }
    mca_bml_fsbml_params.failover = peers_share_node = false;
}

/* One that does not answer keeps the others waiting for a while only, and a rail that is closed or taken out
 * of use is no longer one that its node has answered on. */
FAKE_TEST(others_of_a_node_are_asked_where_one_is_silent_or_fails)
{
    enum { SILENT, CLOSED, REMOVED };
    for (int is = SILENT; is <= REMOVED; ++is) {
        peers_share_node = true;
        mca_bml_fsbml_endpoint_t *first = endpoint(up(17));
        CHECK(1 == fake_answer(&fake[0], SILENT != is));
        if (CLOSED == is) {
            fsbml_path_close(first, fsbml_path(first, 0), "a test");
        } else if (REMOVED == is) {
            fsbml_path_remove(first, fsbml_path(first, 0));
        }
        world_add_peer();
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[1]));
        CHECK((SILENT == is ? 0 : 1) == fake_answer(&fake[0], true));
        pass_time(90);
        CHECK(0 == fake_answer(&fake[0], true));
        pass_time(20);
        CHECK((SILENT == is ? 1 : 0) == fake_answer(&fake[0], true));
        CHECK(0 != fsbml_endpoint_of_proc(peers[1])->live);
        down();
    }
    peers_share_node = false;
}

static void look_often(int ms)
{
    for (int look = 0; look < ms; ++look) {
        pass_time(1);
    }
}

/* Nothing waits for a rail that may be dead while another one sleeps. */
FAKE_TEST(a_network_that_does_not_acknowledge_wakes_the_others)
{
    mca_bml_base_btl_t *bml_btl = up(17);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 100, TAG));
    CHECK(1 == fake_answer(&fake[0], false));
    sockets.resent = fsbml_bit(0);
    look_often(90);
    CHECK(0 == fake_answer(&fake[1], true));
    look_often(120);
    CHECK(1 == fake_answer(&fake[1], true) && 2 == endpoint(bml_btl)->live);
    CHECK(1 == fake[1].n_sent && fake_complete(&fake[1], OPAL_SUCCESS) && 1 == done.n);
    down();
}

/* Its kernel acknowledges, so the network is good: a second connection would be as silent. Nor does another
 * rail's network matter. */
FAKE_TEST(a_busy_peer_wakes_none)
{
    const mca_bml_base_btl_t *bml_btl = up(17);
    CHECK(1 == fake_answer(&fake[0], false));
    sockets.resent = fsbml_bit(1);
    look_often(2900);
    CHECK(2 == endpoint(bml_btl)->asleep && 0 == fake_answer(&fake[1], true));
    down();
}

/* A connection that was lost without a word. */
FAKE_TEST(a_long_silence_wakes_the_others)
{
    const mca_bml_base_btl_t *bml_btl = up(17);
    CHECK(1 == fake_answer(&fake[0], false));
    look_often(3100);
    CHECK(1 == fake_answer(&fake[1], true) && 2 == endpoint(bml_btl)->live);
    down();
}

FAKE_TEST(a_closed_path_wakes_the_others)
{
    mca_bml_base_btl_t *bml_btl = up(17);
    (void) fake_answer(&fake[0], false);
    CHECK(fsbml_proof_failed(endpoint(bml_btl), 0, "it is dead"));
    pass_time(1);
    CHECK(1 == fake_answer(&fake[1], true) && 2 == endpoint(bml_btl)->live);
    down();
}

/* The connection is there then: the peer has made it. */
FAKE_TEST(a_peer_that_asks_wakes_its_path)
{
    const mca_bml_base_btl_t *bml_btl = up(17);
    (void) fake_answer(&fake[0], true);
    const fsbml_packet_t ask = {.type = FSBML_PACKET_ASK, .from = peer->super.proc_name, .seq = 2};
    fsbml_ask_heard(&fake[1].super, &ask, NULL, 0);
    CHECK(1 == fake_answer(&fake[1], true) && 3 == endpoint(bml_btl)->live && 0 == endpoint(bml_btl)->asleep);
    down();
}

/* It may be told of this process a little later than this one of it, and then refuses the connection. */
FAKE_TEST(a_peer_of_another_job_is_asked_when_it_knows_this_one)
{
    for (int asks = 0; asks < 2; ++asks) {
        my_job = 2;
        const mca_bml_base_btl_t *bml_btl = up(2);
        const fsbml_packet_t ask = {.type = FSBML_PACKET_ASK, .from = peer->super.proc_name, .seq = 2};
        pass_time(4);
        CHECK(0 == fake[0].n_queue + fake[1].n_queue);
        if (asks) {
            fsbml_ask_heard(&fake[1].super, &ask, NULL, 0);
            CHECK(1 == fake[1].n_queue); /* the answer */
        }
        pass_time(1);
        CHECK(1 == fake[0].n_queue && 1 + asks == fake[1].n_queue);
        CHECK(1 == fake_answer(&fake[0], true) && 1 == fake_answer(&fake[1], true));
        CHECK(3 == endpoint(bml_btl)->live);
        down();
        my_job = 1;
    }
}

static fsbml_loggp_t first_rail; /* the other one has 10 us, and 40 ns a byte */

/* The run-time's store in a job of one rank a node, whose table has these rails. */
static size_t a_job(const ompi_process_name_t *from, const char *key, void **data)
{
    const size_t most = fsbml_pairs_packed_max() + fsbml_table_packed_max();
    fsbml_hello_t hello = {.n_rails = 2, .flags = FSBML_HELLO_FIRST, .node_ranks = 1, .run = 1};
    fsbml_table_t table = {.n_rails = 2};
    const fsbml_pairs_t none = {.n = 0};
    *data = malloc(most > fsbml_hello_packed_max() ? most : fsbml_hello_packed_max());
    snprintf(hello.node, sizeof(hello.node), "node%u", from->vpid);
    for (uint32_t i = 0; i < 2; ++i) {
        const fsbml_loggp_t other = LOGGP(10e3, 300, 40, 40), p = 0 == i ? first_rail : other;
        hello.rail[i].exclusivity = fake[i].super.btl_exclusivity;
        memcpy(hello.rail[i].key, fsbml_rails.rail[i].key, sizeof(hello.rail[i].key));
        memcpy(table.rail[i].key, fsbml_rails.rail[i].key, sizeof(table.rail[i].key));
        table.rail[i].fit.valid = true;
        table.rail[i].fit.params = p;
    }
    if (NULL != strstr(key, "hello")) {
        return (size_t) fsbml_hello_pack(&hello, *data, fsbml_hello_packed_max());
    }
    if (NULL == strstr(key, "table")) {
        free(*data);
        return 0;
    }
    const size_t head = (size_t) fsbml_pairs_pack(&none, *data, most);
    return head + (size_t) fsbml_table_pack(&table, (char *) *data + head, most - head);
}

/* The first peer's connection stays its only one for long: the table is fetched before one is chosen. */
FAKE_TEST(the_first_peer_is_asked_on_the_best_rail_for_short_messages)
{
    const fsbml_loggp_t worse[] = {LOGGP(50e3, 300, 40, 40), LOGGP(9e3, 300, 40, 400)};
    for (size_t i = 0; i < sizeof(worse) / sizeof(worse[0]); ++i) {
        first_rail = worse[i];
        ompi_process_info.num_procs = 17;
        mca_bml_fsbml_params.per_peer = true;
        fakes_up(2);
        other_value = a_job;
        fsbml_calibrated = true;
        const mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
        CHECK(0 == fake_answer(&fake[0], true) && 1 == fake_answer(&fake[1], true));
        CHECK(1 == endpoint(bml_btl)->asleep && 2 == endpoint(bml_btl)->live);
        fsbml_calibrated = false;
        other_value = NULL;
        down();
    }
}
