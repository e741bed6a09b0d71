// What the network interfaces of a node have sent. In C, since the probe must not bring C++'s library along.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <stdint.h>

enum { max_interfaces = 32, max_name = 24 };

struct interface {
    char name[max_name];
    uint64_t bytes; // sent
};

struct traffic {
    int count;
    struct interface interfaces[max_interfaces];
};

// Bytes sent since boot by each interface that this process sees. Empty where the system does not tell.
struct traffic traffic_read(void);
// What was sent in between; interfaces that sent nothing, or that came or went, are left out.
struct traffic traffic_between(struct traffic *before, const struct traffic *after);
void traffic_add(struct traffic *sum, const struct traffic *traffic);
