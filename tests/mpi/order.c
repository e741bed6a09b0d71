/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message order when rails differ in speed: messages of one (source, communicator) match in the order in
 * which they were sent, whatever their sizes. Sizes, tags and contents follow from a seed that all ranks
 * share, so that the receiver knows what message number k is, also where it is empty. Usage: order [SEED]
 */
#include "check.h"

enum { MESSAGES = 600, TAGS = 5, ROUNDS = 5, BURST = 64 };
enum { EXACT = 1 << 20 };

struct message {
    size_t bytes;
    int tag;
    uint64_t seed;
};

static uint64_t job_seed;

/* What rank `source` sends to rank `target` as number k of a phase: small ones often right behind large
 * ones. */
static struct message message_of(int phase, int source, int target, int k)
{
    uint64_t state = job_seed ^ check_seed(source, target, phase, (uint64_t) k);
    struct message m;
    const uint64_t kind = check_next(&state, 100);
    if (kind < 55) {
        m.bytes = (size_t) check_next(&state, 65);
    } else if (kind < 80) {
        m.bytes = (size_t) check_next(&state, 4097);
    } else if (kind < 96) {
        m.bytes = (size_t) check_next(&state, 32769);
    } else if (kind < 98) {
        m.bytes = 65436 + (size_t) check_next(&state, 200);
    } else {
        m.bytes = 66000 + (size_t) check_next(&state, 120000);
    }
    m.tag = (int) check_next(&state, TAGS);
    m.seed = check_mix(state);
    return m;
}

static uint8_t *out[MESSAGES], *in[MESSAGES];
static MPI_Request sent[MESSAGES];

static void start_sending(MPI_Comm comm, int phase, int target)
{
    for (int k = 0; k < MESSAGES; ++k) {
        const struct message m = message_of(phase, check_rank, target, k);
        out[k] = check_alloc(m.bytes);
        check_fill(out[k], m.bytes, m.seed);
        MPI_Isend(out[k], (int) m.bytes, MPI_BYTE, target, m.tag, comm, &sent[k]);
    }
}

static void end_sending(int phase, int target)
{
    MPI_Waitall(MESSAGES, sent, MPI_STATUSES_IGNORE);
    for (int k = 0; k < MESSAGES; ++k) {
        check_free(out[k], message_of(phase, check_rank, target, k).bytes);
    }
}

static void compare(const struct message *m, int source, int k, MPI_Status *status, uint8_t *buffer,
                    const char *how)
{
    char what[128];
    snprintf(what, sizeof(what), "%s, message %d from rank %d (seed %" PRIu64 ")", how, k, source, job_seed);
    CHECK_STATUS(status, source, m->tag, m->bytes, what);
    CHECK_CONTENT(buffer, m->bytes, m->seed, what);
}

/* Receives with any tag: the sender's order over all tags. */
static void any_tag(MPI_Comm comm, int phase, int source)
{
    uint8_t *buffer = check_alloc(EXACT);
    for (int k = 0; k < MESSAGES; ++k) {
        const struct message m = message_of(phase, source, check_rank, k);
        MPI_Status status;
        MPI_Recv(buffer, EXACT, MPI_BYTE, source, MPI_ANY_TAG, comm, &status);
        compare(&m, source, k, &status, buffer, "any tag");
    }
    check_free(buffer, EXACT);
}

/* Receives by tag, one tag after the other, the last tag first: order within each tag; most come
 * unexpected. */
static void by_tag(MPI_Comm comm, int phase, int source)
{
    uint8_t *buffer = check_alloc(EXACT);
    for (int tag = TAGS - 1; tag >= 0; --tag) {
        for (int k = 0; k < MESSAGES; ++k) {
            const struct message m = message_of(phase, source, check_rank, k);
            if (m.tag == tag) {
                MPI_Status status;
                MPI_Recv(buffer, EXACT, MPI_BYTE, source, tag, comm, &status);
                compare(&m, source, k, &status, buffer, "by tag");
            }
        }
    }
    check_free(buffer, EXACT);
}

/* All receives are posted before the sender may start: the posted queue's order. */
static void post(MPI_Comm comm, int phase, int source, MPI_Request *request)
{
    for (int k = 0; k < MESSAGES; ++k) {
        const struct message m = message_of(phase, source, check_rank, k);
        in[k] = check_alloc(m.bytes + 8);
        MPI_Irecv(in[k], (int) m.bytes + 8, MPI_BYTE, source, 0 == k % 2 ? MPI_ANY_TAG : m.tag, comm,
                  &request[k]);
    }
}

