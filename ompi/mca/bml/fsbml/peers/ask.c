/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions on paths, and answers: what is asked on one, what a peer's question proves, and what an answer
 * does. Both are repeated until the BTL has room for them.
 *
 * While one rank of a node is asked on a rail, the others wait for its answer for a while, as that opens the
 * paths to them as well (peers/path.c). */

#include <errno.h>
#include <math.h>

#include "peers/hooks.h"

#include "opal/util/show_help.h"

bool fsbml_ask_owes(mca_bml_fsbml_endpoint_t *ep)
{
    bool owes = false;
    opal_mutex_lock(&ep->lock);
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        owes = owes || ep->path[i].owes;
    }
    opal_mutex_unlock(&ep->lock);
    return owes;
}

/* A question's number: its path's round, and whether it was asked after the time-out. The answer repeats
 * it. */
enum { SEQ_AGAIN = 1 };

/* A BTL without room for it now (a full queue, no descriptor): that passes, and says nothing of the path. */
static bool is_full(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc || OMPI_ERR_TEMP_OUT_OF_RESOURCE == rc;
}

/* Of a path and of the peer, as this end names them. */
static uint32_t name(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path)
{
    return (uint32_t) ep->handle << 16 | (path->rail + 1);
}

/* Sends the question that is to be sent on this path, if there is one. What its BTL has no room for is tried
 * again by progress(), until the time-out. */
static void ask(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    opal_mutex_lock(&ep->lock);
    /* Not where another path is live: what goes by a connection that does not stand yet needs a process that
     * looks, and MPI may have returned to its program. */
    const bool is_known = path->to_ask && !path->ask_again && 0 == atomic_load(&ep->live)
                          && FSBML_NODE_ANSWERED == fsbml_node_knows(ep, path);
    const bool asks = path->to_ask && !is_known && fsbml_now_ns() >= ep->ask_from_ns;
    const uint32_t seq = path->round << 1 | (path->ask_again ? SEQ_AGAIN : 0);
    path->to_ask = path->to_ask && !asks && !is_known;
    ep->ask_from_ns = is_known ? 0 : ep->ask_from_ns; /* its other paths wait for nothing */
    opal_mutex_unlock(&ep->lock);
    if (is_known) {
        fsbml_path_open(ep, path);
    }
    if (!asks) {
        return;
    }
    if (FSBML_NODE_SILENT == fsbml_node_knows(ep, path)) {
        fsbml_node_learn(ep, path, FSBML_NODE_ASKED);
    }
    const fsbml_packet_t packet = {.type = FSBML_PACKET_ASK,
                                   .from = *OMPI_PROC_MY_NAME,
                                   .seq = seq,
                                   .count = ep->proc->super.proc_name.vpid + 1,
                                   .bytes = ep->proc->super.proc_name.jobid,
                                   .delay_ns = name(ep, path)};
    /* It fills a frame: a path on which only small ones get through would swallow what the PML sends. */
    const int rc = fsbml_packet_send(&path->super, &packet, NULL, 0, fsbml_end_frame(path->rail));
    const uint64_t now = fsbml_now_ns();
    bool refuses = OMPI_SUCCESS != rc;
    opal_mutex_lock(&ep->lock);
    if (is_full(rc)) {
        path->refused_ns = 0 != path->refused_ns ? path->refused_ns : now;
        /* while no other path is live, it is all that there is */
        const uint64_t since = path->refused_ns > ep->first_live_ns ? path->refused_ns : ep->first_live_ns;
        refuses =
            0 != atomic_load(&ep->live) && now > since && now - since > mca_bml_fsbml_params.probe_timeout_ns;
        path->to_ask = true;
    } else {
        path->refused_ns = 0;
    }
    opal_mutex_unlock(&ep->lock);
    if (refuses && 0 == (atomic_load(&ep->live) & fsbml_bit(path->rail))) {
        fsbml_path_close(ep, path,
                         OMPI_ERR_NOT_SUPPORTED == rc ? "its BTL does not keep the flags of a descriptor"
                                                      : "its BTL refuses to send");
    }
}

static void answer(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    opal_mutex_lock(&ep->lock);
    const bool answers = path->owes;
    const fsbml_packet_t packet = {.type = FSBML_PACKET_ANSWER,
                                   .from = *OMPI_PROC_MY_NAME,
                                   .seq = path->owed_seq,
                                   .count = OMPI_PROC_MY_NAME->vpid + 1,
                                   .bytes = OMPI_PROC_MY_NAME->jobid,
                                   .delay_ns = name(ep, path)};
    path->owes = false;
    opal_mutex_unlock(&ep->lock);
    if (answers && is_full(fsbml_packet_send(&path->super, &packet, NULL, 0, 0))) {
        opal_mutex_lock(&ep->lock);
        if (!path->owes) { /* else: a newer question came meanwhile */
            path->owes = true;
            path->owed_seq = packet.seq;
        }
        opal_mutex_unlock(&ep->lock);
        fsbml_watch(ep);
    }
}

