/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks from the real BTLs to the PML. A real BTL names itself in each; the PML, which compares that name
 * with the entries it sends by, must meet the pseudo BTL instead, or an answer can wait for ever. */

#include "send/send.h"

#include "ompi/runtime/mpiruntime.h"

/* ---------------------------------------------------------------- receive */

typedef struct recv_slot_t {
    mca_btl_base_module_recv_cb_fn_t cbfunc;
    void *data;
    bool is_put;
} recv_slot_t;

/* ob1's request to put (MCA_PML_OB1_HDR_TYPE_PUT, in a header of ob1's own): it looks up nothing but its RDMA
 * list for it. Where that has the real BTLs, only a peer without FSBML sends such a request. */
enum { OB1_TAG_PUT = MCA_BTL_TAG_PML + 8 };

static recv_slot_t recv_slot[MCA_BTL_TAG_MAX];
static void (*wake)(mca_bml_fsbml_group_t *group);

void fsbml_recv_wake_by(void (*fn)(mca_bml_fsbml_group_t *group))
{
    wake = fn;
}

static mca_btl_base_module_t *visible_btl(const recv_slot_t *slot, mca_btl_base_module_t *btl)
{
    const int rail = fsbml_rail_of(btl);
    if (OPAL_UNLIKELY(rail < 0)) {
        return btl;
    }
    mca_bml_fsbml_group_t *group = fsbml_rails.rail[rail].group;
    if (OPAL_UNLIKELY(slot->is_put && group->rdma_rests)) {
        wake(group); /* the peer knows already that the processor is the limit: ob1 must find the entry */
    }
    return OPAL_UNLIKELY(slot->is_put && 0 == group->rdma_rails) ? btl : &group->pseudo;
}

static void recv_trampoline(FSBML_RECV_PARAMS(btl, des))
{
    const recv_slot_t *slot = (const recv_slot_t *) FSBML_RECV_DATA(des);
    fsbml_flow_receives(des->des_segments[0].seg_len);
    mca_btl_base_module_t *visible = visible_btl(slot, btl);
    fsbml_received_by(slot->cbfunc, visible, FSBML_RECV_TAG(des), des, visible == btl, slot->data);
}

int fsbml_recv_register(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data)
{
    if (tag >= MCA_BTL_TAG_MAX) {
        return OMPI_ERR_BAD_PARAM;
    }
    if (0 == fsbml_rails.n_groups) {
        return fsbml_rails_receive(tag, cbfunc, data); /* nothing to choose from, no detour */
    }
    recv_slot[tag].cbfunc = cbfunc;
    recv_slot[tag].data = data;
    recv_slot[tag].is_put = OB1_TAG_PUT == tag;
    return fsbml_rails_receive(tag, recv_trampoline, &recv_slot[tag]);
}

/* As the BTL itself calls back. */
void fsbml_recv_deliver(mca_btl_base_module_t *btl, const fsbml_received_t *as, mca_btl_base_tag_t tag,
                        void *bytes, size_t n_bytes)
{
    const mca_btl_active_message_callback_t *to = &mca_btl_base_active_message_trigger[tag];
    mca_btl_base_segment_t segment = as->des_segments[0];
    segment.seg_addr.pval = bytes;
    segment.seg_len = n_bytes;
    fsbml_received_t message = *as;
    message.des_segments = &segment;
    message.des_segment_count = 1;
    if (NULL != to->cbfunc) {
        fsbml_received_by(to->cbfunc, btl, tag, &message, true, to->cbdata);
    }
}

/* ------------------------------------------------------------- completion */

/* The PML has a handful of completion functions. Each gets a wrapper of its own from this pool, so that the
 * wrapper knows the function it stands for without a place in the descriptor. */
#define WRAPPERS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

typedef struct wrapper_t {
    _Atomic(mca_btl_base_completion_fn_t) fn;
    mca_btl_base_completion_fn_t stub;
    atomic_bool onesided; /* all threads that meet a function first at the same time write it, and the same */
} wrapper_t;

static void complete(mca_btl_base_completion_fn_t fn, mca_btl_base_descriptor_t *des, int status)
{
    const mca_bml_base_btl_t *bml_btl = (const mca_bml_base_btl_t *) des->des_context;
    des->des_cbfunc = fn;
    /* On an error ob1 takes the BTL that it is told out of the peer's list. The pseudo BTL stands for all
     * rails, so it must stay: name none. */
    fn(OPAL_LIKELY(OPAL_SUCCESS == status) ? bml_btl->btl : NULL, bml_btl->btl_endpoint, des, status);
}

/* The same for an active message: its context is its sender's own, so the real endpoint tells whose it is. */
static void complete_onesided(mca_btl_base_completion_fn_t fn, struct mca_btl_base_endpoint_t *endpoint,
                              mca_btl_base_descriptor_t *des, int status)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_onesided_endpoint(endpoint);
    des->des_cbfunc = fn;
    if (OPAL_LIKELY(NULL != ep)) {
        fn(&ep->group->pseudo, (struct mca_btl_base_endpoint_t *) ep, des, status);
    }
}

#define DECLARE_STUB(i)                                                                        \
    static void stub_##i(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, \
                         mca_btl_base_descriptor_t *des, int status);
WRAPPERS(DECLARE_STUB)

#define TABLE_ENTRY(i) {.stub = stub_##i},
static wrapper_t wrapper[] = {WRAPPERS(TABLE_ENTRY)};
enum { N_WRAPPERS = sizeof(wrapper) / sizeof(wrapper[0]) };

