/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow: what the transport says of the rails while the job runs, and how much may wait on them.
 *
 * The core decides (core/flow/feedback.hpp): which rails are to be looked at, what follows for their rates
 * and backlogs, which rail bulk takes, and when it is to wait. This room reads the clock, asks the kernel
 * what this process' connections have delivered and what is left, and tells of rates that have changed.
 */
#ifndef MCA_BML_FSBML_FLOW_H
#define MCA_BML_FSBML_FLOW_H

#include "peers/peers.h"

/** Messages up to this size are urgent; those beyond FSBML_FLOW_BULK may wait. */
enum { FSBML_FLOW_URGENT = 4096 };

/** Once there are rails. `urgent` is called when small messages are sent again, or no more. */
void fsbml_flow_setup(void (*urgent)(bool begins));
void fsbml_flow_teardown(void);
/** Whoever is told of a rail that has become slower or faster for good: once for each change, `into_ns` after
 * the rails were set up, with its rates in Mbit/s. It is called from a progress function, and sends nothing.
 * One at most, any time after fsbml_flow_setup() and until fsbml_flow_teardown(). */
void fsbml_flow_listen(void (*changed)(uint32_t rail, uint64_t into_ns, double before_mbps,
                                       double after_mbps));
/** Whether a rail's model, which it is given next, is no measurement. */
void fsbml_flow_guessed(uint32_t rail, bool is_guess);
/** Size of fragments: what a rail must have to be busy. */
void fsbml_flow_quantum(const mca_bml_fsbml_group_t *group, size_t bytes);

/** What a byte of a fragment takes on a rail by now, in ns; 0: not known. */
double fsbml_flow_gap(uint32_t rail);

typedef struct fsbml_flow_t {
    _Atomic uint64_t short_until_ns; /**< until then queues are short; UINT64_MAX: there is no feedback */
} fsbml_flow_t;
extern fsbml_flow_t fsbml_flow;

/** An urgent message was sent. */
static inline void fsbml_flow_urgent(uint64_t now)
{
    enum { FOR_NS = 1000000000, STEP_NS = 10000000 }; /* written once a step: others may read it */
    if (now + FOR_NS - STEP_NS > atomic_load_explicit(&fsbml_flow.short_until_ns, memory_order_relaxed)) {
        atomic_store_explicit(&fsbml_flow.short_until_ns, now + FOR_NS, memory_order_relaxed);
    }
}

/** The rail for a piece of bulk of *bytes bytes, of which `best` would deliver first of those in a mask; -1:
 * it is to wait, and to be refused: the PML offers it again. `of` names the message, `left` are its bytes
 * that were not given to any rail yet, these among them. *bytes becomes less only if it `may_cut`. */
int fsbml_flow_rail(uint32_t best, uint32_t rails, size_t *bytes, bool may_cut, const void *of, size_t left);

/* ------------------------------------------------------------------- inside the room */

/* flow/sockets.c: what the kernel says of this process' connections */
fsbml_flow_seen_t fsbml_sockets_look(uint32_t rail);
/** Finds the connections, and keeps what is known of those that are still there. */
void fsbml_sockets_search(void);
void fsbml_sockets_forget(void);

#endif /* MCA_BML_FSBML_FLOW_H */
