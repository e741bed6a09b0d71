/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes measure. The first rank of each node looks at the hellos of all nodes, and finds in the
 * core (core/measure/start/start.hpp) the pairs that measure. All others look at hellos until they know the
 * first pair, mostly at two. */

#include <errno.h>

#include "measure/measure.h"

static const fsbml_measure_listener_t *listener;

void fsbml_pairs_listen(const fsbml_measure_listener_t *l)
{
    listener = l;
}

static bool is_one_node(void)
{
    return fsbml_job_local_size() >= fsbml_job_size();
}

/* Shared memory is a rail here, and so in all processes of the node. */
static bool has_memory_rail(void)
{
    bool has = false;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        has = has || fsbml_rails_means_shared_memory(fsbml_rails.rail[i].key);
    }
    return has;
}

/* Takes out of a hello what connects no two of those that count as nodes, and shared memory that is no rail.
 * All nodes have it, under one name, on one level. */
static void leave_out_local(fsbml_hello_t *hello)
{
    const bool memory = !is_one_node() || !has_memory_rail();
    for (uint32_t r = 0; r < hello->n_rails; ++r) {
        const char *key = hello->rail[r].key;
        if (0 == strncmp(key, "self#", 5) || (memory && fsbml_rails_means_shared_memory(key))) {
            hello->rail[r].exclusivity = FSBML_LEFT_OUT;
        }
    }
}

/* Tells the hellos of all nodes, or until the first pair is known. */
static void look(fsbml_classes_t *classes, bool at_all)
{
    fsbml_hello_t *hello = malloc(sizeof(*hello));
    fsbml_pair_t first = {.rank = {0, 0}};
    uint32_t rank;
    int rc = NULL != hello ? 0 : -ENOMEM;
    if (at_all) {
        listener->hosts();
    }
    while (0 == rc && (at_all || 1 != fsbml_classes_first(classes, &first))
           && 1 == fsbml_classes_next(classes, &rank)) {
        const ompi_process_name_t name = fsbml_pairs_name(rank);
        const bool told = 0 == fsbml_hello_fetch(&name, hello);
        if (at_all) {
            listener->host(told ? hello : NULL);
        }
        if (told) {
            leave_out_local(hello);
        }
        rc = fsbml_classes_tell(classes, rank, told ? hello : NULL);
    }
    free(hello);
}

bool fsbml_pairs_first_leader(uint32_t *rank)
{
    fsbml_classes_t *classes = fsbml_classes_create(fsbml_job_size(), is_one_node());
    fsbml_pair_t first;
    if (NULL == classes) {
        return false;
    }
    look(classes, false);
    const bool found = 1 == fsbml_classes_first(classes, &first);
    *rank = first.rank[0];
    fsbml_classes_destroy(classes);
    return found;
}

bool fsbml_pairs_is_in(const fsbml_pair_t *pair)
{
    const uint32_t me = OMPI_PROC_MY_NAME->vpid;
    return me == pair->rank[0] || me == pair->rank[1];
}

fsbml_pairs_t *fsbml_pairs_all(void)
{
    fsbml_classes_t *classes = fsbml_classes_create(fsbml_job_size(), is_one_node());
    fsbml_pairs_t *pairs = calloc(1, sizeof(*pairs));
    if (NULL != classes && NULL != pairs) {
        look(classes, true);
        (void) fsbml_classes_plan(classes, pairs);
    }
    fsbml_classes_destroy(classes);
    return pairs;
}

fsbml_pairs_t *fsbml_pairs_mine(void)
{
    /* On a job of several nodes only the first process of a node can be in a pair: the others need not
     * look. */
    if (0 == fsbml_rails.n_groups || fsbml_job_size() < 2 || !(is_one_node() || 0 == fsbml_my_local_rank())) {
        return NULL;
    }
    fsbml_pairs_t *pairs = fsbml_pairs_all();
    bool mine = false;
    for (uint32_t i = 0; NULL != pairs && i < pairs->n; ++i) {
        mine = mine || fsbml_pairs_is_in(&pairs->pair[i]);
    }
    if (!mine) {
        free(pairs);
        pairs = NULL;
    }
    return pairs;
}

uint32_t fsbml_pairs_rails(const fsbml_pair_t *pair)
{
    uint32_t rails = 0;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        for (uint32_t k = 0; k < pair->n_rails; ++k) {
            rails |= fsbml_rails.rail[r].key_digest == pair->key[k] ? fsbml_bit(r) : 0;
        }
    }
    return rails;
}
