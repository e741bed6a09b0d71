/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A BTL with the semantics of hardware, for tests: several modules between the processes of one machine, each
 * with a rate, a latency and limits of its own. Memory must be registered, and each use of a registration is
 * checked, on both sides. Completions come late; a put that is complete may not have landed. On demand it
 * refuses, has few descriptors, or dies. What a caller may not do ends the job, with a sentence.
 *
 * A process owns a file of shared memory with a ring of frames for each module and sender. Puts, gets and
 * atomics are done by the kernel (process_vm_readv), when their time has come. Every frame has the time at
 * which it arrives.
 */

#define _GNU_SOURCE
#include "opal_config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "mpi.h"
#include "opal/class/opal_bitmap.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/btl/base/base.h"
#include "opal/mca/btl/btl.h"
#include "opal/util/proc.h"
#if OMPI_MAJOR_VERSION >= 5
#    include "opal/mca/pmix/pmix-internal.h"
#    define GLOBAL PMIX_GLOBAL
#else
#    include "opal/mca/pmix/pmix.h"
#    define GLOBAL OPAL_PMIX_GLOBAL
#endif

enum { MODULES = 4, RANKS = 64, RING = 1 << 19, REGISTRATIONS = 4096, SKIP = UINT32_MAX };

typedef struct ring_t { /* one writer, one reader */
    _Atomic uint64_t written, read;
    char bytes[RING];
} ring_t;

typedef struct frame_t {
    uint64_t due_ns;
    uint32_t bytes; /* SKIP: the next one is at the beginning */
    uint32_t tag;
    char data[];
} frame_t;

typedef struct registration_t {
    _Atomic uint32_t key; /* 0: free */
    uint64_t base, size;
} registration_t;

typedef struct segment_t {
    pid_t pid;
    atomic_flag atomics; /* whoever has it does an atomic operation on this process' memory */
    registration_t registration[REGISTRATIONS];
    ring_t ring[MODULES][RANKS];
} segment_t;

/* What Open MPI sends to a peer as it is. */
struct mca_btl_base_registration_handle_t {
    uint64_t base, size;
    uint32_t module, slot, key;
    uint32_t rank;
};

typedef struct module_t module_t;

struct mca_btl_base_endpoint_t {
    module_t *module;
    segment_t *peer;
    opal_proc_t *proc;
    uint32_t rank;
};

typedef struct descriptor_t {
    mca_btl_base_descriptor_t super; /* first */
    mca_btl_base_segment_t segment;
    struct mca_btl_base_endpoint_t *endpoint;
    char data[];
} descriptor_t;

typedef enum kind_t { SEND, PUT, GET, ATOMIC } kind_t;

/* Something that completes or lands later. */
typedef struct event_t {
    struct event_t *next;
    uint64_t done_ns, lands_ns;
    kind_t kind;
    bool told, landed;
    int status;
    descriptor_t *des;
    struct mca_btl_base_endpoint_t *endpoint;
    void *local;
    uint64_t remote;
    mca_btl_base_registration_handle_t *handle;
    mca_btl_base_registration_handle_t target;
    size_t size;
    mca_btl_base_rdma_completion_fn_t fn;
    void *context, *data;
    bool is_cswap, fetches;
    int op;
    uint64_t operand, compare;
    char bytes[];
} event_t;

struct module_t {
    mca_btl_base_module_t super; /* first */
    uint32_t index;
    pthread_mutex_t lock; /* of all below */
    double ns_per_byte;
    uint64_t latency_ns, busy_ns;
    event_t *first, **last;
    unsigned outstanding, descriptors;
    uint64_t random;
    unsigned long sent;
    bool dead, death_told;
    mca_btl_base_module_error_cb_fn_t error_cb;
    struct mca_btl_base_endpoint_t *to[RANKS];
};

static struct {
    int modules, refuse, descriptors, put_alignment, remote_completion, atomics, lands_late, exclusivity;
    char *rates, *latencies, *max_sends, *put_limits, *eager_limits, *dies;
} param;

static module_t module[MODULES];
static segment_t *own, *of_rank[RANKS];
static uint32_t my_rank;
static char own_path[64];
static pthread_mutex_t receiving = PTHREAD_MUTEX_INITIALIZER;

static mca_btl_base_component_t *component(void);

/* ------------------------------------------------------------------ helpers */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static void wrong(const char *what)
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

