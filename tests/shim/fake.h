/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 * Fake BTLs for tests of the shim: real MCA types, no network, no MPI_Init. A fake BTL keeps what it is given to send
 * until the test completes, refuses or answers it. Also stands in for the few parts of Open MPI that need a running
 * job: the key-value store, the process table, the progress engine.
 */
#ifndef FSBML_TESTS_FAKE_H
#define FSBML_TESTS_FAKE_H

#include <signal.h>
#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/runtime/opal.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

static int failures;
#define CHECK(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s: not true: %s\n", __FILE__, __LINE__, __func__, #cond);                         \
            ++failures;                                                                                                \
        }                                                                                                              \
    } while (0)

/* ------------------------------------------------------------------- the BTL */

enum { FAKE_QUEUE = 256 };

typedef struct fake_des_t {
    mca_btl_base_descriptor_t super; /* first */
    mca_btl_base_segment_t segment[2];
    const mca_btl_base_module_t *owner;
} fake_des_t;

typedef struct fake_btl_t {
    mca_btl_base_module_t super; /* first */
    struct {
        fake_des_t *des;
        mca_btl_base_tag_t tag;
    } queue[FAKE_QUEUE];         /* given to btl_send, not completed */
    int n_queue;
    bool breaks_pipe;            /* closing a connection raises SIGPIPE */
    int n_sent, n_sendi, n_alloc, n_free, n_wrong_owner;
    size_t bytes;
    bool refuses, keeps_flags;
} fake_btl_t;

static mca_btl_base_component_t fake_component = {.btl_version = {MCA_BTL_DEFAULT_VERSION("fake")}};

static mca_btl_base_descriptor_t *fake_alloc(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                                             uint8_t order, size_t size, uint32_t flags)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    fake_des_t *des = calloc(1, sizeof(*des) + size);
    (void) ep;
    des->owner = btl;
    des->segment[0].seg_addr.pval = des + 1;
    des->segment[0].seg_len = size;
    des->super.des_segments = des->segment;
    des->super.des_segment_count = 1;
    des->super.des_flags = fake->keeps_flags ? flags : flags & 0xffff;
    des->super.order = order;
    des->super.des_context = (void *) (uintptr_t) 0xdead; /* stale, as from a free list */
    fake->n_alloc++;
    return &des->super;
}

static mca_btl_base_descriptor_t *fake_prepare_src(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                                                   struct opal_convertor_t *convertor, uint8_t order, size_t reserve,
                                                   size_t *size, uint32_t flags)
{
    (void) convertor;
    if (reserve + *size > btl->btl_max_send_size) {
        *size = btl->btl_max_send_size - reserve;
    }
    mca_btl_base_descriptor_t *des = fake_alloc(btl, ep, order, reserve + *size, flags);
    des->des_segments[0].seg_len = reserve; /* header and data apart, as BTLs have it */
    des->des_segments[1].seg_addr.pval = (char *) des->des_segments[0].seg_addr.pval + reserve;
    des->des_segments[1].seg_len = *size;
    des->des_segment_count = 2;
    return des;
}

static int fake_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    fake->n_wrong_owner += ((fake_des_t *) des)->owner != btl;
    fake->n_free++;
    free(des);
    return OPAL_SUCCESS;
}

static int fake_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, mca_btl_base_descriptor_t *des,
                     mca_btl_base_tag_t tag)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    (void) ep;
    fake->n_wrong_owner += ((fake_des_t *) des)->owner != btl;
    if (fake->refuses || FAKE_QUEUE == fake->n_queue) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    fake->queue[fake->n_queue].des = (fake_des_t *) des;
    fake->queue[fake->n_queue++].tag = tag;
    if (FSBML_TAG_PROBE != tag) {
        fake->n_sent++;
        fake->bytes += fsbml_des_bytes(des);
    }
    return OMPI_SUCCESS;
}

static inline int fake_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, struct opal_convertor_t *convertor,
                      void *header, size_t header_size, size_t payload_size, uint8_t order, uint32_t flags,
                      mca_btl_base_tag_t tag, mca_btl_base_descriptor_t **descriptor)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    (void) convertor;
    (void) header;
    (void) tag;
    if (fake->refuses) {
        if (NULL != descriptor) {
            *descriptor = fake_alloc(btl, ep, order, header_size + payload_size, flags);
        }
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    fake->n_sendi++;
    fake->bytes += header_size + payload_size;
    return OMPI_SUCCESS;
}

