/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* From BTL modules to rails and groups: names, the user's choice of rails. */

#include <stdio.h>

#include "rails/rails.h"

#include "opal/util/argv.h"
#include "opal/util/show_help.h"

/* BTLs that could be rails and are none. */
static fsbml_left_out_t left_out[FSBML_MAX_RAILS];
static size_t n_left_out;

static void leave_out(const char *name, const fsbml_rail_about_t *about, const char *why)
{
    if (n_left_out < FSBML_MAX_RAILS) {
        (void) fsbml_name_full(name, about, left_out[n_left_out].name);
        memcpy(left_out[n_left_out].interface, about->interface, sizeof(about->interface));
        left_out[n_left_out++].why = why;
    }
}

size_t fsbml_rails_left_out(const fsbml_left_out_t **first)
{
    *first = left_out;
    return n_left_out;
}

/* A BTL before it is known whether it is a rail. */
typedef struct candidate_t {
    mca_btl_base_module_t *btl;
    char name[FSBML_NAME_MAX];
    char key[FSBML_NAME_MAX];
    fsbml_rail_about_t about;
    size_t place;      /* among those of equal exclusivity */
    bool is_asked_for; /* bml_fsbml_include names it */
} candidate_t;

static const char *component_name(const mca_btl_base_module_t *btl)
{
    return btl->btl_component->btl_version.mca_component_name;
}

/* Names; `earlier` are those that have one. */
static void name_candidate(candidate_t *c, const candidate_t *earlier, size_t n_earlier)
{
    unsigned ordinal = 0;
    for (size_t i = 0; i < n_earlier; ++i) {
        ordinal += 0 == strcmp(component_name(earlier[i].btl), component_name(c->btl));
    }
    fsbml_name_btl(c->btl, ordinal, c->name, c->key, &c->about);
    /* Interfaces of one network have its key in common: counted, so that each has parameters of its own. */
    unsigned same = 1;
    for (size_t i = 0; i < n_earlier; ++i) {
        same += 0 == strncmp(earlier[i].key, c->key, strlen(c->key))
                && strchr("#", earlier[i].key[strlen(c->key)]) != NULL;
    }
    const size_t used = strlen(c->key);
    if (same > 1) {
        snprintf(c->key + used, sizeof(c->key) - used, "#%u", same);
    }
}

static bool is_named(const char *word, const candidate_t *c)
{
    return fsbml_name_means(word, c->name, c->key, component_name(c->btl), &c->about);
}

/* An address of another node, and only one interface is in its network. */
static bool is_remote(const char *word, const candidate_t *all, size_t n, size_t at)
{
    bool only = fsbml_name_is_near(word, &all[at].about);
    for (size_t i = 0; i < n && only; ++i) {
        only = 0 == strcmp(all[i].about.interface, all[at].about.interface)
               || !(is_named(word, &all[i]) || fsbml_name_is_near(word, &all[i].about));
    }
    return only;
}

/* A name in bml_fsbml_include/exclude means a rail, or all rails of a component. */
static bool is_listed(char **list, const candidate_t *all, size_t n, size_t at)
{
    for (size_t i = 0; NULL != list && NULL != list[i]; ++i) {
        if (is_named(list[i], &all[at]) || is_remote(list[i], all, n, at)) {
            return true;
        }
    }
    return false;
}

bool fsbml_rails_means_shared_memory(const char *key)
{
    static const char *const names[] = {"vader", "sm", "smcuda"};
    const size_t n = strcspn(key, "#");
    bool means = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        means = means || (strlen(names[i]) == n && 0 == strncmp(key, names[i], n));
    }
    return means;
}

bool fsbml_rails_is_shared_memory(const mca_btl_base_module_t *btl)
{
    return fsbml_rails_means_shared_memory(component_name(btl));
}

/* `self` reaches no one else, so there is nothing to choose for it. */
static bool can_be_rail(const mca_btl_base_module_t *btl)
{
    return 0 != strcmp(component_name(btl), "self") && 0 != (fsbml_btl_flags(btl) & MCA_BTL_FLAGS_SEND);
}

