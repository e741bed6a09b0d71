/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are farther on some of their rails than the table says, which one pair of nodes has measured.
 *
 * The first message to a peer that has a choice of rails starts a few timed questions: those of
 * peers/proof.c with a flag, one on its way at a time, sent from its progress function. Which, and what
 * their times mean, core/measure/distance/distance says. Until then, and mostly for ever, decisions are as
 * measured. */

#include "peers/hooks.h"

#include "opal/runtime/opal_progress.h"

enum { TRIES = 4 };       /* a rail and round */
enum { MOST_PEERS = 64 }; /* that are asked at a time; others are when there is a message for them again */
static _Atomic uint32_t asking; /* peers that are being asked */

/* Numbers of questions are never used again, also by another life of MPI, and are none of a proof. */
static const uint32_t timed = UINT32_C(1) << 31,
                      turns = (UINT32_C(1) << 30) - 1; /* the bit between: send/observe.c's */
static _Atomic uint32_t turn;

const fsbml_far_t fsbml_far_unknown;

void fsbml_far_init(mca_bml_fsbml_endpoint_t *ep)
{
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    const bool by_time = FSBML_POLICY_ARRIVAL == p->policy || FSBML_POLICY_THESIS == p->policy;
    atomic_store(&ep->far, p->per_peer && by_time ? &fsbml_far_unknown : NULL);
}

bool fsbml_far_known(mca_bml_fsbml_endpoint_t *ep)
{
    const fsbml_far_t *unknown = &fsbml_far_unknown;
    return atomic_compare_exchange_strong(&ep->far, &unknown, NULL);
}

bool fsbml_far_asks(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&ep->lock);
    const bool asks = NULL != ep->distance;
    opal_mutex_unlock(&ep->lock);
    return asks;
}

/* Starts to ask, once all paths are proved or given up and the rails have parameters. */
static void begin(mca_bml_fsbml_endpoint_t *ep)
{
    const uint32_t live = atomic_load(&ep->live);
    fsbml_distance_rail_t rail[FSBML_MAX_RAILS];
    uint32_t measured = 0;
    if (live != atomic_load(&ep->possible) || atomic_load(&asking) >= MOST_PEERS
        || !fsbml_closing_is_far_off()) {
        return;
    }
    for (uint32_t left = live; 0 != left; left &= left - 1) {
        const uint32_t i = (uint32_t) __builtin_ctz(left);
        rail[i].way_ns = (double) atomic_load(&fsbml_rails.rail[i].way_ns);
        rail[i].L_ns = (double) atomic_load(&fsbml_rails.rail[i].L_ns);
        measured |= rail[i].way_ns > 0 ? fsbml_bit(i) : 0;
    }
    if (0 == (measured & (measured - 1)) || !fsbml_far_known(ep)) {
        return; /* the table is not there yet, or another thread has begun */
    }
    fsbml_distance_t *distance = fsbml_distance_create(measured, rail, TRIES);
    if (NULL == distance) {
        return;
    }
    atomic_fetch_add(&asking, 1);
    opal_mutex_lock(&ep->lock);
    ep->distance = distance;
    opal_mutex_unlock(&ep->lock);
    fsbml_watch(ep);
}

uint32_t fsbml_far_choose(mca_bml_fsbml_endpoint_t *ep, const fsbml_far_t *far, uint64_t now, size_t bytes,
                          uint32_t rails)
{
    if (&fsbml_far_unknown == far) {
        begin(ep);
        return (uint32_t) fsbml_sched_choose(fsbml_rails.sched, now, bytes, rails);
    }
    return (uint32_t) fsbml_sched_choose_far(fsbml_rails.sched, now, bytes, rails, far);
}

static void conclude(mca_bml_fsbml_endpoint_t *ep, fsbml_distance_t *distance)
{
    double extra[FSBML_MAX_RAILS];
    const uint32_t farther = fsbml_distance_result(distance, extra);
    fsbml_far_t *far = 0 != farther ? malloc(sizeof(*far)) : NULL;
    fsbml_distance_destroy(distance);
    atomic_fetch_sub(&asking, 1);
    if (NULL == far) {
        FSBML_VERBOSE(FSBML_V_PEER, "no rail to %s is known to be farther than measured",
                      OMPI_NAME_PRINT(&ep->proc->super.proc_name));
        return;
    }
    for (uint32_t left = farther; 0 != left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        FSBML_VERBOSE(FSBML_V_PEER, "rail %s to %s is %.0f us farther than measured",
                      fsbml_rails.rail[i].name, OMPI_NAME_PRINT(&ep->proc->super.proc_name), extra[i] / 1e3);
    }
    fsbml_far_set(far, extra);
    atomic_store(&ep->far, far); /* for good */
}

