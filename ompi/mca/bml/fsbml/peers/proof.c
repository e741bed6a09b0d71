/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A path carries traffic only after its peer has answered on it.
 *
 * An endpoint asks on all of its paths as soon as it is made, and waits for nothing: what the PML sends
 * before the first answer is held. The first answer opens its path, unless a much faster one is asked on and
 * may soon be answered on (peers/path.c). A peer that computes does not answer, so silence alone proves
 * nothing: a path is given up only if the peer, asked once more on a live path after the time-out, answers
 * there and not here. */

#include <stdio.h>

#include "peers/hooks.h"

#include "opal/util/show_help.h"

enum { SILENT_NS = 100000000 };
#define LOST_NS UINT64_C(3000000000)

static opal_mutex_t work_lock = OPAL_MUTEX_STATIC_INIT; /* an endpoint under progress() is not released */

static bool needs_nothing(mca_bml_fsbml_endpoint_t *ep)
{
    return (atomic_load(&ep->live) | atomic_load(&ep->asleep)) == atomic_load(&ep->possible)
           && 0 == atomic_load(&ep->n_held) && !fsbml_ask_owes(ep) && NULL == atomic_load(&ep->waiting);
}

/* ------------------------------------------------------------------- failures */

static bool close_unproved(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, const char *why)
{
    if (0 == (ep->group->rails & fsbml_bit(rail))) {
        return false;
    }
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (ep->path[i].module == rail) {
            if (0 != (atomic_load(&ep->live) & fsbml_bit(ep->path[i].rail))) {
                return false;
            }
            fsbml_path_close(ep, &ep->path[i], why);
            return true;
        }
    }
    return false;
}

bool fsbml_proof_failed(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, const char *why)
{
    if (!close_unproved(ep, rail, why)) {
        return false;
    }
    fsbml_watch(ep); /* pending messages must take another rail, but not from within a BTL's error callback */
    return true;
}

typedef struct lost_t {
    const mca_btl_base_module_t *btl;
    const struct mca_btl_base_endpoint_t *endpoint;
} lost_t;

/* An endpoint is there as long as the list is locked. */
static bool close_lost(mca_bml_fsbml_endpoint_t *ep, void *what)
{
    const lost_t *l = what;
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (ep->path[i].super.btl == l->btl && ep->path[i].super.btl_endpoint == l->endpoint) {
            (void) close_unproved(ep, (uint32_t) fsbml_rail_of(l->btl), "it could not be connected");
            return true;
        }
    }
    return false;
}

/* A packet could not be delivered: the path that it was for, if it is not proved, has failed. */
static void lost(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    lost_t l = {btl, endpoint};
    fsbml_watch_find(close_lost, &l);
}

/* --------------------------------------------------------------- time passes */

/* A path may have been asked on after a look at all of them began. */
static uint64_t since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

/* No path was answered for long. The peer may compute; if its network is dead, the BTL will say so in its own
 * time. */
static void tell_silence(mca_bml_fsbml_endpoint_t *ep, uint64_t now)
{
    const uint64_t patience = 10000000000u + 4 * mca_bml_fsbml_params.probe_timeout_ns;
    if (0 == atomic_load(&ep->live) && 0 != atomic_load(&ep->n_held) && !ep->silence_told
        && since(now, ep->asked_ns) > patience) {
        char *peer = fsbml_proc_host(ep->proc);
        ep->silence_told = true;
        opal_show_help(FSBML_HELP, "peer is silent", true, fsbml_node_name(),
                       OMPI_NAME_PRINT(&ep->proc->super.proc_name), peer,
                       (double) since(now, ep->asked_ns) / 1e9);
        free(peer);
    }
}

