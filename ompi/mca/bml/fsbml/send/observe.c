/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at what the pseudo BTL decides: for a report, a trace, or a tool that reads counters. It begins at
 * set-up or when a tool asks, by giving the pseudo BTLs other functions (send/btl.c); before that
 * nothing here is called.
 *
 * When a message arrives only its receiver knows. So now and then a timed question follows a message on its
 * rail, which keeps the order: when the answer is there, the message was there the way of an answer
 * before. */

#include "send/send.h"

#include "opal/util/show_help.h"

enum {
    PAUSE_NS = 4000000
}; /* from one question on a rail to the next: two small packets, then, are no load */
enum { LOST_NS = 1000000000 }; /* an answer that has not come by then is not awaited */
enum { TOLERATED = 8 };        /* of the predicted time: that answers are late by so much is no matter */
enum { SKIPPED = 8 };          /* messages at most, so that it is not always the first one after a pause */

typedef struct question_t {
    opal_mutex_t lock; /* of all below */
    uint32_t seq;      /* that is awaited, 0: none */
    ompi_process_name_t peer;
    uint64_t asked_ns, predicted_ns, tolerated_ns, bytes;
    _Atomic uint64_t next_ns; /* when the next may be asked */
    _Atomic uint32_t skip;
} question_t;

_Atomic(fsbml_observer_t *) fsbml_observer;

static struct {
    opal_mutex_t lock; /* for beginning */
    bool ready;        /* the questions' locks are made */
    void (*has_observed)(mca_bml_fsbml_group_t *group);
    _Atomic bool asks;        /* arrivals are to be found out */
    fsbml_account_t *account; /* for the report, NULL: none is wanted */
    question_t question[FSBML_MAX_RAILS];
    _Atomic uint32_t turn;
} look = {.lock = OPAL_MUTEX_STATIC_INIT};

static bool is_set(const char *text)
{
    return NULL != text && '\0' != text[0];
}

/* ------------------------------------------------------------------ arrivals */

/* Is a question to follow this message? */
static bool is_due(question_t *q, uint64_t now)
{
    if (now < atomic_load_explicit(&q->next_ns, memory_order_relaxed)) {
        return false;
    }
    if (0 != atomic_load_explicit(&q->skip, memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&q->skip, 1,
                                  memory_order_relaxed); /* two threads: more are skipped, which is no harm */
        return false;
    }
    return true;
}

static void ask_behind(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t given,
                       uint64_t predicted, uint64_t bytes)
{
    question_t *q = &look.question[path->rail];
    uint32_t seq = 0;
    if (0 != opal_mutex_trylock(&q->lock)) {
        return;
    }
    if (0 == q->seq || given - q->asked_ns > LOST_NS) {
        const uint32_t turn = atomic_fetch_add(&look.turn, 1);
        seq = turn | UINT32_C(1) << 31; /* never 0 */
        q->seq = seq;
        q->peer = ep->proc->super.proc_name;
        q->asked_ns = given;
        q->predicted_ns = predicted;
        q->tolerated_ns = predicted / TOLERATED;
        q->bytes = bytes;
        atomic_store_explicit(&q->next_ns, given + PAUSE_NS, memory_order_relaxed);
        atomic_store_explicit(&q->skip, (turn * 5u) % SKIPPED, memory_order_relaxed);
    }
    opal_mutex_unlock(&q->lock);
    if (0 != seq) {
        const fsbml_packet_t question = {
            .type = FSBML_PACKET_ASK,
            .flags = FSBML_PACKET_TIMED,
            .from = *OMPI_PROC_MY_NAME,
            .seq = seq,
            .delay_ns = predicted / TOLERATED < UINT32_MAX ? (uint32_t) (predicted / TOLERATED) : UINT32_MAX};
        (void) fsbml_packet_send(&path->super, &question, NULL, 0, 0); /* not sent: not answered */
    }
}

