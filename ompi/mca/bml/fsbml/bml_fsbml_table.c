/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What processes tell each other through the run-time's key-value store: who they are (hello, in the modex) and what the
 * measuring pair found (the table, fetched at first need). The records themselves are the core's. */

#include <errno.h>
#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/util/show_help.h"

/* MPI can start several times in one process: each time has keys of its own. All of a job count alike. */
static void make_key(char *key, size_t len, const char *what)
{
    snprintf(key, len, "fsbml.%s.%u", what, mca_bml_fsbml.epoch);
}

/* --------------------------------------------------------------------- hello */

static uint32_t my_digest(void)
{
    char text[256];
    fsbml_params_agreed(text, sizeof(text));
    return fsbml_digest(text);
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
        hello->flags = fsbml_rdma_in_use() ? FSBML_HELLO_RDMA : 0;
        snprintf(hello->node, sizeof(hello->node), "%s", fsbml_node_name());
        for (size_t i = 0; i < m->n_keys && hello->n_rails < FSBML_MAX_RAILS; ++i) {
            hello->rail[hello->n_rails].exclusivity = i < m->n_btls ? m->btls[i]->btl_exclusivity : FSBML_LEFT_OUT;
            memcpy(hello->rail[hello->n_rails].key, m->btl_key[i], sizeof(hello->rail[0].key));
            hello->n_rails++;
        }
        long len = fsbml_hello_pack(hello, record, fsbml_hello_packed_max());
        make_key(key, sizeof(key), "hello");
        rc = len > 0 ? fsbml_kvs_put(key, record, (size_t) len) : OMPI_ERROR;
    }
    free(record);
    free(hello);
    return rc;
}

int fsbml_hello_fetch(const ompi_process_name_t *peer, fsbml_hello_t *hello)
{
    /* Who has none is asked for twice in a row, and the wait is long: remember the last one. */
    static _Thread_local ompi_process_name_t silent;
    static _Thread_local uint32_t silent_in; /* life of MPI, 0: nobody was */
    char key[64];
    void *record = NULL;
    size_t len = 0;
    if (mca_bml_fsbml.epoch == silent_in && silent.jobid == peer->jobid && silent.vpid == peer->vpid) {
        return -ENOENT;
    }
    make_key(key, sizeof(key), "hello");
    /* nearly always there since the modex; processes of other jobs must be asked for */
    if (OMPI_SUCCESS != fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len)
        && OMPI_SUCCESS != fsbml_kvs_get(peer, key, FSBML_KVS_WAIT, &record, &len)) {
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
                if (FSBML_LEFT_OUT == hello->rail[r].exclusivity && 0 == strcmp(hello->rail[r].key, m->btl_key[b])) {
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
        speech = hello->flags & FSBML_HELLO_RDMA ? FSBML_SPEECH_ALL : FSBML_SPEECH_NONE;
    }
    free(hello);
    return speech;
}

void fsbml_hello_refresh(const ompi_process_name_t *peer)
{
    char key[64];
    void *record = NULL;
    size_t len = 0;
    make_key(key, sizeof(key), "hello");
    /* first wait until the peer has got to this life, then forget what it said in an earlier one */
    if (OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_WAIT, &record, &len)) {
        free(record);
        record = NULL;
        (void) fsbml_kvs_get(peer, key, FSBML_KVS_REFRESH, &record, &len);
    }
    free(record);
}

/* ------------------------------------------------------------ who measures */

/* Rails of a that b has as well, at one level of exclusivity. */
static bool share_rails(const fsbml_hello_t *a, const fsbml_hello_t *b)
{
    for (uint32_t i = 0; i < a->n_rails; ++i) {
        uint32_t shared = 0;
        if (FSBML_LEFT_OUT == a->rail[i].exclusivity) {
            continue;
        }
        for (uint32_t j = 0; j < a->n_rails; ++j) {
            bool both = false;
            for (uint32_t k = 0; k < b->n_rails && !both; ++k) {
                both = FSBML_LEFT_OUT != b->rail[k].exclusivity && 0 == strcmp(a->rail[j].key, b->rail[k].key);
            }
            shared += both && a->rail[j].exclusivity == a->rail[i].exclusivity;
        }
        if (shared >= 2) {
            return true;
        }
    }
    return false;
}

