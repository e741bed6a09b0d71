/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails of all kinds: which BTLs become one, what their group promises, and that a small control message goes
 * by the rail on which it arrives first, whatever bulk is under way. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1 };

static mca_bml_base_btl_t *up(int n)
{
    world_up(n);
    return eager_of(peer_up());
}

static void drain(int n)
{
    for (int i = 0; i < n; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
        }
    }
}

static int n_sent(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += fake[i].n_sent + fake[i].n_sendi;
    }
    return sum;
}

/* The rail that has sent one more than before. */
static int which_sent(const int *before, int n)
{
    int sender = -1;
    for (int i = 0; i < n; ++i) {
        sender = fake[i].n_sent + fake[i].n_sendi != before[i] ? i : sender;
    }
    return sender;
}

/* Each rail takes its part; two rails or more are a group, one is left alone. */
FAKE_TEST(any_number_of_rails)
{
    static const int numbers[] = {1, 2, 3, 5};
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); ++k) {
        const int n = numbers[k];
        fakes_construct(n);
        mca_bml_base_btl_t *bml_btl = up(n);
        CHECK((uint32_t) (n > 1 ? n : 0) == fsbml_rails.n_rails && (n > 1) == fsbml_rails.n_groups);
        CHECK((1 == n) == (&fake[0].super == bml_btl->btl));
        if (n > 1) {
            all_answer(n);
        }
        for (int i = 0; i < 20 * n; ++i) {
            CHECK(0 <= pml_send(bml_btl, 4000, TAG));
        }
        CHECK(20 * n == n_sent(n));
        for (int i = 0; i < n; ++i) {
            CHECK(fake[i].n_sent > 0);
        }
        drain(n);
        world_down(n);
    }
}

/* Of more BTLs of one kind than can be rails, the first are; the rest carries nothing, and a peer with all of
 * them is there all the same. */
FAKE_TEST(more_btls_than_rails)
{
    enum { N = FSBML_MAX_RAILS + 2 };
    fakes_construct(N);
    mca_bml_base_btl_t *bml_btl = up(N);
    CHECK(FSBML_MAX_RAILS == fsbml_rails.n_rails && 1 == fsbml_rails.n_groups);
    CHECK(FSBML_MAX_RAILS == fsbml_endpoint_of_proc(peer)->n_paths);
    for (int i = 0; i < FSBML_MAX_RAILS; ++i) {
        CHECK(1 == fake_answer(&fake[i], true));
    }
    for (int i = 0; i < 20 * N; ++i) {
        CHECK(0 <= pml_send(bml_btl, 4000, TAG));
    }
    CHECK(20 * N == n_sent(N) && 0 == fake[N - 2].n_alloc + fake[N - 1].n_alloc);
    drain(N);
    world_down(N);
}

/* A second kind for which there is no room is used as without FSBML. */
FAKE_TEST(a_kind_without_room)
{
    enum { N = FSBML_MAX_RAILS + 3 };
    fakes_construct(N);
    for (int i = FSBML_MAX_RAILS - 1; i < N; ++i) { /* the last four, of which one would fit */
        fake[i].super.btl_exclusivity = 5;
    }
    world_up(N);
    CHECK(FSBML_MAX_RAILS - 1 == fsbml_rails.n_rails && 1 == fsbml_rails.n_groups);
    (void) peer_up();
    CHECK(FSBML_MAX_RAILS - 1 == fsbml_endpoint_of_proc(peer)->n_paths);
    world_down(N);
}

/* A BTL that has RDMA only carries no messages: ob1 and its control messages never meet it. */
FAKE_TEST(a_btl_without_send_is_no_rail)
{
    fakes_construct(3);
    fake[0].super.btl_flags = MCA_BTL_FLAGS_PUT | MCA_BTL_FLAGS_GET;
    fake[0].super.btl_put = (mca_btl_base_module_put_fn_t) abort;
    fake[0].super.btl_get = (mca_btl_base_module_get_fn_t) abort;
    fake[0].super.btl_alloc = (mca_btl_base_module_alloc_fn_t) abort;
    fake[0].super.btl_send = NULL;
    mca_bml_base_btl_t *bml_btl = up(3);
    CHECK(2 == fsbml_rails.n_rails && fsbml_rail_of(&fake[0].super) < 0);
    CHECK(1 == fake_answer(&fake[1], true) && 1 == fake_answer(&fake[2], true));
    for (int i = 0; i < 20; ++i) {
        CHECK(0 <= pml_send(bml_btl, 4000, TAG));
    }
    CHECK(20 == fake[1].n_sent + fake[2].n_sent && 0 == fake[0].n_alloc);
    drain(3);
    world_down(3);
}

