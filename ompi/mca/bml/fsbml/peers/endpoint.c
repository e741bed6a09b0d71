/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: FSBML's endpoint behind the PML's entries, and its paths. */

#include "peers/hooks.h"

mca_bml_fsbml_endpoint_t *fsbml_endpoint_of(mca_bml_base_endpoint_t *bml_ep)
{
    const mca_bml_base_btl_t *e =
        NULL != bml_ep ? mca_bml_base_btl_array_get_index(&bml_ep->btl_send, 0) : NULL;
    for (uint32_t g = 0; NULL != e && g < fsbml_rails.n_groups; ++g) {
        if (e->btl == &fsbml_rails.group[g]->pseudo) {
            return (mca_bml_fsbml_endpoint_t *) e->btl_endpoint;
        }
    }
    return NULL;
}

mca_bml_fsbml_endpoint_t *fsbml_endpoint_of_proc(ompi_proc_t *proc)
{
    return fsbml_endpoint_of((mca_bml_base_endpoint_t *) proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML]);
}

const mca_bml_base_btl_t *fsbml_endpoint_entry(mca_bml_base_endpoint_t *bml_ep,
                                               const mca_btl_base_module_t *btl)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
    if (NULL != ep) {
        const mca_bml_fsbml_path_t *path = fsbml_path_over(ep, btl);
        return NULL != path ? &path->super : NULL;
    }
    for (size_t i = 0; i < mca_bml_base_btl_array_get_size(&bml_ep->btl_send); ++i) {
        const mca_bml_base_btl_t *e = mca_bml_base_btl_array_get_index(&bml_ep->btl_send, i);
        if (e->btl == btl) {
            return e;
        }
    }
    return NULL;
}

/* The caller has ep->lock: others read what is there already, up to n_paths, without it. */
static int add_path(mca_bml_fsbml_endpoint_t *ep, const mca_bml_base_btl_t *entry, uint32_t rail)
{
    const int module = fsbml_rail_of(entry->btl);
    if (module < 0 || ep->n_paths == ep->capacity || fsbml_rails.rail[module].group != ep->group) {
        return OMPI_ERR_BAD_PARAM;
    }
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (ep->path[i].rail == rail) {
            return OMPI_ERR_BAD_PARAM; /* a rail has one path to a peer */
        }
    }
    mca_bml_fsbml_path_t *path = &ep->path[ep->n_paths];
    path->super = *entry;
    path->rail = rail;
    path->module = (uint32_t) module;
    path->reported = 0;
    if (OMPI_SUCCESS != fsbml_peers_path_known(ep, path)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ep->slot[rail] = (uint8_t) ep->n_paths;
    ep->module_slot[module] = (uint8_t) ep->n_paths;
    ep->n_paths++;
    atomic_fetch_or(&ep->possible, fsbml_bit(rail));
    return OMPI_SUCCESS;
}

int fsbml_endpoint_add_path(mca_bml_fsbml_endpoint_t *ep, const mca_bml_base_btl_t *entry, uint32_t rail)
{
    opal_mutex_lock(&ep->lock);
    const int rc = add_path(ep, entry, rail);
    opal_mutex_unlock(&ep->lock);
    return rc;
}

void fsbml_endpoint_remove_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rail)
{
    /* The path itself stays: descriptors that it made are still to be sent or freed by its BTL. */
    atomic_fetch_and(&ep->live, ~fsbml_bit(rail));
    atomic_fetch_and(&ep->asleep, ~fsbml_bit(rail));
    atomic_fetch_and(&ep->possible, ~fsbml_bit(rail));
}

bool fsbml_endpoint_spare_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rail)
{
    uint32_t live = atomic_load(&ep->live);
    do {
        if (0 == (live & ~fsbml_bit(rail))) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&ep->live, &live, live & ~fsbml_bit(rail)));
    fsbml_endpoint_remove_path(ep, rail);
    return true;
}

uint32_t fsbml_peers_without(uint32_t rail)
{
    size_t n = 0;
    uint32_t without = 0;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(procs[p]);
        for (uint32_t i = 0; NULL != ep && i < ep->n_paths; ++i) {
            without += ep->path[i].rail == rail && 0 == (atomic_load(&ep->possible) & fsbml_bit(rail));
        }
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
    return without;
}

/* --------------------------------------------------------- what compat/ asks */

/* What the work-arounds for tcp (compat/pairing.c, compat/goodbye.c) know of rails and peers. */

static bool tcp_rail(uint32_t r, fsbml_tcp_rail_t *is)
{
    if (r >= fsbml_rails.n_rails) {
        return false;
    }
    const mca_bml_fsbml_rail_t *of = &fsbml_rails.rail[r];
    *is = (fsbml_tcp_rail_t){.btl = of->btl, .name = of->name};
    return true;
}

static bool is_in_use(const mca_btl_base_module_t *btl)
{
    bool is = false;
    for (size_t b = 0; b < fsbml_rails.n_btls && !is; ++b) {
        is = fsbml_rails.btls[b] == btl;
    }
    return is;
}

static const mca_bml_base_btl_t *closed_path(ompi_proc_t *proc, size_t i)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(proc);
    const uint32_t possible = NULL != ep ? atomic_load(&ep->possible) : 0;
    for (uint32_t k = 0; NULL != ep && k < ep->n_paths; ++k) {
        if (0 == (possible & fsbml_bit(ep->path[k].rail)) && 0 == i--) {
            return &ep->path[k].super;
        }
    }
    return NULL;
}

const fsbml_tcp_view_t fsbml_peers_tcp = {.rail = tcp_rail,
                                          .rail_of = fsbml_rail_of,
                                          .in_use = is_in_use,
                                          .closed = closed_path,
                                          .hello = fsbml_hello_fetch};