bool fsbml_pair_find(uint32_t pair[2])
{
    /* A bounded search: the pair is nearly always rank 0 and the first rank of the next node. */
    const uint32_t size = fsbml_job_size(), most = size < 4096 ? size : 4096;
    const bool one_node = fsbml_job_local_size() >= size;
    fsbml_hello_t *first = calloc(2, sizeof(*first));
    bool found = false, has_first = false;
    if (NULL == first) {
        return false;
    }
    fsbml_hello_t *other = first + 1;
    for (uint32_t r = 0; r < most && !found; ++r) {
        ompi_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = r};
        if (0 != fsbml_hello_fetch(&name, has_first ? other : first)) {
            continue;
        }
        if (!has_first) {
            has_first = first->n_rails >= 2;
            pair[0] = r;
        } else if ((one_node || 0 != strcmp(first->node, other->node)) && share_rails(first, other)) {
            pair[1] = r;
            found = true;
        }
    }
    if (found && first->params_digest != other->params_digest) {
        const uint32_t me = OMPI_PROC_MY_NAME->vpid;
        if (me == pair[0] || me == pair[1]) {
            opal_show_help(FSBML_HELP, "parameters differ", true, pair[0], pair[1], first->node, other->node);
        }
    }
    free(first);
    return found;
}

/* --------------------------------------------------------------------- table */

void fsbml_table_apply(const fsbml_table_t *table)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    fsbml_table_t *copy = malloc(sizeof(*copy));
    if (NULL == copy) {
        return;
    }
    *copy = *table;
    for (uint32_t i = 0; i < m->n_rails; ++i) {
        for (uint32_t t = 0; t < copy->n_rails; ++t) {
            if (0 == strcmp(m->rail[i].key, copy->rail[t].key) && copy->rail[t].fit.valid) {
                m->rail[i].measured = 0 == fsbml_sched_set_model(m->sched, i, &copy->rail[t].fit.params);
            }
        }
    }
    free(m->table);
    m->table = copy;
    fsbml_rails_apply_quantum();
}

void fsbml_table_publish(const fsbml_table_t *table)
{
    void *record = malloc(fsbml_table_packed_max());
    long len = NULL != record ? fsbml_table_pack(table, record, fsbml_table_packed_max()) : -ENOMEM;
    char key[64];
    make_key(key, sizeof(key), "table");
    if (len <= 0 || OMPI_SUCCESS != fsbml_kvs_put(key, record, (size_t) len) || OMPI_SUCCESS != fsbml_kvs_commit()) {
        opal_show_help(FSBML_HELP, "table not published", true, fsbml_node_name());
    }
    free(record);
}

void fsbml_table_want(void)
{
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    uint32_t pair[2];

    if (NULL != m->table || !m->calibrated) {
        m->table_wanted = NULL == m->table;
        return;
    }
    opal_mutex_lock(&lock);
    if (NULL == m->table) {
        fsbml_table_t *table = calloc(1, sizeof(*table));
        void *record = NULL;
        size_t len = 0;
        char key[64];
        make_key(key, sizeof(key), "table");
        if (NULL == table) {
            opal_mutex_unlock(&lock);
            return;
        }
        if (!fsbml_pair_find(pair)) {
            snprintf(table->reason, sizeof(table->reason), "no two processes share two rails");
        } else {
            ompi_process_name_t leader = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = pair[0]};
            /* The run-time of 4.1 sometimes says at once that there is no such key, and has it a moment later. */
            const struct timespec moment = {.tv_nsec = 20000000};
            int rc = fsbml_kvs_get(&leader, key, FSBML_KVS_WAIT, &record, &len);
            for (int i = 0; OMPI_SUCCESS != rc && i < 50; ++i) {
                (void) nanosleep(&moment, NULL);
                rc = fsbml_kvs_get(&leader, key, FSBML_KVS_WAIT, &record, &len);
                FSBML_VERBOSE(FSBML_V_RAILS, "asked again for the table: %s", OMPI_SUCCESS == rc ? "here" : "not yet");
            }
            if (OMPI_SUCCESS == rc && 0 != fsbml_table_unpack(table, record, len)) {
                opal_show_help(FSBML_HELP, "malformed record", true, "table", OMPI_NAME_PRINT(&leader));
                rc = OMPI_ERROR;
            }
            if (OMPI_SUCCESS != rc) {
                memset(table, 0, sizeof(*table));
                snprintf(table->reason, sizeof(table->reason), "the measured parameters did not arrive");
                opal_show_help(FSBML_HELP, "no table", true, fsbml_node_name(), OMPI_NAME_PRINT(&leader));
            }
            free(record);
        }
        fsbml_table_apply(table); /* with a reason in place of rails: nobody asks again */
        free(table);
    }
    opal_mutex_unlock(&lock);
}