/* As shared memory beside a network: only the higher level of exclusivity is used, and its rails share
 * nothing with those of the other. */
FAKE_TEST(only_the_highest_exclusivity_counts)
{
    fakes_construct(5);
    fake[3].super.btl_exclusivity = fake[4].super.btl_exclusivity = 65536;
    fake[3].super.btl_eager_limit = fake[4].super.btl_eager_limit = 100;
    mca_bml_base_btl_t *bml_btl = up(5);
    CHECK(2 == fsbml_rails.n_groups && 5 == fsbml_rails.n_rails);
    const mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    CHECK(2 == ep->n_paths && 2 == __builtin_popcount(ep->possible));
    CHECK(100 + FSBML_PML_HEADER == bml_btl->btl->btl_eager_limit);
    CHECK(1 == fake_answer(&fake[3], true) && 1 == fake_answer(&fake[4], true));
    for (int i = 0; i < 40; ++i) {
        CHECK(0 <= pml_send(bml_btl, 4000, TAG));
    }
    fake[3].no_alloc = fake[4].no_alloc =
        true; /* refused by its own level, it does not go down to the other */
    mca_btl_base_descriptor_t *des = (void *) &done;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, 100, 0);
    CHECK(NULL == des);
    CHECK(fake[3].n_sent > 0 && fake[4].n_sent > 0 && 40 == fake[3].n_sent + fake[4].n_sent);
    CHECK(0 == fake[0].n_alloc + fake[1].n_alloc + fake[2].n_alloc);
    drain(5);
    world_down(5);
}

/* Shared memory of the networks' own level is used by itself, wherever it stands among them, unless it is
 * asked for. */
FAKE_TEST(shared_memory_is_no_rail)
{
    static mca_btl_base_component_t sm = {.btl_version = {MCA_BTL_DEFAULT_VERSION("sm")}};
    for (int networks = 1; networks <= 2; ++networks) {
        for (int at = 0; at <= networks; ++at) {
            fakes_construct(networks + 1);
            fake[at].super.btl_component = &sm;
            world_up(networks + 1);
            CHECK((networks > 1 ? 2u : 0u) == fsbml_rails.n_rails && fsbml_rail_of(&fake[at].super) < 0);
            mca_bml_base_endpoint_t *ep = peer_up();
            CHECK(1 == mca_bml_base_btl_array_get_size(&ep->btl_send) && NULL == fsbml_endpoint_of(ep));
            CHECK(&fake[at].super == mca_bml_base_btl_array_get_index(&ep->btl_send, 0)->btl);
            world_down(networks + 1);
        }
    }
    fakes_construct(2);
    fake[0].super.btl_component = &sm;
    mca_bml_fsbml_params.include = "sm,fake";
    world_up(2);
    CHECK(2 == fsbml_rails.n_rails && 2 == fsbml_endpoint_of_proc((peer_up(), peer))->n_paths);
    world_down(2);
    mca_bml_fsbml_params.include = NULL;
}

/* A BTL that says it can put, and has no function for it, sends like any other. */
FAKE_TEST(flags_without_a_function)
{
    fakes_construct(2);
    fake[0].super.btl_flags = MCA_BTL_FLAGS_PUT;
    fake[0].super.btl_put = NULL;
    mca_bml_base_btl_t *bml_btl = up(2);
    CHECK(2 == fsbml_rails.n_rails && 2 == fsbml_endpoint_of_proc(peer)->n_paths);
    all_answer(2);
    for (int i = 0; i < 40; ++i) {
        CHECK(0 <= pml_send(bml_btl, 4000, TAG));
    }
    CHECK(fake[0].n_sent > 0 && fake[1].n_sent > 0 && 40 == n_sent(2));
    drain(2);
    world_down(2);
}

