/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in pieces: each arrives once, whole and right, and is complete once, over rails of random speeds
 * that refuse at random; what cannot be a piece is dropped. This process is both ends. */

#include "fake_pml.h"

#include <endian.h>

#include "pieces/pieces.h"

enum {
    MATCH = FSBML_TAG_MATCH,
    HEADER = 14, /* as ob1's */
    EAGER = 65536,
    ROUNDS = 60,
    MESSAGES = 100,
    N_WORDS = FSBML_PIECE_HEADER / 4
};

static uint64_t seed;
static opal_datatype_t type;
static mca_bml_base_btl_t *bml_btl;

/* Up to `n`, 0 included. */
static uint64_t up_to(uint64_t n)
{
    return (next_random(&seed) >> 16) % (n + 1);
}

/* ------------------------------------------------------------------ the messages */

typedef struct message_t {
    size_t bytes; /* without the header */
    unsigned char *payload;
    int arrived, completed;
} message_t;

static message_t message[MESSAGES];
static int n_messages;

static unsigned char byte_of(uint32_t number, size_t at)
{
    return (unsigned char) (number * 167 + at * 31 + (at >> 8));
}

static void received(FSBML_RECV_PARAMS(btl, des))
{
    const mca_btl_base_segment_t *segment = des->des_segments;
    const unsigned char *at = segment->seg_addr.pval;
    uint32_t number;
    memcpy(&number, at, sizeof(number));
    CHECK(1 == des->des_segment_count && number < (uint32_t) n_messages);
    CHECK(&fsbml_rails.group[0]->pseudo == btl);
    message_t *m = &message[number < (uint32_t) n_messages ? number : 0];
    CHECK(segment->seg_len == HEADER + m->bytes);
    size_t wrong = 0;
    for (size_t i = 0; i < m->bytes && segment->seg_len == HEADER + m->bytes; ++i) {
        wrong += at[HEADER + i] != byte_of(number, i);
    }
    CHECK(0 == wrong);
    m->arrived++;
}

static void completed(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, int status)
{
    message_t *m = des->des_cbdata;
    CHECK(&fsbml_rails.group[0]->pseudo == btl && bml_btl->btl_endpoint == endpoint);
    CHECK(OPAL_SUCCESS == status && bml_btl == des->des_context);
    m->completed++;
}

/* As ob1 begins one: in place, or packed; its buffer is not its own any more once it is complete. */
static int send_one(size_t bytes, bool in_place)
{
    const uint32_t number = (uint32_t) n_messages++;
    message_t *m = &message[number];
    *m = (message_t){.bytes = bytes, .payload = malloc(bytes + 1)};
    for (size_t i = 0; i < bytes; ++i) {
        m->payload[i] = byte_of(number, i);
    }
    mca_btl_base_descriptor_t *des = NULL;
    const uint32_t flags = MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
    if (in_place) {
        opal_convertor_t convertor = fake_convertor(m->payload, bytes, &type);
        size_t size = bytes;
        mca_bml_base_prepare_src(bml_btl, &convertor, MCA_BTL_NO_ORDER, HEADER, &size, flags, &des);
        CHECK(NULL != des && size == bytes);
    } else {
        mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, HEADER + bytes, flags);
        memcpy((char *) des->des_segments[0].seg_addr.pval + HEADER, m->payload, bytes);
    }
    memset(des->des_segments[0].seg_addr.pval, 0, HEADER);
    memcpy(des->des_segments[0].seg_addr.pval, &number, sizeof(number));
    des->des_cbfunc = completed;
    des->des_cbdata = m;
    const int rc = mca_bml_base_send(bml_btl, des, MATCH);
    CHECK(OMPI_SUCCESS == rc || 1 == rc);
    m->completed += 1 == rc;
    return rc;
}

/* ------------------------------------------------------------------ the way */

static int n_pieces, n_all;