static void owe(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint32_t seq)
{
    opal_mutex_lock(&ep->lock);
    path->owes = true;
    path->owed_seq = seq;
    if (0 == ep->node) {
        ep->ask_from_ns = 0; /* it knows this process */
    }
    opal_mutex_unlock(&ep->lock);
}

void fsbml_ask_pending(mca_bml_fsbml_endpoint_t *ep)
{
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        ask(ep, &ep->path[i]);
        answer(ep, &ep->path[i]);
    }
}

/* Both ends name a path by the rail of one of them. */
static void pair(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path, const fsbml_packet_t *packet)
{
    const uint32_t rail = packet->delay_ns & 0xffff;
    if (rail > 0 && rail <= FSBML_MAX_RAILS) {
        fsbml_peers_path_paired(ep, path, rail - 1, (uint16_t) (packet->delay_ns >> 16));
    }
}

/* False for a path that was removed. */
static bool prepare(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    opal_mutex_lock(&ep->lock);
    const bool removed = path->removed;
    if (!removed) {
        path->closed_ns = 0;
        path->round++;
        ep->first_live_ns = 0 != atomic_load(&ep->live) ? fsbml_now_ns() : 0;
        ep->confirm_ns = ep->confirmed_ns = 0;
        ep->asked_ns = fsbml_now_ns();
        path->to_ask = true;
        path->ask_again = false;
        path->refused_ns = 0;
        atomic_fetch_or(&ep->possible, fsbml_bit(path->rail));
        atomic_fetch_and(&ep->asleep, ~fsbml_bit(path->rail));
    }
    opal_mutex_unlock(&ep->lock);
    return !removed;
}

static void ask_path(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    if (prepare(ep, path)) {
        ask(ep, path);
        fsbml_watch(ep);
    }
}

/* Whether a path that sleeps would deliver a message before the one that has a queue. */
static bool is_earlier(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, size_t bytes)
{
    enum { QUEUE_NS = 20000 };
    const uint64_t now = fsbml_now_ns();
    const size_t used = (size_t) __builtin_ctz(rail);
    return fsbml_sched_backlog(fsbml_rails.sched, used, now) > QUEUE_NS
           && (int) used
                  != fsbml_sched_choose(fsbml_rails.sched, now, bytes, atomic_load(&ep->asleep) | rail);
}

void fsbml_ask_more(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, size_t bytes)
{
    /* A connection takes longer than what one exchange between all processes could gain by it. */
    enum { LONG = 4096, TIMES = 8 };
    const bool gains = bytes >= LONG || (0 != rail && is_earlier(ep, rail, bytes));
    if (gains && TIMES == atomic_fetch_add_explicit(&ep->missed, 1, memory_order_relaxed) + 1) {
        fsbml_ask_wake(ep);
    }
}

void fsbml_ask_wake(mca_bml_fsbml_endpoint_t *ep)
{
    for (uint32_t asleep = atomic_load(&ep->asleep), i = 0; i < ep->n_paths; ++i) {
        if (asleep & fsbml_bit(ep->path[i].rail)) {
            (void) prepare(ep, &ep->path[i]);
        }
    }
    fsbml_watch(ep);
}

void fsbml_ask_return(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    opal_mutex_lock(&ep->lock);
    const bool mute = ep->mute;
    path->removed = false;
    if (mute && 0 == atomic_load(&ep->live)) {
        fsbml_path_use_one(ep);
    }
    opal_mutex_unlock(&ep->lock);
    if (!mute) {
        ask_path(ep, path);
    }
    fsbml_peers_path_live(ep);
}

/* Largest job, in processes, that connects all rails to each peer at once, and only where each process has a
 * processor: those that wait take turns, in each of which all their connections are polled. */
enum { FEW = 16 };

static bool is_small_job(void)
{
    return fsbml_job_size() <= FEW && 1 == fsbml_kernel_sharers();
}

/* The path on which a short message is there first, if that is known; else the first. Without what a bucket
 * lets pass, which one of many may use. */
static uint32_t nearest(const mca_bml_fsbml_endpoint_t *ep)
{
    enum { SHORT = 1024 };
    uint32_t best = 0;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        fsbml_loggp_t p;
        if (!fsbml_sched_model(fsbml_rails.sched, ep->path[i].rail, &p)) {
            continue;
        }
        const double way_ns = p.L_ns + p.o_s_ns + p.o_r_ns + p.G_ns_per_byte * SHORT;
        if (way_ns < least) {
            best = i;
            least = way_ns;
        }
    }
    return best;
}

