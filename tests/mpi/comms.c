/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: duplicates do not hear each other, split and reordered ones, intercommunicators and their
 * merge, and many made and freed one after the other.
 */
#include "check.h"

static const size_t sizes[] = {0, 1, 1000, 16384, 65522, 65537, 200000};

/* Every rank of the communicator exchanges with its mirror image in there. */
static void traffic(MPI_Comm comm, int tag, const char *what)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int partner = size - 1 - rank;
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        uint8_t *out = check_alloc(sizes[s]), *in = check_alloc(sizes[s]);
        MPI_Status status;
        check_fill(out, sizes[s], check_seed(rank, partner, tag, sizes[s]));
        MPI_Sendrecv(out, (int) sizes[s], MPI_BYTE, partner, tag, in, (int) sizes[s], MPI_BYTE, partner, tag,
                     comm, &status);
        CHECK_STATUS(&status, partner, tag, sizes[s], what);
        CHECK_CONTENT(in, sizes[s], check_seed(partner, rank, tag, sizes[s]), what);
        check_free(out, sizes[s]);
        check_free(in, sizes[s]);
    }
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, size * (size - 1) / 2, what);
}

/* Same source, same tag, two communicators: each message stays in its own, though received the other way
 * round. */
static void duplicates(void)
{
    enum { N = 20 };
    const int partner = check_partner();
    MPI_Comm twin;
    int result = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_compare(MPI_COMM_WORLD, twin, &result);
    CHECK_EQ(result, MPI_CONGRUENT, "comparison of a duplicate");
    int out[2][N], in;
    MPI_Request request[2][N];
    for (int i = 0; i < N; ++i) {
        out[0][i] = i;
        out[1][i] = 1000 + i;
        MPI_Isend(&out[0][i], 1, MPI_INT, partner, 5, MPI_COMM_WORLD, &request[0][i]);
        MPI_Isend(&out[1][i], 1, MPI_INT, partner, 5, twin, &request[1][i]);
    }
    for (int i = 0; i < N; ++i) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, MPI_STATUS_IGNORE);
        CHECK_EQ(in, 1000 + i, "message in the duplicate");
    }
    for (int i = 0; i < N; ++i) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in, i, "message in the original");
    }
    MPI_Waitall(2 * N, &request[0][0], MPI_STATUSES_IGNORE);
    traffic(twin, 6, "traffic in a duplicate");
    MPI_Comm_free(&twin);
}

static void splits(void)
{
    MPI_Comm part;
    int rank = -1, size = -1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &part); /* all, reversed */
    MPI_Comm_rank(part, &rank);
    CHECK_EQ(rank, check_size - 1 - check_rank, "rank in the reversed communicator");
    traffic(part, 7, "traffic in the reversed communicator");
    MPI_Comm_free(&part);

    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &part); /* across the nodes */
    MPI_Comm_size(part, &size);
    CHECK_EQ(size, (check_size + 1 - check_rank % 2) / 2, "size of half a communicator");
    traffic(part, 8, "traffic in half a communicator");
    MPI_Comm_free(&part);

    MPI_Comm_split(MPI_COMM_WORLD, 0 == check_rank ? MPI_UNDEFINED : 1, check_rank,
                   &part); /* all but rank 0 */
    if (0 == check_rank) {
        CHECK(MPI_COMM_NULL == part, "a rank without a colour got a communicator");
    } else {
        traffic(part, 9, "traffic without rank 0");
        MPI_Comm_free(&part);
    }

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part); /* within a node */
    traffic(part, 10, "traffic within a node");
    MPI_Comm_free(&part);
}

/* Two groups, each with its leader, and traffic from each rank of one to each rank of the other. */
static void intercommunicators(void)
{
    const bool high = check_rank >= check_size / 2;
    MPI_Comm local, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, high ? 0 : check_size / 2, 11, &inter);
    int others = -1, flag = 0, mine = -1;
    MPI_Comm_remote_size(inter, &others);
    MPI_Comm_rank(inter, &mine);
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag, "not an intercommunicator");
    CHECK_EQ(others, high ? check_size / 2 : check_size - check_size / 2, "remote size");
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        const size_t bytes = sizes[s];
        uint8_t *out[64], *in[64];
        MPI_Request request[128];
        CHECK(others <= 64, "too many ranks");
        for (int r = 0; r < others; ++r) {
            out[r] = check_alloc(bytes);
            in[r] = check_alloc(bytes);
            check_fill(out[r], bytes, check_seed(mine, r, 12 + high, bytes));
            MPI_Irecv(in[r], (int) bytes, MPI_BYTE, r, 12, inter, &request[r]);
        }
        for (int r = 0; r < others; ++r) {
            MPI_Isend(out[r], (int) bytes, MPI_BYTE, r, 12, inter, &request[others + r]);
        }
        MPI_Waitall(2 * others, request, MPI_STATUSES_IGNORE);
        for (int r = 0; r < others; ++r) {
            CHECK_CONTENT(in[r], bytes, check_seed(r, mine, 12 + !high, bytes), "intercommunicator");
            check_free(out[r], bytes);
            check_free(in[r], bytes);
        }
    }

    /* collectives over it: rank 0 of the low group tells the whole high group; both groups hear the other's
     * sum */
    int told = high ? -1 : 4711, sum = -1, one = 1 + high;
    MPI_Bcast(&told, 1, MPI_INT, high ? 0 : (0 == mine ? MPI_ROOT : MPI_PROC_NULL), inter);
    CHECK_EQ(told, 4711, "bcast over an intercommunicator");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, others * (1 + !high), "allreduce over an intercommunicator");
    MPI_Barrier(inter);

    int rank = -1, size = -1;
    MPI_Intercomm_merge(inter, !high, &merged); /* the high group comes first */
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK_EQ(size, check_size, "size after the merge");
    CHECK_EQ(rank, high ? check_rank - check_size / 2 : check_rank + check_size - check_size / 2,
             "rank after the merge");
    traffic(merged, 13, "traffic after the merge");
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* Made and freed over and over with a message under way in each: the next one must not hear the last
 * one's. */
static void many_in_turn(void)
{
    const int partner = check_partner();
    for (int i = 0; i < 40; ++i) {
        MPI_Comm comm;
        MPI_Request request;
        int out = i, in = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Isend(&out, 1, MPI_INT, partner, 14, comm, &request);
        MPI_Recv(&in, 1, MPI_INT, partner, 14, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQ(in, i, "message in a communicator of its own");
        MPI_Comm_free(&comm);
    }
}

static void run_case(void)
{
    duplicates();
    splits();
    intercommunicators();
    many_in_turn();
}

CHECK_CASE(comms, .least = 2)
