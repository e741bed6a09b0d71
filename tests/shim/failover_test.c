/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed messages on rails that fail at any moment: before a frame is sent, within, after it was delivered,
 * before its acknowledgement. The peer's end is the core's. Each message arrives once, and is completed once.
 *   failover_test [SEED [STEPS [SEEDS]]]     one random schedule, such as one that failed; 0: so many */
#define FAKE_OWN_MAIN
#include "fake_refusal.h"

#include <inttypes.h>

enum { RAILS = 3, MOST_BYTES = 3000, LEAST_BYTES = 24, MOST_MESSAGES = 1 << 20, QUEUED = 1 << 14 };

typedef struct frame_t {
    size_t bytes;
    unsigned char at[MOST_BYTES + FSBML_DELIVERY_HEADER + 16];
} frame_t;

/* One rail in one direction: TCP keeps the order. What is on a rail that fails comes late, or never. */
typedef struct pipe_t {
    frame_t *frame[QUEUED];
    uint32_t first, last;
} pipe_t;

static struct {
    fsbml_delivery_limits_t limits;
    fsbml_delivery_t *end; /* the peer's */
    pipe_t there[RAILS], back[RAILS];
    bool cut[RAILS];
    uint64_t random;
    uint32_t sent[2], n_arrived[2], n_completed;
    unsigned char arrived[2][MOST_MESSAGES]; /* there and back, by the message's number */
    uint32_t n_errors;
} far_end;

static uint64_t chance(uint64_t of)
{
    return (next_random(&far_end.random) >> 16) % of;
}

static void push(pipe_t *pipe, const void *frame, size_t bytes)
{
    frame_t *f = malloc(sizeof(*f));
    CHECK(bytes <= sizeof(f->at) && pipe->last - pipe->first < QUEUED);
    f->bytes = bytes;
    memcpy(f->at, frame, bytes);
    pipe->frame[pipe->last++ % QUEUED] = f;
}

/* What the peer sends. */
typedef struct far_message_t {
    fsbml_delivery_message_t record;
    unsigned char bytes[MOST_BYTES];
} far_message_t;

static frame_t *pop(pipe_t *pipe)
{
    return pipe->first == pipe->last ? NULL : pipe->frame[pipe->first++ % QUEUED];
}

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
        mca_bml_base_prepare_src(bml_btl, &data, MCA_BTL_NO_ORDER, 16, &payload, flags, &des);
        CHECK(NULL != des && size - 16 == payload);
        memcpy(des->des_segments[0].seg_addr.pval, bytes, 16);
    } else {
        mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, size, flags);
        memcpy(des->des_segments[0].seg_addr.pval, bytes, size);
    }
    des->des_cbfunc = completed;
    ++far_end.sent[0];
    CHECK(OMPI_SUCCESS == mca_bml_base_send(bml_btl, des, TAG));
}

static void put_back(const fsbml_delivery_seal_t *seal, const far_message_t *m)
{
    unsigned char frame[MOST_BYTES + FSBML_DELIVERY_HEADER];
    memcpy(frame, seal->header, seal->bytes);
    memcpy(frame + seal->bytes, m->bytes, m->record.bytes);
    push(&far_end.back[seal->path], frame, seal->bytes + m->record.bytes);
}

static void send_back(void)
{
    const uint32_t path = (uint32_t) chance(RAILS);
    far_message_t *m = calloc(1, sizeof(*m));
    fsbml_delivery_seal_t seal;
    m->record.bytes = (uint32_t) (LEAST_BYTES + chance(MOST_BYTES - LEAST_BYTES));
    m->record.tag = TAG;
    fill(m->bytes, m->record.bytes, far_end.sent[1]);
    if (0 == fsbml_delivery_send(far_end.end, path, virtual_ns, 1000000, &m->record, &seal)) {
        ++far_end.sent[1];
        put_back(&seal, m);
    } else {
        free(m);
    }
}

/* ------------------------------------------------------------------ the network */

/* A BTL has sent what it was given: it is on the rail, be it cut or not. */
static void leaves(int rail)
{
    int to;
    fake_des_t *des = fake_take(&fake[rail], false, &to);
    if (NULL != des) {
        push(&far_end.there[rail], des->segment[0].seg_addr.pval, des->segment[0].seg_len);
        des->super.des_cbfunc(&fake[rail].super, NULL, &des->super, OPAL_SUCCESS);
        fake_free(&fake[rail].super, &des->super);
    }
}

