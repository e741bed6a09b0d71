/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement at start: two processes sweep each rail that they share (measure/sweep.c), on the BTLs'
 * active messages. What an earlier job has measured is used if a brief sweep confirms it
 * (measure/cache.c). */

#include <stdio.h>

#include "measure/measure.h"
#include "send/send.h"

#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

static struct {
    /* NULL outside of a measurement; a BTL's own thread may bring a packet at any time */
    mca_bml_fsbml_endpoint_t *_Atomic partner;
    bool leads;         /* sends the probes; the other is the mirror */
    _Atomic bool begun; /* the partner has sent something */
    _Atomic bool over;  /* mirror: the table has come */
} run;

/* Ranks that said they are ready to be measured with. Apart from `run`, as that can come before this process
 * is. */
static struct {
    _Atomic uint32_t n;
    _Atomic int64_t rank[FSBML_MAX_PAIRS]; /* 0: none, else one more */
} heard;

static bool is_ready(uint32_t rank)
{
    for (size_t i = 0; i < FSBML_MAX_PAIRS; ++i) {
        if ((int64_t) rank + 1 == atomic_load(&heard.rank[i])) {
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------- packets */

static void take_table(const mca_bml_fsbml_endpoint_t *partner, const void *record, size_t len)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    if (NULL != table && 0 == fsbml_table_unpack(table, record, len)) {
        fsbml_table_apply(table);
    } else {
        opal_show_help(FSBML_HELP, "malformed record", true, "table",
                       OMPI_NAME_PRINT(&partner->proc->super.proc_name));
    }
    free(table);
    atomic_store(&run.over, true);
}

void fsbml_calibrate_packet(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                            size_t len)
{
    if (FSBML_PACKET_READY == packet->type) {
        if (packet->from.jobid == OMPI_PROC_MY_NAME->jobid && atomic_load(&heard.n) < FSBML_MAX_PAIRS) {
            const uint32_t at = atomic_fetch_add(&heard.n, 1) % FSBML_MAX_PAIRS;
            atomic_store(&heard.rank[at], (int64_t) packet->from.vpid + 1);
        }
        return;
    }
    mca_bml_fsbml_endpoint_t *partner = run.partner;
    if (NULL == partner || OPAL_EQUAL != opal_compare_proc(packet->from, partner->proc->super.proc_name)) {
        return; /* late, or from a process that is not the partner */
    }
    atomic_store(&run.begun, true);
    fsbml_stream_heard();
    switch (packet->type) {
    case FSBML_PACKET_PRTT:
    case FSBML_PACKET_REQUEST:
        if (!run.leads
            && (FSBML_PACKET_PRTT == packet->type || 0 == (packet->flags & FSBML_PACKET_STREAMED))) {
            fsbml_mirror_packet(partner, btl, packet);
            break;
        }
        /* fall through */
    case FSBML_PACKET_STREAM:
    case FSBML_PACKET_STREAM_BACK:
    case FSBML_PACKET_RATE: {
        const mca_bml_fsbml_path_t *path = fsbml_path_over(partner, btl);
        if (NULL != path && FSBML_PACKET_PRTT != packet->type) {
            fsbml_stream_packet(path, packet, payload, len);
        }
        break;
    }
    case FSBML_PACKET_PRTT_BACK:
    case FSBML_PACKET_FLOW:
        if (run.leads) {
            fsbml_prtt_came(packet);
        }
        break;
    default:
        if (!run.leads && !atomic_load(&run.over)) {
            take_table(partner, payload, packet->bytes <= len ? packet->bytes : 0); /* 0: it is cut short */
        }
    }
}

/* ---------------------------------------------------------------- the leader */

static void show_bounds(const fsbml_table_t *table)
{
    for (uint32_t i = 0; i < table->n_rails; ++i) {
        const fsbml_loggp_t *low = &table->rail[i].fit.low, *high = &table->rail[i].fit.high;
        if (table->rail[i].fit.valid && high->G_ns_per_byte > 0) {
            FSBML_VERBOSE(
                FSBML_V_RAILS,
                "%s: 90 %% of such samples give L %.2f to %.2f, o_s %.2f to %.2f, g %.2f to %.2f us, G %.4g to "
                "%.4g ns/B",
                table->rail[i].name, low->L_ns / 1e3, high->L_ns / 1e3, low->o_s_ns / 1e3, high->o_s_ns / 1e3,
                low->g_ns / 1e3, high->g_ns / 1e3, low->G_ns_per_byte, high->G_ns_per_byte);
        }
    }
}

/* Rails that are still there, but could not be measured: no rail is without parameters. */
static void assume(fsbml_table_t *table, const uint32_t *rail, size_t n)
{
    const uint32_t live = atomic_load(&run.partner->live);
    for (size_t i = 0; i < n; ++i) {
        fsbml_fit_t *fit = &table->rail[i].fit;
        if (!fit->valid && (live & fsbml_bit(rail[i]))) {
            fsbml_table_assume(rail[i], fit);
        }
    }
}

/* Fills in the table for these rails: from a file, if it may be, or by measurement. */
static void find_parameters(fsbml_table_t *table, const uint32_t *rail, size_t n)
{
    char node[FSBML_NAME_MAX];
    fsbml_hello_node(&run.partner->proc->super.proc_name, node);
    const fsbml_recall_t recall = fsbml_cache_recall(node, rail, n, table);
    const bool measures =
        FSBML_RECALL_NOTHING == recall
        || (FSBML_RECALL_GUESS == recall
            && (fsbml_measurement_wanted() || !fsbml_sweep_recalled(run.partner, table, rail, n)));
    double before[FSBML_MAX_RAILS] = {0};
    uint32_t failed = 0;

    for (size_t i = 0; FSBML_RECALL_GUESS == recall && i < n; ++i) {
        before[i] = table->rail[i].fit.valid ? table->rail[i].fit.params.G_ns_per_byte : 0;
    }
    if (measures) {
        failed = fsbml_sweep(run.partner, table, rail, n);
        if (fsbml_measurement_wanted()) {
            failed = fsbml_benchmark(run.partner, table, rail, n, failed);
        }
        assume(table, rail, n);
        if (mca_bml_fsbml_params.together) {
            const uint64_t start = fsbml_now_ns();
            fsbml_together(run.partner, table, rail, n, failed);
            table->duration_ns += fsbml_now_ns() - start;
        }
        fsbml_diagnose_speeds(run.partner, table, rail, n, before);
    }
    bool all = true;
    for (size_t i = 0; i < n; ++i) {
        fsbml_table_rail_t *t = &table->rail[i];
        if (FSBML_RECALL_REFUSED == recall) {
            t->fit.valid = false;
            snprintf(t->fit.reason, sizeof(t->fit.reason), "bml_fsbml_table cannot be used");
        }
        all = all && t->fit.valid;
        memcpy(t->key, fsbml_rails.rail[rail[i]].key, sizeof(t->key));
        memcpy(t->name, fsbml_rails.rail[rail[i]].name, sizeof(t->name));
        memcpy(t->pair, table->pair, sizeof(t->pair));
        t->round_trip_ns = fsbml_flow_round_trip(run.partner, rail[i]);
    }
    table->n_rails = (uint32_t) n;
    if (measures && all && 0 == failed) { /* a rail that failed may be good next time */
        fsbml_cache_keep(node, rail, n, table);
    }
}

/* `wanted`: rails that are to be measured; if that is all that there are, one has no rival. */
static void lead(fsbml_table_t *table, uint32_t wanted)
{
    mca_bml_fsbml_endpoint_t *ep = run.partner;
    uint32_t live = atomic_load(&ep->live), rail[FSBML_MAX_RAILS];
    size_t n = 0;

    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        if (live & wanted & fsbml_bit(r)) {
            rail[n++] = r;
        }
    }
    if (n >= (UINT32_MAX == wanted ? 2 : 1)) {
        find_parameters(table, rail, n);
        fsbml_measurement_holdout(run.partner, table, rail);
    } else {
        snprintf(table->reason, sizeof(table->reason), "%s between the measuring ranks %u and %u",
                 0 == n ? "no rail answers" : "only one rail answers", table->pair[0], table->pair[1]);
    }

    /* The mirror waits for the table; it takes the live rail that answers soonest, by what is known now. */
    fsbml_table_apply(table);
    live = atomic_load(&ep->live);
    void *record = malloc(fsbml_table_packed_max());
    long len = NULL != record ? fsbml_table_pack(table, record, fsbml_table_packed_max()) : -1;
    if (0 != live && len > 0) {
        const uint32_t r = fsbml_choose(ep, fsbml_now_ns(), (size_t) len, live);
        const fsbml_packet_t packet = {
            .type = FSBML_PACKET_TABLE, .from = *OMPI_PROC_MY_NAME, .bytes = (uint32_t) len};
        const uint64_t limit = fsbml_now_ns() + fsbml_prtt_limit();
        while (OMPI_ERR_OUT_OF_RESOURCE
                   == fsbml_packet_send(&fsbml_path(ep, r)->super, &packet, record, (size_t) len, 0)
               && fsbml_now_ns() < limit) {
            opal_progress();
        }
    }
    free(record);
    show_bounds(table);
}

/* -------------------------------------------------------------------- both */

/* A turn of waiting. A process that waits for a later round leaves the processor to those that measure in
 * this one. */
static void wait_a_turn(uint32_t round)
{
    const struct timespec moment = {.tv_nsec = 100000};
    if (round > 0 && !atomic_load(&run.begun)) {
        (void) nanosleep(&moment, NULL);
    }
    opal_progress();
}

/* Waits until the partner's paths on these rails are proved or given up; the leader also for the mirror's
 * word. */
static bool settle(uint32_t partner, uint32_t rails, uint32_t round)
{
    /* the partner may still be in an earlier round */
    const uint64_t before = round > 0 ? fsbml_calibrate_limit_ns(round - 1) : 0;
    const uint64_t limit = fsbml_now_ns() + before + 4 * mca_bml_fsbml_params.probe_timeout_ns + 2000000000u;
    while (fsbml_now_ns() < limit) {
        const uint32_t live = atomic_load(&run.partner->live), possible = atomic_load(&run.partner->possible);
        if (0 == (possible & ~live & rails) && (0 != live || 0 == possible)
            && (!run.leads || is_ready(partner))) {
            return true;
        }
        wait_a_turn(round);
    }
    return false;
}

/* The mirror: says that it is there, then answers until the table comes. */
static void follow(uint32_t round)
{
    const uint32_t live = atomic_load(&run.partner->live);
    const fsbml_packet_t ready = {.type = FSBML_PACKET_READY, .from = *OMPI_PROC_MY_NAME};
    if (0 == live) {
        return;
    }
    const mca_bml_base_btl_t *by = &fsbml_path(run.partner, (uint32_t) __builtin_ctz(live))->super;
    const uint64_t until = fsbml_now_ns() + fsbml_prtt_limit();
    while (OMPI_ERR_OUT_OF_RESOURCE == fsbml_packet_send(by, &ready, NULL, 0, 0) && fsbml_now_ns() < until) {
        opal_progress();
    }
    const uint64_t limit = fsbml_now_ns() + fsbml_calibrate_limit_ns(round);
    while (!atomic_load(&run.over) && fsbml_now_ns() < limit) {
        fsbml_mirror_serve(&run.over);
        fsbml_stream_serve(&run.over);
        wait_a_turn(round);
    }
}

/* False if this process has no rail to its partner. With one it takes part: its partner may see two, and
 * waits. */
static bool find_partner(uint32_t partner)
{
    const ompi_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = partner};
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(name);
    run.partner = NULL != proc ? fsbml_endpoint_of(mca_bml_base_get_endpoint(proc)) : NULL;
    if (NULL == run.partner) {
        return false;
    }
    fsbml_ask_wake(run.partner);
    return run.partner->n_paths > 0;
}

