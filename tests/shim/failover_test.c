/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed messages on rails that fail at any moment: before a frame is sent, within, after it was delivered,
 * before its acknowledgement. The peer's end is the core's. Each message arrives once, and is completed once.
 *   failover_test [SEED [STEPS [SEEDS]]]     one random schedule, such as one that failed; 0: so many */
#define FAKE_OWN_MAIN
#include "fake_far.h"

#include <endian.h>
#include <inttypes.h>
#include <malloc.h>

#include "pieces/pieces.h"

/* ------------------------------------------------------------------ messages */

static void fill(unsigned char *at, size_t bytes, uint32_t n)
{
    memcpy(at, &n, sizeof(n));
    for (size_t i = sizeof(n); i < bytes; ++i) {
        at[i] = (unsigned char) (n * 31 + i);
    }
}

static void check(int way, const unsigned char *at, size_t bytes)
{
    uint32_t n = 0;
    bool good = bytes >= LEAST_BYTES;
    memcpy(&n, at, sizeof(n));
    for (size_t i = sizeof(n); good && i < bytes; ++i) {
        good = (unsigned char) (n * 31 + i) == at[i];
    }
    CHECK(good && n < far_end.sent[way]);
    if (good && n < MOST_MESSAGES) {
        CHECK(0 == far_end.arrived[way][n]);
        far_end.arrived[way][n] = 1;
        ++far_end.n_arrived[way];
    }
}

static void received(FSBML_RECV_PARAMS(btl, des))
{
#ifdef FSBML_OMPI_4
    CHECK(TAG == recv_tag);
    (void) recv_data;
#else
    CHECK(TAG == des->tag);
#endif
    CHECK(btl == &fsbml_rails.group[0]->pseudo);
    check(1, des->des_segments[0].seg_addr.pval, des->des_segments[0].seg_len);
}

static void completed(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, int status)
{
    (void) endpoint;
    CHECK(OPAL_SUCCESS == status && btl == &fsbml_rails.group[0]->pseudo && NULL != des->des_context);
    ++far_end.n_completed;
}

/* To the peer, in each of the ways in which the PML sends. */
static void send_there(mca_bml_base_btl_t *bml_btl)
{
    mca_btl_base_descriptor_t *des = NULL;
    const uint32_t flags = MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
    static unsigned char bytes[MOST_BYTES];
    size_t size = LEAST_BYTES + chance(MOST_BYTES - LEAST_BYTES), start = 0;
    const uint32_t n = far_end.sent[0];
    fill(bytes, size, n);
    opal_convertor_t data = fake_convertor(bytes + 16, size - 16, &type);
    if (0 == chance(3)) {
        ++far_end.sent[0];
        if (OMPI_SUCCESS
            == mca_bml_base_sendi(bml_btl, &data, bytes, 16, size - 16, MCA_BTL_NO_ORDER, flags, TAG, &des)) {
            ++far_end.n_completed;
            return;
        }
        --far_end.sent[0];
        if (NULL != des) {
            mca_bml_base_free(bml_btl, des);
        }
        (void) opal_convertor_set_position(&data, &start);
    }
    if (0 == chance(2)) {
        size_t payload = size - 16;
        fsbml_flow.mixed_until_ns = UINT64_MAX;
        fsbml_flow.short_until_ns[FSBML_FLOW_SMALL] = 0;
        mca_bml_base_prepare_src(bml_btl, &data, MCA_BTL_NO_ORDER, 16, &payload, flags, &des);
        CHECK(NULL != des && size - 16 == payload);
        CHECK((payload >= FSBML_FLOW_URGENT) == (0 != fsbml_flow.short_until_ns[FSBML_FLOW_SMALL]));
        memcpy(des->des_segments[0].seg_addr.pval, bytes, 16);
    } else {
        mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, size, flags);
        memcpy(des->des_segments[0].seg_addr.pval, bytes, size);
    }
    des->des_cbfunc = completed;
    ++far_end.sent[0];
    CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
}

/* The rest of a message of the peer's that is cut; it follows by any rail that takes it. */
static far_message_t *rest;

static bool send_by(uint32_t path, far_message_t *m)
{
    fsbml_delivery_seal_t seal;
    const bool goes = 0 == fsbml_delivery_send(far_end.end, path, virtual_ns, 1000000, &m->record, &seal);
    if (goes) {
        put_back(&seal, m);
    }
    return goes;
}

static void send_rest(void)
{
    if (NULL != rest && send_by((uint32_t) chance(RAILS), rest)) {
        rest = NULL;
    }
}

static far_message_t *far_message(uint8_t tag, const fsbml_piece_t *piece, const void *bytes, size_t n)
{
    far_message_t *m = calloc(1, sizeof(*m));
    const uint32_t wire[] = {htole32(piece->from), htole32(piece->number), htole32(piece->offset),
                             htole32(piece->total), htole32(piece->tag)};
    const size_t header = FSBML_TAG_PIECE == tag ? sizeof(wire) : 0;
    m->record.tag = tag;
    m->record.bytes = (uint32_t) (header + n);
    memcpy(m->bytes, wire, header);
    memcpy(m->bytes + header, bytes, n);
    return m;
}

