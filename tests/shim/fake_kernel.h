/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the kernel says of connections by two rails, as a test wants it.
 */
#ifndef FSBML_TESTS_FAKE_KERNEL_H
#define FSBML_TESTS_FAKE_KERNEL_H

#include "fake_sockets.h"

static struct {
    uint64_t round_trip_ns, segments, number; /* number 0: it is not connected */
    int64_t queued;
    int asked;
} kernel[2]; /* of all connections by a rail */

static int descriptor_of(int rail)
{
    return 0 != kernel[rail].number ? rail : -1;
}

bool fsbml_kernel_is_on(int fd, uint32_t rail)
{
    return (uint32_t) fd == rail;
}

uint64_t fsbml_kernel_socket(int fd)
{
    return kernel[fd].number;
}

int64_t fsbml_kernel_queued(int fd)
{
    return kernel[fd].queued;
}

bool fsbml_kernel_flow(int fd, fsbml_kernel_flow_t *flow)
{
    ++kernel[fd].asked;
    *flow = (fsbml_kernel_flow_t){.round_trip_ns = kernel[fd].round_trip_ns,
                                  .segments = kernel[fd].segments,
                                  .queued = (uint64_t) kernel[fd].queued};
    return true;
}

/* From now on peers have connections. */
static void kernel_connects(void)
{
    for (uint64_t i = 0; i < 2; ++i) {
        kernel[i].number = i + 1;
    }
    sockets.possible = true;
    sockets.of = descriptor_of;
}

#endif /* FSBML_TESTS_FAKE_KERNEL_H */