#if FSBML_GPU_SENDS
/* Fragments of a GPU's memory fit every rail, whichever of them has a limit of its own; without one, none is
 * set. */
FAKE_TEST(limits_for_gpus)
{
    static const size_t limits[][3] = {
        {0, 0, 0}, {0, 20000, 20000}, {20000, 0, 20000}, {20000, 30000, 20000}, {90000, 0, 0}};
    for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); ++k) {
        fakes_construct(2);
        for (int i = 0; i < 2; ++i) {
            fake[i].super.FSBML_GPU_MAX_SEND_SIZE = limits[k][i];
        }
        mca_bml_base_btl_t *bml_btl = up(2);
        CHECK(limits[k][2] == bml_btl->btl->FSBML_GPU_MAX_SEND_SIZE);
        world_down(2);
    }
}
#endif

/* A promise must hold on every rail, a demand counts if one makes it, and what only the real BTL can do is
 * not offered. Each flag on one rail of two, the first or the second, and on both. */
FAKE_TEST(flags_of_a_group)
{
    static const uint32_t promises = MCA_BTL_FLAGS_SEND_INPLACE | MCA_BTL_FLAGS_SIGNALED
                                     | FSBML_BTL_FLAGS_COPY_ASYNC,
                          demands = MCA_BTL_FLAGS_NEED_ACK | MCA_BTL_FLAGS_NEED_CSUM
                                    | MCA_BTL_FLAGS_BTL_PROGRESS_THREAD_ENABLED;
    for (uint32_t flag = 2; flag < UINT32_C(1) << 24; flag <<= 1) {
        for (int mask = 1; mask < 4; ++mask) {
            fakes_construct(2);
            for (int i = 0; i < 2; ++i) {
                fake[i].super.btl_flags = MCA_BTL_FLAGS_SEND | (0 != (mask >> i & 1) ? flag : 0);
            }
            mca_bml_base_btl_t *bml_btl = up(2);
            const bool expected = (flag & promises) ? 3 == mask : 0 != (flag & demands);
            CHECK(expected == (0 != (bml_btl->btl->btl_flags & flag)));
            CHECK(bml_btl->btl->btl_flags
                  == (bml_btl->btl_flags & bml_btl->btl->btl_flags)); /* the entry says so, too */
            CHECK(0 != (bml_btl->btl->btl_flags & MCA_BTL_FLAGS_SEND));
            CHECK(0 == bml_btl->btl->btl_atomic_flags && NULL == bml_btl->btl->btl_put
                  && NULL == bml_btl->btl->btl_get);
            all_answer(2);
            world_down(2);
        }
    }
}

/* 64 bytes, as ob1 sends RTS, ACK and FIN: by a descriptor, or at once. */
static int control(mca_bml_base_btl_t *bml_btl, bool at_once)
{
    char header[64] = "control";
    return at_once ? mca_bml_base_sendi(bml_btl, NULL, header, sizeof(header), 0, MCA_BTL_NO_ORDER,
                                        MCA_BTL_DES_FLAGS_PRIORITY, TAG, NULL)
                   : pml_send(bml_btl, sizeof(header), TAG);
}

static void models(const fsbml_loggp_t *p, int n)
{
    for (int i = 0; i < n; ++i) {
        CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, (uint32_t) i, &p[i]));
    }
}

/* Bulk on one rail, and the control message takes the other, though it would be second best if both were
 * idle. */