static void send_back(void)
{
    unsigned char bytes[MOST_BYTES];
    const size_t n = LEAST_BYTES + chance(MOST_BYTES - FSBML_PIECE_HEADER - LEAST_BYTES);
    fsbml_piece_t piece = {.from = 1, .number = far_end.sent[1], .total = (uint32_t) n, .tag = TAG};
    const bool is_cut = fsbml_pieces_are_on() && 0 == chance(2);
    const size_t first = is_cut ? 1 + chance(n - 1) : n;
    if (NULL != rest) {
        return;
    }
    fill(bytes, n, far_end.sent[1]);
    far_message_t *m = far_message(is_cut ? FSBML_TAG_PIECE : TAG, &piece, bytes, first);
    if (!send_by((uint32_t) chance(RAILS), m)) {
        free(m);
        return;
    }
    ++far_end.sent[1];
    if (first < n) {
        piece.offset = (uint32_t) first;
        rest = far_message(FSBML_TAG_PIECE, &piece, bytes + first, n - first);
        send_rest();
    }
}

/* Messages some pieces of which have come to the peer. */
static struct {
    uint32_t number;
    size_t come;
    unsigned char bytes[MOST_BYTES];
} whole[QUEUED];

static uint64_t n_pieces;

static void came_piece(const unsigned char *at, size_t bytes)
{
    uint32_t wire[FSBML_PIECE_HEADER / 4];
    memcpy(wire, at, sizeof(wire));
    const uint32_t number = le32toh(wire[1]), offset = le32toh(wire[2]), total = le32toh(wire[3]);
    const size_t n = bytes - sizeof(wire), i = number % QUEUED;
    CHECK(bytes > sizeof(wire) && 0 == le32toh(wire[0]) && TAG == le32toh(wire[4]));
    CHECK(total <= MOST_BYTES && offset < total && n < total && n <= total - offset);
    CHECK(0 == whole[i].come || number == whole[i].number);
    memcpy(whole[i].bytes + offset, at + sizeof(wire), n);
    whole[i].number = number;
    whole[i].come += n;
    ++n_pieces;
    if (whole[i].come >= total) {
        check(0, whole[i].bytes, whole[i].come);
        whole[i].come = 0;
    }
}

static void came(uint8_t tag, const unsigned char *at, size_t bytes)
{
    CHECK(TAG == tag || (FSBML_TAG_PIECE == tag && fsbml_pieces_are_on()));
    if (TAG == tag) {
        check(0, at, bytes);
    } else {
        came_piece(at, bytes);
    }
}

static void step(mca_bml_base_btl_t *bml_btl, bool quiet)
{
    const int rail = (int) chance(RAILS);
    switch (chance(quiet ? 8 : 40)) {
    case 0 ... 2:
        leaves(rail);
        break;
    case 3 ... 5:
        arrives(rail);
        break;
    case 6:
        act_there();
        send_rest();
        break;
    case 7:
        pass_time((unsigned) chance(20));
        break;
    case 8:
        far_end.cut[rail] = rail > 0 && !far_end.cut[rail]; /* one stays */
        break;
    case 9:
        if (rail > 0 && 0 == chance(2)) {
            breaks(rail);
        }
        break;
    case 10:
        fake[rail].chance = 0 == chance(2) ? 100 : 0;
        break;
    case 11 ... 20:
        send_there(bml_btl);
        break;
    case 21 ... 25:
        send_back();
        break;
    default:
        leaves(rail);
        arrives(rail);
        break;
    }
}

static bool all_is_there(void)
{
    return NULL == rest && far_end.n_arrived[0] == far_end.sent[0] && far_end.n_arrived[1] == far_end.sent[1]
           && far_end.n_completed == far_end.sent[0] && fsbml_delivery_idle(far_end.end)
           && fsbml_delivery_idle(fsbml_framed_of(done.endpoint)->delivery);
}

static uint64_t n_messages, n_closed, n_again;

