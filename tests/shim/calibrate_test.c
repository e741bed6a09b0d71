/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The measurement at start, on fake rails in virtual time: what comes out when all is well, when a rail stops
 * or stalls in its midst, when rails share a link, and when what the leader sends to the mirror is
 * damaged. */

#include <endian.h>
#include <math.h>
#include <sys/time.h>

#include "fake_net.h"

/* The mirror asks the run-time again for a table, with pauses. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!time_is_virtual) {
        return (int) syscall(SYS_nanosleep, wanted, left);
    }
    virtual_ns += (uint64_t) wanted->tv_nsec;
    return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
    if (!time_is_virtual) {
        return (int) syscall(SYS_gettimeofday, tv, tz);
    }
    ++other_clocks;
    memset(tv, 0, sizeof(*tv));
    return 0;
}

/* This process is rank 0 or 2 of three, which count as of one node; the peer is rank 1, and rank 0 else runs
 * no FSBML. */
static mca_bml_fsbml_endpoint_t *job_up(uint32_t me, double fast, double slow)
{
    static uint32_t epoch = 1;
    first_with_fsbml = 0 == me ? 0 : 1;
    ompi_process_info.my_name.jobid = 1;
    ompi_process_info.my_name.vpid = me;
    ompi_process_info.num_procs = 0 == me ? 2 : 3;
    ompi_process_info.num_local_peers = 2;
    ompi_process_info.nodename = "here";
    mca_bml_fsbml_params.calib = (fsbml_calib_config_t){
        .packets = 16, .size_step = 2048, .small_size = 1, .samples = 9, .budget_ns = 300000000};
    mca_bml_fsbml_params.probe_timeout_ns = 500000000;
    mca_bml_fsbml_params.together = true;
    mca_bml_fsbml_params.cache = FSBML_CACHE_OFF;
    mca_bml_fsbml_params.ledger = FSBML_LEDGER_OFF;
    memset(&peer_hello, 0, sizeof(peer_hello));
    mca_bml_fsbml_endpoint_t *ep = net_up(fast, slow);
    mca_bml_fsbml.epoch = ++epoch;
    mca_bml_fsbml.calibrated = false;
    peer_hello.n_rails = 2;
    for (uint32_t i = 0; i < 2; ++i) {
        peer_hello.rail[i].exclusivity = 10;
        memcpy(peer_hello.rail[i].key, mca_bml_fsbml.rail[i].key, sizeof(peer_hello.rail[i].key));
    }
    other_clocks = 0;
    return ep;
}

static void job_down(void)
{
    CHECK(0 == other_clocks); /* whatever they show: they can be set */
    net_down();
    first_with_fsbml = 0;
}

static const fsbml_fit_t *fit(uint32_t rail)
{
    static const fsbml_fit_t none;
    const fsbml_table_t *table = mca_bml_fsbml.table;
    for (uint32_t i = 0; NULL != table && i < table->n_rails; ++i) {
        if (0 == strcmp(table->rail[i].key, mca_bml_fsbml.rail[rail].key)) {
            return &table->rail[i].fit;
        }
    }
    return &none;
}

static void ready(void)
{
    uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC, FSBML_PACKET_READY, 1, 1};
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
}

/* The mirror gets it a little later. */
static bool sends_table(void)
{
    for (int i = 0; i < 10000 && !net_table; ++i) {
        opal_progress();
    }
    return net_table;
}

static bool has_gap(uint32_t rail, double ns_per_byte)
{
    const fsbml_fit_t *f = fit(rail);
    const bool good = f->valid && f->params.G_ns_per_byte > 0.95 * ns_per_byte
                      && f->params.G_ns_per_byte < 1.05 * ns_per_byte;
    if (!good) {
        fprintf(stderr, "rail %u: G %.2f ns/B instead of %.2f, %s\n", rail, f->params.G_ns_per_byte,
                ns_per_byte, f->reason);
    }
    return good;
}

static void rails_are_measured(void)
{
    (void) job_up(0, 40, 400);
    ready();
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(has_gap(0, 40) && has_gap(1, 400));
    CHECK(fit(0)->together >= 1 && fit(0)->together < 1.05 && fit(1)->together >= 1
          && fit(1)->together < 1.05);
    CHECK(virtual_ns - start < 400000000);
    CHECK(sends_table());
    job_down();
}

static void rails_need_not_be_measured_together(void)
{
    (void) job_up(0, 40, 400);
    mca_bml_fsbml_params.together = false;
    ready();
    fsbml_calibrate();
    CHECK(has_gap(0, 40) && has_gap(1, 400) && 0 == fit(0)->together && 0 == fit(1)->together);
    job_down();
}

