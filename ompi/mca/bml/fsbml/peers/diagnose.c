/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a path does not work. One end alone cannot tell a cable that is out from a network that loses what
 * comes back, so the other end is asked, on another path that is live, what it sees: LOOK has this end's
 * view, its answer SEEN the other's. The core finds the cause from both (core/explain/verdict/verdict.hpp).
 * Nothing of this happens while all paths work, and nothing waits. */

#include <stdio.h>

#include "peers/hooks.h"

#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

/* This end's view, with what only FSBML knows of the path. */
static void look(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, const char *other,
                 fsbml_end_t *end)
{
    fsbml_end_look(path->rail, other, end);
    const uint32_t astray = atomic_load(&path->astray);
    end->seen |= atomic_load(&path->heard) ? FSBML_END_HEARD : 0;
    end->seen |= atomic_load(&path->proved) ? FSBML_END_PROVED : 0;
    if (FSBML_ASTRAY_NOT == astray) {
        return;
    }
    end->seen |= FSBML_END_ASTRAY;
    if (FSBML_ASTRAY_BACK == astray) {
        snprintf(end->name, sizeof(end->name), "itself");
        return;
    }
    const ompi_process_name_t rank = {.jobid = ep->proc->super.proc_name.jobid,
                                      .vpid = astray - FSBML_ASTRAY_RANK};
    fsbml_hello_node(&rank, end->name);
    if ('\0' == end->name[0]) {
        snprintf(end->name, sizeof(end->name), "another process");
    }
}

/* What the peer's hello says of the rail at its end: it does not have it, but such another one. False: it has
 * it. */
static bool is_missing_there(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path,
                             fsbml_end_t *there)
{
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    const char *key = fsbml_rails.rail[path->rail].key;
    bool has = NULL == hello || 0 != fsbml_hello_fetch(&ep->proc->super.proc_name, hello)
               || 0 != strncmp(key, "tcp:", 4);
    memset(there, 0, sizeof(*there));
    for (uint32_t r = 0; !has && r < hello->n_rails; ++r) {
        const char *its = hello->rail[r].key;
        bool mine = false;
        has = 0 == strcmp(key, its);
        for (size_t k = 0; k < fsbml_rails.n_keys; ++k) {
            mine = mine || 0 == strcmp(fsbml_rails.btl_key[k], its);
        }
        if (!mine && 0 == strncmp(its, "tcp:", 4)) {
            snprintf(there->network, sizeof(there->network), "%s", its + 4);
        }
    }
    if (!has) {
        snprintf(there->node, sizeof(there->node), "%s", hello->node);
    }
    free(hello);
    return !has;
}

/* Takes a cause, unless nothing was found; what closed the path stays its reason then. */
static void judge(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, const fsbml_end_t *there)
{
    fsbml_end_t here, *elsewhere = malloc(sizeof(*elsewhere));
    char why[FSBML_REASON_MAX] = "";
    look(ep, path, NULL != there ? there->address : NULL, &here);
    if (NULL != elsewhere && is_missing_there(ep, path, elsewhere)) {
        there = elsewhere;
    }
    const int kind = fsbml_diagnose(&here, there, why);
    opal_mutex_lock(&ep->lock);
    if (kind >= 0 && '\0' != why[0]) {
        path->kind = (uint32_t) kind;
        memcpy(path->why, why, sizeof(path->why));
    }
    if (NULL != there) {
        path->speed_mbit = 0 != (there->seen & FSBML_END_HARDWARE) ? there->speed_mbit : 0;
    }
    path->judged = true;
    opal_mutex_unlock(&ep->lock);
    free(elsewhere);
}

static void send_end(const mca_bml_base_btl_t *entry, uint8_t type, uint8_t flags, uint32_t digest,
                     const fsbml_end_t *end)
{
    const size_t most = fsbml_end_packed_max();
    void *record = malloc(most);
    const long len = NULL != record ? fsbml_end_pack(end, record, most) : -1;
    const fsbml_packet_t packet = {
        .type = type, .flags = flags, .from = *OMPI_PROC_MY_NAME, .count = digest, .bytes = (uint32_t) len};
    if (len > 0) {
        (void) fsbml_packet_send(entry, &packet, record, (size_t) len,
                                 0); /* not sent: this end decides by itself */
    }
    free(record);
}

/* The path of a rail by what both ends call it. */
static mca_bml_fsbml_path_t *path_by_digest(mca_bml_fsbml_endpoint_t *ep, uint32_t digest)
{
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (fsbml_rails.rail[ep->path[i].rail].key_digest == digest) {
            return &ep->path[i];
        }
    }
    return NULL;
}

