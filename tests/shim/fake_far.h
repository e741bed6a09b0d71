/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A peer by whose rails frames go there and back, and which fail; its end is the core's.
 */
#ifndef FSBML_TESTS_FAKE_FAR_H
#define FSBML_TESTS_FAKE_FAR_H

#include "fake_refusal.h"

enum { RAILS = 3, MOST_BYTES = 5000, LEAST_BYTES = 24, MOST_MESSAGES = 1 << 20, QUEUED = 1 << 14 };

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

/* Is called for what has come to the peer. */
static void (*far_came)(uint8_t tag, const unsigned char *at, size_t bytes);

static void put_back(const fsbml_delivery_seal_t *seal, const far_message_t *m)
{
    unsigned char frame[MOST_BYTES + FSBML_DELIVERY_HEADER];
    memcpy(frame, seal->header, seal->bytes);
    memcpy(frame + seal->bytes, m->bytes, m->record.bytes);
    push(&far_end.back[seal->path], frame, seal->bytes + m->record.bytes);
}

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
            far_came(arrival.tag, f->at + arrival.header, f->bytes - arrival.header);
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

#endif
