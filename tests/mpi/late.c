/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that computes for two seconds, and so makes no progress, while the others send to it: nothing is
 * lost, and no rail passes for dead because its partner is busy. The last rank is late, then the first.
 */
#include "check.h"

enum { MESSAGES = 150 };
static const double BUSY_SECONDS = 2.0;

static size_t size_of(int k)
{
    static const size_t sizes[] = {8, 16384, 0, 1024, 65522, 64, 4096, 100000, 256, 8192};
    return sizes[k % CHECK_COUNT(sizes)];
}

/* All but `late` send to it and wait for its answer. */
static void round_with(int late)
{
    static uint8_t *buffer[MESSAGES];
    static MPI_Request request[MESSAGES];
    if (check_rank != late) {
        for (int k = 0; k < MESSAGES; ++k) {
            buffer[k] = check_alloc(size_of(k));
            check_fill(buffer[k], size_of(k), check_seed(check_rank, late, 70, (uint64_t) k));
            MPI_Isend(buffer[k], (int) size_of(k), MPI_BYTE, late, 70, MPI_COMM_WORLD, &request[k]);
        }
        int answer = -1;
        MPI_Recv(&answer, 1, MPI_INT, late, 71, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(answer, late, "the late rank's answer");
        MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
        for (int k = 0; k < MESSAGES; ++k) {
            check_free(buffer[k], size_of(k));
        }
        return;
    }
    const double end = check_seconds() + BUSY_SECONDS;
    while (check_seconds() < end) {
        check_sleep(0.01);
    }
    uint8_t *in = check_alloc(100000);
    for (int k = 0; k < MESSAGES; ++k) {
        for (int from = 0; from < check_size; ++from) {
            if (from != late) {
                MPI_Status status;
                check_poison(in, 100000);
                MPI_Recv(in, 100000, MPI_BYTE, from, 70, MPI_COMM_WORLD, &status);
                CHECK_STATUS(&status, from, 70, size_of(k), "message to a late rank");
                CHECK_CONTENT(in, size_of(k), check_seed(from, late, 70, (uint64_t) k),
                              "message to a late rank");
            }
        }
    }
    check_free(in, 100000);
    for (int to = 0; to < check_size; ++to) {
        if (to != late) {
            MPI_Send(&check_rank, 1, MPI_INT, to, 71, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, "late", 2);
    round_with(check_size - 1);
    round_with(0);
    return check_end();
}
