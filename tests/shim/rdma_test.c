/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get over all rails, on fake BTLs that register memory and copy it: every byte exactly once, with
 * the right registration of the right rail on both sides, charged where it went, and all rails done at the
 * same time. */

#include "fake_rdma.h"

enum { MOST = 4 << 20, GUARD = 64 };

/* ------------------------------------------------------------------- tests */

/* ob1 takes an RDMA entry only if the eager list has its endpoint, and looks it up by the BTL that a message
 * came by. */
FAKE_TEST(ob1_accepts_the_entry)
{
    mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_PUT | MCA_BTL_FLAGS_GET, true);
    mca_bml_base_btl_t *e = rdma_entry(ep), *eager = eager_of(ep);
    CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_rdma));
    CHECK(e->btl_endpoint == eager->btl_endpoint && e->btl == eager->btl && 1.0f == e->btl_weight);
    CHECK(e == mca_bml_base_btl_array_find(&ep->btl_rdma, fsbml_visible_btl(&fake[1].super)));
    CHECK((MCA_BTL_FLAGS_PUT | MCA_BTL_FLAGS_GET) == (e->btl_flags & MCA_BTL_FLAGS_RDMA));
    CHECK(NULL != e->btl->btl_put && NULL != e->btl->btl_get && NULL != e->btl->btl_register_mem);
    CHECK(ep->btl_send_limit == 1 << 20);
    down(2);
}

/* What auto, on and off mean; what one rail cannot, the group does not promise. */
FAKE_TEST(only_what_all_can)
{
    static const struct {
        fsbml_rdma_t mode;
        bool registers;
        uint32_t flags, expected;
        bool rests;
    } cases[] = {
        {FSBML_RDMA_AUTO, true, MCA_BTL_FLAGS_RDMA, MCA_BTL_FLAGS_RDMA, false},
        {FSBML_RDMA_AUTO, true, MCA_BTL_FLAGS_PUT, MCA_BTL_FLAGS_PUT, false},
        {FSBML_RDMA_AUTO, false, MCA_BTL_FLAGS_PUT, MCA_BTL_FLAGS_PUT, true},
        {FSBML_RDMA_ON, false, MCA_BTL_FLAGS_PUT, MCA_BTL_FLAGS_PUT, false},
        {FSBML_RDMA_OFF, true, MCA_BTL_FLAGS_RDMA, 0, false},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); ++c) {
        mca_bml_fsbml_params.rdma = cases[c].mode;
        mca_bml_base_endpoint_t *ep = up(2, cases[c].flags, cases[c].registers);
        mca_bml_base_btl_t *e = rdma_entry(ep);
        const bool pseudo = NULL != e && e->btl == eager_of(ep)->btl;
        CHECK(pseudo == (0 != cases[c].expected && !cases[c].rests));
        CHECK(!pseudo || cases[c].expected == (e->btl_flags & MCA_BTL_FLAGS_RDMA));
        CHECK(!pseudo || 1.0f == e->btl_weight);
        CHECK(!pseudo || 1u << (cases[c].registers ? 29 : 30) == e->btl->btl_rdma_pipeline_frag_size);
        CHECK(0 == cases[c].expected || cases[c].rests == (SIZE_MAX == ep->btl_send_limit));
        /* a real BTL's entry may be there, but never with the eager list's endpoint: ob1 would use it */
        CHECK(pseudo || NULL == e || e->btl_endpoint != expected_endpoint);
        down(2);
    }
    mca_bml_fsbml_params.rdma = FSBML_RDMA_AUTO;
}

/* Where a processor feeds one rail at a time, each of several processes uses one, the k-th process of the
 * node the k-th, and puts over it, in one piece; one alone does likewise if the others gain nothing, and else
 * uses both. */
