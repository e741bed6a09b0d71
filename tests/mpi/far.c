/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer with more latency on one rail than the pair that has measured: node 2's link to rail0 has 2 ms more
 * (see run.sh). From rank 0, small messages to rank 1 take rail0, which is the faster one, and those to rank
 * 2 rail1, by the counters of the node's interfaces; and all arrive as they were sent.
 */
#include "interfaces.h"

enum { TAG = 40, ACK = 41, BYTES = 1000, MESSAGES = 40, ROUNDS = 20 };

/* Leaves the rails alone, and looks at what comes. */
static void wait_a_moment(void)
{
    for (const double until = check_seconds() + 0.001; check_seconds() < until;) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, ACK, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/* One message at a time, far enough apart that no rail is busy. Returns rail0's share of the bytes. */
static double share_of_rail0(int target, int round)
{
    uint64_t before[INTERFACES_RAILS], after[INTERFACES_RAILS];
    uint8_t *out = check_alloc(BYTES);
    interfaces_sent(before);
    for (int i = 0; i < MESSAGES; ++i) {
        check_fill(out, BYTES, check_seed(0, target, TAG, (uint64_t) (round * MESSAGES + i)));
        MPI_Send(out, BYTES, MPI_BYTE, target, TAG, MPI_COMM_WORLD);
        wait_a_moment();
    }
    MPI_Recv(NULL, 0, MPI_BYTE, target, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    interfaces_sent(after);
    check_free(out, BYTES);
    const double rail0 = (double) (after[0] - before[0]), rail1 = (double) (after[1] - before[1]);
    return rail0 / (rail0 + rail1);
}

static void take(int round)
{
    uint8_t *in = check_alloc(BYTES);
    for (int i = 0; i < MESSAGES; ++i) {
        MPI_Status status;
        check_poison(in, BYTES);
        MPI_Recv(in, BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status);
        CHECK_STATUS(&status, 0, TAG, BYTES, "far");
        CHECK_CONTENT(in, BYTES, check_seed(0, check_rank, TAG, (uint64_t) (round * MESSAGES + i)), "far");
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, ACK, MPI_COMM_WORLD);
    check_free(in, BYTES);
}

static void run_case(void)
{
    double near = 0, farther = 1;
    /* All know each other first, so that nothing starts on the only rail that has answered. */
    for (int i = 0; i < 20; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        check_sleep(0.01);
    }
    /* By the first round's messages the kernel knows the way, on a busy machine some rounds later. */
    for (int round = 0, go_on = 1; go_on; ++round) {
        if (0 == check_rank) {
            near = share_of_rail0(1, round);
            farther = share_of_rail0(2, round);
            go_on = round + 1 < ROUNDS && (near < 0.8 || farther > 0.2);
        } else {
            take(round);
        }
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (0 == check_rank) {
        CHECK(near > 0.8, "rail0 carried %.2f of what went to rank 1, which is near on both rails", near);
        CHECK(farther < 0.2, "rail0 carried %.2f of what went to rank 2, which is farther on it", farther);
    }
}

CHECK_CASE(far, .least = 3)