static void posted(int phase, int source, MPI_Request *request)
{
    static MPI_Status status[MESSAGES];
    MPI_Waitall(MESSAGES, request, status);
    for (int k = 0; k < MESSAGES; ++k) {
        const struct message m = message_of(phase, source, check_rank, k);
        compare(&m, source, k, &status[k], in[k], "posted before");
        check_free(in[k], m.bytes + 8);
    }
}

/* Rank 0 gets from all at once and takes any source: each source's messages in its own order. */
static void any_source(MPI_Comm comm, int phase)
{
    if (0 != check_rank) {
        start_sending(comm, phase, 0);
        end_sending(phase, 0);
        return;
    }
    uint8_t *buffer = check_alloc(EXACT);
    int *next = calloc((size_t) check_size, sizeof(*next));
    CHECK(NULL != next, "no memory");
    for (int i = 0; i < MESSAGES * (check_size - 1); ++i) {
        MPI_Status status;
        MPI_Recv(buffer, EXACT, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        const int source = status.MPI_SOURCE;
        CHECK(source > 0 && source < check_size && next[source] < MESSAGES, "a message too many from rank %d",
              source);
        const struct message m = message_of(phase, source, 0, next[source]);
        compare(&m, source, next[source], &status, buffer, "any source");
        ++next[source];
    }
    free(next);
    check_free(buffer, EXACT);
}

/* One large message and a burst of small ones behind it, all with one tag; ssend makes the end of a burst an
 * event. */
static void small_after_large(MPI_Comm comm, int partner)
{
    static const size_t large[ROUNDS] = {4096, 16384, 65536, 200000, 600000};
    for (int round = 0; round < ROUNDS; ++round) {
        uint8_t *big_out = check_alloc(large[round]), *big_in = check_alloc(large[round]);
        uint32_t small_out[BURST], small_in[BURST];
        MPI_Request request[2 * (BURST + 1)];
        MPI_Status status[2 * (BURST + 1)];
        check_fill(big_out, large[round], job_seed + (uint64_t) (check_rank * ROUNDS + round));
        for (int i = 0; i <= BURST; ++i) {
            MPI_Irecv(0 == i ? (void *) big_in : (void *) &small_in[i - 1], 0 == i ? (int) large[round] : 4,
                      MPI_BYTE, partner, 7, comm, &request[i]);
        }
        MPI_Barrier(comm);
        MPI_Isend(big_out, (int) large[round], MPI_BYTE, partner, 7, comm, &request[BURST + 1]);
        for (int i = 0; i < BURST; ++i) {
            small_out[i] = (uint32_t) (1000 * check_rank + i);
            MPI_Isend(&small_out[i], 4, MPI_BYTE, partner, 7, comm, &request[BURST + 2 + i]);
        }
        MPI_Waitall(2 * (BURST + 1), request, status);
        CHECK_STATUS(&status[0], partner, 7, large[round], "the large message before a burst");
        CHECK_CONTENT(big_in, large[round], job_seed + (uint64_t) (partner * ROUNDS + round),
                      "the large message before a burst");
        for (int i = 0; i < BURST; ++i) {
            CHECK_EQ(small_in[i], 1000 * partner + i, "small message behind a large one");
        }
        check_free(big_out, large[round]);
        check_free(big_in, large[round]);
    }
}

static void run_case(void)
{
    static MPI_Request request[MESSAGES];
    job_seed = check_job_seed(1);
    const int partner = check_partner();
    if (partner != check_rank) {
        start_sending(MPI_COMM_WORLD, 1, partner);
        any_tag(MPI_COMM_WORLD, 1, partner);
        end_sending(1, partner);

        start_sending(MPI_COMM_WORLD, 2, partner);
        by_tag(MPI_COMM_WORLD, 2, partner);
        end_sending(2, partner);

        post(MPI_COMM_WORLD, 3, partner, request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (partner != check_rank) {
        start_sending(MPI_COMM_WORLD, 3, partner);
        posted(3, partner, request);
        end_sending(3, partner);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    any_source(MPI_COMM_WORLD, 4);
    if (0 == check_size % 2) {
        small_after_large(MPI_COMM_WORLD, partner);
    }
}

CHECK_CASE(order, .least = 2)
