/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job says of its rails when it starts, once: the table alone (bml_fsbml_verbose 1), or all that a
 * person wants to know of its networks (bml_fsbml_display), in the manner of Open MPI's own display of what
 * connects its hosts. */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>

#include "api/fsbml_explain.h"
#include "compat/fsbml_version.h"
#include "pieces/pieces.h"
#include "report/report.h"

#include "opal/util/output.h"

/* Hosts that are named in a list, beside the last one. */
enum { HOSTS_NAMED = 6 };

static struct {
    uint32_t n_hosts, n_mute;
    char hosts[HOSTS_NAMED * (FSBML_NAME_MAX + 16)], last[FSBML_NAME_MAX + 16];
} seen;

void fsbml_display_reset(void)
{
    memset(&seen, 0, sizeof(seen));
}

void fsbml_display_hosts(void)
{
    seen.n_hosts = seen.n_mute = 0;
    seen.hosts[0] = '\0';
}

void fsbml_display_host(const fsbml_hello_t *hello)
{
    if (NULL == hello) {
        seen.n_mute++;
    } else if (hello->flags & FSBML_HELLO_FIRST) {
        const size_t used = strlen(seen.hosts);
        snprintf(seen.last, sizeof(seen.last), "%s (%u)", hello->node, hello->node_ranks);
        if (seen.n_hosts++ < HOSTS_NAMED) {
            snprintf(seen.hosts + used, sizeof(seen.hosts) - used, "%s%s", used > 0 ? ", " : "", seen.last);
        }
    }
}

/* ------------------------------------------------------------------- lines */

static void print_lines(char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); NULL != line; line = strtok_r(NULL, "\n", &rest)) {
        opal_output(0, "fsbml: %s", line);
    }
}

/* `about` of the table's rails; NULL: the table alone. */
static void print_table(const fsbml_table_t *table, const fsbml_rail_about_t *about)
{
    const int len =
        NULL != about ? fsbml_table_display(table, about, NULL, 0) : fsbml_table_text(table, NULL, 0);
    const size_t size = len > 0 ? (size_t) len + 1 : 1;
    char *text = malloc(size);
    if (NULL != text) {
        text[0] = '\0';
        (void) (NULL != about ? fsbml_table_display(table, about, text, size)
                              : fsbml_table_text(table, text, size));
        print_lines(text);
    }
    free(text);
}

static void print_hosts(void)
{
    const bool more = seen.n_hosts > HOSTS_NAMED;
    const bool all = !more || seen.n_hosts == HOSTS_NAMED + 1;
    const uint32_t ranks = fsbml_job_size();
    opal_output(0, "fsbml: %u rank%s on %u host%s: %s%s%s", ranks, 1 == ranks ? "" : "s", seen.n_hosts,
                1 == seen.n_hosts ? "" : "s", seen.hosts, all ? more ? ", " : "" : ", ..., ",
                more ? seen.last : "");
    if (seen.n_mute > 0) {
        opal_output(0, "fsbml: of %u ranks nothing is known: they do not run FSBML", seen.n_mute);
    }
}

/* Interfaces that have an address, and that no line has named; only where all rails are
 * interfaces. */
static void print_others(void)
{
    const fsbml_rails_t *m = &fsbml_rails;
    struct ifaddrs *all = NULL;
    char text[512] = "";
    const fsbml_left_out_t *left;
    const size_t n_left = fsbml_rails_left_out(&left);
    bool known = 0 == getifaddrs(&all);
    for (uint32_t i = 0; i < m->n_rails; ++i) {
        known = known && '\0' != m->rail[i].about.interface[0];
    }
    for (size_t i = 0; i < n_left; ++i) {
        known = known && '\0' != left[i].interface[0];
    }
    for (const struct ifaddrs *a = all; known && NULL != a; a = a->ifa_next) {
        if (NULL == a->ifa_addr || AF_INET != a->ifa_addr->sa_family || 0 != (a->ifa_flags & IFF_LOOPBACK)
            || 0 == (a->ifa_flags & IFF_UP)) {
            continue;
        }
        bool told = false;
        for (uint32_t i = 0; i < m->n_rails; ++i) {
            told = told || 0 == strcmp(a->ifa_name, m->rail[i].about.interface);
        }
        for (size_t i = 0; i < n_left; ++i) {
            told = told || 0 == strcmp(a->ifa_name, left[i].interface);
        }
        char address[INET_ADDRSTRLEN] = "";
        const size_t used = strlen(text);
        if (!told
            && NULL
                   != inet_ntop(AF_INET, &((struct sockaddr_in *) a->ifa_addr)->sin_addr, address,
                                sizeof(address))) {
            snprintf(text + used, sizeof(text) - used, "%s%s (%s)", used > 0 ? ", " : "", a->ifa_name,
                     address);
        }
    }
    if ('\0' != text[0]) {
        opal_output(0, "fsbml: other interfaces, which no BTL uses: %s", text);
    }
    freeifaddrs(all);
}

/* ------------------------------------------------------------------- table */

