/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication that computes at the target: accumulate with several operations and types,
 * get_accumulate, fetch_and_op, compare_and_swap; all ranks on the same words at once, with exact results;
 * tiny, and larger than any fragment.
 */
#include "check.h"

enum { WORDS = 200000, DRAWS = 50, ROUNDS = 3 };

/* The owner may look at its window and write it with plain loads and stores, all ranks at the same time. */
static void sync_all(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Between two epochs: rank 0's first words all get one value. */
static void set_words(MPI_Win win, int64_t *base, int count, int64_t value)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == check_rank) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        for (int i = 0; i < count; ++i) {
            base[i] = value;
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks add to the same words of rank 0 at once: no addition may be lost. */
static void sums(MPI_Win win, int64_t *base, int count)
{
    int64_t *mine = malloc((size_t) count * sizeof(*mine)),
            *before = malloc((size_t) count * sizeof(*before));
    CHECK(NULL != mine && NULL != before, "no memory");
    for (int i = 0; i < count; ++i) {
        mine[i] = check_rank + i;
        before[i] = -1;
    }
    set_words(win, base, count, 0);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Accumulate(mine, count, MPI_INT64_T, 0, 0, count, MPI_INT64_T, MPI_SUM, win);
    }
    MPI_Get_accumulate(mine, count, MPI_INT64_T, before, count, MPI_INT64_T, 0, 0, count, MPI_INT64_T,
                       MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t ranks = check_size * (check_size - 1) / 2;
    for (int i = 0; i < count; ++i) {
        CHECK(before[i] >= ROUNDS * mine[i] && before[i] <= (ROUNDS + 1) * (ranks + (int64_t) check_size * i),
              "get_accumulate: word %d of %d was %" PRId64, i, count, before[i]);
    }
    sync_all(win);
    for (int i = 0; i < count && 0 == check_rank; ++i) {
        CHECK_EQ(base[i], (ROUNDS + 1) * (ranks + (int64_t) check_size * i), "sum of all accumulates");
    }
    free(mine);
    free(before);
}

/* Each operation in turn, all ranks at once; what comes out does not depend on which rank was first. All
 * ranks with or all without fetching. Bitwise ones come out wrong from a remote rank in 5.0.7 (active-message
 * RDMA), with r2 as well. */
static void operations(MPI_Win win, int64_t *base, bool fetch)
{
    const int64_t mine = check_rank + 1, bit = INT64_C(1) << check_rank;
    int64_t product = 1, bits = 0;
    for (int r = 0; r < check_size; ++r) {
        product *= r + 1;
        bits |= INT64_C(1) << r;
    }
    const struct {
        MPI_Op op;
        int64_t start, operand, expected;
        const char *name;
    } table[] = {
        {MPI_SUM, 7, mine, 7 + check_size * (check_size + 1) / 2, "MPI_SUM"},
        {MPI_PROD, 3, mine, 3 * product, "MPI_PROD"},
        {MPI_MAX, 0, mine, check_size, "MPI_MAX"},
        {MPI_MIN, 1000, -mine, -check_size, "MPI_MIN"},
        {MPI_NO_OP, 11, mine, 11, "MPI_NO_OP"},
        {MPI_BOR, 0, bit, bits, "MPI_BOR"},
        {MPI_BAND, -1, ~bit, ~bits, "MPI_BAND"},
        {MPI_BXOR, bits, bit, 0, "MPI_BXOR"},
    };
    const int good = OMPI_MAJOR_VERSION < 5 ? CHECK_COUNT(table) : CHECK_COUNT(table) - 3;
    for (int t = 0; t < good; ++t) {
        int64_t found = -1;
        set_words(win, base, 1, table[t].start);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        if (fetch || MPI_NO_OP == table[t].op) {
            MPI_Get_accumulate(&table[t].operand, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, 0, 0, 1,
                               MPI_INT64_T, table[t].op, win);
        } else {
            MPI_Accumulate(&table[t].operand, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, table[t].op, win);
        }
        MPI_Win_unlock(0, win);
        if (MPI_NO_OP == table[t].op) {
            CHECK_EQ(found, table[t].start, "what MPI_NO_OP fetched");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        sync_all(win);
        if (0 == check_rank) {
            CHECK_EQ(base[0], table[t].expected, table[t].name);
        }
    }
}

/* The other types, each in a place of its own: whole numbers in them, so that sums are exact. */
static void types(MPI_Win win, int64_t *base)
{
    enum { N = 100 };
    double d[N];
    float f[N];
    int32_t i32[N];
    uint8_t u8[N];
    for (int i = 0; i < N; ++i) {
        d[i] = check_rank + 0.5 * i;
        f[i] = (float) (check_rank + i);
        i32[i] = -check_rank * i;
        u8[i] = (uint8_t) (check_rank + i);
    }
    set_words(win, base, 4 * N, 0);
    MPI_Win_fence(0, win);
    MPI_Accumulate(d, N, MPI_DOUBLE, 0, 0, N, MPI_DOUBLE, MPI_SUM, win);
    MPI_Accumulate(f, N, MPI_FLOAT, 0, N, N, MPI_FLOAT, MPI_SUM, win);
    MPI_Accumulate(i32, N, MPI_INT32_T, 0, 2 * N, N, MPI_INT32_T, MPI_SUM, win);
    MPI_Accumulate(u8, N, MPI_UINT8_T, 0, 3 * N, N, MPI_UINT8_T, MPI_MAX, win);
    MPI_Win_fence(0, win);
    const int ranks = check_size * (check_size - 1) / 2;
    for (int i = 0; i < N && 0 == check_rank; ++i) {
        const void *at[4] = {base, base + N, base + 2 * N, base + 3 * N};
        double got_d;
        float got_f;
        int32_t got_i;
        memcpy(&got_d, (const char *) at[0] + (size_t) i * sizeof(got_d), sizeof(got_d));
        memcpy(&got_f, (const char *) at[1] + (size_t) i * sizeof(got_f), sizeof(got_f));
        memcpy(&got_i, (const char *) at[2] + (size_t) i * sizeof(got_i), sizeof(got_i));
        CHECK_EQ(2 * got_d, 2 * ranks + check_size * i, "twice the sum of doubles");
        CHECK_EQ(got_f, ranks + check_size * i, "sum of floats");
        CHECK_EQ(got_i, -ranks * i, "sum of int32");
        CHECK_EQ(((const uint8_t *) at[3])[i], check_size - 1 + i, "maximum of uint8");
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Whole arrays replaced atomically: the last rank wins, but element by element no mixture. */
static void replace(MPI_Win win, int64_t *base)
{
    enum { N = 3000 };
    int64_t mine[N];
    for (int i = 0; i < N; ++i) {
        mine[i] = 1000000 * (check_rank + 1) + i;
    }
    set_words(win, base, N, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(mine, N, MPI_INT64_T, 0, 0, N, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    sync_all(win);
    for (int i = 0; i < N && 0 == check_rank; ++i) {
        const int64_t rank = base[i] / 1000000;
        CHECK(i == base[i] % 1000000 && rank >= 1 && rank <= check_size, "MPI_REPLACE: word %d is %" PRId64,
              i, base[i]);
    }
}

/* A counter on each rank in turn that all draw numbers from, with fetch_and_op. */
static void counter(MPI_Win win, int64_t *base, int owner)
{
    int64_t one = 1, drawn, last = -1, sum = 0, all = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    base[0] = 0;
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < DRAWS; ++i) {
        MPI_Fetch_and_op(&one, &drawn, MPI_INT64_T, owner, 0, MPI_SUM, win);
        MPI_Win_flush(owner, win);
        CHECK(drawn > last && drawn < (int64_t) DRAWS * check_size,
              "fetch_and_op drew %" PRId64 " after %" PRId64, drawn, last);
        last = drawn;
        sum += drawn;
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, (int64_t) DRAWS * check_size * ((int64_t) DRAWS * check_size - 1) / 2,
             "sum of all numbers drawn");
}

/* A lock made of compare_and_swap, around a read and a write that only it makes safe. */
static void spin_lock(MPI_Win win, int64_t *base)
{
    int64_t free_mark = 0, mark = check_rank + 1, found = -1;
    set_words(win, base, 3, 0);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 5; ++i) {
        do {
            MPI_Compare_and_swap(&mark, &free_mark, &found, MPI_INT64_T, 0, 1, win);
            MPI_Win_flush(0, win);
        } while (0 != found);
        int64_t inside = -1;
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
        CHECK_EQ(base[1], 0, "the lock word");
        CHECK_EQ(base[2], 5 * check_size, "what the lock protects");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_case(void)
{
    MPI_Win win;
    int64_t *base = NULL;
    MPI_Win_allocate((MPI_Aint) WORDS * (MPI_Aint) sizeof(*base), sizeof(*base), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    sums(win, base, 1);
    sums(win, base, 1024);
    sums(win, base, WORDS);
    operations(win, base, false);
    operations(win, base, true);
    types(win, base);
    replace(win, base);
    for (int owner = 0; owner < check_size; ++owner) {
        counter(win, base, owner);
    }
    spin_lock(win, base);
    MPI_Win_free(&win);
}

CHECK_CASE(onesided_atomics, .least = 2)
