/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Looks at the connections of this process, and what follows from them: see flow/flow.h. */

#include "flow/flow.h"

#include "opal/runtime/opal_progress.h"

enum {
    LOOK_NS = 1000000,     /* between two looks */
    SEARCH_NS = 100000000, /* between two searches for new connections */
    LONG_NS = 10000000,    /* a pause that the system does not make */

    SEARCH_AGAIN_NS = 2000000000, /* likewise, where a rail in use seems to have none */
    TRIAL_NS = 200000000,         /* between two pieces on a rail that has become slow */
    TRIAL_BYTES = 16384,
    TELL_NS = 300000000, /* a rate that lasts is told of */
    BUSY_NS =
        1000000, /* ... unless this process pauses so long: it may be short of a processor, not of a rail */
    MOST_SOCKETS = 256, /* a process with more connections goes by the model */
    FEW_SOCKETS = 8,    /* of so few, those are asked as well that had nothing to do at two looks */
    UNKNOWN_QUANTUM = 65536,
};
#define EPOCH_NS UINT64_C(2500000000) /* how long pauses are remembered, to twice that */
#define SLOW 2.0                      /* times slower than its model: it would get no more bulk */
#define DRIFT 0.05                    /* of the rate, for which the model is not touched */
#define TOLD 1.25                     /* likewise for telling */

fsbml_flow_t fsbml_flow = {.short_until_ns = UINT64_MAX};

typedef struct watched_t {
    fsbml_kernel_socket_t is;
    fsbml_kernel_flow_t last;
    bool is_known; /* has been asked */
    bool active;   /* had something to deliver at the last look */
} watched_t;

typedef struct rail_state_t {
    bool is_watched;     /* the kernel knows its connections from others' */
    fsbml_loggp_t given; /* the model that all this is about */
    fsbml_live_t *live;
    double model_gap;   /* ns per byte of a fragment, by the model */
    _Atomic double gap; /* as the scheduler has it; 0: not known */
    double told_gap;
    uint64_t beyond_ns;       /* since when the rate is beyond what was told; 0: it is not */
    uint64_t looked_ns;       /* the look before; 0: there was none */
    bool is_busy;             /* it had something to do then */
    uint64_t interface_bytes; /* at that look */
    _Atomic size_t quantum;
    uint64_t window_ns; /* with more to do, it takes no bulk while queues are short */
    size_t own_bytes;   /* left at the last look, and given to it by this process since */
} rail_state_t;

typedef struct pauses_t {
    double sum, squares; /* ns, ns^2 */
    unsigned n_long;
    uint64_t longest; /* ns */
} pauses_t;

static struct {
    bool on;
    atomic_flag looking;
    _Atomic bool search; /* there are new connections */
    bool alone;          /* no other rank of the node uses the rails */
    bool is_short;
    bool may_refuse;
    void (*urgent)(bool begins);
    uint64_t began_ns, next_ns, searched_ns;
    uint64_t progress_ns, epoch_ns;
    uint64_t usual_pause_ns;
    pauses_t pauses, pauses_before; /* of this time, and of the one before */
    rail_state_t rail[FSBML_MAX_RAILS];
    watched_t *socket;
    size_t n_sockets;
} flow = {.looking = ATOMIC_FLAG_INIT};

/* ------------------------------------------------------------------ connections */

/* Finds the connections, and keeps what is known of those that are still there. */
static void search(uint64_t now)
{
    static fsbml_kernel_socket_t found[MOST_SOCKETS];
    watched_t *socket = calloc(MOST_SOCKETS, sizeof(*socket));
    size_t n = fsbml_kernel_sockets(found, MOST_SOCKETS);
    flow.searched_ns = now;
    if (NULL == socket || n > MOST_SOCKETS) {
        n = 0;
    }
    for (size_t i = 0; i < n; ++i) {
        socket[i].is = found[i];
        for (size_t k = 0; k < flow.n_sockets; ++k) {
            const fsbml_kernel_socket_t *was = &flow.socket[k].is;
            if (was->fd == found[i].fd && was->cookie == found[i].cookie) {
                socket[i] = flow.socket[k];
            }
        }
    }
    free(flow.socket);
    flow.socket = socket;
    flow.n_sockets = n;
}

