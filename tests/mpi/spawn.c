/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_spawn: one more process of this program, and traffic with it over the intercommunicator and after
 * a merge.
 *   spawn [ROUNDS]     so many rounds of traffic (1)
 */
#include "check.h"

static const size_t sizes[] = {0, 1, 1000, 16384, 65522, 65537, 300000};

/* Every parent sends to the child and gets its answer. */
static void exchange(MPI_Comm inter, bool child)
{
    int parents = -1, rank = -1;
    MPI_Comm_rank(inter, &rank);
    if (child) {
        MPI_Comm_remote_size(inter, &parents);
    }
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        const size_t bytes = sizes[s];
        uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
        MPI_Status status;
        if (child) {
            for (int p = 0; p < parents; ++p) {
                check_poison(in, bytes);
                MPI_Recv(in, (int) bytes, MPI_BYTE, p, 60, inter, &status);
                CHECK_STATUS(&status, p, 60, bytes, "message to the spawned process");
                CHECK_CONTENT(in, bytes, check_seed(p, 1000, 60, bytes), "message to the spawned process");
                check_fill(out, bytes, check_seed(1000, p, 61, bytes));
                MPI_Send(out, (int) bytes, MPI_BYTE, p, 61, inter);
            }
        } else {
            check_fill(out, bytes, check_seed(rank, 1000, 60, bytes));
            MPI_Send(out, (int) bytes, MPI_BYTE, 0, 60, inter);
            MPI_Recv(in, (int) bytes, MPI_BYTE, 0, 61, inter, &status);
            CHECK_STATUS(&status, 0, 61, bytes, "answer of the spawned process");
            CHECK_CONTENT(in, bytes, check_seed(1000, rank, 61, bytes), "answer of the spawned process");
        }
        check_free(out, bytes);
        check_free(in, bytes);
    }
}

static void traffic(MPI_Comm inter, bool child, int rounds)
{
    for (int i = 0; i < rounds; ++i) {
        exchange(inter, child);
        if (0 == i && !child && 0 == check_rank) {
            printf("spawn: talks to the spawned process\n");
            (void) fflush(stdout);
        }
    }
}

static void merge(MPI_Comm inter, bool child)
{
    MPI_Comm merged;
    int rank = -1, size = -1, sum = -1;
    MPI_Intercomm_merge(inter, child, &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(sum, size * (size - 1) / 2, "allreduce with the spawned process");
    MPI_Comm_free(&merged);
}

int main(int argc, char **argv)
{
    check_name = "spawn";
    MPI_Comm parent = MPI_COMM_NULL, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm_get_parent(&parent);
    if (MPI_COMM_NULL != parent) {
        check_name = "spawn (child)";
        traffic(parent, true, rounds);
        merge(parent, true);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    int error = MPI_SUCCESS;
    MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, &error);
    CHECK_EQ(error, MPI_SUCCESS, "MPI_Comm_spawn");
    traffic(inter, false, rounds);
    merge(inter, false);
    MPI_Comm_disconnect(&inter);
    return check_end();
}
