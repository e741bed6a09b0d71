/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement at start, on fake rails in virtual time: what comes out when all is well, when a rail stops
 * or stalls in its midst, when rails share a link. */

#include "fake_kernel.h"
#include "fake_start.h"

FAKE_TEST(rails_are_measured)
{
    kernel_connects();
    (void) job_up(0, 40, 400);
    ready();
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(has_gap(0, 40) && has_gap(1, 400));
    CHECK(fit(0)->together >= 1 && fit(0)->together < 1.05 && fit(1)->together >= 1
          && fit(1)->together < 1.05);
    CHECK(virtual_ns - start < 400000000);
    CHECK(sends_table());
    CHECK(0 == sockets.calmed[0] && 0 == sockets.calmed[1]); /* looks do that, and know what they have left */
    job_down();
    sockets.possible = false;
}

/* A stream lasts for twelve round trips, but not for twelve turns of a busy processor. */
FAKE_TEST(streams_last_for_a_long_way_only)
{
    for (int busy = 0; busy < 2; ++busy) {
        (void) job_up(0, 40, 40);
        net[0].L_ns = net[1].L_ns = busy ? 2000 : 2000000;
        net_turn_ns = busy ? 4000000 : 0;
        ready();
        fsbml_calibrate();
        CHECK(has_gap(0, 40) && has_gap(1, 40));
        CHECK(busy ? net_wanted_ns <= 12000000 : net_wanted_ns >= 48000000);
        job_down();
    }
}

/* Turns are none of the rail's where the kernels answer sooner, and neither streams nor the latency go by
 * them: also not if they happen to be alike. A rail that is far stays so. */
FAKE_TEST(turns_are_told_by_the_kernel)
{
    static const uint64_t turn[] = {8000000, 600000, 0};
    for (int i = 0; i < 3; ++i) {
        const bool far = 0 == turn[i];
        kernel_connects();
        (void) job_up(0, 40, 40);
        net[0].L_ns = net[1].L_ns = far ? 3000000 : 20000;
        kernel[0].round_trip_ns = kernel[1].round_trip_ns = 2 * net[0].L_ns;
        net_turn_ns = turn[i];
        ready();
        const uint64_t start = virtual_ns;
        fsbml_calibrate();
        CHECK(has_gap(0, 40) && has_gap(1, 40));
        /* and no more is asked than can be answered; nor again, of a rail that takes as long as its kernels
         */
        CHECK(virtual_ns - start < (far ? 650000000 : 330000000));
        CHECK(far ? net_longest_ns >= 70000000 : net_longest_ns <= 24000000);
        const double L = fit(0)->params.L_ns;
        CHECK(far ? L > 2900000 && L < 3100000 : L > 19000 && L < 21000);
        job_down();
    }
    sockets.possible = false;
}

static uint64_t stall_at_ns, stalls_every_ns;

static void stall(void)
{
    if (0 != stall_at_ns && virtual_ns > stall_at_ns) {
        net[1].stall_ns = 0 != stalls_every_ns ? 30000000 : 200000000;
        stall_at_ns = 0 != stalls_every_ns ? virtual_ns + stalls_every_ns : 0;
    }
}

/* Also if its streams are disturbed, and another rail is nearer. */
FAKE_TEST(no_rail_is_nearer_than_its_kernels_are)
{
    kernel_connects();
    (void) job_up(0, 40, 40);
    net[1].L_ns = 3000000;
    kernel[1].round_trip_ns = 2 * net[1].L_ns;
    ready();
    stall_at_ns = 1;
    stalls_every_ns = 45000000;
    net_also = stall;
    fsbml_calibrate();
    stall_at_ns = stalls_every_ns = 0;
    CHECK(fit(0)->params.L_ns < 12000 && fit(1)->params.L_ns > 2900000);
    job_down();
    sockets.possible = false;
}