/* What all connections of a rail have done since the look before. */
typedef struct seen_t {
    fsbml_live_look_t look;
    uint64_t queued;        /* that the rail has still to take, not what a receiver has no room for */
    uint64_t round_trip_ns; /* the shortest */
    double payload;
} seen_t;

static void add(watched_t *s, seen_t *seen)
{
    fsbml_kernel_flow_t now;
    const int64_t queued = fsbml_kernel_queued(&s->is);
    if (queued < 0) {
        atomic_store(&flow.search, true);
        s->active = false;
        return;
    }
    if ((0 == queued && !s->active && flow.n_sockets > FEW_SOCKETS) || !fsbml_kernel_flow(&s->is, &now)) {
        return;
    }
    const uint64_t limited = now.limited_ns - s->last.limited_ns, busy = now.busy_ns - s->last.busy_ns;
    if (s->is_known) {
        seen->look.bytes += now.acknowledged - s->last.acknowledged;
        seen->look.busy_ns += busy;
        seen->look.limited_ns += limited;
    }
    if (!s->is_known || limited <= busy / 2) {
        seen->queued += now.queued;
    }
    if (0 == seen->round_trip_ns || now.round_trip_ns < seen->round_trip_ns) {
        seen->round_trip_ns = now.round_trip_ns;
    }
    seen->payload = now.payload;
    s->active = 0 != now.queued;
    s->is_known = true;
    s->last = now;
}

static seen_t look_at(uint32_t rail)
{
    seen_t seen = {.queued = 0};
    for (size_t i = 0; i < flow.n_sockets; ++i) {
        if (rail == flow.socket[i].is.rail) {
            add(&flow.socket[i], &seen);
        }
    }
    return seen;
}

/* ------------------------------------------------------------------------- rates */

static void tell(const rail_state_t *s, uint32_t rail, double before, uint64_t now)
{
    FSBML_VERBOSE(FSBML_V_RAILS, "%s %s from %.0f to %.0f Mbit/s, %.1f s into the job",
                  fsbml_rails.rail[rail].name, s->gap > before ? "fell" : "rose", 8e3 / before, 8e3 / s->gap,
                  (double) (now - flow.began_ns) * 1e-9);
}

static void apply(rail_state_t *s, uint32_t rail, uint64_t now)
{
    const double live = fsbml_live_gap(s->live);
    if (live > s->gap * (1.0 + DRIFT) || live < s->gap / (1.0 + DRIFT)) {
        s->gap = live;
        fsbml_sched_scale(fsbml_rails.sched, rail, live / s->model_gap);
    }
    if (s->gap < s->told_gap * TOLD && s->told_gap < s->gap * TOLD) {
        s->beyond_ns = 0;
    } else if (0 == s->beyond_ns) {
        s->beyond_ns = now;
    } else if (now - s->beyond_ns > TELL_NS && flow.usual_pause_ns < BUSY_NS) {
        tell(s, rail, s->told_gap, now);
        s->told_gap = s->gap;
        s->beyond_ns = 0;
    }
}

/* The rail has another model than before, or its first. False: it has none. */
static bool has_model(rail_state_t *s, uint32_t rail)
{
    fsbml_loggp_t given;
    if (!fsbml_sched_model(fsbml_rails.sched, rail, &given)) {
        return false;
    }
    if (NULL != s->live && 0 == memcmp(&given, &s->given, sizeof(given))) {
        return true;
    }
    const size_t quantum = s->quantum;
    fsbml_live_destroy(s->live);
    s->given = given;
    s->model_gap = s->gap = s->told_gap = given.G_ns_per_byte + given.g_ns / (double) quantum;
    s->live = fsbml_live_create(s->gap, given.burst_ns / given.G_ns_per_byte, quantum);
    return NULL != s->live;
}

