/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Open_port, MPI_Comm_accept, MPI_Comm_connect: the two halves of the job meet through a port, talk over
 * the intercommunicator and merged, part, and meet once more.
 */
#include "check.h"

enum { TAG = 65, MEETINGS = 2 };

static const size_t sizes[] = {0, 1, 1000, 16384, 65522, 65537, 300000};

/* Each rank with all of the other half, both ways at once. */
static void traffic(MPI_Comm inter, bool accepts, int meeting)
{
    int here = -1, there = -1;
    MPI_Comm_rank(inter, &here);
    MPI_Comm_remote_size(inter, &there);
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        const size_t bytes = sizes[s];
        for (int turn = 0; turn < there; ++turn) {
            const int peer = (turn + there - here % there) % there;
            uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
            MPI_Request request[2];
            MPI_Status status[2];
            check_fill(out, bytes, check_seed(here + 1000 * accepts, peer, meeting, bytes));
            MPI_Irecv(in, (int) bytes, MPI_BYTE, peer, TAG, inter, &request[0]);
            MPI_Isend(out, (int) bytes, MPI_BYTE, peer, TAG, inter, &request[1]);
            MPI_Waitall(2, request, status);
            CHECK_STATUS(&status[0], peer, TAG, bytes, "message from the other half");
            CHECK_CONTENT(in, bytes, check_seed(peer + 1000 * !accepts, here, meeting, bytes),
                          "message from the other half");
            check_free(out, bytes);
            check_free(in, bytes);
        }
    }
}

static void merge(MPI_Comm inter, bool accepts)
{
    MPI_Comm merged;
    int rank = -1, size = -1, sum = -1;
    MPI_Intercomm_merge(inter, !accepts, &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK_EQ(size, check_size, "size of the merged communicator");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(sum, size * (size - 1) / 2, "allreduce over both halves");
    MPI_Comm_free(&merged);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, "connect", 2);
    const bool accepts = 0 == check_rank % 2;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, accepts, check_rank, &half);
    if (0 == check_rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int meeting = 0; meeting < MEETINGS; ++meeting) {
        MPI_Comm inter;
        if (accepts) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
        } else {
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
        }
        traffic(inter, accepts, meeting);
        merge(inter, accepts);
        MPI_Comm_disconnect(&inter);
    }
    if (0 == check_rank) {
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
    return check_end();
}