/* Each rail waits for the other's bytes: both are half as fast beside each other, and both stay. */
static void a_shared_link_is_seen(void)
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
static void a_rail_that_harms_is_left_out(void)
{
    mca_bml_fsbml_endpoint_t *ep = job_up(0, 40, 400);
    net[0].beside = net[1].beside = 2;
    ready();
    fsbml_calibrate();
    CHECK(has_gap(0, 40) && 1 == fit(0)->together);
    CHECK(!fit(1)->valid && fit(1)->reason == strstr(fit(1)->reason, "left out: with it the rails carry "));
    CHECK(mca_bml_fsbml.rail[0].measured && !mca_bml_fsbml.rail[1].measured && 3 == ep->live);
    CHECK(sends_table());
    job_down();
}

/* A rail that answers at first, and then never: it is given up once, with its reason, and the other is
 * measured. */
static void a_rail_that_falls_silent_is_left(void)
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

static void a_partner_that_is_paused_costs_time(void)
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

static void without_any_answer_it_ends(void)
{
    (void) job_up(0, 40, 400);
    net[0].dies_after = net[1].dies_after = 20;
    ready();
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(!fit(0)->valid && NULL != mca_bml_fsbml.table);
    CHECK(fit(1)->valid && !fit(1)->tight && NULL != strstr(fit(1)->reason, "what BTL and device say"));
    CHECK(2
          == fsbml_endpoint_of_proc(peer)->live); /* the last one to fall silent stays: it is all there is */
    CHECK(NULL != strstr(fit(1)->reason, "fell silent") && virtual_ns - start < fsbml_calibrate_limit_ns(0));
    job_down();
    (void) job_up(0, 40, 400); /* nor does the mirror ever say that it is there */
    fsbml_calibrate();
    CHECK(NULL != mca_bml_fsbml.table && 0 == mca_bml_fsbml.table->n_rails
          && NULL != strstr(mca_bml_fsbml.table->reason, "does not answer"));
    job_down();
}

static uint64_t stall_at_ns;

static void stall(void)
{
    if (0 != stall_at_ns && virtual_ns > stall_at_ns) {
        net[1].stall_ns = 200000000;
        stall_at_ns = 0;
    }
}

/* A lost frame holds TCP up for 200 ms. Wherever that hits, what comes out is right. */
static void a_stall_spoils_nothing(void)
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

/* -------------------------------------------------------------------- mirror */

static unsigned char record[65536 + 64];
static size_t record_len; /* as it comes */
static uint32_t said_len; /* as the packet says */
static uint64_t send_at_ns;

static void send_record(void)
{
    static unsigned char bytes[sizeof(record)];
    if (0 == send_at_ns || virtual_ns < send_at_ns) {
        return;
    }
    uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC, FSBML_PACKET_TABLE, 1, 1, 0, 0, said_len, 0};
    memcpy(bytes, word, sizeof(word));
    memcpy(bytes + sizeof(word), record, record_len);
    send_at_ns = 0;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, bytes, sizeof(word) + record_len);
}

static const double MARK = 123.4375; /* a G that is found again in the record */

static void make_record(void)
{
    fsbml_table_t table = {.n_rails = 2, .pair = {1, 2}};
    for (uint32_t i = 0; i < 2; ++i) {
        fsbml_table_rail_t *r = &table.rail[i];
        memcpy(r->key, mca_bml_fsbml.rail[i].key, sizeof(r->key));
        memcpy(r->name, mca_bml_fsbml.rail[i].name, sizeof(r->name));
        r->fit =
            (fsbml_fit_t){.valid = true, .params = {.L_ns = 1e4, .o_s_ns = 1e3, .o_r_ns = 1e3, .g_ns = 2e3}};
        r->fit.params.G_ns_per_byte = MARK;
    }
    const long len = fsbml_table_pack(&table, record, sizeof(record));
    CHECK(len > 0);
    record_len = len > 0 ? (size_t) len : 0;
    said_len = (uint32_t) record_len;
}

/* As core/wire.hpp has it: of all but the four bytes at 12. */
static void sign_record(void)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < record_len; ++i) {
        for (int bit = 0; bit < 8 && (i < 12 || i >= 16); ++bit) {
            crc = (0 == bit ? crc ^ record[i] : crc);
            crc = crc >> 1 ^ (0 != (crc & 1) ? UINT32_C(0xedb88320) : 0);
        }
    }
    crc = htole32(~crc);
    memcpy(record + 12, &crc, sizeof(crc));
}

/* Puts another number in the place of the first G. */
static void replace_mark(double by)
{
    for (size_t i = 0; i + sizeof(MARK) <= record_len; ++i) {
        if (0 == memcmp(record + i, &MARK, sizeof(MARK))) {
            memcpy(record + i, &by, sizeof(by));
            sign_record();
            return;
        }
    }
    CHECK(!"the record has the mark");
}