static void act_there(void)
{
    fsbml_delivery_action_t a;
    const fsbml_delivery_message_t *m;
    fsbml_delivery_seal_t seal;
    (void) fsbml_delivery_tick(far_end.end, virtual_ns);
    while (fsbml_delivery_next(far_end.end, virtual_ns, &a)) {
        if (FSBML_DELIVERY_FRAME == a.kind) {
            push(&far_end.back[a.path], a.frame, a.bytes);
        } else if (FSBML_DELIVERY_RELEASE == a.kind) {
            free(a.message); /* its first member */
        } else if (FSBML_DELIVERY_UP != a.kind) {
            fsbml_delivery_path_up(far_end.end, a.path, virtual_ns);
        }
    }
    while (NULL != (m = fsbml_delivery_waiting(far_end.end))) {
        const uint32_t paths = fsbml_delivery_paths(far_end.end);
        if (0 == paths
            || 0
                   != fsbml_delivery_resend(far_end.end, (uint32_t) __builtin_ctz(paths), virtual_ns, 1000000,
                                            &seal)) {
            break;
        }
        put_back(&seal, (const far_message_t *) m);
    }
}

static void arrives(int rail)
{
    fsbml_delivery_arrival_t arrival;
    frame_t *f = far_end.cut[rail] ? NULL : pop(&far_end.there[rail]);
    if (NULL != f) {
        if (1
            == fsbml_delivery_arrived(far_end.end, (uint32_t) rail, virtual_ns, f->at, f->bytes, &arrival)) {
            check(0, f->at + arrival.header, f->bytes - arrival.header);
        }
        free(f);
    }
    f = far_end.cut[rail] ? NULL : pop(&far_end.back[rail]);
    if (NULL != f) {
        fake_deliver(&fake[rail], FSBML_TAG_FRAME, f->at, f->bytes);
        free(f);
    }
}

/* A connection breaks: what its BTL has comes back with an error or has left before, and what is on the rail
 * arrives late, or some of it never does. */
static void breaks(int rail)
{
    int to;
    const bool loses = 0 == chance(2);
    fake_des_t *des;
    while (NULL != (des = fake_take(&fake[rail], false, &to))) {
        des->super.des_cbfunc(&fake[rail].super, NULL, &des->super, OMPI_ERR_UNREACH);
        fake_free(&fake[rail].super, &des->super);
    }
    for (frame_t *f; loses && NULL != (f = pop(&far_end.there[rail]));) {
        free(f);
    }
    for (frame_t *f; loses && NULL != (f = pop(&far_end.back[rail]));) {
        free(f);
    }
    fsbml_framed_t *p = fsbml_framed_of(done.endpoint);
    opal_mutex_lock(&p->lock);
    fsbml_framed_failed(p, (uint32_t) rail);
    opal_mutex_unlock(&p->lock);
    fsbml_delivery_path_failed(far_end.end, (uint32_t) rail, virtual_ns);
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
    return far_end.n_arrived[0] == far_end.sent[0] && far_end.n_arrived[1] == far_end.sent[1]
           && far_end.n_completed == far_end.sent[0] && fsbml_delivery_idle(far_end.end)
           && fsbml_delivery_idle(fsbml_framed_of(done.endpoint)->delivery);
}

static uint64_t n_messages, n_closed, n_again;

static void play(uint64_t seed, int steps)
{
    memset(&far_end, 0, sizeof(far_end));
    far_end.random = 0x9e3779b97f4a7c15u * (seed + 1);
    ompi_process_info.my_name.jobid = 1;
    ompi_process_info.my_name.vpid = 0;
    ompi_process_info.num_procs = 2;
    peer_flags = FSBML_HELLO_FRAMES;
    peer_hello.n_rails = RAILS;
    mca_bml_fsbml_params.failover = true;
    for (int i = 0; i < RAILS; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
        fake[i].super.btl_flags &= ~(uint32_t) MCA_BTL_FLAGS_SEND_INPLACE; /* there are no types here */
    }
    world_up(RAILS);
    CHECK(OMPI_SUCCESS == mca_bml.bml_register(TAG, received, NULL));
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    done.endpoint = bml_btl->btl_endpoint;
    const uint64_t own = (uint64_t) 1 << 32 ^ fsbml_life, other = (uint64_t) 1 << 32 ^ 1 << 8 ^ fsbml_life;
    const fsbml_delivery_peer_t ends = {
        .own_life = other, .peer_life = own, .own_handle = 0, .peer_handle = 1, .paths = RAILS};
    fsbml_delivery_limits(&far_end.limits);
    far_end.end = fsbml_delivery_create(&far_end.limits, &ends);
    send_there(bml_btl); /* before any path is live */
    all_answer(RAILS);
    for (uint32_t i = 0; i < RAILS; ++i) {
        fsbml_delivery_path_up(far_end.end, i, virtual_ns);
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
    mca_bml_fsbml_params.failover = false;
    peer_flags = 0;
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
    printf("%" PRIu64 " messages, %" PRIu64 " failures of paths, %" PRIu64 " messages sent again\n",
           n_messages, n_closed, n_again);
    CHECK(n_closed > 0 && n_again > 0);
}

int main(int argc, char **argv)
{
    only_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    n_steps = argc > 2 ? atoi(argv[2]) : n_steps;
    n_seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : n_seeds;
    return fake_main();
}
