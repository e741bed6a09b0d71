/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE under load: eight threads a rank send and receive messages of 0 B to 1 MiB at the same
 * time, each with its counterpart in a communicator of its own, then in a shared one by tags, then with
 * receives that take what any thread of any rank sent; and all the while one more thread does collectives.
 * Usage: stress [SEED]
 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, MESSAGES = 36, WINDOW = 6, COLLECTIVES = 40, LARGEST = 1 << 20 };
enum { TAG_OWN = 70, TAG_SHARED = 80 };
enum { ALL = THREADS * MESSAGES }; /* messages of one rank in one phase */

struct work {
    pthread_t thread;
    int number;
    MPI_Comm comm;
    int tag;
};

static uint64_t job_seed;
static atomic_int tickets; /* of receives of anything: as many as there are messages to this rank */
static atomic_flag *taken; /* [source rank * ALL + message]: no message may come twice */

static size_t size_of(int source, int tag, int message)
{
    uint64_t state = job_seed ^ check_seed(source, tag, 93, (uint64_t) message);
    const uint64_t kind = check_next(&state, 100);
    return (size_t) (kind < 10   ? 0
                     : kind < 45 ? check_next(&state, 65)
                     : kind < 65 ? check_next(&state, 4097)
                     : kind < 80 ? check_next(&state, 32769)
                     : kind < 90 ? 65400 + check_next(&state, 300)
                     : kind < 98 ? 66000 + check_next(&state, 100000)
                                 : 1 + check_next(&state, LARGEST));
}

static uint64_t content_of(int source, int tag, int message)
{
    return job_seed + check_seed(source, tag, 94, (uint64_t) message);
}

/* Windows of messages both ways with the same thread of the partner; every fourth is synchronous. */
static void *talk(void *argument)
{
    const struct work *work = argument;
    const int partner = check_partner(), tag = work->tag;
    char what[96];
    for (int first = 0; first < MESSAGES; first += WINDOW) {
        uint8_t *out[WINDOW], *in[WINDOW];
        MPI_Request request[2 * WINDOW];
        MPI_Status status[2 * WINDOW];
        for (int i = 0; i < WINDOW; ++i) {
            const size_t bytes = size_of(partner, tag, first + i);
            in[i] = check_alloc(bytes);
            MPI_Irecv(in[i], (int) bytes, MPI_BYTE, partner, tag, work->comm, &request[i]);
        }
        for (int i = 0; i < WINDOW; ++i) {
            const size_t bytes = size_of(check_rank, tag, first + i);
            out[i] = check_alloc(bytes);
            check_fill(out[i], bytes, content_of(check_rank, tag, first + i));
            (0 == i % 4 ? MPI_Issend : MPI_Isend)(out[i], (int) bytes, MPI_BYTE, partner, tag, work->comm,
                                                  &request[WINDOW + i]);
        }
        MPI_Waitall(2 * WINDOW, request, status);
        for (int i = 0; i < WINDOW; ++i) {
            const size_t bytes = size_of(partner, tag, first + i);
            snprintf(what, sizeof(what), "seed %" PRIu64 ", tag %d, message %d", job_seed, tag, first + i);
            CHECK_STATUS(&status[i], partner, tag, bytes, what);
            CHECK_CONTENT(in[i], bytes, content_of(partner, tag, first + i), what);
            check_free(in[i], bytes);
            check_free(out[i], size_of(check_rank, tag, first + i));
        }
    }
    return NULL;
}

/* Takes what there is, of whatever rank and thread. The tag names the message; a matching probe keeps it for
 * this thread, and the tickets tell the threads when to stop, without a lock. Every other receive is one of
 * anything. */
static void take_anything(MPI_Comm comm, uint8_t *buffer)
{
    MPI_Message message;
    MPI_Status status;
    int count = -1;
    char what[96];
    check_poison(buffer, LARGEST);
    const int ticket = atomic_fetch_sub(&tickets, 1);
    if (ticket <= 0) {
        return;
    }
    if (ticket % 2) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count >= 0 && count <= LARGEST, "a message of %d bytes was probed", count);
        MPI_Mrecv(buffer, count, MPI_BYTE, &message, &status);
    } else {
        MPI_Recv(buffer, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    }
    const int source = status.MPI_SOURCE, number = status.MPI_TAG;
    CHECK(source >= 0 && source < check_size && number >= 0 && number < ALL,
          "a message from rank %d with tag %d", source, number);
    snprintf(what, sizeof(what), "seed %" PRIu64 ", anything: message %d of rank %d", job_seed, number,
             source);
    CHECK(!atomic_flag_test_and_set(&taken[source * ALL + number]), "%s came twice", what);
    const size_t bytes = size_of(source, TAG_SHARED, number);
    CHECK_STATUS(&status, source, number, bytes, what);
    CHECK_CONTENT(buffer, bytes, content_of(source, TAG_SHARED, number), what);
    CHECK(bytes >= LARGEST || CHECK_POISON_BYTE == buffer[bytes], "%s: written past its end", what);
}

