/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get over all rails. The PML has one RDMA entry for a peer, the pseudo BTL's, so that its
 * comparisons with the eager entry hold. It cuts a long message into operations of one quantum; each takes
 * the rail that finishes it first, and is charged to it. */

#include "send/send.h"

/* --------------------------------------------------------------- operations */

typedef struct transfer_t {
    void *local_address;
    uint64_t remote_address;
    mca_btl_base_registration_handle_t *local_handle, *remote_handle;
    size_t size;
    int flags, order;
    bool is_put;
    mca_btl_base_rdma_completion_fn_t cbfunc;
    void *cbcontext, *cbdata;
} transfer_t;

/* With failover, which code may do what to an operation: a BTL may complete it within the call that starts
 * it, also one that it then says to have refused. */
typedef enum stage_t { STARTING, STARTED, COMPLETED, GIVEN_UP } stage_t;

/* What the caller of an operation gave, while it waits for room or is under way. */
typedef struct operation_t {
    struct operation_t *next;
    mca_bml_fsbml_endpoint_t *ep;
    mca_bml_fsbml_path_t *path;
    transfer_t t;
    bool lands_later; /* locally complete does not mean that the peer has it */
    _Atomic(stage_t) stage;
    int status; /* once it is completed */
} operation_t;

/* Those that are not in use. (Open MPI's own free lists need a processor's compare-and-swap of 16 bytes at
 * compile time.) */
static opal_mutex_t operations_lock = OPAL_MUTEX_STATIC_INIT;
static operation_t *operations;

static operation_t *take_operation(void)
{
    OPAL_THREAD_LOCK(&operations_lock);
    operation_t *op = operations;
    if (OPAL_LIKELY(NULL != op)) {
        operations = op->next;
    }
    OPAL_THREAD_UNLOCK(&operations_lock);
    return NULL != op ? op : malloc(sizeof(*op));
}

static void give_back(operation_t *op)
{
    OPAL_THREAD_LOCK(&operations_lock);
    op->next = operations;
    operations = op;
    OPAL_THREAD_UNLOCK(&operations_lock);
}

static bool lands_later(const mca_bml_fsbml_path_t *path)
{
    return 0 == (path->super.btl->btl_flags & FSBML_BTL_FLAGS_REMOTE_COMPLETION);
}

static void finish(operation_t *op, int status)
{
    mca_bml_fsbml_endpoint_t *ep = op->ep;
    const transfer_t t = op->t;
    void *caller = t.cbcontext;
    /* "Not available" has ob1 ask for puts instead, and lose a message whose requests for them overtake each
     * other. It tries again, and has the bytes sent, if there is no room. */
    if (OPAL_UNLIKELY(OMPI_ERR_NOT_AVAILABLE == status)) {
        status = OMPI_ERR_OUT_OF_RESOURCE;
    }
    /* ob1 says FIN by the entry that it gets back. Where the bytes may still be on their way, FIN must come
     * behind them, so on their rail; also if it has to wait, and so ob1 keeps the entry. */
    if (op->lands_later && caller == ep->rdma) {
        caller = &op->path->bound;
    }
    give_back(op);
    t.cbfunc(&ep->group->pseudo, (struct mca_btl_base_endpoint_t *) ep, t.local_address, t.local_handle,
             caller, t.cbdata, status);
}

/* ---------------------------------------------------------------- failover */

static struct {
    bool (*failed)(mca_bml_fsbml_endpoint_t *ep, uint32_t rail); /* NULL: there is no failover */
    uint32_t (*rails)(mca_bml_fsbml_endpoint_t *ep);
} survival;

void fsbml_rdma_survive_by(bool (*failed)(mca_bml_fsbml_endpoint_t *ep, uint32_t rail),
                           uint32_t (*rails)(mca_bml_fsbml_endpoint_t *ep))
{
    survival.failed = failed;
    survival.rails = rails;
}

static uint32_t live_rails(mca_bml_fsbml_endpoint_t *ep)
{
    const uint32_t live = atomic_load_explicit(&ep->live, memory_order_acquire);
    return OPAL_LIKELY(NULL == survival.rails) ? live : live & survival.rails(ep);
}