void fsbml_calibrate_pair(const fsbml_pair_t *pair, uint32_t rails, fsbml_table_t *table)
{
    atomic_store(&run.begun, false);
    atomic_store(&run.over, false);
    run.leads = OMPI_PROC_MY_NAME->vpid == pair->rank[0];
    table->pair[0] = pair->rank[0];
    table->pair[1] = pair->rank[1];
    const uint32_t partner = pair->rank[run.leads ? 1 : 0];
    if (!find_partner(partner)) {
        snprintf(table->reason, sizeof(table->reason), "ranks %u and %u share no rail", pair->rank[0],
                 pair->rank[1]);
        fsbml_table_apply(table);
    } else if (!settle(partner, rails, pair->round) && run.leads) {
        snprintf(table->reason, sizeof(table->reason), "rank %u does not answer rank %u", pair->rank[1],
                 pair->rank[0]);
        fsbml_table_apply(table);
    } else if (run.leads) {
        lead(table, rails);
    } else {
        follow(pair->round);
    }
    run.partner = NULL;
}

void fsbml_calibrate_end(void)
{
    for (size_t i = 0; i < FSBML_MAX_PAIRS; ++i) {
        atomic_store(&heard.rank[i], 0);
    }
    atomic_store(&heard.n, 0);
}