static void give_up_silent(mca_bml_fsbml_endpoint_t *ep, uint64_t now)
{
    const uint64_t timeout = mca_bml_fsbml_params.probe_timeout_ns;
    uint32_t live = atomic_load(&ep->live),
             silent = atomic_load(&ep->possible) & ~live & ~atomic_load(&ep->asleep);
    bool confirm = false;

    if (0 == live || 0 == silent) {
        return;
    }
    opal_mutex_lock(&ep->lock);
    bool late = 0 != ep->first_live_ns && since(now, ep->first_live_ns) > timeout;
    if (late && 0 == ep->confirm_ns) {
        ep->confirm_ns = now;
        /* Also again on the silent ones: the first question may have been lost with its connection. */
        for (uint32_t i = 0; i < ep->n_paths; ++i) {
            ep->path[i].to_ask = ep->path[i].ask_again = 0 != ((live | silent) & fsbml_bit(ep->path[i].rail));
        }
        confirm = true;
    }
    bool over = 0 != ep->confirmed_ns && since(now, ep->confirmed_ns) > timeout / 4;
    opal_mutex_unlock(&ep->lock);
    if (confirm) {
        fsbml_ask_pending(ep);
    }
    if (over) {
        for (uint32_t i = 0; i < ep->n_paths; ++i) {
            if (silent & fsbml_bit(ep->path[i].rail)) {
                fsbml_path_close(ep, &ep->path[i], "the peer answers on another rail, but not on this one");
            }
        }
    }
}

/* Whether the network of a path that was asked does not acknowledge. */
static bool is_unacknowledged(mca_bml_fsbml_endpoint_t *ep, uint32_t asked)
{
    for (; 0 != asked; asked &= asked - 1) {
        const mca_bml_base_btl_t *path = &fsbml_path(ep, (uint32_t) __builtin_ctz(asked))->super;
        if (fsbml_socket_is_resent(path->btl, path->btl_endpoint)) {
            return true;
        }
    }
    return false;
}

/* The other paths are asked once the first one is closed, or its network does not acknowledge. The silence of
 * a peer alone is no reason: it may be busy, and then a second connection would stay without an answer, too.
 * It becomes one after so long that a connection may have been lost in silence. */
static void wake(mca_bml_fsbml_endpoint_t *ep, uint64_t now)
{
    const uint32_t asleep = atomic_load(&ep->asleep), possible = atomic_load(&ep->possible);
    const uint64_t silent_ns = 0 == atomic_load(&ep->live) ? since(now, ep->asked_ns) : 0;
    if (0 != asleep
        && (possible == asleep || silent_ns > LOST_NS
            || (silent_ns > SILENT_NS && is_unacknowledged(ep, possible & ~asleep)))) {
        fsbml_ask_wake(ep);
    }
}

static void no_way(mca_bml_fsbml_endpoint_t *ep)
{
    bool removed = true; /* all rails were taken away on request: the PML knows */
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        removed = removed && ep->path[i].removed;
    }
    if (removed && 0 == atomic_load(&ep->n_held) && NULL == atomic_load(&ep->waiting)) {
        return;
    }
    char *peer = fsbml_proc_host(ep->proc);
    char *why = removed ? "all rails removed" : "no rail answers";
    opal_show_help(FSBML_HELP, why, true, fsbml_node_name(), OMPI_NAME_PRINT(&ep->proc->super.proc_name),
                   peer);
    free(peer);
    fsbml_peers_no_path(ep);
    if (NULL != fsbml_rails.error_cb) {
        fsbml_rails.error_cb(&ep->group->pseudo, MCA_BTL_ERROR_FLAGS_FATAL, &ep->proc->super, why);
    }
}

enum { BATCH = 64 }; /* endpoints, at a time */

