/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are farther on some of their rails than the table says, which one pair of nodes has measured: by
 * the kernel's shortest round trips, here and of that pair (core/flow/flow.hpp). They are looked at when
 * a path becomes live, and then one by one, a connection each millisecond: the shortest becomes shorter with
 * time, and longer where the network has changed. */

#include "flow/flow.h"

#include "opal/runtime/opal_progress.h"

enum { TURN_NS = 1000000 };

static bool on;
static _Atomic uint64_t next_ns;

static void tell(const mca_bml_fsbml_endpoint_t *ep, uint32_t rail, double extra_ns)
{
    const char *name = fsbml_rails.rail[rail].name, *peer = OMPI_NAME_PRINT(&ep->proc->super.proc_name);
    if (extra_ns > 0.0) {
        FSBML_VERBOSE(FSBML_V_PEER, "rail %s to %s is %.0f us farther than measured", name, peer,
                      extra_ns / 1e3);
    } else {
        FSBML_VERBOSE(FSBML_V_PEER, "rail %s to %s is as far as measured again", name, peer);
    }
}

/* One at a time: with the lock of the connections. */
static void compare(mca_bml_fsbml_endpoint_t *ep)
{
    const uint32_t live = atomic_load(&ep->live);
    const fsbml_far_t *far = atomic_load(&ep->far);
    fsbml_round_trip_t rail[FSBML_MAX_RAILS] = {{.least_ns = 0}};
    double extra[FSBML_MAX_RAILS];
    for (uint32_t left = live; 0 != left; left &= left - 1) {
        const uint32_t r = (uint32_t) __builtin_ctz(left);
        const fsbml_connection_t *c = fsbml_path(ep, r)->connection;
        rail[r] = (fsbml_round_trip_t){.least_ns = NULL != c ? c->round_trip_ns : 0,
                                       .samples = NULL != c ? c->segments : 0,
                                       .measured_ns = atomic_load(&fsbml_rails.rail[r].round_trip_ns),
                                       .L_ns = atomic_load(&fsbml_rails.rail[r].L_ns),
                                       .counts_ns = NULL != far ? fsbml_far_ns(far, r) : 0};
    }
    const uint32_t changed = fsbml_distance(live, rail, extra);
    double farthest = 0.0;
    if (0 == changed || (NULL == ep->farther && NULL == (ep->farther = calloc(1, sizeof(*ep->farther))))) {
        return;
    }
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        farthest = extra[r] > farthest ? extra[r] : farthest;
        if (0 != (changed & fsbml_bit(r))) {
            tell(ep, r, extra[r]);
        }
    }
    fsbml_far_set(ep->farther, extra);
    atomic_store(&ep->far, farthest > 0.0 ? ep->farther : NULL);
}

void fsbml_latency_look_at(mca_bml_fsbml_endpoint_t *ep)
{
    if (on) {
        fsbml_sockets_ask(ep, compare);
    }
}

static int look(void)
{
    const uint64_t now = fsbml_now_ns();
    uint64_t due = atomic_load_explicit(&next_ns, memory_order_relaxed);
    if (now >= due && atomic_compare_exchange_strong(&next_ns, &due, now + TURN_NS)) {
        fsbml_sockets_turn(compare);
    }
    return 0;
}

void fsbml_latency_setup(void)
{
    on = mca_bml_fsbml_params.per_peer && fsbml_peers_by_time();
    atomic_store(&next_ns, 0);
    if (on) {
        opal_progress_register_lp(look);
    }
}

void fsbml_latency_teardown(void)
{
    if (on) {
        opal_progress_unregister(look);
    }
    on = false;
}

/* The peer goes: no message is for it any more. */
void fsbml_latency_forget(mca_bml_fsbml_endpoint_t *ep)
{
    atomic_store(&ep->far, NULL);
    free(ep->farther);
    ep->farther = NULL;
}

static void no_more(mca_bml_fsbml_endpoint_t *ep)
{
    (void) ep;
}

uint64_t fsbml_flow_round_trip(mca_bml_fsbml_endpoint_t *ep, uint32_t rail)
{
    fsbml_sockets_ask(ep, no_more);
    const fsbml_connection_t *c = fsbml_path(ep, rail)->connection;
    return NULL != c ? c->round_trip_ns : 0;
}
