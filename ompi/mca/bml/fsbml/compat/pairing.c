/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of a peer's addresses a tcp module gets.
 *
 * tcp of 4.1 joins the interfaces of two nodes well, but then gives the first module that asks for a peer the
 * first pair, in the order of this node's interfaces, the second module the next pair, and so on. That is the
 * module's own interface only if all modules ask, in that order, and each interface has its pair. Else a
 * module sends over another one's rail (the kernel routes by the peer's address), which would be charged and
 * measured as its own, and the peer refuses connections that it opens. So here
 *  - modules are made in the order of their interfaces, whatever the order of their names in
 * btl_tcp_if_include;
 *  - all of them ask for each peer, also those that the user left out, but for those of which the peer has no
 * part;
 *  - and where the peer connected first, so that tcp itself has asked for all, a path is charged to the rail
 * it got. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "compat/compat.h"

#include "opal/mca/base/mca_base_var.h"
#include "opal/util/argv.h"
#include "opal/util/if.h"

/* All tcp modules, also those that are left out, in the order in which they were made. */
static struct {
    mca_btl_base_module_t *btl;
    char key[FSBML_NAME_MAX];
} tcp[FSBML_MAX_RAILS];
static uint32_t n_tcp;

/* Endpoints of modules whose bytes take another rail. They are few: most jobs have none. */
typedef struct crossing_t {
    struct crossing_t *next;
    const struct mca_btl_base_endpoint_t *endpoint;
    uint32_t rail;
} crossing_t;
static _Atomic(crossing_t *) crossings;

const fsbml_tcp_view_t *fsbml_tcp;

void fsbml_tcp_view(const fsbml_tcp_view_t *view)
{
    fsbml_tcp = view;
}

/* ------------------------------------------------------------------- order */