/* By chance, one time in param.refuse, while something is under way: without that, nobody would try again. */
static bool refuses(module_t *m)
{
    if (param.refuse <= 0 || 0 == m->outstanding) {
        return false;
    }
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return 0 == (m->random >> 20) % (unsigned) param.refuse;
}

/* ------------------------------------------------------------ registrations */

static mca_btl_base_registration_handle_t *hw_register(mca_btl_base_module_t *btl,
                                                       struct mca_btl_base_endpoint_t *endpoint, void *base,
                                                       size_t size, uint32_t flags)
{
    static _Atomic uint32_t keys = 1;
    module_t *m = (module_t *) btl;
    (void) endpoint;
    (void) flags;
    mca_btl_base_registration_handle_t *h = calloc(1, sizeof(*h));
    const uint32_t key = atomic_fetch_add(&keys, 1) * MODULES + m->index;
    for (uint32_t slot = 0; NULL != h && slot < REGISTRATIONS; ++slot) {
        registration_t *r = &own->registration[slot];
        uint32_t none = 0;
        if (0 == atomic_load(&r->key) && atomic_compare_exchange_strong(&r->key, &none, UINT32_MAX)) {
            r->base = (uintptr_t) base;
            r->size = size;
            atomic_store(&r->key, key);
            *h = (mca_btl_base_registration_handle_t){(uintptr_t) base, size, m->index, slot, key, my_rank};
            return h;
        }
    }
    free(h);
    return NULL;
}

static int hw_deregister(mca_btl_base_module_t *btl, mca_btl_base_registration_handle_t *h)
{
    if (h->module != ((module_t *) btl)->index || h->rank != my_rank
        || h->key != atomic_load(&own->registration[h->slot].key)) {
        wrong("a registration of another module, or of none, is given back");
    }
    atomic_store(&own->registration[h->slot].key, 0);
    free(h);
    return OPAL_SUCCESS;
}

static void check(const segment_t *owner, const mca_btl_base_registration_handle_t *h, const module_t *m,
                  uint32_t rank, uint64_t address, size_t size, const char *what)
{
    if (h->module != m->index || h->rank != rank || h->slot >= REGISTRATIONS
        || h->key != atomic_load(&owner->registration[h->slot].key)) {
        wrong(what);
    }
    if (address < h->base || address + size > h->base + h->size) {
        wrong("memory beyond its registration is used");
    }
}

/* ---------------------------------------------------------------- messages */

static mca_btl_base_descriptor_t *hw_alloc(mca_btl_base_module_t *btl,
                                           struct mca_btl_base_endpoint_t *endpoint, uint8_t order,
                                           size_t size, uint32_t flags)
{
    module_t *m = (module_t *) btl;
    if (size > btl->btl_max_send_size) {
        return NULL;
    }
    pthread_mutex_lock(&m->lock);
    const bool has = !refuses(m) && (param.descriptors <= 0 || m->descriptors < (unsigned) param.descriptors);
    m->descriptors += has;
    pthread_mutex_unlock(&m->lock);
    descriptor_t *des = has ? calloc(1, sizeof(*des) + size) : NULL;
    if (NULL == des) {
        return NULL;
    }
    OBJ_CONSTRUCT(&des->super, mca_btl_base_descriptor_t);
    des->segment.seg_addr.pval = des->data;
    des->segment.seg_len = size;
    des->endpoint = endpoint;
    des->super.des_segments = &des->segment;
    des->super.des_segment_count = 1;
    des->super.des_flags = flags;
    des->super.order = order;
    return &des->super;
}

static int hw_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *super)
{
    module_t *m = (module_t *) btl;
    descriptor_t *des = (descriptor_t *) super;
    if (des->endpoint->module != m) {
        wrong("a descriptor of another module is given back");
    }
    des->endpoint = NULL;
    OBJ_DESTRUCT(super);
    free(des);
    pthread_mutex_lock(&m->lock);
    m->descriptors--;
    pthread_mutex_unlock(&m->lock);
    return OPAL_SUCCESS;
}