FAKE_TEST(puts_rest_until_the_processor_is_the_limit)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    for (uint32_t rank = 0; rank < 5; ++rank) {
        const bool alone = rank >= 3, puts = 4 != rank;
        mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_PUT, false);
        mca_btl_base_module_t *pseudo = eager_of(ep)->btl;
        const size_t largest = pseudo->btl_max_send_size, cut = pseudo->btl_rdma_pipeline_frag_size;
        CHECK(NULL == mca_bml_base_btl_array_find(&ep->btl_rdma, pseudo));
        table->n_rails = 2;
        for (uint32_t i = 0; i < 2; ++i) {
            memcpy(table->rail[i].key, fsbml_rails.rail[i].key, sizeof(table->rail[i].key));
            table->rail[i].fit.valid = table->rail[i].fit.in_turn = true;
            table->rail[i].fit.together = puts ? 1.0 : 0.95;
            table->rail[i].fit.params =
                (fsbml_loggp_t){.L_ns = 2000, .o_s_ns = 3000, .o_r_ns = 900, .G_ns_per_byte = 0.2};
        }
        known_procs = 1;
        set_local(alone ? 0 : rank, alone ? 0 : 2);
        fsbml_table_apply(table);
        set_local(0, 0);
        known_procs = 0;
        const uint32_t own = alone ? 0 : rank % 2;
        CHECK(fsbml_rails.rail[own].measured && puts != fsbml_rails.rail[1 - own].measured);
        const mca_bml_base_btl_t *e = mca_bml_base_btl_array_find(&ep->btl_rdma, pseudo);
        CHECK(puts == (NULL != e));
        if (NULL != e) {
            CHECK(1.0f == e->btl_weight && 1 << 20 == ep->btl_send_limit);
            CHECK(e->btl_endpoint == expected_endpoint);
            CHECK(largest == pseudo->btl_max_send_size && cut == pseudo->btl_rdma_pipeline_frag_size);
        }
        down(2);
    }
    free(table);
}

/* Cuts a transfer as ob1 does, and lets the rails take the pieces. */
static int transfer(mca_bml_base_btl_t *e, bool put, char *local, char *remote, size_t size,
                    mca_btl_base_registration_handle_t *lh, mca_btl_base_registration_handle_t *rh)
{
    const size_t most = put ? e->btl->btl_rdma_pipeline_frag_size : e->btl->btl_get_limit;
    int pieces = 0;
    for (size_t at = 0; at < size;) {
        const size_t n = size - at < most ? size - at : most;
        CHECK(OMPI_SUCCESS
              == (put ? mca_bml_base_put(e, local + at, (uintptr_t) (remote + at), lh, rh, n, 0,
                                         MCA_BTL_NO_ORDER, pml_rdma_done, &told)
                      : mca_bml_base_get(e, local + at, (uintptr_t) (remote + at), lh, rh, n, 0,
                                         MCA_BTL_NO_ORDER, pml_rdma_done, &told)));
        if (n_pending > (int) (sizeof(pending) / sizeof(pending[0])) / 2) {
            complete_pending(OPAL_SUCCESS);
        }
        at += n;
        ++pieces;
    }
    return pieces;
}

