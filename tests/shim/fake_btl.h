/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fake BTLs for tests of the shim: real MCA types, no network, no MPI_Init. A fake BTL keeps what it is given
 * to send until the test completes, refuses or answers it.
 */
#ifndef FSBML_TESTS_FAKE_BTL_H
#define FSBML_TESTS_FAKE_BTL_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "bml_fsbml.h"
#include "failover/failover.h"
#include "ompi/datatype/ompi_datatype.h"
#include "report/report.h"

static _Atomic int failures;
#define CHECK(cond)                                                                            \
    do {                                                                                       \
        if (!(cond)) {                                                                         \
            fprintf(stderr, "%s:%d: %s: not true: %s\n", __FILE__, __LINE__, __func__, #cond); \
            ++failures;                                                                        \
        }                                                                                      \
    } while (0)

/* ------------------------------------------------------------------- the BTL */

enum { FAKE_QUEUE = 4096, N_FAKES = 40, N_PEERS = 4 };

typedef struct fake_des_t {
    mca_btl_base_descriptor_t super; /* first */
    mca_btl_base_segment_t segment[2];
    const mca_btl_base_module_t *owner;
} fake_des_t;

typedef struct fake_btl_t {
    mca_btl_base_module_t super; /* first */
    pthread_mutex_t lock;        /* of the queue; zeros are a free one */
    struct {
        fake_des_t *des;
        mca_btl_base_tag_t tag;
        int peer;
    } queue[FAKE_QUEUE]; /* given to btl_send, not completed */
    int n_queue, room;   /* how many fit */
    bool breaks_pipe;    /* closing a connection raises SIGPIPE */
    _Atomic int n_sent, n_sendi, n_alloc, n_free, n_wrong_owner, n_refused;
    _Atomic size_t bytes;
    bool keeps_flags;
    /* what it refuses; PROBE packets, too */
    bool refuses; /* to send, at once or not */
    int error;    /* what it says then, if not OMPI_ERR_OUT_OF_RESOURCE */
    bool keeps;   /* what it refuses is in its queue, as tcp's when it cannot connect */
    bool busy;    /* it says so, and takes what it is given to send */
    bool no_alloc, no_prepare;
    unsigned chance;         /* of 256: to refuse anything that is not a probe */
    bool shortens;           /* prepares less than it is asked for, by chance */
    _Atomic uint64_t random; /* state of these chances */
} fake_btl_t;

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state; /* xorshift64 */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static inline uint64_t fake_random(fake_btl_t *fake)
{
    uint64_t state = fake->random;
    fake->random = next_random(&state);
    return state;
}

static inline bool fake_refuses(fake_btl_t *fake, bool always)
{
    const bool no = always || (0 != fake->chance && (fake_random(fake) >> 32 & 255) < fake->chance);
    fake->n_refused += no;
    return no;
}

static inline int fake_error(const fake_btl_t *fake)
{
    return 0 != fake->error ? fake->error : OMPI_ERR_OUT_OF_RESOURCE;
}

static mca_btl_base_component_t fake_component = {.btl_version = {MCA_BTL_DEFAULT_VERSION("fake")}};

static mca_btl_base_descriptor_t *fake_make(mca_btl_base_module_t *btl, uint8_t order, size_t size,
                                            uint32_t flags)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    fake_des_t *des = calloc(1, sizeof(*des) + size);
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

static mca_btl_base_descriptor_t *fake_alloc(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                                             uint8_t order, size_t size, uint32_t flags)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    (void) ep;
    if (fake_refuses(fake, fake->no_alloc) || size > btl->btl_max_send_size) {
        return NULL;
    }
    return fake_make(btl, order, size, flags);
}

