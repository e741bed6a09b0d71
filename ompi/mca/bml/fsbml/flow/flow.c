/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the rails, and what follows for their rates and backlogs: see flow/flow.h. */

#include "flow/flow.h"

#include "opal/runtime/opal_progress.h"

enum {
    LOOK_NS = 1000000,    /* between two looks */
    LONG_NS = 10000000,   /* a pause that the system does not make */
    TRIAL_NS = 200000000, /* between two pieces on a rail that has become slow */
    TELL_NS = 300000000,  /* a rate that lasts is told of */
    BUSY_NS =
        1000000, /* ... unless this process pauses so long: it may be short of a processor, not of a rail */
    UNKNOWN_QUANTUM = 65536,
};
#define EPOCH_NS UINT64_C(2500000000) /* how long pauses are remembered, to twice that */
#define SLOW 2.0                      /* times slower than its model: it would get no more bulk */
#define DRIFT 0.05                    /* of the rate, for which the model is not touched */
#define TOLD 1.25                     /* likewise for telling */

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
    bool has_evidence; /* connections are known */
    uint64_t trial_ns; /* when the next one may be */
} rail_state_t;

typedef struct pauses_t {
    double sum, squares; /* ns, ns^2 */
    unsigned n_long;
    uint64_t longest; /* ns */
} pauses_t;

static struct {
    bool on;
    atomic_flag looking;
    bool alone; /* no other rank of the node uses the rails */
    bool is_short;
    void (*urgent)(bool begins);
    uint64_t began_ns, next_ns;
    uint64_t progress_ns, epoch_ns;
    uint64_t usual_pause_ns;
    pauses_t pauses, pauses_before; /* of this time, and of the one before */
    rail_state_t rail[FSBML_MAX_RAILS];
} flow = {.looking = ATOMIC_FLAG_INIT};

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
    const double gap = given.G_ns_per_byte + given.g_ns / (double) quantum;
    s->model_gap = gap;
    s->gap = gap;
    s->told_gap = gap;
    s->live = fsbml_live_create(gap, given.burst_ns / given.G_ns_per_byte, quantum);
    return NULL != s->live;
}

static void learn(rail_state_t *s, uint32_t rail, fsbml_flow_seen_t *seen, uint64_t now)
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

static void end_trial(rail_state_t *s, uint32_t rail, size_t bytes, uint64_t took, uint64_t now)
{
    const bool faster = (double) took < fsbml_live_gap(s->live) / SLOW * (double) bytes;
    if (FSBML_LIVE_SAME != fsbml_live_trial(s->live, bytes, took)) {
        apply(s, rail, now);
    }
    s->trial_ns = faster ? now : now + TRIAL_NS;
    fsbml_room_try_end();
}

static void look_after_trials(rail_state_t *s, uint32_t rail, uint64_t now)
{
    size_t bytes;
    const uint64_t sent = fsbml_room_tried(rail, &bytes);
    if (0 != sent) {
        end_trial(s, rail, bytes, now - sent, now);
    } else if (s->gap > SLOW * s->model_gap && now >= s->trial_ns && fsbml_room_try(rail)) {
        s->trial_ns = now + TRIAL_NS;
    }
}

/* ----------------------------------------------------------------------- backlog */

/* By what the kernel has still to deliver, less what is on its way. That is more than what was charged if the
 * rail has become slower; it is less if charges were too high, but a BTL may keep what the kernel has no room
 * for: only a queue that is nearly empty is taken at its word. Nothing is known of what other ranks have
 * left. */
static void correct(const rail_state_t *s, uint32_t rail, uint64_t vft, const fsbml_flow_seen_t *seen,
                    uint64_t now)
{
    const uint64_t charged = fsbml_sched_backlog(fsbml_rails.sched, rail, now);
    uint64_t left = (uint64_t) ((double) seen->queued * s->gap);
    left -= left < seen->round_trip_ns ? left : seen->round_trip_ns;
    if (left > charged || (flow.alone && seen->all_known && seen->queued < 2 * s->quantum)) {
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
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        rail_state_t *s = &flow.rail[r];
        const uint64_t vft = fsbml_sched_vft(fsbml_rails.sched, r);
        const uint64_t charged = fsbml_sched_backlog(fsbml_rails.sched, r, now);
        if (!s->is_watched || !has_model(s, r)) {
            continue;
        }
        if (0 == charged && !s->is_busy) {
            look_after_trials(s, r, now);
            continue;
        }
        fsbml_flow_seen_t seen = fsbml_sockets_look(r);
        s->has_evidence = 0 != seen.n;
        if (!s->has_evidence) { /* by the model */
            continue;
        }
        if (0 != s->looked_ns) {
            learn(s, r, &seen, now);
        }
        correct(s, r, vft, &seen, now);
        if (0 == seen.queued) {
            look_after_trials(s, r, now);
        }
        s->is_busy = 0 != charged || 0 != seen.queued;
        fsbml_room_left(r, seen.queued);
        s->looked_ns = now;
    }
}

static void set_windows(uint64_t pause)
{
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        const rail_state_t *s = &flow.rail[r];
        const double fragments = 2.0 * s->gap * (double) s->quantum; /* ns; 0: not known */
        const double least = flow.alone ? fragments : fragments > 2.0 * LOOK_NS ? fragments : 2.0 * LOOK_NS;
        fsbml_room_set(r, s->gap, s->has_evidence && fragments > 0.0 ? (uint64_t) least + pause : UINT64_MAX);
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

/* ------------------------------------------------------------------ begin and end */

static void forget(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_sockets_drop(ep);
    fsbml_latency_forget(ep);
}

static const fsbml_peers_listener_t listener = {
    .path_known = fsbml_sockets_add, .path_live = fsbml_latency_look_at, .forget = forget};

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
    atomic_store(&fsbml_flow.short_until_ns, mca_bml_fsbml_params.feedback ? 0 : UINT64_MAX);
    if (0 == fsbml_rails.n_groups) {
        return;
    }
    fsbml_peers_listen(&listener);
    fsbml_latency_setup();
    if (!mca_bml_fsbml_params.feedback) {
        return;
    }
    flow.on = true;
    flow.alone = fsbml_job_local_size() < 2 || FSBML_LEDGER_OFF == mca_bml_fsbml_params.ledger;
    flow.began_ns = fsbml_now_ns();
    flow.urgent = urgent;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        flow.rail[r] = (rail_state_t){.is_watched = is_tcp(r) && has_own_interface(r)};
        atomic_store(&flow.rail[r].quantum, UNKNOWN_QUANTUM);
    }
    fsbml_room_begin(flow.alone, !opal_using_threads());
    opal_progress_register_lp(look);
}

void fsbml_flow_teardown(void)
{
    fsbml_latency_teardown();
    fsbml_sockets_forget();
    if (!flow.on) {
        return;
    }
    flow.on = false;
    const uint32_t refusals = fsbml_room_end();
    if (refusals > 0) {
        FSBML_VERBOSE(FSBML_V_RAILS, "bulk had to wait for room on its rail %u times", refusals);
    }
    opal_progress_unregister(look);
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        fsbml_live_destroy(flow.rail[r].live);
        flow.rail[r].live = NULL;
    }
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
