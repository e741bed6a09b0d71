/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Puts that go to a rail past the pseudo BTL. A peer that has nothing to choose from asks for the bytes of a
 * long message as it would without FSBML, by puts, and one-sided communication may use a rail's BTL itself.
 * The rail was not chosen, but its time is taken, so it is charged: else messages to others would go where
 * these are (thesis 4.3.3.2). */

#include "bml_fsbml.h"

static mca_btl_base_module_put_fn_t real_put[FSBML_MAX_RAILS];

static int charged_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       void *local_address, uint64_t remote_address,
                       mca_btl_base_registration_handle_t *local_handle,
                       mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                       mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata)
{
    const uint32_t module = (uint32_t) fsbml_rail_of(btl);
    const int rc = real_put[module](btl, endpoint, local_address, remote_address, local_handle, remote_handle,
                                    size, flags, order, cbfunc, cbcontext, cbdata);
    if (OPAL_LIKELY(rc >= 0)) {
        const mca_bml_fsbml_endpoint_t *ep = fsbml_onesided_endpoint(endpoint);
        fsbml_observe_put(fsbml_pairing_rail_of(module, endpoint), fsbml_now_ns(), size,
                          NULL != ep ? ep->proc->super.proc_name.vpid : FSBML_NO_PEER);
    }
    return rc;
}

void fsbml_put_watch(void)
{
    for (uint32_t r = 0; r < mca_bml_fsbml.n_rails; ++r) {
        const mca_bml_fsbml_rail_t *rail = &mca_bml_fsbml.rail[r];
        /* Where the PML puts over the pseudo BTL, that charges. */
        if (NULL != rail->btl->btl_put && 0 == (rail->group->rdma_rails & fsbml_bit(r))) {
            real_put[r] = rail->btl->btl_put;
            rail->btl->btl_put = charged_put;
        }
    }
}

void fsbml_put_unwatch(void)
{
    for (uint32_t r = 0; r < mca_bml_fsbml.n_rails; ++r) {
        if (charged_put == mca_bml_fsbml.rail[r].btl->btl_put) {
            mca_bml_fsbml.rail[r].btl->btl_put = real_put[r];
        }
    }
}
