/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* From BTL modules to rails and groups: names, the user's choice of rails, the pseudo BTLs' limits. */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/argv.h"
#include "opal/util/show_help.h"

/* A BTL before it is known whether it is a rail. */
typedef struct candidate_t {
    mca_btl_base_module_t *btl;
    char name[FSBML_NAME_MAX];
    char key[FSBML_NAME_MAX];
    size_t place; /* among those of equal exclusivity */
} candidate_t;

static const char *component_name(const mca_btl_base_module_t *btl)
{
    return btl->btl_component->btl_version.mca_component_name;
}

/* BTLs keep their interface to themselves, but tcp registers a variable "btl_tcp_bandwidth_<interface>" whose storage
 * is the module's own btl_bandwidth. */
static bool interface_name(const mca_btl_base_module_t *btl, char *name, size_t len)
{
    static const char marker[] = "bandwidth_";
    int count = mca_base_var_get_count();
    for (int i = 0; i < count; ++i) {
        const mca_base_var_t *var;
        if (OPAL_SUCCESS != mca_base_var_get(i, &var) || (const void *) var->mbv_storage != &btl->btl_bandwidth
            || NULL == var->mbv_variable_name) {
            continue;
        }
        const char *at = strstr(var->mbv_variable_name, marker);
        if (NULL != at && '\0' != at[sizeof(marker) - 1]) {
            snprintf(name, len, "%s", at + sizeof(marker) - 1);
            return true;
        }
    }
    return false;
}

/* Network of an interface, "10.71.1.0/24": the same on every node that the rail joins. */
static bool interface_network(const char *name, char *network, size_t len)
{
    struct ifaddrs *all;
    bool found = false;
    char interface[IF_NAMESIZE];
    snprintf(interface, sizeof(interface), "%.*s", (int) strcspn(name, ":"), name);
    if (0 != getifaddrs(&all)) {
        return false;
    }
    for (int pass = 0; pass < 2 && !found; ++pass) { /* IPv4 first */
        int family = (0 == pass) ? AF_INET : AF_INET6;
        for (const struct ifaddrs *a = all; NULL != a && !found; a = a->ifa_next) {
            if (0 != strcmp(a->ifa_name, interface) || NULL == a->ifa_addr || NULL == a->ifa_netmask
                || family != a->ifa_addr->sa_family) {
                continue;
            }
            unsigned char bytes[16];
            char text[INET6_ADDRSTRLEN];
            size_t n = (AF_INET == family) ? 4 : 16;
            const void *addr, *mask;
            if (AF_INET == family) {
                addr = &((const struct sockaddr_in *) a->ifa_addr)->sin_addr;
                mask = &((const struct sockaddr_in *) a->ifa_netmask)->sin_addr;
            } else {
                addr = &((const struct sockaddr_in6 *) a->ifa_addr)->sin6_addr;
                mask = &((const struct sockaddr_in6 *) a->ifa_netmask)->sin6_addr;
            }
            int prefix = 0;
            for (size_t b = 0; b < n; ++b) {
                bytes[b] = ((const unsigned char *) addr)[b] & ((const unsigned char *) mask)[b];
                prefix += __builtin_popcount(((const unsigned char *) mask)[b]);
            }
            if (NULL != inet_ntop(family, bytes, text, sizeof(text))) {
                snprintf(network, len, "%s/%d", text, prefix);
                found = true;
            }
        }
    }
    freeifaddrs(all);
    return found;
}

