// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#define _GNU_SOURCE
#include "interfaces.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct traffic traffic_read(void)
{
    struct traffic traffic = {0};
    FILE *table = fopen("/proc/self/net/dev", "re");
    if (table == NULL) {
        return traffic;
    }
    char line[512];
    while (traffic.count < max_interfaces && fgets(line, sizeof line, table) != NULL) {
        struct interface *interface = &traffic.interfaces[traffic.count];
        char *colon = strchr(line, ':');
        if (colon == NULL) {
            continue; // one of the two headings
        }
        *colon = ' ';
        // Eight columns of what was received, then what was sent.
        if (sscanf(line, "%23s %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, interface->name, &interface->bytes)
                == 2
            && strpbrk(interface->name, "\"\\") == NULL) {
            traffic.count++;
        }
    }
    fclose(table);
    return traffic;
}

static struct interface *find(struct traffic *traffic, const char *name)
{
    for (int i = 0; i < traffic->count; i++) {
        if (strcmp(traffic->interfaces[i].name, name) == 0) {
            return &traffic->interfaces[i];
        }
    }
    return NULL;
}

struct traffic traffic_between(struct traffic *earlier, const struct traffic *later)
{
    struct traffic sent = {0};
    for (int i = 0; i < later->count; i++) {
        const struct interface *interface = &later->interfaces[i];
        const struct interface *old = find(earlier, interface->name);
        if (old != NULL && interface->bytes > old->bytes) {
            sent.interfaces[sent.count] = *interface;
            sent.interfaces[sent.count++].bytes -= old->bytes;
        }
    }
    return sent;
}

void traffic_add(struct traffic *sum, const struct traffic *traffic)
{
    for (int i = 0; i < traffic->count; i++) {
        const struct interface *interface = &traffic->interfaces[i];
        struct interface *same = find(sum, interface->name);
        if (same != NULL) {
            same->bytes += interface->bytes;
        } else if (sum->count < max_interfaces) {
            sum->interfaces[sum->count++] = *interface;
        }
    }
}