static void wait_at(operation_t *op, bool at_head)
{
    mca_bml_fsbml_endpoint_t *ep = op->ep;
    opal_mutex_lock(&ep->lock);
    op->next = at_head ? ep->waiting : NULL;
    if (NULL == ep->waiting || at_head) {
        ep->last_waiting = NULL == ep->waiting ? op : ep->last_waiting;
        ep->waiting = op;
    } else {
        ep->last_waiting->next = op;
        ep->last_waiting = op;
    }
    opal_mutex_unlock(&ep->lock);
    fsbml_watch(ep);
}

/* A rail has failed with it: true if it is done again, by another one. What a put has written by then, it
 * writes again. */
static bool is_done_again(operation_t *op)
{
    const bool is = NULL != survival.failed && survival.failed(op->ep, op->path->rail);
    if (is) {
        wait_at(op, false);
    }
    return is;
}

/* The same where its BTL may have it, and complete it later. */
static bool is_replaced(operation_t *op)
{
    operation_t *other = take_operation();
    if (NULL == other) {
        return false;
    }
    other->ep = op->ep;
    other->path = op->path;
    other->t = op->t;
    const bool is = is_done_again(other);
    if (!is) {
        give_back(other);
    }
    return is;
}

static void settle(operation_t *op, int status)
{
    if (OPAL_LIKELY(OPAL_SUCCESS == status) || !is_done_again(op)) {
        finish(op, status);
    }
}

/* Whether no other code has the operation: not started yet, nor given up. */
static bool is_mine(operation_t *op, int status)
{
    if (OPAL_LIKELY(NULL == survival.failed)) {
        return true;
    }
    op->status = status;
    const stage_t before = atomic_exchange(&op->stage, COMPLETED);
    if (GIVEN_UP == before) {
        give_back(op);
    }
    return STARTED == before;
}

static void completed(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, mca_btl_base_registration_handle_t *local_handle, void *context,
                      void *cbdata, int status)
{
    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    (void) cbdata;
    operation_t *op = context;
    mca_bml_fsbml_endpoint_t *ep = op->ep;
    if (is_mine(op, status)) {
        settle(op, status);
    }
    if (OPAL_UNLIKELY(NULL != atomic_load_explicit(&ep->waiting, memory_order_relaxed))) {
        fsbml_rdma_retry(ep); /* there is room now */
    }
}

/* Gives an operation to one rail. */
static int call(const mca_bml_fsbml_path_t *path, operation_t *op)
{
    const transfer_t *t = &op->t;
    mca_btl_base_module_t *real = path->super.btl;
    const mca_btl_base_module_put_fn_t fn =
        t->is_put ? real->btl_put : (mca_btl_base_module_put_fn_t) real->btl_get;
    mca_btl_base_registration_handle_t *local = NULL, *remote = NULL;
    if (fsbml_handle_needed(path->rail)) {
        local = fsbml_handle_local(t->local_handle, path->rail);
        remote =
            (mca_btl_base_registration_handle_t *) fsbml_handle_remote(op->ep, t->remote_handle, path->rail);
    }
    return fn(real, path->super.btl_endpoint, t->local_address, t->remote_address, local, remote, t->size,
              t->flags, t->order, completed, op, op);
}

/* 0 or more: the rail has it, or has done it (1), or it was settled. */
static int start(const mca_bml_fsbml_path_t *path, operation_t *op)
{
    if (OPAL_LIKELY(NULL == survival.failed)) {
        return call(path, op);
    }
    atomic_store(&op->stage, STARTING);
    const int rc = call(path, op);
    stage_t before = STARTING;
    if (1 == rc || (rc < 0 && fsbml_refused_is_whole(rc))) {
        return rc;
    }
    if (!atomic_compare_exchange_strong(&op->stage, &before, rc >= 0 ? STARTED : GIVEN_UP)) {
        settle(op, op->status);
        return OMPI_SUCCESS;
    }
    return rc < 0 && is_replaced(op) ? OMPI_SUCCESS : rc;
}

/* The rails that can do it: live, and with the registrations of both sides. */
static uint32_t able(mca_bml_fsbml_endpoint_t *ep, const transfer_t *t, uint32_t live)
{
    uint32_t rails = 0;
    for (uint32_t left = live & ep->group->rdma_rails; 0 != left; left &= left - 1) {
        const uint32_t i = (uint32_t) __builtin_ctz(left);
        const mca_btl_base_module_t *real = fsbml_rails.rail[i].btl;
        const size_t threshold = t->is_put ? real->btl_put_local_registration_threshold
                                           : real->btl_get_local_registration_threshold;
        if (fsbml_handle_needed(i)
            && (NULL == fsbml_handle_remote(ep, t->remote_handle, i)
                || (t->size > threshold && NULL == fsbml_handle_local(t->local_handle, i)))) {
            continue;
        }
        rails |= fsbml_bit(i);
    }
    return rails;
}

