/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ends of the range: one message of more than 2 GiB, with small ones before and behind it that must keep
 * their order; and messages of no bytes, of every kind. The first two ranks need 4.1 GiB of memory together.
 */
#include "check.h"

enum { MIB = 1 << 20, ODD = 5, SMALL = 8, TAG = 800 };
#define BYTES ((((size_t) 1) << 31) + ODD)

/* One element of 2^31 + 5 bytes without a gap, as counts are ints. */
static MPI_Datatype big_type(void)
{
    MPI_Datatype part, type;
    MPI_Type_contiguous(MIB, MPI_BYTE, &part);
    int lengths[2] = {2048, ODD};
    MPI_Aint places[2] = {0, (MPI_Aint) 2048 * MIB};
    MPI_Datatype types[2] = {part, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&part);
    return type;
}

/* Cheap, and every word differs from all others. */
static inline uint64_t word_of(size_t i)
{
    return (uint64_t) (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

static void send_big(MPI_Datatype type)
{
    uint64_t *words = malloc(BYTES + 8);
    CHECK(NULL != words, "no memory for %zu bytes", BYTES);
    for (size_t i = 0; i <= BYTES / 8; ++i) {
        words[i] = word_of(i);
    }
    MPI_Request request[2 * SMALL + 1];
    int small[2 * SMALL];
    for (int i = 0; i < 2 * SMALL; ++i) {
        small[i] = 100 + i;
    }
    for (int i = 0; i < SMALL; ++i) {
        MPI_Isend(&small[i], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request[i]);
    }
    MPI_Isend(words, 1, type, 1, TAG, MPI_COMM_WORLD, &request[2 * SMALL]);
    for (int i = SMALL; i < 2 * SMALL; ++i) {
        MPI_Isend(&small[i], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request[i]);
    }
    MPI_Waitall(2 * SMALL + 1, request, MPI_STATUSES_IGNORE);
    free(words);
}

static void receive_small(int first)
{
    for (int i = first; i < first + SMALL; ++i) {
        MPI_Status status;
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, 0, TAG, sizeof(value), "small message beside a big one");
        CHECK_EQ(value, 100 + i, "small message beside a big one");
    }
}

/* Those of MPI 3 are deprecated since 4.1, and those of MPI 4 are not there before. */
#if MPI_VERSION < 4
#    define MPI_Get_elements_c MPI_Get_elements_x
#    define MPI_Type_size_c MPI_Type_size_x
#endif

static void receive_big(MPI_Datatype type)
{
    unsigned char *bytes = malloc(BYTES + CHECK_GUARD);
    CHECK(NULL != bytes, "no memory for %zu bytes", BYTES);
    memset(bytes + BYTES, CHECK_GUARD_BYTE, CHECK_GUARD);
    MPI_Status status;
    MPI_Count count = -1;
    receive_small(0);
    MPI_Probe(0, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_elements_c(&status, MPI_BYTE, &count);
    CHECK_EQ(count, BYTES, "probed length of a big message");
    MPI_Recv(bytes, 1, type, 0, TAG, MPI_COMM_WORLD, &status);
    receive_small(SMALL);
    count = -1;
    MPI_Get_elements_c(&status, type, &count);
    CHECK_EQ(count, 2048 * (long long) MIB + ODD, "received length of a big message");
    const uint64_t *words = (const uint64_t *) bytes;
    for (size_t i = 0; i < BYTES / 8; ++i) {
        if (words[i] != word_of(i)) {
            check_fail(__FILE__, __LINE__,
                       "big message: the word at %zu is 0x%016" PRIx64 ", expected 0x%016" PRIx64, 8 * i,
                       words[i], word_of(i));
        }
    }
    const uint64_t last = word_of(BYTES / 8);
    CHECK(0 == memcmp(bytes + BYTES / 8 * 8, &last, BYTES % 8), "big message: its last bytes are wrong");
    for (int i = 0; i < CHECK_GUARD; ++i) {
        CHECK(CHECK_GUARD_BYTE == bytes[BYTES + (size_t) i], "big message: byte %d after its end was written",
              i);
    }
    free(bytes);
}

enum kind { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, PERSISTENT, EMPTY_TYPE, NO_ELEMENTS, KINDS };

static void send_nothing(enum kind kind, int partner, MPI_Datatype empty)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int tag = TAG + 10 + (int) kind;
    double unused = 0;
    switch (kind) {
    case SEND:
    case SSEND:
    case BSEND:
    case RSEND:
        check_send[kind](NULL, 0, MPI_BYTE, partner, tag, MPI_COMM_WORLD);
        break;
    case ISEND:
    case ISSEND:
        check_isend[kind - ISEND](NULL, 0, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
        break;
    case PERSISTENT:
        MPI_Send_init(NULL, 0, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        break;
    case EMPTY_TYPE:
        MPI_Send(&unused, 3, empty, partner, tag, MPI_COMM_WORLD);
        break;
    case NO_ELEMENTS:
        MPI_Send(&unused, 0, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
        break;
    case KINDS:
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* All kinds both ways, received with room to spare, which must stay as it was, and with none. */
static void nothing(int partner)
{
    MPI_Datatype empty;
    uint8_t *pool = check_alloc(MPI_BSEND_OVERHEAD), *in = check_alloc(16);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Buffer_attach(pool, MPI_BSEND_OVERHEAD);
    for (enum kind kind = SEND; kind < KINDS; ++kind) {
        for (int room = 0; room <= 16; room += 16) {
            MPI_Request request;
            MPI_Status status;
            const int tag = TAG + 10 + (int) kind;
            MPI_Irecv(0 == room ? NULL : in, room, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
            MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, TAG, NULL, 0, MPI_BYTE, partner, TAG, MPI_COMM_WORLD,
                         &status);
            CHECK_STATUS(&status, partner, TAG, 0, "MPI_Sendrecv of nothing");
            send_nothing(kind, partner, empty);
            MPI_Wait(&request, &status);
            CHECK_STATUS(&status, partner, tag, 0, "message of no bytes");
        }
    }
    for (int i = 0; i < 16; ++i) {
        CHECK(CHECK_POISON_BYTE == in[i], "a message of no bytes wrote byte %d", i);
    }
    void *old;
    int old_size;
    MPI_Buffer_detach(&old, &old_size);
    MPI_Type_free(&empty);
    check_free(pool, MPI_BSEND_OVERHEAD);
    check_free(in, 16);
}

static void run_case(void)
{
    MPI_Datatype type = big_type();
    MPI_Count size = -1;
    MPI_Type_size_c(type, &size);
    CHECK_EQ(size, BYTES, "size of the big type");
    if (check_partner() != check_rank) {
        nothing(check_partner());
    }
    if (0 == check_rank) {
        send_big(type);
    } else if (1 == check_rank) {
        receive_big(type);
    }
    MPI_Type_free(&type);
}

CHECK_CASE(big, .least = 2, .slow = 3)
