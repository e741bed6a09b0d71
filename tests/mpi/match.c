/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching: probe, iprobe, mprobe, improbe, any source, any tag, and cancelled receives.
 */
#include "check.h"

static const size_t sizes[] = {0, 1, 64, 1025, 4096, 16384, 65480, 65522, 65536, 65537, 131072, 300001};

enum { TAG_PROBE = 100, TAG_ANY = 200, TAG_CANCEL = 300, TAG_TOKEN = 400 };

enum how { PROBE, IPROBE, MPROBE, IMPROBE, PLAIN, HOWS };
static const char *const how_name[HOWS] = {"probe", "iprobe", "mprobe", "improbe",
                                           "any-source any-tag receive"};

/* Receives whatever comes next within a range that only one message is in, in the way that `how` says. */
static void receive(enum how how, uint8_t *buffer, size_t room, MPI_Status *status)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status seen;
    int flag = 0, count = -1;
    switch (how) {
    case PROBE:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen);
        break;
    case IPROBE:
        while (!flag) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &seen);
        }
        break;
    case MPROBE:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &seen);
        break;
    case IMPROBE:
        while (!flag) {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &seen);
        }
        break;
    default:
        MPI_Recv(buffer, (int) room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
        return;
    }
    MPI_Get_count(&seen, MPI_BYTE, &count);
    CHECK(count >= 0 && (size_t) count <= room, "%s: length %d", how_name[how], count);
    if (MPROBE == how || IMPROBE == how) {
        MPI_Mrecv(buffer, count, MPI_BYTE, &message, status);
    } else {
        MPI_Recv(buffer, count, MPI_BYTE, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, status);
    }
    CHECK_EQ(status->MPI_SOURCE, seen.MPI_SOURCE, "source of the message after its probe");
    CHECK_EQ(status->MPI_TAG, seen.MPI_TAG, "tag of the message after its probe");
}

/* Rank 0 takes one message of each size from every other rank, not knowing what comes; each must come exactly
 * once. */
