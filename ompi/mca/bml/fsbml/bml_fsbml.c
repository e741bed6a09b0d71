/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The BML module: Open MPI's interface to add and remove processes and BTLs. */

#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/class/opal_bitmap.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

/* ------------------------------------------------------- progress functions */

static void use_btl(mca_btl_base_module_t *btl, bool in_use)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    mca_btl_base_component_progress_fn_t fn = btl->btl_component->btl_progress;
    bool known = false;
    if (NULL == fn) {
        return;
    }
    for (size_t i = 0; i < m->n_progress && !known; ++i) {
        known = fn == m->progress[i];
    }
    if (!known) {
        m->progress[m->n_progress++] = fn;
    }
    if (in_use) {
        opal_progress_register(fn); /* also lifts it from low priority */
    } else if (!known) {
        opal_progress_register_lp(fn);
    }
}

static void stop_progress(const mca_btl_base_module_t *btl)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    for (size_t i = 0; i < m->n_progress; ++i) {
        if (NULL != btl->btl_component->btl_progress && btl->btl_component->btl_progress == m->progress[i]) {
            opal_progress_unregister(m->progress[i]);
            m->progress[i] = m->progress[--m->n_progress];
            return;
        }
    }
}

/* ------------------------------------------------------------------- peers */

static int unreachable(ompi_proc_t *proc)
{
    if (mca_bml_fsbml_params.show_unreach_errors) {
        char *peer = fsbml_proc_host(proc);
        char names[512] = "";
        for (size_t i = 0; i < mca_bml_fsbml.n_btls; ++i) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? " " : "",
                     mca_bml_fsbml.btls[i]->btl_component->btl_version.mca_component_name);
        }
        opal_show_help(FSBML_HELP, "unreachable peer", true, OMPI_NAME_PRINT(&ompi_proc_local_proc->super.proc_name),
                       fsbml_node_name(), OMPI_NAME_PRINT(&proc->super.proc_name), peer, names);
        free(peer);
    }
    return OMPI_ERR_UNREACH;
}

/* What a BTL can really do: its flags, less what it lacks a function for. */
static uint32_t honest_flags(const mca_btl_base_module_t *btl)
{
    uint32_t flags = btl->btl_flags;
    if (NULL == btl->btl_put) {
        flags &= ~(uint32_t) MCA_BTL_FLAGS_PUT;
    }
    if (NULL == btl->btl_get) {
        flags &= ~(uint32_t) MCA_BTL_FLAGS_GET;
    }
    if (0 == (flags & (MCA_BTL_FLAGS_PUT | MCA_BTL_FLAGS_GET | MCA_BTL_FLAGS_SEND))) {
        flags |= MCA_BTL_FLAGS_SEND;
    }
    return flags;
}

/* Whether a BTL that reaches a peer has a use there, given the entries so far (by falling exclusivity). */
static bool is_useful(const mca_bml_base_btl_t *entry, size_t n, const mca_btl_base_module_t *btl, uint32_t flags)
{
    const uint32_t full = MCA_BTL_FLAGS_RDMA | MCA_BTL_FLAGS_ATOMIC_FOPS;
    if (flags & MCA_BTL_FLAGS_SEND) {
        bool outranked = false;
        for (size_t i = 0; i < n && !outranked; ++i) {
            outranked = (entry[i].btl_flags & MCA_BTL_FLAGS_SEND)
                        && entry[i].btl->btl_exclusivity > btl->btl_exclusivity;
        }
        if (!outranked) {
            return true;
        }
    }
    return full == (flags & full);
}

static mca_bml_base_endpoint_t *make_endpoint(ompi_proc_t *proc, const mca_bml_base_btl_t *entry, size_t n)
{
    mca_bml_base_endpoint_t *ep = OBJ_NEW(mca_bml_base_endpoint_t);
    if (NULL == ep) {
        return NULL;
    }
    ep->btl_max_send_size = SIZE_MAX;
    ep->btl_proc = proc;
    ep->btl_flags_or = 0;
    ep->btl_rdma_index = 0;
    if (OMPI_SUCCESS != fsbml_endpoint_build(proc, ep, entry, n)) {
        fsbml_endpoint_release(ep);
        OBJ_RELEASE(ep);
        return NULL;
    }
    return ep;
}