static void learn(rail_state_t *s, uint32_t rail, seen_t *seen, uint64_t now)
{
    uint64_t counted = 0;
    seen->look.elapsed_ns = now - s->looked_ns;
    /* What is on its way, or waits for an acknowledgement that the peer holds back, keeps no rail busy. */
    seen->look.is_busy =
        seen->queued > FSBML_FLOW_BULK && (double) seen->queued * s->gap > (double) seen->round_trip_ns;
    if (!flow.alone) { /* what the others sent went the same way */
        const bool known = fsbml_kernel_sent(rail, &counted) && 0 != s->interface_bytes;
        seen->look.bytes = known ? (uint64_t) ((double) (counted - s->interface_bytes) * seen->payload) : 0;
        s->interface_bytes = counted;
        if (!known) {
            return;
        }
    }
    if (FSBML_LIVE_SAME != fsbml_live_look(s->live, &seen->look) || 0 != s->beyond_ns) {
        apply(s, rail, now);
    }
}

/* ------------------------------------------------------------------------ trials */

/* A rail that has become far slower gets nothing any more, so nothing would tell that it has recovered. Now
 * and then it gets a small piece of something long; when that is delivered tells how fast it is at least. */
static struct {
    _Atomic uint32_t armed; /* the rail, plus 1 */
    uint32_t rail;
    size_t bytes;
    _Atomic uint64_t sent_ns; /* 0: none is under way */
    uint64_t next_ns[FSBML_MAX_RAILS];
} trial;

static void end_trial(rail_state_t *s, uint32_t rail, uint64_t sent, uint64_t now)
{
    const double before = fsbml_live_gap(s->live);
    const bool faster = (double) (now - sent) < before / SLOW * (double) trial.bytes;
    if (FSBML_LIVE_SAME != fsbml_live_trial(s->live, trial.bytes, now - sent)) {
        apply(s, rail, now);
    }
    trial.next_ns[rail] = faster ? now : now + TRIAL_NS;
    atomic_store(&trial.sent_ns, 0);
}

