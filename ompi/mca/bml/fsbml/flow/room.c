/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rail bulk takes, and when it is to wait: see flow/flow.h. */

#include "flow/flow.h"

enum { TRIAL_BYTES = 16384 };

fsbml_flow_t fsbml_flow = {.short_until_ns = UINT64_MAX};

typedef struct room_t {
    _Atomic double gap; /* ns per byte of a fragment */
    uint64_t window_ns; /* with more to do, the rail takes no bulk while queues are short */
    size_t own_bytes;   /* left at the last look, and given to it by this process since */
} room_t;

static room_t room[FSBML_MAX_RAILS];
static bool alone, may_refuse;

void fsbml_room_set(uint32_t rail, double gap, uint64_t window_ns)
{
    room[rail].gap = gap;
    room[rail].window_ns = window_ns;
}

void fsbml_room_left(uint32_t rail, size_t bytes)
{
    room[rail].own_bytes = bytes;
}

/* ------------------------------------------------------------------------ trials */

/* A rail that has become far slower gets nothing any more, so nothing would tell that it has recovered. Now
 * and then it gets a small piece of something long; when that is delivered tells how fast it is at least. */
static struct {
    _Atomic uint32_t armed; /* the rail, plus 1 */
    uint32_t rail;
    size_t bytes;
    _Atomic uint64_t sent_ns; /* 0: none is under way */
} trial;

bool fsbml_room_try(uint32_t rail)
{
    uint32_t none = 0;
    return 0 == atomic_load(&trial.sent_ns) && atomic_compare_exchange_strong(&trial.armed, &none, rail + 1);
}

uint64_t fsbml_room_tried(uint32_t rail, size_t *bytes)
{
    const uint64_t sent = atomic_load(&trial.sent_ns);
    *bytes = trial.bytes;
    return rail == trial.rail ? sent : 0;
}

void fsbml_room_try_end(void)
{
    atomic_store(&trial.sent_ns, 0);
}

/* The rail that is to have a piece of at most *bytes; -1: none. */
static int take_trial(uint32_t rails, size_t *bytes, uint64_t now)
{
    uint32_t armed = atomic_load(&trial.armed);
    if (0 == armed || 0 == (rails & fsbml_bit(armed - 1))
        || !atomic_compare_exchange_strong(&trial.armed, &armed, 0)) {
        return -1;
    }
    *bytes = *bytes < TRIAL_BYTES ? *bytes : TRIAL_BYTES;
    trial.rail = armed - 1;
    trial.bytes = *bytes;
    atomic_store(&trial.sent_ns, now);
    return (int) armed - 1;
}

/* ----------------------------------------------------------------------- waiting */

/* What the PML was refused, by the convertors: so it is known how much a rail could still be given. */
enum { MOST_WAITING = 32, FORGET_NS = 50000000 };

typedef struct waiting_t {
    const void *of;
    size_t bytes;
    uint64_t seen_ns;
} waiting_t;

static waiting_t waiting[MOST_WAITING];

/* Notes that so much waits, and returns what waits in all. */
static size_t note_waiting(const void *of, size_t bytes, uint64_t now)
{
    size_t all = 0;
    waiting_t *own = &waiting[0];
    for (waiting_t *w = waiting; w < waiting + MOST_WAITING; ++w) {
        own = w->of == of ? w : own->of != of && w->seen_ns < own->seen_ns ? w : own;
    }
    *own = (waiting_t){of, bytes, now};
    for (waiting_t *w = waiting; w < waiting + MOST_WAITING; ++w) {
        all += now - w->seen_ns < FORGET_NS ? w->bytes : 0;
    }
    return all;
}

/* Whether a rail takes more bulk: by its backlog; by what this process has with it, where other ranks use it
 * as well: each gets on. */
static bool has_room(uint32_t rail, uint64_t backlog)
{
    const room_t *s = &room[rail];
    return (alone ? backlog : (uint64_t) ((double) s->own_bytes * s->gap)) <= s->window_ns;
}

/* The best rail has no room. Another one takes it if that is with the peer before the best one could have
 * delivered all that waits. */
static int best_with_room(uint32_t best, uint64_t backlog, uint32_t rails, size_t bytes, size_t all,
                          uint64_t now)
{
    int found = -1;
    uint64_t soonest = backlog + (uint64_t) ((double) all * room[best].gap);
    for (uint32_t left = rails & ~fsbml_bit(best); 0 != left; left &= left - 1) {
        const uint32_t r = (uint32_t) __builtin_ctz(left);
        const uint64_t arrival = fsbml_sched_predict(fsbml_rails.sched, r, now, bytes);
        if (arrival < soonest && has_room(r, fsbml_sched_backlog(fsbml_rails.sched, r, now))) {
            found = (int) r;
            soonest = arrival;
        }
    }
    return found;
}

/* ob1 keeps what it is refused in a list, which its progress function goes through; it counts these, never
 * down to where it began, in 32 bits. Among threads it can lose that function: there, nothing is refused. */
enum { MOST_REFUSALS = 1 << 30 };
static uint32_t refusals;
static bool was_refused;

int fsbml_flow_rail(uint32_t best, uint32_t rails, size_t *wanted, bool may_cut, const void *of, size_t left)
{
    const uint64_t now = fsbml_now_ns();
    const int tried = may_cut && 0 != atomic_load_explicit(&trial.armed, memory_order_relaxed)
                          ? take_trial(rails, wanted, now)
                          : -1;
    const size_t bytes = *wanted;
    if (tried >= 0) {
        return tried;
    }
    const uint64_t until = atomic_load_explicit(&fsbml_flow.short_until_ns, memory_order_relaxed);
    int rail = (int) best;
    if (now >= until || !may_refuse) {
        return rail;
    }
    const uint64_t backlog = fsbml_sched_backlog(fsbml_rails.sched, best, now);
    if (!has_room(best, backlog)) {
        rail = best_with_room(best, backlog, rails, bytes, note_waiting(of, left, now), now);
        refusals += rail < 0;
        may_refuse = refusals < MOST_REFUSALS;
    }
    if (rail >= 0) {
        room[rail].own_bytes += bytes;
    }
    if (rail >= 0 && was_refused) {
        (void) note_waiting(of, left - (left < bytes ? left : bytes), now);
    }
    was_refused = rail < 0;
    return rail;
}

void fsbml_room_begin(bool is_alone, bool may)
{
    alone = is_alone;
    may_refuse = may;
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        fsbml_room_set(r, 0.0, UINT64_MAX);
        room[r].own_bytes = 0;
    }
    memset(waiting, 0, sizeof(waiting));
    atomic_store(&trial.armed, 0);
    atomic_store(&trial.sent_ns, 0);
}

uint32_t fsbml_room_end(void)
{
    may_refuse = false;
    atomic_store(&trial.armed, 0);
    return refusals;
}