enum {
    WHOLE,
    SIGNED_ANEW,
    CUT,
    CUT_BEFORE_ITS_END,
    EMPTY,
    LONGER,
    VERSION,
    NOT_A_NUMBER,
    NEGATIVE,
    ENDLESS,
    DAMAGED,
    N_RECORDS
};

static void spoil(int how)
{
    switch (how) {
    case SIGNED_ANEW:
        replace_mark(MARK);
        break;
    case CUT:
        said_len = (uint32_t) (record_len -= 7);
        break;
    case CUT_BEFORE_ITS_END:
        record_len -= 7;
        break;
    case EMPTY:
        said_len = 0;
        break;
    case LONGER:
        said_len = UINT32_MAX;
        break;
    case VERSION:
        record[4] ^= 0x40;
        sign_record();
        break;
    case NOT_A_NUMBER:
        replace_mark((double) NAN);
        break;
    case NEGATIVE:
        replace_mark(-1.0);
        break;
    case ENDLESS:
        replace_mark((double) INFINITY);
        break;
    case DAMAGED:
        record[record_len / 2] ^= 1;
        break;
    default:
        break;
    }
}

/* A table that is not whole is not used, and nobody waits for another: it is asked for from the run-time. */
static void only_whole_tables_are_used(void)
{
    for (int how = WHOLE; how < N_RECORDS; ++how) {
        (void) job_up(2, 40, 400);
        make_record();
        spoil(how);
        send_at_ns = virtual_ns + 1000000;
        net_also = send_record;
        const uint64_t start = virtual_ns;
        fsbml_calibrate();
        const bool good = how <= SIGNED_ANEW;
        if (good != fit(0)->valid || good != fit(1)->valid) {
            fprintf(stderr, "record %d is%s used\n", how, good ? " not" : "");
            CHECK(!"only whole tables are used");
        }
        CHECK(0 == send_at_ns && virtual_ns - start < 2500000000 + (good ? 0 : fsbml_calibrate_limit_ns(0)));
        CHECK(good || mca_bml_fsbml.calibrated);
        job_down();
    }
}

/* A leader that asks, and then is gone. */
static void a_mirror_does_not_wait_for_ever(void)
{
    (void) job_up(2, 40, 400);
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(virtual_ns - start
          < 2500000000 + 2 * fsbml_calibrate_limit_ns(0)); /* for the leader, then for its table */
    CHECK(!fit(0)->valid);
    job_down();
}

static int requests;

static void ask_for_much(void)
{
    if (requests > 0 && 0 == --requests % 50) { /* a different one each time */
        uint32_t word[N_WORDS] = {
            FSBML_PACKET_MAGIC, FSBML_PACKET_REQUEST, 1, 1, 3200u - (uint32_t) requests, 1024, 8192, 1000};
        fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
        word[W_RANK] = 3; /* nobody whom it measures with */
        word[W_SEQ] += 1000;
        fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
    }
    net_messages = 0;
    if (0 == requests) {
        send_record();
    }
}

static void a_mirror_serves_its_leader_until_the_table(void)
{
    (void) job_up(2, 40, 400);
    make_record();
    requests = 1000;
    send_at_ns = virtual_ns;
    net_also = ask_for_much;
    fsbml_calibrate();
    CHECK(0 == requests && fit(0)->valid && fit(1)->valid);
    job_down();
}

static void ask_for_streams(void)
{
    static uint32_t seq;
    if (requests > net_rates && (int) seq <= net_rates) {
        const uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC,
                                        FSBML_PACKET_REQUEST | FSBML_PACKET_STREAMED << 8,
                                        1,
                                        1,
                                        ++seq,
                                        24000,
                                        0,
                                        8000000};
        fake_deliver(&fake[seq % 2], FSBML_TAG_PROBE, (void *) word, sizeof(word));
    }
    if (requests == net_rates) {
        send_record();
    }
}

static void a_mirror_streams_when_it_is_asked(void)
{
    (void) job_up(2, 40, 400);
    make_record();
    requests = 4;
    send_at_ns = virtual_ns;
    net_also = ask_for_streams;
    fsbml_calibrate();
    CHECK(requests == net_rates && fit(0)->valid && fit(1)->valid);
    CHECK(net[0].streamed > 100000 && net[1].streamed > 10000);
    job_down();
}

int main(void)
{
    static void (*const test[])(void) = {
        rails_are_measured,
        rails_need_not_be_measured_together,
        a_shared_link_is_seen,
        a_rail_that_harms_is_left_out,
        a_rail_that_falls_silent_is_left,
        a_partner_that_is_paused_costs_time,
        without_any_answer_it_ends,
        a_stall_spoils_nothing,
        only_whole_tables_are_used,
        a_mirror_does_not_wait_for_ever,
        a_mirror_serves_its_leader_until_the_table,
        a_mirror_streams_when_it_is_asked,
    };
    return fake_main(test, sizeof(test) / sizeof(test[0]));
}
