/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware that puts and gets, on the fake BTLs: it registers memory, copies bytes where both sides'
 * registrations of its own rail cover them, counts how often each byte was written, and completes when the
 * test says so. With the PML's part: the entry, and handles as they come out of a header. */
#ifndef FSBML_TESTS_SHIM_FAKE_RDMA_H
#define FSBML_TESTS_SHIM_FAKE_RDMA_H

#include "fake_pml.h"

struct mca_btl_base_registration_handle_t {
    uint32_t magic, rail;
    const char *base;
    size_t size;
};
enum { MAGIC = 0x5a17e11 };

static struct {
    _Atomic int registered, operations;
    size_t bytes;
    bool no_register, refuses, completes_at_once;
    int error;
    bool completes, keeps; /* what it refuses: with that error, at once or later */
} rdma[N_FAKES];

typedef struct pending_t {
    int rail;
    void *local;
    mca_btl_base_rdma_completion_fn_t fn;
    mca_btl_base_registration_handle_t *handle;
    void *context, *data;
} pending_t;
static pending_t pending[8192];
static int n_pending;
static unsigned char *times; /* how often each byte of the target was written */
static char *target;

static mca_btl_base_registration_handle_t *do_register(mca_btl_base_module_t *btl,
                                                       struct mca_btl_base_endpoint_t *ep, void *base,
                                                       size_t size, uint32_t flags)
{
    const int rail = fake_number(btl);
    (void) flags;
    CHECK(MCA_BTL_ENDPOINT_ANY == ep || (char *) ep == fake_endpoint[rail]);
    if (rdma[rail].no_register) {
        return NULL;
    }
    mca_btl_base_registration_handle_t *h = calloc(1, sizeof(*h));
    *h = (mca_btl_base_registration_handle_t){MAGIC, (uint32_t) rail, base, size};
    rdma[rail].registered++;
    return h;
}

static int do_deregister(mca_btl_base_module_t *btl, mca_btl_base_registration_handle_t *h)
{
    CHECK(MAGIC == h->magic && fake_number(btl) == (int) h->rail);
    rdma[h->rail].registered--;
    free(h);
    return OPAL_SUCCESS;
}

static bool covers(const mca_btl_base_registration_handle_t *h, int rail, uint64_t address, size_t size)
{
    mca_btl_base_registration_handle_t copy;
    if (NULL == h) {
        return false;
    }
    memcpy(&copy, h, sizeof(copy)); /* the remote one stands unaligned in a header */
    return MAGIC == copy.magic && rail == (int) copy.rail && address >= (uintptr_t) copy.base
           && address + size <= (uintptr_t) copy.base + copy.size;
}

static int copy(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, void *local, uint64_t remote,
                mca_btl_base_registration_handle_t *local_handle,
                mca_btl_base_registration_handle_t *remote_handle, size_t size, bool put,
                mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    const int rail = fake_number(btl);
    CHECK((char *) ep == fake_endpoint[rail]);
    if (rdma[rail].refuses || fake_refuses(&fake[rail], false)) {
        if (rdma[rail].completes) {
            fn(btl, ep, local, local_handle, context, data, rdma[rail].error);
        } else if (rdma[rail].keeps) {
            pending[n_pending++] = (pending_t){rail, local, fn, local_handle, context, data};
        }
        return 0 != rdma[rail].error ? rdma[rail].error : OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (NULL != btl->btl_register_mem) {
        CHECK(covers(local_handle, rail, (uintptr_t) local, size));
        CHECK(covers(remote_handle, rail, remote, size));
    }
    char *to = put ? (char *) (uintptr_t) remote : local;
    memcpy(to, put ? local : (void *) (uintptr_t) remote, size);
    for (size_t i = 0; NULL != times && i < size; ++i) {
        times[to - target + (ptrdiff_t) i]++;
    }
    rdma[rail].operations++;
    rdma[rail].bytes += size;
    if (rdma[rail].completes_at_once) {
        return 1;
    }
    CHECK(n_pending < (int) (sizeof(pending) / sizeof(pending[0])));
    pending[n_pending++] = (pending_t){rail, local, fn, local_handle, context, data};
    return OPAL_SUCCESS;
}

static int do_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, void *local,
                  uint64_t remote, mca_btl_base_registration_handle_t *lh,
                  mca_btl_base_registration_handle_t *rh, size_t size, int flags, int order,
                  mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    (void) flags;
    (void) order;
    return copy(btl, ep, local, remote, lh, rh, size, true, fn, context, data);
}

