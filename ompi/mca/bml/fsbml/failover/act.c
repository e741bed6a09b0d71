/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the core wants done for a peer, and what a user is told of it. */

#include <sys/socket.h>
#include <unistd.h>

#include "failover/failover.h"

#include "opal/util/show_help.h"

enum {
    LOOK_NS = 10000000,  /* between two questions to the kernel about a peer's retransmissions, or cables */
    IDLE_NS = 250000000, /* between two looks at the connections to a peer that is owed nothing */
};

/* ------------------------------------------------------------------ what is told */

static struct {
    _Atomic uint64_t failures, sent_again;
} counted[FSBML_MAX_RAILS];

fsbml_failover_counters_t fsbml_failover_counters(uint32_t rail)
{
    return (fsbml_failover_counters_t){.failures = atomic_load(&counted[rail].failures),
                                       .sent_again = atomic_load(&counted[rail].sent_again)};
}

/* This node's ends of the rails: a cable that is pulled here need not be found out by silence. */
static struct {
    int fd; /* any socket, to ask by; -1: there is none */
    uint32_t
        known; /* rails whose interface said at the start that it runs: one that works may never say it */
    _Atomic uint64_t asked_ns;
    _Atomic uint32_t cut; /* of these, those that carry nothing */
} cables = {.fd = -1};

static uint32_t rails_that_run(void)
{
    uint32_t run = 0;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        char interface[FSBML_NAME_MAX];
        fsbml_kernel_interface(r, interface);
        run |= fsbml_kernel_is_running(cables.fd, interface) ? fsbml_bit(r) : 0;
    }
    return run;
}

void fsbml_failover_act_setup(void)
{
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        atomic_store(&counted[r].failures, 0);
        atomic_store(&counted[r].sent_again, 0);
    }
    cables.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    cables.known = cables.fd >= 0 ? rails_that_run() : 0;
    atomic_store(&cables.asked_ns, 0);
    atomic_store(&cables.cut, 0);
}

void fsbml_failover_act_teardown(void)
{
    if (cables.fd >= 0) {
        close(cables.fd);
        cables.fd = -1;
    }
}

static void look_at_cables(uint64_t now)
{
    if (now - atomic_load_explicit(&cables.asked_ns, memory_order_relaxed) < LOOK_NS || 0 == cables.known) {
        return;
    }
    atomic_store_explicit(&cables.asked_ns, now, memory_order_relaxed);
    const uint32_t cut = cables.known & ~rails_that_run(), before = atomic_exchange(&cables.cut, cut);
    if (0 != (cut & ~before) && !fsbml_framed_all_due(now)) {
        atomic_store(&cables.cut, before); /* it is noticed at the next look */
    }
}

static void note_closed(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    p->ep->closed |= fsbml_bit(rail);
    p->way[rail].cause = 0 != (atomic_load(&cables.cut) & fsbml_bit(rail)) ? "its interface has no carrier"
                         : FSBML_CONNECTION_STANDS != p->way[rail].connection
                             ? "its connection has ended"
                             : "silence, while the peer answers by others";
    p->way[rail].failed_ns = p->way[rail].resumed_ns = now;
    p->way[rail].sent_again = 0;
    FSBML_VERBOSE(FSBML_V_RAILS, "rail %s to %s carries no messages now", fsbml_rails.rail[rail].name,
                  OMPI_NAME_PRINT(&p->ep->proc->super.proc_name));
}

static void note_resumed(fsbml_framed_t *p, uint32_t rail, uint32_t count, uint64_t now)
{
    atomic_fetch_add(&counted[rail].sent_again, count);
    p->way[rail].sent_again = count;
    p->way[rail].resumed_ns = now;
}

/* Once for each failure of a rail to this peer: the job goes on, but a cable may need a look. A path
 * that was suspected and works after all is back before that. */
static void tell_dead(fsbml_framed_t *p, uint32_t rail)
{
    const mca_bml_fsbml_rail_t *r = &fsbml_rails.rail[rail];
    const uint32_t count = p->way[rail].sent_again;
    char rest[256], detail[FSBML_NAME_DETAIL], why[FSBML_REASON_MAX];
    if (0 != (p->told & fsbml_bit(rail))) {
        return;
    }
    p->told |= fsbml_bit(rail);
    atomic_fetch_add(&counted[rail].failures, 1);
    char *peer = fsbml_proc_host(p->ep->proc);
    fsbml_rails_names(fsbml_framed_rails(p), rest, sizeof(rest));
    opal_show_help(FSBML_HELP, "rail failed", true, r->name, fsbml_name_detail(r, detail), fsbml_node_name(),
                   peer, p->way[rail].cause, '\0' != rest[0] ? rest : "none", count,
                   (double) (p->way[rail].resumed_ns - p->way[rail].failed_ns) / 1e6);
    snprintf(why, sizeof(why), "it failed during the job: %s; %u messages were sent again by other rails",
             p->way[rail].cause, count);
    fsbml_diagnose_note(rail, peer, FSBML_FAULT_OTHER, why);
    free(peer);
}

/* The last words have the rails as well: mpirun of 4.1 loses the message where the job ends behind it. */
static void end_job(const fsbml_framed_t *p)
{
    char rails[256], waited[64] = "not at all, as all connections are lost", info[512];
    char *peer = fsbml_proc_host(p->ep->proc);
    if (p->broken != p->up) {
        snprintf(waited, sizeof(waited), "%.0f s (bml_fsbml_failover_wait)",
                 (double) mca_bml_fsbml_params.failover_wait_ns / 1e9);
    }
    fsbml_rails_names(p->up, rails, sizeof(rails));
    opal_show_help(FSBML_HELP, "no rail works", true, fsbml_node_name(),
                   OMPI_NAME_PRINT(&p->ep->proc->super.proc_name), peer, rails, waited);
    snprintf(info, sizeof(info), "no rail to %.200s works any more: %s", peer, rails);
    free(peer);
    fsbml_lost_told(p->ep, info);
}

