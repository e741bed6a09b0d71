/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication on windows of other kinds: dynamic ones, to which memory is attached while they
 * live, shared ones of a node's ranks, windows with different sizes and units on each rank, many at once; and
 * post-start-complete-wait with groups of several ranks.
 */
#include "check.h"

enum { MANY = 8 };

/* Each rank attaches two buffers, tells the others where they are, and detaches one while the other is still
 * used. */
static void dynamic(size_t bytes)
{
    uint8_t *buffer[2] = {check_alloc(bytes), check_alloc(bytes)}, *out = check_alloc(bytes),
            *in = check_alloc(bytes);
    MPI_Aint mine[2], *all = malloc(2 * (size_t) check_size * sizeof(*all));
    MPI_Win win;
    CHECK(NULL != all, "no memory");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int b = 0; b < 2; ++b) {
        MPI_Win_attach(win, buffer[b], (MPI_Aint) bytes);
        MPI_Get_address(buffer[b], &mine[b]);
    }
    MPI_Allgather(mine, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD);
    const int target = (check_rank + 1) % check_size, source = (check_rank + check_size - 1) % check_size;
    for (int b = 0; b < 2; ++b) {
        check_fill(out, bytes, check_seed(check_rank, target, 60 + b, bytes));
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        MPI_Put(out, (int) bytes, MPI_BYTE, target, all[2 * target + b], (int) bytes, MPI_BYTE, win);
        MPI_Win_flush(target, win);
        MPI_Get(in, (int) bytes, MPI_BYTE, target, all[2 * target + b], (int) bytes, MPI_BYTE, win);
        MPI_Win_unlock(target, win);
        CHECK_CONTENT(in, bytes, check_seed(check_rank, target, 60 + b, bytes), "get from attached memory");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
        MPI_Win_unlock(check_rank, win);
        CHECK_CONTENT(buffer[b], bytes, check_seed(source, check_rank, 60 + b, bytes),
                      "put to attached memory");
        MPI_Win_detach(win, buffer[b]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    free(all);
    check_free(buffer[0], bytes);
    check_free(buffer[1], bytes);
    check_free(out, bytes);
    check_free(in, bytes);
}

/* The ranks of a node write into each other's part with plain stores. */
static void shared(void)
{
    enum { BYTES = 4096 };
    MPI_Comm node;
    MPI_Win win;
    uint8_t *mine = NULL;
    int rank, size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check_rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    const int target = (rank + 1) % size, source = (rank + size - 1) % size;
    uint8_t *theirs = NULL;
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(win, target, &bytes, &unit, &theirs);
    CHECK_EQ(bytes, BYTES, "size of a neighbour's part");
    check_fill(theirs, BYTES, check_seed(rank, target, 62, 0));
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    CHECK_CONTENT(mine, BYTES, check_seed(source, rank, 62, 0), "shared window");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* Rank r offers r words of r + 1 bytes, so rank 0 nothing. Several windows are open at once, each with its
 * own content. */
static void uneven_sizes(void)
{
    MPI_Win win[MANY];
    uint8_t *base[MANY];
    const size_t unit = (size_t) check_rank + 1, bytes = (size_t) check_rank * unit;
    for (int w = 0; w < MANY; ++w) {
        base[w] = check_alloc(bytes + 1);
        MPI_Win_create(base[w], (MPI_Aint) bytes, (int) unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win[w]);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win[w]);
    }
    const int left = (check_rank + check_size - 1) % check_size;
    /* Each rank is written by the one before it, word by word from the last to the first. */
    const int right = (check_rank + 1) % check_size;
    uint8_t word[64];
    CHECK(check_size <= (int) sizeof(word), "words have at most 64 bytes");
    for (int w = 0; w < MANY; ++w) {
        for (int i = check_size - 2; i >= 0; --i) {
            if (i < right) {
                check_fill(word, (size_t) right + 1, check_seed(check_rank, right, 63 + w, (uint64_t) i));
                MPI_Put(word, right + 1, MPI_BYTE, right, i, right + 1, MPI_BYTE, win[w]);
            }
            MPI_Win_fence(0, win[w]);
        }
    }
    for (int w = 0; w < MANY; ++w) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win[w]);
        for (int i = 0; i < check_rank; ++i) {
            CHECK_CONTENT(base[w] + (size_t) i * unit, unit,
                          check_seed(left, check_rank, 63 + w, (uint64_t) i), "words of different sizes");
        }
        CHECK_EQ(base[w][bytes], CHECK_POISON_BYTE, "the byte behind the last word");
        MPI_Win_free(&win[w]);
        check_free(base[w], bytes + 1);
    }
}

/* All ranks but oneself are origins and targets of one epoch. */
static void groups(size_t bytes)
{
    MPI_Group world, others;
    MPI_Win win;
    uint8_t *base = NULL, *out = check_alloc(bytes);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &check_rank, &others);
    MPI_Win_allocate((MPI_Aint) ((size_t) check_size * bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    check_fill(out, bytes, check_seed(check_rank, 0, 72, bytes));
    for (int round = 0; round < 3; ++round) {
        check_poison(base, (size_t) check_size * bytes);
        MPI_Win_post(others, 0, win);
        MPI_Win_start(others, 0, win);
        for (int r = 0; r < check_size; ++r) {
            if (r != check_rank) {
                MPI_Put(out, (int) bytes, MPI_BYTE, r, (MPI_Aint) ((size_t) check_rank * bytes), (int) bytes,
                        MPI_BYTE, win);
            }
        }
        MPI_Win_complete(win);
        for (int done = 0, turn = 0; !done; ++turn) {
            MPI_Win_test(win, &done);
            CHECK(turn < INT32_MAX, "the exposure epoch does not end");
        }
        for (int r = 0; r < check_size; ++r) {
            if (r != check_rank) {
                CHECK_CONTENT(base + (size_t) r * bytes, bytes, check_seed(r, 0, 72, bytes),
                              "put to a group");
            }
        }
    }
    MPI_Win_free(&win);
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    check_free(out, bytes);
}

static void run_case(void)
{
    dynamic(16);
    dynamic(3000000);
    shared();
    uneven_sizes();
    groups(8);
    groups(200000);
}

CHECK_CASE(onesided_windows, .least = 2)