static void look_after_trials(rail_state_t *s, uint32_t rail, bool is_idle, uint64_t now)
{
    const uint64_t sent = atomic_load(&trial.sent_ns);
    if (0 != sent && rail == trial.rail && is_idle) {
        end_trial(s, rail, sent, now);
    } else if (0 == sent && is_idle && s->gap > SLOW * s->model_gap && now >= trial.next_ns[rail]
               && 0 == atomic_load(&trial.armed)) {
        trial.next_ns[rail] = now + TRIAL_NS;
        atomic_store(&trial.armed, rail + 1);
    }
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

/* ----------------------------------------------------------------------- backlog */

/* By what the kernel has still to deliver, less what is on its way. That is more than what was charged if the
 * rail has become slower; it is less if charges were too high, but a BTL may keep what the kernel has no room
 * for: only a queue that is nearly empty is taken at its word. Nothing is known of what other ranks have
 * left. */
static void correct(const rail_state_t *s, uint32_t rail, uint64_t vft, const seen_t *seen, uint64_t now)
{
    const uint64_t charged = fsbml_sched_backlog(fsbml_rails.sched, rail, now);
    uint64_t left = (uint64_t) ((double) seen->queued * s->gap);
    left -= left < seen->round_trip_ns ? left : seen->round_trip_ns;
    if (left > charged || (flow.alone && seen->queued < 2 * s->quantum)) {
        (void) fsbml_sched_correct(fsbml_rails.sched, rail, vft, now, left);
    }
}

/* ------------------------------------------------------------------------ looking */

/* For how long this process does not look at its networks: so much must be with a rail, or it is idle
 * meanwhile. Twice the pause in which a moment falls on average, so that in a program that polls, what the
 * system takes from it now and then hardly counts; or a long pause that is not the only one, as of a program
 * that computes now and then. */
static uint64_t note_pause(uint64_t now)
{
    const uint64_t pause = 0 != flow.progress_ns ? now - flow.progress_ns : 0;
    pauses_t *p = &flow.pauses;
    const pauses_t *b = &flow.pauses_before;
    flow.progress_ns = now;
    if (now - flow.epoch_ns > EPOCH_NS) {
        flow.pauses_before = *p;
        *p = (pauses_t){0.0};
        flow.epoch_ns = now;
    }
    p->sum += (double) pause;
    p->squares += (double) pause * (double) pause;
    p->n_long += pause > LONG_NS;
    p->longest = pause > p->longest ? pause : p->longest;
    const double sum = p->sum + b->sum;
    const uint64_t usual = sum > 0.0 ? (uint64_t) (2.0 * (p->squares + b->squares) / sum) : 0;
    flow.usual_pause_ns = usual;
    const uint64_t most = p->n_long + b->n_long > 1 ? (p->longest > b->longest ? p->longest : b->longest) : 0;
    return usual > most ? usual : most;
}

static void look_at_rails(uint64_t now)
{
    bool none = false;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        rail_state_t *s = &flow.rail[r];
        const uint64_t vft = fsbml_sched_vft(fsbml_rails.sched, r);
        const uint64_t charged = fsbml_sched_backlog(fsbml_rails.sched, r, now);
        if (!s->is_watched || !has_model(s, r)) {
            continue;
        }
        if (0 == charged && !s->is_busy) {
            look_after_trials(s, r, true, now);
            continue;
        }
        seen_t seen = look_at(r);
        if (0 != s->looked_ns) {
            learn(s, r, &seen, now);
        }
        correct(s, r, vft, &seen, now);
        look_after_trials(s, r, 0 == seen.queued, now);
        none = none || (charged > LOOK_NS && 0 == seen.round_trip_ns);
        s->is_busy = 0 != charged || 0 != seen.queued;
        s->own_bytes = seen.queued;
        s->looked_ns = now;
    }
    const bool is_new = atomic_load_explicit(&flow.search, memory_order_relaxed);
    if ((is_new && now - flow.searched_ns > SEARCH_NS)
        || (none && now - flow.searched_ns > SEARCH_AGAIN_NS)) {
        atomic_store(&flow.search, false);
        search(now);
    }
}

static void set_windows(uint64_t pause)
{
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        rail_state_t *s = &flow.rail[r];
        const double fragments = 2.0 * s->gap * (double) s->quantum; /* ns; 0: not known */
        const double least = flow.alone ? fragments : fragments > 2.0 * LOOK_NS ? fragments : 2.0 * LOOK_NS;
        s->window_ns = fragments > 0.0 ? (uint64_t) least + pause : UINT64_MAX;
    }
}

static int look(void)
{
    const uint64_t now = fsbml_now_ns();
    if (atomic_flag_test_and_set_explicit(&flow.looking, memory_order_acquire)) {
        return 0;
    }
    const uint64_t pause = note_pause(now);
    if (now >= flow.next_ns) {
        const bool is_short = now < atomic_load_explicit(&fsbml_flow.short_until_ns, memory_order_relaxed);
        flow.next_ns = now + LOOK_NS;
        look_at_rails(now);
        set_windows(pause);
        if (is_short != flow.is_short) {
            flow.is_short = is_short;
            flow.urgent(is_short);
        }
    }
    atomic_flag_clear_explicit(&flow.looking, memory_order_release);
    return 0;
}

/* --------------------------------------------------------------- what may be sent */

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
    const rail_state_t *s = &flow.rail[rail];
    return (flow.alone ? backlog : (uint64_t) ((double) s->own_bytes * s->gap)) <= s->window_ns;
}

/* The best rail has no room. Another one takes it if that is with the peer before the best one could have
 * delivered all that waits. */
