/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks for an Open MPI as it is: see peers/hooks.h. */

#include "peers/hooks.h"

const char fsbml_hooks_name[] = "stock";

mca_bml_fsbml_endpoint_t *fsbml_hooks_place(mca_bml_base_endpoint_t *ep, size_t bytes)
{
    if (OMPI_SUCCESS != mca_bml_base_btl_array_reserve(&ep->btl_eager, 1)
        || OMPI_SUCCESS != mca_bml_base_btl_array_reserve(&ep->btl_send, 1)) {
        return NULL;
    }
    mca_bml_fsbml_endpoint_t *place = calloc(1, bytes);
    if (NULL != place) {
        (void) mca_bml_base_btl_array_insert(&ep->btl_eager);
        (void) mca_bml_base_btl_array_insert(&ep->btl_send);
    }
    return place;
}

void fsbml_hooks_unplace(mca_bml_fsbml_endpoint_t *ep)
{
    free(ep);
}