/* Random rails, sizes, offsets, quanta, refusals, at one moment of virtual time. */
FAKE_TEST(every_byte_once)
{
    char *a = malloc(MOST + 2 * GUARD), *b = malloc(MOST + 2 * GUARD);
    uint64_t seed = 20261121;
    printf("every_byte_once: seed %llu\n", (unsigned long long) seed);
    times = malloc(MOST + 2 * GUARD);
    for (int round = 0; round < 120; ++round) {
        const int n = 2 + (int) (next_random(&seed) % 4);
        const bool put = next_random(&seed) & 1, registers = next_random(&seed) & 1;
        mca_bml_fsbml_params.rdma = FSBML_RDMA_ON;
        mca_bml_base_endpoint_t *ep = up(n, MCA_BTL_FLAGS_RDMA, registers);
        mca_bml_base_btl_t *e = rdma_entry(ep);
        mca_bml_fsbml_params.quantum = (size_t) 4096 << next_random(&seed) % 5;
        fsbml_limits_apply_quantum();
        for (int i = 0; i < n; ++i) {
            fake[i].chance = round % 3 == 0 ? 40 : 0;
            fake[i].random = next_random(&seed) | 1;
        }
        const size_t offset = next_random(&seed) % GUARD;
        const size_t size = 1 + next_random(&seed) % (1 + (next_random(&seed) % 2 ? MOST : 70000) - 2);
        for (size_t i = 0; i < offset + size; ++i) {
            a[i] = (char) (i * 7 + (i >> 8));
        }
        memset(b, 0, MOST + 2 * GUARD);
        memset(times, 0, MOST + 2 * GUARD);
        target = b;
        mca_btl_base_registration_handle_t *lh = NULL, *rh = NULL;
        if (registers) {
            lh = e->btl->btl_register_mem(e->btl, e->btl_endpoint, (put ? a : b) + offset, size, 0);
            rh = e->btl->btl_register_mem(e->btl, e->btl_endpoint, (put ? b : a) + offset, size, 0);
            CHECK(NULL != lh && NULL != rh);
        }
        expected_handle = lh;
        const int pieces = transfer(e, put, (put ? a : b) + offset, (put ? b : a) + offset, size, lh,
                                    registers ? as_sent(e, rh) : NULL);
        for (int k = 0; k < 1000 && told.n < pieces; ++k) { /* some may wait for a rail */
            complete_pending(OPAL_SUCCESS);
            pass_time(1);
        }
        complete_pending(OPAL_SUCCESS);
        size_t wrong = 0, moved = 0;
        for (size_t i = 0; i < MOST + 2 * GUARD; ++i) {
            const bool inside = i >= offset && i < offset + size;
            wrong += times[i] != inside || (inside && a[i] != b[i]);
        }
        CHECK(0 == wrong);
        CHECK(pieces == told.n && OPAL_SUCCESS == told.status);
        uint64_t first = UINT64_MAX, last = 0;
        for (int i = 0; i < n; ++i) {
            fsbml_rail_counters_t c;
            fsbml_sched_counters(fsbml_rails.sched, (size_t) i, &c);
            CHECK(c.bytes == rdma[i].bytes && (int) c.messages == rdma[i].operations);
            moved += rdma[i].bytes;
            const uint64_t busy = fsbml_sched_backlog(fsbml_rails.sched, (size_t) i, virtual_ns);
            first = busy < first ? busy : first;
            last = busy > last ? busy : last;
        }
        CHECK(moved == size);
        /* Equal finish: no rail is done earlier than another by more than a piece takes on the slowest (400
         * ns/byte). */
        const size_t piece = mca_bml_fsbml_params.quantum;
        CHECK(0 != fake[0].chance || last - first <= 400 * (piece + 64) + 10000);
        if (registers) {
            CHECK(OMPI_SUCCESS == e->btl->btl_deregister_mem(e->btl, lh));
            CHECK(OMPI_SUCCESS == e->btl->btl_deregister_mem(e->btl, rh));
        }
        mca_bml_fsbml_params.quantum = 0;
        down(n);
    }
    mca_bml_fsbml_params.rdma = FSBML_RDMA_AUTO;
    free(times);
    times = NULL;
    free(a);
    free(b);
}

static char mine[100000], theirs[100000];

/* A refused operation takes the next best rail and is charged there alone; an error of the last one is
 * ob1's. */
