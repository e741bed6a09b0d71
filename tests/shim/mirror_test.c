/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement at start as the process has it that does not lead: what it does when the table that it gets
 * is damaged, or never comes, and what it sends when it is asked. */

#include <endian.h>
#include <math.h>

#include "fake_kernel.h"
#include "fake_start.h"

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

static bool answers_differ; /* what the mirror sends is 64 times as fast */

static void make_record(void)
{
    fsbml_table_t table = {.n_rails = 2, .pair = {1, 2}};
    for (uint32_t i = 0; i < 2; ++i) {
        fsbml_table_rail_t *r = &table.rail[i];
        memcpy(r->key, fsbml_rails.rail[i].key, sizeof(r->key));
        memcpy(r->name, fsbml_rails.rail[i].name, sizeof(r->name));
        memcpy(r->pair, table.pair, sizeof(r->pair));
        r->fit =
            (fsbml_fit_t){.valid = true, .params = {.L_ns = 1e4, .o_s_ns = 1e3, .o_r_ns = 1e3, .g_ns = 2e3}};
        r->fit.params.G_ns_per_byte = MARK;
        if (answers_differ) {
            r->fit.back = (fsbml_loggp_t){.o_s_ns = 1e3, .g_ns = 2e3, .G_ns_per_byte = MARK / 64};
        }
    }
    const long len = fsbml_table_pack(&table, record, sizeof(record));
    CHECK(len > 0);
    record_len = len > 0 ? (size_t) len : 0;
    said_len = (uint32_t) record_len;
}

/* As core/formats/wire.hpp has it: of all but the four bytes at 12. */
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

/* A table that is not whole is not used, and the mirror waits for no other: it is asked for from the
 * run-time. */
FAKE_TEST(only_whole_tables_are_used)
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
        CHECK(good || fsbml_calibrated);
        job_down();
    }
}

/* A leader that asks, and then is gone. */
FAKE_TEST(a_mirror_does_not_wait_for_ever)
{
    (void) job_up(2, 40, 400);
    const uint64_t start = virtual_ns;
    fsbml_calibrate();
    CHECK(virtual_ns - start
          < 2500000000 + 2 * fsbml_calibrate_limit_ns(0)); /* for the leader, then for its table */
    CHECK(!fit(0)->valid);
    job_down();
}

/* The mirror's messages go the other way: by those parameters it chooses, cuts, and answers tools. */
FAKE_TEST(the_mirror_uses_the_other_direction)
{
    size_t quantum[2];
    for (int back = 0; back < 2; ++back) {
        kernel_connects();
        (void) job_up(2, 40, 400);
        answers_differ = 0 != back;
        make_record();
        answers_differ = false;
        send_at_ns = virtual_ns + 1000000;
        net_also = send_record;
        fsbml_calibrate();
        for (uint32_t i = 0; i < 2 && NULL != fsbml_table(); ++i) {
            fsbml_loggp_t told;
            CHECK(fsbml_table_params(i, &told) && (back ? MARK / 64 : MARK) == told.G_ns_per_byte
                  && told.G_ns_per_byte == fsbml_rails.rail[i].model.G_ns_per_byte);
        }
        quantum[back] = fsbml_rails.group[0]->pseudo.btl_max_send_size;
        job_down();
        sockets.possible = false;
    }
    CHECK(quantum[1] > quantum[0]); /* faster bytes, and as long a gap */
}

static int requests;

static void ask_for_much(void)
{
    if (requests > 0 && 0 == --requests % 50) { /* a different one each time */
        uint32_t word[N_WORDS] = {
            FSBML_PACKET_MAGIC, FSBML_PACKET_REQUEST, 1, 1, 3200u - (uint32_t) requests, 1024, 8192, 1000};
        fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
        word[W_RANK] = 3; /* not its partner */
        word[W_SEQ] += 1000;
        fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
    }
    net_messages = 0;
    if (0 == requests) {
        send_record();
    }
}

FAKE_TEST(a_mirror_serves_its_leader_until_the_table)
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

FAKE_TEST(a_mirror_streams_when_it_is_asked)
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