static char fake_endpoint[FSBML_MAX_RAILS][2]; /* addresses only: [rail][peer] */
static int fake_number(const mca_btl_base_module_t *btl);

static int fake_del_procs(mca_btl_base_module_t *btl, size_t n, struct opal_proc_t **procs,
                          struct mca_btl_base_endpoint_t **eps)
{
    if (((fake_btl_t *) btl)->breaks_pipe) {
        raise(SIGPIPE); /* as a goodbye to a peer that has gone */
    }
    (void) n;
    (void) procs;
    (void) eps;
    return OPAL_SUCCESS;
}

static int fake_add_procs(mca_btl_base_module_t *btl, size_t n, struct opal_proc_t **procs,
                          struct mca_btl_base_endpoint_t **eps, struct opal_bitmap_t *reachable)
{
    (void) procs;
    (void) reachable;
    for (size_t i = 0; i < n; ++i) {
        eps[i] = (struct mca_btl_base_endpoint_t *) &fake_endpoint[fake_number(btl)][0];
    }
    return OPAL_SUCCESS;
}

static void fake_construct(fake_btl_t *fake, size_t eager, size_t max_send, uint32_t exclusivity)
{
    memset(fake, 0, sizeof(*fake));
    fake->keeps_flags = true;
    fake->super.btl_component = &fake_component;
    fake->super.btl_eager_limit = eager;
    fake->super.btl_rndv_eager_limit = eager;
    fake->super.btl_max_send_size = max_send;
    fake->super.btl_exclusivity = exclusivity;
    fake->super.btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_SEND_INPLACE;
    fake->super.btl_bandwidth = 100;
    fake->super.btl_latency = 10;
    fake->super.btl_add_procs = fake_add_procs;
    fake->super.btl_del_procs = fake_del_procs;
    fake->super.btl_alloc = fake_alloc;
    fake->super.btl_prepare_src = fake_prepare_src;
    fake->super.btl_free = fake_free;
    fake->super.btl_send = fake_send;
}

/* Completes what was given first, as a BTL does: callback, then its own descriptors go back. */
static void fake_complete(fake_btl_t *fake, int status)
{
    fake_des_t *des = fake->queue[0].des;
    uint32_t flags = des->super.des_flags;
    memmove(&fake->queue[0], &fake->queue[1], (size_t) --fake->n_queue * sizeof(fake->queue[0]));
    des->super.des_cbfunc(&fake->super, (struct mca_btl_base_endpoint_t *) &fake_endpoint[0][0], &des->super, status);
    if (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) {
        fake_free(&fake->super, &des->super);
    }
}

/* Brings a message to this process, as if it had come over this BTL. */
static void fake_deliver(fake_btl_t *fake, mca_btl_base_tag_t tag, void *data, size_t len)
{
    mca_btl_base_segment_t segment = {.seg_addr.pval = data, .seg_len = len};
    mca_btl_active_message_callback_t *cb = &mca_btl_base_active_message_trigger[tag];
#ifdef FSBML_OMPI_4
    mca_btl_base_descriptor_t des = {.des_segments = &segment, .des_segment_count = 1};
    cb->cbfunc(&fake->super, tag, &des, cb->cbdata);
#else
    const mca_btl_base_receive_descriptor_t des = {.endpoint = (struct mca_btl_base_endpoint_t *) fake_endpoint[0],
                                                   .des_segments = &segment,
                                                   .des_segment_count = 1,
                                                   .tag = tag,
                                                   .cbdata = cb->cbdata};
    cb->cbfunc(&fake->super, &des);
#endif
}