/* OMPI_SUCCESS: a rail has the operation, or has done it. Else it is the caller's. */
static int offer(operation_t *op)
{
    mca_bml_fsbml_endpoint_t *ep = op->ep;
    const uint32_t live = live_rails(ep);
    if (0 == live) {
        return OMPI_ERR_OUT_OF_RESOURCE; /* nothing is proved yet, or works now */
    }
    int rc = OMPI_ERR_NOT_AVAILABLE; /* no rail has both registrations: the PML sends instead */
    const size_t size = op->t.size;
    const uint32_t candidates = able(ep, &op->t, live);
    for (uint32_t rails = candidates; 0 != rails;) {
        const uint64_t now = fsbml_now_ns();
        const uint32_t rail = fsbml_choose(ep, now, size, rails);
        mca_bml_fsbml_path_t *path = fsbml_path(ep, rail);
        op->path = path;
        op->lands_later = op->t.is_put && lands_later(path);
        rc = start(path, op);
        if (OPAL_LIKELY(rc >= 0)) {
            fsbml_observe_transfer(ep, path, now, size, candidates);
            if (1 == rc) { /* complete; a caller of 4.1 takes 1 for a failure, so it is called from here */
                finish(op, OMPI_SUCCESS);
            }
            return OMPI_SUCCESS;
        }
        if (OPAL_UNLIKELY(!fsbml_refused_is_whole(rc))) {
            fsbml_lost(ep, path->super.btl, rc); /* the operation may be in its queue */
            return OMPI_SUCCESS;
        }
        rails &= ~fsbml_bit(rail); /* refused: the next best */
    }
    return rc;
}

/* What no rail has room for waits here, and is never refused: ob1 loses the rest of a message if one of its
 * pieces is. */
static int transfer(struct mca_btl_base_endpoint_t *endpoint, const transfer_t *t)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    operation_t *op = take_operation();
    if (OPAL_UNLIKELY(NULL == op)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    op->ep = ep;
    op->t = *t;
    const int rc = offer(op);
    if (OPAL_UNLIKELY(OMPI_ERR_OUT_OF_RESOURCE == rc)) {
        wait_at(op, false);
        return OMPI_SUCCESS;
    }
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        give_back(op);
    }
    return rc;
}

/* The first that waits, NULL: none does. */
static operation_t *take_waiting(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&ep->lock);
    operation_t *op = ep->waiting;
    if (NULL != op) {
        ep->waiting = op->next;
    }
    opal_mutex_unlock(&ep->lock);
    return op;
}

void fsbml_rdma_retry(mca_bml_fsbml_endpoint_t *ep)
{
    operation_t *op;
    while (NULL != (op = take_waiting(ep))) {
        const int rc = offer(op);
        if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
            wait_at(op, true);
            return;
        }
        if (OMPI_SUCCESS != rc) {
            op->lands_later = false;
            finish(op, rc);
        }
    }
}

void fsbml_rdma_forget(mca_bml_fsbml_endpoint_t *ep)
{
    operation_t *op;
    while (NULL != (op = take_waiting(ep))) {
        give_back(op);
    }
}

int fsbml_rdma_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local_address,
                   uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
                   mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                   mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata)
{
    (void) btl;
    const transfer_t t = {local_address, remote_address, local_handle, remote_handle, size,  flags,
                          order,         true,           cbfunc,       cbcontext,     cbdata};
    return transfer(endpoint, &t);
}

int fsbml_rdma_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local_address,
                   uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
                   mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                   mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata)
{
    (void) btl;
    const transfer_t t = {local_address, remote_address, local_handle, remote_handle, size,  flags,
                          order,         false,          cbfunc,       cbcontext,     cbdata};
    return transfer(endpoint, &t);
}

void fsbml_rdma_fini(void)
{
    for (operation_t *op = operations; NULL != op;) {
        operation_t *next = op->next;
        free(op);
        op = next;
    }
    operations = NULL;
}
