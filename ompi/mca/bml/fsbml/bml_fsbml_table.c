/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What processes tell each other through the run-time's key-value store before the first message: their
 * node and rails (hello, in the modex). The record itself is the core's. And what becomes of a table of
 * parameters, from wherever it came. */

#include <errno.h>
#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/util/show_help.h"

/* MPI can start several times in one process: each time has keys of its own. All of a job count alike. */
static void make_key(char *key, size_t len)
{
    snprintf(key, len, "fsbml.hello.%u", mca_bml_fsbml.epoch);
}

/* --------------------------------------------------------------------- hello */

static uint32_t my_digest(void)
{
    char text[256];
    fsbml_params_agreed(text, sizeof(text));
    return fsbml_digest(text);
}

/* Ranks in a row, from this one on, that are of this node: a process that has seen one of them need not look
 * at the others. */
static uint32_t ranks_in_a_row(void)
{
    char *ranks = fsbml_kvs_local_ranks(), *at = ranks, *end;
    uint32_t next = OMPI_PROC_MY_NAME->vpid + 1;
    while (NULL != at && '\0' != *at) { /* they are sorted */
        next += next == strtoul(at, &end, 10);
        at = end + strspn(end, ",");
        if ('\0' != *end && ',' != *end) {
            break;
        }
    }
    free(ranks);
    return next - OMPI_PROC_MY_NAME->vpid;
}

int fsbml_hello_publish(void)
{
    const mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    void *record = malloc(fsbml_hello_packed_max());
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    if (NULL != hello && NULL != record) {
        char key[64];
        hello->params_digest = my_digest();
        hello->flags = (fsbml_rdma_in_use() ? FSBML_HELLO_RDMA : 0)
                       | (0 == m->n_groups ? FSBML_HELLO_PLAIN : 0)
                       | (0 == fsbml_my_local_rank() ? FSBML_HELLO_FIRST : 0)
                       | (fsbml_job_is_reported() ? FSBML_HELLO_REPORT : 0);
        hello->node_ranks = fsbml_job_local_size();
        hello->run = ranks_in_a_row();
        snprintf(hello->node, sizeof(hello->node), "%s", fsbml_node_name());
        for (size_t i = 0; i < m->n_keys && hello->n_rails < FSBML_MAX_RAILS; ++i) {
            hello->rail[hello->n_rails].exclusivity =
                i < m->n_btls ? m->btls[i]->btl_exclusivity : FSBML_LEFT_OUT;
            memcpy(hello->rail[hello->n_rails].key, m->btl_key[i], sizeof(hello->rail[0].key));
            hello->n_rails++;
        }
        long len = fsbml_hello_pack(hello, record, fsbml_hello_packed_max());
        make_key(key, sizeof(key));
        rc = len > 0 ? fsbml_kvs_put(key, record, (size_t) len) : OMPI_ERROR;
    }
    free(record);
    free(hello);
    return rc;
}

/* Waits for what a peer publishes. What never comes takes the run-time 10 s or 20 s to find out: enough for
 * one peer, not for a job of them. */
static bool await(const ompi_process_name_t *peer, const char *key, void **record, size_t *len)
{
    static _Atomic uint64_t in_vain_ns;
    static _Atomic uint32_t in_vain_in; /* life of MPI */
    static const uint64_t patience_ns = 5000000000u;
    if (mca_bml_fsbml.epoch != in_vain_in) {
        in_vain_in = mca_bml_fsbml.epoch;
        in_vain_ns = 0;
    }
    if (in_vain_ns >= patience_ns && peer->jobid == OMPI_PROC_MY_NAME->jobid) {
        return false;
    }
    const uint64_t start = fsbml_now_ns();
    const bool found = OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_WAIT, record, len);
    in_vain_ns += found ? 0 : fsbml_now_ns() - start;
    return found;
}

/* Waits until a peer has published what it does when it starts, all of it at once: a BTL's address stands for
 * it, which is there without FSBML, too. */
static bool await_start(const ompi_process_name_t *peer)
{
    void *record = NULL;
    size_t len = 0;
    char *key = mca_base_component_to_string(&mca_bml_fsbml.rail[0].btl->btl_component->btl_version);
    const bool found = NULL != key
                       && (OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len)
                           || await(peer, key, &record, &len));
    free(key);
    free(record);
    return found;
}

int fsbml_hello_fetch(const ompi_process_name_t *peer, fsbml_hello_t *hello)
{
    /* A peer that has none is asked for twice in a row, and the wait may be long: remember the last one. */
    static _Thread_local ompi_process_name_t silent;
    static _Thread_local uint32_t silent_in; /* life of MPI, 0: none was */
    char key[64];
    void *record = NULL;
    size_t len = 0;
    if (mca_bml_fsbml.epoch == silent_in && silent.jobid == peer->jobid && silent.vpid == peer->vpid) {
        return -ENOENT;
    }
    make_key(key, sizeof(key));
    /* nearly always there since the modex; processes of other jobs must be asked for */
    bool found = OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len);
    if (!found && (mca_bml_fsbml.epoch > 1 || 0 == mca_bml_fsbml.n_rails)) {
        found = await(peer, key, &record, &len); /* in a later life an address may be of an earlier one */
    } else if (!found && await_start(peer)) {
        found = OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len);
    }
    if (!found) {
        silent = *peer;
        silent_in = mca_bml_fsbml.epoch;
        return -ENOENT;
    }
    int rc = fsbml_hello_unpack(hello, record, len);
    free(record);
    if (0 != rc) {
        opal_show_help(FSBML_HELP, "malformed record", true, "hello", OMPI_NAME_PRINT(peer));
    }
    return rc;
}

