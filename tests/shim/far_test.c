/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers with more latency than the measured pair, by what the kernel says, on fake rails in virtual time:
 * when it is asked, and what messages do then. */

#include "fake_kernel.h"
#include "fake_net.h"
#include "flow/flow.h"

enum { TAG = MCA_BTL_TAG_PML + 1, US = 1000, MS = 1000000 };

/* --------------------------------------------------------- the process */

static mca_bml_fsbml_endpoint_t *ep;

/* What the kernel says of both rails is what it said of the pair that measured, but for this on the first. */
static void up(uint64_t farther_ns)
{
    mca_bml_fsbml_params.per_peer = true;
    low_progress_fn = NULL;
    for (uint64_t i = 0; i < 2; ++i) {
        kernel[i].round_trip_ns = 50 * US + (0 == i ? 2 * farther_ns : 0);
        kernel[i].segments = 100;
        kernel[i].asked = 0;
    }
    kernel_connects();
    ep = net_up(40, 80);
    for (uint32_t i = 0; i < 2; ++i) {
        CHECK(NULL != fsbml_path(ep, i)->connection);
    }
}

static void down(void)
{
    net_down();
    mca_bml_fsbml_params.per_peer = false;
    mca_bml_fsbml_params.policy = FSBML_POLICY_ARRIVAL;
}

/* That of net_table_comes(), with the round trips of the pair that measured. */
static void table_comes(void)
{
    net_table_comes();
    for (uint32_t i = 0; i < 2; ++i) {
        atomic_store(&fsbml_rails.rail[i].round_trip_ns, 50 * US);
    }
}

static void later(unsigned ms)
{
    for (const uint64_t until = virtual_ns + (uint64_t) ms * MS; virtual_ns < until; virtual_ns += 50 * US) {
        opal_progress();
        if (NULL != low_progress_fn) {
            (void) low_progress_fn();
        }
    }
}

/* Sends one message; returns its rail. */
static int send_one(size_t bytes)
{
    const int before = fake[0].n_sent;
    CHECK(0 <= pml_send(ep->bml_btl, bytes, TAG));
    const int rail = before == fake[0].n_sent ? 1 : 0;
    CHECK(fake_complete(&fake[rail], OPAL_SUCCESS));
    return rail;
}

/* 120 us farther: small messages take the other rail, large ones do not; and no packet is sent for it. */
FAKE_TEST(a_farther_rail_is_found)
{
    up(120 * US);
    CHECK(0 == send_one(100)); /* no table */
    later(10);
    CHECK(NULL == ep->far);
    table_comes();
    later(3);
    CHECK(NULL != ep->far && 120 * US == fsbml_far_ns(ep->far, 0) && 0 == fsbml_far_ns(ep->far, 1));
    CHECK(1 == send_one(100));
    later(1);
    CHECK(0 == send_one(8000));
    CHECK(0 == net_timed && NULL == progress_fn);
    down();
}

/* A path that becomes live once there is a table is looked at then. */
FAKE_TEST(it_is_known_when_the_connection_is_up)
{
    up(120 * US);
    table_comes();
    fsbml_path_close(ep, &ep->path[1], "test");
    atomic_fetch_or(&ep->possible, 2);
    later(10);
    CHECK(NULL == ep->far && 0 == send_one(100));
    fsbml_path_open(ep, &ep->path[1]);
    CHECK(NULL != ep->far && 1 == send_one(100));
    down();
}

FAKE_TEST(equal_peers_are_as_measured)
{
    up(0);
    table_comes();
    later(100);
    CHECK(NULL == ep->far && NULL == ep->farther && 0 == send_one(100));
    down();
}

/* One connection a millisecond. */
FAKE_TEST(the_kernel_is_asked_now_and_then)
{
    up(0);
    table_comes();
    const int before = kernel[0].asked + kernel[1].asked;
    later(1000);
    const int asked = kernel[0].asked + kernel[1].asked - before;
    CHECK(asked > 900 && asked <= 1001 && abs(kernel[0].asked - kernel[1].asked) < 10);
    down();
}

