/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What is wrong with a rail: it is found, told for what it is, and kept for the report. */

#include "fake_pml.h"

static fsbml_fault_t fault(const char *rail, const char *to, uint32_t kind, const char *why)
{
    fsbml_fault_t f = {.from = "here", .kind = kind};
    snprintf(f.rail, sizeof(f.rail), "%s", rail);
    snprintf(f.to, sizeof(f.to), "%s", to);
    snprintf(f.why, sizeof(f.why), "%s", why);
    return f;
}

/* One of a kind for a rail and two nodes; the first one stays. */
static void each_fault_is_kept_once(void)
{
    const fsbml_fault_t told[] = {
        fault("eth1", "there", FSBML_FAULT_CUT, "first"),  fault("eth1", "there", FSBML_FAULT_CUT, "again"),
        fault("eth1", "there", FSBML_FAULT_MTU, "kind"),   fault("eth2", "there", FSBML_FAULT_CUT, "rail"),
        fault("eth1", "beyond", FSBML_FAULT_CUT, "node"),
    };
    static const char *const kept[] = {"first", "kind", "rail", "node"};
    const fsbml_fault_t *first;
    uint32_t more = 7;
    fsbml_faults_reset();
    CHECK(0 == fsbml_faults(&first, &more) && 0 == more);
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); ++i) {
        fsbml_fault_note(&told[i]);
    }
    CHECK(4 == fsbml_faults(&first, NULL));
    for (size_t i = 0; i < 4; ++i) {
        CHECK(0 == strcmp(kept[i], first[i].why));
    }
}

/* Beyond the room there is a count, and what was there first stays. The next life of MPI begins with none. */
static void more_than_there_is_room_for_are_counted(void)
{
    const fsbml_fault_t *first;
    char rail[16];
    uint32_t more;
    fsbml_faults_reset();
    for (uint32_t i = 0; i < FSBML_FAULTS_MAX + 5; ++i) {
        snprintf(rail, sizeof(rail), "eth%u", (unsigned) i);
        const fsbml_fault_t f = fault(rail, "there", FSBML_FAULT_OTHER, "it is so");
        fsbml_fault_note(&f);
    }
    CHECK(FSBML_FAULTS_MAX == fsbml_faults(&first, &more) && 5 == more);
    CHECK(0 == strcmp("eth0", first[0].rail) && 0 == strcmp("eth31", first[FSBML_FAULTS_MAX - 1].rail));
    fsbml_module_construct();
    CHECK(0 == fsbml_faults(&first, &more) && 0 == more);
}

int main(void)
{
    static void (*const test[])(void) = {
        each_fault_is_kept_once,
        more_than_there_is_room_for_are_counted,
    };
    return fake_main(test, sizeof(test) / sizeof(test[0]));
}