/* Why a rail of this process is not in the table. */
static void say_why(uint32_t rail, const fsbml_pair_t *pair, char why[FSBML_REASON_MAX])
{
    if (NULL == pair) {
        return;
    }
    const ompi_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = pair->rank[1]};
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(name);
    mca_bml_fsbml_endpoint_t *ep = NULL != proc ? fsbml_endpoint_of_proc(proc) : NULL;
    for (uint32_t i = 0; NULL != ep && i < ep->n_paths; ++i) {
        if (rail == ep->path[i].rail) {
            opal_mutex_lock(&ep->lock);
            snprintf(why, FSBML_REASON_MAX, "to rank %u %s", pair->rank[1],
                     0 != (atomic_load(&ep->live) & fsbml_bit(rail)) ? "it came too late" : ep->path[i].why);
            opal_mutex_unlock(&ep->lock);
            return;
        }
    }
    if (NULL != ep) {
        snprintf(why, FSBML_REASON_MAX, "rank %u does not share it", pair->rank[1]);
    }
}

/* The measured rails, and this process' others behind them; about[] of each. */
static void complete(fsbml_table_t *t, fsbml_rail_about_t about[FSBML_MAX_RAILS], const fsbml_pair_t *pair)
{
    const fsbml_rails_t *m = &fsbml_rails;
    for (uint32_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        fsbml_about_interface("", &about[i]);
    }
    for (uint32_t r = 0; r < m->n_rails; ++r) {
        const fsbml_table_rail_t *row = fsbml_table_row(t, r);
        const ptrdiff_t at = NULL != row ? row - t->rail : (ptrdiff_t) t->n_rails;
        if (at == FSBML_MAX_RAILS) {
            continue;
        }
        if (NULL == row) {
            fsbml_table_rail_t *rail = &t->rail[t->n_rails++];
            memset(rail, 0, sizeof(*rail));
            memcpy(rail->name, m->rail[r].name, sizeof(rail->name));
            memcpy(rail->key, m->rail[r].key, sizeof(rail->key));
            say_why(r, pair, rail->fit.reason);
        }
        about[at] = m->rail[r].about;
    }
}

static bool has_shared_memory(void)
{
    bool has = false;
    for (size_t i = 0; i < fsbml_rails.n_btls; ++i) {
        has =
            has
            || 0 == strcmp(FSBML_SM_BTL, fsbml_rails.btls[i]->btl_component->btl_version.mca_component_name);
    }
    return has;
}

static bool is_measured(const fsbml_table_t *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->n_rails; ++i) {
        any = any || t->rail[i].fit.valid;
    }
    return any;
}

/* By which of a group's rails messages would go, once their parameters are known. */
static void print_plan(const mca_bml_fsbml_group_t *group)
{
    fsbml_plan_t plan = {.policy = mca_bml_fsbml_params.policy,
                         .eager = group->eager_limit,
                         .quantum = group->quantum,
                         .pieces = fsbml_pieces_are_on()};
    for (uint32_t left = group->rails; 0 != left; left &= left - 1) {
        const mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[__builtin_ctz(left)];
        if (rail->in_table) {
            plan.name[plan.n_rails] = rail->name;
            plan.model[plan.n_rails++] = rail->params;
        }
    }
    char *text = fsbml_plan(&plan);
    if (NULL != text) {
        print_lines(text);
    }
    free(text);
}

static void print_all(const fsbml_pair_t *pair)
{
    const fsbml_rails_t *m = &fsbml_rails;
    fsbml_table_t *t = calloc(1, sizeof(*t));
    fsbml_rail_about_t *about = calloc(FSBML_MAX_RAILS, sizeof(*about));
    if (NULL == t || NULL == about) {
        free(t);
        free(about);
        return;
    }
    if (NULL != fsbml_table()) {
        *t = *fsbml_table();
    }
    const bool measured = is_measured(t);
    if (!measured && '\0' == t->reason[0] && 0 == t->n_rails) {
        snprintf(t->reason, sizeof(t->reason), "%s",
                 fsbml_job_size() < 2 ? "the job has one process"
                 : 0 == m->n_groups   ? "there are no two rails of one kind to choose from"
                                      : "no two hosts share two rails");
    }
    fsbml_rails_place();
    complete(t, about, pair);
    opal_output(0, "fsbml: version " FSBML_VERSION " for Open MPI %d.%d.%d", OMPI_MAJOR_VERSION,
                OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
    print_hosts();
    opal_output(0, "fsbml: policy %s; rails as %s has them%s", fsbml_policy_name(mca_bml_fsbml_params.policy),
                fsbml_node_name(), has_shared_memory() ? "; within a host: " FSBML_SM_BTL : "");
    print_table(t, about);
    if (!measured && m->n_rails > 0 && seen.n_hosts > 1) {
        opal_output(0, "fsbml: without parameters, each peer has one rail: the first that answers");
    }
    const fsbml_left_out_t *left;
    const size_t n_left = fsbml_rails_left_out(&left);
    for (size_t i = 0; i < n_left; ++i) {
        opal_output(0, "fsbml: %s: %s", left[i].name, left[i].why);
    }
    print_others();
    for (uint32_t g = 0; mca_bml_fsbml_params.display > 1 && g < m->n_groups; ++g) {
        print_plan(m->group[g]);
    }
    free(about);
    free(t);
}

void fsbml_display(const fsbml_pair_t *pair)
{
    const bool leads = NULL != pair || !mca_bml_fsbml_params.measure;
    if (FSBML_V_TABLE <= fsbml_verbosity && leads && NULL != fsbml_table()) {
        print_table(fsbml_table(), NULL);
    }
    if (mca_bml_fsbml_params.display > 0) {
        print_all(pair);
    }
}