/* What the rail was given first reaches the receiver, and is then complete; false: there is nothing. */
static bool arrive(fake_btl_t *rail)
{
    static char bytes[2 * EAGER];
    if (0 == rail->n_queue) {
        return false;
    }
    const fake_des_t *des = rail->queue[0].des;
    const mca_btl_base_tag_t tag = rail->queue[0].tag;
    size_t n = 0;
    for (size_t i = 0; i < des->super.des_segment_count; ++i) {
        memcpy(bytes + n, des->segment[i].seg_addr.pval, des->segment[i].seg_len);
        n += des->segment[i].seg_len;
    }
    n_pieces += FSBML_TAG_PIECE == tag;
    (void) fake_complete(rail, OPAL_SUCCESS);
    fake_deliver(rail, tag, bytes, n);
    return true;
}

static void all_arrive(int n)
{
    for (int empty = 0; empty < n;) {
        empty = arrive(&fake[up_to((uint64_t) n - 1)]) ? 0 : empty + 1;
        for (int i = 0; empty > 0 && i < n; ++i) {
            empty = 0 != fake[i].n_queue ? 0 : empty;
        }
        pass_time(1);
    }
}

static void begin(int n, uint64_t round_seed)
{
    seed = round_seed;
    n_messages = n_pieces = 0;
    ompi_process_info.my_name.jobid = 1;
    ompi_process_info.my_name.vpid = 0;
    peer_flags = FSBML_HELLO_PIECES;
    mca_bml_fsbml_params.pieces = true;
    for (int i = 0; i < n; ++i) {
        fake_construct(&fake[i], EAGER, 2 * EAGER, 10);
        fake[i].random = next_random(&seed);
    }
    world_up(n);
    CHECK(OMPI_SUCCESS == mca_bml.bml_register(MATCH, received, NULL));
    bml_btl = eager_of(peer_up());
    all_answer(n);
}

static void set_gap(uint32_t rail, double gap)
{
    const fsbml_loggp_t model = LOGGP(10e3, 2e3, 3e3, gap);
    CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, rail, &model));
}

static void end(int n)
{
    for (int i = 0; i < n_messages; ++i) {
        free(message[i].payload);
    }
    world_down(n);
    mca_bml_fsbml_params.pieces = false;
    peer_flags = 0;
}

/* ------------------------------------------------------------------ tests */

static void one_round(uint64_t round_seed)
{
    const int n = 2 + (int) (round_seed % 4);
    begin(n, round_seed);
    for (int i = 0; i < n; ++i) {
        set_gap((uint32_t) i, 1.0 + (double) up_to(100));
        fake[i].chance = 0 == up_to(1) ? (unsigned) up_to(100) : 0;
    }
    while (n_messages < MESSAGES) {
        (void) send_one(up_to(3) > 0 ? up_to(EAGER) : up_to(4096), 0 != up_to(1));
        virtual_ns += up_to(3000000);
        for (uint64_t k = up_to(4); k > 0; --k) {
            (void) arrive(&fake[up_to((uint64_t) n - 1)]);
        }
    }
    for (int i = 0; i < n; ++i) {
        fake[i].chance = 0;
    }
    all_arrive(n);
    for (int i = 0; i < n_messages; ++i) {
        CHECK(1 == message[i].arrived && 1 == message[i].completed);
    }
    n_all += n_pieces;
    end(n);
}

FAKE_TEST(each_message_arrives_once)
{
    const int before = failures;
    for (uint64_t s = 1; s <= ROUNDS && failures == before; ++s) {
        one_round(s);
        if (failures != before) {
            fprintf(stderr, "with the seed %llu\n", (unsigned long long) s);
        }
    }
    CHECK(n_all > ROUNDS * MESSAGES);
}

/* Two rails alike, one message: half on each, complete when both are. */
FAKE_TEST(a_message_is_complete_when_its_pieces_are)
{
    begin(2, 1);
    set_gap(1, 40);
    CHECK(OMPI_SUCCESS == send_one(EAGER, true));
    CHECK(1 == fake[0].n_queue && 1 == fake[1].n_queue && FSBML_TAG_PIECE == fake[0].queue[0].tag);
    CHECK(arrive(&fake[1]) && 0 == message[0].completed && 0 == message[0].arrived);
    CHECK(arrive(&fake[0]) && 1 == message[0].completed && 1 == message[0].arrived);
    end(2);
}