/* Adds processes that have no endpoint yet. `reachable` is scratch space for the BTLs. */
static int add_new(size_t n, ompi_proc_t **procs, opal_bitmap_t *reachable)
{
    const size_t stride = mca_bml_fsbml.n_btls;
    mca_bml_base_btl_t *entry = calloc(n * stride + 1, sizeof(*entry));
    size_t *count = calloc(n, sizeof(*count));
    struct mca_btl_base_endpoint_t **endpoints = calloc(n, sizeof(*endpoints));
    int rc = OMPI_SUCCESS;

    uint64_t *refused = calloc(n, sizeof(*refused));

    if (NULL == entry || NULL == count || NULL == endpoints || NULL == refused) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
        goto out;
    }
    /* The modex of 5.0 does not keep the lives of different processes apart: addresses may still be of an earlier one. */
    for (size_t p = 0; p < n; ++p) {
        if (procs[p] != ompi_proc_local_proc) {
            if (mca_bml_fsbml.epoch > 1) {
                fsbml_hello_refresh(&procs[p]->super.proc_name);
            }
            refused[p] = fsbml_hello_refusals(&procs[p]->super.proc_name);
        }
    }
    for (size_t b = 0; b < stride; ++b) {
        mca_btl_base_module_t *btl = mca_bml_fsbml.btls[b];
        uint32_t flags = honest_flags(btl);
        bool in_use = false;
        memset(endpoints, 0, n * sizeof(*endpoints));
        if (NULL != reachable) {
            opal_bitmap_clear_all_bits(reachable);
        }
        if (OPAL_SUCCESS != btl->btl_add_procs(btl, n, (opal_proc_t **) procs, endpoints, reachable)) {
            continue; /* another may do */
        }
        for (size_t p = 0; p < n; ++p) {
            if (NULL == endpoints[p] || (NULL != reachable && !opal_bitmap_is_set_bit(reachable, (int) p))) {
                continue;
            }
            mca_bml_base_btl_t *mine = &entry[p * stride];
            if ((b < 64 && (refused[p] >> b & 1)) || !is_useful(mine, count[p], btl, flags)) {
                btl->btl_del_procs(btl, 1, (opal_proc_t **) &procs[p], &endpoints[p]);
                continue;
            }
            mine[count[p]].btl = btl;
            mine[count[p]].btl_endpoint = endpoints[p];
            mine[count[p]].btl_flags = flags;
            count[p]++;
            in_use = true;
        }
        if (in_use || NULL != reachable) {
            use_btl(btl, in_use);
        }
    }
    for (size_t p = 0; p < n; ++p) {
        if (0 == count[p]) {
            rc = (OMPI_SUCCESS == rc) ? unreachable(procs[p]) : rc;
            continue;
        }
        mca_bml_base_endpoint_t *ep = make_endpoint(procs[p], &entry[p * stride], count[p]);
        if (NULL == ep) {
            rc = OMPI_ERR_OUT_OF_RESOURCE;
            continue;
        }
        OBJ_RETAIN(procs[p]);
        opal_atomic_wmb(); /* others look for the pointer without a lock */
        procs[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML] = ep;
        mca_bml_fsbml_endpoint_t *mine = fsbml_endpoint_of(ep);
        if (NULL != mine) {
            fsbml_proof_start(mine);
            if (mine->n_paths > 1) {
                fsbml_table_want();
            }
        }
    }
out:
    free(refused);
    free(endpoints);
    free(count);
    free(entry);
    return rc;
}

static int add_proc(struct ompi_proc_t *proc)
{
    if (NULL == proc) {
        return OMPI_ERR_BAD_PARAM;
    }
    return NULL == proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML] ? add_new(1, &proc, NULL) : OMPI_SUCCESS;
}

static int add_procs(size_t nprocs, struct ompi_proc_t **procs, struct opal_bitmap_t *reachable)
{
    ompi_proc_t **fresh = calloc(nprocs > 0 ? nprocs : 1, sizeof(*fresh));
    size_t n = 0;
    if (NULL == fresh) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (!mca_bml_fsbml.calibrated) {
        fsbml_calibrate_prepare();
    }
    for (size_t p = 0; p < nprocs; ++p) {
        if (NULL == procs[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML]) {
            fresh[n++] = procs[p];
        }
    }
    int rc = n > 0 ? add_new(n, fresh, reachable) : OMPI_SUCCESS;
    free(fresh);
    return rc;
}

