/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common collectives, from no element to 1 MiB, every element of every result compared.
 */
#include "check.h"

typedef uint64_t word;

static const size_t sizes[] = {0, 8, 64, 1000, 4096, 16384, 65528, 65536, 262144, 1048576}; /* bytes */

static size_t n; /* words of this round */
static int root; /* of this round */
static uint64_t round_seed;

/* Word i that rank `from` has for rank `to` (0 where it is for all ranks). */
static word value(int from, int to, size_t i)
{
    return check_mix(round_seed + ((uint64_t) from << 48) + ((uint64_t) to << 40) + i);
}

static word *words(size_t count)
{
    return (word *) (void *) check_alloc(count * sizeof(word));
}

static void release(word *buffer, size_t count)
{
    check_free((uint8_t *) buffer, count * sizeof(word));
}

static void compare(size_t i, word got, word expected, const char *what)
{
    if (got != expected) {
        check_fail(__FILE__, __LINE__,
                   "%s, %zu words, root %d: word %zu is 0x%" PRIx64 ", expected 0x%" PRIx64, what, n, root, i,
                   got, expected);
    }
}

static void bcast(bool nonblocking)
{
    word *data = words(n);
    for (size_t i = 0; i < n && check_rank == root; ++i) {
        data[i] = value(root, 0, i);
    }
    if (nonblocking) {
        MPI_Request request;
        MPI_Ibcast(data, (int) n, MPI_UINT64_T, root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Bcast(data, (int) n, MPI_UINT64_T, root, MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < n; ++i) {
        compare(i, data[i], value(root, 0, i), nonblocking ? "ibcast" : "bcast");
    }
    CHECK(true, "bcast");
    release(data, n);
}

static word sum_up_to(int last, size_t i)
{
    word sum = 0;
    for (int r = 0; r <= last; ++r) {
        sum += value(r, 0, i);
    }
    return sum;
}

static word maximum(size_t i)
{
    word max = 0;
    for (int r = 0; r < check_size; ++r) {
        max = value(r, 0, i) > max ? value(r, 0, i) : max;
    }
    return max;
}

static void reductions(void)
{
    word *mine = words(n), *result = words(n);
    MPI_Request request;
    for (size_t i = 0; i < n; ++i) {
        mine[i] = value(check_rank, 0, i);
    }
    MPI_Reduce(mine, result, (int) n, MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD);
    for (size_t i = 0; i < n && check_rank == root; ++i) {
        compare(i, result[i], sum_up_to(check_size - 1, i), "reduce");
    }
    check_poison((uint8_t *) result, n * sizeof(word));
    MPI_Allreduce(mine, result, (int) n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; ++i) {
        compare(i, result[i], sum_up_to(check_size - 1, i), "allreduce");
    }
    memcpy(result, mine, n * sizeof(word));
    MPI_Allreduce(MPI_IN_PLACE, result, (int) n, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; ++i) {
        compare(i, result[i], maximum(i), "allreduce in place");
    }
    check_poison((uint8_t *) result, n * sizeof(word));
    MPI_Iallreduce(mine, result, (int) n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < n; ++i) {
        compare(i, result[i], sum_up_to(check_size - 1, i), "iallreduce");
    }
    check_poison((uint8_t *) result, n * sizeof(word));
    MPI_Scan(mine, result, (int) n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; ++i) {
        compare(i, result[i], sum_up_to(check_rank, i), "scan");
    }
    check_poison((uint8_t *) result, n * sizeof(word));
    MPI_Exscan(mine, result, (int) n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < n && check_rank > 0; ++i) {
        compare(i, result[i], sum_up_to(check_rank - 1, i), "exscan");
    }
    CHECK(true, "reductions");
    release(mine, n);
    release(result, n);
}

/* Uneven parts: rank r gets n/size words and r more. */
static void reduce_scatter(void)
{
    int counts[64];
    size_t total = 0, start = 0;
    CHECK(check_size <= 64, "too many ranks");
    for (int r = 0; r < check_size; ++r) {
        counts[r] = 0 == n ? 0 : (int) (n / (size_t) check_size) + r;
        start += r < check_rank ? (size_t) counts[r] : 0;
        total += (size_t) counts[r];
    }
    word *mine = words(total), *result = words((size_t) counts[check_rank]);
    for (size_t i = 0; i < total; ++i) {
        mine[i] = value(check_rank, 0, i);
    }
    MPI_Reduce_scatter(mine, result, counts, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < (size_t) counts[check_rank]; ++i) {
        compare(i, result[i], sum_up_to(check_size - 1, start + i), "reduce_scatter");
    }
    CHECK(true, "reduce_scatter");
    release(mine, total);
    release(result, (size_t) counts[check_rank]);
}

static void gathers(void)
{
    const size_t all = n * (size_t) check_size;
    word *mine = words(n), *result = words(all);
    for (size_t i = 0; i < n; ++i) {
        mine[i] = value(check_rank, 0, i);
    }
    MPI_Gather(mine, (int) n, MPI_UINT64_T, result, (int) n, MPI_UINT64_T, root, MPI_COMM_WORLD);
    for (size_t i = 0; i < all && check_rank == root; ++i) {
        compare(i, result[i], value((int) (i / n), 0, i % n), "gather");
    }
    check_poison((uint8_t *) result, all * sizeof(word));
    MPI_Allgather(mine, (int) n, MPI_UINT64_T, result, (int) n, MPI_UINT64_T, MPI_COMM_WORLD);
    for (size_t i = 0; i < all; ++i) {
        compare(i, result[i], value((int) (i / n), 0, i % n), "allgather");
    }
    for (size_t i = 0; i < all && check_rank == root; ++i) {
        result[i] = value(root, (int) (i / n), i % n);
    }
    check_poison((uint8_t *) mine, n * sizeof(word));
    MPI_Scatter(result, (int) n, MPI_UINT64_T, mine, (int) n, MPI_UINT64_T, root, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; ++i) {
        compare(i, mine[i], value(root, check_rank, i), "scatter");
    }
    CHECK(true, "gather, allgather, scatter");
    release(mine, n);
    release(result, all);
}

/* Rank r contributes r/size of n words (rank 0 nothing), and a hole lies between two parts. */
static void allgatherv(void)
{
    int counts[64], places[64];
    size_t room = 0;
    for (int r = 0; r < check_size; ++r) {
        counts[r] = (int) (n * (size_t) r / (size_t) check_size);
        places[r] = (int) room + 3;
        room = (size_t) places[r] + (size_t) counts[r];
    }
    word *mine = words((size_t) counts[check_rank]), *result = words(room), hole;
    check_poison((uint8_t *) &hole, sizeof(hole));
    for (size_t i = 0; i < (size_t) counts[check_rank]; ++i) {
        mine[i] = value(check_rank, 0, i);
    }
    MPI_Allgatherv(mine, counts[check_rank], MPI_UINT64_T, result, counts, places, MPI_UINT64_T,
                   MPI_COMM_WORLD);
    for (int r = 0; r < check_size; ++r) {
        for (int i = 0; i < counts[r]; ++i) {
            compare((size_t) i, result[places[r] + i], value(r, 0, (size_t) i), "allgatherv");
        }
        for (int i = 1; i <= 3; ++i) {
            compare((size_t) i, result[places[r] - i], hole, "hole of an allgatherv");
        }
    }
    CHECK(true, "allgatherv");
    release(mine, (size_t) counts[check_rank]);
    release(result, room);
}

static void alltoall(void)
{
    const size_t all = n * (size_t) check_size;
    word *mine = words(all), *result = words(all);
    for (size_t i = 0; i < all; ++i) {
        mine[i] = value(check_rank, (int) (i / n), i % n);
    }
    MPI_Alltoall(mine, (int) n, MPI_UINT64_T, result, (int) n, MPI_UINT64_T, MPI_COMM_WORLD);
    for (size_t i = 0; i < all; ++i) {
        compare(i, result[i], value((int) (i / n), check_rank, i % n), "alltoall");
    }
    CHECK(true, "alltoall");
    release(mine, all);
    release(result, all);
}

/* From rank a to rank b go n * (a + b) / (2 size) words. */
static void alltoallv(void)
{
    int send_counts[64], send_places[64], counts[64], places[64];
    size_t send_room = 0, room = 0;
    for (int r = 0; r < check_size; ++r) {
        const size_t count = n * (size_t) (check_rank + r) / (size_t) (2 * check_size);
        send_counts[r] = counts[r] = (int) count; /* symmetric in a and b */
        send_places[r] = (int) send_room;
        places[r] = (int) room;
        send_room += count;
        room += count;
    }
    word *mine = words(send_room), *result = words(room);
    for (int r = 0; r < check_size; ++r) {
        for (int i = 0; i < send_counts[r]; ++i) {
            mine[send_places[r] + i] = value(check_rank, r, (size_t) i);
        }
    }
    MPI_Alltoallv(mine, send_counts, send_places, MPI_UINT64_T, result, counts, places, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    for (int r = 0; r < check_size; ++r) {
        for (int i = 0; i < counts[r]; ++i) {
            compare((size_t) i, result[places[r] + i], value(r, check_rank, (size_t) i), "alltoallv");
        }
    }
    CHECK(true, "alltoallv");
    release(mine, send_room);
    release(result, room);
}

/*
 * No rank leaves a barrier before the last one came: rank `root` comes late, and every other tells it on
 * leaving. It must not have heard from any rank before it enters.
 */
static void barrier(bool nonblocking)
{
    enum { TAG_LEFT = 80 };
    int flag = 0;
    if (check_rank == root) {
        for (int i = 0; i < 30; ++i) {
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, TAG_LEFT, MPI_COMM_WORLD, &flag, &status);
            CHECK(!flag, "rank %d left the barrier that rank %d had not entered", status.MPI_SOURCE, root);
            check_sleep(0.001);
        }
    }
    if (nonblocking) {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check_rank != root) {
        MPI_Send(NULL, 0, MPI_BYTE, root, TAG_LEFT, MPI_COMM_WORLD);
    }
    for (int r = 0; r < check_size && check_rank == root; ++r) {
        if (r != root) {
            MPI_Recv(NULL, 0, MPI_BYTE, r, TAG_LEFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void run_case(void)
{
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        n = sizes[s] / sizeof(word);
        root = s % check_size;
        round_seed = check_mix((uint64_t) s);
        bcast(false);
        bcast(true);
        reductions();
        reduce_scatter();
        gathers();
        allgatherv();
        alltoall();
        alltoallv();
    }
    for (root = 0; root < check_size; ++root) {
        barrier(false);
        barrier(true);
    }
}

CHECK_CASE(collectives, .least = 2)
