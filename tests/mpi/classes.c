/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * One rank streams to another. Says what the interfaces of its node sent meanwhile, and how long MPI_Init
 * took; what that should be, see classes.sh.
 *
 * usage: classes FROM TO
 */
#include "check.h"

enum { TAG = 40, ACK = 41, WINDOW = 16, ROUNDS = 8, BYTES = 49152, RAILS = 3 };

/* Bytes that this node has sent so far on each of its rails. The measurement of the rails is over when
 * MPI_Init returns. */
static void sent(uint64_t bytes[RAILS])
{
    char line[512];
    FILE *f = fopen("/proc/self/net/dev", "r");
    memset(bytes, 0, RAILS * sizeof(*bytes));
    CHECK(NULL != f, "there is no /proc/self/net/dev");
    while (NULL != fgets(line, sizeof(line), f)) {
        unsigned rail = 0;
        uint64_t tx = 0;
        if (2 == sscanf(line, " rail%u: %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &rail, &tx)
            && rail < RAILS) {
            bytes[rail] = tx;
        }
    }
    fclose(f);
}

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

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec * 1e3 + (double) ts.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    const double start = now_ms();
    check_begin(&argc, &argv, "classes", 2);
    double took = now_ms() - start, longest = 0;
    const int from = argc > 1 ? atoi(argv[1]) : -1, to = argc > 2 ? atoi(argv[2]) : -1;
    CHECK(argc == 3 && from >= 0 && from < check_size && to >= 0 && to < check_size && from != to,
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
        uint64_t before[RAILS], after[RAILS];
        sent(before);
        stream(from, to);
        sent(after);
        printf("classes: sent %d on rail0 %" PRIu64 ", on rail1 %" PRIu64 ", on rail2 %" PRIu64 "\n",
               ROUNDS * WINDOW * BYTES, after[0] - before[0], after[1] - before[1], after[2] - before[2]);
        fflush(stdout);
    } else if (check_rank == to) {
        drain(from, to);
    }
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (0 == check_rank) {
        printf("classes: MPI_Init took %.0f ms\n", longest);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