static void name_candidate(candidate_t *c, const candidate_t *earlier, size_t n_earlier)
{
    char network[64];
    unsigned ordinal = 0;
    for (size_t i = 0; i < n_earlier; ++i) {
        ordinal += 0 == strcmp(component_name(earlier[i].btl), component_name(c->btl));
    }
    if (interface_name(c->btl, c->name, sizeof(c->name))) {
        const char *link = strchr(c->name, ':'); /* btl_tcp_links > 1: several modules on one interface */
        if (interface_network(c->name, network, sizeof(network))) {
            snprintf(c->key, sizeof(c->key), "%.12s:%.44s%.4s", component_name(c->btl), network,
                     NULL != link ? link : "");
        }
    } else if (0 == ordinal) {
        snprintf(c->name, sizeof(c->name), "%s", component_name(c->btl));
    } else {
        snprintf(c->name, sizeof(c->name), "%.50s#%u", component_name(c->btl), ordinal);
    }
    if ('\0' == c->key[0]) {
        snprintf(c->key, sizeof(c->key), "%.50s#%u", component_name(c->btl), ordinal);
    }
}

/* A name in bml_fsbml_include/exclude means a rail, by interface, or all rails of a component. */
static bool is_listed(char **list, const candidate_t *c)
{
    for (size_t i = 0; NULL != list && NULL != list[i]; ++i) {
        if (0 == strcmp(list[i], c->name) || 0 == strcmp(list[i], c->key)
            || 0 == strcmp(list[i], component_name(c->btl))) {
            return true;
        }
    }
    return false;
}

/* `self` reaches no one else, so there is nothing to choose for it. */
static bool can_be_rail(const mca_btl_base_module_t *btl)
{
    return 0 != strcmp(component_name(btl), "self")
           && 0 != (fsbml_btl_flags(btl) & MCA_BTL_FLAGS_SEND);
}

static size_t count_peers_in_group(const candidate_t *c, size_t n, size_t at)
{
    size_t same = 0;
    for (size_t i = 0; i < n; ++i) {
        same += can_be_rail(c[i].btl) && c[i].btl->btl_exclusivity == c[at].btl->btl_exclusivity;
    }
    return same;
}

/* Applies include/exclude; returns how many are left. Groups of one are left alone by `include`: there is no choice. */
static size_t select_candidates(candidate_t *c, size_t n)
{
    char **include = opal_argv_split(mca_bml_fsbml_params.include, ',');
    char **exclude = opal_argv_split(mca_bml_fsbml_params.exclude, ',');
    char names[1024] = "";
    bool keep[n > 0 ? n : 1];

    for (size_t i = 0; i < n; ++i) {
        keep[i] = true;
        if (can_be_rail(c[i].btl)) {
            bool chosen = count_peers_in_group(c, n, i) > 1;
            keep[i] = !is_listed(exclude, &c[i])
                      && !(NULL != include && NULL != include[0] && chosen && !is_listed(include, &c[i]));
            size_t used = strlen(names);
            snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", c[i].name);
        }
    }
    char **lists[2] = {include, exclude};
    for (int l = 0; l < 2; ++l) {
        for (size_t k = 0; NULL != lists[l] && NULL != lists[l][k]; ++k) {
            char *one[2] = {lists[l][k], NULL};
            bool known = false;
            for (size_t i = 0; i < n && !known; ++i) {
                known = can_be_rail(c[i].btl) && is_listed(one, &c[i]);
            }
            if (!known) {
                opal_show_help(FSBML_HELP, "unknown rail", true, 0 == l ? "include" : "exclude", lists[l][k],
                               fsbml_node_name(), names);
            }
        }
    }
    size_t left = 0;
    for (size_t i = 0; i < n; ++i) { /* those in use to the front */
        if (keep[i]) {
            candidate_t c_i = c[i];
            memmove(&c[left + 1], &c[left], (i - left) * sizeof(*c));
            c[left++] = c_i;
        } else {
            FSBML_VERBOSE(FSBML_V_RAILS, "rail %s is left out on the user's request", c[i].name);
        }
    }
    /* What is left must still be able to leave the node, if something could before. */
    bool had = false, has = false;
    for (size_t i = 0; i < n; ++i) {
        had = had || can_be_rail(c[i].btl);
    }
    for (size_t i = 0; i < left; ++i) {
        has = has || (can_be_rail(c[i].btl) && 0 != strcmp(component_name(c[i].btl), "sm")
                      && 0 != strcmp(component_name(c[i].btl), "vader"));
    }
    if (left < n && had && !has) {
        opal_show_help(FSBML_HELP, "no rail left", true, fsbml_node_name(),
                       NULL != mca_bml_fsbml_params.include ? mca_bml_fsbml_params.include : "",
                       NULL != mca_bml_fsbml_params.exclude ? mca_bml_fsbml_params.exclude : "", names);
        left = 0;
    }
    opal_argv_free(include);
    opal_argv_free(exclude);
    return left;
}

