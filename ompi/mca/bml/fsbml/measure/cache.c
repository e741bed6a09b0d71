/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that need no measurement: those that a user has pinned, and those that an earlier job has
 * measured between the same nodes over the same rails. The latter are a guess until probes have confirmed it
 * (measure/calibrate.c). */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/measure.h"

#include "opal/util/show_help.h"

/* Counts changes of how parameters are measured, or of what they mean. */
enum { MEASUREMENT = 1 };

/* What the parameters are of: a line. */
static bool fingerprint(const char *partner_node, const uint32_t *rail, size_t n, char *buf, size_t len)
{
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    const bool has_site = NULL != p->site && '\0' != p->site[0];
    char agreed[256];
    fsbml_params_agreed(agreed, sizeof(agreed));
    int used =
        snprintf(buf, len, "measurement %d, Open MPI %d.%d.%d, %s, %s%s%s", MEASUREMENT, OMPI_MAJOR_VERSION,
                 OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION, agreed, has_site ? "site " : fsbml_node_name(),
                 has_site ? p->site : " to ", has_site ? "" : partner_node);
    for (size_t i = 0; i < n && used > 0 && (size_t) used < len; ++i) {
        const mca_bml_fsbml_rail_t *r = &fsbml_rails.rail[rail[i]];
        used += snprintf(buf + used, len - (size_t) used, ", %s %s speed %u mtu %u", r->key, r->name,
                         r->about.speed_mbps, r->about.mtu);
    }
    return used > 0 && (size_t) used < len && NULL == strchr(buf, '\n');
}

/* Where a table with this fingerprint is kept; false if there is no place for it. */
static bool place(const char *print, char *path, size_t len)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool named = NULL != cache && '/' == cache[0];
    if (!named && (NULL == home || '/' != home[0])) {
        return false;
    }
    const int used = snprintf(path, len, "%s%s/fsbml/rails-%08x", named ? cache : home,
                              named ? "" : "/.cache", fsbml_digest(print));
    return used > 0 && (size_t) used < len;
}

/* Takes these rails' parameters from a file, in their order; false if one is missing. */
static bool take(const fsbml_table_t *from, const uint32_t *rail, size_t n, fsbml_table_t *to)
{
    for (size_t i = 0; i < n; ++i) {
        const fsbml_table_rail_t *row = fsbml_table_row(from, rail[i]);
        if (NULL == row) {
            return false;
        }
        to->rail[i].fit = row->fit;
    }
    return true;
}

static bool load(const char *path, const char *print, const uint32_t *rail, size_t n, fsbml_table_t *to)
{
    char reason[FSBML_REASON_MAX] = "out of memory";
    fsbml_table_t *from = calloc(1, sizeof(*from));
    const int rc = NULL != from ? fsbml_table_load(path, print, from, reason) : -ENOMEM;
    const bool good = 0 == rc && take(from, rail, n, to);
    if (0 == rc) {
        snprintf(reason, sizeof(reason), "a rail of this job is not in it");
    }
    free(from);
    if (!good) {
        FSBML_VERBOSE(FSBML_V_RAILS, "%s is not used: %s", path, reason);
    }
    /* A cache without the file is one that is still empty, as is one where other rails have its name. */
    if (!good && (NULL == print || (-ENOENT != rc && -ESTALE != rc))) {
        opal_show_help(FSBML_HELP, NULL == print ? "bad table" : "bad cache", true, path, fsbml_node_name(),
                       reason);
    }
    return good;
}

static bool refused;

bool fsbml_cache_table_refused(void)
{
    return refused;
}

fsbml_recall_t fsbml_cache_recall(const char *partner_node, const uint32_t *rail, size_t n, fsbml_table_t *to)
{
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    char print[4096], path[4096];
    refused = false;
    if (NULL != p->table && '\0' != p->table[0]) {
        refused = !load(p->table, NULL, rail, n, to);
        return refused ? FSBML_RECALL_REFUSED : FSBML_RECALL_PINNED;
    }
    if (FSBML_CACHE_OFF == p->cache || !fingerprint(partner_node, rail, n, print, sizeof(print))
        || !place(print, path, sizeof(path)) || !load(path, print, rail, n, to)) {
        return FSBML_RECALL_NOTHING;
    }
    FSBML_VERBOSE(FSBML_V_RAILS, "parameters of an earlier job, from %s", path);
    return FSBML_RECALL_GUESS;
}

void fsbml_cache_keep(const char *partner_node, const uint32_t *rail, size_t n, const fsbml_table_t *table)
{
    char print[4096], path[4096], reason[FSBML_REASON_MAX] = "";
    if (FSBML_CACHE_WRITE != mca_bml_fsbml_params.cache
        || !fingerprint(partner_node, rail, n, print, sizeof(print)) || !place(print, path, sizeof(path))) {
        return;
    }
    if (0 != fsbml_table_store(path, print, table, reason)) {
        FSBML_VERBOSE(FSBML_V_RAILS, "parameters are not kept: %s", reason);
        opal_show_help(FSBML_HELP, "cache not written", true, path, fsbml_node_name(), reason);
        return;
    }
    FSBML_VERBOSE(FSBML_V_RAILS, "parameters kept in %s", path);
}
