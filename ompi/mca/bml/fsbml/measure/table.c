/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies a table of parameters, measured, cached or given by the user, to the rails and the scheduler. */

#include <stdio.h>

#include "measure/measure.h"
#include "send/send.h"

/* -------------------------------------------- rails that were not measured */

/* Rails that were not measured: the parameters assumed for them. The BTLs' bandwidths and latencies, where
 * they are not all the same: then the user has set them, as r2 would have it; else the speeds of the
 * devices, where all are known; else the rails are alike. */

static const double USUAL_MBPS = 10000;

static double told_mbps(uint32_t rail)
{
    return fsbml_rails.rail[rail].btl->btl_bandwidth;
}

static double told_us(uint32_t rail)
{
    return fsbml_rails.rail[rail].btl->btl_latency;
}

static double device_mbps(uint32_t rail)
{
    return fsbml_rails.rail[rail].about.speed_mbps;
}

/* Whether all rails have such a figure; and whether they differ. */
static bool all_have(double (*figure)(uint32_t rail), bool *differ)
{
    bool all = true;
    *differ = false;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        all = all && figure(i) > 0;
        *differ = *differ || figure(i) != figure(0);
    }
    return all;
}

static fsbml_loggp_t prior(uint32_t rail)
{
    bool speeds_differ, told_differ, latencies_differ;
    const bool devices = all_have(device_mbps, &speeds_differ), told = all_have(told_mbps, &told_differ),
               latencies = all_have(told_us, &latencies_differ);
    const double mbps = told && told_differ ? told_mbps(rail) : devices ? device_mbps(rail) : USUAL_MBPS;
    fsbml_loggp_t p = fsbml_loggp_assumed(mbps);
    if (latencies && latencies_differ) {
        p.L_ns = told_us(rail) * 1e3;
    }
    return p;
}

void fsbml_table_assume(uint32_t rail, fsbml_fit_t *fit)
{
    const size_t used = strlen(fit->reason);
    fit->params = prior(rail);
    fit->valid = true;
    fit->tight = false;
    snprintf(fit->reason + used, sizeof(fit->reason) - used, "%snot measured: what BTL and device say",
             used > 0 ? "; " : "");
}

void fsbml_table_apply_assumed(void)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    for (uint32_t i = 0; NULL != table && i < fsbml_rails.n_rails; ++i) {
        fsbml_table_rail_t *t = &table->rail[table->n_rails++];
        memcpy(t->key, fsbml_rails.rail[i].key, sizeof(t->key));
        memcpy(t->name, fsbml_rails.rail[i].name, sizeof(t->name));
        fsbml_table_assume(i, &t->fit);
    }
    if (NULL != table) {
        fsbml_table_apply(table);
    }
    free(table);
}

/* Gives the scheduler a rail's model. What was assumed is told from what was measured: it goes with the first
 * evidence. What was disturbed does not: evidence comes from busy processors then, too. */
static bool set_model(uint32_t rail, const fsbml_loggp_t *p, bool is_disturbed)
{
    const fsbml_loggp_t assumed = prior(rail);
    fsbml_sched_doubt(fsbml_rails.sched, rail,
                      0 == memcmp(p, &assumed, sizeof(assumed)) ? FSBML_DOUBT_ALL
                      : is_disturbed                            ? FSBML_DOUBT_BUCKET
                                                                : FSBML_DOUBT_NONE);
    fsbml_rails.rail[rail].model = *p;
    return 0 == fsbml_sched_set_model(fsbml_rails.sched, rail, p);
}

/* A tool's thread may read what the table says of a rail at any time. */
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static fsbml_table_t *in_use; /* NULL: not known yet */

static bool is_among(const char *ranks, uint32_t rank)
{
    char *end;
    for (const char *at = ranks; NULL != at && '\0' != *at; at = ',' == *end ? end + 1 : end) {
        if (rank == strtoul(at, &end, 10)) {
            return true;
        }
        if (end == at) {
            break;
        }
    }
    return false;
}

/* Whether this process' messages go the way that was measured as the other one: it is on the partner's
 * node. */
static bool is_reversed(const char *local, const uint32_t pair[2])
{
    return OMPI_PROC_MY_NAME->vpid == pair[1] || (is_among(local, pair[1]) && !is_among(local, pair[0]));
}

/* Of rails that a processor feeds one at a time, each of several processes on a node uses the one that its
 * number comes to; the others stay connected, for the case that it fails. A process by itself uses all, as
 * there are processors left for what the kernel does of the others, unless they gain nothing. */