static int by_exclusivity(const void *a, const void *b)
{
    const candidate_t *x = a, *y = b;
    if (x->btl->btl_exclusivity != y->btl->btl_exclusivity) {
        return x->btl->btl_exclusivity > y->btl->btl_exclusivity ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

static int make_group(const candidate_t *c, size_t n, uint32_t exclusivity)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    mca_bml_fsbml_group_t *group = calloc(1, sizeof(*group));
    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    m->group[m->n_groups++] = group;
    for (size_t i = 0; i < n; ++i) {
        if (c[i].btl->btl_exclusivity != exclusivity || !can_be_rail(c[i].btl)) {
            continue;
        }
        if (FSBML_MAX_RAILS == m->n_rails) {
            opal_show_help(FSBML_HELP, "too many rails", true, FSBML_MAX_RAILS, c[i].name, fsbml_node_name());
            break;
        }
        mca_bml_fsbml_rail_t *rail = &m->rail[m->n_rails];
        rail->btl = c[i].btl;
        rail->group = group;
        memcpy(rail->name, c[i].name, sizeof(rail->name));
        memcpy(rail->key, c[i].key, sizeof(rail->key));
        group->rails |= fsbml_bit(m->n_rails);
        FSBML_VERBOSE(FSBML_V_RAILS, "rail %u: %s (%s)", m->n_rails, rail->name, rail->key);
        ++m->n_rails;
    }
    fsbml_btl_construct(group);
    return OMPI_SUCCESS;
}

int fsbml_rails_setup(void)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    size_t n = 0, max = opal_list_get_size(&mca_btl_base_modules_initialized);
    mca_btl_base_selected_module_t *item;
    candidate_t *c = calloc(max > 0 ? max : 1, sizeof(*c));
    m->btls = calloc(max > 0 ? max : 1, sizeof(*m->btls));
    m->progress = calloc(max > 0 ? max : 1, sizeof(*m->progress));
    m->btl_key = calloc(max > 0 ? max : 1, sizeof(*m->btl_key));
    if (NULL == c || NULL == m->btls || NULL == m->progress || NULL == m->btl_key) {
        free(c);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    OPAL_LIST_FOREACH(item, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t) {
        c[n].btl = item->btl_module;
        name_candidate(&c[n], c, n);
        fsbml_pairing_note(c[n].btl, c[n].key);
        c[n].place = fsbml_pairing_place(c[n].name) * max + n;
        ++n;
    }
    size_t before = n;
    n = select_candidates(c, n);
    if (before > 0 && 0 == n) {
        free(c);
        return OMPI_ERR_BAD_PARAM;
    }
    qsort(c, n, sizeof(*c), by_exclusivity);
    for (size_t i = 0; i < before; ++i) {
        memcpy(m->btl_key[i], c[i].key, sizeof(m->btl_key[i]));
    }
    m->n_keys = before;
    int rc = OMPI_SUCCESS;
    for (size_t i = 0; i < n && OMPI_SUCCESS == rc; ++i) {
        m->btls[m->n_btls++] = c[i].btl;
        bool first = true;
        for (size_t j = 0; j < i && first; ++j) {
            first = !(can_be_rail(c[j].btl) && c[j].btl->btl_exclusivity == c[i].btl->btl_exclusivity);
        }
        if (can_be_rail(c[i].btl) && first && count_peers_in_group(c, n, i) > 1) {
            rc = make_group(c, n, c[i].btl->btl_exclusivity);
        }
    }
    free(c);
    if (OMPI_SUCCESS == rc && m->n_rails > 0) {
        m->sched = fsbml_sched_create(m->n_rails, mca_bml_fsbml_params.policy);
        rc = NULL == m->sched ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
        fsbml_ledger_join();
    }
    if (OMPI_SUCCESS == rc) {
        fsbml_put_watch();
        fsbml_record_start();
        fsbml_observe_start();
        fsbml_job_begin();
        fsbml_pvars_open();
    }
    return rc;
}

void fsbml_rails_teardown(void)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    fsbml_pvars_close();
    fsbml_record_stop(); /* before those who were there before it */
    fsbml_put_unwatch();
    fsbml_pairing_reset();
    for (uint32_t g = 0; g < m->n_groups; ++g) {
        free(m->group[g]);
        m->group[g] = NULL;
    }
    fsbml_onesided_fini();
    fsbml_rdma_fini();
    fsbml_observe_stop();
    fsbml_sched_destroy(m->sched);
    fsbml_ledger_leave();
    free(m->table);
    free(m->btls);
    free(m->progress);
    free(m->btl_key);
    m->btl_key = NULL;
    m->n_keys = 0;
    m->sched = NULL;
    m->table = NULL;
    m->btls = NULL;
    m->progress = NULL;
    m->n_btls = m->n_progress = 0;
    m->n_rails = m->n_groups = 0;
}

