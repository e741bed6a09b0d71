/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations, puts, gets and atomics: the kernel copies between the processes, when their time has come.
 */
#define _GNU_SOURCE
#include "btl_hw.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

_Atomic uint32_t registered;

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
            (void) atomic_fetch_add(&registered, 1);
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
void hw_land(event_t *e)
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

void hw_fail(module_t *m, bool lands)
{
    for (event_t *e = m->first; NULL != e; e = e->next) {
        if (SEND != e->kind) {
            e->status = e->told ? e->status : OPAL_ERR_UNREACH;
            e->landed = e->landed || !lands;
        }
    }
    m->dead = true;
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

int hw_complete(module_t *m, uint64_t now)
{
    int n = 0;
    bool lands, tells;
    event_t *e;
    while (NULL != (e = take_due(m, now, &lands, &tells))) {
        const bool out = e->next == e;
        if (lands) {
            hw_land(e);
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

static int atomic(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                  uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                  mca_btl_base_registration_handle_t *remote_handle, int flags, const event_t *how)
{
    return 0 != flags ? OPAL_ERR_NOT_SUPPORTED
                      : transfer(ATOMIC, btl, endpoint, local, remote, local_handle, remote_handle, 8, how);
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
    return atomic(btl, endpoint, local, remote, local_handle, remote_handle, flags, &how);
}

static int hw_op(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, uint64_t remote,
                 mca_btl_base_registration_handle_t *remote_handle, mca_btl_base_atomic_op_t op,
                 uint64_t operand, int flags, int order, mca_btl_base_rdma_completion_fn_t fn, void *context,
                 void *data)
{
    const event_t how = {.fn = fn, .context = context, .data = data, .op = (int) op, .operand = operand};
    (void) order;
    return atomic(btl, endpoint, NULL, remote, NULL, remote_handle, flags, &how);
}

static int hw_cswap(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                    uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
                    mca_btl_base_registration_handle_t *remote_handle, uint64_t compare, uint64_t value,
                    int flags, int order, mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    event_t how = {.fn = fn, .context = context, .data = data, .fetches = true, .is_cswap = true};
    how.operand = value;
    how.compare = compare;
    (void) order;
    return atomic(btl, endpoint, local, remote, local_handle, remote_handle, flags, &how);
}

static int hw_flush(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint)
{
    module_t *m = (module_t *) btl;
    (void) endpoint;
    for (bool busy = true; busy;) {
        (void) hw_complete(m, now_ns());
        pthread_mutex_lock(&m->lock);
        busy = false;
        for (const event_t *e = m->first; NULL != e; e = e->next) {
            busy = busy || SEND != e->kind;
        }
        pthread_mutex_unlock(&m->lock);
    }
    return OPAL_SUCCESS;
}

void hw_rdma(mca_btl_base_module_t *b)
{
    b->btl_put = hw_put;
    b->btl_get = hw_get;
    b->btl_register_mem = hw_register;
    b->btl_deregister_mem = hw_deregister;
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
