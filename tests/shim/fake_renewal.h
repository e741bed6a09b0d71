/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * For tests that replace what is known of tcp's connections: none of these is made anew.
 */
#ifndef FSBML_TESTS_FAKE_RENEWAL_H
#define FSBML_TESTS_FAKE_RENEWAL_H

#include "compat/compat.h"

bool fsbml_socket_ends(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint,
                       fsbml_socket_ends_t *ends)
{
    (void) btl;
    (void) endpoint;
    (void) ends;
    return false;
}

void fsbml_socket_end(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) btl;
    (void) endpoint;
}

bool fsbml_socket_is_closed(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) btl;
    (void) endpoint;
    return false;
}

bool fsbml_socket_renew(const mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint)
{
    (void) btl;
    (void) endpoint;
    return false;
}

#endif /* FSBML_TESTS_FAKE_RENEWAL_H */
