/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Feedback's clock, its evidence, and what is told: see flow/flow.h. */

#include "flow/flow.h"

#include <time.h>

#include "opal/runtime/opal_progress.h"

fsbml_flow_t fsbml_flow;

static struct {
    fsbml_feedback_t *feedback; /* NULL: there is none */
    atomic_flag looking;
    bool alone;       /* no other rank of the node uses the rails */
    uint32_t sharers; /* ranks that share a processor */
    bool is_small;
    void (*urgent)(bool begins);
    void (*changed)(uint32_t rail, uint64_t into_ns, double before_mbps, double after_mbps);
    uint64_t began_ns;
    uint32_t received, answers; /* when that was last looked at */
} flow = {.looking = ATOMIC_FLAG_INIT};

static bool has_refused; /* in this life of MPI or one before */

static bool is_short_for(fsbml_flow_kind_t kind, uint64_t now)
{
    return now < atomic_load_explicit(&fsbml_flow.short_until_ns[kind], memory_order_relaxed);
}

/* An answer waits for the bulk of a rendezvous, which is in fragments. Whole messages that wait for room
 * would cost a program, or a collective operation, whose messages only cross, more than an answer gains. */
static bool is_short(uint64_t now, bool whole)
{
    return is_short_for(FSBML_FLOW_SMALL, now) || (!whole && is_short_for(FSBML_FLOW_ANSWER, now));
}

/* Queues become short where small messages and bulk are mixed. That costs bulk the choice of a slower rail
 * that is idle, and a handshake, so a message between two phases of a program does not count: when the next
 * one begins, nothing of the first is under way, whatever the model says. */
void fsbml_flow_bulk_comes(uint64_t now)
{
    if (now >= atomic_load_explicit(&fsbml_flow.mixed_until_ns, memory_order_relaxed)) {
        return;
    }
    if (fsbml_sockets_are_drained()) {
        atomic_store_explicit(&fsbml_flow.mixed_until_ns, 0, memory_order_relaxed);
    } else {
        fsbml_flow_reach(&fsbml_flow.short_until_ns[FSBML_FLOW_SMALL], now + FSBML_FLOW_SHORT_NS);
    }
}

int fsbml_flow_rail(mca_bml_fsbml_endpoint_t *ep, uint32_t best, uint32_t rails, size_t *bytes, bool may_cut,
                    const void *of, size_t left)
{
    if (NULL == flow.feedback) {
        return (int) best;
    }
    const uint64_t now = fsbml_now_ns();
    fsbml_flow_bulk_comes(now);
    rails = fsbml_peers_by_time() ? rails : fsbml_bit(best); /* another policy has chosen it */
    fsbml_bulk_t piece = {
        .of = of, .left = left, .bytes = *bytes, .best = best, .rails = rails, .may_cut = may_cut};
    int rail = fsbml_feedback_rail(flow.feedback, now, is_short(now, !may_cut), &piece);
    if (rail < 0 && fsbml_sockets_is_idle(ep, best, ep->group->quantum)) {
        piece.is_idle = true;
        rail = fsbml_feedback_rail(flow.feedback, now, is_short(now, !may_cut), &piece);
    }
    *bytes = piece.bytes;
    if (rail >= 0) {
        fsbml_flow_reach(&fsbml_flow.bulk_until_ns,
                         now + fsbml_sched_predict(fsbml_rails.sched, (size_t) rail, now, piece.bytes));
    }
    return rail;
}

/* ------------------------------------------------------------------------ looking */

static void tell(uint64_t now)
{
    fsbml_rate_change_t c;
    while (fsbml_feedback_change(flow.feedback, &c)) {
        FSBML_VERBOSE(FSBML_V_RAILS, "%s %s from %.0f to %.0f Mbit/s, %.1f s into the job",
                      fsbml_rails.rail[c.rail].name, c.after_mbps < c.before_mbps ? "fell" : "rose",
                      c.before_mbps, c.after_mbps, (double) (now - flow.began_ns) * 1e-9);
        if (NULL != flow.changed) {
            flow.changed(c.rail, now - flow.began_ns, c.before_mbps, c.after_mbps);
        }
    }
}

static void look_at_rails(uint64_t now)
{
    fsbml_flow_seen_t seen[FSBML_MAX_RAILS];
    uint64_t counted[FSBML_MAX_RAILS];
    uint32_t asked = 0;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        if (fsbml_feedback_asks(flow.feedback, r, now)) {
            seen[r] = fsbml_sockets_look(r);
            asked |= fsbml_bit(r);
        }
    }
    const uint32_t known = flow.alone ? 0 : fsbml_kernel_sent(asked, counted);
    for (; 0 != asked; asked &= asked - 1) {
        const uint32_t r = (uint32_t) __builtin_ctz(asked);
        seen[r].counted = known & fsbml_bit(r) ? counted[r] : 0;
        fsbml_feedback_seen(flow.feedback, r, now, &seen[r]);
    }
}

