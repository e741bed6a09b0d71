/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages one behind the other, for a while, and small ones to and fro beside them: what a job does
 * while its rails become slower and faster. Ranks of the lower half send to those of the upper half. Usage:
 * stream [SECONDS [FILE]]; once the file is there, it has been enough.
 */
#include <unistd.h>

#include "check.h"

enum { BYTES = 262144, AT_ONCE = 8, PING = 16, TAG_STREAM = 1, TAG_PING = 2, TAG_END = 3 };

static uint8_t *buffer[AT_ONCE];
static MPI_Request request[AT_ONCE];
static MPI_Comm pings;
static double longest; /* seconds between two messages and their pings */

static uint64_t seed_of(int sender, uint64_t number)
{
    return check_seed(sender, check_size - 1 - sender, TAG_STREAM, number);
}

static void start(int slot, uint64_t number)
{
    if (check_rank < check_size / 2) {
        check_fill(buffer[slot], BYTES, seed_of(check_rank, number));
        MPI_Isend(buffer[slot], BYTES, MPI_BYTE, check_partner(), TAG_STREAM, MPI_COMM_WORLD, &request[slot]);
    } else {
        check_poison(buffer[slot], BYTES);
        MPI_Irecv(buffer[slot], BYTES, MPI_BYTE, check_partner(), TAG_STREAM, MPI_COMM_WORLD, &request[slot]);
    }
}

/* One there, and one back. */
static void ping(uint64_t number)
{
    uint64_t word[PING / 8] = {check_mix(number), number};
    if (check_rank < check_size / 2) {
        MPI_Send(word, PING, MPI_BYTE, check_partner(), TAG_PING, pings);
        word[0] = word[1] = 0;
        MPI_Recv(word, PING, MPI_BYTE, check_partner(), TAG_PING, pings, MPI_STATUS_IGNORE);
        CHECK(check_mix(number) == word[0] && number == word[1], "ping %" PRIu64 " came back otherwise",
              number);
    } else {
        MPI_Recv(word, PING, MPI_BYTE, check_partner(), TAG_PING, pings, MPI_STATUS_IGNORE);
        MPI_Send(word, PING, MPI_BYTE, check_partner(), TAG_PING, pings);
    }
}

/* Sender and receiver go through the same numbers: after each message a ping, which also tells whether
 * another message comes. */
static uint64_t run(double seconds, const char *enough)
{
    const double end = check_seconds() + seconds;
    uint64_t started = 0, done = 0;
    double last = check_seconds();
    for (; started < AT_ONCE; ++started) {
        start((int) started, started);
    }
    for (bool more = true; done < started; ++done) {
        const int slot = (int) (done % AT_ONCE);
        MPI_Wait(&request[slot], MPI_STATUS_IGNORE);
        if (check_rank >= check_size / 2) {
            CHECK_CONTENT(buffer[slot], BYTES, seed_of(check_partner(), done), "message of the stream");
        }
        ping(done);
        const double now = check_seconds();
        longest = now - last > longest ? now - last : longest;
        last = now;
        if (more) {
            int go = check_seconds() < end && (NULL == enough || 0 != access(enough, F_OK));
            if (check_rank < check_size / 2) {
                MPI_Send(&go, 1, MPI_INT, check_partner(), TAG_END, pings);
            } else {
                MPI_Recv(&go, 1, MPI_INT, check_partner(), TAG_END, pings, MPI_STATUS_IGNORE);
            }
            more = 0 != go;
        }
        if (more) {
            start(slot, started++);
        }
    }
    return done;
}

/* By MPI_T: how often rails have failed since the first call, as this process counts; 0 without FSBML. */
static unsigned long long failures(void)
{
    enum { MOST = 64 };
    static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    static MPI_T_pvar_handle handle;
    static int count;
    unsigned long long value[MOST] = {0}, sum = 0;
    int index;
    if (MPI_T_PVAR_SESSION_NULL == session) {
        MPI_T_pvar_session_create(&session);
        if (MPI_SUCCESS
            == MPI_T_pvar_get_index("bml_fsbml_rail_failures", MPI_T_PVAR_CLASS_COUNTER, &index)) {
            MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
            CHECK(count <= MOST, "%d values", count);
        }
    }
    if (count > 0) {
        MPI_T_pvar_read(session, handle, value);
    }
    for (int i = 0; i < count; ++i) {
        sum += value[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* it takes long, and so not in the midst */
    check_begin(&argc, &argv, "stream", 2);
    (void) failures();
    MPI_Comm_dup(MPI_COMM_WORLD, &pings);
    for (int i = 0; i < AT_ONCE; ++i) {
        buffer[i] = check_alloc(BYTES);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == check_rank) {
        printf("stream: begins\n");
        fflush(stdout);
    }
    const double began = check_seconds();
    const uint64_t done = run(argc > 1 ? atof(argv[1]) : 5.0, argc > 2 ? argv[2] : NULL);
    const double seconds = check_seconds() - began;
    const unsigned long long failed = failures();
    if (failed > 0) {
        printf("stream: rank %d counts %llu failures of rails\n", check_rank, failed);
    }
    if (0 == check_rank) {
        printf("stream: %.1f MB/s, the longest pause took %.3f s\n", (double) done * BYTES / seconds / 1e6,
               longest);
    }
    CHECK(done >= AT_ONCE, "only %" PRIu64 " messages", done);
    for (int i = 0; i < AT_ONCE; ++i) {
        check_free(buffer[i], BYTES);
    }
    MPI_Comm_free(&pings);
    MPI_T_finalize();
    return check_end();
}