FAKE_TEST(refused_operations_go_on)
{
    mca_bml_fsbml_params.rdma = FSBML_RDMA_ON;
    mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_PUT, false);
    mca_bml_base_btl_t *e = rdma_entry(ep);
    expected_handle = NULL;
    rdma[0].refuses = true;
    CHECK(OMPI_SUCCESS
          == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 5000, 0, 0, pml_rdma_done, &told));
    CHECK(5000 == rdma[1].bytes && 0 == fsbml_sched_backlog(fsbml_rails.sched, 0, virtual_ns));
    rdma[1].refuses = true;
    /* ob1 loses what follows a piece that is refused, so none is: they wait, and go in their order */
    for (int k = 0; k < 3; ++k) {
        CHECK(OMPI_SUCCESS
              == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 1000u << k, 0, 0, pml_rdma_done,
                                  &told));
    }
    complete_pending(OPAL_ERROR); /* of the one before: there is no room yet */
    CHECK(1 == told.n && OPAL_ERROR == told.status);
    pass_time(1);
    CHECK(5000 == rdma[1].bytes);
    rdma[1].refuses = false;
    pass_time(1);
    CHECK(12000 == rdma[1].bytes);
    complete_pending(OPAL_SUCCESS);
    CHECK(4 == told.n && OPAL_SUCCESS == told.status);
    /* A completion makes room: what waits need not wait for time to pass. */
    CHECK(OMPI_SUCCESS
          == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 100, 0, 0, pml_rdma_done, &told));
    rdma[1].refuses = true;
    CHECK(OMPI_SUCCESS
          == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 200, 0, 0, pml_rdma_done, &told));
    rdma[1].refuses = false;
    complete_pending(OPAL_SUCCESS);
    CHECK(6 == told.n && 12300 == rdma[1].bytes);
    told.n = 1;
    rdma[0].refuses = rdma[1].refuses = false;
    rdma[0].completes_at_once = true; /* the BTL says 1 and does not call: the PML is called all the same */
    CHECK(OMPI_SUCCESS
          == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 100, 0, 0, pml_rdma_done, &told));
    CHECK(2 == told.n && OPAL_SUCCESS == told.status);
    down(2);
    mca_bml_fsbml_params.rdma = FSBML_RDMA_AUTO;
}

/* What ob1 sends behind a put (FIN) takes the put's rail, however busy that is, if the bytes may still be on
 * their way. */
FAKE_TEST(what_follows_a_put_stays_behind_it)
{
    mca_bml_fsbml_params.rdma = FSBML_RDMA_ON;
    mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_PUT, false);
    mca_bml_base_btl_t *e = rdma_entry(ep);
    expected_handle = NULL;
    for (int put = 0; put < 40; ++put) {
        const int before[2] = {rdma[0].operations, rdma[1].operations},
                  sent[2] = {fake[0].n_sent, fake[1].n_sent};
        CHECK(
            OMPI_SUCCESS
            == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 30000, 0, 0, pml_rdma_done, &told));
        const int rail = rdma[1].operations > before[1];
        CHECK(rdma[rail].operations == before[rail] + 1);
        complete_pending(OPAL_SUCCESS);
        CHECK(told.context != e);
        CHECK(OMPI_SUCCESS
              == pml_send((mca_bml_base_btl_t *) (uintptr_t) told.context, 60, MCA_BTL_TAG_PML + 7));
        CHECK(fake[rail].n_sent == sent[rail] + 1 && fake[!rail].n_sent == sent[!rail]);
        CHECK(fake_complete(&fake[rail], OPAL_SUCCESS));
        /* ... and then lets ob1 go on with whatever waits, for all rails */
        CHECK(&fake[rail].super != done.btl && ((const mca_bml_base_btl_t *) done.context)->btl == e->btl);
    }
    CHECK(rdma[0].operations > 0 && rdma[1].operations > 0);
    down(2);
    mca_bml_fsbml_params.rdma = FSBML_RDMA_AUTO;
#ifdef MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION
    ep = up(2, MCA_BTL_FLAGS_RDMA | MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION, true);
    e = rdma_entry(ep);
    mca_btl_base_registration_handle_t *h =
        e->btl->btl_register_mem(e->btl, e->btl_endpoint, mine, sizeof(mine), 0);
    expected_handle = h;
    CHECK(
        OMPI_SUCCESS
        == mca_bml_base_put(e, mine, (uintptr_t) mine, h, as_sent(e, h), 30000, 0, 0, pml_rdma_done, &told));
    complete_pending(OPAL_SUCCESS);
    CHECK(told.context == e); /* it has landed: FIN may take any rail */
    (void) e->btl->btl_deregister_mem(e->btl, h);
    down(2);
#endif
}

/* FIN that the put's rail has no room for waits for that rail: ob1 of 4.1 would queue it, and send it by any.
 */