void fsbml_diagnose_packet(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                           size_t len)
{
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(packet->from);
    mca_bml_base_endpoint_t *bml_ep = NULL != proc ? mca_bml_base_get_endpoint(proc) : NULL;
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
    mca_bml_fsbml_path_t *path = NULL != ep ? path_by_digest(ep, packet->count) : NULL;
    fsbml_end_t its;
    if (NULL == path || packet->bytes > len || 0 != fsbml_end_unpack(&its, payload, packet->bytes)) {
        return;
    }
    if (FSBML_PACKET_SEEN == packet->type) {
        judge(ep, path, &its);
        return;
    }
    const mca_bml_base_btl_t *entry = fsbml_endpoint_entry(bml_ep, btl);
    fsbml_end_t mine;
    look(ep, path, its.address, &mine);
    if (NULL != entry) {
        send_end(entry, FSBML_PACKET_SEEN, 0, packet->count, &mine);
    }
    /* The peer has measured on it, and got no answer: without a table that says so, this end would go on with
     * it. */
    if (0 != (packet->flags & FSBML_PACKET_GIVEN_UP)) {
        (void) fsbml_endpoint_spare_path(ep, path->rail);
    }
}

/* A question came to `receiver`, and not to the peer that it names. */
void fsbml_diagnose_astray(const mca_btl_base_module_t *btl, const fsbml_packet_t *packet,
                           const ompi_process_name_t *receiver)
{
    const bool back = OPAL_EQUAL == opal_compare_proc(*receiver, *OMPI_PROC_MY_NAME);
    const ompi_process_name_t asked = {.jobid = packet->bytes, .vpid = packet->count - 1};
    ompi_proc_t *proc = 0 != packet->count ? (ompi_proc_t *) ompi_proc_for_name(asked) : NULL;
    mca_bml_fsbml_endpoint_t *ep = NULL != proc ? fsbml_endpoint_of_proc(proc) : NULL;
    mca_bml_fsbml_path_t *path = NULL != ep ? fsbml_path_over(ep, btl) : NULL;
    if (NULL != path) {
        atomic_store(&path->astray, back ? FSBML_ASTRAY_BACK : receiver->vpid + FSBML_ASTRAY_RANK);
    }
}

bool fsbml_diagnose_is_mine(const fsbml_packet_t *packet)
{
    return 0 == packet->count
           || (OMPI_PROC_MY_NAME->vpid + 1 == packet->count && OMPI_PROC_MY_NAME->jobid == packet->bytes);
}

void fsbml_diagnose_begin(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    const uint32_t live = atomic_load(&ep->live) & ~fsbml_bit(path->rail);
    const bool given_up =
        0 == (atomic_load(&ep->possible) & fsbml_bit(path->rail)) && !fsbml_path_closed(path);
    fsbml_end_t *end = malloc(sizeof(*end));
    if (path->looked || NULL == end) {
        /* asked already */
    } else if (is_missing_there(ep, path, end)) {
        path->looked = true;
        judge(ep, path, NULL); /* nothing to be asked */
    } else if (0 != live) {
        path->looked = true;
        look(ep, path, NULL, end);
        send_end(&fsbml_path(ep, (uint32_t) __builtin_ctz(live))->super, FSBML_PACKET_LOOK,
                 given_up ? FSBML_PACKET_GIVEN_UP : 0, fsbml_rails.rail[path->rail].key_digest, end);
    }
    free(end);
}

void fsbml_diagnose_end(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    /* What this end did not see yet when the other one answered, as that nothing large was acknowledged. */
    if (!path->judged || FSBML_FAULT_OTHER == path->kind) {
        judge(ep, path, NULL);
    }
}

uint32_t fsbml_diagnose_now(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                            char why[FSBML_REASON_MAX])
{
    const uint64_t limit = fsbml_now_ns() + mca_bml_fsbml_params.probe_timeout_ns;
    opal_mutex_lock(&ep->lock);
    path->kind = FSBML_FAULT_OTHER;
    path->looked = path->judged = false;
    path->speed_mbit = 0;
    memcpy(path->why, why, sizeof(path->why));
    opal_mutex_unlock(&ep->lock);
    fsbml_diagnose_begin(ep, path);
    while (!path->judged && fsbml_now_ns() < limit) {
        opal_progress();
    }
    fsbml_diagnose_end(ep, path);
    opal_mutex_lock(&ep->lock);
    const uint32_t kind = path->kind;
    memcpy(why, path->why, sizeof(path->why));
    opal_mutex_unlock(&ep->lock);
    return kind;
}

