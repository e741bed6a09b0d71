/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Some live rails to one peer, and what they have been given.
 */
#ifndef FSBML_TESTS_FAKE_REFUSAL_H
#define FSBML_TESTS_FAKE_REFUSAL_H

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static char header[16] = "header", payload[100] = "payload";
static opal_datatype_t type;
static opal_convertor_t convertor;

/* n rails to one peer, all live; rail 0 is the best and stays so. */
static inline mca_bml_base_btl_t *up(int n)
{
    fakes_up(n);
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    all_answer(n);
    convertor = fake_convertor(payload, sizeof(payload), &type);
    return bml_btl;
}

static inline bool charged(uint32_t rail, uint64_t messages, uint64_t bytes)
{
    fsbml_rail_counters_t c;
    fsbml_sched_counters(fsbml_rails.sched, rail, &c);
    return c.messages == messages && c.bytes == bytes;
}

/* Returns how many the rails had; each is the PML's to hear of once. */
static inline int complete_all(int n)
{
    int completed = 0;
    for (int i = 0; i < n; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
            ++completed;
        }
    }
    CHECK(completed == done.n && OPAL_SUCCESS == done.status);
    return completed;
}

static inline int sendi(mca_bml_base_btl_t *bml_btl, mca_btl_base_descriptor_t **des)
{
    return mca_bml_base_sendi(bml_btl, &convertor, header, sizeof(header), sizeof(payload), MCA_BTL_NO_ORDER,
                              0, TAG, des);
}

#endif
