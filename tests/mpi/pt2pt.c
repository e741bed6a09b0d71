/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point: every size around the eager limit, both directions, every send mode, self messages,
 * many outstanding messages, and persistent requests.
 */
#include "check.h"

/* The tcp BTL counts ob1's headers (14 to 56 bytes) into the eager limit: every size near it, then the big
 * ones. */
static const size_t all_sizes[] = {
    0,     1,     2,     3,     7,     8,     15,    16,    63,     64,     65,      127,     128,
    255,   256,   257,   511,   512,   1023,  1024,  1025,  2047,   2048,   4095,    4096,    4097,
    8192,  16384, 32767, 32768, 32769, 65472, 65480, 65488, 65496,  65504,  65512,   65520,   65522,
    65528, 65535, 65536, 65537, 65544, 65560, 65592, 65600, 131072, 131073, 1048579, 4194304,
};
static const size_t few_sizes[] = {0, 1, 64, 1025, 4096, 65480, 65522, 65536, 65537, 131072};

enum { TAG_BLOCKING = 10, TAG_BOTH, TAG_MODE, TAG_SELF, TAG_MANY, TAG_PERSISTENT, TAG_SENDRECV };

static const char *describe(const char *kind, size_t bytes)
{
    static _Thread_local char text[80];
    snprintf(text, sizeof(text), "%s of %zu bytes", kind, bytes);
    return text;
}

/* One direction at a time: the lower rank of a pair sends, then the other. */
static void blocking(size_t bytes)
{
    const int partner = check_partner();
    if (partner == check_rank) {
        return;
    }
    uint8_t *buffer = check_alloc(bytes);
    for (int turn = 0; turn < 2; ++turn) {
        const bool i_send = (0 == turn) == (check_rank < partner);
        if (i_send) {
            check_fill(buffer, bytes, check_seed(check_rank, partner, TAG_BLOCKING, bytes));
            MPI_Send(buffer, (int) bytes, MPI_BYTE, partner, TAG_BLOCKING, MPI_COMM_WORLD);
        } else {
            MPI_Status status;
            check_poison(buffer, bytes);
            MPI_Recv(buffer, (int) bytes, MPI_BYTE, partner, TAG_BLOCKING, MPI_COMM_WORLD, &status);
            CHECK_STATUS(&status, partner, TAG_BLOCKING, bytes, describe("blocking send", bytes));
            CHECK_CONTENT(buffer, bytes, check_seed(partner, check_rank, TAG_BLOCKING, bytes),
                          describe("blocking send", bytes));
        }
    }
    check_free(buffer, bytes);
}

/* Both directions at once, into a receive buffer that is larger than the message. */
static void both(size_t bytes, bool combined)
{
    const int partner = check_partner();
    const int tag = combined ? TAG_SENDRECV : TAG_BOTH;
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes + 100);
    check_fill(out, bytes, check_seed(check_rank, partner, tag, bytes));
    MPI_Status status[2];
    if (combined) {
        MPI_Sendrecv(out, (int) bytes, MPI_BYTE, partner, tag, in, (int) bytes + 100, MPI_BYTE, partner, tag,
                     MPI_COMM_WORLD, &status[0]);
    } else {
        MPI_Request request[2];
        MPI_Irecv(in, (int) bytes + 100, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, (int) bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, status);
    }
    CHECK_STATUS(&status[0], partner, tag, bytes, describe("exchange", bytes));
    CHECK_CONTENT(in, bytes, check_seed(partner, check_rank, tag, bytes), describe("exchange", bytes));
    for (size_t i = 0; i < 100; ++i) {
        CHECK(CHECK_POISON_BYTE == in[bytes + i], "%s wrote %zu bytes past its end",
              describe("exchange", bytes), i + 1);
    }
    CHECK_CONTENT(out, bytes, check_seed(check_rank, partner, tag, bytes),
                  describe("own buffer after sending", bytes));
    check_free(out, bytes);
    check_free(in, bytes + 100);
}