static mca_btl_base_descriptor_t *hw_prepare_src(mca_btl_base_module_t *btl,
                                                 struct mca_btl_base_endpoint_t *endpoint,
                                                 struct opal_convertor_t *convertor, uint8_t order,
                                                 size_t reserve, size_t *size, uint32_t flags)
{
    if (reserve + *size > btl->btl_max_send_size) {
        *size = btl->btl_max_send_size - reserve;
    }
    mca_btl_base_descriptor_t *des = hw_alloc(btl, endpoint, order, reserve + *size, flags);
    if (NULL == des) {
        return NULL;
    }
    struct iovec iov = {.iov_base = (char *) des->des_segments[0].seg_addr.pval + reserve, .iov_len = *size};
    uint32_t n = 1;
    if (opal_convertor_pack(convertor, &iov, &n, size) < 0) {
        hw_free(btl, des);
        return NULL;
    }
    des->des_segments[0].seg_len = reserve + *size;
    return des;
}

/* When a module has sent so many bytes; the caller has its lock. */
static uint64_t occupy(module_t *m, size_t bytes)
{
    const uint64_t now = now_ns();
    m->busy_ns = (m->busy_ns > now ? m->busy_ns : now) + (uint64_t) (m->ns_per_byte * (double) bytes);
    return m->busy_ns;
}

static void append(module_t *m, event_t *e)
{
    e->next = NULL;
    *m->last = e;
    m->last = &e->next;
    m->outstanding++;
}

/* Room for a frame, NULL: the ring is full. The caller has the module's lock, and is the ring's one writer.
 */
static frame_t *place(ring_t *r, size_t bytes, uint64_t *next)
{
    const uint64_t need = (sizeof(frame_t) + bytes + 15) & ~UINT64_C(15),
                   at = atomic_load(&r->written) % RING;
    const uint64_t skip = at + need > RING ? RING - at : 0;
    if (atomic_load(&r->written) + skip + need - atomic_load(&r->read) > RING) {
        return NULL;
    }
    if (skip >= sizeof(frame_t)) {
        ((frame_t *) (r->bytes + at))->bytes = SKIP;
    }
    *next = atomic_load(&r->written) + skip + need;
    return (frame_t *) (r->bytes + (at + skip) % RING);
}

static void land(event_t *e);

/* A module keeps its order: what a peer gets by it is behind earlier puts, whoever looks when. Another
 * module's messages overtake them. The caller has the module's lock. */
static void land_before(const module_t *m, const struct mca_btl_base_endpoint_t *endpoint)
{
    for (event_t *e = m->first; NULL != e; e = e->next) {
        if (PUT == e->kind && endpoint == e->endpoint) {
            land(e);
        }
    }
}

/* "1:within:200": module 1 dies before, within or after its message number 200. */
static const char *death(const module_t *m)
{
    unsigned index, after;
    static _Thread_local char when[16];
    if (NULL == param.dies || 3 != sscanf(param.dies, "%u:%15[^:]:%u", &index, when, &after)
        || index != m->index || m->sent < after) {
        return NULL;
    }
    return when;
}