void fsbml_observe_answered(const fsbml_packet_t *packet)
{
    const uint64_t now = fsbml_now_ns();
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        question_t *q = &look.question[r];
        opal_mutex_lock(&q->lock);
        const bool mine = packet->seq == q->seq && OPAL_EQUAL == opal_compare_proc(packet->from, q->peer);
        const uint64_t took = now - q->asked_ns, away = fsbml_away_ns(now, q->tolerated_ns);
        fsbml_arrival_t arrival = {.rail = r, .bytes = q->bytes, .predicted_ns = q->predicted_ns};
        if (mine) {
            q->seq = 0;
        }
        opal_mutex_unlock(&q->lock);
        /* An answer that had to wait for the peer, or behind its messages, tells nothing, nor does one that
         * waited here. */
        const uint64_t back =
            atomic_load(&fsbml_rails.rail[r].way_ns) + atomic_load(&fsbml_rails.rail[r].ask_ns);
        fsbml_observer_t *observer = atomic_load_explicit(&fsbml_observer, memory_order_acquire);
        if (mine && 0 == packet->delay_ns && 0 == away && NULL != observer) {
            arrival.observed_ns = took > back ? took - back : 1;
            fsbml_observer_arrived(observer, &arrival);
        }
    }
}

/* ------------------------------------------------------------------- charges */

/* Ranks are those of this job. */
static uint32_t rank_of(const mca_bml_fsbml_endpoint_t *ep)
{
    const ompi_process_name_t *name = &ep->proc->super.proc_name;
    return name->jobid == OMPI_PROC_MY_NAME->jobid ? name->vpid : FSBML_NO_PEER;
}

void fsbml_observe_charge(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now,
                          size_t bytes, uint32_t candidates)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_observer_t *observer = atomic_load_explicit(&fsbml_observer, memory_order_acquire);
    const fsbml_far_t *far = atomic_load_explicit(&ep->far, memory_order_acquire);
    const uint32_t rail = path->rail;
    if (OPAL_UNLIKELY(NULL
                      == observer)) { /* a tool has just begun, and this thread does not see all of it yet */
        fsbml_sched_charge(m->sched, rail, now, bytes);
        return;
    }
    const bool asks = atomic_load_explicit(&look.asks, memory_order_relaxed) && m->rail[rail].measured
                      && is_due(&look.question[rail], now) && !ep->mute && fsbml_closing_is_far_off();
    const uint64_t predicted = asks ? fsbml_sched_predict(m->sched, rail, now, bytes) : 0;
    fsbml_observer_charge(observer, rail, now, bytes, candidates | fsbml_bit(rail), rank_of(ep), far);
    if (asks) {
        ask_behind(ep, path, now, predicted + (NULL != far ? fsbml_far_ns(far, rail) : 0), bytes);
    }
}

void fsbml_observe_transfer(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now,
                            size_t bytes, uint32_t candidates)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_observer_t *observer = atomic_load_explicit(&fsbml_observer, memory_order_acquire);
    if (OPAL_LIKELY(NULL == observer)) {
        fsbml_sched_charge(m->sched, path->rail, now, bytes);
    } else {
        fsbml_observer_charge(observer, path->rail, now, bytes, candidates, rank_of(ep),
                              atomic_load_explicit(&ep->far, memory_order_acquire));
    }
}

/* The same for a put past the pseudo BTL, of which the peer may not be known. */
static void charge_put(uint32_t rail, uint64_t now, size_t bytes, uint32_t peer)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_observer_t *observer = atomic_load_explicit(&fsbml_observer, memory_order_acquire);
    if (OPAL_LIKELY(NULL == observer)) {
        fsbml_sched_charge(m->sched, rail, now, bytes);
    } else {
        fsbml_observer_charge(observer, rail, now, bytes, fsbml_bit(rail), peer, NULL);
    }
}

/* ------------------------------------------------------------ begin and end */

static bool begin(const fsbml_observer_config_t *config)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_observer_t *observer = fsbml_observer_create(m->sched, config);
    if (NULL == observer) {
        return false;
    }
    fsbml_observer = observer;
    for (uint32_t g = 0; g < m->n_groups; ++g) {
        look.has_observed(m->group[g]);
    }
    return true;
}

bool fsbml_observe_begin(void)
{
    const fsbml_observer_config_t counters_only = {.trace_every = 0};
    opal_mutex_lock(&look.lock);
    const bool there = NULL != fsbml_observer || (NULL != fsbml_rails.sched && begin(&counters_only));
    opal_mutex_unlock(&look.lock);
    return there;
}

