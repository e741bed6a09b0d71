/* Bytes that FSBML keeps for each peer, from the shim's own types.
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026      The FSBML developers. All rights reserved. */
#include "peers/peers.h"

#include <stdio.h>

int main(void)
{
    printf("a peer: %zu bytes and %zu for each path (%zu with two rails), beside Open MPI's own endpoint\n",
           sizeof(mca_bml_fsbml_endpoint_t), sizeof(mca_bml_fsbml_path_t),
           sizeof(mca_bml_fsbml_endpoint_t) + 2 * sizeof(mca_bml_fsbml_path_t));
    printf("a rail: %zu bytes in the shim, and the scheduler's cache line\n", sizeof(mca_bml_fsbml_rail_t));
    return 0;
}
