/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lives of requests: cancelled receives, persistent requests that are started again and again,
 * partitioned communication (Open MPI 5), buffered sends from a pool that is always nearly full, requests
 * completed in every order that Test and its relatives allow, and requests that are freed before they are
 * complete.
 */
#include "check.h"

/* Around the eager limit with and without ob1's header, and around fragments (a power of two from 4 KiB
 * on). */
static const size_t sizes[] = {0,     1,     64,    4032,  4096,   4160,   8192,   16320,
                               16384, 32768, 65472, 65508, 65522,  65535,  65536,  65537,
                               65592, 69632, 69633, 98304, 131072, 131136, 196609, 262143};
enum { SIZES = CHECK_COUNT(sizes), RESTARTS = 12, PARTITIONS = 8, PARTITIONED_ROUNDS = 6 };
enum { TAG_CANCEL = 600, TAG_PERSISTENT = 620, TAG_PARTITIONED = 660, TAG_BUFFERED = 670 };
enum { TAG_ORDER = 680, TAG_FREE = 720 };

static void agree(void)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, check_partner(), 1, NULL, 0, MPI_BYTE, check_partner(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Every other receive is cancelled, of any source or of one. Messages then go to those that are left, in
 * order. */
static void cancel(size_t bytes)
{
    enum { N = 8 };
    const int partner = check_partner();
    uint8_t *in[N], *out = check_alloc(bytes);
    MPI_Request request[N];
    for (int i = 0; i < N; ++i) {
        in[i] = check_alloc(bytes);
        MPI_Irecv(in[i], (int) bytes, MPI_BYTE, 0 == i % 4 ? MPI_ANY_SOURCE : partner, TAG_CANCEL,
                  MPI_COMM_WORLD, &request[i]);
    }
    for (int i = 0; i < N; i += 2) {
        MPI_Status status;
        int cancelled = 0;
        MPI_Cancel(&request[i]);
        MPI_Wait(&request[i], &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled, "a receive that nothing matched was not cancelled");
    }
    agree();
    for (int i = 1; i < N; i += 2) {
        MPI_Status status;
        int cancelled = -1;
        check_fill(out, bytes, check_seed(check_rank, partner, i, bytes));
        MPI_Send(out, (int) bytes, MPI_BYTE, partner, TAG_CANCEL, MPI_COMM_WORLD);
        MPI_Wait(&request[i], &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(!cancelled, "a receive was cancelled by itself");
        CHECK_STATUS(&status, partner, TAG_CANCEL, bytes, "receive beside cancelled ones");
        CHECK_CONTENT(in[i], bytes, check_seed(partner, check_rank, i, bytes),
                      "receive beside cancelled ones");
        agree();
    }
    for (int i = 0; i < N; ++i) {
        check_free(in[i], bytes);
    }
    check_free(out, bytes);
}

/* Cancelling a receive whose message is there, and a send, is too late: all of it comes. (Open MPI cancels no
 * send.) */
static void cancel_too_late(size_t bytes)
{
    const int partner = check_partner();
    uint8_t *in = check_alloc(bytes), *out = check_alloc(bytes);
    MPI_Request request[2];
    MPI_Status status[2];
    int cancelled = -1;
    check_fill(out, bytes, check_seed(check_rank, partner, TAG_CANCEL, bytes));
    MPI_Isend(out, (int) bytes, MPI_BYTE, partner, TAG_CANCEL + 1, MPI_COMM_WORLD, &request[0]);
    MPI_Cancel(&request[0]);
    MPI_Probe(partner, TAG_CANCEL + 1, MPI_COMM_WORLD, &status[1]);
    MPI_Irecv(in, (int) bytes, MPI_BYTE, partner, TAG_CANCEL + 1, MPI_COMM_WORLD, &request[1]);
    MPI_Cancel(&request[1]);
    MPI_Waitall(2, request, status);
    for (int i = 0; i < 2; ++i) {
        MPI_Test_cancelled(&status[i], &cancelled);
        CHECK(!cancelled, "a %s was cancelled that was matched", 0 == i ? "send" : "receive");
    }
    CHECK_STATUS(&status[1], partner, TAG_CANCEL + 1, bytes, "receive cancelled too late");
    CHECK_CONTENT(in, bytes, check_seed(partner, check_rank, TAG_CANCEL, bytes),
                  "receive cancelled too late");
    check_free(in, bytes);
    check_free(out, bytes);
}

/* Sends standard, synchronous and buffered in turn, started in one call or one by one in either order.
 * Buffered ones are eager: Open MPI (ob1) starts a long one anew with what the pool held the last time,
 * whatever the BML. */
static void persistent(void)
{
    const int partner = check_partner();
    uint8_t *out[SIZES], *in[SIZES];
    MPI_Request request[2 * SIZES];
    size_t room = 0;
    for (int i = 0; i < SIZES; ++i) {
        const int bytes = (int) sizes[i], tag = TAG_PERSISTENT + i;
        out[i] = check_alloc(sizes[i]);
        in[i] = check_alloc(sizes[i]);
        const int kind = 2 == i % 3 && sizes[i] > 32768 ? 0 : i % 3;
        room += 2 == kind ? sizes[i] + MPI_BSEND_OVERHEAD : 0;
        MPI_Recv_init(in[i], bytes, MPI_BYTE, i % 5 ? partner : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                      &request[i]);
        (0 == kind ? MPI_Send_init
         : 1 == kind
             ? MPI_Ssend_init
             : MPI_Bsend_init)(out[i], bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request[SIZES + i]);
    }
    room = 2 * room + 4096;
    uint8_t *pool = check_alloc(room);
    MPI_Buffer_attach(pool, (int) room);
    for (uint64_t round = 0; round < RESTARTS; ++round) {
        MPI_Status status[2 * SIZES];
        for (int i = 0; i < SIZES; ++i) {
            check_fill(out[i], sizes[i], check_seed(check_rank, partner, TAG_PERSISTENT + i, round));
            check_poison(in[i], sizes[i]);
        }
        if (0 == round % 3) {
            MPI_Startall(2 * SIZES, request);
        } else {
            for (int i = 0; i < 2 * SIZES; ++i) {
                MPI_Start(&request[1 == round % 3 ? i : 2 * SIZES - 1 - i]);
            }
        }
        MPI_Waitall(2 * SIZES, request, status);
        for (int i = 0; i < SIZES; ++i) {
            CHECK(MPI_REQUEST_NULL != request[i], "a persistent request is gone");
            CHECK_STATUS(&status[i], partner, TAG_PERSISTENT + i, sizes[i], "persistent request");
            CHECK_CONTENT(in[i], sizes[i], check_seed(partner, check_rank, TAG_PERSISTENT + i, round),
                          "persistent request");
        }
    }
    void *old;
    int old_size;
    MPI_Buffer_detach(&old, &old_size);
    check_free(pool, room);
    for (int i = 0; i < SIZES; ++i) {
        MPI_Request_free(&request[i]);
        MPI_Request_free(&request[SIZES + i]);
        check_free(out[i], sizes[i]);
        check_free(in[i], sizes[i]);
    }
}

/* A buffer in parts, each given away when it is ready, in another order each round. Where the receiver cuts
 * it into as many, it looks at each as it comes; where not, Open MPI's answer (MPI_Parrived) comes too early,
 * whatever the BML. */
static void partitioned(size_t part, int parts_in)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    const int partner = check_partner();
    const size_t bytes = part * PARTITIONS;
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
    MPI_Request request[2];
    MPI_Psend_init(out, PARTITIONS, (MPI_Count) part, MPI_BYTE, partner, TAG_PARTITIONED, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in, parts_in, (MPI_Count) (bytes / (size_t) parts_in), MPI_BYTE, partner, TAG_PARTITIONED,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    for (uint64_t round = 0; round < PARTITIONED_ROUNDS; ++round) {
        check_poison(in, bytes);
        MPI_Startall(2, request);
        for (int i = 0; i < PARTITIONS; ++i) {
            const int at = (int) ((3 * (uint64_t) i + round) % PARTITIONS);
            check_fill(out + (size_t) at * part, part, check_seed(check_rank, at, TAG_PARTITIONED, round));
            MPI_Pready(at, request[0]);
        }
        for (int i = 0; i < PARTITIONS && PARTITIONS == parts_in; ++i) {
            for (int there = 0; !there;) {
                MPI_Parrived(request[1], i, &there);
            }
            CHECK_CONTENT(in + (size_t) i * part, part, check_seed(partner, i, TAG_PARTITIONED, round),
                          "partition");
        }
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PARTITIONS; ++i) {
            CHECK_CONTENT(in + (size_t) i * part, part, check_seed(partner, i, TAG_PARTITIONED, round),
                          "partitions");
        }
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    check_free(out, bytes);
    check_free(in, bytes);
#else
    (void) part;
    (void) parts_in;
#endif
}

/* A pool with room for just the messages under way; detaching it waits until all have left. */
static void buffered(void)
{
    const int partner = check_partner();
    size_t room = 0;
    for (int i = 0; i < SIZES; ++i) {
        room += sizes[i] + MPI_BSEND_OVERHEAD;
    }
    uint8_t *pool = check_alloc(room), *buffer = check_alloc(sizes[SIZES - 1]);
    for (uint64_t round = 0; round < 3; ++round) {
        void *old;
        int old_size;
        MPI_Buffer_attach(pool, (int) room);
        for (int i = 0; i < SIZES; ++i) {
            check_fill(buffer, sizes[i], check_seed(check_rank, i, TAG_BUFFERED, round));
            MPI_Bsend(buffer, (int) sizes[i], MPI_BYTE, partner, TAG_BUFFERED, MPI_COMM_WORLD);
        }
        for (int i = 0; i < SIZES; ++i) {
            MPI_Status status;
            MPI_Recv(buffer, (int) sizes[SIZES - 1], MPI_BYTE, partner, TAG_BUFFERED, MPI_COMM_WORLD,
                     &status);
            CHECK_STATUS(&status, partner, TAG_BUFFERED, sizes[i], "buffered send");
            CHECK_CONTENT(buffer, sizes[i], check_seed(partner, i, TAG_BUFFERED, round), "buffered send");
        }
        MPI_Buffer_detach(&old, &old_size);
        CHECK(old == pool && (size_t) old_size == room, "another buffer was detached");
    }
    check_free(pool, room);
    check_free(buffer, sizes[SIZES - 1]);
}

enum way { TEST_BACKWARDS, WAIT_ANY, TEST_ANY, WAIT_SOME, TEST_SOME, TEST_ALL, WAYS };

static void complete(enum way way, int n, MPI_Request *request, MPI_Status *status)
{
    MPI_Status some[2 * SIZES];
    int index[2 * SIZES], done = 0, found = 0, flag = 0;
    while (done < n) {
        found = 1;
        switch (way) {
        case TEST_BACKWARDS:
            index[0] = n - 1 - done;
            do {
                MPI_Test(&request[index[0]], &flag, &some[0]);
            } while (!flag);
            break;
        case WAIT_ANY:
            MPI_Waitany(n, request, &index[0], &some[0]);
            break;
        case TEST_ANY:
            MPI_Testany(n, request, &index[0], &flag, &some[0]);
            found = flag;
            break;
        case WAIT_SOME:
            MPI_Waitsome(n, request, &found, index, some);
            break;
        case TEST_SOME:
            MPI_Testsome(n, request, &found, index, some);
            break;
        case TEST_ALL:
            do {
                MPI_Testall(n, request, &flag, status);
            } while (!flag);
            return;
        case WAYS:
            break;
        }
        for (int i = 0; i < found; ++i) {
            CHECK(index[i] >= 0 && index[i] < n && MPI_REQUEST_NULL == request[index[i]],
                  "request %d of %d completed", index[i], n);
            status[index[i]] = some[i];
        }
        done += found;
    }
}

static void complete_in_order(enum way way)
{
    const int partner = check_partner();
    uint8_t *out[SIZES], *in[SIZES];
    MPI_Request request[2 * SIZES];
    MPI_Status status[2 * SIZES];
    for (int i = 0; i < SIZES; ++i) {
        out[i] = check_alloc(sizes[i]);
        in[i] = check_alloc(sizes[i]);
        check_fill(out[i], sizes[i], check_seed(check_rank, partner, i, way));
        MPI_Irecv(in[i], (int) sizes[i], MPI_BYTE, partner, TAG_ORDER + i, MPI_COMM_WORLD,
                  &request[SIZES + i]);
    }
    for (int i = 0; i < SIZES; ++i) {
        MPI_Isend(out[i], (int) sizes[i], MPI_BYTE, partner, TAG_ORDER + i, MPI_COMM_WORLD, &request[i]);
    }
    complete(way, 2 * SIZES, request, status);
    for (int i = 0; i < SIZES; ++i) {
        CHECK_STATUS(&status[SIZES + i], partner, TAG_ORDER + i, sizes[i], "completed one by one");
        CHECK_CONTENT(in[i], sizes[i], check_seed(partner, check_rank, i, way), "completed one by one");
        check_free(out[i], sizes[i]);
        check_free(in[i], sizes[i]);
    }
}

/* Freed at once: the messages must come all the same, and the answer says that the buffers are free again. */
static void freed(void)
{
    const int partner = check_partner();
    uint8_t *out[SIZES], *in = check_alloc(sizes[SIZES - 1]);
    for (int i = 0; i < SIZES; ++i) {
        MPI_Request request;
        out[i] = check_alloc(sizes[i]);
        check_fill(out[i], sizes[i], check_seed(check_rank, partner, TAG_FREE, (uint64_t) i));
        (i % 2 ? MPI_Issend : MPI_Isend)(out[i], (int) sizes[i], MPI_BYTE, partner, TAG_FREE, MPI_COMM_WORLD,
                                         &request);
        MPI_Request_free(&request);
        CHECK(MPI_REQUEST_NULL == request, "a freed request is still there");
    }
    for (int i = 0; i < SIZES; ++i) {
        MPI_Status status;
        MPI_Recv(in, (int) sizes[SIZES - 1], MPI_BYTE, partner, TAG_FREE, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, partner, TAG_FREE, sizes[i], "request freed early");
        CHECK_CONTENT(in, sizes[i], check_seed(partner, check_rank, TAG_FREE, (uint64_t) i),
                      "request freed early");
    }
    agree();
    for (int i = 0; i < SIZES; ++i) {
        check_free(out[i], sizes[i]);
    }
    check_free(in, sizes[SIZES - 1]);
}

static void run_case(void)
{
    if (check_partner() != check_rank) {
        for (int i = 0; i < SIZES; i += 3) {
            cancel(sizes[i]);
            cancel_too_late(sizes[i]);
        }
        persistent();
        for (int parts_in = PARTITIONS; parts_in > 0; parts_in /= 2) {
            partitioned(1, parts_in);
            partitioned(4000, parts_in);
            partitioned(16384, parts_in);
            partitioned(70000, parts_in);
        }
        buffered();
        for (enum way way = TEST_BACKWARDS; way < WAYS; ++way) {
            complete_in_order(way);
        }
        freed();
    }
}

CHECK_CASE(requests, .least = 2)