/* MPI_Init ends with a fence: a process that waits there leaves the processors to those that measure. */
FAKE_TEST(the_wait_for_others_is_a_rest)
{
    (void) job_up(0, 40, 400);
    fsbml_table_fini(); /* as if it had no peer yet, and there are none to measure with */
    first_with_fsbml = 2;
    ompi_mpi_state = OMPI_MPI_STATE_INIT_STARTED;
    fsbml_calibrate();
    const opal_progress_callback_t wait = progress_fn;
    CHECK(NULL != wait);
    uint64_t before = virtual_ns;
    CHECK(0 == wait() && virtual_ns - before < 1000); /* what is soon over is not made longer */
    virtual_ns += 16000000;
    before = virtual_ns;
    CHECK(0 == wait() && virtual_ns - before >= 1000000 && virtual_ns - before < 1100000);
    virtual_ns += 1000000000;
    before = virtual_ns;
    CHECK(0 == wait() && virtual_ns - before >= 50000000 && virtual_ns - before < 50001000);
    fsbml_table_want(FSBML_TABLE_USED); /* there is something to send */
    before = virtual_ns;
    CHECK(0 == wait() && virtual_ns - before < 1000);
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
    CHECK(0 == wait() && wait != progress_fn);
    job_down();
}

/* Nothing is sent, and the partner is not waited for. */
FAKE_TEST(without_measurement_rails_are_what_is_said_of_them)
{
    (void) job_up(0, 40, 400);
    mca_bml_fsbml_params.measure = false;
    fsbml_rails.rail[0].btl->btl_bandwidth = 1000;
    fsbml_rails.rail[1].btl->btl_bandwidth = 100;
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(has_gap(0, 8) && has_gap(1, 80) && !fit(0)->tight
          && NULL != strstr(fit(1)->reason, "not measured"));
    CHECK(fsbml_calibrated && !net_table && virtual_ns - start < 1000000);
    fsbml_loggp_t p;
    CHECK(fsbml_sched_model(fsbml_rails.sched, 1, &p) && 80 == p.G_ns_per_byte);
    job_down();
}

/* Of as many messages as bulk has: small ones would cost the processor more than what fast rails do. */
FAKE_TEST(streams_at_once_begin_with_messages_as_bulk_has)
{
    (void) job_up(0, 1, 20);
    ready();
    fsbml_calibrate();
    CHECK(has_gap(0, 1) && has_gap(1, 20));
    CHECK(net[0].begins > 60000 && net[1].begins > 6000 && net[1].begins < 6600);
    job_down();
}

/* Where rails carry bulk sooner, streams at once need not last as long. */
FAKE_TEST(fast_rails_are_asked_for_less_time)
{
    for (int slow = 0; slow < 2; ++slow) {
        (void) job_up(0, slow ? 4 : 0.8, slow ? 4 : 0.8);
        ready();
        fsbml_calibrate();
        CHECK(slow ? net[0].lasted_ns > 3500000 : net[0].lasted_ns < 2500000);
        job_down();
    }
}

/* By messages alone, of which the largest that does so counts. Of slow rails streams tell. */
FAKE_TEST(what_passes_at_once_is_found)
{
    for (int slow = 0; slow < 2; ++slow) {
        (void) job_up(0, slow ? 40 : 4, slow ? 80 : 8);
        net[0].at_once = 40000;
        net[1].at_once = 8192;
        ready();
        fsbml_calibrate();
        CHECK(has_gap(0, slow ? 40 : 4) && has_gap(1, slow ? 80 : 8));
        const double bytes = fit(0)->params.burst_ns / fit(0)->params.G_ns_per_byte;
        CHECK(slow ? 0 == bytes : bytes > 36800 && bytes < 37000);
        CHECK(0 == fit(1)->params.burst_ns);
        job_down();
    }
}

FAKE_TEST(rails_need_not_be_measured_together)
{
    (void) job_up(0, 40, 400);
    mca_bml_fsbml_params.together = false;
    ready();
    fsbml_calibrate();
    CHECK(has_gap(0, 40) && has_gap(1, 400) && 0 == fit(0)->together && 0 == fit(1)->together);
    job_down();
}

/* Each rail waits for the other's bytes: both are half as fast beside each other, and both stay. */
FAKE_TEST(a_shared_link_is_seen)
{
    (void) job_up(0, 40, 40);
    net[0].shares_with = 1;
    net[1].shares_with = 0;
    ready();
    fsbml_calibrate();
    CHECK(fit(0)->valid && fit(1)->valid);
    CHECK(fit(0)->together > 1.7 && fit(0)->together < 2.3 && fit(1)->together > 1.7
          && fit(1)->together < 2.3);
    CHECK(has_gap(0, 40 * fit(0)->together) && has_gap(1, 40 * fit(1)->together));
    job_down();
}

