/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fake BTLs that tell their interfaces' names.
 */
#ifndef FSBML_TESTS_FAKE_NAMES_H
#define FSBML_TESTS_FAKE_NAMES_H

#include "fake_pml.h"
#include "opal/mca/base/mca_base_var.h"

static inline fsbml_rail_about_t about_of(const char *interface, const char *address, const char *network)
{
    fsbml_rail_about_t about;
    fsbml_about_interface("", &about);
    snprintf(about.interface, sizeof(about.interface), "%s", interface);
    snprintf(about.address, sizeof(about.address), "%s", address);
    snprintf(about.network, sizeof(about.network), "%s", network);
    snprintf(about.device, sizeof(about.device), "%s", interface);
    return about;
}

static mca_btl_base_component_t net = {.btl_version = {MCA_BTL_DEFAULT_VERSION("net")}};

/* As tcp does, and openib: a variable whose name ends in the interface, and whose storage is the module's. */
static inline void name_fake(int i, const char *name)
{
    char variable[64];
    fake_construct(&fake[i], 4096, 65536, 10);
    fake[i].super.btl_component = &net;
    snprintf(variable, sizeof(variable), "bandwidth_%s", name);
    CHECK(0 <= mca_base_var_register("opal", "btl", "net", variable, "", MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL,
                                     0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY,
                                     &fake[i].super.btl_bandwidth));
}

static inline void forget_names(int n, const char *const names[])
{
    char variable[64];
    for (int i = 0; i < n; ++i) {
        snprintf(variable, sizeof(variable), "bandwidth_%s", names[i]);
        (void) mca_base_var_deregister(mca_base_var_find("opal", "btl", "net", variable));
    }
}

#endif /* FSBML_TESTS_FAKE_NAMES_H */