#define DEFINE_STUB(i)                                                                                \
    static void stub_##i(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,        \
                         mca_btl_base_descriptor_t *des, int status)                                  \
    {                                                                                                 \
        (void) btl;                                                                                   \
        mca_btl_base_completion_fn_t fn = atomic_load_explicit(&wrapper[i].fn, memory_order_relaxed); \
        if (OPAL_UNLIKELY(atomic_load_explicit(&wrapper[i].onesided, memory_order_relaxed))) {        \
            complete_onesided(fn, endpoint, des, status);                                             \
        } else {                                                                                      \
            complete(fn, des, status);                                                                \
        }                                                                                             \
    }
WRAPPERS(DEFINE_STUB)

/* A tag has one completion function nearly always: the last one of the tag is tried first. */
static _Atomic(wrapper_t *) last_of_tag[256];

static wrapper_t *intern(mca_btl_base_completion_fn_t fn)
{
    for (int i = 0; i < N_WRAPPERS; ++i) {
        mca_btl_base_completion_fn_t none = NULL;
        if (fn == atomic_load(&wrapper[i].fn) || atomic_compare_exchange_strong(&wrapper[i].fn, &none, fn)
            || fn == none) {
            return &wrapper[i];
        }
    }
    return NULL;
}

mca_btl_base_completion_fn_t fsbml_completion_wrap(mca_btl_base_tag_t tag, mca_btl_base_completion_fn_t fn)
{
    wrapper_t *w = atomic_load_explicit(&last_of_tag[tag], memory_order_acquire);
    if (OPAL_LIKELY(NULL != w && fn == atomic_load_explicit(&w->fn, memory_order_relaxed))) {
        return w->stub;
    }
    if (NULL == fn) {
        return NULL;
    }
    w = intern(fn);
    if (NULL == w) {
        return fn; /* more functions than any PML has: the real BTL's name is all that shows */
    }
    /* No other code has the functions of these tags. */
    atomic_store_explicit(&w->onesided, fsbml_onesided_is_tag(tag), memory_order_relaxed);
    atomic_store_explicit(&last_of_tag[tag], w, memory_order_release);
    return w->stub;
}

/* ------------------------------------------------------------------ errors */

static bool (*survives)(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, bool is_fatal);

void fsbml_recv_survive_by(bool (*fn)(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, bool is_fatal))
{
    survives = fn;
}

/* Not of a peer that is being deleted: where it has gone before, the goodbye of tcp of 5.0 fails, which ends
 * a program with sessions alone, whatever the BML. With failover, a rail may lead to this process as well,
 * for one-sided communication alone. */
static bool has_messages(ompi_proc_t *proc, const mca_btl_base_module_t *btl)
{
    mca_bml_base_endpoint_t *ep = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    if (NULL == ep || NULL == survives) {
        return NULL != ep;
    }
    return NULL != fsbml_endpoint_entry(ep, btl)
           && (NULL != fsbml_endpoint_of(ep)
               || NULL != mca_bml_base_btl_array_find(&ep->btl_send, (mca_btl_base_module_t *) btl));
}

static void error_trampoline(mca_btl_base_module_t *btl, int32_t flags, struct opal_proc_t *errproc,
                             char *info)
{
    const int rail = fsbml_rail_of(btl);
    const bool is_fatal = 0 != (flags & MCA_BTL_ERROR_FLAGS_FATAL);
    if (rail >= 0 && NULL != errproc) {
        mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc((ompi_proc_t *) errproc);
        if (NULL != ep
            && ((!is_fatal
                 && fsbml_proof_failed(ep, (uint32_t) rail, NULL != info ? info : "its connection failed"))
                || (NULL != survives && survives(ep, (uint32_t) rail, is_fatal)))) {
            return; /* it had not carried anything yet, or what it had is sent again */
        }
        if (!has_messages((ompi_proc_t *) errproc, btl)) {
            return;
        }
    }
    if (NULL != fsbml_rails.error_cb) {
        fsbml_rails.error_cb(fsbml_visible_btl(btl), flags, errproc, info);
    }
}

void fsbml_lost(const mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl, int status)
{
    const int rail = fsbml_rail_of(btl);
    char *peer = fsbml_proc_host(ep->proc);
    opal_show_help(FSBML_HELP, "message lost", true, fsbml_node_name(),
                   OMPI_NAME_PRINT(&ep->proc->super.proc_name), peer,
                   rail >= 0 ? fsbml_rails.rail[rail].name : "unknown", opal_strerror(status));
    free(peer);
    static char info[] = "a message was lost with its connection";
    fsbml_lost_told(ep, info);
}

void fsbml_lost_told(const mca_bml_fsbml_endpoint_t *ep, char *info)
{
    if (NULL != fsbml_rails.error_cb) {
        fsbml_rails.error_cb(&ep->group->pseudo, MCA_BTL_ERROR_FLAGS_FATAL, &ep->proc->super, info);
    }
    if (fsbml_closing_has_begun()) { /* ob1 of 5.0 takes no error for one in MPI_Finalize */
        (void) ompi_mpi_abort(NULL, 1);
    }
}

int fsbml_recv_register_error(mca_btl_base_module_error_cb_fn_t cbfunc)
{
    fsbml_rails.error_cb = cbfunc;
    for (size_t i = 0; i < fsbml_rails.n_btls; ++i) {
        mca_btl_base_module_t *btl = fsbml_rails.btls[i];
        if (NULL != btl->btl_register_error) {
            const bool is_ours = NULL != cbfunc && fsbml_rail_of(btl) >= 0;
            int rc = btl->btl_register_error(btl, is_ours ? error_trampoline : cbfunc);
            if (OMPI_SUCCESS != rc) {
                return rc;
            }
        }
    }
    return OMPI_SUCCESS;
}
