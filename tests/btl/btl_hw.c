/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The component and its modules. */
#include "btl_hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opal/mca/btl/base/base.h"

params_t param;
module_t module[MODULES];
segment_t *own, *of_rank[RANKS];
uint32_t my_rank;
static pthread_mutex_t receiving = PTHREAD_MUTEX_INITIALIZER;

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

void wrong(const char *what)
{
    fprintf(stderr, "btl hw: %s (rank %u)\n", what, my_rank);
    abort();
}

/* Number i of a comma-separated list, the last one for those behind it. */
static double nth(const char *list, uint32_t i, double otherwise)
{
    const char *at = NULL != list ? list : "";
    for (const char *comma; i > 0 && NULL != (comma = strchr(at, ',')); --i) {
        at = comma + 1;
    }
    return '\0' != *at ? atof(at) : otherwise;
}

/* By chance, one time in param.refuse, while something is under way: without that, the PML would not try
 * again. */
bool refuses(module_t *m)
{
    if (param.refuse <= 0 || 0 == m->outstanding) {
        return false;
    }
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return 0 == (m->random >> 20) % (unsigned) param.refuse;
}

/* When a module has sent these bytes; the caller has its lock. */
uint64_t occupy(module_t *m, size_t bytes)
{
    const uint64_t now = now_ns();
    m->busy_ns = (m->busy_ns > now ? m->busy_ns : now) + (uint64_t) (m->ns_per_byte * (double) bytes);
    return m->busy_ns;
}

void append(module_t *m, event_t *e)
{
    e->next = NULL;
    *m->last = e;
    m->last = &e->next;
    m->outstanding++;
}

static int hw_progress(void)
{
    int n = 0;
    for (int i = 0; i < param.modules; ++i) {
        module_t *m = &module[i];
        const uint64_t now = now_ns();
        n += hw_complete(m, now);
        if (0 == pthread_mutex_trylock(&receiving)) {
            n += hw_receive(m, now);
            pthread_mutex_unlock(&receiving);
        }
        if (m->dead && !m->death_told && NULL != m->error_cb) {
            static char info[] = "the module has died";
            m->death_told = true;
            for (uint32_t rank = 0; rank < RANKS; ++rank) {
                if (NULL != m->to[rank]) {
                    m->error_cb(&m->super, 0, m->to[rank]->proc, info);
                }
            }
        }
    }
    return n;
}

static int hw_register_error(mca_btl_base_module_t *btl, mca_btl_base_module_error_cb_fn_t fn)
{
    ((module_t *) btl)->error_cb = fn;
    return OPAL_SUCCESS;
}

static int hw_finalize(mca_btl_base_module_t *btl)
{
    module_t *m = (module_t *) btl;
    if (!m->dead && m->descriptors > m->outstanding) { /* what a dead one has refused may not be freed */
        fprintf(stderr, "btl hw: %u descriptors of module %u were not given back (rank %u)\n",
                m->descriptors - m->outstanding, m->index, my_rank);
    }
    for (event_t *e = m->first, *next; NULL != e; e = next) {
        next = e->next;
        free(SEND == e->kind ? e->des : NULL);
        free(e);
    }
    for (uint32_t rank = 0; rank < RANKS; ++rank) {
        free(m->to[rank]);
        m->to[rank] = NULL;
    }
    return OPAL_SUCCESS;
}

static int param_int(const char *name, const char *help, int value, int *to)
{
    *to = value;
    return mca_base_component_var_register(&hw_component()->btl_version, name, help, MCA_BASE_VAR_TYPE_INT,
                                           NULL, 0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY, to);
}

static int param_text(const char *name, const char *help, const char *value, char **to)
{
    *to = (char *) value;
    return mca_base_component_var_register(&hw_component()->btl_version, name, help, MCA_BASE_VAR_TYPE_STRING,
                                           NULL, 0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY, to);
}