int fsbml_rail_of(const mca_btl_base_module_t *btl)
{
    for (uint32_t i = 0; i < mca_bml_fsbml.n_rails; ++i) {
        if (btl == mca_bml_fsbml.rail[i].btl) {
            return (int) i;
        }
    }
    return -1;
}

mca_btl_base_module_t *fsbml_visible_btl(mca_btl_base_module_t *btl)
{
    int rail = fsbml_rail_of(btl);
    return rail < 0 ? btl : &mca_bml_fsbml.rail[rail].group->pseudo;
}

void fsbml_rails_names(uint32_t rails, char *buf, size_t len)
{
    buf[0] = '\0';
    for (uint32_t i = 0; i < mca_bml_fsbml.n_rails; ++i) {
        size_t used = strlen(buf);
        if (rails & fsbml_bit(i)) {
            snprintf(buf + used, len - used, "%s%s", used > 0 ? ", " : "", mca_bml_fsbml.rail[i].name);
        }
    }
}

void fsbml_rails_apply_quantum(void)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    for (uint32_t g = 0; g < m->n_groups; ++g) {
        mca_bml_fsbml_group_t *group = m->group[g];
        fsbml_loggp_t params[FSBML_MAX_RAILS];
        size_t n = 0, quantum = mca_bml_fsbml_params.quantum;
        for (uint32_t i = 0; 0 == quantum && NULL != m->table && i < m->n_rails; ++i) {
            for (uint32_t t = 0; t < m->table->n_rails; ++t) {
                if ((group->rails & ~group->gone & fsbml_bit(i)) && m->rail[i].measured && m->table->rail[t].fit.valid
                    && 0 == strcmp(m->rail[i].key, m->table->rail[t].key)) {
                    params[n++] = m->table->rail[t].fit.params;
                    break;
                }
            }
        }
        if (0 == quantum && n > 0) {
            quantum = fsbml_quantum(params, n, 0.02, 4096, group->max_send_size);
        }
        if (quantum > 0) {
            fsbml_rdma_apply_quantum(group, quantum);
            quantum += FSBML_PML_HEADER;
            quantum = quantum < group->max_send_size ? quantum : group->max_send_size;
            group->pseudo.btl_max_send_size = quantum;
            group->pseudo.btl_rndv_eager_limit = quantum < group->rndv_eager_limit ? quantum : group->rndv_eager_limit;
            FSBML_VERBOSE(FSBML_V_RAILS, "fragments of long messages: at most %zu bytes", quantum);
        }
    }
}
