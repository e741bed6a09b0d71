/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks; prints "SIZE WINDOW NS" lines, the median time per message of many short batches: WINDOW
 * messages out, one answer back. Sizes of all ob1's protocols, so that every call into the BML that the base
 * patches touch is on the way.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 201, WINDOW_MAX = 32, SIZE_MAX_BYTES = 262144 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static void batch(int rank, char *buffer, int size, int window)
{
    MPI_Request request[WINDOW_MAX];
    for (int i = 0; i < window; ++i) {
        if (0 == rank) {
            MPI_Isend(buffer, size, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request[i]);
        } else {
            MPI_Irecv(buffer + (size_t) i * size, size, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request[i]);
        }
    }
    MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
    if (0 == rank) {
        MPI_Recv(buffer, size, MPI_BYTE, 1, WINDOW_MAX, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, size, MPI_BYTE, 0, WINDOW_MAX, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 4096, 65536, SIZE_MAX_BYTES};
    static double ns[BATCHES];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *buffer = malloc((size_t) SIZE_MAX_BYTES * WINDOW_MAX);
    if (2 != ranks || NULL == buffer) {
        fprintf(stderr, "pingpong needs two ranks and memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        /* Many long messages at once would measure the socket buffers. */
        const int windows[] = {1, sizes[i] <= 4096 ? WINDOW_MAX : 4};
        for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); ++w) {
            /* Short messages: several batches a sample, well above the clock's grain. */
            int repeat = sizes[i] <= 4096 && 1 == windows[w] ? 20 : 1;
            for (int b = -20; b < BATCHES; ++b) {
                double start = MPI_Wtime();
                for (int r = 0; r < repeat; ++r) {
                    batch(rank, buffer, sizes[i], windows[w]);
                }
                if (b >= 0) {
                    ns[b] = (MPI_Wtime() - start) * 1e9 / repeat / (windows[w] + 1);
                }
            }
            qsort(ns, BATCHES, sizeof(ns[0]), by_value);
            if (0 == rank) {
                printf("%d %d %.0f\n", sizes[i], windows[w], ns[BATCHES / 2]);
            }
        }
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
