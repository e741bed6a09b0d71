/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init and MPI_Finalize in the situations that are easy to forget. Usage: lifecycle KIND
 *
 *   quiet           no message at all
 *   pair            only ranks 0 and size-1 ever talk
 *   unreceived      small messages that are never received are there at the end
 *   busy            finalize right behind a storm of messages, no barrier of the program's own
 *   last FILE RANK  once the file is there, rank 0 or 1 sends its last messages to the other one and finalizes
 */
#include <time.h>
#include <unistd.h>

#include "check.h"

static void pair(void)
{
    int in = -1;
    if (0 == check_rank) {
        MPI_Send(&check_size, 1, MPI_INT, check_size - 1, 1, MPI_COMM_WORLD);
    } else if (check_size - 1 == check_rank) {
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in, check_size, "the one message");
    }
}

/* Eager messages: the sender is done with them, and the receiver throws them away. */
static void unreceived(void)
{
    uint8_t buffer[512] = {0};
    for (int i = 0; i < 20; ++i) {
        MPI_Send(buffer, (int) sizeof(buffer), MPI_BYTE, check_partner(), i, MPI_COMM_WORLD);
    }
}

static void busy(void)
{
    enum { N = 200, BYTES = 3000 };
    const int partner = check_partner();
    uint8_t *out = check_alloc(BYTES), *in = check_alloc(BYTES);
    MPI_Request request[N];
    check_fill(out, BYTES, check_seed(check_rank, partner, 3, 0));
    for (int i = 0; i < N; ++i) {
        MPI_Isend(out, BYTES, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = 0; i < N; ++i) {
        check_poison(in, BYTES);
        MPI_Recv(in, BYTES, MPI_BYTE, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_CONTENT(in, BYTES, check_seed(partner, check_rank, 3, 0), "message before finalize");
    }
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    check_free(out, BYTES);
    check_free(in, BYTES);
}

static void last(const char *file, int from)
{
    enum { N = 60, BYTES = 3000 };
    uint8_t *bytes = check_alloc(BYTES);
    if (from == check_rank) {
        MPI_Request request[N];
        printf("lifecycle: ready\n");
        fflush(stdout);
        while (0 != access(file, F_OK)) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        check_fill(bytes, BYTES, check_seed(from, 1 - from, 4, 0));
        for (int i = 0; i < N; ++i) {
            MPI_Isend(bytes, BYTES, MPI_BYTE, 1 - from, 4, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; 1 - from == check_rank && i < N; ++i) {
        check_poison(bytes, BYTES);
        MPI_Recv(bytes, BYTES, MPI_BYTE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_CONTENT(bytes, BYTES, check_seed(from, 1 - from, 4, 0), "one of the last messages");
    }
    check_free(bytes, BYTES);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, "lifecycle", 2);
    const char *kind = argc > 1 ? argv[1] : "";
    if (0 == strcmp(kind, "pair")) {
        pair();
    } else if (0 == strcmp(kind, "unreceived")) {
        unreceived();
    } else if (0 == strcmp(kind, "busy")) {
        busy();
    } else if (0 == strcmp(kind, "last") && argc > 3) {
        last(argv[2], atoi(argv[3]));
    } else {
        CHECK(0 == strcmp(kind, "quiet"), "what is '%s'? quiet, pair, unreceived, busy or last FILE RANK",
              kind);
    }
    MPI_Finalize();
    int finalized = 0;
    MPI_Finalized(&finalized);
    CHECK(finalized, "MPI_Finalized says no");
    if (0 == check_rank) {
        printf("%s: %" PRIu64 " checks passed\n", check_name, (uint64_t) atomic_load(&check_passed));
    }
    return 0;
}