/* Processor time of this thread, in ns: what looks cost, whatever else has the processor meanwhile. */
static uint64_t used_ns(void)
{
    struct timespec t = {.tv_sec = 0};
    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

/* Of a few messages at least. */
static void look_at_turns(void)
{
    enum { FEW = 64 };
    const uint32_t received = atomic_load_explicit(&fsbml_flow.received, memory_order_relaxed);
    const uint32_t answers = atomic_load_explicit(&fsbml_flow.answers, memory_order_relaxed);
    if (received - flow.received >= FEW) {
        fsbml_sockets_calm(2 * (answers - flow.answers) >= received - flow.received);
        flow.received = received;
        flow.answers = answers;
    }
}

static int look(void)
{
    const uint64_t now = fsbml_now_ns();
    if (atomic_flag_test_and_set_explicit(&flow.looking, memory_order_acquire)) {
        return 0;
    }
    if (fsbml_feedback_begin(flow.feedback, now)) {
        const uint64_t used = used_ns();
        look_at_turns();
        look_at_rails(now);
        fsbml_feedback_end(flow.feedback, (used_ns() - used) * flow.sharers);
        tell(now);
        if (is_short_for(FSBML_FLOW_SMALL, now) != flow.is_small) {
            flow.is_small = !flow.is_small;
            flow.urgent(flow.is_small);
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

/* Linux counts for how long a connection was busy in steps of one. */
static uint64_t jiffy_ns(void)
{
    struct timespec t = {.tv_sec = 0};
    (void) clock_getres(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t) t.tv_nsec;
}

void fsbml_flow_setup(void (*urgent)(bool begins))
{
    atomic_store(&fsbml_flow.bulk_until_ns, 0);
    atomic_store(&fsbml_flow.mixed_until_ns, 0);
    for (int k = 0; k < FSBML_FLOW_KINDS; ++k) {
        atomic_store(&fsbml_flow.short_until_ns[k], 0);
    }
    if (0 == fsbml_rails.n_groups) {
        return;
    }
    fsbml_peers_listen(&listener);
    fsbml_latency_setup();
    if (!mca_bml_fsbml_params.feedback) {
        return;
    }
    flow.sharers = fsbml_kernel_sharers();
    flow.alone = fsbml_job_local_size() < 2 || FSBML_LEDGER_OFF == mca_bml_fsbml_params.ledger;
    /* Among threads ob1 can lose the function that offers what it was refused again; and in a later life of
     * MPI it has lost it if it was refused anything before, as its count goes on. */
    fsbml_feedback_config_t config = {.sched = fsbml_rails.sched,
                                      .alone = flow.alone,
                                      .may_refuse = !opal_using_threads() && !has_refused,
                                      .busy_step_ns = jiffy_ns()};
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        config.watched |= is_tcp(r) && has_own_interface(r) ? fsbml_bit(r) : 0;
    }
    flow.feedback = fsbml_feedback_create(&config);
    if (NULL == flow.feedback) {
        return;
    }
    flow.began_ns = fsbml_now_ns();
    flow.urgent = urgent;
    flow.is_small = false;
    opal_progress_register_lp(look);
}

void fsbml_flow_teardown(void)
{
    fsbml_feedback_t *feedback = flow.feedback;
    flow.changed = NULL;
    fsbml_latency_teardown();
    fsbml_sockets_forget();
    if (NULL == feedback) {
        return;
    }
    const uint32_t refusals = fsbml_feedback_refusals(feedback);
    if (refusals > 0) {
        has_refused = true;
        FSBML_VERBOSE(FSBML_V_RAILS, "bulk had to wait for room on its rail %u times", refusals);
    }
    opal_progress_unregister(look);
    flow.urgent(false); /* or the next life of MPI begins with what this one had come to */
    flow.feedback = NULL;
    fsbml_feedback_destroy(feedback);
}

void fsbml_flow_listen(void (*changed)(uint32_t rail, uint64_t into_ns, double before_mbps,
                                       double after_mbps))
{
    flow.changed = changed;
}

double fsbml_flow_gap(uint32_t rail)
{
    return NULL != flow.feedback ? fsbml_feedback_gap(flow.feedback, rail) : 0.0;
}

void fsbml_flow_quantum(const mca_bml_fsbml_group_t *group, size_t bytes)
{
    for (uint32_t left = NULL != flow.feedback ? group->rails : 0; 0 != left; left &= left - 1) {
        fsbml_feedback_quantum(flow.feedback, (size_t) __builtin_ctz(left), bytes);
    }
}
