/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication whose target does nothing for it: lock, lock_all, flush and flush_local, rput and
 * rget, large transfers and many tiny ones, strided types, to oneself; the target computes meanwhile, and
 * comes to MPI only at the end.
 */
#include "check.h"

enum { SLOT = 5 * 1048576 + 12345, TINY = 500, STRIDE = 3, BLOCKS = 4000, BLOCK = 25 };

/* The owner may look at its window and write it with plain loads and stores, all ranks at the same time. */
static void sync_all(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Larger than any fragment, to the rank after this one, by way of requests; the ranks of odd number are busy
 * for a while. */
static void large(MPI_Win win, const uint8_t *base)
{
    const int target = (check_rank + 1) % check_size, source = (check_rank + check_size - 1) % check_size;
    uint8_t *out = check_alloc(SLOT), *in = check_alloc(SLOT);
    MPI_Request request;
    check_fill(out, SLOT, check_seed(check_rank, target, 50, SLOT));
    sync_all(win);
    if (check_rank % 2) {
        check_sleep(0.2);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Rput(out, SLOT, MPI_BYTE, target, 0, SLOT, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    MPI_Rget(in, SLOT, MPI_BYTE, target, 0, SLOT, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(target, win);
    CHECK_CONTENT(in, SLOT, check_seed(check_rank, target, 50, SLOT), "large rget after rput");
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    CHECK_CONTENT(base, SLOT, check_seed(source, check_rank, 50, SLOT), "large rput");
    check_free(out, SLOT);
    check_free(in, SLOT);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank's bytes are interleaved with those of the others; the origin buffer may be used again after
 * flush_local. */
static void tiny(MPI_Win win, uint8_t *base)
{
    const size_t bytes = (size_t) TINY * (size_t) check_size;
    sync_all(win);
    check_poison(base, bytes + 1);
    sync_all(win);
    MPI_Win_lock_all(0, win);
    for (int r = 0; r < check_size; ++r) {
        for (int i = 0; i < TINY; ++i) {
            uint8_t byte = check_byte(check_seed(check_rank, r, 51, 0), (size_t) i);
            MPI_Put(&byte, 1, MPI_BYTE, r, (MPI_Aint) i * check_size + check_rank, 1, MPI_BYTE, win);
            MPI_Win_flush_local(r, win);
            byte = (uint8_t) ~byte;
        }
    }
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    for (size_t i = 0; i < bytes; ++i) {
        const int from = (int) (i % (size_t) check_size);
        CHECK_EQ(base[i], check_byte(check_seed(from, check_rank, 51, 0), i / (size_t) check_size),
                 "tiny put");
    }
    CHECK_EQ(base[bytes], CHECK_POISON_BYTE, "the byte behind the last tiny put");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* From a gap-free buffer into strided blocks at the target, and back from there into another stride. */
static void strided(MPI_Win win, uint8_t *base)
{
    const int target = check_partner();
    const size_t bytes = (size_t) BLOCKS * BLOCK, span = (size_t) BLOCKS * BLOCK * STRIDE;
    uint8_t *out = check_alloc(bytes), *in = check_alloc(2 * bytes);
    MPI_Datatype there, here;
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * STRIDE, MPI_BYTE, &there);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * 2, MPI_BYTE, &here);
    MPI_Type_commit(&there);
    MPI_Type_commit(&here);
    sync_all(win);
    check_poison(base, span);
    sync_all(win);
    check_fill(out, bytes, check_seed(check_rank, target, 52, 0));
    check_poison(in, 2 * bytes);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(out, (int) bytes, MPI_BYTE, target, 0, 1, there, win);
    MPI_Win_flush(target, win);
    MPI_Get(in, 1, here, target, 0, 1, there, win);
    MPI_Win_unlock(target, win);
    for (size_t i = 0; i < 2 * bytes - BLOCK; ++i) {
        const size_t block = i / (2 * BLOCK), at = i % (2 * BLOCK);
        CHECK_EQ(in[i],
                 at < BLOCK ? check_byte(check_seed(check_rank, target, 52, 0), block * BLOCK + at)
                            : CHECK_POISON_BYTE,
                 "strided get");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    for (size_t i = 0; i < span; ++i) {
        const size_t block = i / (STRIDE * BLOCK), at = i % (STRIDE * BLOCK);
        CHECK_EQ(base[i],
                 at < BLOCK ? check_byte(check_seed(target, check_rank, 52, 0), block * BLOCK + at)
                            : CHECK_POISON_BYTE,
                 "strided put");
    }
    MPI_Type_free(&here);
    MPI_Type_free(&there);
    check_free(out, bytes);
    check_free(in, 2 * bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void to_oneself(MPI_Win win, const uint8_t *base)
{
    enum { BYTES = 300000 };
    uint8_t *out = check_alloc(BYTES), *in = check_alloc(BYTES);
    check_fill(out, BYTES, check_seed(check_rank, check_rank, 53, 0));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    MPI_Put(out, BYTES, MPI_BYTE, check_rank, 0, BYTES, MPI_BYTE, win);
    MPI_Win_flush(check_rank, win);
    MPI_Get(in, BYTES, MPI_BYTE, check_rank, 0, BYTES, MPI_BYTE, win);
    MPI_Win_unlock(check_rank, win);
    CHECK_CONTENT(in, BYTES, check_seed(check_rank, check_rank, 53, 0), "get from oneself");
    CHECK_CONTENT(base, BYTES, check_seed(check_rank, check_rank, 53, 0), "put to oneself");
    check_free(out, BYTES);
    check_free(in, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 computes, without a single call of MPI, while all others work on its window; it sees their work at
 * the end. */
static void absent_target(MPI_Win win, const uint8_t *base)
{
    enum { BYTES = 400000 };
    sync_all(win);
    if (0 == check_rank) {
        const double until = check_seconds() + 0.5;
        while (check_seconds() < until) {
        }
    } else {
        uint8_t *out = check_alloc(BYTES), *in = check_alloc(BYTES);
        check_fill(out, BYTES, check_seed(check_rank, 0, 54, 0));
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(out, BYTES, MPI_BYTE, 0, (MPI_Aint) check_rank * BYTES, BYTES, MPI_BYTE, win);
        MPI_Win_flush(0, win);
        MPI_Get(in, BYTES, MPI_BYTE, 0, (MPI_Aint) check_rank * BYTES, BYTES, MPI_BYTE, win);
        MPI_Win_unlock(0, win);
        CHECK_CONTENT(in, BYTES, check_seed(check_rank, 0, 54, 0), "get from an absent target");
        check_free(out, BYTES);
        check_free(in, BYTES);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    for (int r = 1; r < check_size && 0 == check_rank; ++r) {
        CHECK_CONTENT(base + (size_t) r * BYTES, BYTES, check_seed(r, 0, 54, 0), "put to an absent target");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_case(void)
{
    CHECK(check_size <= 12, "the window has room for 12 ranks");
    uint8_t *mine = check_alloc(SLOT), *theirs = NULL;
    MPI_Win created, allocated;
    MPI_Win_create(mine, SLOT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(SLOT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &theirs, &allocated);
    large(created, mine);
    large(allocated, theirs);
    tiny(created, mine);
    strided(created, mine);
    strided(allocated, theirs);
    to_oneself(allocated, theirs);
    absent_target(created, mine);
    absent_target(allocated, theirs);
    MPI_Win_free(&allocated);
    MPI_Win_free(&created);
    check_free(mine, SLOT);
}

CHECK_CASE(onesided_passive, .least = 2)