/* Header in the descriptor, data where the user has it, as BTLs do that can send in place. */
static mca_btl_base_descriptor_t *fake_prepare_src(mca_btl_base_module_t *btl,
                                                   struct mca_btl_base_endpoint_t *ep,
                                                   struct opal_convertor_t *convertor, uint8_t order,
                                                   size_t reserve, size_t *size, uint32_t flags)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    (void) ep;
    if (reserve + *size > btl->btl_max_send_size) {
        *size = btl->btl_max_send_size - reserve;
    }
    if (fake->shortens && *size > 1 && 0 == (fake_random(fake) >> 40 & 3)) {
        *size = 1 + (fake_random(fake) >> 20) % *size;
    }
    if (fake_refuses(fake, fake->no_prepare)) {
        return NULL;
    }
    mca_btl_base_descriptor_t *des = fake_make(btl, order, reserve + (NULL == convertor ? *size : 0), flags);
    des->des_segments[0].seg_len = reserve;
    des->des_segments[1].seg_addr.pval = (char *) des->des_segments[0].seg_addr.pval + reserve;
    if (NULL != convertor) {
        struct iovec iov = {.iov_base = NULL, .iov_len = *size};
        uint32_t n = 1;
        (void) opal_convertor_pack(convertor, &iov, &n, size);
        des->des_segments[1].seg_addr.pval = iov.iov_base;
    }
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

static char fake_endpoint[N_FAKES][N_PEERS]; /* addresses only: [rail][peer] */
static int fake_number(const mca_btl_base_module_t *btl);

static int fake_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                     mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    fake->n_wrong_owner += ((fake_des_t *) des)->owner != btl;
    const bool refused = fake->refuses || (FSBML_TAG_PROBE != tag && fake_refuses(fake, false));
    if (refused && !fake->keeps) {
        return fake_error(fake);
    }
    const size_t bytes = fsbml_des_bytes(des);
    pthread_mutex_lock(&fake->lock);
    const bool room = fake->n_queue < fake->room;
    if (room) {
        fake->queue[fake->n_queue].des = (fake_des_t *) des;
        fake->queue[fake->n_queue].peer = (int) ((char *) ep - fake_endpoint[fake_number(btl)]);
        fake->queue[fake->n_queue++].tag = tag;
        if (FSBML_TAG_PROBE != tag) {
            fake->n_sent++;
            fake->bytes += bytes;
        }
    }
    pthread_mutex_unlock(&fake->lock);
    return refused      ? fake_error(fake)
           : !room      ? OMPI_ERR_OUT_OF_RESOURCE
           : fake->busy ? OMPI_ERR_RESOURCE_BUSY
                        : OMPI_SUCCESS;
}

static inline int fake_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                             struct opal_convertor_t *convertor, void *header, size_t header_size,
                             size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                             mca_btl_base_descriptor_t **descriptor)
{
    fake_btl_t *fake = (fake_btl_t *) btl;
    (void) convertor;
    (void) header;
    (void) tag;
    if (fake_refuses(fake, fake->refuses)) {
        if (NULL != descriptor) {
            *descriptor = fake_alloc(btl, ep, order, header_size + payload_size, flags);
        }
        return fake_error(fake);
    }
    fake->n_sendi++;
    fake->bytes += header_size + payload_size;
    return OMPI_SUCCESS;
}

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
    (void) reachable;
    for (size_t i = 0; i < n; ++i) { /* ranks of peers count from 1 */
        eps[i] =
            (struct mca_btl_base_endpoint_t *) &fake_endpoint[fake_number(btl)][procs[i]->proc_name.vpid - 1];
    }
    return OPAL_SUCCESS;
}