/* Completes all probes in the queue; answers the questions among them if asked to. Returns how many questions. */
static int fake_answer(fake_btl_t *fake, bool answer)
{
    int questions = 0;
    for (int i = 0; i < fake->n_queue;) {
        if (FSBML_TAG_PROBE != fake->queue[i].tag) {
            ++i;
            continue;
        }
        fake_des_t *des = fake->queue[i].des;
        uint32_t word[8];
        memcpy(word, des->segment[0].seg_addr.pval, sizeof(word));
        memmove(&fake->queue[i], &fake->queue[i + 1],
                (size_t) (--fake->n_queue - i) * sizeof(fake->queue[0]));
        fake_free(&fake->super, &des->super);
        if (FSBML_PACKET_ASK == word[1]) {
            ++questions;
            if (answer) {
                word[1] = FSBML_PACKET_ANSWER;
                word[2] = 1; /* from the peer: job 1, rank 1 */
                word[3] = 1;
                fake_deliver(fake, FSBML_TAG_PROBE, word, sizeof(word));
            }
        }
    }
    return questions;
}

/* ------------------------------------------- Open MPI without a running job */

enum { N_FAKES = 3 };
static fake_btl_t fake[N_FAKES];
static ompi_proc_t *peer;
static bool peer_has_fsbml = true;

static int fake_number(const mca_btl_base_module_t *btl)
{
    return (int) ((const fake_btl_t *) btl - fake);
}

opal_proc_t *ompi_proc_for_name(const opal_process_name_t name)
{
    return (1 == name.jobid && 1 == name.vpid) ? &peer->super : NULL;
}

/* The processes that Open MPI knows: the peer, if a test says so. */
static size_t known_procs;

ompi_proc_t **ompi_proc_all(size_t *n)
{
    ompi_proc_t **all = calloc(1, sizeof(*all));
    all[0] = peer;
    *n = known_procs;
    if (known_procs > 0) {
        OBJ_RETAIN(peer);
    }
    return all;
}

int fsbml_kvs_put(const char *key, const void *data, size_t len)
{
    (void) key;
    (void) data;
    (void) len;
    return OMPI_SUCCESS;
}

int fsbml_kvs_commit(void)
{
    return OMPI_SUCCESS;
}

/* The peer's hello; no table. */
int fsbml_kvs_get(const ompi_process_name_t *from, const char *key, fsbml_kvs_mode_t mode, void **data, size_t *len)
{
    static fsbml_hello_t hello;
    (void) from;
    (void) mode;
    if (NULL == strstr(key, "hello") || !peer_has_fsbml) {
        return OMPI_ERR_NOT_FOUND;
    }
    *data = malloc(fsbml_hello_packed_max());
    snprintf(hello.node, sizeof(hello.node), "peer");
    long n = fsbml_hello_pack(&hello, *data, fsbml_hello_packed_max());
    *len = n > 0 ? (size_t) n : 0;
    return n > 0 ? OMPI_SUCCESS : OMPI_ERROR;
}

static opal_progress_callback_t progress_fn;

int opal_progress_register(opal_progress_callback_t fn)
{
    progress_fn = fn;
    return OPAL_SUCCESS;
}

int opal_progress_unregister(opal_progress_callback_t fn)
{
    progress_fn = fn == progress_fn ? NULL : progress_fn;
    return OPAL_SUCCESS;
}

/* Time passes only when a test says so: the shim's one clock is this one. */
static uint64_t virtual_ns = 1000000000u;

int clock_gettime(clockid_t id, struct timespec *ts)
{
    (void) id;
    ts->tv_sec = (time_t) (virtual_ns / 1000000000u);
    ts->tv_nsec = (long) (virtual_ns % 1000000000u);
    return 0;
}

static inline void pass_time(unsigned ms)
{
    virtual_ns += (uint64_t) ms * 1000000u;
    if (NULL != progress_fn) {
        (void) progress_fn();
    }
}

static mca_btl_base_selected_module_t *selected[N_FAKES];