/* The first round trips were disturbed, or the network has become another one. */
FAKE_TEST(what_counts_follows_the_kernel)
{
    up(120 * US);
    table_comes();
    later(3);
    CHECK(1 == send_one(100));
    kernel[0].round_trip_ns = 50 * US;
    later(3);
    CHECK(NULL == ep->far && 0 == send_one(100));
    kernel[0].round_trip_ns = 350 * US;
    later(3);
    CHECK(NULL != ep->far && 150 * US == fsbml_far_ns(ep->far, 0) && 1 == send_one(100));
    kernel[1].round_trip_ns = 550 * US;
    later(3);
    CHECK(NULL != ep->far && 0 == fsbml_far_ns(ep->far, 0) && 100 * US == fsbml_far_ns(ep->far, 1));
    CHECK(0 == send_one(100));
    down();
}

/* A connection that is made anew has shown nothing yet. */
FAKE_TEST(a_new_connection_begins_anew)
{
    up(120 * US);
    table_comes();
    later(3);
    CHECK(NULL != ep->far);
    kernel[0].number = 77;
    kernel[0].segments = 1;
    later(5);
    CHECK(NULL == ep->far && 0 == send_one(100));
    kernel[0].segments = 16;
    later(3);
    CHECK(NULL != ep->far);
    kernel[0].number = 0; /* it is closed: nothing is known of it */
    later(3);
    CHECK(NULL == ep->far);
    down();
}

/* Not looked at: if the user does not want it, or if the policy asks for no times. */
FAKE_TEST(some_never_ask)
{
    for (int i = 0; i < 3; ++i) {
        mca_bml_fsbml_params.policy = 0 == i   ? FSBML_POLICY_ROUNDROBIN
                                      : 1 == i ? FSBML_POLICY_SINGLE
                                               : FSBML_POLICY_ARRIVAL;
        mca_bml_fsbml_params.per_peer = i < 2;
        low_progress_fn = NULL;
        kernel[0].asked = kernel[1].asked = 0;
        kernel_connects();
        ep = net_up(40, 80);
        table_comes();
        CHECK(NULL == low_progress_fn);
        later(20);
        CHECK(0 == kernel[0].asked + kernel[1].asked && NULL == ep->far);
        down();
    }
}

/* Rails and peers go at any time. */
FAKE_TEST(rails_and_peers_may_go)
{
    up(120 * US);
    table_comes();
    later(3);
    CHECK(NULL != ep->far);
    fsbml_path_remove(ep, &ep->path[1]);
    later(3);
    CHECK(0 == send_one(100));
    fsbml_proof_forget(ep);
    CHECK(NULL == ep->far && NULL == ep->farther && NULL == fsbml_path(ep, 0)->connection);
    later(3);
    down();
}

/* What the table says of the pair that measured is what others are compared with. */
FAKE_TEST(the_table_has_the_round_trips_of_its_pair)
{
    up(0);
    fsbml_table_t *table = calloc(1, sizeof(*table));
    table->n_rails = 2;
    for (uint32_t i = 0; i < 2; ++i) {
        const fsbml_loggp_t p = LOGGP(10e3, 300, 40, 0 == i ? 40 : 80);
        memcpy(table->rail[i].key, fsbml_rails.rail[i].key, sizeof(table->rail[i].key));
        table->rail[i].fit.valid = true;
        table->rail[i].fit.params = p;
        table->rail[i].round_trip_ns = 0 == i ? 50 * US : 850 * US; /* far on the second */
    }
    fsbml_table_apply(table);
    free(table);
    later(3);
    CHECK(NULL != ep->far && 400 * US == fsbml_far_ns(ep->far, 0) && 0 == fsbml_far_ns(ep->far, 1));
    down();
}

/* A timed question is answered as such, with its number and with what the answer waits for. */
FAKE_TEST(timed_questions_are_answered)
{
    fakes_up(2);
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
        /* when it came is of no interest to the last one, but by which rail */
        CHECK(1 == i ? 400000 <= answer[W_DELAY] && 410000 > answer[W_DELAY]
                     : (uint32_t) i == answer[W_DELAY]);
        fake_free(&fake[1].super, &des->super);
    }
    world_down(2);
}