void fsbml_far_look(mca_bml_fsbml_endpoint_t *ep)
{
    const uint32_t live = atomic_load(&ep->live);
    uint32_t idle = 0, rail = 0;
    fsbml_distance_t *over = NULL;
    opal_mutex_lock(&ep->lock);
    if (NULL == ep->distance || !fsbml_closing_is_far_off()) {
        opal_mutex_unlock(&ep->lock);
        return;
    }
    const uint64_t now = fsbml_now_ns();
    for (uint32_t left = live; 0 != left; left &= left - 1) {
        const uint32_t i = (uint32_t) __builtin_ctz(left);
        idle |= 0 == fsbml_sched_backlog(fsbml_rails.sched, i, now) ? fsbml_bit(i) : 0;
    }
    const uint32_t seq = timed | (atomic_fetch_add(&turn, 1) & turns);
    const int rc = fsbml_distance_next(ep->distance, now, live, idle, seq, &rail);
    if (rc < 0) {
        over = ep->distance;
        ep->distance = NULL;
    }
    opal_mutex_unlock(&ep->lock);
    if (NULL != over) {
        conclude(ep, over);
    } else if (1 == rc) {
        const fsbml_packet_t question = {
            .type = FSBML_PACKET_ASK, .flags = FSBML_PACKET_TIMED, .from = *OMPI_PROC_MY_NAME, .seq = seq};
        (void) fsbml_packet_send(&fsbml_path(ep, rail)->super, &question, NULL, 0,
                                 0); /* not sent: not answered */
    }
}

void fsbml_far_answered(const fsbml_packet_t *packet)
{
    const uint64_t now = fsbml_now_ns();
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(packet->from);
    mca_bml_fsbml_endpoint_t *ep = NULL != proc ? fsbml_endpoint_of_proc(proc) : NULL;
    if (NULL != ep) {
        opal_mutex_lock(&ep->lock);
        fsbml_distance_answered(ep->distance, packet->seq, now, 0 == packet->delay_ns);
        opal_mutex_unlock(&ep->lock);
    }
}

uint32_t fsbml_far_late_ns(mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl,
                           const fsbml_packet_t *question)
{
    const uint32_t tolerated = question->delay_ns;
    const uint64_t now = fsbml_now_ns();
    uint64_t busy = 0;
    const mca_bml_fsbml_path_t *path = NULL != ep ? fsbml_path_over(ep, btl) : NULL;
    if (NULL != path) {
        busy = fsbml_sched_backlog(fsbml_rails.sched, path->rail, now);
    }
    /* How far a peer is can be told from late answers, too (core/measure/distance/turns): only its rail's
     * backlog is no matter of chance. */
    const uint64_t away = 0 != (question->flags & FSBML_PACKET_AT_ONCE) ? fsbml_away_ns(now, tolerated) : 0;
    const uint64_t late = away + (busy > tolerated ? busy : 0);
    return late < UINT32_MAX ? (uint32_t) late : UINT32_MAX;
}

void fsbml_far_forget(mca_bml_fsbml_endpoint_t *ep)
{
    const fsbml_far_t *far = atomic_exchange(&ep->far, NULL);
    if (NULL != ep->distance) {
        fsbml_distance_destroy(ep->distance);
        ep->distance = NULL;
        atomic_fetch_sub(&asking, 1);
    }
    if (&fsbml_far_unknown != far) {
        free((void *) (uintptr_t) far);
    }
}

/* -------------------------------------------- how long this process was away */

/* How long this process had not looked at its networks before it does now. What came in meanwhile came at a
 * unknown time: a program that computes would make every rail seem slow. Only while arrivals are
 * found out. */

enum { AWAY_NS = 100000 }; /* less is how long a look may take with much to be done */

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static bool watched;
static _Atomic bool watches;
/* Open MPI calls progress functions before it takes what came in by its event library, or after: so the look
 * before the last one is the one that surely was before. */
static _Atomic uint64_t last_ns, before_ns;

int fsbml_away_looked(void)
{
    const uint64_t now = fsbml_now_ns();
    atomic_store_explicit(&before_ns, atomic_exchange_explicit(&last_ns, now, memory_order_relaxed),
                          memory_order_relaxed);
    return 0;
}

void fsbml_away_watch(void)
{
    opal_mutex_lock(&lock);
    if (!watched) {
        watched = true;
        atomic_store(&last_ns, fsbml_now_ns());
        atomic_store(&before_ns, fsbml_now_ns());
        opal_progress_register(fsbml_away_looked);
        atomic_store(&watches, true);
    }
    opal_mutex_unlock(&lock);
}

void fsbml_away_stop(void)
{
    opal_mutex_lock(&lock);
    if (watched) {
        watched = false;
        atomic_store(&watches, false);
        opal_progress_unregister(fsbml_away_looked);
    }
    opal_mutex_unlock(&lock);
}

uint64_t fsbml_away_ns(uint64_t now, uint64_t tolerated)
{
    const uint64_t before = atomic_load_explicit(&before_ns, memory_order_relaxed);
    const uint64_t away =
        atomic_load_explicit(&watches, memory_order_relaxed) && now > before ? now - before : 0;
    return away > AWAY_NS && away > tolerated ? away : 0;
}