/* Sends its share to all ranks in turn, itself too, and in between takes as many of others. */
static void *mingle(void *argument)
{
    const struct work *work = argument;
    uint8_t *in = check_alloc(LARGEST), *out[MESSAGES];
    MPI_Request request[MESSAGES];
    for (int i = 0; i < MESSAGES; ++i) {
        const int number = work->number * MESSAGES + i;
        const size_t bytes = size_of(check_rank, TAG_SHARED, number);
        out[i] = check_alloc(bytes);
        check_fill(out[i], bytes, content_of(check_rank, TAG_SHARED, number));
        MPI_Isend(out[i], (int) bytes, MPI_BYTE, (check_rank + number) % check_size, number, work->comm,
                  &request[i]);
        if (i % WINDOW == WINDOW - 1) {
            for (int k = 0; k < WINDOW; ++k) {
                take_anything(work->comm, in);
            }
        }
    }
    MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; ++i) {
        check_free(out[i], size_of(check_rank, TAG_SHARED, work->number * MESSAGES + i));
    }
    check_free(in, LARGEST);
    return NULL;
}

/* Beside the others: an allreduce, a broadcast and an alltoall, with another size and root each time. */
static void *collect(void *argument)
{
    const struct work *work = argument;
    for (int i = 0; i < COLLECTIVES; ++i) {
        const size_t count = 1 + (size_t) (check_mix(job_seed + (uint64_t) i) % (0 == i % 8 ? 20000 : 500));
        const int root = i % check_size;
        uint64_t *mine = calloc(count * (size_t) check_size, sizeof(*mine));
        uint64_t *sum = calloc(count * (size_t) check_size, sizeof(*sum));
        CHECK(NULL != mine && NULL != sum, "no memory");
        for (size_t k = 0; k < count; ++k) {
            mine[k] = check_mix((uint64_t) check_rank * 1000 + (uint64_t) i + k);
        }
        MPI_Allreduce(mine, sum, (int) count, MPI_UINT64_T, MPI_SUM, work->comm);
        for (size_t k = 0; k < count; ++k) {
            uint64_t right = 0;
            for (int r = 0; r < check_size; ++r) {
                right += check_mix((uint64_t) r * 1000 + (uint64_t) i + k);
            }
            CHECK(sum[k] == right, "seed %" PRIu64 ", allreduce %d: word %zu of %zu is wrong", job_seed, i, k,
                  count);
        }
        MPI_Bcast(check_rank == root ? mine : sum, (int) count, MPI_UINT64_T, root, work->comm);
        for (size_t k = 0; k < count; ++k) {
            CHECK((check_rank == root ? mine : sum)[k]
                      == check_mix((uint64_t) root * 1000 + (uint64_t) i + k),
                  "seed %" PRIu64 ", broadcast %d: word %zu of %zu is wrong", job_seed, i, k, count);
        }
        for (size_t k = 0; k < count * (size_t) check_size; ++k) {
            mine[k] = check_seed(check_rank, (int) (k / count), i, k % count);
        }
        MPI_Alltoall(mine, (int) count, MPI_UINT64_T, sum, (int) count, MPI_UINT64_T, work->comm);
        for (size_t k = 0; k < count * (size_t) check_size; ++k) {
            CHECK(sum[k] == check_seed((int) (k / count), check_rank, i, k % count),
                  "seed %" PRIu64 ", alltoall %d: word %zu from rank %zu is wrong", job_seed, i, k % count,
                  k / count);
        }
        free(mine);
        free(sum);
    }
    return NULL;
}

static void run(struct work *work, void *(*phase)(void *), struct work *collecting)
{
    for (int t = 0; t < THREADS; ++t) {
        const int error = pthread_create(&work[t].thread, NULL, phase, &work[t]);
        CHECK(0 == error, "pthread_create: %s", strerror(error));
    }
    const int error = pthread_create(&collecting->thread, NULL, collect, collecting);
    CHECK(0 == error, "pthread_create: %s", strerror(error));
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(work[t].thread, NULL);
    }
    pthread_join(collecting->thread, NULL);
}

/* How many messages of a phase of mingle() go to this rank. */
static int messages_to_me(void)
{
    int sum = 0;
    for (int r = 0; r < check_size; ++r) {
        for (int number = 0; number < ALL; ++number) {
            sum += (r + number) % check_size == check_rank;
        }
    }
    return sum;
}

static void run_case(void)
{
    int flag = 0;
    CHECK(0 == check_size % 2, "needs an even number of ranks");
    job_seed = check_job_seed(1);

    struct work work[THREADS], collecting;
    MPI_Comm shared;
    MPI_Comm_dup(MPI_COMM_WORLD, &collecting.comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int t = 0; t < THREADS; ++t) {
        work[t].number = t;
        work[t].tag = TAG_OWN;
        MPI_Comm_dup(MPI_COMM_WORLD, &work[t].comm);
    }
    run(work, talk, &collecting);
    for (int t = 0; t < THREADS; ++t) {
        MPI_Comm_free(&work[t].comm);
        work[t].comm = shared;
        work[t].tag = TAG_SHARED + t;
    }
    run(work, talk, &collecting);

    /* No rank may still be in a receive by tag when receives of anything begin, nor the other way round. */
    MPI_Barrier(MPI_COMM_WORLD);
    taken = malloc((size_t) (check_size * ALL) * sizeof(*taken));
    CHECK(NULL != taken, "no memory");
    for (int i = 0; i < check_size * ALL; ++i) {
        atomic_flag_clear(&taken[i]);
    }
    const int to_me = messages_to_me();
    CHECK(to_me <= ALL, "%d messages to take for %d that take", to_me, ALL);
    atomic_store(&tickets, to_me);
    run(work, mingle, &collecting);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, shared, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a message is left over");
    free(taken);
    MPI_Comm_free(&shared);
    MPI_Comm_free(&collecting.comm);
}

CHECK_CASE(stress, .least = 2, .threads = true)
