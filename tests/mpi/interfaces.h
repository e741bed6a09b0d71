/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a node's interfaces have sent, for programs on a virtual cluster. */
#ifndef FSBML_TESTS_MPI_INTERFACES_H
#define FSBML_TESTS_MPI_INTERFACES_H

#include "check.h"

enum { INTERFACES_RAILS = 3 }; /**< the most rails of any cluster in these tests */

/** Bytes that this node has sent so far on each of its rails. The measurement of the rails is over when
 * MPI_Init returns. */
static inline void interfaces_sent(uint64_t bytes[INTERFACES_RAILS])
{
    char line[512];
    FILE *f = fopen("/proc/self/net/dev", "r");
    memset(bytes, 0, INTERFACES_RAILS * sizeof(*bytes));
    CHECK(NULL != f, "there is no /proc/self/net/dev");
    while (NULL != fgets(line, sizeof(line), f)) {
        unsigned rail = 0;
        uint64_t tx = 0;
        if (2 == sscanf(line, " rail%u: %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &rail, &tx)
            && rail < INTERFACES_RAILS) {
            bytes[rail] = tx;
        }
    }
    fclose(f);
}

#endif