/* The first rail is too slow to have a piece. */
FAKE_TEST(the_first_piece_need_not_be_the_first_rails)
{
    begin(3, 1);
    set_gap(0, 40000);
    set_gap(1, 40);
    set_gap(2, 40);
    CHECK(OMPI_SUCCESS == send_one(EAGER, true));
    CHECK(0 == fake[0].n_queue && 1 == fake[1].n_queue && 1 == fake[2].n_queue);
    all_arrive(3);
    CHECK(2 == n_pieces && 1 == message[0].completed && 1 == message[0].arrived);
    end(3);
}

static void check_whole(size_t bytes)
{
    const int before = fake[0].n_sent + fake[1].n_sent;
    (void) send_one(bytes, true);
    CHECK(before + 1 == fake[0].n_sent + fake[1].n_sent);
    all_arrive(2);
    CHECK(0 == n_pieces && 1 == message[n_messages - 1].arrived && 1 == message[n_messages - 1].completed);
}

FAKE_TEST(others_go_whole)
{
    begin(2, 1);
    set_gap(1, 40);
    check_whole(FSBML_CUT_LEAST - HEADER - 1);
    ((mca_bml_fsbml_endpoint_t *) bml_btl->btl_endpoint)->knows_pieces = false;
    check_whole(EAGER);
    end(2);
    begin(2, 1);
    set_gap(1, 40);
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, EAGER, MCA_BTL_TAG_PML + 6)); /* a fragment */
    CHECK(1 == fake[0].n_sent + fake[1].n_sent && 0 == n_pieces);
    for (int i = 0; i < 2; ++i) {
        (void) fake_complete(&fake[i], OPAL_SUCCESS);
    }
    end(2);
    begin(2, 1);
    set_gap(1, 4000); /* too slow to gain anything */
    check_whole(EAGER);
    end(2);
}

/* A piece of this process' rank with these words. */
static void give(uint32_t from, uint32_t number, uint32_t offset, uint32_t total, uint32_t tag, size_t bytes)
{
    static unsigned char piece[FSBML_PIECE_HEADER + 1024];
    const uint32_t wire[N_WORDS] = {htole32(from), htole32(number), htole32(offset), htole32(total),
                                    htole32(tag)};
    memcpy(piece, wire, sizeof(wire));
    memset(piece + sizeof(wire), 0, bytes);
    fake_deliver(&fake[0], FSBML_TAG_PIECE, piece, FSBML_PIECE_HEADER + bytes);
}

FAKE_TEST(what_cannot_be_a_piece_is_dropped)
{
    begin(2, 1);
    n_messages = 1;
    message[0] = (message_t){.bytes = 0};
    give(1, 7, 0, HEADER, FSBML_TAG_PIECE, 4); /* pieces of pieces */
    give(1, 7, 0, HEADER, MATCH, 0);
    give(1, 7, 0, HEADER, MATCH, HEADER + 1);
    give(1, 7, HEADER, HEADER, MATCH, 1);
    give(1, 7, UINT32_MAX, HEADER, MATCH, 8);
    give(1, 7, 4, HEADER, MCA_BTL_TAG_MAX, 8);
    give(1, 7, 0, UINT32_MAX, MATCH, 8);
    fake_deliver(&fake[0], FSBML_TAG_PIECE, "short", 5);
    CHECK(0 == message[0].arrived);
    give(1, 7, 4, HEADER, MATCH, HEADER - 4); /* a true one, which waits for the rest */
    give(1, 7, 0, HEADER + 8, MATCH, 8);      /* of another length */
    give(1, 7, 0, HEADER, MATCH + 1, 4);
    give(1, 7, 0, HEADER, MATCH, 8); /* more than is left */
    give(2, 7, 0, HEADER, MATCH, 4); /* of another process; it stays until the end */
    CHECK(0 == message[0].arrived);
    give(1, 7, 0, HEADER, MATCH, 4);
    CHECK(1 == message[0].arrived);
    end(2);
}