/* With the slow rail, the fast one is slower by more than the slow one gives: it is left out, but stays
 * connected. */
FAKE_TEST(a_rail_that_harms_is_left_out)
{
    mca_bml_fsbml_endpoint_t *ep = job_up(0, 40, 400);
    net[0].beside = net[1].beside = 2;
    ready();
    fsbml_calibrate();
    CHECK(has_gap(0, 40) && 1 == fit(0)->together);
    CHECK(!fit(1)->valid && fit(1)->reason == strstr(fit(1)->reason, "left out: with it the rails carry "));
    CHECK(fsbml_rails.rail[0].measured && !fsbml_rails.rail[1].measured && 3 == ep->live);
    CHECK(sends_table());
    job_down();
}

/* A rail that answers at first, and then never: it is given up once, with its reason, and the other is
 * measured. */
FAKE_TEST(a_rail_that_falls_silent_is_left)
{
    for (int dies_after = 1; dies_after < 200; dies_after += 13) {
        for (uint32_t dead = 0; dead < 2; ++dead) {
            mca_bml_fsbml_endpoint_t *ep = job_up(0, 40, 400);
            net[dead].dies_after = dies_after;
            ready();
            const uint64_t start = virtual_ns;
            fsbml_calibrate();
            CHECK(has_gap(1 - dead, 1 == dead ? 40 : 400));
            CHECK(!fit(dead)->valid && NULL != strstr(fit(dead)->reason, "was not answered"));
            CHECK(0 == (ep->live & fsbml_bit(dead)) && 0 != ep->live);
            CHECK(virtual_ns - start < 2500000000);
            CHECK(sends_table()); /* by the other one */
            job_down();
        }
    }
}

/* A partner that is paused answers on no rail, and then goes on: that costs time, and nothing else. */
static uint64_t pause_at_ns, pause_ns;

static void pause_partner(void)
{
    if (0 != pause_at_ns && virtual_ns > pause_at_ns) {
        net[0].stall_ns = net[1].stall_ns = pause_ns;
        pause_at_ns = 0;
    }
}

FAKE_TEST(a_partner_that_is_paused_costs_time)
{
    for (unsigned ms = 0; ms < 200; ms += 17) {
        mca_bml_fsbml_endpoint_t *ep = job_up(0, 40, 400);
        ready();
        const uint64_t start = virtual_ns;
        pause_at_ns = virtual_ns + ms * 1000000u;
        pause_ns = 3000000000u;
        net_also = pause_partner;
        fsbml_calibrate();
        CHECK(3 == ep->live && has_gap(0, 40) && has_gap(1, 400));
        CHECK(virtual_ns - start < 8000000000u);
        pause_at_ns = 0; /* it may have ended before */
        job_down();
    }
}

FAKE_TEST(without_any_answer_it_ends)
{
    (void) job_up(0, 40, 400);
    net[0].dies_after = net[1].dies_after = 20;
    ready();
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(!fit(0)->valid && NULL != fsbml_table());
    CHECK(fit(1)->valid && !fit(1)->tight && NULL != strstr(fit(1)->reason, "what BTL and device say"));
    CHECK(2
          == fsbml_endpoint_of_proc(peer)->live); /* the last one to fall silent stays: it is all there is */
    CHECK(NULL != strstr(fit(1)->reason, "fell silent") && virtual_ns - start < fsbml_calibrate_limit_ns(0));
    job_down();
    (void) job_up(0, 40, 400); /* nor does the mirror ever say that it is there */
    fsbml_calibrate();
    CHECK(NULL != fsbml_table() && 0 == fsbml_table()->n_rails
          && NULL != strstr(fsbml_table()->reason, "does not answer"));
    job_down();
}

/* A lost frame holds TCP up for 200 ms. Wherever that hits, what comes out is right. */
FAKE_TEST(a_stall_spoils_nothing)
{
    for (unsigned ms = 0; ms < 120; ms += 7) {
        (void) job_up(0, 40, 400);
        ready();
        stall_at_ns = virtual_ns + ms * 1000000u;
        net_also = stall;
        fsbml_calibrate();
        if (!has_gap(0, 40) || !has_gap(1, 400)) {
            fprintf(stderr, "stalled after %u ms\n", ms);
            CHECK(!"measured right");
        }
        job_down();
    }
}