enum mode { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IBSEND, IRSEND, MODES };
static const char *const mode_name[MODES] = {"send",  "ssend",  "bsend",  "rsend",
                                             "isend", "issend", "ibsend", "irsend"};

static void send_in_mode(enum mode mode, const uint8_t *buffer, int bytes, int target)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (mode < ISEND) {
        check_send[mode](buffer, bytes, MPI_BYTE, target, TAG_MODE, MPI_COMM_WORLD);
    } else {
        check_isend[mode - ISEND](buffer, bytes, MPI_BYTE, target, TAG_MODE, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Every send mode, both ways at once. A ready send needs the partner's receive: a message after it says it is
 * there. */
static void modes(enum mode mode, size_t bytes)
{
    const int partner = check_partner();
    const char *what = describe(mode_name[mode], bytes);
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
    const size_t attached = bytes + MPI_BSEND_OVERHEAD;
    uint8_t *pool = check_alloc(attached);
    check_fill(out, bytes, check_seed(check_rank, partner, TAG_MODE, bytes + mode));
    if (BSEND == mode || IBSEND == mode) {
        MPI_Buffer_attach(pool, (int) attached);
    }
    MPI_Request receive;
    MPI_Status status;
    MPI_Irecv(in, (int) bytes, MPI_BYTE, partner, TAG_MODE, MPI_COMM_WORLD, &receive);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, TAG_MODE + 1000, NULL, 0, MPI_BYTE, partner, TAG_MODE + 1000,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send_in_mode(mode, out, (int) bytes, partner);
    if (BSEND == mode || IBSEND == mode) {
        check_poison(out, bytes); /* a buffered send has its own copy */
    }
    MPI_Wait(&receive, &status);
    CHECK_STATUS(&status, partner, TAG_MODE, bytes, what);
    CHECK_CONTENT(in, bytes, check_seed(partner, check_rank, TAG_MODE, bytes + mode), what);
    if (BSEND == mode || IBSEND == mode) {
        void *old;
        int old_size;
        MPI_Buffer_detach(&old, &old_size);
        CHECK(old == pool, "the detached buffer is another one");
    }
    check_free(pool, attached);
    check_free(out, bytes);
    check_free(in, bytes);
}

/* A synchronous send must not end before its receive has started. */
static void ssend_waits(void)
{
    const int partner = check_partner();
    if (partner == check_rank) {
        return;
    }
    MPI_Request request;
    int done = -1, value = check_rank, other = -1;
    MPI_Issend(&value, 1, MPI_INT, partner, TAG_MODE, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 50; ++i) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(!done, "a synchronous send ended without a receive");
        check_sleep(0.001);
    }
    MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, TAG_MODE + 1, NULL, 0, MPI_BYTE, partner, TAG_MODE + 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&other, 1, MPI_INT, partner, TAG_MODE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(other, partner, "synchronous send");
}

static void to_self(size_t bytes)
{
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
    const uint64_t seed = check_seed(check_rank, check_rank, TAG_SELF, bytes);
    check_fill(out, bytes, seed);
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(out, (int) bytes, MPI_BYTE, check_rank, TAG_SELF, MPI_COMM_WORLD, &request);
    MPI_Recv(in, (int) bytes, MPI_BYTE, check_rank, TAG_SELF, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_STATUS(&status, check_rank, TAG_SELF, bytes, describe("message to self", bytes));
    CHECK_CONTENT(in, bytes, seed, describe("message to self", bytes));
    check_free(out, bytes);
    check_free(in, bytes);
}

/* 256 x 16 KiB under way at once, both directions; unexpected ones are fetched in reverse order of their
 * tags. */
static void many(bool unexpected)
{
    enum { N = 256, BYTES = 16384 };
    const int partner = check_partner();
    uint8_t *out = check_alloc((size_t) N * BYTES), *in = check_alloc((size_t) N * BYTES);
    MPI_Request request[2 * N];
    MPI_Status status[2 * N];
    for (int i = 0; i < N; ++i) {
        check_fill(out + (size_t) i * BYTES, BYTES, check_seed(check_rank, partner, TAG_MANY, (uint64_t) i));
    }
    for (int i = 0; i < N && !unexpected; ++i) {
        MPI_Irecv(in + (size_t) i * BYTES, BYTES, MPI_BYTE, partner, 1000 + i, MPI_COMM_WORLD,
                  &request[N + i]);
    }
    for (int i = 0; i < N; ++i) {
        MPI_Isend(out + (size_t) i * BYTES, BYTES, MPI_BYTE, partner, 1000 + i, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = N - 1; i >= 0 && unexpected; --i) {
        MPI_Irecv(in + (size_t) i * BYTES, BYTES, MPI_BYTE, partner, 1000 + i, MPI_COMM_WORLD,
                  &request[N + i]);
    }
    MPI_Waitall(2 * N, request, status);
    for (int i = 0; i < N; ++i) {
        CHECK_STATUS(&status[N + i], partner, 1000 + i, BYTES, "one of 256 outstanding");
        CHECK_CONTENT(in + (size_t) i * BYTES, BYTES, check_seed(partner, check_rank, TAG_MANY, (uint64_t) i),
                      "one of 256 outstanding");
    }
    check_free(out, (size_t) N * BYTES);
    check_free(in, (size_t) N * BYTES);
}

/* Persistent requests of all sizes started together, three rounds with new content; half of them
 * synchronous. */
static void persistent(void)
{
    enum { N = CHECK_COUNT(few_sizes), ROUNDS = 3 };
    const int partner = check_partner();
    uint8_t *out[N], *in[N];
    MPI_Request request[2 * N];
    for (int i = 0; i < N; ++i) {
        const int bytes = (int) few_sizes[i];
        out[i] = check_alloc(few_sizes[i]);
        in[i] = check_alloc(few_sizes[i]);
        MPI_Recv_init(in[i], bytes, MPI_BYTE, partner, TAG_PERSISTENT + i, MPI_COMM_WORLD, &request[i]);
        if (i % 2) {
            MPI_Ssend_init(out[i], bytes, MPI_BYTE, partner, TAG_PERSISTENT + i, MPI_COMM_WORLD,
                           &request[N + i]);
        } else {
            MPI_Send_init(out[i], bytes, MPI_BYTE, partner, TAG_PERSISTENT + i, MPI_COMM_WORLD,
                          &request[N + i]);
        }
    }
    for (uint64_t round = 0; round < ROUNDS; ++round) {
        MPI_Status status[2 * N];
        for (int i = 0; i < N; ++i) {
            check_fill(out[i], few_sizes[i], check_seed(check_rank, partner, TAG_PERSISTENT + i, round));
            check_poison(in[i], few_sizes[i]);
        }
        MPI_Startall(2 * N, request);
        MPI_Waitall(2 * N, request, status);
        for (int i = 0; i < N; ++i) {
            CHECK_STATUS(&status[i], partner, TAG_PERSISTENT + i, few_sizes[i], "persistent request");
            CHECK_CONTENT(in[i], few_sizes[i], check_seed(partner, check_rank, TAG_PERSISTENT + i, round),
                          describe("persistent request", few_sizes[i]));
        }
    }
    for (int i = 0; i < N; ++i) {
        MPI_Request_free(&request[i]);
        MPI_Request_free(&request[N + i]);
        check_free(out[i], few_sizes[i]);
        check_free(in[i], few_sizes[i]);
    }
}

static void run_case(void)
{
    for (int i = 0; i < CHECK_COUNT(all_sizes); ++i) {
        blocking(all_sizes[i]);
        both(all_sizes[i], false);
        if (all_sizes[i] <= 131073) {
            both(all_sizes[i], true);
        }
    }
    for (int i = 0; i < CHECK_COUNT(few_sizes); ++i) {
        for (enum mode mode = SEND; mode < MODES; ++mode) {
            if (check_partner() != check_rank) {
                modes(mode, few_sizes[i]);
            }
        }
        to_self(few_sizes[i]);
    }
    ssend_waits();
    many(false);
    many(true);
    persistent();
}

CHECK_CASE(pt2pt, .least = 2)