static inline void fake_construct(fake_btl_t *fake, size_t eager, size_t max_send, uint32_t exclusivity)
{
    memset(fake, 0, sizeof(*fake));
    fake->random = 1;
    fake->room = FAKE_QUEUE;
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

/* Takes the first of the queue that is, or is not, a probe; NULL if there is none. */
static fake_des_t *fake_take(fake_btl_t *fake, bool probe, int *peer)
{
    fake_des_t *des = NULL;
    pthread_mutex_lock(&fake->lock);
    for (int i = 0; i < fake->n_queue && NULL == des; ++i) {
        if (probe == (FSBML_TAG_PROBE == fake->queue[i].tag)) {
            des = fake->queue[i].des;
            *peer = fake->queue[i].peer;
            memmove(&fake->queue[i], &fake->queue[i + 1],
                    (size_t) (--fake->n_queue - i) * sizeof(fake->queue[0]));
        }
    }
    pthread_mutex_unlock(&fake->lock);
    return des;
}

/* Completes what was given first, as a BTL does: callback, then its own descriptors go back. False: nothing
 * there. */
static inline bool fake_complete(fake_btl_t *fake, int status)
{
    int to;
    fake_des_t *des = fake_take(fake, false, &to);
    if (NULL == des) {
        return false;
    }
    uint32_t flags = des->super.des_flags;
    des->super.des_cbfunc(&fake->super,
                          (struct mca_btl_base_endpoint_t *) &fake_endpoint[fake_number(&fake->super)][to],
                          &des->super, status);
    if (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) {
        fake_free(&fake->super, &des->super);
    }
    return true;
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
    const mca_btl_base_receive_descriptor_t des = {.endpoint =
                                                       (struct mca_btl_base_endpoint_t *) fake_endpoint[0],
                                                   .des_segments = &segment,
                                                   .des_segment_count = 1,
                                                   .tag = tag,
                                                   .cbdata = cb->cbdata};
    cb->cbfunc(&fake->super, &des);
#endif
}

/* What the peer's answers say that frames to it are to carry. */
static uint16_t peers_handle;

/* Completes all probes in the queue; answers the questions among them if asked to. Returns how many
 * questions. */
static inline int fake_answer(fake_btl_t *fake, bool answer)
{
    int questions = 0, n, from;
    pthread_mutex_lock(&fake->lock);
    n = fake->n_queue; /* not those that come meanwhile */
    pthread_mutex_unlock(&fake->lock);
    for (fake_des_t *des; n-- > 0 && NULL != (des = fake_take(fake, true, &from));) {
        uint32_t word[8];
        memcpy(word, des->segment[0].seg_addr.pval, sizeof(word));
        fake_free(&fake->super, &des->super);
        if (FSBML_PACKET_ASK == (word[1] & 0xff)) {
            ++questions;
            if (answer) {
                word[1] += FSBML_PACKET_ANSWER - FSBML_PACKET_ASK; /* with its flags */
                word[2] = 1;                                       /* of job 1 */
                word[3] = (uint32_t) from + 1;
                word[7] = (word[7] & 0xffff) | (uint32_t) peers_handle << 16;
                fake_deliver(fake, FSBML_TAG_PROBE, word, sizeof(word));
            }
        }
    }
    return questions;
}

static fake_btl_t fake[N_FAKES];

static int fake_number(const mca_btl_base_module_t *btl)
{
    return (int) ((const fake_btl_t *) btl - fake);
}

/* n rails as most tests have them. */
static inline void fakes_construct(int n)
{
    for (int i = 0; i < n; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
    }
}

/* The entry that the PML sends to a peer by. */
static inline mca_bml_base_btl_t *eager_of(mca_bml_base_endpoint_t *ep)
{
    return mca_bml_base_btl_array_get_index(&ep->btl_eager, 0);
}

#ifndef FSBML_OMPI_4
static inline void *fake_memcpy(void *to, const void *from, size_t n, opal_convertor_t *unused)
{
    (void) unused;
    return memcpy(to, from, n);
}
#endif

/* Of bytes without gaps, to be sent. */
static inline opal_convertor_t fake_convertor(void *bytes, size_t n, opal_datatype_t *type)
{
    opal_convertor_t convertor = {.flags = CONVERTOR_NO_OP | CONVERTOR_SEND | OPAL_DATATYPE_FLAG_NO_GAPS,
                                  .local_size = n,
                                  .pDesc = type};
    convertor.pBaseBuf = bytes;
#ifndef FSBML_OMPI_4
    convertor.cbmemcpy = fake_memcpy;
#endif
    return convertor;
}

#endif /* FSBML_TESTS_FAKE_BTL_H */
