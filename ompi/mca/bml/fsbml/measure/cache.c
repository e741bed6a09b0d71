/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that need no measurement: those that a user has pinned, and those that an earlier job has
 * measured between the same nodes over the same rails. The latter are a guess until probes have confirmed it
 * (measure/calibrate.c). What a job learns of the rails by using them goes there, too, at its end. */

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

/* Was the measurement of one of the first n disturbed? Then the next job measures again. */
static bool is_rough(const fsbml_table_t *table, size_t n)
{
    bool rough = false;
    for (size_t i = 0; i < n; ++i) {
        rough = rough || !table->rail[i].fit.tight;
    }
    return rough;
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

/* ------------------------------------------------------------- the files in use */

/* A file that this process may write, as it leads the pair of nodes whose rails it is of. */
typedef struct file_t {
    struct file_t *next;
    size_t n;
    uint32_t rail[FSBML_MAX_RAILS];
    char print[4096], path[4096];
} file_t;
static file_t *files;

static void remember(const char *print, const char *path, const uint32_t *rail, size_t n)
{
    file_t *f = FSBML_CACHE_WRITE == mca_bml_fsbml_params.cache ? calloc(1, sizeof(*f)) : NULL;
    if (NULL == f) {
        return;
    }
    *f = (file_t){.next = files, .n = n};
    memcpy(f->rail, rail, n * sizeof(*rail));
    memcpy(f->print, print, strlen(print) + 1);
    memcpy(f->path, path, strlen(path) + 1);
    files = f;
}

void fsbml_cache_forget(void)
{
    while (NULL != files) {
        file_t *f = files;
        files = f->next;
        free(f);
    }
}

static void store(const char *path, const char *print, const fsbml_table_t *table)
{
    char reason[FSBML_REASON_MAX] = "";
    if (0 != fsbml_table_store(path, print, table, reason)) {
        FSBML_VERBOSE(FSBML_V_RAILS, "parameters are not kept: %s", reason);
        opal_show_help(FSBML_HELP, "cache not written", true, path, fsbml_node_name(), reason);
        return;
    }
    FSBML_VERBOSE(FSBML_V_RAILS, "parameters kept in %s%s", path,
                  is_rough(table, table->n_rails) ? ", but the measurement was disturbed" : "");
}

/* Puts the rates of some of a file's rails into its table; false if they are what it says. */
static bool learn(const file_t *f, const double *gap, fsbml_table_t *table)
{
    bool learnt = false;
    for (size_t i = 0; i < f->n; ++i) {
        const mca_bml_fsbml_rail_t *r = &fsbml_rails.rail[f->rail[i]];
        for (uint32_t t = 0; t < table->n_rails; ++t) {
            fsbml_table_rail_t *row = &table->rail[t];
            const double before = row->fit.params.G_ns_per_byte;
            if (0 == strcmp(row->key, r->key) && !r->reversed
                && fsbml_fit_learn(&row->fit, gap[f->rail[i]], r->group->quantum)) {
                FSBML_VERBOSE(FSBML_V_RAILS, "%s has changed from %.0f to %.0f Mbit/s since it was measured",
                              row->name, 8e3 / before, 8e3 / row->fit.params.G_ns_per_byte);
                learnt = true;
            }
        }
    }
    return learnt;
}

/* What another job has put there meanwhile stays, but for such rates; a file that cannot be read is left to
 * the next job, which measures. */
void fsbml_cache_learn(const double gap[FSBML_MAX_RAILS])
{
    fsbml_table_t *table = NULL != files ? calloc(1, sizeof(*table)) : NULL;
    for (const file_t *f = files; NULL != f && NULL != table; f = f->next) {
        char reason[FSBML_REASON_MAX] = "";
        if (0 != fsbml_table_load(f->path, f->print, table, reason)) {
            FSBML_VERBOSE(FSBML_V_RAILS, "nothing is added to %s: %s", f->path, reason);
        } else if (learn(f, gap, table)) {
            store(f->path, f->print, table);
        }
    }
    free(table);
    fsbml_cache_forget();
}

/* -------------------------------------------------------------- the measurement */

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
        || !place(print, path, sizeof(path))) {
        return FSBML_RECALL_NOTHING;
    }
    remember(print, path, rail, n);
    if (!load(path, print, rail, n, to)) {
        return FSBML_RECALL_NOTHING;
    }
    if (is_rough(to, n)) {
        FSBML_VERBOSE(FSBML_V_RAILS, "%s is not used: its measurement was disturbed", path);
        memset(to->rail, 0, n * sizeof(to->rail[0]));
        return FSBML_RECALL_NOTHING;
    }
    FSBML_VERBOSE(FSBML_V_RAILS, "parameters of an earlier job, from %s", path);
    return FSBML_RECALL_GUESS;
}

void fsbml_cache_keep(const char *partner_node, const uint32_t *rail, size_t n, const fsbml_table_t *table)
{
    char print[4096], path[4096];
    if (FSBML_CACHE_WRITE == mca_bml_fsbml_params.cache
        && fingerprint(partner_node, rail, n, print, sizeof(print)) && place(print, path, sizeof(path))) {
        store(path, print, table);
    }
}