/* Shared memory only if it is asked for: no network helps it, and to look at one's sockets costs more than a
 * message. */
static bool joins_group(const candidate_t *c)
{
    return can_be_rail(c->btl) && (c->is_asked_for || !fsbml_rails_is_shared_memory(c->btl));
}

/* How many have a group with it. */
static size_t group_size(const candidate_t *c, size_t n, size_t at)
{
    size_t same = 0;
    for (size_t i = 0; i < n && joins_group(&c[at]); ++i) {
        same += joins_group(&c[i]) && c[i].btl->btl_exclusivity == c[at].btl->btl_exclusivity;
    }
    return same;
}

/* Finds where the candidates' devices are. Loading a topology takes time: only where the user wants to see
 * that. */
static void place_candidates(fsbml_machine_t *machine, bool load, candidate_t *c, size_t n)
{
    fsbml_machine_done(machine);
    fsbml_machine_look(machine, load);
    for (size_t i = 0; i < n; ++i) {
        if (can_be_rail(c[i].btl)) {
            fsbml_machine_place(machine, c[i].name, &c[i].about);
        }
    }
}

static bool is_known(char *word, const candidate_t *c, size_t n)
{
    char *one[2] = {word, NULL};
    bool known = false;
    for (size_t i = 0; i < n && !known; ++i) {
        known = can_be_rail(c[i].btl) && is_listed(one, c, n, i);
    }
    return known;
}

/* Applies include/exclude; returns how many are left. Groups of one are left alone by `include`: there is no
 * choice. */