static int del_procs(size_t nprocs, struct ompi_proc_t **procs)
{
    for (size_t p = 0; p < nprocs; ++p) {
        ompi_proc_t *proc = procs[p];
        mca_bml_base_endpoint_t *bml_ep = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
        mca_bml_base_btl_t gone[2 * FSBML_MAX_RAILS + 2];
        size_t n = 0;
        if (NULL == bml_ep) {
            continue;
        }
        mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
        if (NULL != ep) {
            fsbml_proof_forget(ep);
            for (uint32_t i = 0; i < ep->n_paths; ++i) {
                gone[n++] = ep->path[i].super;
            }
        }
        /* the real BTLs of the plain and the rdma list, each once */
        mca_bml_base_btl_array_t *array[2] = {&bml_ep->btl_send, &bml_ep->btl_rdma};
        for (int a = NULL != ep ? 1 : 0; a < 2; ++a) {
            for (size_t i = 0; i < mca_bml_base_btl_array_get_size(array[a]); ++i) {
                const mca_bml_base_btl_t *e = mca_bml_base_btl_array_get_index(array[a], i);
                bool known = false;
                for (size_t k = 0; k < n && !known; ++k) {
                    known = gone[k].btl == e->btl;
                }
                if (!known && n < sizeof(gone) / sizeof(gone[0])) {
                    gone[n++] = *e;
                }
            }
        }
        for (size_t k = 0; k < n; ++k) {
            int rc = gone[k].btl->btl_del_procs(gone[k].btl, 1, (opal_proc_t **) &proc, &gone[k].btl_endpoint);
            if (OPAL_SUCCESS != rc) {
                return rc;
            }
        }
        proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML] = NULL;
        fsbml_endpoint_release(bml_ep);
        OBJ_RELEASE(proc);
        OBJ_RELEASE(bml_ep);
    }
    return OMPI_SUCCESS;
}

/* -------------------------------------------------------------------- BTLs */

static int del_proc_btl(struct ompi_proc_t *proc, struct mca_btl_base_module_t *btl)
{
    mca_bml_base_endpoint_t *bml_ep = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    if (NULL == bml_ep) {
        return OMPI_SUCCESS;
    }
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
    int rail = fsbml_rail_of(btl);
    if (NULL != ep && rail >= 0) {
        fsbml_endpoint_remove_path(ep, (uint32_t) rail);
        fsbml_proof_release_held(ep);
    }
    mca_bml_base_btl_array_remove(&bml_ep->btl_eager, btl);
    mca_bml_base_btl_array_remove(&bml_ep->btl_send, btl);
    mca_bml_base_btl_array_remove(&bml_ep->btl_rdma, btl);
    return OMPI_SUCCESS;
}

/* Does one thing for all processes that Open MPI knows. */
static void for_all_procs(void (*fn)(ompi_proc_t *, mca_btl_base_module_t *), mca_btl_base_module_t *btl)
{
    size_t n = 0;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        fn(procs[p], btl);
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
}

static void forget_btl(ompi_proc_t *proc, mca_btl_base_module_t *btl)
{
    (void) del_proc_btl(proc, btl);
}

static int del_btl(struct mca_btl_base_module_t *btl)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    size_t at = 0;
    while (at < m->n_btls && m->btls[at] != btl) {
        ++at;
    }
    if (at == m->n_btls) {
        return OMPI_SUCCESS;
    }
    if (1 == m->n_btls) {
        opal_show_help(FSBML_HELP, "last btl", true, btl->btl_component->btl_version.mca_component_name,
                       fsbml_node_name());
        return OMPI_ERR_NOT_AVAILABLE;
    }
    bool shared = false;
    for (size_t i = 0; i < m->n_btls; ++i) {
        shared = shared || (i != at && m->btls[i]->btl_component == btl->btl_component);
    }
    if (!shared) {
        stop_progress(btl); /* a component has one progress function for all of its modules */
    }
    for_all_procs(forget_btl, btl);
    memmove(&m->btls[at], &m->btls[at + 1], (m->n_btls - at - 1) * sizeof(m->btls[0]));
    memmove(&m->btl_key[at], &m->btl_key[at + 1], (m->n_keys - at - 1) * sizeof(m->btl_key[0]));
    m->n_btls--;
    m->n_keys--;
    return OMPI_SUCCESS;
}