void fsbml_ask_peer(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_hello_t *hello = malloc(sizeof(*hello));
    int rc = NULL != hello ? fsbml_hello_fetch(&ep->proc->super.proc_name, hello) : -ENOMEM;
    const uint32_t node = 0 == rc ? fsbml_digest(hello->node) : 0;
    free(hello);
    if (0 != rc) {
        /* The peer does not run FSBML, and answers no probe. One rail, the first, as it would be without
         * FSBML. */
        const mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[ep->path[0].rail];
        char *peer = fsbml_proc_host(ep->proc), full[FSBML_NAME_FULL];
        opal_show_help(FSBML_HELP, "peer without fsbml", true, OMPI_NAME_PRINT(&ep->proc->super.proc_name),
                       peer, fsbml_name_full(rail->name, &rail->about, full));
        free(peer);
        opal_mutex_lock(&ep->lock);
        ep->mute = true;
        fsbml_path_use_one(ep);
        opal_mutex_unlock(&ep->lock);
        return;
    }
    /* Processes of two jobs come to know each other when both have been told of the other's, one a little
     * earlier than the other: tcp warns of a connection from a process that is not known yet. */
    enum { TOLD_NS = 5000000, OTHERS_NS = 100000000 };
    if (ep->proc->super.proc_name.jobid != OMPI_PROC_MY_NAME->jobid) {
        ep->ask_from_ns = fsbml_now_ns() + TOLD_NS;
    } else if (!mca_bml_fsbml_params.failover) {
        ep->node = node;
    }
    /* Each connection is a descriptor here and there, and is polled by all that wait. */
    const uint32_t first = nearest(ep);
    const bool sleep = !is_small_job() && mca_bml_fsbml_params.per_peer && fsbml_peers_by_time();
    if (FSBML_NODE_ASKED == fsbml_node_knows(ep, &ep->path[first])) {
        ep->ask_from_ns = fsbml_now_ns() + OTHERS_NS;
    }
    for (uint32_t i = 0; sleep && i < ep->n_paths; ++i) {
        atomic_fetch_or(&ep->asleep, i != first ? fsbml_bit(ep->path[i].rail) : 0);
    }
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (!sleep || i == first) {
            ask_path(ep, &ep->path[i]);
        }
    }
}

void fsbml_ask_heard(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                     size_t len)
{
    (void) payload;
    (void) len;
    const bool mine = fsbml_diagnose_is_mine(packet);
    if (!mine && OPAL_EQUAL == opal_compare_proc(packet->from, *OMPI_PROC_MY_NAME)) {
        fsbml_diagnose_astray(btl, packet, &packet->from); /* it came back here */
        return;
    }
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(packet->from);
    mca_bml_base_endpoint_t *bml_ep = NULL != proc ? mca_bml_base_get_endpoint(proc) : NULL;
    const mca_bml_base_btl_t *entry = NULL != bml_ep ? fsbml_endpoint_entry(bml_ep, btl) : NULL;
    if (NULL == entry) {
        FSBML_VERBOSE(FSBML_V_PEER, "%s asks on a rail that does not lead back to it",
                      OMPI_NAME_PRINT(&packet->from));
        return; /* a one-way rail: an answer would make it look good */
    }
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
    const bool timed = 0 != (packet->flags & FSBML_PACKET_TIMED);
    if (timed || !mine || NULL == ep) { /* of these, one that is lost costs nothing */
        const fsbml_packet_t now = {.type = FSBML_PACKET_ANSWER,
                                    .flags = (packet->flags & FSBML_PACKET_TIMED)
                                             | (mine ? 0 : FSBML_PACKET_ASTRAY),
                                    .from = *OMPI_PROC_MY_NAME,
                                    .seq = packet->seq,
                                    .count = packet->count,
                                    .bytes = packet->bytes,
                                    .delay_ns = timed ? fsbml_away_late_ns(ep, btl, packet) : 0};
        (void) fsbml_packet_send(entry, &now, NULL, 0, 0);
    }
    for (uint32_t i = 0; NULL != ep && i < ep->n_paths && mine; ++i) {
        if (ep->path[i].super.btl == btl) {
            atomic_store(&ep->path[i].heard, true);
            if (!timed) {
                pair(ep, &ep->path[i], packet);
                owe(ep, &ep->path[i], packet->seq);
                answer(ep, &ep->path[i]);
            }
            if (fsbml_path_closed(&ep->path[i])
                || 0 != (atomic_load(&ep->asleep) & fsbml_bit(ep->path[i].rail))) {
                ask_path(ep, &ep->path[i]); /* the peer gets through: ask once more, or at last */
            }
        }
    }
}

void fsbml_ask_answered(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                        size_t len)
{
    (void) payload;
    (void) len;
    if (packet->flags & FSBML_PACKET_TIMED) {
        fsbml_peers_answered(packet);
        return;
    }
    if (packet->flags & FSBML_PACKET_ASTRAY) {
        fsbml_diagnose_astray(btl, packet, &packet->from);
        return;
    }
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(packet->from);
    mca_bml_fsbml_endpoint_t *ep = NULL != proc ? fsbml_endpoint_of_proc(proc) : NULL;
    for (uint32_t i = 0; NULL != ep && i < ep->n_paths; ++i) {
        if (ep->path[i].super.btl != btl) {
            continue;
        }
        opal_mutex_lock(&ep->lock);
        const bool of_this_round = (packet->seq | SEQ_AGAIN) == (ep->path[i].round << 1 | SEQ_AGAIN);
        if (of_this_round && (packet->seq & SEQ_AGAIN) && 0 == ep->confirmed_ns) {
            ep->confirmed_ns = fsbml_now_ns();
        }
        opal_mutex_unlock(&ep->lock);
        if (of_this_round) {
            pair(ep, &ep->path[i], packet);
            fsbml_path_open(ep, &ep->path[i]);
        }
    }
}