/* One round over what waits; the caller has work_lock. True: some of it waits for room only. */
static bool look_after(uint64_t now)
{
    bool full = false;
    mca_bml_fsbml_endpoint_t *ep[BATCH];
    const size_t n = fsbml_watch_next(ep, BATCH);

    for (size_t i = 0; i < n; ++i) {
        wake(ep[i], now);
        fsbml_path_look(ep[i]);
        fsbml_ask_pending(ep[i]);
        tell_silence(ep[i], now);
        give_up_silent(ep[i], now);
        bool settled = fsbml_path_report(ep[i], now, false);
        if (0 == atomic_load(&ep[i]->possible)) {
            if (settled) {
                fsbml_watch_end(ep[i]);
                no_way(ep[i]);
                if (0 != atomic_load(&ep[i]->possible)) {
                    fsbml_watch(ep[i]); /* a rail came back meanwhile */
                }
            }
            continue;
        }
        fsbml_peers_look(ep[i]);
        full = full
               || (0 != atomic_load(&ep[i]->live)
                   && (0 != atomic_load(&ep[i]->n_held) || NULL != atomic_load(&ep[i]->waiting)));
        if (settled && needs_nothing(ep[i])) {
            fsbml_watch_end(ep[i]);
            if (!needs_nothing(ep[i])) {
                fsbml_watch(ep[i]); /* something came meanwhile, and found it still watched */
            }
        }
    }
    return full;
}

static int progress(void)
{
    enum { SOON_NS = 10000, USUAL_NS = 200000, SHARE = 16, MOST_NS = 5000000 };
    static _Atomic uint64_t next_ns;
    uint64_t now = fsbml_now_ns();

    if (now < atomic_load_explicit(&next_ns, memory_order_relaxed) || 0 != opal_mutex_trylock(&work_lock)) {
        return 0;
    }
    /* Once in 0.2 ms is enough for paths, but not for a rail that has room again; and with many peers to look
     * after, a sixteenth of the time. */
    const uint64_t pause = look_after(now) ? SOON_NS : USUAL_NS, took = since(fsbml_now_ns(), now);
    const uint64_t share = SHARE * took < MOST_NS ? SHARE * took : MOST_NS;
    atomic_store_explicit(&next_ns, now + (pause > share ? pause : share), memory_order_relaxed);
    opal_mutex_unlock(&work_lock);
    fsbml_watch_rest();
    return 0;
}

void fsbml_proof_tell(void)
{
    mca_bml_fsbml_endpoint_t *ep[BATCH];
    opal_mutex_lock(&work_lock);
    const size_t n = fsbml_watch_next(ep, BATCH);
    for (size_t i = 0; i < n; ++i) {
        (void) fsbml_path_report(ep[i], fsbml_now_ns(), true);
    }
    opal_mutex_unlock(&work_lock);
}

void fsbml_proof_forget(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&work_lock);
    fsbml_watch_end(ep);
    opal_mutex_unlock(&work_lock);
    fsbml_peers_forget(ep);
}

/* ------------------------------------------------------------ begin and end */

int fsbml_proof_init(void)
{
    fsbml_watch_by(progress);
    fsbml_packet_handle(FSBML_PACKET_ASK, fsbml_ask_heard);
    fsbml_packet_handle(FSBML_PACKET_ANSWER, fsbml_ask_answered);
    fsbml_packet_handle(FSBML_PACKET_LOOK, fsbml_diagnose_packet);
    fsbml_packet_handle(FSBML_PACKET_SEEN, fsbml_diagnose_packet);
    fsbml_packet_lost(lost);
    const int rc = fsbml_path_init();
    return OMPI_SUCCESS == rc ? fsbml_packet_init() : rc;
}

void fsbml_proof_fini(void)
{
    fsbml_watch_fini();
    fsbml_path_fini();
}

void fsbml_endpoint_release(mca_bml_base_endpoint_t *bml_ep)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
    if (NULL != ep) {
        fsbml_proof_forget(ep);
        for (uint32_t i = 0; i < ep->n_paths; ++i) {
            fsbml_peers_path_gone(&ep->path[i]);
        }
        OBJ_DESTRUCT(&ep->held);
        OBJ_DESTRUCT(&ep->lock);
        fsbml_hooks_unplace(ep);
    }
}