static void any(enum how how)
{
    enum { N = CHECK_COUNT(sizes) };
    const size_t room = sizes[N - 1];
    uint8_t *buffer = check_alloc(room);
    if (0 != check_rank) {
        for (int i = 0; i < N; ++i) {
            check_fill(buffer, sizes[i], check_seed(check_rank, 0, TAG_ANY + i, how));
            MPI_Send(buffer, (int) sizes[i], MPI_BYTE, 0, TAG_ANY + i, MPI_COMM_WORLD);
        }
    } else {
        int *next = calloc((size_t) check_size, sizeof(*next));
        CHECK(NULL != next, "no memory");
        for (int k = 0; k < N * (check_size - 1); ++k) {
            MPI_Status status;
            check_poison(buffer, room);
            receive(how, buffer, room, &status);
            const int from = status.MPI_SOURCE;
            CHECK(from > 0 && from < check_size && next[from] < N, "%s: a message too many from rank %d",
                  how_name[how], from);
            const int i = next[from]++;
            CHECK_STATUS(&status, from, TAG_ANY + i, sizes[i], how_name[how]);
            CHECK_CONTENT(buffer, sizes[i], check_seed(from, 0, TAG_ANY + i, how), how_name[how]);
        }
        free(next);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_free(buffer, room);
}

/* A probe by source and tag finds its own message behind others that are not received yet. */
static void selective(size_t bytes)
{
    const int partner = check_partner();
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
    MPI_Request request[4];
    for (int i = 0; i < 3; ++i) {
        MPI_Isend(NULL, 0, MPI_BYTE, partner, TAG_PROBE + i, MPI_COMM_WORLD, &request[i]);
    }
    check_fill(out, bytes, check_seed(check_rank, partner, TAG_PROBE + 3, bytes));
    MPI_Isend(out, (int) bytes, MPI_BYTE, partner, TAG_PROBE + 3, MPI_COMM_WORLD, &request[3]);
    MPI_Status status;
    MPI_Probe(partner, TAG_PROBE + 3, MPI_COMM_WORLD, &status);
    CHECK_STATUS(&status, partner, TAG_PROBE + 3, bytes, "probe by tag");
    MPI_Recv(in, (int) bytes, MPI_BYTE, partner, TAG_PROBE + 3, MPI_COMM_WORLD, &status);
    CHECK_STATUS(&status, partner, TAG_PROBE + 3, bytes, "receive by tag");
    CHECK_CONTENT(in, bytes, check_seed(partner, check_rank, TAG_PROBE + 3, bytes), "receive by tag");
    for (int i = 2; i >= 0; --i) {
        MPI_Recv(NULL, 0, MPI_BYTE, partner, TAG_PROBE + i, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, partner, TAG_PROBE + i, 0, "empty message");
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    check_free(out, bytes);
    check_free(in, bytes);
}

/* A cancelled receive takes no message: the next receive with the same tag gets it. */
static void cancel(size_t bytes)
{
    const int partner = check_partner();
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes), *never = check_alloc(bytes);
    MPI_Request cancelled, sent;
    MPI_Status status;
    int flag = 0;
    check_poison(never, bytes);
    MPI_Irecv(never, (int) bytes, MPI_BYTE, partner, TAG_CANCEL, MPI_COMM_WORLD, &cancelled);
    MPI_Cancel(&cancelled);
    MPI_Wait(&cancelled, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "a receive that nothing matched could not be cancelled");
    MPI_Barrier(MPI_COMM_WORLD);
    check_fill(out, bytes, check_seed(check_rank, partner, TAG_CANCEL, bytes));
    MPI_Isend(out, (int) bytes, MPI_BYTE, partner, TAG_CANCEL, MPI_COMM_WORLD, &sent);
    MPI_Recv(in, (int) bytes, MPI_BYTE, partner, TAG_CANCEL, MPI_COMM_WORLD, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK_STATUS(&status, partner, TAG_CANCEL, bytes, "message after a cancelled receive");
    CHECK_CONTENT(in, bytes, check_seed(partner, check_rank, TAG_CANCEL, bytes),
                  "message after a cancelled receive");
    for (size_t i = 0; i < bytes; ++i) {
        CHECK(CHECK_POISON_BYTE == never[i], "byte %zu of the cancelled receive's buffer was written", i);
    }
    check_free(out, bytes);
    check_free(in, bytes);
    check_free(never, bytes);
}

/*
 * An eager message that is longer than its buffer is an error, and writes nothing past the buffer. (Open
 * MPI's own put protocol and self BTL do write past it, whatever the BML: those are not asked here.)
 */
static void truncated(size_t bytes)
{
    const int partner = check_partner();
    uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes / 2);
    MPI_Request sent;
    MPI_Status status;
    int class = MPI_SUCCESS;
    check_fill(out, bytes, check_seed(check_rank, partner, TAG_TOKEN, bytes));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(out, (int) bytes, MPI_BYTE, partner, TAG_TOKEN, MPI_COMM_WORLD, &sent);
    const int code = MPI_Recv(in, (int) (bytes / 2), MPI_BYTE, partner, TAG_TOKEN, MPI_COMM_WORLD, &status);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE, "error class of a receive that is too short");
    CHECK(MPI_SUCCESS == MPI_Wait(&sent, MPI_STATUS_IGNORE),
          "the sender of a message that was cut got an error");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check_free(out, bytes);
    check_free(in, bytes / 2);
}

static void run_case(void)
{
    for (enum how how = PROBE; how < HOWS; ++how) {
        any(how);
    }
    for (int i = 0; i < CHECK_COUNT(sizes); ++i) {
        selective(sizes[i]);
        cancel(sizes[i]);
    }
    if (check_partner() != check_rank) {
        truncated(1000);
        truncated(60000);
    }
}

CHECK_CASE(match, .least = 2)
