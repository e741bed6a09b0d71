/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers' hellos, and peers without FSBML, which have none, on fake BTLs. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

/* A process that does not run FSBML is never probed and gets one rail. */
FAKE_TEST(a_peer_without_fsbml_gets_one_rail)
{
    fakes_up(2);
    peer_has_fsbml = false;
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    CHECK(0 == fake[0].n_queue + fake[1].n_queue);
    for (int i = 0; i < 20; ++i) {
        CHECK(0 <= pml_send(bml_btl, 4000, TAG));
    }
    CHECK(20 == fake[0].n_sent + fake[1].n_sent && (0 == fake[0].n_sent || 0 == fake[1].n_sent));
    for (int i = 0; i < 20; ++i) {
        fake_complete(fake[0].n_sent > 0 ? &fake[0] : &fake[1], OPAL_SUCCESS);
    }
    world_down(2);
}

static size_t address_of_a_btl(const ompi_process_name_t *from, const char *key, void **data)
{
    (void) from;
    if (NULL == strstr(key, "btl")) {
        return 0;
    }
    *data = calloc(1, 16);
    return 16;
}

/* Its hello is not waited for, which takes the run-time 10 s each: a process that has published a BTL's
 * address has published all. */
FAKE_TEST(a_hello_that_never_comes_is_not_waited_for)
{
    fakes_up(2);
    fsbml_life = 1;
    peer_has_fsbml = false;
    other_value = address_of_a_btl;
    n_vain = 0;
    (void) peer_up();
    CHECK(0 == n_vain);
    other_value = NULL;
    world_down(2);
}

/* What a new peer's parts ask of it is fetched from the run-time once, and anew in the next job. */
FAKE_TEST(a_hello_is_fetched_once)
{
    for (int job = 1; job <= 2; ++job) {
        fakes_up(2);
        n_hellos = 0;
        (void) peer_up();
        CHECK(1 == n_hellos);
        world_down(2);
    }
}
