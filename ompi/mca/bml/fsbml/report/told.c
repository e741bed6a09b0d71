/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails whose rates change while the job runs, as feedback notices them: kept for the report, the trace,
 * MPI_T variables and the cache. It prints nothing; flow/flow.c does. */

#include <stdio.h>

#include "flow/flow.h"
#include "report/report.h"

enum { LASTING_NS = 2000000000 }; /* a rate that has not changed for so long is worth keeping */
#define ALIKE 1.5                 /* rates that feedback need not tell apart of a busy process */

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT; /* a tool's thread may read at any time */
static struct {
    uint64_t begin_ns;
    fsbml_changes_t changes;
    struct {
        uint32_t n;
        uint64_t last_ns; /* on the shim's clock; 0: none yet */
        double mbps;
    } rail[FSBML_MAX_RAILS];
} told;

void fsbml_told(uint32_t rail, uint64_t into_ns, double before_mbps, double after_mbps)
{
    fsbml_change_t change = {
        .rail = rail, .ns = into_ns, .before_mbps = before_mbps, .after_mbps = after_mbps};
    memcpy(change.name, fsbml_rails.rail[rail].name, sizeof(change.name));
    snprintf(change.node, sizeof(change.node), "%s", fsbml_node_name());
    opal_mutex_lock(&lock);
    fsbml_changes_add(&told.changes, &change);
    told.rail[rail].n++;
    told.rail[rail].last_ns = fsbml_now_ns();
    told.rail[rail].mbps = after_mbps;
    opal_mutex_unlock(&lock);
}

void fsbml_told_begin(void)
{
    opal_mutex_lock(&lock);
    memset(&told, 0, sizeof(told));
    told.begin_ns = fsbml_now_ns();
    opal_mutex_unlock(&lock);
    fsbml_flow_listen(fsbml_told);
}

void fsbml_told_changes(fsbml_changes_t *to)
{
    opal_mutex_lock(&lock);
    *to = told.changes;
    opal_mutex_unlock(&lock);
}

uint32_t fsbml_told_count(uint32_t rail)
{
    opal_mutex_lock(&lock);
    const uint32_t n = told.rail[rail].n;
    opal_mutex_unlock(&lock);
    return n;
}

/* What a byte of a fragment takes by a rail's model; 0: it has none. */
static double model_gap(uint32_t rail)
{
    const size_t quantum = fsbml_rails.rail[rail].group->quantum;
    fsbml_loggp_t model;
    return fsbml_sched_model(fsbml_rails.sched, rail, &model) && quantum > 0
               ? model.G_ns_per_byte + model.g_ns / (double) quantum
               : 0.0;
}

/* A rate that is far from the model, or from what was told last, and not told of, is none to keep: feedback
 * says nothing while a process is short of a processor, as it may be that which is slow. */
void fsbml_told_lasting(double gap[FSBML_MAX_RAILS])
{
    const uint64_t now = fsbml_now_ns();
    memset(gap, 0, FSBML_MAX_RAILS * sizeof(*gap));
    opal_mutex_lock(&lock);
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        const uint64_t last = told.rail[r].last_ns;
        const double is = fsbml_flow_gap(r), was = 0 != last ? 8e3 / told.rail[r].mbps : model_gap(r);
        const bool same = is < ALIKE * was && was < ALIKE * is;
        if (same && now - (0 != last ? last : told.begin_ns) >= LASTING_NS) {
            gap[r] = is;
        }
    }
    opal_mutex_unlock(&lock);
}
