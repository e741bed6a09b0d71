/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two peers with different rails (thesis 4.3.3.2): rank 0 streams to rank 1, and with `load` as much to rank
 * 2, of which it shares one rail less; with `single`, one message after the other. Says what the interfaces
 * of its node sent meanwhile; what that should be, see uneven.sh.
 *
 * usage: uneven load|alone|single BYTES
 */
#include "interfaces.h"

enum { TAG = 30, ACK = 31, WINDOW = 16, MEBIBYTE = 1048576 };

static int rounds(size_t bytes)
{
    const int n = (int) (6 * (size_t) MEBIBYTE / (bytes * WINDOW));
    return n > 2 ? n : 2;
}

/* In turns to each target, at most a window on the way, or one message. */
static void stream(const int *target, int n_targets, size_t bytes, bool single)
{
    uint8_t *out[2][WINDOW];
    MPI_Request request[2 * WINDOW];
    for (int i = 0; i < 2 * WINDOW; ++i) {
        out[i / WINDOW][i % WINDOW] = check_alloc(bytes);
    }
    for (int round = 0; round < rounds(bytes); ++round) {
        int n = 0;
        for (int i = 0; i < WINDOW; ++i) {
            for (int t = 0; t < n_targets; ++t) {
                check_fill(out[t][i], bytes, check_seed(0, target[t], TAG, (uint64_t) (round * WINDOW + i)));
                MPI_Isend(out[t][i], (int) bytes, MPI_BYTE, target[t], TAG, MPI_COMM_WORLD, &request[n++]);
                if (single) {
                    MPI_Recv(NULL, 0, MPI_BYTE, target[t], ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }
            }
        }
        MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
        for (int t = 0; t < n_targets && !single; ++t) {
            MPI_Recv(NULL, 0, MPI_BYTE, target[t], ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < 2 * WINDOW; ++i) {
        check_free(out[i / WINDOW][i % WINDOW], bytes);
    }
}

static void drain(size_t bytes, bool single)
{
    uint8_t *in = check_alloc(bytes);
    for (int m = 0; m < rounds(bytes) * WINDOW; ++m) {
        MPI_Status status;
        check_poison(in, bytes);
        MPI_Recv(in, (int) bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, 0, TAG, bytes, "stream");
        CHECK_CONTENT(in, bytes, check_seed(0, check_rank, TAG, (uint64_t) m), "stream");
        if (single || WINDOW - 1 == m % WINDOW) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, ACK, MPI_COMM_WORLD);
        }
    }
    check_free(in, bytes);
}

static void run_case(void)
{
    const char *kind = check_argument(1), *size = check_argument(2);
    const bool load = NULL != kind && 0 == strcmp(kind, "load");
    const bool single = NULL != kind && 0 == strcmp(kind, "single");
    const size_t bytes = NULL != size ? strtoul(size, NULL, 10) : 0;
    CHECK((load || single || (NULL != kind && 0 == strcmp(kind, "alone"))) && bytes > 0 && bytes <= MEBIBYTE,
          "usage: uneven load|alone|single BYTES");
    const int target[2] = {2, 1}; /* the one with fewer rails first */
    /* All know each other before the streams begin, so that none starts on the first rail to answer. */
    for (int i = 0; i < 20; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        check_sleep(0.01);
    }
    if (0 == check_rank) {
        uint64_t before[INTERFACES_RAILS], after[INTERFACES_RAILS];
        interfaces_sent(before);
        stream(load ? target : target + 1, load ? 2 : 1, bytes, single);
        interfaces_sent(after);
        printf("uneven: %zu bytes to each, on rail0 %" PRIu64 ", on rail1 %" PRIu64 "\n",
               (size_t) rounds(bytes) * WINDOW * bytes, after[0] - before[0], after[1] - before[1]);
        fflush(stdout);
    } else if (1 == check_rank || load) {
        drain(bytes, single);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

CHECK_CASE(uneven, .least = 3)