/* Brings a rail back to a peer: the path is there since the peer was added, or is made now; it must be proved again. */
static void revive_btl(ompi_proc_t *proc, mca_btl_base_module_t *btl)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(proc);
    int rail = fsbml_rail_of(btl);
    if (NULL == ep || rail < 0 || mca_bml_fsbml.rail[rail].group != ep->group) {
        return;
    }
    mca_bml_fsbml_path_t *path = NULL;
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (ep->path[i].super.btl == btl) {
            path = &ep->path[i];
        }
    }
    if (NULL == path) {
        mca_bml_base_btl_t entry = {.btl = btl, .btl_flags = honest_flags(btl)};
        if (OPAL_SUCCESS != btl->btl_add_procs(btl, 1, (opal_proc_t **) &proc, &entry.btl_endpoint, NULL)
            || NULL == entry.btl_endpoint || OMPI_SUCCESS != fsbml_endpoint_add_path(ep, &entry)) {
            return;
        }
        path = &ep->path[ep->n_paths - 1];
    }
    fsbml_proof_start_path(ep, path);
}

static int add_btl(struct mca_btl_base_module_t *btl)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    for (size_t i = 0; i < m->n_btls; ++i) {
        if (m->btls[i] == btl) {
            return OMPI_SUCCESS;
        }
    }
    /* Which BTLs can share a peer is settled when MPI starts; one that was a rail then can come back. */
    const int rail = fsbml_rail_of(btl);
    if (rail < 0) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    size_t at = 0;
    while (at < m->n_btls && m->btls[at]->btl_exclusivity >= btl->btl_exclusivity) {
        ++at;
    }
    memmove(&m->btls[at + 1], &m->btls[at], (m->n_btls - at) * sizeof(m->btls[0]));
    memmove(&m->btl_key[at + 1], &m->btl_key[at], (m->n_keys - at) * sizeof(m->btl_key[0]));
    m->btls[at] = btl;
    memcpy(m->btl_key[at], m->rail[rail].key, sizeof(m->btl_key[at]));
    m->n_btls++;
    m->n_keys++;
    use_btl(btl, true);
    for_all_procs(revive_btl, btl);
    return OMPI_SUCCESS;
}

/* ------------------------------------------------------ callbacks and the end */

static int register_recv(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data)
{
    return fsbml_recv_register(tag, cbfunc, data);
}

/* The PML registers its error handler last: now every receive callback is in place, so that a message which overtakes
 * the measurement finds its owner. */
static int register_error(mca_btl_base_module_error_cb_fn_t cbfunc)
{
    int rc = fsbml_recv_register_error(cbfunc);
    if (OMPI_SUCCESS == rc && !mca_bml_fsbml.calibrated) {
        fsbml_calibrate();
        mca_bml_fsbml.calibrated = true;
    }
    return rc;
}

static int finalize(void)
{
    mca_bml_fsbml_module_t *m = &mca_bml_fsbml;
    fsbml_proof_fini();
    while (m->n_progress > 0) {
        opal_progress_unregister(m->progress[--m->n_progress]);
    }
    /* Peers that the PML did not delete keep their endpoints in ompi_proc_t: take FSBML's part out of them. */
    size_t n = 0;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        mca_bml_base_endpoint_t *ep = procs[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
        if (NULL != ep && NULL != fsbml_endpoint_of(ep)) {
            fsbml_endpoint_release(ep);
            mca_bml_base_btl_array_set_size(&ep->btl_eager, 0);
            mca_bml_base_btl_array_set_size(&ep->btl_send, 0);
        }
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
    fsbml_rails_teardown();
    return OMPI_SUCCESS;
}

#ifdef FSBML_OMPI_4
static int ft_event(int state)
{
    (void) state; /* no checkpoint support: nothing to save or restore */
    return OMPI_SUCCESS;
}
#endif

mca_bml_fsbml_module_t mca_bml_fsbml;

void fsbml_module_construct(void)
{
    uint32_t epoch = mca_bml_fsbml.epoch + 1;
    memset(&mca_bml_fsbml, 0, sizeof(mca_bml_fsbml));
    mca_bml_fsbml.epoch = epoch;
    mca_bml_fsbml.super = (mca_bml_base_module_t){
        .bml_component = &mca_bml_fsbml_component,
        .bml_add_proc = add_proc,
        .bml_add_procs = add_procs,
        .bml_del_procs = del_procs,
        .bml_add_btl = add_btl,
        .bml_del_btl = del_btl,
        .bml_del_proc_btl = del_proc_btl,
        .bml_register = register_recv,
        .bml_register_error = register_error,
        .bml_finalize = finalize,
#ifdef FSBML_OMPI_4
        .bml_ft_event = ft_event,
#endif
    };
}