FAKE_TEST(control_passes_bulk)
{
    static const fsbml_loggp_t rails[] = {LOGGP(10e3, 1e3, 2e3, 10), LOGGP(60e3, 1e3, 2e3, 100)};
    for (int at_once = 0; at_once < 2; ++at_once) {
        fakes_construct(2);
        mca_bml_base_btl_t *bml_btl = up(2);
        all_answer(2);
        models(rails, 2);
        CHECK(OMPI_SUCCESS == control(bml_btl, at_once));
        CHECK(1 == fake[0].n_sent && 0 == fake[1].n_sent);
        virtual_ns += 1000000;
        fake[1].no_alloc = true; /* 640 us of bulk on the near rail */
        CHECK(0 <= pml_send(bml_btl, 64000, TAG));
        fake[1].no_alloc = false;
        CHECK(2 == fake[0].n_sent);
        CHECK(OMPI_SUCCESS == control(bml_btl, at_once));
        CHECK(2 == fake[0].n_sent && 1 == fake[1].n_sent);
        virtual_ns += 600000; /* 40 us are left of it, less than the far rail is farther */
        CHECK(OMPI_SUCCESS == control(bml_btl, at_once));
        CHECK(3 == fake[0].n_sent && 1 == fake[1].n_sent);
        fake[0].no_alloc = true; /* now 6.4 ms on the slow rail: not behind it, ever */
        CHECK(0 <= pml_send(bml_btl, 64000, TAG));
        fake[0].no_alloc = false;
        CHECK(3 == fake[0].n_sent && 2 == fake[1].n_sent);
        for (int i = 0; i < 200; ++i) {
            CHECK(OMPI_SUCCESS == control(bml_btl, at_once));
            virtual_ns += 10000;
        }
        CHECK(203 == fake[0].n_sent && 2 == fake[1].n_sent);
        drain(2);
        world_down(2);
    }
}

/* An account of the model of its own: each rail is free at some time, and a message arrives a while after
 * that. */
static struct {
    uint64_t free_at[N_FAKES];
} book;

static uint64_t arrival(const fsbml_loggp_t *p, int rail, uint64_t now, size_t bytes)
{
    const uint64_t start = book.free_at[rail] > now ? book.free_at[rail] : now;
    const uint64_t ready = now + (uint64_t) p[rail].o_s_ns; /* o overlaps the wait for a busy rail */
    return (start > ready ? start : ready) + (uint64_t) (p[rail].L_ns + p[rail].o_r_ns)
           + (uint64_t) (p[rail].G_ns_per_byte * (double) (bytes - 1));
}

static void note(const fsbml_loggp_t *p, int rail, uint64_t now, size_t bytes)
{
    const uint64_t start = book.free_at[rail] > now ? book.free_at[rail] : now;
    book.free_at[rail] = start + (uint64_t) (p[rail].g_ns + p[rail].G_ns_per_byte * (double) (bytes - 1));
}

/* Random bulk on random rails: each control message goes where it arrives first, by a calculation of the
 * test's own. */
FAKE_TEST(control_arrives_first)
{
    static uint64_t seed = 0xc0de;
    for (int round = 0; round < 40; ++round) {
        const int n = 2 + round % 4;
        fsbml_loggp_t p[N_FAKES];
        printf("seed %llu\n", (unsigned long long) seed);
        fakes_construct(n);
        mca_bml_base_btl_t *bml_btl = up(n);
        all_answer(n);
        for (int i = 0; i < n; ++i) {
            const double L = (double) (5000 + next_random(&seed) % 200000);
            p[i] = (fsbml_loggp_t) LOGGP(L, 1000, 3000, (double) (1 + next_random(&seed) % 400));
            fake[i].super.btl_sendi = 0 != (next_random(&seed) >> 9 & 1) ? fake_sendi : NULL;
        }
        models(p, n);
        memset(&book, 0, sizeof(book));
        for (int k = 0; k < 200; ++k) {
            const bool bulk = 0 != (next_random(&seed) >> 13 & 1);
            const size_t bytes = bulk ? 1000 + next_random(&seed) % 60000 : 64;
            int before[N_FAKES], best = 0;
            for (int i = 0; i < n; ++i) {
                before[i] = fake[i].n_sent + fake[i].n_sendi;
                best = arrival(p, i, virtual_ns, bytes) < arrival(p, best, virtual_ns, bytes) ? i : best;
            }
            CHECK(OMPI_SUCCESS == (bulk ? pml_send(bml_btl, bytes, TAG) : control(bml_btl, k & 1)));
            const int sender = which_sent(before, n);
            CHECK(sender >= 0);
            if (sender < 0) {
                break;
            }
            /* within what the scheduler calls a tie: 1.5 us, or 3 % */
            const uint64_t least = arrival(p, best, virtual_ns, bytes) - virtual_ns;
            CHECK(arrival(p, sender, virtual_ns, bytes) - virtual_ns <= least + 1510 + least * 3 / 100);
            note(p, sender, virtual_ns, bytes);
            virtual_ns += next_random(&seed) % 50000;
        }
        drain(n);
        world_down(n);
    }
}