static int hw_params(void)
{
    (void) param_int("modules", "How many modules", 2, &param.modules);
    (void) param_int("refuse", "Refuse every Nth request; 0: none", 0, &param.refuse);
    (void) param_int("descriptors", "Most descriptors of a module; 0: any number", 0, &param.descriptors);
    (void) param_int("put_alignment", "Of addresses and sizes of puts", 0, &param.put_alignment);
    (void) param_int("remote_completion", "A put that is complete has landed, and says so", 0,
                     &param.remote_completion);
    (void) param_int("lands_late", "A put that is complete lands a latency later", 1, &param.lands_late);
    (void) param_int("atomics", "Whether there are atomic operations", 1, &param.atomics);
    (void) param_int("exclusivity", "Of all modules", 1024, &param.exclusivity);
    (void) param_text("rates", "MB/s of the modules", "400,100", &param.rates);
    (void) param_text("latencies", "Microseconds from end to end", "5,20", &param.latencies);
    (void) param_text("max_sends", "Largest messages", "65536,49152", &param.max_sends);
    (void) param_text("eager_limits", "Of the modules", "40000,36864", &param.eager_limits);
    (void) param_text("put_limits", "Largest puts and gets", "1048576,262144", &param.put_limits);
    (void) param_text("dies", "MODULE:WHEN:MESSAGES, such as 1:within:200 (before, within, after)", NULL,
                      &param.dies);
    return OPAL_SUCCESS;
}

static void make_module(uint32_t i)
{
    module_t *m = &module[i];
    mca_btl_base_module_t *b = &m->super;
    memset(m, 0, sizeof(*m));
    m->index = i;
    m->last = &m->first;
    m->random = 88172645463325252u + i + 977u * my_rank;
    m->ns_per_byte = 1e3 / nth(param.rates, i, 400);
    m->latency_ns = (uint64_t) (1e3 * nth(param.latencies, i, 5));
    pthread_mutex_init(&m->lock, NULL);
    b->btl_component = hw_component();
    b->btl_max_send_size = (size_t) nth(param.max_sends, i, 65536);
    b->btl_eager_limit = (size_t) nth(param.eager_limits, i, 8192);
    b->btl_rndv_eager_limit = b->btl_eager_limit;
    b->btl_put_limit = b->btl_get_limit = (size_t) nth(param.put_limits, i, 1 << 20);
    b->btl_rdma_pipeline_send_length = b->btl_max_send_size;
    b->btl_rdma_pipeline_frag_size = b->btl_put_limit;
    b->btl_min_rdma_pipeline_size = 2 * b->btl_max_send_size;
    b->btl_put_alignment = b->btl_get_alignment = (size_t) param.put_alignment;
    b->btl_exclusivity = (uint32_t) param.exclusivity;
    b->btl_latency = (uint32_t) nth(param.latencies, i, 5);
    b->btl_bandwidth = (uint32_t) (8 * nth(param.rates, i, 400));
    b->btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_RDMA;
#ifdef MCA_BTL_FLAGS_RDMA_FLUSH
    b->btl_flags |= MCA_BTL_FLAGS_RDMA_FLUSH;
#endif
#ifdef MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION
    b->btl_flags |= param.remote_completion || !param.lands_late ? MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION : 0;
#endif
    b->btl_registration_handle_size = sizeof(mca_btl_base_registration_handle_t);
    b->btl_add_procs = hw_add_procs;
    b->btl_del_procs = hw_del_procs;
    b->btl_finalize = hw_finalize;
    b->btl_alloc = hw_alloc;
    b->btl_free = hw_free;
    b->btl_prepare_src = hw_prepare_src;
    b->btl_send = hw_send;
    b->btl_register_error = hw_register_error;
    hw_rdma(b);
}

static mca_btl_base_module_t **hw_init(int *n, bool progress_threads, bool mpi_threads)
{
    (void) progress_threads;
    (void) mpi_threads;
    *n = 0;
    my_rank = OPAL_PROC_MY_NAME.vpid;
    param.modules = param.modules < (int) MODULES ? param.modules : (int) MODULES;
    if (my_rank >= RANKS) {
        return NULL;
    }
    mca_btl_base_module_t **modules = hw_open_own() ? calloc(MODULES, sizeof(*modules)) : NULL;
    if (NULL == modules) {
        return NULL;
    }
    for (int i = 0; i < param.modules; ++i) {
        make_module((uint32_t) i);
        modules[i] = &module[i].super;
    }
    *n = param.modules;
    return modules;
}

static int hw_close(void)
{
    hw_close_all();
    return OPAL_SUCCESS;
}

__attribute__((visibility("default"))) mca_btl_base_component_3_0_0_t mca_btl_hw_component = {
    .btl_version =
        {
            MCA_BTL_DEFAULT_VERSION("hw"),
            .mca_close_component = hw_close,
            .mca_register_component_params = hw_params,
        },
    .btl_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .btl_init = hw_init,
    .btl_progress = hw_progress,
};

mca_btl_base_component_t *hw_component(void)
{
    return &mca_btl_hw_component;
}
