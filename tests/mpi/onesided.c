/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * One-sided communication: put, get, accumulate, get_accumulate, fetch_and_op and compare_and_swap under fence, lock,
 * lock_all with flush, and post-start, on windows made from own memory and on allocated ones.
 */
#include "check.h"

enum { SLOT = 131072, ADDERS = 1024 };

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
        CHECK(bytes == SLOT || CHECK_POISON_BYTE == slot(base, r)[bytes], "put of %zu bytes wrote one more", bytes);
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
    CHECK_CONTENT(slot(base, partner), bytes, check_seed(partner, check_rank, 22, bytes), "put between start and complete");
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    check_free(out, bytes);
}

/* All ranks add to the same words of rank 0 at once: no addition may be lost. */
static void accumulate(MPI_Win win, uint8_t *base, int count)
{
    int64_t mine[ADDERS], before[ADDERS], *sum = (int64_t *) (void *) base;
    if (0 == check_rank) {
        memset(base, 0, window_bytes());
    }
    for (int i = 0; i < count; ++i) {
        mine[i] = check_rank + i;
        before[i] = -1;
    }
    sync_all(win);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < 3; ++round) {
        MPI_Accumulate(mine, count, MPI_INT64_T, 0, 0, count, MPI_INT64_T, MPI_SUM, win);
    }
    MPI_Get_accumulate(mine, count, MPI_INT64_T, before, count, MPI_INT64_T, 0, 0, count, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t ranks = check_size * (check_size - 1) / 2;
    for (int i = 0; i < count; ++i) {
        CHECK(before[i] >= 3 * mine[i] && before[i] <= 4 * (ranks + (int64_t) check_size * i),
              "get_accumulate: word %d was %" PRId64, i, before[i]);
    }
    sync_all(win);
    for (int i = 0; i < count && 0 == check_rank; ++i) {
        CHECK_EQ(sum[i], 4 * (ranks + (int64_t) check_size * i), "sum of all accumulates");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A counter on rank 0 that all ranks draw numbers from, and a lock made of compare_and_swap. */
static void atomics(MPI_Win win, uint8_t *base)
{
    enum { DRAWS = 50 };
    int64_t *counter = (int64_t *) (void *) base, one = 1, drawn, last = -1, sum = 0, all = 0;
    if (0 == check_rank) {
        memset(base, 0, window_bytes());
    }
    sync_all(win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < DRAWS; ++i) {
        MPI_Fetch_and_op(&one, &drawn, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(drawn > last && drawn < (int64_t) DRAWS * check_size, "fetch_and_op drew %" PRId64 " after %" PRId64, drawn,
              last);
        last = drawn;
        sum += drawn;
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, (int64_t) DRAWS * check_size * ((int64_t) DRAWS * check_size - 1) / 2, "sum of all numbers drawn");

    int64_t free_mark = 0, mark = check_rank + 1, found = -1;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 5; ++i) {
        do {
            MPI_Compare_and_swap(&mark, &free_mark, &found, MPI_INT64_T, 0, 1, win);
            MPI_Win_flush(0, win);
        } while (0 != found);
        int64_t inside = -1; /* inside the lock: read and write with a gap, which only the lock makes safe */
        MPI_Get(&inside, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        ++inside;
        MPI_Put(&inside, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        MPI_Compare_and_swap(&free_mark, &mark, &found, MPI_INT64_T, 0, 1, win);
        MPI_Win_flush(0, win);
        CHECK_EQ(found, mark, "compare_and_swap on leaving the lock");
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    if (0 == check_rank) {
        CHECK_EQ(counter[0], (int64_t) DRAWS * check_size, "the counter");
        CHECK_EQ(counter[1], 0, "the lock word");
        CHECK_EQ(counter[2], 5 * check_size, "what the lock protects");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, "onesided", 2);
    MPI_Win created, allocated, words;
    uint8_t *mine = check_alloc(window_bytes()), *theirs = NULL, *word_base = NULL;
    MPI_Win_create(mine, (MPI_Aint) window_bytes(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate((MPI_Aint) window_bytes(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &theirs, &allocated);
    MPI_Win_allocate((MPI_Aint) window_bytes(), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &word_base, &words);
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        fence(created, mine, sizes[s]);
        fence(allocated, theirs, sizes[s]);
        lock(created, mine, sizes[s]);
        lock(allocated, theirs, sizes[s]);
        post_start(allocated, theirs, sizes[s]);
    }
    accumulate(words, word_base, 1);
    accumulate(words, word_base, ADDERS);
    atomics(words, word_base);
    MPI_Win_free(&words);
    MPI_Win_free(&allocated);
    MPI_Win_free(&created);
    check_free(mine, window_bytes());
    return check_end();
}
