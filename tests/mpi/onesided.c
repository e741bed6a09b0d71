/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication: put and get under fence, lock with flush, and post-start, on windows made from own
 * memory and on allocated ones. What computes at the target is in onesided_atomics.c, passive targets and odd
 * windows in onesided_passive.c and onesided_windows.c.
 */
#include "check.h"

enum { SLOT = 131072 };

static const size_t sizes[] = {1, 8, 1000, 4096, 65536, 65537, SLOT};

/* A window has one slot for each rank of the job. */
static uint8_t *slot(uint8_t *base, int rank)
{
    return base + (size_t) rank * SLOT;
}

static size_t window_bytes(void)
{
    return (size_t) check_size * SLOT;
}

/* The owner may look at its window and write it with plain loads and stores, all ranks at the same time. */
static void sync_all(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank puts into its slot of every other rank's window, then gets its own slot back from there. */
static void fence(MPI_Win win, uint8_t *base, size_t bytes)
{
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
    check_poison(base, window_bytes());
    check_fill(out, bytes, check_seed(check_rank, 0, 20, bytes));
    MPI_Win_fence(0, win);
    for (int r = 0; r < check_size; ++r) {
        MPI_Put(out, (int) bytes, MPI_BYTE, r, (MPI_Aint) check_rank * SLOT, (int) bytes, MPI_BYTE, win);
    }
    MPI_Win_fence(0, win);
    for (int r = 0; r < check_size; ++r) {
        CHECK_CONTENT(slot(base, r), bytes, check_seed(r, 0, 20, bytes), "put under fence");
        CHECK(bytes == SLOT || CHECK_POISON_BYTE == slot(base, r)[bytes], "put of %zu bytes wrote one more",
              bytes);
    }
    MPI_Win_fence(0, win);
    const int partner = check_partner();
    MPI_Get(in, (int) bytes, MPI_BYTE, partner, (MPI_Aint) check_rank * SLOT, (int) bytes, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_CONTENT(in, bytes, check_seed(check_rank, 0, 20, bytes), "get under fence");
    check_free(out, bytes);
    check_free(in, bytes);
}

static void lock(MPI_Win win, uint8_t *base, size_t bytes)
{
    const int partner = check_partner();
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
    check_fill(out, bytes, check_seed(check_rank, partner, 21, bytes));
    sync_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, win);
    MPI_Put(out, (int) bytes, MPI_BYTE, partner, (MPI_Aint) check_rank * SLOT, (int) bytes, MPI_BYTE, win);
    MPI_Win_flush(partner, win);
    MPI_Get(in, (int) bytes, MPI_BYTE, partner, (MPI_Aint) check_rank * SLOT, (int) bytes, MPI_BYTE, win);
    MPI_Win_unlock(partner, win);
    CHECK_CONTENT(in, bytes, check_seed(check_rank, partner, 21, bytes), "get after put and flush");
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    CHECK_CONTENT(slot(base, partner), bytes, check_seed(partner, check_rank, 21, bytes), "put under lock");
    check_free(out, bytes);
    check_free(in, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void post_start(MPI_Win win, uint8_t *base, size_t bytes)
{
    const int partner = check_partner();
    if (partner == check_rank) {
        return;
    }
    uint8_t *out = check_alloc(bytes);
    MPI_Group world, other;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &partner, &other);
    check_fill(out, bytes, check_seed(check_rank, partner, 22, bytes));
    MPI_Win_post(other, 0, win);
    MPI_Win_start(other, 0, win);
    MPI_Put(out, (int) bytes, MPI_BYTE, partner, (MPI_Aint) check_rank * SLOT, (int) bytes, MPI_BYTE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK_CONTENT(slot(base, partner), bytes, check_seed(partner, check_rank, 22, bytes),
                  "put between start and complete");
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    check_free(out, bytes);
}

static void run_case(void)
{
    MPI_Win created, allocated;
    uint8_t *mine = check_alloc(window_bytes()), *theirs = NULL;
    MPI_Win_create(mine, (MPI_Aint) window_bytes(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate((MPI_Aint) window_bytes(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &theirs, &allocated);
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        fence(created, mine, sizes[s]);
        fence(allocated, theirs, sizes[s]);
        lock(created, mine, sizes[s]);
        lock(allocated, theirs, sizes[s]);
        post_start(allocated, theirs, sizes[s]);
    }
    MPI_Win_free(&allocated);
    MPI_Win_free(&created);
    check_free(mine, window_bytes());
}

CHECK_CASE(onesided, .least = 2)