static int best_with_room(uint32_t best, uint64_t backlog, uint32_t rails, size_t bytes, size_t all,
                          uint64_t now)
{
    int found = -1;
    uint64_t soonest = backlog + (uint64_t) ((double) all * flow.rail[best].gap);
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
    if (now >= until || !flow.may_refuse) {
        return rail;
    }
    const uint64_t backlog = fsbml_sched_backlog(fsbml_rails.sched, best, now);
    if (!has_room(best, backlog)) {
        rail = best_with_room(best, backlog, rails, bytes, note_waiting(of, left, now), now);
        refusals += rail < 0;
        flow.may_refuse = refusals < MOST_REFUSALS;
    }
    if (rail >= 0) {
        flow.rail[rail].own_bytes += bytes;
    }
    if (rail >= 0 && was_refused) {
        (void) note_waiting(of, left - (left < bytes ? left : bytes), now);
    }
    was_refused = rail < 0;
    return rail;
}

/* ------------------------------------------------------------------ begin and end */

static void path_live(mca_bml_fsbml_endpoint_t *ep)
{
    (void) ep;
    atomic_store(&flow.search, true);
}

static const fsbml_peers_listener_t listener = {.path_live = path_live};

/* Two rails on one interface: their connections look alike. */
static bool has_own_interface(uint32_t rail)
{
    char own[FSBML_NAME_MAX], other[FSBML_NAME_MAX];
    fsbml_kernel_interface(rail, own);
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        fsbml_kernel_interface(r, other);
        if (r != rail && 0 == strcmp(own, other)) {
            return false;
        }
    }
    return true;
}

static bool is_tcp(uint32_t rail)
{
    return 0 == strcmp(fsbml_rails.rail[rail].btl->btl_component->btl_version.mca_component_name, "tcp");
}

void fsbml_flow_setup(void (*urgent)(bool begins))
{
    atomic_store(&trial.armed, 0);
    atomic_store(&trial.sent_ns, 0);
    memset(trial.next_ns, 0, sizeof(trial.next_ns));
    atomic_store(&fsbml_flow.short_until_ns, mca_bml_fsbml_params.feedback ? 0 : UINT64_MAX);
    if (!mca_bml_fsbml_params.feedback || 0 == fsbml_rails.n_groups) {
        return;
    }
    flow.on = true;
    flow.may_refuse = !opal_using_threads();
    flow.alone = fsbml_job_local_size() < 2 || FSBML_LEDGER_OFF == mca_bml_fsbml_params.ledger;
    flow.began_ns = fsbml_now_ns();
    flow.urgent = urgent;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        flow.rail[r] = (rail_state_t){.is_watched = is_tcp(r) && has_own_interface(r)};
        atomic_store(&flow.rail[r].quantum, UNKNOWN_QUANTUM);
        flow.rail[r].window_ns = UINT64_MAX;
    }
    fsbml_peers_listen(&listener);
    opal_progress_register_lp(look);
}

void fsbml_flow_teardown(void)
{
    if (!flow.on) {
        return;
    }
    flow.on = false;
    if (refusals > 0) {
        FSBML_VERBOSE(FSBML_V_RAILS, "bulk had to wait for room on its rail %u times", refusals);
    }
    opal_progress_unregister(look);
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        fsbml_live_destroy(flow.rail[r].live);
        flow.rail[r].live = NULL;
    }
    free(flow.socket);
    flow.socket = NULL;
    flow.n_sockets = 0;
    memset(waiting, 0, sizeof(waiting));
    flow.may_refuse = false; /* nothing is watched any more */
}

double fsbml_flow_gap(uint32_t rail)
{
    return flow.on ? flow.rail[rail].gap : 0.0;
}

void fsbml_flow_quantum(const mca_bml_fsbml_group_t *group, size_t bytes)
{
    for (uint32_t left = group->rails; 0 != left; left &= left - 1) {
        atomic_store(&flow.rail[__builtin_ctz(left)].quantum, bytes);
    }
}
