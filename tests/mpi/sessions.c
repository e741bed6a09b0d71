/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI initialised and finalised twice in one process through sessions (MPI 4), with traffic in each: what a
 * first life leaves behind must not disturb the second one.
 *   sessions [ROUNDS]     so many messages of each size, each way (5)
 */
#include "check.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#    error "sessions need Open MPI 5 or later (which has them, though its MPI_VERSION says 3)"
#endif

static uint64_t all_passed;

/*
 * Every rank talks to every other one early. Open MPI answers the first message in such a communicator behind
 * the program's back, and finalizing a session does not wait for any rank: an answer to the very last message
 * could find its partner gone (whatever the BML).
 */
static void meet_all(MPI_Comm comm)
{
    for (int shift = 0; shift < check_size; ++shift) {
        const int to = (check_rank + shift) % check_size,
                  from = (check_rank - shift + check_size) % check_size;
        int in = -1;
        MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 9, &in, 1, MPI_INT, from, 9, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(in, from, "first message");
    }
    MPI_Barrier(comm);
}

static void life(int number, int rounds)
{
    static const size_t sizes[] = {0, 1, 1000, 16384, 65522, 65537, 300000};
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    char tag[32];
    snprintf(tag, sizeof(tag), "fsbml-life-%d", number);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_size(comm, &check_size);
    CHECK(check_size >= 2, "needs at least 2 ranks, has %d", check_size);
    meet_all(comm);
    const int partner = check_partner();
    if (0 == check_rank) {
        printf("sessions: life %d begins\n", number);
        (void) fflush(stdout);
    }
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        uint8_t *out = check_alloc(sizes[s]), *in = check_alloc(sizes[s]);
        MPI_Status status;
        check_fill(out, sizes[s], check_seed(check_rank, partner, number, sizes[s]));
        for (int round = 0; round < rounds; ++round) {
            check_poison(in, sizes[s]);
            MPI_Sendrecv(out, (int) sizes[s], MPI_BYTE, partner, number, in, (int) sizes[s], MPI_BYTE,
                         partner, number, comm, &status);
            CHECK_STATUS(&status, partner, number, sizes[s], "message in a session");
            CHECK_CONTENT(in, sizes[s], check_seed(partner, check_rank, number, sizes[s]),
                          "message in a session");
        }
        check_free(out, sizes[s]);
        check_free(in, sizes[s]);
    }
    uint64_t mine = atomic_exchange(&check_passed, 0), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    all_passed += all;
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    check_name = "sessions";
    life(1, rounds);
    /*
     * Open MPI 5.0 does not keep the lives of different ranks apart: one that has begun the second may
     * connect to another's first, which then ends under its hands (whatever the BML). So all have ended
     * before any begins again.
     */
    check_sleep(0.5);
    life(2, rounds);
    if (0 == check_rank) {
        printf("%s: %" PRIu64 " checks passed\n", check_name, all_passed);
    }
    return 0;
}
