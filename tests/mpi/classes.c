/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank streams to another. Says what the interfaces of its node sent meanwhile; what that should be, see
 * classes.sh.
 *
 * usage: classes FROM TO
 */
#include "interfaces.h"

enum { TAG = 40, ACK = 41, WINDOW = 16, ROUNDS = 8, BYTES = 49152 };

static void stream(int from, int to)
{
    uint8_t *out[WINDOW];
    MPI_Request request[WINDOW];
    for (int i = 0; i < WINDOW; ++i) {
        out[i] = check_alloc(BYTES);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < WINDOW; ++i) {
            check_fill(out[i], BYTES, check_seed(from, to, TAG, (uint64_t) (round * WINDOW + i)));
            MPI_Isend(out[i], BYTES, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, to, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < WINDOW; ++i) {
        check_free(out[i], BYTES);
    }
}

static void drain(int from, int to)
{
    uint8_t *in = check_alloc(BYTES);
    for (int m = 0; m < ROUNDS * WINDOW; ++m) {
        MPI_Status status;
        check_poison(in, BYTES);
        MPI_Recv(in, BYTES, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, from, TAG, BYTES, "stream");
        CHECK_CONTENT(in, BYTES, check_seed(from, to, TAG, (uint64_t) m), "stream");
        if (WINDOW - 1 == m % WINDOW) {
            MPI_Send(NULL, 0, MPI_BYTE, from, ACK, MPI_COMM_WORLD);
        }
    }
    check_free(in, BYTES);
}

static void run_case(void)
{
    const int from = NULL != check_argument(1) ? atoi(check_argument(1)) : -1;
    const int to = NULL != check_argument(2) ? atoi(check_argument(2)) : -1;
    CHECK(from >= 0 && from < check_size && to >= 0 && to < check_size && from != to,
          "usage: classes FROM TO");
    /* All speak with all before the stream begins: so all need a table, and the stream finds proved paths. */
    for (int i = 0; i < 10; ++i) {
        for (int off = 1; off < check_size; ++off) {
            const int next = (check_rank + off) % check_size,
                      previous = (check_rank - off + check_size) % check_size;
            int in = -1;
            MPI_Sendrecv(&i, 1, MPI_INT, next, TAG, &in, 1, MPI_INT, previous, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            CHECK_EQ(in, i, "another rank's turn");
        }
        check_sleep(0.01);
    }
    if (check_rank == from) {
        uint64_t before[INTERFACES_RAILS], after[INTERFACES_RAILS];
        interfaces_sent(before);
        stream(from, to);
        interfaces_sent(after);
        printf("classes: sent %d on rail0 %" PRIu64 ", on rail1 %" PRIu64 ", on rail2 %" PRIu64 "\n",
               ROUNDS * WINDOW * BYTES, after[0] - before[0], after[1] - before[1], after[2] - before[2]);
        fflush(stdout);
    } else if (check_rank == to) {
        drain(from, to);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

CHECK_CASE(classes, .least = 2)