/* An interface by name, or by a network that has one of its addresses ("10.71.1.0/24"). */
static bool means(const char *text, const char *name, const struct sockaddr_storage *address)
{
    char network[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    struct in_addr base;
    if (NULL == slash) {
        return 0 == strcmp(text, name);
    }
    const int bits = atoi(slash + 1);
    snprintf(network, sizeof(network), "%.*s", (int) (slash - text), text);
    if (AF_INET != address->ss_family || 1 != inet_pton(AF_INET, network, &base) || bits < 1 || bits > 32) {
        return false;
    }
    const uint32_t mine = ntohl(((const struct sockaddr_in *) address)->sin_addr.s_addr);
    return 0 == (mine ^ ntohl(base.s_addr)) >> (32 - bits);
}

/* Place of an interface in the order in which tcp goes through them, -1: there is none. */
static int place_of(const char *text)
{
    int place = 0;
    for (int i = opal_ifbegin(); i >= 0; i = opal_ifnext(i), ++place) {
        char name[64];
        struct sockaddr_storage address;
        if (OPAL_SUCCESS == opal_ifindextoname(i, name, sizeof(name))
            && OPAL_SUCCESS == opal_ifindextoaddr(i, (struct sockaddr *) &address, sizeof(address))
            && means(text, name, &address)) {
            return place;
        }
    }
    return -1;
}

static char **as_named; /* btl_tcp_if_include as the user has it, if that was changed */

void fsbml_pairing_order(void)
{
    const mca_base_var_t *var;
    const int index = FSBML_TCP_PAIRS_IN_TURN ? mca_base_var_find("opal", "btl", "tcp", "if_include") : -1;
    if (index < 0 || OPAL_SUCCESS != mca_base_var_get(index, &var) || NULL == var->mbv_storage->stringval) {
        return;
    }
    char *text = var->mbv_storage->stringval;
    char **name = opal_argv_split(text, ',');
    bool moved = false, known = true;
    for (int i = 0; i < opal_argv_count(name) && known; ++i) {
        known = place_of(name[i]) >= 0; /* else it is for tcp to say what is wrong */
        for (int j = i; known && j > 0 && place_of(name[j]) < place_of(name[j - 1]); --j) {
            char *swap = name[j];
            name[j] = name[j - 1];
            name[j - 1] = swap;
            moved = true;
        }
    }
    char *sorted = moved && known ? opal_argv_join(name, ',') : NULL;
    if (NULL != sorted && strlen(sorted) == strlen(text)) {
        FSBML_VERBOSE(FSBML_V_RAILS, "btl_tcp_if_include in the order of the interfaces: %s", sorted);
        as_named = opal_argv_split(text, ',');
        memcpy(text, sorted, strlen(sorted)); /* in its place: the variable cannot be set any more */
    }
    free(sorted);
    opal_argv_free(name);
}

uint32_t fsbml_pairing_place(const char *interface)
{
    const size_t len = strcspn(interface, ":"); /* btl_tcp_links: "eth0:1" */
    uint32_t place = 0;
    for (; NULL != as_named && NULL != as_named[place]; ++place) {
        for (int i = opal_ifbegin(); i >= 0; i = opal_ifnext(i)) {
            char name[64];
            struct sockaddr_storage address;
            if (OPAL_SUCCESS == opal_ifindextoname(i, name, sizeof(name)) && len == strlen(name)
                && 0 == strncmp(name, interface, len)
                && OPAL_SUCCESS == opal_ifindextoaddr(i, (struct sockaddr *) &address, sizeof(address))
                && means(as_named[place], name, &address)) {
                return place;
            }
        }
    }
    return place;
}

void fsbml_pairing_note(mca_btl_base_module_t *btl, const char *key)
{
    if (n_tcp < FSBML_MAX_RAILS && 0 == strcmp(btl->btl_component->btl_version.mca_component_name, "tcp")) {
        tcp[n_tcp].btl = btl;
        snprintf(tcp[n_tcp].key, sizeof(tcp[n_tcp].key), "%s", key);
        ++n_tcp;
    }
}

void fsbml_pairing_reset(void)
{
    n_tcp = 0;
    opal_argv_free(as_named);
    as_named = NULL;
    for (crossing_t *c = atomic_exchange(&crossings, NULL); NULL != c;) {
        crossing_t *next = c->next;
        free(c);
        c = next;
    }
}

/* ------------------------------------------------------------------- peers */

static bool is_settled(const ompi_proc_t *proc)
{
    return !FSBML_TCP_PAIRS_IN_TURN || n_tcp < 2 || proc == ompi_proc_local_proc;
}

/* What a peer has of the tcp modules' networks, bit = index in tcp[], and how many of its own; false if it
 * does not say. */
static bool networks_of(ompi_proc_t *proc, uint32_t *has, uint32_t *uses, uint32_t *count)
{
    fsbml_hello_t *hello = malloc(sizeof(*hello));
    const bool told = NULL != hello && 0 == fsbml_tcp->hello(&proc->super.proc_name, hello);
    *has = *uses = *count = 0;
    for (uint32_t r = 0; told && r < hello->n_rails; ++r) {
        if (0 != strncmp(hello->rail[r].key, "tcp", 3)) {
            continue;
        }
        ++*count;
        for (uint32_t i = 0; i < n_tcp; ++i) {
            if (0 == strcmp(hello->rail[r].key, tcp[i].key)) {
                *has |= fsbml_bit(i);
                *uses |= FSBML_LEFT_OUT != hello->rail[r].exclusivity ? fsbml_bit(i) : 0;
            }
        }
    }
    free(hello);
    return told;
}

void fsbml_pairing_ask(ompi_proc_t *proc)
{
    uint32_t has, uses, count;
    if (is_settled(proc)) {
        return;
    }
    /* Has the peer fewer interfaces than this node, and all of its networks are here too, then there are
     * pairs for those and no more. Else all interfaces of this node have one. */
    const bool told = networks_of(proc, &has, &uses, &count);
    const bool some = told && count > 0 && count < n_tcp && (uint32_t) __builtin_popcount(has) == count;
    for (uint32_t i = 0; i < n_tcp; ++i) {
        struct mca_btl_base_endpoint_t *endpoint = NULL;
        if (!some || 0 != (has & fsbml_bit(i))) {
            (void) tcp[i].btl->btl_add_procs(tcp[i].btl, 1, (opal_proc_t **) &proc, &endpoint, NULL);
        }
    }
}

void fsbml_pairing_settle(ompi_proc_t *proc)
{
    for (uint32_t i = 0; i < n_tcp && !is_settled(proc); ++i) {
        struct mca_btl_base_endpoint_t *endpoint = NULL;
        if (!fsbml_tcp->in_use(tcp[i].btl)
            && OPAL_SUCCESS
                   == tcp[i].btl->btl_add_procs(tcp[i].btl, 1, (opal_proc_t **) &proc, &endpoint, NULL)
            && NULL != endpoint) {
            (void) tcp[i].btl->btl_del_procs(tcp[i].btl, 1, (opal_proc_t **) &proc, &endpoint);
        }
    }
}

/* The newest of an endpoint counts: a module's endpoints come and go. */
static void note_crossing(const struct mca_btl_base_endpoint_t *endpoint, uint32_t rail)
{
    crossing_t *c = malloc(sizeof(*c));
    if (NULL != c) {
        *c = (crossing_t){.next = atomic_load(&crossings), .endpoint = endpoint, .rail = rail};
        while (!atomic_compare_exchange_weak(&crossings, &c->next, c)) {
        }
    }
}

uint32_t fsbml_pairing_rail_of(uint32_t module, const struct mca_btl_base_endpoint_t *endpoint)
{
    for (const crossing_t *c = atomic_load(&crossings); NULL != c; c = c->next) {
        if (c->endpoint == endpoint) {
            return c->rail;
        }
    }
    return module;
}

void fsbml_pairing_rails(ompi_proc_t *proc, const mca_bml_base_btl_t *entry, size_t n,
                         uint32_t taken[FSBML_MAX_RAILS])
{
    uint32_t asked = 0, has, uses, count;
    for (uint32_t r = 0; r < FSBML_MAX_RAILS; ++r) {
        taken[r] = r;
    }
    if (is_settled(proc) || !networks_of(proc, &has, &uses, &count)) {
        return;
    }
    for (size_t e = 0; e < n; ++e) {
        const int module = fsbml_tcp->rail_of(entry[e].btl);
        if (module >= 0
            && (uint32_t) module != fsbml_pairing_rail_of((uint32_t) module, entry[e].btl_endpoint)) {
            note_crossing(entry[e].btl_endpoint, (uint32_t) module); /* of a peer that has gone */
        }
    }
    for (uint32_t i = 0; i < n_tcp; ++i) {
        for (size_t e = 0; e < n; ++e) {
            asked |= entry[e].btl == tcp[i].btl ? fsbml_bit(i) : 0;
        }
    }
    if (0 == (asked & ~uses) || __builtin_popcount(asked) != __builtin_popcount(uses)) {
        return; /* each has its own, or the networks do not say */
    }
    /* The peer came first, so all modules have asked in turn: those that got a pair got the pairs in turn. */
    for (; 0 != asked; asked &= asked - 1, uses &= uses - 1) {
        const int module = fsbml_tcp->rail_of(tcp[__builtin_ctz(asked)].btl);
        const int rail = fsbml_tcp->rail_of(tcp[__builtin_ctz(uses)].btl);
        if (module < 0 || rail < 0) {
            continue;
        }
        taken[module] = (uint32_t) rail;
        if (module != rail) {
            fsbml_tcp_rail_t from, to;
            (void) fsbml_tcp->rail((uint32_t) module, &from);
            (void) fsbml_tcp->rail((uint32_t) rail, &to);
            for (size_t e = 0; e < n; ++e) {
                if (entry[e].btl == from.btl) {
                    note_crossing(entry[e].btl_endpoint, (uint32_t) rail);
                }
            }
            FSBML_VERBOSE(FSBML_V_PEER, "what tcp's module %s sends to %s takes rail %s", from.name,
                          OMPI_NAME_PRINT(&proc->super.proc_name), to.name);
        }
    }
}