void fsbml_diagnose_speeds(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                           size_t n, const double before[])
{
    for (size_t i = 0; i < n; ++i) {
        const mca_bml_fsbml_rail_t *r = &fsbml_rails.rail[rail[i]];
        mca_bml_fsbml_path_t *path = fsbml_path(ep, rail[i]);
        const fsbml_fit_t alone =
            fsbml_fit_alone(&table->rail[i].fit); /* what others take from it is no fault of its own */
        const double least =
            alone.low.G_ns_per_byte > 0 ? alone.low.G_ns_per_byte : alone.params.G_ns_per_byte;
        const double G = !alone.valid ? 0 : alone.tight ? alone.params.G_ns_per_byte : least;
        char why[FSBML_REASON_MAX] = "";
        fsbml_end_t here, there = {.seen = FSBML_END_HAS | FSBML_END_HARDWARE};
        fsbml_end_look(rail[i], NULL, &here);
        there.speed_mbit = here.speed_mbit;
        if (FSBML_FAULT_SLOW != fsbml_diagnose_speed(&here, &there, G, before[i], why)) {
            continue; /* whatever the other end's speed is: the peer is not asked */
        }
        (void) fsbml_diagnose_now(ep, path, why);
        there.speed_mbit = path->speed_mbit;
        if (FSBML_FAULT_SLOW == fsbml_diagnose_speed(&here, &there, G, before[i], why)) {
            char *peer = fsbml_proc_host(ep->proc);
            opal_show_help(FSBML_HELP, "rail is slow", true, r->name, r->key, fsbml_node_name(), peer, why);
            fsbml_diagnose_note(rail[i], peer, FSBML_FAULT_SLOW, why);
            free(peer);
        }
    }
}

void fsbml_diagnose_note(uint32_t rail, const char *to, uint32_t kind, const char *why)
{
    fsbml_fault_t fault = {.kind = kind};
    snprintf(fault.rail, sizeof(fault.rail), "%s", fsbml_rails.rail[rail].name);
    snprintf(fault.from, sizeof(fault.from), "%s", fsbml_node_name());
    snprintf(fault.to, sizeof(fault.to), "%s", to);
    snprintf(fault.why, sizeof(fault.why), "%s", why);
    fsbml_fault_note(&fault);
    FSBML_VERBOSE(FSBML_V_RAILS, "rail %s from %s to %s (%s): %s", fault.rail, fault.from,
                  '\0' != fault.to[0] ? fault.to : "all", fsbml_fault_name(kind), fault.why);
}

/* ------------------------------------------------------------ what was found */

/* The faults of rails that this process has found, kept for the report at the end. Code that leaves a rail
 * out, or doubts one, notes it here beside telling it: what was told once on stderr is soon out of sight. */

static opal_mutex_t faults_lock =
    OPAL_MUTEX_STATIC_INIT; /* of writers; readers go by the number, which is written last */
static fsbml_fault_t faults[FSBML_FAULTS_MAX];
static _Atomic uint32_t n_faults, beyond;

static bool is_same(const fsbml_fault_t *a, const fsbml_fault_t *b)
{
    return a->kind == b->kind && 0 == strcmp(a->rail, b->rail) && 0 == strcmp(a->from, b->from)
           && 0 == strcmp(a->to, b->to);
}

void fsbml_fault_note(const fsbml_fault_t *fault)
{
    bool known = false;
    opal_mutex_lock(&faults_lock);
    const uint32_t at = atomic_load(&n_faults);
    for (uint32_t i = 0; i < at && !known; ++i) {
        known = is_same(&faults[i], fault);
    }
    if (known) {
        /* told before */
    } else if (at < FSBML_FAULTS_MAX) {
        faults[at] = *fault;
        atomic_store(&n_faults, at + 1);
    } else {
        atomic_fetch_add(&beyond, 1);
    }
    opal_mutex_unlock(&faults_lock);
}

uint32_t fsbml_faults(const fsbml_fault_t **first, uint32_t *more)
{
    *first = faults;
    if (NULL != more) {
        *more = atomic_load(&beyond);
    }
    return atomic_load(&n_faults);
}

void fsbml_faults_reset(void)
{
    opal_mutex_lock(&faults_lock);
    atomic_store(&n_faults, 0);
    atomic_store(&beyond, 0);
    opal_mutex_unlock(&faults_lock);
}
