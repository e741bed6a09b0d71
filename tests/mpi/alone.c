/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that sends to itself: what a job of one process can do. */
#include "check.h"

enum { BYTES = 100000, TAG = 41 };

static void run_case(void)
{
    uint8_t *out = check_alloc(BYTES), *in = check_alloc(BYTES);
    MPI_Status status;
    check_fill(out, BYTES, check_seed(check_rank, check_rank, TAG, 0));
    MPI_Sendrecv(out, BYTES, MPI_BYTE, check_rank, TAG, in, BYTES, MPI_BYTE, check_rank, TAG, MPI_COMM_WORLD,
                 &status);
    CHECK_STATUS(&status, check_rank, TAG, BYTES, "to itself");
    CHECK_CONTENT(in, BYTES, check_seed(check_rank, check_rank, TAG, 0), "to itself");
    check_free(out, BYTES);
    check_free(in, BYTES);
}

CHECK_CASE(alone, .least = 1)