static size_t select_candidates(fsbml_machine_t *machine, candidate_t *c, size_t n)
{
    char **include = opal_argv_split(mca_bml_fsbml_params.include, ',');
    char **exclude = opal_argv_split(mca_bml_fsbml_params.exclude, ',');
    char **lists[2] = {include, exclude};
    char names[1024] = "", full[FSBML_NAME_FULL];
    bool keep[n > 0 ? n : 1];

    for (int l = 0; l < 2; ++l) {
        for (size_t k = 0; NULL != lists[l] && NULL != lists[l][k] && !machine->own; ++k) {
            if (!is_known(lists[l][k], c, n)) { /* perhaps a device that only a full topology has */
                place_candidates(machine, true, c, n);
                break;
            }
        }
    }
    for (size_t i = 0; i < n; ++i) {
        c[i].is_asked_for = is_listed(include, c, n, i);
    }
    for (size_t i = 0; i < n; ++i) {
        keep[i] = true;
        if (can_be_rail(c[i].btl)) {
            bool chosen = group_size(c, n, i) > 1;
            keep[i] = !is_listed(exclude, c, n, i)
                      && !(NULL != include && NULL != include[0] && chosen && !c[i].is_asked_for);
            size_t used = strlen(names);
            snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "",
                     fsbml_name_full(c[i].name, &c[i].about, full));
        }
    }
    for (int l = 0; l < 2; ++l) {
        for (size_t k = 0; NULL != lists[l] && NULL != lists[l][k]; ++k) {
            if (!is_known(lists[l][k], c, n)) {
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
            leave_out(c[i].name, &c[i].about,
                      NULL != exclude && NULL != exclude[0] ? "left out: bml_fsbml_exclude names it"
                                                            : "left out: bml_fsbml_include does not name it");
        }
    }
    /* What is left must still be able to leave the node, if something could before. */
    bool had = false, has = false;
    for (size_t i = 0; i < n; ++i) {
        had = had || can_be_rail(c[i].btl);
    }
    for (size_t i = 0; i < left; ++i) {
        has = has || (can_be_rail(c[i].btl) && !fsbml_rails_is_shared_memory(c[i].btl));
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
    if (joins_group(x) != joins_group(y)) {
        return joins_group(x) ? 1 : -1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

static int make_group(const fsbml_machine_t *machine, const candidate_t *c, size_t n, uint32_t exclusivity)
{
    fsbml_rails_t *m = &fsbml_rails;
    mca_bml_fsbml_group_t *group = calloc(1, sizeof(*group));
    char full[FSBML_NAME_FULL], detail[FSBML_NAME_DETAIL], facts[FSBML_NAME_DETAIL];
    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (m->n_rails + 2 > FSBML_MAX_RAILS) { /* no two of them are rails: used as r2 would */
        free(group);
        return OMPI_SUCCESS;
    }
    m->group[m->n_groups++] = group;
    for (size_t i = 0; i < n; ++i) {
        if (c[i].btl->btl_exclusivity != exclusivity || !joins_group(&c[i])) {
            continue;
        }
        if (FSBML_MAX_RAILS == m->n_rails) {
            opal_show_help(FSBML_HELP, "too many rails", true, FSBML_MAX_RAILS,
                           fsbml_name_full(c[i].name, &c[i].about, full), fsbml_node_name());
            break;
        }
        mca_bml_fsbml_rail_t *rail = &m->rail[m->n_rails];
        rail->btl = c[i].btl;
        rail->group = group;
        memcpy(rail->name, c[i].name, sizeof(rail->name));
        memcpy(rail->key, c[i].key, sizeof(rail->key));
        rail->about = c[i].about;
        rail->key_digest = fsbml_digest(rail->key);
        group->rails |= fsbml_bit(m->n_rails);
        FSBML_VERBOSE(FSBML_V_RAILS, "rail %u: %s (%s)%s", m->n_rails, rail->name,
                      fsbml_name_detail(rail, detail), fsbml_name_facts(&rail->about, facts));
        fsbml_machine_tell(machine, rail->name, &rail->about);
        ++m->n_rails;
    }
    return OMPI_SUCCESS;
}

int fsbml_rails_setup(void)
{
    fsbml_rails_t *m = &fsbml_rails;
    memset(m, 0, sizeof(*m));
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
    OPAL_LIST_FOREACH(item, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    {
        c[n].btl = item->btl_module;
        name_candidate(&c[n], c, n);
        fsbml_pairing_note(c[n].btl, c[n].key);
        c[n].place = fsbml_pairing_place(c[n].name) * max + n;
        ++n;
    }
    size_t before = n;
    fsbml_machine_t machine = {.topology = NULL};
    place_candidates(&machine, FSBML_V_RAILS <= fsbml_verbosity, c, n);
    n = select_candidates(&machine, c, n);
    if (before > 0 && 0 == n) {
        fsbml_machine_done(&machine);
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
            first = !(joins_group(&c[j]) && c[j].btl->btl_exclusivity == c[i].btl->btl_exclusivity);
        }
        const size_t size = group_size(c, n, i);
        if (first && size > 1) {
            rc = make_group(&machine, c, n, c[i].btl->btl_exclusivity);
        } else if (1 == size && !fsbml_rails_is_shared_memory(c[i].btl)) {
            leave_out(c[i].name, &c[i].about,
                      "in use by itself: there is no other of its kind to choose from");
        }
    }
    fsbml_machine_done(&machine);
    free(c);
    if (OMPI_SUCCESS == rc && m->n_rails > 0) {
        m->sched = fsbml_sched_create(m->n_rails, mca_bml_fsbml_params.policy);
        rc = NULL == m->sched ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
        fsbml_ledger_join();
    }
    if (OMPI_SUCCESS == rc) {
        fsbml_end_begin();
    }
    return rc;
}

void fsbml_rails_teardown(void)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_pairing_reset();
    fsbml_kernel_forget();
    n_left_out = 0;
    for (uint32_t g = 0; g < m->n_groups; ++g) {
        free(m->group[g]);
        m->group[g] = NULL;
    }
    fsbml_sched_destroy(m->sched);
    fsbml_ledger_leave();
    free(m->btls);
    free(m->progress);
    free(m->btl_key);
    m->btl_key = NULL;
    m->n_keys = 0;
    m->sched = NULL;
    m->btls = NULL;
    m->progress = NULL;
    m->n_btls = m->n_progress = 0;
    m->n_rails = m->n_groups = 0;
}
