/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* When messages arrive, found out by questions behind them, on fake rails in virtual time: what is counted,
 * and what tells nothing because this process did not poll. */

#include "fake_net.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static mca_bml_fsbml_endpoint_t *ep;

static void up(void)
{
    mca_bml_fsbml_params.report = "report";
    mca_bml_fsbml_params.per_peer = false;
    ep = net_up(40, 80);
    net_table_comes();
}

static void down(void)
{
    net_down();
    mca_bml_fsbml_params.report = NULL;
    CHECK(!looks_are_told);
}

static fsbml_rail_seen_t seen(uint32_t rail)
{
    fsbml_rail_seen_t s;
    fsbml_observer_rail(fsbml_observer, rail, &s);
    return s;
}

static void look_for(uint64_t ns)
{
    for (const uint64_t until = virtual_ns + ns; virtual_ns < until;) {
        opal_progress();
    }
}

/* Sends small messages on rail 0, far enough apart to be alone there, until a question follows one of them.
 * Only questions and answers take time here. */
static void until_asked(void)
{
    for (int i = 0; i < 100 && 0 == net_messages; ++i) {
        look_for(1000000);
        CHECK(0 <= pml_send(ep->bml_btl, 16, TAG));
        CHECK(fake_complete(&fake[0], OPAL_SUCCESS));
    }
    CHECK(1 == net_messages);
}

/* As the model says: 10 us, and what the overheads and few bytes add. */
FAKE_TEST(who_looks_sees_arrivals)
{
    up();
    until_asked();
    CHECK(0 == seen(0).arrivals);
    look_for(200000);
    CHECK(1 == seen(0).arrivals && 0 == seen(1).arrivals);
    CHECK(seen(0).predicted_ns > 10000 && seen(0).predicted_ns < 13000);
    CHECK(seen(0).observed_ns > seen(0).predicted_ns / 2 && seen(0).observed_ns < 2 * seen(0).predicted_ns);
    until_asked();
    look_for(200000);
    CHECK(2 == seen(0).arrivals);
    down();
}

/* The answer came while this process computed: when, is not known. */
FAKE_TEST(who_was_away_does_not)
{
    up();
    until_asked();
    virtual_ns += 3000000;
    look_for(200000);
    CHECK(0 == seen(0).arrivals);
    until_asked();
    look_for(200000);
    CHECK(1 == seen(0).arrivals);
    down();
}

/* A process says how long a question had to wait for it, so that the other one does not blame the rail. */
FAKE_TEST(who_is_asked_says_that_it_was_away)
{
    up();
    look_for(200000);
    fsbml_packet_t question = {.type = FSBML_PACKET_ASK, .flags = FSBML_PACKET_TIMED};
    CHECK(0 == fsbml_away_ns(virtual_ns, 0) && 0 == fsbml_away_late_ns(ep, &fake[0].super, &question));
    virtual_ns += 3000000;
    opal_progress(); /* its first look takes what came in */
    question.delay_ns = 2000000;
    CHECK(fsbml_away_late_ns(ep, &fake[0].super, &question) >= 3000000);
    question.delay_ns = 5000000; /* it was away for nothing beside what was predicted */
    CHECK(0 == fsbml_away_late_ns(ep, &fake[0].super, &question));
    question.delay_ns = 0;
    look_for(10000);
    CHECK(0 == fsbml_away_late_ns(ep, &fake[0].super, &question));
    down();
    CHECK(0 == fsbml_away_ns(virtual_ns + 1000000000, 0));
}