/* Fresh rails from the first n fakes (constructed by the caller), and the module behind them. */
static void world_up(int n)
{
    static const fsbml_loggp_t fast = {10e3, 2e3, 2e3, 3e3, 40, 0},
                                slow = {10e3, 2e3, 2e3, 3e3, 400, 0};
    for (int i = 0; i < n; ++i) {
        selected[i] = OBJ_NEW(mca_btl_base_selected_module_t);
        selected[i]->btl_module = &fake[i].super;
        opal_list_append(&mca_btl_base_modules_initialized, &selected[i]->super);
    }
    fsbml_module_construct();
    CHECK(OMPI_SUCCESS == fsbml_rails_setup());
    CHECK(OMPI_SUCCESS == fsbml_proof_init());
    for (uint32_t i = 0; i < mca_bml_fsbml.n_rails; ++i) {
        CHECK(0 == fsbml_sched_set_model(mca_bml_fsbml.sched, i, 0 == i ? &fast : &slow));
    }
    mca_bml = mca_bml_fsbml.super;
    peer_has_fsbml = true;
    /* Not constructed: that would enter it into the table of a running job. Only its reference count is used. */
    peer = calloc(1, sizeof(*peer));
    ((opal_object_t *) peer)->obj_class = OBJ_CLASS(opal_object_t);
    ((opal_object_t *) peer)->obj_reference_count = 1;
    peer->super.proc_name.jobid = peer->super.proc_name.vpid = 1;
    ompi_proc_local_proc = peer;
}

static void world_down(int n)
{
    ompi_proc_t *procs[1] = {peer};
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_procs(1, procs));
    for (int i = 0; i < n; ++i) {
        (void) fake_answer(&fake[i], false);
        CHECK(0 == fake[i].n_queue);
        CHECK(fake[i].n_alloc == fake[i].n_free);
        CHECK(0 == fake[i].n_wrong_owner);
        opal_list_remove_item(&mca_btl_base_modules_initialized, &selected[i]->super);
        OBJ_RELEASE(selected[i]);
    }
    CHECK(1 == ((opal_object_t *) peer)->obj_reference_count);
    free(peer);
    fsbml_proof_fini();
    fsbml_rails_teardown();
}

static inline mca_bml_base_endpoint_t *peer_up(void)
{
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peer));
    return (mca_bml_base_endpoint_t *) peer->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
}

/* What the PML's completion function was told last. */
static struct {
    int n, status;
    const mca_btl_base_module_t *btl;
    const void *endpoint, *context, *data;
    size_t bytes;
    unsigned char first, last;
} done;

static void pml_completion(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                           mca_btl_base_descriptor_t *des, int status)
{
    const mca_btl_base_segment_t *end = &des->des_segments[des->des_segment_count - 1];
    done.n++;
    done.status = status;
    done.btl = btl;
    done.endpoint = endpoint;
    done.context = des->des_context;
    done.data = des->des_cbdata;
    done.bytes = fsbml_des_bytes(des);
    done.first = *(unsigned char *) des->des_segments[0].seg_addr.pval;
    done.last = ((unsigned char *) end->seg_addr.pval)[end->seg_len - 1];
}

/* Sends as the PML does: alloc, header, send; returns what btl_send said. */
static int pml_send(mca_bml_base_btl_t *bml_btl, size_t bytes, mca_btl_base_tag_t tag)
{
    mca_btl_base_descriptor_t *des = NULL;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, bytes,
                       MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
    CHECK(NULL != des);
    memset(des->des_segments[0].seg_addr.pval, 0x5a, bytes);
    des->des_cbfunc = pml_completion;
    des->des_cbdata = &done;
    int rc = mca_bml_base_send(bml_btl, des, tag);
    if (rc < 0) {
        CHECK(pml_completion == des->des_cbfunc);
        mca_bml_base_free(bml_btl, des);
    }
    return rc;
}

static inline int fake_main(void (*const *test)(void), size_t n)
{
    int argc = 0;
    char **argv = NULL;
    char help[4096];
    opal_init_util(&argc, &argv);
    snprintf(help, sizeof(help), "%.*s/../../ompi/mca/bml/fsbml", (int) (strrchr(__FILE__, '/') - __FILE__), __FILE__);
    opal_show_help_add_dir(help);
    OBJ_CONSTRUCT(&mca_btl_base_modules_initialized, opal_list_t);
    for (size_t i = 0; i < n; ++i) {
        memset(&done, 0, sizeof(done));
        mca_bml_fsbml_params.policy = FSBML_POLICY_ARRIVAL;
        mca_bml_fsbml_params.probe_timeout_ns = 20000000;
        mca_bml_fsbml_params.show_unreach_errors = true;
        test[i]();
    }
    printf("%zu tests, %d failed checks\n", n, failures);
    return failures > 0;
}

#endif /* FSBML_TESTS_FAKE_H */
