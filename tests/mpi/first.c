/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The very first message goes from one given rank to another, while no other rank sends anything: the
 * connection is made from this side. Then back, and on to all ranks.
 *
 * usage: first RANK      between rank 0 and the last one; the first message goes to RANK
 */
#include "check.h"

enum { BYTES = 100000, TAG = 40 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, "first", 2);
    const int last = check_size - 1;
    const int to = argc > 1 ? atoi(argv[1]) : -1;
    CHECK(0 == to || last == to, "usage: first RANK, which is 0 or %d", last);
    uint8_t *out = check_alloc(BYTES), *in = check_alloc(BYTES);
    const int peer = last - check_rank;
    if (0 == check_rank || last == check_rank) {
        check_fill(out, BYTES, check_seed(check_rank, peer, TAG, 0));
        if (peer != to) {
            check_sleep(0.5); /* the rank that gets the first message waits in silence, without a connection
                                 of its own */
        } else {
            MPI_Send(out, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        }
        MPI_Status status;
        MPI_Recv(in, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, peer, TAG, BYTES, "first message");
        CHECK_CONTENT(in, BYTES, check_seed(peer, check_rank, TAG, 0), "first message");
        if (peer != to) {
            MPI_Send(out, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        }
    }
    int sum = 0;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size * last / 2, "sum of the ranks");
    check_free(out, BYTES);
    check_free(in, BYTES);
    return check_end();
}