static void play(uint64_t seed, int steps)
{
    const uint32_t job = 1 + seed / 2 % 2; /* the peer is of job 1 */
    const uint16_t handles = (uint16_t) (seed % 5);
    memset(&far_end, 0, sizeof(far_end));
    far_came = came;
    far_end.random = 0x9e3779b97f4a7c15u * (seed + 1);
    my_job = job;
    ompi_process_info.my_name.vpid = 0;
    ompi_process_info.num_procs = 2;
    peer_flags = FSBML_HELLO_FRAMES | FSBML_HELLO_PIECES;
    peer_hello.n_rails = RAILS;
    mca_bml_fsbml_params.failover = true;
    mca_bml_fsbml_params.pieces = 0 != seed % 2;
    for (int i = 0; i < RAILS; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
        fake[i].super.btl_flags &= ~(uint32_t) MCA_BTL_FLAGS_SEND_INPLACE; /* there are no types here */
    }
    world_up(RAILS);
    CHECK(OMPI_SUCCESS == mca_bml.bml_register(TAG, received, NULL));
    for (uint16_t i = 0; i < handles; ++i) {
        CHECK(i == fsbml_framed_handle()); /* of others */
    }
    peers_handle = 7;
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    done.endpoint = bml_btl->btl_endpoint;
    const uint64_t own = (uint64_t) job << 32 ^ fsbml_life, other = (uint64_t) 1 << 32 ^ 1 << 8 ^ fsbml_life;
    const fsbml_delivery_peer_t ends = {.own_life = other,
                                        .peer_life = own,
                                        .own_handle = peers_handle,
                                        .peer_handle = handles,
                                        .paths = RAILS};
    fsbml_delivery_limits(&far_end.limits);
    far_end.end = fsbml_delivery_create(&far_end.limits, &ends);
    send_there(bml_btl); /* before any path is live */
    pass_time(10);       /* a peer of another job is asked later */
    all_answer(RAILS);
    const fsbml_loggp_t model = LOGGP(10e3, 2e3, 3e3, 40);
    for (uint32_t i = 0; i < RAILS; ++i) {
        fsbml_delivery_path_up(far_end.end, i, virtual_ns);
        CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, i, &model));
    }
    for (int i = 0; i < steps; ++i) {
        step(bml_btl, false);
    }
    for (int i = 0; i < RAILS; ++i) {
        far_end.cut[i] = false;
        fake[i].chance = 0;
    }
    for (int i = 0; i < 200000 && !all_is_there(); ++i) {
        step(bml_btl, true);
    }
    if (!all_is_there() || failures > 0) {
        fprintf(stderr, "seed %" PRIu64 ", %d steps: %u of %u there, %u of %u back, %u completed\n", seed,
                steps, far_end.n_arrived[0], far_end.sent[0], far_end.n_arrived[1], far_end.sent[1],
                far_end.n_completed);
        ++failures;
    }
    for (int i = 0; i < RAILS; ++i) {
        while (fake[i].n_queue > 0) {
            leaves(i);
        }
        for (frame_t *f; NULL != (f = pop(&far_end.there[i])) || NULL != (f = pop(&far_end.back[i]));) {
            free(f);
        }
    }
    fsbml_delivery_counters_t c;
    fsbml_delivery_counters(fsbml_framed_of(done.endpoint)->delivery, &c);
    n_messages += far_end.sent[0] + far_end.sent[1];
    n_closed += c.closed;
    n_again += c.sent_again;
    uint64_t counted = 0;
    for (uint32_t i = 0; i < RAILS; ++i) {
        counted += fsbml_failover_counters(i).sent_again;
    }
    CHECK(counted == c.sent_again);
    fsbml_delivery_destroy(far_end.end);
    world_down(RAILS);
    mca_bml_fsbml_params.failover = mca_bml_fsbml_params.pieces = false;
    peer_flags = peers_handle = 0;
    my_job = 1;
}

static uint64_t only_seed;
static int n_steps = 3000;
static uint64_t n_seeds = 100;

FAKE_TEST(each_message_arrives_once_whatever_fails)
{
    const uint64_t first = 0 != only_seed ? only_seed : 1, last = 0 != only_seed ? only_seed : n_seeds;
    for (uint64_t seed = first; seed <= last && 0 == failures; ++seed) {
        play(seed, n_steps);
    }
    printf("%" PRIu64 " messages, %" PRIu64 " pieces, %" PRIu64 " failures of paths, %" PRIu64
           " messages sent again\n",
           n_messages, n_pieces, n_closed, n_again);
    CHECK(n_closed > 0 && n_again > 0 && (n_pieces > 0 || 1 != first % 4));
}

static size_t in_use(void)
{
    const struct mallinfo2 is = mallinfo2();
    return is.uordblks + is.hblkhd;
}

/* Memory of large messages is kept for the next ones, 8 MiB at most; that of small ones is not. */
FAKE_TEST(memory_is_kept_within_bounds)
{
    enum { N = 40, MIB = 1 << 20 };
    fsbml_message_t *m[N];
    fsbml_message_keep_memory(true);
    const size_t before = in_use();
    for (size_t bytes = 1; bytes < 2 * MIB; bytes += 1 + bytes / 7) {
        m[0] = fsbml_message_make(NULL, bytes, 0);
        CHECK(m[0]->room >= bytes && m[0]->room - bytes <= bytes / 4);
        fsbml_message_free(m[0]);
        CHECK(bytes >= 4096 || in_use() - before < 4096);
        fsbml_message_keep_memory(true); /* and nothing is kept of before */
    }
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < N; ++i) {
            m[i] = fsbml_message_make(NULL, i % 2 > 0 ? MIB : 200000, 0);
        }
        const size_t most = in_use();
        for (int i = 0; i < N; ++i) {
            fsbml_message_free(m[i]);
        }
        CHECK(most - before > 20 * MIB && in_use() - before > 7 * MIB && in_use() - before < 9 * MIB);
    }
    fsbml_message_keep_memory(false);
    fsbml_message_free(fsbml_message_make(NULL, MIB, 0));
    CHECK(in_use() - before < 4096);
}

int main(int argc, char **argv)
{
    only_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    n_steps = argc > 2 ? atoi(argv[2]) : n_steps;
    n_seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : n_seeds;
    return fake_main();
}
