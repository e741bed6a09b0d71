/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A path's state: possible, live, closed because it failed, removed on request. Senders read the masks
 * without a lock; a thread that changes them has the endpoint's, so that no answer opens a path that is being
 * taken away. */

#include <math.h>
#include <stdio.h>

#include "peers/hooks.h"

#include "opal/class/opal_hash_table.h"
#include "opal/util/show_help.h"

/* ---------------------------------------------------------------------- a node's rails */

/* Ranks of a node share its rails: a cable, a frame's size, an address. So once one of them has answered on a
 * rail, the first paths to the others carry traffic at once, as they would with r2. With failover each is
 * asked: its answer has what frames need. */
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static opal_hash_table_t nodes; /* by node and rail */
static bool has_nodes;

int fsbml_path_init(void)
{
    OBJ_CONSTRUCT(&nodes, opal_hash_table_t);
    has_nodes = OPAL_SUCCESS == opal_hash_table_init(&nodes, 64);
    return has_nodes ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

void fsbml_path_fini(void)
{
    if (has_nodes) {
        has_nodes = false;
        OBJ_DESTRUCT(&nodes);
    }
}

static uint64_t key_of(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path)
{
    return (uint64_t) ep->node << 32 | path->rail;
}

fsbml_node_t fsbml_node_knows(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path)
{
    void *state = NULL;
    opal_mutex_lock(&lock);
    if (has_nodes && 0 != ep->node) {
        (void) opal_hash_table_get_value_uint64(&nodes, key_of(ep, path), &state);
    }
    opal_mutex_unlock(&lock);
    return (fsbml_node_t) (uintptr_t) state;
}

void fsbml_node_learn(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path,
                      fsbml_node_t state)
{
    opal_mutex_lock(&lock);
    if (has_nodes && 0 != ep->node) {
        (void) opal_hash_table_set_value_uint64(&nodes, key_of(ep, path), (void *) (uintptr_t) state);
    }
    opal_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------------ a path's state */

/* How much sooner a peer has a whole message by a faster rail that may still be answered on, in ns. An answer
 * that comes behind the bulk of others is late, and then a slow rail's is first. */
static uint64_t worth_waiting(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path)
{
    enum { MOST_NS = 100000000 };
    fsbml_loggp_t own, other;
    double least = HUGE_VAL;
    if (!fsbml_peers_by_time() || !fsbml_sched_model(fsbml_rails.sched, path->rail, &own)) {
        return 0;
    }
    uint32_t awaited = atomic_load(&ep->possible) & ~atomic_load(&ep->asleep) & ~fsbml_bit(path->rail);
    for (; 0 != awaited; awaited &= awaited - 1) {
        if (fsbml_sched_model(fsbml_rails.sched, (uint32_t) __builtin_ctz(awaited), &other)) {
            least = fmin(least, other.G_ns_per_byte);
        }
    }
    const double gains = (own.G_ns_per_byte - least) * (double) ep->group->pseudo.btl_eager_limit;
    return (uint64_t) fmax(0.0, fmin(gains, MOST_NS));
}

void fsbml_path_look(mca_bml_fsbml_endpoint_t *ep)
{
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        opal_mutex_lock(&ep->lock);
        const bool waits = ep->path[i].waits;
        opal_mutex_unlock(&ep->lock);
        if (waits) {
            fsbml_path_open(ep, &ep->path[i]);
        }
    }
}

void fsbml_path_open(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    const uint32_t bit = fsbml_bit(path->rail);
    opal_mutex_lock(&ep->lock);
    const uint64_t now = fsbml_now_ns(); /* not before it was asked, by another thread */
    const uint32_t live = atomic_load(&ep->live);
    const bool comes_back = path->reported, may = !path->removed && 0 == (live & bit);
    path->waits = may && 0 == live && !comes_back && now - ep->asked_ns < worth_waiting(ep, path);
    const bool opens = may && !path->waits;
    if (opens) {
        path->reported = false;
        path->closed_ns = 0;
        atomic_store(&path->proved, true);
        ep->first_live_ns = 0 == live ? now : ep->first_live_ns;
        atomic_fetch_or(&ep->possible, bit);
        atomic_fetch_or(&ep->live, bit);
    }
    opal_mutex_unlock(&ep->lock);
    if (!opens) {
        return;
    }
    fsbml_node_learn(ep, path, FSBML_NODE_ANSWERED);
    if (comes_back) {
        FSBML_VERBOSE(FSBML_V_RAILS, "rail %s to %s answers after all and is used again",
                      fsbml_rails.rail[path->rail].name, OMPI_NAME_PRINT(&ep->proc->super.proc_name));
    }
    FSBML_VERBOSE(FSBML_V_PEER, "rail %s to %s is live", fsbml_rails.rail[path->rail].name,
                  OMPI_NAME_PRINT(&ep->proc->super.proc_name));
    fsbml_peers_path_live(ep);
}

void fsbml_path_close(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, const char *why)
{
    const uint32_t bit = fsbml_bit(path->rail);
    opal_mutex_lock(&ep->lock);
    const bool closes = 0 != (atomic_fetch_and(&ep->possible, ~bit) & bit) && !path->removed;
    if (closes) {
        atomic_fetch_and(&ep->live, ~bit);
        atomic_fetch_and(&ep->asleep, ~bit);
        snprintf(path->why, sizeof(path->why), "%s", why);
        path->kind = FSBML_FAULT_OTHER;
        path->looked = path->judged = path->waits = false;
        path->closed_ns = fsbml_now_ns();
    }
    opal_mutex_unlock(&ep->lock);
    if (!closes) {
        return;
    }
    fsbml_node_learn(ep, path, FSBML_NODE_SILENT);
    FSBML_VERBOSE(FSBML_V_PEER, "rail %s to %s is closed: %s", fsbml_rails.rail[path->rail].name,
                  OMPI_NAME_PRINT(&ep->proc->super.proc_name), why);
}

/* Whether it is time to tell of a closed path: a peer that was asked in time why it does not work may be
 * busy, and has four times as long to answer. At the end of a job there is less time for that. */
static bool is_due(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now, bool at_end)
{
    const uint64_t timeout = mca_bml_fsbml_params.probe_timeout_ns, closed_ns = path->closed_ns;
    const uint64_t since = now > closed_ns ? now - closed_ns : 0;
    const bool asked = path->looked;
    fsbml_diagnose_begin(ep, path);
    return since > (at_end ? timeout / 4 : asked && !path->judged ? 4 * timeout : timeout);
}

bool fsbml_path_report(mca_bml_fsbml_endpoint_t *ep, uint64_t now, bool at_end)
{
    bool all_told = true;
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        mca_bml_fsbml_path_t *path = &ep->path[i];
        if (!fsbml_path_closed(path) || path->reported) {
            continue;
        }
        if (!is_due(ep, path, now, at_end)) {
            all_told = false;
            continue;
        }
        const mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[path->rail];
        char rest[256], detail[FSBML_NAME_DETAIL], why[sizeof(path->why)];
        fsbml_diagnose_end(ep, path);
        char *peer = fsbml_proc_host(ep->proc);
        opal_mutex_lock(&ep->lock);
        const uint32_t kind = path->kind;
        memcpy(why, path->why, sizeof(why));
        path->reported = true;
        opal_mutex_unlock(&ep->lock);
        fsbml_rails_names(atomic_load(&ep->possible), rest, sizeof(rest));
        opal_show_help(FSBML_HELP, "rail left out", true, rail->name, fsbml_name_detail(rail, detail),
                       fsbml_node_name(), peer, why, '\0' != rest[0] ? rest : "none");
        fsbml_diagnose_note(path->rail, peer, kind, why);
        free(peer);
    }
    return all_told;
}

void fsbml_path_use_one(mca_bml_fsbml_endpoint_t *ep)
{
    uint32_t only = 0;
    for (uint32_t i = ep->n_paths; i-- > 0;) {
        only = ep->path[i].removed ? only : fsbml_bit(ep->path[i].rail);
    }
    atomic_store(&ep->possible, only);
    atomic_store(&ep->live, only);
    atomic_store(&ep->asleep, 0);
}

void fsbml_path_remove(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    opal_mutex_lock(&ep->lock);
    path->removed = true;
    path->closed_ns = 0;
    path->reported = false;
    fsbml_endpoint_remove_path(ep, path->rail);
    fsbml_node_learn(ep, path, FSBML_NODE_SILENT);
    if (ep->mute) {
        fsbml_path_use_one(ep);
    }
    opal_mutex_unlock(&ep->lock);
    if (0 != atomic_load(&ep->n_held)) {
        fsbml_watch(ep); /* what waits for this rail alone must fail */
    }
}