static int hw_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                   mca_btl_base_descriptor_t *super, mca_btl_base_tag_t tag)
{
    module_t *m = (module_t *) btl;
    descriptor_t *des = (descriptor_t *) super;
    size_t bytes = 0;
    uint64_t next;
    if (des->endpoint != endpoint) {
        wrong("a descriptor is sent to another peer, or by another module, than it was made for");
    }
    for (size_t i = 0; i < super->des_segment_count; ++i) {
        bytes += super->des_segments[i].seg_len;
    }
    event_t *e = calloc(1, sizeof(*e));
    pthread_mutex_lock(&m->lock);
    const char *dies = death(m);
    const bool lost = NULL != dies && (m->dead || 0 != strcmp(dies, "after"));
    if (m->dead || (NULL != dies && 0 == strcmp(dies, "before"))) {
        m->dead = true;
        pthread_mutex_unlock(&m->lock);
        free(e);
        return OPAL_ERR_UNREACH;
    }
    frame_t *f = lost ? NULL : place(&endpoint->peer->ring[m->index][my_rank], bytes, &next);
    if (NULL == e || refuses(m) || (NULL == f && !lost)) {
        pthread_mutex_unlock(&m->lock);
        free(e);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    *e = (event_t){.kind = SEND, .done_ns = occupy(m, bytes), .des = des, .endpoint = endpoint};
    e->status = NULL != dies ? OPAL_ERR_UNREACH : OPAL_SUCCESS;
    e->lands_ns = e->done_ns;
    m->dead = NULL != dies;
    m->sent++;
    if (NULL != f) {
        land_before(m, endpoint);
        size_t at = 0;
        for (size_t i = 0; i < super->des_segment_count; ++i) {
            memcpy(f->data + at, super->des_segments[i].seg_addr.pval, super->des_segments[i].seg_len);
            at += super->des_segments[i].seg_len;
        }
        f->bytes = (uint32_t) bytes;
        f->tag = tag;
        f->due_ns = e->done_ns + m->latency_ns;
        atomic_store(&endpoint->peer->ring[m->index][my_rank].written, next);
    }
    super->des_flags |= MCA_BTL_DES_SEND_ALWAYS_CALLBACK;
    append(m, e);
    pthread_mutex_unlock(&m->lock);
    return OPAL_SUCCESS;
}

static void deliver(module_t *m, uint32_t rank, frame_t *f)
{
    mca_btl_base_segment_t segment = {.seg_addr.pval = f->data, .seg_len = f->bytes};
    mca_btl_active_message_callback_t *cb = &mca_btl_base_active_message_trigger[f->tag];
#if OMPI_MAJOR_VERSION >= 5
    const mca_btl_base_receive_descriptor_t des = {.endpoint = m->to[rank],
                                                   .des_segments = &segment,
                                                   .des_segment_count = 1,
                                                   .tag = (mca_btl_base_tag_t) f->tag,
                                                   .cbdata = cb->cbdata};
    cb->cbfunc(&m->super, &des);
#else
    mca_btl_base_descriptor_t des = {.des_segments = &segment, .des_segment_count = 1};
    (void) rank;
    cb->cbfunc(&m->super, (mca_btl_base_tag_t) f->tag, &des, cb->cbdata);
#endif
}

static int receive(module_t *m, uint64_t now)
{
    int n = 0;
    for (uint32_t rank = 0; rank < RANKS; ++rank) {
        ring_t *r = &own->ring[m->index][rank];
        uint64_t read = atomic_load(&r->read);
        while (read < atomic_load(&r->written)) {
            const uint64_t at = read % RING;
            frame_t *f = (frame_t *) (r->bytes + at);
            if (RING - at < sizeof(frame_t) || SKIP == f->bytes) {
                read += RING - at;
                atomic_store(&r->read, read);
                continue;
            }
            if (f->due_ns > now) {
                break;
            }
            deliver(m, rank, f);
            read += (sizeof(frame_t) + f->bytes + 15) & ~UINT64_C(15);
            atomic_store(&r->read, read);
            ++n;
        }
    }
    return n;
}

/* --------------------------------------------------- puts, gets and atomics */

static void move(const event_t *e, void *local, size_t size, bool out)
{
    struct iovec mine = {local, size}, its = {(void *) (uintptr_t) e->remote, size};
    const pid_t pid = e->endpoint->peer->pid;
    const ssize_t n =
        out ? process_vm_writev(pid, &mine, 1, &its, 1, 0) : process_vm_readv(pid, &mine, 1, &its, 1, 0);
    if (n != (ssize_t) size) {
        wrong("a peer's memory cannot be reached");
    }
}

static uint64_t result(const event_t *e, uint64_t before)
{
    if (e->is_cswap) {
        return before == e->compare ? e->operand : before;
    }
    switch (e->op) {
    case MCA_BTL_ATOMIC_ADD:
        return before + e->operand;
    case MCA_BTL_ATOMIC_AND:
        return before & e->operand;
    case MCA_BTL_ATOMIC_OR:
        return before | e->operand;
    case MCA_BTL_ATOMIC_XOR:
        return before ^ e->operand;
    default:
        return e->operand; /* swap */
    }
}

/* Its effect, when its time has come. */
static void land(event_t *e)
{
    if (e->landed) {
        return;
    }
    e->landed = true;
    check(e->endpoint->peer, &e->target, e->endpoint->module, e->endpoint->rank, e->remote, e->size,
          "a peer's memory is used without its registration");
    if (PUT == e->kind) {
        move(e, e->bytes, e->size, true);
    } else if (GET == e->kind) {
        move(e, e->local, e->size, false);
    } else {
        uint64_t before, after;
        while (atomic_flag_test_and_set(&e->endpoint->peer->atomics)) {
            sched_yield();
        }
        move(e, &before, sizeof(before), false);
        after = result(e, before);
        move(e, &after, sizeof(after), true);
        atomic_flag_clear(&e->endpoint->peer->atomics);
        if (e->fetches) {
            memcpy(e->local, &before, sizeof(before));
        }
    }
}

static void tell(module_t *m, event_t *e)
{
    if (SEND == e->kind) {
        const uint32_t flags = e->des->super.des_flags;
        if (NULL != e->des->super.des_cbfunc) {
            e->des->super.des_cbfunc(&m->super, e->endpoint, &e->des->super, e->status);
        }
        if (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) {
            hw_free(&m->super, &e->des->super);
        }
    } else {
        e->fn(&m->super, e->endpoint, e->local, e->handle, e->context, e->data, e->status);
    }
}

/* The first of what is due at `now`, NULL: nothing. A put lands after it was told, if so it is wanted. */
static event_t *take_due(module_t *m, uint64_t now, bool *lands, bool *tells)
{
    pthread_mutex_lock(&m->lock);
    event_t *due = NULL;
    for (event_t **p = &m->first; NULL != *p; p = &(*p)->next) {
        event_t *e = *p;
        *tells = !e->told && e->done_ns <= now;
        *lands = SEND != e->kind && e->lands_ns <= now;
        if (*tells && e->done_ns == e->lands_ns) {
            *lands = SEND != e->kind;
        }
        if (!*tells && !*lands) {
            continue;
        }
        e->told = e->told || *tells;
        due = e;
        if (SEND == e->kind || *lands) { /* nothing is left of it */
            *tells = *tells || !e->told;
            *p = e->next;
            if (m->last == &e->next) {
                m->last = p;
            }
            m->outstanding--;
            e->next = e; /* taken out */
        }
        break;
    }
    pthread_mutex_unlock(&m->lock);
    return due;
}

static int complete(module_t *m, uint64_t now)
{
    int n = 0;
    bool lands, tells;
    event_t *e;
    while (NULL != (e = take_due(m, now, &lands, &tells))) {
        const bool out = e->next == e;
        if (lands) {
            land(e);
        }
        if (tells) {
            tell(m, e);
        }
        if (out) {
            free(e);
        }
        ++n;
    }
    return n;
}

static int transfer(kind_t kind, mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                    void *local, uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                    mca_btl_base_registration_handle_t *remote_handle, size_t size, const event_t *how)
{
    module_t *m = (module_t *) btl;
    const size_t mask = PUT == kind && param.put_alignment > 1 ? (size_t) param.put_alignment - 1 : 0;
    if ((PUT == kind && size > btl->btl_put_limit) || (GET == kind && size > btl->btl_get_limit)
        || 0 != (((uintptr_t) local | remote | size) & mask)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (NULL == remote_handle) {
        wrong("a peer's memory is used without a registration");
    }
    if (NULL != local && NULL != local_handle) {
        check(own, local_handle, m, my_rank, (uintptr_t) local, size,
              "local memory is used without its registration");
    } else if (ATOMIC
               != kind) { /* osc/rdma registers nothing for the 8 bytes that an atomic operation fetches */
        wrong("local memory is used without a registration");
    }
    event_t *e = calloc(1, sizeof(*e) + (PUT == kind ? size : 0));
    if (NULL == e) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    *e = *how;
    e->kind = kind;
    e->endpoint = endpoint;
    e->local = local;
    e->remote = remote;
    e->handle = local_handle;
    memcpy(&e->target, remote_handle, sizeof(e->target)); /* it may stand in a header, anywhere */
    e->size = size;
    check(endpoint->peer, &e->target, m, endpoint->rank, remote, size,
          "a peer's memory is used without its registration");
    if (PUT == kind) {
        memcpy(e->bytes, local, size);
    }
    pthread_mutex_lock(&m->lock);
    if (m->dead || refuses(m)) {
        pthread_mutex_unlock(&m->lock);
        free(e);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    e->done_ns = occupy(m, size);
    e->lands_ns = e->done_ns + m->latency_ns;
    if (PUT != kind || param.remote_completion || !param.lands_late) {
        e->done_ns = e->lands_ns;
    }
    append(m, e);
    pthread_mutex_unlock(&m->lock);
    return OPAL_SUCCESS;
}

static int hw_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                  uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                  mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                  mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    const event_t how = {.fn = fn, .context = context, .data = data};
    (void) flags;
    (void) order;
    return transfer(PUT, btl, endpoint, local, remote, local_handle, remote_handle, size, &how);
}

static int hw_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                  uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                  mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                  mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    const event_t how = {.fn = fn, .context = context, .data = data};
    (void) flags;
    (void) order;
    return transfer(GET, btl, endpoint, local, remote, local_handle, remote_handle, size, &how);
}

static int hw_fop(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                  uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                  mca_btl_base_registration_handle_t *remote_handle, mca_btl_base_atomic_op_t op,
                  uint64_t operand, int flags, int order, mca_btl_base_rdma_completion_fn_t fn, void *context,
                  void *data)
{
    const event_t how = {
        .fn = fn, .context = context, .data = data, .fetches = true, .op = (int) op, .operand = operand};
    (void) order;
    return 0 != flags ? OPAL_ERR_NOT_SUPPORTED
                      : transfer(ATOMIC, btl, endpoint, local, remote, local_handle, remote_handle, 8, &how);
}

static int hw_op(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, uint64_t remote,
                 mca_btl_base_registration_handle_t *remote_handle, mca_btl_base_atomic_op_t op,
                 uint64_t operand, int flags, int order, mca_btl_base_rdma_completion_fn_t fn, void *context,
                 void *data)
{
    const event_t how = {.fn = fn, .context = context, .data = data, .op = (int) op, .operand = operand};
    (void) order;
    return 0 != flags ? OPAL_ERR_NOT_SUPPORTED
                      : transfer(ATOMIC, btl, endpoint, NULL, remote, NULL, remote_handle, 8, &how);
}

static int hw_cswap(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                    uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                    mca_btl_base_registration_handle_t *remote_handle, uint64_t compare, uint64_t value,
                    int flags, int order, mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    const event_t how = {.fn = fn,
                         .context = context,
                         .data = data,
                         .fetches = true,
                         .is_cswap = true,
                         .operand = value,
                         .compare = compare};
    (void) order;
    return 0 != flags ? OPAL_ERR_NOT_SUPPORTED
                      : transfer(ATOMIC, btl, endpoint, local, remote, local_handle, remote_handle, 8, &how);
}

static int hw_progress(void)
{
    int n = 0;
    for (int i = 0; i < param.modules; ++i) {
        module_t *m = &module[i];
        const uint64_t now = now_ns();
        n += complete(m, now);
        if (0 == pthread_mutex_trylock(&receiving)) {
            n += receive(m, now);
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

static int hw_flush(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint)
{
    module_t *m = (module_t *) btl;
    (void) endpoint;
    for (bool busy = true; busy;) {
        (void) complete(m, now_ns());
        pthread_mutex_lock(&m->lock);
        busy = false;
        for (const event_t *e = m->first; NULL != e; e = e->next) {
            busy = busy || SEND != e->kind;
        }
        pthread_mutex_unlock(&m->lock);
    }
    return OPAL_SUCCESS;
}

/* ------------------------------------------------------------------- peers */

static segment_t *attach(const char *path, bool make)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
    void *at = MAP_FAILED;
    if (fd >= 0 && (!make || 0 == ftruncate(fd, sizeof(segment_t)))) {
        at = mmap(NULL, sizeof(segment_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    return MAP_FAILED == at ? NULL : at;
}

static int hw_add_procs(mca_btl_base_module_t *btl, size_t n, opal_proc_t **procs,
                        struct mca_btl_base_endpoint_t **endpoints, opal_bitmap_t *reachable)
{
    module_t *m = (module_t *) btl;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t rank = procs[i]->proc_name.vpid;
        char *path = NULL;
        size_t len = 0;
        int rc;
        endpoints[i] = NULL;
        if (procs[i]->proc_name.jobid != OPAL_PROC_MY_NAME.jobid || rank >= RANKS) {
            continue;
        }
        of_rank[rank] = rank == my_rank ? own : of_rank[rank];
        if (NULL == of_rank[rank]) {
            OPAL_MODEX_RECV(rc, &component()->btl_version, &procs[i]->proc_name, (void **) &path, &len);
            if (OPAL_SUCCESS == rc && len > 0) {
                of_rank[rank] = attach(path, false);
            }
            free(path);
        }
        if (NULL == of_rank[rank]) {
            continue;
        }
        if (NULL == m->to[rank]) {
            m->to[rank] = calloc(1, sizeof(*m->to[rank]));
        }
        *m->to[rank] = (struct mca_btl_base_endpoint_t){m, of_rank[rank], procs[i], rank};
        endpoints[i] = m->to[rank];
        if (NULL != reachable) {
            opal_bitmap_set_bit(reachable, (int) i);
        }
    }
    return OPAL_SUCCESS;
}

static int hw_del_procs(mca_btl_base_module_t *btl, size_t n, opal_proc_t **procs,
                        struct mca_btl_base_endpoint_t **endpoints)
{
    (void) btl;
    (void) n;
    (void) procs;
    (void) endpoints; /* kept: what is late may still name them */
    return OPAL_SUCCESS;
}

static int hw_register_error(mca_btl_base_module_t *btl, mca_btl_base_module_error_cb_fn_t fn)
{
    ((module_t *) btl)->error_cb = fn;
    return OPAL_SUCCESS;
}

static int hw_finalize(mca_btl_base_module_t *btl)
{
    module_t *m = (module_t *) btl;
    if (m->descriptors > m->outstanding) {
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

/* --------------------------------------------------------------- component */

static int param_int(const char *name, const char *help, int value, int *to)
{
    *to = value;
    return mca_base_component_var_register(&component()->btl_version, name, help, MCA_BASE_VAR_TYPE_INT, NULL,
                                           0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY, to);
}

static int param_text(const char *name, const char *help, const char *value, char **to)
{
    *to = (char *) value;
    return mca_base_component_var_register(&component()->btl_version, name, help, MCA_BASE_VAR_TYPE_STRING,
                                           NULL, 0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY, to);
}

static int hw_params(void)
{
    (void) param_int("modules", "How many modules", 2, &param.modules);
    (void) param_int("refuse", "What is refused, one time in so many; 0: nothing", 0, &param.refuse);
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
    b->btl_component = component();
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
    b->btl_put = hw_put;
    b->btl_get = hw_get;
    b->btl_register_mem = hw_register;
    b->btl_deregister_mem = hw_deregister;
    b->btl_register_error = hw_register_error;
    b->btl_flush = hw_flush;
    if (param.atomics) {
        b->btl_flags |= MCA_BTL_FLAGS_ATOMIC_FOPS | MCA_BTL_FLAGS_ATOMIC_OPS;
        b->btl_atomic_flags = MCA_BTL_ATOMIC_SUPPORTS_ADD | MCA_BTL_ATOMIC_SUPPORTS_AND
                              | MCA_BTL_ATOMIC_SUPPORTS_OR | MCA_BTL_ATOMIC_SUPPORTS_XOR
                              | MCA_BTL_ATOMIC_SUPPORTS_SWAP | MCA_BTL_ATOMIC_SUPPORTS_CSWAP;
        b->btl_atomic_op = hw_op;
        b->btl_atomic_fop = hw_fop;
        b->btl_atomic_cswap = hw_cswap;
    }
}

static mca_btl_base_module_t **hw_init(int *n, bool progress_threads, bool mpi_threads)
{
    int rc;
    (void) progress_threads;
    (void) mpi_threads;
    *n = 0;
    my_rank = OPAL_PROC_MY_NAME.vpid;
    param.modules = param.modules < MODULES ? param.modules : MODULES;
    if (my_rank >= RANKS) {
        return NULL;
    }
    snprintf(own_path, sizeof(own_path), "/dev/shm/fsbml-hw.%d", (int) getpid());
    (void) unlink(own_path); /* a killed process of the same number may have left it */
    own = attach(own_path, true);
    mca_btl_base_module_t **modules = NULL != own ? calloc(MODULES, sizeof(*modules)) : NULL;
    if (NULL == modules) {
        return NULL;
    }
    own->pid = getpid();
    OPAL_MODEX_SEND(rc, GLOBAL, &component()->btl_version, own_path, strlen(own_path) + 1);
    if (OPAL_SUCCESS != rc) {
        free(modules);
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
    if (NULL != own) {
        (void) unlink(own_path);
        (void) munmap(own, sizeof(*own));
        own = NULL;
    }
    for (uint32_t rank = 0; rank < RANKS; ++rank) {
        if (NULL != of_rank[rank] && rank != my_rank) {
            (void) munmap(of_rank[rank], sizeof(segment_t));
        }
        of_rank[rank] = NULL;
    }
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

static mca_btl_base_component_t *component(void)
{
    return &mca_btl_hw_component;
}