FAKE_TEST(what_follows_a_put_waits_for_its_rail)
{
    mca_bml_fsbml_params.rdma = FSBML_RDMA_ON;
    for (int no_descriptor = 0; no_descriptor < 2; ++no_descriptor) {
        mca_bml_base_endpoint_t *ep = up(2, MCA_BTL_FLAGS_PUT, false);
        mca_bml_base_btl_t *e = rdma_entry(ep);
        expected_handle = NULL;
        memset(&done, 0, sizeof(done));
        CHECK(
            OMPI_SUCCESS
            == mca_bml_base_put(e, mine, (uintptr_t) theirs, NULL, NULL, 30000, 0, 0, pml_rdma_done, &told));
        const int rail = rdma[1].operations > 0;
        complete_pending(OPAL_SUCCESS);
        mca_bml_base_btl_t *bound = (mca_bml_base_btl_t *) (uintptr_t) told.context;
        fake[rail].refuses = 0 == no_descriptor;
        fake[rail].no_alloc = 1 == no_descriptor;
        CHECK(OMPI_SUCCESS == pml_send(bound, 60, MCA_BTL_TAG_PML + 7));
        CHECK(OMPI_SUCCESS == pml_send(bound, 61, MCA_BTL_TAG_PML + 7));
        pass_time(1);
        CHECK(0 == fake[0].n_sent + fake[1].n_sent && 0 == done.n);
        fake[!rail].no_alloc = fake[rail].no_alloc =
            true; /* one that may take any rail does not wait for theirs */
        CHECK(OMPI_SUCCESS == pml_send(eager_of(ep), 62, MCA_BTL_TAG_PML + 7));
        fake[!rail].no_alloc = false;
        pass_time(1);
        CHECK(1 == fake[!rail].n_sent && 0 == fake[rail].n_sent && fake_complete(&fake[!rail], OPAL_SUCCESS));
        CHECK(1 == done.n && 62 == done.bytes);
        fake[rail].refuses = fake[rail].no_alloc = false;
        pass_time(1);
        CHECK(2 == fake[rail].n_sent && 1 == fake[!rail].n_sent);
        CHECK(fake_complete(&fake[rail], OPAL_SUCCESS) && 60 == done.bytes && 0x5a == done.first);
        CHECK(fake_complete(&fake[rail], OPAL_SUCCESS) && 61 == done.bytes && 0x5a == done.last);
        CHECK(3 == done.n && ((const mca_bml_base_btl_t *) done.context)->btl == e->btl);
        down(2);
    }
    mca_bml_fsbml_params.rdma = FSBML_RDMA_AUTO;
}

/* A peer that does not put and get has no entry that ob1 would use. One that does not run FSBML has one rail,
 * and handles of its BTL as they are. */
FAKE_TEST(other_peers)
{
    for (int i = 0; i < 2; ++i) {
        can_rdma(&fake[i], MCA_BTL_FLAGS_RDMA, true);
    }
    memset(rdma, 0, sizeof(rdma));
    memset(&told, 0, sizeof(told));
    world_up(2);
    peer_flags = 0;
    mca_bml_base_endpoint_t *ep = peer_up();
    all_answer(2);
    CHECK(NULL == rdma_entry(ep) || rdma_entry(ep)->btl_endpoint != eager_of(ep)->btl_endpoint);
    world_down(2);

    world_up(2);
    peer_has_fsbml = false;
    ep = peer_up();
    mca_bml_base_btl_t *e = rdma_entry(ep);
    CHECK(NULL != e);
    expected_endpoint = e->btl_endpoint;
    mca_btl_base_registration_handle_t raw = {MAGIC, 0, theirs, sizeof(theirs)};
    mca_btl_base_registration_handle_t *lh =
        e->btl->btl_register_mem(e->btl, e->btl_endpoint, mine, sizeof(mine), 0);
    expected_handle = lh;
    CHECK(covers(lh, 0, (uintptr_t) mine, sizeof(mine))); /* what it gets is the BTL's own handle */
    CHECK(
        OMPI_SUCCESS
        == mca_bml_base_put(e, mine, (uintptr_t) theirs, lh, &raw, sizeof(mine), 0, 0, pml_rdma_done, &told));
    complete_pending(OPAL_SUCCESS);
    CHECK(sizeof(mine) == rdma[0].bytes && 0 == rdma[1].bytes);
    (void) e->btl->btl_deregister_mem(e->btl, lh);
    peer_has_fsbml = true;
    down(2);
}
