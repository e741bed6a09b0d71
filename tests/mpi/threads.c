/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: four threads a rank talk with their counterparts at the same time, first each in a
 * communicator of its own, then all in one with a tag of their own.
 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 25, WINDOW = 6 };

struct work {
    pthread_t thread;
    int number;
    MPI_Comm comm;
    int tag;
};

/* The size of a message: both sides compute it. */
static size_t size_of(int thread, int tag, int message)
{
    uint64_t state = check_seed(thread, tag, 30, (uint64_t) message);
    switch (check_next(&state, 8)) {
    case 0:
        return 65400 + (size_t) check_next(&state, 300);
    case 1:
        return (size_t) check_next(&state, 32768);
    case 2:
    case 3:
        return (size_t) check_next(&state, 4096);
    default:
        return (size_t) check_next(&state, 65);
    }
}

static void *talk(void *argument)
{
    const struct work *work = argument;
    const int partner = check_partner();
    char what[80];
    for (int round = 0; round < ROUNDS; ++round) {
        uint8_t *out[WINDOW], *in[WINDOW];
        size_t bytes[WINDOW];
        MPI_Request request[2 * WINDOW];
        MPI_Status status[2 * WINDOW];
        for (int i = 0; i < WINDOW; ++i) {
            const int message = round * WINDOW + i;
            bytes[i] = size_of(work->number, work->tag, message);
            out[i] = check_alloc(bytes[i]);
            in[i] = check_alloc(bytes[i]);
            check_fill(out[i], bytes[i], check_seed(check_rank, work->number, work->tag, (uint64_t) message));
            MPI_Irecv(in[i], (int) bytes[i], MPI_BYTE, partner, work->tag, work->comm, &request[i]);
        }
        for (int i = 0; i < WINDOW; ++i) {
            MPI_Isend(out[i], (int) bytes[i], MPI_BYTE, partner, work->tag, work->comm, &request[WINDOW + i]);
        }
        MPI_Waitall(2 * WINDOW, request, status);
        for (int i = 0; i < WINDOW; ++i) {
            const int message = round * WINDOW + i;
            snprintf(what, sizeof(what), "thread %d, message %d", work->number, message);
            CHECK_STATUS(&status[i], partner, work->tag, bytes[i], what);
            CHECK_CONTENT(in[i], bytes[i], check_seed(partner, work->number, work->tag, (uint64_t) message),
                          what);
            check_free(out[i], bytes[i]);
            check_free(in[i], bytes[i]);
        }
    }
    return NULL;
}

static void run(struct work *work)
{
    for (int t = 0; t < THREADS; ++t) {
        const int error = pthread_create(&work[t].thread, NULL, talk, &work[t]);
        CHECK(0 == error, "pthread_create: %s", strerror(error));
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(work[t].thread, NULL);
    }
}

static void run_case(void)
{
    struct work work[THREADS];
    for (int t = 0; t < THREADS; ++t) {
        work[t].number = t;
        work[t].tag = 40;
        MPI_Comm_dup(MPI_COMM_WORLD, &work[t].comm);
    }
    run(work);
    for (int t = 0; t < THREADS; ++t) {
        MPI_Comm_free(&work[t].comm);
        work[t].comm = MPI_COMM_WORLD;
        work[t].tag = 50 + t;
    }
    run(work);
}

CHECK_CASE(threads, .least = 2, .threads = true)