void fsbml_hello_node(const ompi_process_name_t *peer, char node[FSBML_NAME_MAX])
{
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    node[0] = '\0';
    if (NULL != hello && 0 == fsbml_hello_fetch(peer, hello)) {
        snprintf(node, FSBML_NAME_MAX, "%s", hello->node);
    }
    free(hello);
}

uint64_t fsbml_hello_refusals(const ompi_process_name_t *peer)
{
    const mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    uint64_t refused = 0;
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    if (NULL != hello && 0 == fsbml_hello_fetch(peer, hello)) {
        for (size_t b = 0; b < m->n_btls && b < 64; ++b) {
            for (uint32_t r = 0; r < hello->n_rails; ++r) {
                if (FSBML_LEFT_OUT == hello->rail[r].exclusivity
                    && 0 == strcmp(hello->rail[r].key, m->btl_key[b])) {
                    refused |= UINT64_C(1) << b;
                }
            }
        }
    }
    free(hello);
    return refused;
}

fsbml_speech_t fsbml_hello_rdma(const ompi_process_name_t *peer)
{
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    fsbml_speech_t speech = FSBML_SPEECH_REAL;
    if (NULL != hello && 0 == fsbml_hello_fetch(peer, hello)) {
        speech = hello->flags & FSBML_HELLO_RDMA    ? FSBML_SPEECH_ALL
                 : hello->flags & FSBML_HELLO_PLAIN ? FSBML_SPEECH_REAL
                                                    : FSBML_SPEECH_NONE;
    }
    free(hello);
    return speech;
}

void fsbml_hello_refresh(const ompi_process_name_t *peer)
{
    char key[64];
    void *record = NULL;
    size_t len = 0;
    make_key(key, sizeof(key));
    /* first wait until the peer has got to this life, then forget what it said in an earlier one */
    if (await(peer, key, &record, &len)) {
        free(record);
        record = NULL;
        (void) fsbml_kvs_get(peer, key, FSBML_KVS_REFRESH, &record, &len);
    }
    free(record);
}

/* --------------------------------------------------------------------- table */

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

/* Of rails that a processor feeds one at a time, this process uses the one that its number on the node comes
 * to; the others stay connected, for the case that it fails. */
static bool is_another_process(const fsbml_table_t *table, const fsbml_table_rail_t *row)
{
    uint32_t n = 0, number = 0;
    for (uint32_t i = 0; i < table->n_rails; ++i) {
        const bool one_of_them = table->rail[i].fit.valid && table->rail[i].fit.in_turn;
        number += one_of_them && &table->rail[i] < row;
        n += one_of_them;
    }
    return row->fit.in_turn && n > 1 && number != fsbml_my_local_rank() % n;
}

const fsbml_table_rail_t *fsbml_table_row(const fsbml_table_t *table, uint32_t rail)
{
    for (uint32_t t = 0; NULL != table && t < table->n_rails; ++t) {
        if (0 == strcmp(mca_bml_fsbml.rail[rail].key, table->rail[t].key)) {
            return &table->rail[t];
        }
    }
    return NULL;
}

fsbml_loggp_t fsbml_table_params(const fsbml_table_rail_t *r, uint32_t rail)
{
    return mca_bml_fsbml.rail[rail].reversed ? fsbml_fit_reverse(&r->fit) : r->fit.params;
}

/* Gives the parameters of a rail's row to all that use them. */
static void use(uint32_t i, const fsbml_table_rail_t *row, bool reversed)
{
    mca_bml_fsbml_rail_t *rail = &mca_bml_fsbml.rail[i];
    rail->reversed = reversed;
    const fsbml_loggp_t p = fsbml_table_params(row, i);
    if (p.G_ns_per_byte != row->fit.params.G_ns_per_byte) {
        FSBML_VERBOSE(FSBML_V_RAILS, "%s is used with the parameters of the other direction, G %.4g ns/B",
                      row->name, p.G_ns_per_byte);
    }
    rail->measured = 0 == fsbml_sched_set_model(mca_bml_fsbml.sched, i, &p);
    rail->model = p;
    (void) fsbml_account_set_model(fsbml_observe_account(), i, &p); /* if there is one */
    atomic_store(&rail->L_ns, (uint64_t) p.L_ns);
    const double one = fsbml_fit_prtt(&row->fit, FSBML_PROBE_THERE, 1, 0, FSBML_PACKET_HEADER);
    const double two = fsbml_fit_prtt(&row->fit, FSBML_PROBE_THERE, 2, 0, FSBML_PACKET_HEADER);
    atomic_store(&rail->way_ns, (uint64_t) one / 2);
    atomic_store(&rail->ask_ns, (uint64_t) (two - one));
}

void fsbml_table_apply(const fsbml_table_t *table)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
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
            m->rail[i].model = fsbml_prior(i);
            (void) fsbml_sched_set_model(m->sched, i, &m->rail[i].model);
        } else if (r->fit.valid && !is_another_process(copy, r)) {
            use(i, r, is_reversed(local, r->pair));
        }
    }
    free(local);
    fsbml_pvars_take(copy);
    fsbml_limits_apply_quantum();
}