static int do_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, void *local,
                  uint64_t remote, mca_btl_base_registration_handle_t *lh,
                  mca_btl_base_registration_handle_t *rh, size_t size, int flags, int order,
                  mca_btl_base_rdma_completion_fn_t fn, void *context, void *data)
{
    (void) flags;
    (void) order;
    return copy(btl, ep, local, remote, lh, rh, size, false, fn, context, data);
}

static inline void complete_pending(int status)
{
    for (int i = 0; i < n_pending; ++i) {
        const pending_t p = pending[i];
        p.fn(&fake[p.rail].super, (struct mca_btl_base_endpoint_t *) fake_endpoint[p.rail], p.local, p.handle,
             p.context, p.data, status);
    }
    n_pending = 0;
}

/* What the PML's callback was told. */
static struct {
    int n, bad, status;
    const mca_bml_base_btl_t *context;
} told;

static void *expected_handle, *expected_endpoint;

static inline void pml_rdma_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep, void *local,
                                 mca_btl_base_registration_handle_t *handle, void *context, void *data,
                                 int status)
{
    (void) local;
    told.n++;
    told.status = status;
    told.context = context;
    told.bad += &told != data || expected_handle != (void *) handle || expected_endpoint != (void *) ep
                || fsbml_rail_of(btl) >= 0;
}

/* A rail that puts and gets. */
static inline void can_rdma(fake_btl_t *f, uint32_t flags, bool registers)
{
    mca_btl_base_module_t *b = &f->super;
    fake_construct(f, 4096, 65536, 10);
    b->btl_flags |= flags;
    b->btl_put = do_put;
    b->btl_get = do_get;
    b->btl_put_limit = b->btl_get_limit = SIZE_MAX;
    b->btl_min_rdma_pipeline_size = 1 << 20;
    b->btl_rdma_pipeline_frag_size = (size_t) 1 << (30 - fake_number(b));
    if (registers) {
        b->btl_register_mem = do_register;
        b->btl_deregister_mem = do_deregister;
        b->btl_registration_handle_size = sizeof(mca_btl_base_registration_handle_t);
    }
}

/* n rails to one peer, with these abilities (MCA_BTL_FLAGS_*), none proved yet. */
static inline mca_bml_base_endpoint_t *up_unproved(int n, uint32_t flags, bool registers)
{
    memset(rdma, 0, sizeof(rdma));
    memset(&told, 0, sizeof(told));
    for (int i = 0; i < n; ++i) {
        can_rdma(&fake[i], flags, registers);
    }
    peer_flags = FSBML_HELLO_RDMA | (mca_bml_fsbml_params.failover ? FSBML_HELLO_FRAMES : 0);
    world_up(n);
    mca_bml_base_endpoint_t *ep = peer_up();
    expected_endpoint = eager_of(ep)->btl_endpoint;
    return ep;
}

/* The same, all live. */
static inline mca_bml_base_endpoint_t *up(int n, uint32_t flags, bool registers)
{
    mca_bml_base_endpoint_t *ep = up_unproved(n, flags, registers);
    all_answer(n);
    return ep;
}

static inline void down(int n)
{
    CHECK(0 == n_pending && 0 == told.bad);
    for (int i = 0; i < n; ++i) {
        CHECK(0 == rdma[i].registered);
    }
    world_down(n);
}

static inline mca_bml_base_btl_t *rdma_entry(mca_bml_base_endpoint_t *ep)
{
    return mca_bml_base_btl_array_get_index(&ep->btl_rdma, 0);
}

/* The bytes of a registration as the PML puts them into its header. */
static inline mca_btl_base_registration_handle_t *as_sent(const mca_bml_base_btl_t *e,
                                                          const mca_btl_base_registration_handle_t *h)
{
    static unsigned char header[1 + MCA_BTL_REG_HANDLE_MAX_SIZE];
    memcpy(header + 1, h, e->btl->btl_registration_handle_size);
    return (mca_btl_base_registration_handle_t *) (header + 1);
}

#endif