static bool is_another_process(const fsbml_table_t *table, const fsbml_table_rail_t *row)
{
    uint32_t n = 0, number = 0;
    for (uint32_t i = 0; i < table->n_rails; ++i) {
        const bool one_of_them = table->rail[i].fit.valid && table->rail[i].fit.in_turn;
        number += one_of_them && &table->rail[i] < row;
        n += one_of_them;
    }
    return row->fit.in_turn && n > 1 && (fsbml_job_local_size() > 1 || row->fit.together >= 1.0)
           && number != fsbml_my_local_rank() % n;
}

const fsbml_table_rail_t *fsbml_table_row(const fsbml_table_t *table, uint32_t rail)
{
    for (uint32_t t = 0; NULL != table && t < table->n_rails; ++t) {
        if (0 == strcmp(fsbml_rails.rail[rail].key, table->rail[t].key)) {
            return &table->rail[t];
        }
    }
    return NULL;
}

/* The parameters of a rail's row, in the direction in which this process sends. */
static fsbml_loggp_t params_of(const fsbml_table_rail_t *r, uint32_t rail)
{
    return fsbml_rails.rail[rail].reversed ? fsbml_fit_reverse(&r->fit) : r->fit.params;
}

const fsbml_table_t *fsbml_table(void)
{
    return in_use;
}

bool fsbml_table_params(uint32_t rail, fsbml_loggp_t *params)
{
    opal_mutex_lock(&lock);
    const bool known = fsbml_rails.rail[rail].in_table;
    *params = fsbml_rails.rail[rail].params;
    opal_mutex_unlock(&lock);
    return known;
}

/* Takes it as the table in use, and frees the one before. */
static void take(fsbml_table_t *table)
{
    opal_mutex_lock(&lock);
    fsbml_table_t *before = in_use;
    in_use = table;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[i];
        const fsbml_table_rail_t *row = fsbml_table_row(table, i);
        rail->in_table = NULL != row && row->fit.valid;
        rail->in_turn = NULL != row && row->fit.in_turn;
        if (rail->in_table) {
            rail->params = params_of(row, i);
        }
    }
    opal_mutex_unlock(&lock);
    free(before);
}

void fsbml_table_drop(void)
{
    take(NULL);
}

/* Gives the parameters of a rail's row to all that use them. */
static void use(uint32_t i, const fsbml_table_rail_t *row, bool reversed)
{
    mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[i];
    rail->reversed = reversed;
    const fsbml_loggp_t p = params_of(row, i);
    if (p.G_ns_per_byte != row->fit.params.G_ns_per_byte) {
        FSBML_VERBOSE(FSBML_V_RAILS, "%s is used with the parameters of the other direction, G %.4g ns/B",
                      row->name, p.G_ns_per_byte);
    }
    rail->measured = set_model(i, &p, !row->fit.tight);
    (void) fsbml_account_set_model(fsbml_observe_account(), i, &p); /* if there is one */
    atomic_store(&rail->L_ns, (uint64_t) p.L_ns);
    atomic_store(&rail->round_trip_ns, row->round_trip_ns);
    const double one = fsbml_fit_prtt(&row->fit, FSBML_PROBE_THERE, 1, 0, FSBML_PACKET_HEADER);
    const double two = fsbml_fit_prtt(&row->fit, FSBML_PROBE_THERE, 2, 0, FSBML_PACKET_HEADER);
    atomic_store(&rail->way_ns, (uint64_t) one / 2);
    atomic_store(&rail->ask_ns, (uint64_t) (two - one));
}

void fsbml_table_apply(const fsbml_table_t *table)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_table_t *copy = malloc(sizeof(*copy));
    if (NULL == copy) {
        return;
    }
    *copy = *table;
    char *local = fsbml_kvs_local_ranks();
    for (uint32_t i = 0; i < m->n_rails; ++i) {
        const fsbml_table_rail_t *r = fsbml_table_row(copy, i);
        if (NULL == r) {             /* nor was it left out */
            if (copy->n_rails > 0) { /* such as one that only nodes beyond the first 256 have */
                FSBML_VERBOSE(FSBML_V_RAILS,
                              "%s (%s) was measured by no pair of nodes: what BTL and device say",
                              m->rail[i].name, m->rail[i].key);
            }
            const fsbml_loggp_t assumed = prior(i);
            (void) set_model(i, &assumed, false);
        } else if (r->fit.valid && !is_another_process(copy, r)) {
            use(i, r, is_reversed(local, r->pair));
        }
    }
    free(local);
    take(copy);
    fsbml_limits_apply_quantum();
}
