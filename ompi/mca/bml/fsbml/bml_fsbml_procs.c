/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes come and go: which BTLs reach a peer, and what the PML gets for them. */

#include <errno.h>
#include <stdio.h>

#include "bml_fsbml.h"
#include "measure/measure.h"

#include "opal/class/opal_bitmap.h"
#include "opal/util/show_help.h"

static int report_unreachable(ompi_proc_t *proc)
{
    if (mca_bml_fsbml_params.show_unreach_errors) {
        char *peer = fsbml_proc_host(proc);
        char names[512] = "";
        for (size_t i = 0; i < fsbml_rails.n_btls; ++i) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? " " : "",
                     fsbml_rails.btls[i]->btl_component->btl_version.mca_component_name);
        }
        opal_show_help(FSBML_HELP, "unreachable peer", true,
                       OMPI_NAME_PRINT(&ompi_proc_local_proc->super.proc_name), fsbml_node_name(),
                       OMPI_NAME_PRINT(&proc->super.proc_name), peer, names);
        free(peer);
    }
    return OMPI_ERR_UNREACH;
}

/* Shared memory has no rivals of its level, unless it is a rail itself. */
static bool is_alone(const mca_btl_base_module_t *btl)
{
    return fsbml_rails_is_shared_memory(btl) && fsbml_rail_of(btl) < 0;
}

/* Whether a BTL that reaches a peer has a use there, given the entries so far (by falling exclusivity). */
static bool is_useful(const mca_bml_base_btl_t *entry, size_t n, const mca_btl_base_module_t *btl,
                      uint32_t flags)
{
    const uint32_t full = MCA_BTL_FLAGS_RDMA | MCA_BTL_FLAGS_ATOMIC_FOPS;
    if (flags & MCA_BTL_FLAGS_SEND) {
        bool outranked = false;
        for (size_t i = 0; i < n && !outranked; ++i) {
            outranked = (entry[i].btl_flags & MCA_BTL_FLAGS_SEND)
                        && (entry[i].btl->btl_exclusivity > btl->btl_exclusivity
                            || (is_alone(entry[i].btl) && !is_alone(btl)));
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
    if (OMPI_SUCCESS != fsbml_lists_build(proc, ep, entry, n)) {
        fsbml_endpoint_release(ep);
        OBJ_RELEASE(ep);
        return NULL;
    }
    return ep;
}

/* Adds processes that have no endpoint yet. `reachable` is scratch space for the BTLs. */
static int add_new(size_t n, ompi_proc_t **procs, opal_bitmap_t *reachable)
{
    const size_t stride = fsbml_rails.n_btls;
    mca_bml_base_btl_t *entry = calloc(n * stride + 1, sizeof(*entry));
    size_t *count = calloc(n, sizeof(*count));
    struct mca_btl_base_endpoint_t **endpoints = calloc(n, sizeof(*endpoints));
    int rc = OMPI_SUCCESS;

    uint64_t *refused = calloc(n, sizeof(*refused));

    if (NULL == entry || NULL == count || NULL == endpoints || NULL == refused) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
        goto out;
    }
    /* The modex of 5.0 does not keep the lives of different processes apart: addresses may still be of an
     * earlier one. */
    for (size_t p = 0; p < n; ++p) {
        if (procs[p] != ompi_proc_local_proc) {
            if (fsbml_life > 1) {
                fsbml_hello_refresh(&procs[p]->super.proc_name);
            }
            refused[p] = fsbml_hello_refusals(&procs[p]->super.proc_name);
            fsbml_pairing_ask(procs[p]);
        }
    }
    for (size_t b = 0; b < stride; ++b) {
        mca_btl_base_module_t *btl = fsbml_rails.btls[b];
        uint32_t flags = fsbml_btl_flags(btl);
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
            fsbml_progress_start(btl, in_use);
        }
    }
    for (size_t p = 0; p < n; ++p) {
        fsbml_pairing_settle(procs[p]);
        if (0 == count[p]) {
            rc = (OMPI_SUCCESS == rc) ? report_unreachable(procs[p]) : rc;
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
            if (mine->n_paths > 1) { /* before a path is chosen, which may be the only one for long */
                fsbml_table_want(FSBML_TABLE_USED);
            }
            fsbml_ask_peer(mine);
        }
    }
out:
    free(refused);
    free(endpoints);
    free(count);
    free(entry);
    return rc;
}

int fsbml_add_proc(struct ompi_proc_t *proc)
{
    if (NULL == proc) {
        return OMPI_ERR_BAD_PARAM;
    }
    return NULL == proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML] ? add_new(1, &proc, NULL) : OMPI_SUCCESS;
}

int fsbml_add_procs(size_t nprocs, struct ompi_proc_t **procs, struct opal_bitmap_t *reachable)
{
    ompi_proc_t **fresh = calloc(nprocs > 0 ? nprocs : 1, sizeof(*fresh));
    size_t n = 0;
    if (NULL == fresh) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    fsbml_calibrate_prepare();
    for (size_t p = 0; p < nprocs; ++p) {
        if (NULL == procs[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML]) {
            fresh[n++] = procs[p];
        }
    }
    int rc = n > 0 ? add_new(n, fresh, reachable) : OMPI_SUCCESS;
    free(fresh);
    return rc;
}

static int del_proc(ompi_proc_t *proc)
{
    mca_bml_base_endpoint_t *bml_ep = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    mca_bml_base_btl_t gone[2 * FSBML_MAX_RAILS + 2];
    size_t n = 0;
    int rc = OMPI_SUCCESS;
    if (NULL == bml_ep) {
        return OMPI_SUCCESS;
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
            bool known = NULL != ep && e->btl == &ep->group->pseudo;
            for (size_t k = 0; k < n && !known; ++k) {
                known = gone[k].btl == e->btl;
            }
            if (!known && n < sizeof(gone) / sizeof(gone[0])) {
                gone[n++] = *e;
            }
        }
    }
    /* How its connections end is no error from now on. */
    proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML] = NULL;
    for (size_t k = 0; k < n; ++k) {
        const int one =
            gone[k].btl->btl_del_procs(gone[k].btl, 1, (opal_proc_t **) &proc, &gone[k].btl_endpoint);
        rc = OMPI_SUCCESS == rc ? one : rc;
    }
    fsbml_endpoint_release(bml_ep);
    OBJ_RELEASE(proc);
    OBJ_RELEASE(bml_ep);
    return rc;
}

int fsbml_del_procs(size_t nprocs, struct ompi_proc_t **procs)
{
    const fsbml_closing_t closing = fsbml_closing_begin();
    int rc = OMPI_SUCCESS;
    if (FSBML_TCP_SAYS_GOODBYE) {
        fsbml_goodbye_skip(nprocs, procs);
    }
    for (size_t p = 0; OMPI_SUCCESS == rc && p < nprocs; ++p) {
        rc = del_proc(procs[p]);
    }
    fsbml_closing_end(&closing);
    return rc;
}
