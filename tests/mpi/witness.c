/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges messages of all sizes, and prints what the performance variables say of this process' rails: a
 * witness beside the report, the trace and the interfaces' counters. Between the reading and MPI_Finalize
 * nothing is sent. */
#include "check.h"

enum { MOST = 32, ROUNDS = 20 };

static const int sizes[] = {1, 500, 5000, 65536, 300000};

int main(int argc, char **argv)
{
    int provided, index, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle[2] = {NULL, NULL};
    static const struct {
        const char *name;
        int class;
    } variable[2] = {{"bml_fsbml_rail_messages", MPI_T_PVAR_CLASS_COUNTER},
                     {"bml_fsbml_rail_bytes", MPI_T_PVAR_CLASS_AGGREGATE}};
    check_begin(&argc, &argv, "witness", 2);
    /* Nothing was sent yet: a sum counts from when its handle was made. */
    CHECK(MPI_SUCCESS == MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "no MPI_T");
    CHECK(MPI_SUCCESS == MPI_T_pvar_session_create(&session), "no session");
    for (int v = 0; v < 2; ++v) {
        CHECK(MPI_SUCCESS == MPI_T_pvar_get_index(variable[v].name, variable[v].class, &index), "no %s",
              variable[v].name);
        CHECK(MPI_SUCCESS == MPI_T_pvar_handle_alloc(session, index, NULL, &handle[v], &count), "no handle");
        CHECK_EQ(count, MOST, "values");
    }
    const int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int s = 0; s < CHECK_COUNT(sizes); ++s) {
        const size_t bytes = (size_t) sizes[s];
        uint8_t *out = check_alloc(bytes), *in = check_alloc(bytes);
        for (uint64_t i = 0; i < ROUNDS; ++i) {
            check_fill(out, bytes, check_seed(check_rank, to, s, i));
            MPI_Sendrecv(out, sizes[s], MPI_BYTE, to, s, in, sizes[s], MPI_BYTE, from, s, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            CHECK_CONTENT(in, bytes, check_seed(from, check_rank, s, i), "message");
        }
        check_free(out, bytes);
        check_free(in, bytes);
    }
    const double end = MPI_Wtime() + 0.3; /* what others still have to be told goes out meanwhile */
    while (MPI_Wtime() < end) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 4711, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    unsigned long long messages[MOST], sent[MOST];
    CHECK(MPI_SUCCESS == MPI_T_pvar_read(session, handle[0], messages), "cannot be read");
    CHECK(MPI_SUCCESS == MPI_T_pvar_read(session, handle[1], sent), "cannot be read");
    for (int r = 0; r < 2; ++r) {
        printf("rank %d rail%d messages %llu bytes %llu\n", check_rank, r, messages[r], sent[r]);
    }
    fflush(stdout);
    CHECK(MPI_SUCCESS == MPI_T_pvar_session_free(&session), "the session cannot be freed");
    MPI_T_finalize(); /* after MPI_Finalize, 4.1.4 crashes in it, with r2 as well */
    MPI_Finalize();
    if (0 == check_rank) {
        printf("witness: %" PRIu64 " checks passed\n", atomic_load(&check_passed));
    }
    return 0;
}