void fsbml_observe_arrivals(void)
{
    look.asks = fsbml_observe_begin();
    if (look.asks) {
        fsbml_away_watch();
    }
}

void fsbml_observe_start(void (*has_observed)(mca_bml_fsbml_group_t *group))
{
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    fsbml_observer_config_t config = {.trace_every = 0};
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        OBJ_CONSTRUCT(&look.question[r].lock, opal_mutex_t);
        look.question[r].seq = 0;
        atomic_store(&look.question[r].next_ns, 0);
        atomic_store(&look.question[r].skip, 0);
    }
    look.has_observed = has_observed;
    look.ready = true;
    look.asks = false;
    if (0 == fsbml_rails.n_rails || (!is_set(p->report) && !is_set(p->trace))) {
        return;
    }
    if (is_set(p->trace)) {
        config.trace_every = p->trace_every;
        config.trace_entries = p->trace_entries;
    }
    if (is_set(p->report) && NULL != (look.account = fsbml_account_create(fsbml_rails.n_rails))) {
        config.audience = fsbml_account_audience(look.account);
        for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
            const mca_btl_base_module_t *btl = fsbml_rails.rail[r].btl;
            const fsbml_r2_rail_t stated = {btl->btl_bandwidth, btl->btl_latency, btl->btl_eager_limit,
                                            NULL != btl->btl_sendi};
            (void) fsbml_account_set_r2(look.account, r, &stated);
        }
    }
    if (!begin(&config)) {
        fsbml_account_destroy(look.account); /* it would tell of no message */
        look.account = NULL;
        opal_show_help(FSBML_HELP, "nothing observed", true, fsbml_node_name());
    }
    look.asks = is_set(p->report) && NULL != fsbml_observer;
    if (look.asks) {
        fsbml_away_watch();
    }
}

fsbml_account_t *fsbml_observe_account(void)
{
    return look.account;
}

/* No message is sent any more. */
void fsbml_observe_stop(void)
{
    look.asks = false;
    fsbml_away_stop();
    fsbml_observer_destroy(fsbml_observer);
    fsbml_observer = NULL;
    fsbml_account_destroy(look.account);
    look.account = NULL;
    for (uint32_t r = 0; look.ready && r < FSBML_MAX_RAILS; ++r) { /* not if setting up has failed before */
        OBJ_DESTRUCT(&look.question[r].lock);
    }
    look.ready = false;
}

/* -------------------------------------------------- puts past the pseudo BTL */

/* Puts that go to a rail past the pseudo BTL. A peer that has nothing to choose from asks for the bytes of a
 * long message as it would without FSBML, by puts, and one-sided communication may use a rail's BTL itself.
 * The rail was not chosen, but its time is taken, so it is charged: else messages to others would go where
 * these are (thesis 4.3.3.2). */

static mca_btl_base_module_put_fn_t real_put[FSBML_MAX_RAILS];

static int charged_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       void *local_address, uint64_t remote_address,
                       mca_btl_base_registration_handle_t *local_handle,
                       mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                       mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata)
{
    const uint32_t module = (uint32_t) fsbml_rail_of(btl);
    const int rc = real_put[module](btl, endpoint, local_address, remote_address, local_handle, remote_handle,
                                    size, flags, order, cbfunc, cbcontext, cbdata);
    if (OPAL_LIKELY(rc >= 0)) {
        const mca_bml_fsbml_endpoint_t *ep = fsbml_onesided_endpoint(endpoint);
        charge_put(fsbml_pairing_rail_of(module, endpoint), fsbml_now_ns(), size,
                   NULL != ep ? ep->proc->super.proc_name.vpid : FSBML_NO_PEER);
    }
    return rc;
}

void fsbml_put_watch(void)
{
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        const mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[r];
        /* Where the PML puts over the pseudo BTL, that charges. */
        if (NULL != rail->btl->btl_put && 0 == (rail->group->rdma_rails & fsbml_bit(r))) {
            real_put[r] = rail->btl->btl_put;
            rail->btl->btl_put = charged_put;
        }
    }
}

void fsbml_put_unwatch(void)
{
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        if (charged_put == fsbml_rails.rail[r].btl->btl_put) {
            fsbml_rails.rail[r].btl->btl_put = real_put[r];
        }
    }
}