static void tell_up(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    if (0 != (p->ep->closed & fsbml_bit(rail))) {
        FSBML_VERBOSE(FSBML_V_RAILS, "rail %s to %s carries messages again, after %.1f s",
                      fsbml_rails.rail[rail].name, OMPI_NAME_PRINT(&p->ep->proc->super.proc_name),
                      (double) (now - p->way[rail].failed_ns) / 1e9);
        p->ep->closed &= ~fsbml_bit(rail);
        p->told &= ~fsbml_bit(rail);
        p->broken &= ~fsbml_bit(rail);
    }
    p->stranded = false;
    fsbml_renew_end(p, rail);
}

/* ------------------------------------------------------------- what is to be done */

/* This end may only be waiting for messages; then the peer has no path by which to ask for new ones. */
static bool has_lost_all(const fsbml_framed_t *p)
{
    uint32_t left = p->up;
    while (0 != left && fsbml_renew_is_lost(p, (uint32_t) __builtin_ctz(left))) {
        left &= left - 1;
    }
    return 0 == left;
}

/* The kernel's retransmissions are a sign against a path. A connection may also be closed without a word. */
static void look_at_paths(fsbml_framed_t *p, uint64_t now)
{
    /* Once a rail has failed, the peer may have no path by which to tell of another one's end. */
    if (now - p->looked_ns < LOOK_NS
        || (0 == p->ep->closed && fsbml_delivery_idle(p->delivery) && !has_lost_all(p))) {
        return;
    }
    p->looked_ns = now;
    for (uint32_t left = p->up; 0 != left; left &= left - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(left);
        const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
        if (fsbml_renew_is_closed(p, rail)) {
            fsbml_framed_failed(p, rail);
        } else if (fsbml_socket_is_resent(path->btl, path->btl_endpoint)) {
            fsbml_delivery_path_doubtful(p->delivery, p->way[rail].number, now);
            fsbml_socket_hasten(path->btl, path->btl_endpoint);
        }
    }
}

static void probe(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    if (FSBML_CONNECTION_STANDS == p->way[rail].connection) {
        fsbml_delivery_path_up(p->delivery, p->way[rail].number, now);
    }
}

/* False: no more can be done now. */
static bool do_one(fsbml_framed_t *p, const fsbml_delivery_action_t *a, uint64_t now)
{
    const uint32_t rail = p->rail[a->path];
    bool goes = true;
    switch (a->kind) {
    case FSBML_DELIVERY_RELEASE:
        fsbml_message_delivered(fsbml_message_of(a->message));
        break;
    case FSBML_DELIVERY_FRAME:
        goes = fsbml_message_control(p, rail, a->frame, a->bytes);
        if (!goes) {
            fsbml_delivery_unsent(p->delivery, now, a);
        }
        break;
    case FSBML_DELIVERY_UP:
        tell_up(p, rail, now);
        break;
    case FSBML_DELIVERY_SUSPECTED:
        note_closed(p, rail, now);
        probe(p, rail, now);
        break;
    case FSBML_DELIVERY_RESUMED:
        note_resumed(p, rail, a->count, now);
        probe(p, rail, now);
        break;
    case FSBML_DELIVERY_DEAD: /* its connection may work again once the network does: it is asked on for ever
                               */
        tell_dead(p, rail);
        fsbml_renew_begin(p, rail);
        probe(p, rail, now);
        break;
    case FSBML_DELIVERY_STRANDED:
        p->stranded = true;
        break;
    }
    return goes;
}

/* What the PML takes for sent will not get there. */
static void give_up(fsbml_framed_t *p)
{
    /* In MPI_Finalize, a peer that has closed its connections has all; one that is silent may wait for it. */
    if ((NULL != p->first || !fsbml_delivery_idle(p->delivery))
        && (!fsbml_closing_has_begun() || p->broken != p->up)) {
        opal_mutex_unlock(&p->lock);
        end_job(p);
        opal_mutex_lock(&p->lock);
    }
}

void fsbml_framed_act(fsbml_framed_t *p)
{
    opal_mutex_lock(&p->lock);
    p->again = true;
    while (p->again && !p->acting) {
        fsbml_delivery_action_t action;
        uint64_t now = fsbml_now_ns();
        p->acting = true;
        p->again = false;
        atomic_store(&p->due_ns, UINT64_MAX);
        for (uint32_t left = p->up & atomic_load(&cables.cut); 0 != left; left &= left - 1) {
            fsbml_delivery_path_cut(p->delivery, p->way[__builtin_ctz(left)].number, now);
        }
        look_at_paths(p, now);
        fsbml_renew_look(p, now);
        if (fsbml_delivery_due(p->delivery) <= now) {
            (void) fsbml_delivery_tick(p->delivery, now);
        }
        while (fsbml_delivery_next(p->delivery, now, &action) && do_one(p, &action, now)) {
        }
        fsbml_message_send_again(p);
        fsbml_message_send_waiting(p);
        if (p->stranded) {
            give_up(p);
        }
        /* All peers at the same time, as they are gone through for one. */
        fsbml_framed_due(p, 0 != p->ep->closed ? now + LOOK_NS : (now / IDLE_NS + 1) * IDLE_NS);
        fsbml_framed_due(p, fsbml_delivery_due(p->delivery));
        p->acting = false;
    }
    opal_mutex_unlock(&p->lock);
}

int fsbml_failover_look(void)
{
    const uint64_t now = fsbml_now_ns();
    look_at_cables(now);
    fsbml_framed_each_due(now, fsbml_framed_act);
    return 0;
}
