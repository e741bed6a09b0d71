/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What is wrong with rails, as far as this process has found out. For bml_fsbml.h; the kinds are the core's
 * (core/fsbml_diagnosis.h). */
#ifndef MCA_BML_FSBML_FAULTS_H
#define MCA_BML_FSBML_FAULTS_H

#include "bml_fsbml.h"

typedef struct fsbml_fault_t {
    char rail[FSBML_NAME_MAX];  /**< what a person calls it: "eth1" */
    char from[FSBML_NAME_MAX];  /**< node that found it, this one */
    char to[FSBML_NAME_MAX];    /**< node of the peer, "": all that have the rail */
    uint32_t kind;              /**< fsbml_fault_kind_t */
    char why[FSBML_REASON_MAX]; /**< a sentence without the full stop, beginning in lower case */
} fsbml_fault_t;

/** Most that are kept. */
enum { FSBML_FAULTS_MAX = 32 };

/* bml_fsbml_faults.c */
/** Keeps a fault, unless one of that kind is known of the same rail and nodes; counts what is beyond the
 * most. Any thread. */
void fsbml_fault_note(const fsbml_fault_t *fault);
/** The faults of this life of MPI, in the order in which they were found. Returns how many *first has; *more,
 * unless NULL, is how many others there were. What is there stays there: later notes only add. */
uint32_t fsbml_faults(const fsbml_fault_t **first, uint32_t *more);
/** A new life of MPI begins. */
void fsbml_faults_reset(void);

/* bml_fsbml_end.c: what this end of a path sees of it */
/** The rails are known: from now on it counts whether anything comes in on them. */
void fsbml_end_begin(void);
/** Bytes of a message that fills a frame of a rail's interface, 0: unknown. */
size_t fsbml_end_frame(uint32_t rail);
/** `other` is the address of the peer's end, NULL or "" if it is not known. */
void fsbml_end_look(uint32_t rail, const char *other, fsbml_end_t *end);

/* bml_fsbml_echo.c: a rail that leads back to this node */
/** The rails are known: what is counted on a rail's interface from now on matters, and what was found before
 * does not. */
void fsbml_echo_begin(uint32_t rail, const char *interface);
/** Whether what this node sends on it comes in again. Only for a rail that does not work: it may send some
 * frames to find out, and takes 5 ms then, 60 at most if frames come in. Any thread. */
bool fsbml_echo(uint32_t rail, const char *interface);

/* bml_fsbml_diagnose.c: why a path does not work */
/** Asks the peer once, on another path as soon as one is live, what it sees of this one. */
void fsbml_diagnose_begin(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Decides without the peer's word, if that has not come: then path->why is what closed it, or better. */
void fsbml_diagnose_end(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Both, and waits for up to the probes' time-out: for the measurement. Returns the kind; why[] is what is
 * known, then why. */
uint32_t fsbml_diagnose_now(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                            char why[FSBML_REASON_MAX]);
/** Tells of rails that were measured far slower than they should be; before[]: G by an earlier job, 0:
 * unknown. */
void fsbml_diagnose_speeds(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                           size_t n, const double before[]);
/** LOOK or SEEN came in. */
void fsbml_diagnose_packet(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                           size_t len);
/** Whether a question was meant for this process. */
bool fsbml_diagnose_is_mine(const fsbml_packet_t *packet);
/** A question of this process, as it was or as its answer repeats it, came to `receiver`, and not to the peer
 * that it names. */
void fsbml_diagnose_astray(const mca_btl_base_module_t *btl, const fsbml_packet_t *packet,
                           const ompi_process_name_t *receiver);
/** Notes a fault of one of this process' rails, and prints a line where lines are wanted; `to` is the other
 * node, "": all. */
void fsbml_diagnose_note(uint32_t rail, const char *to, uint32_t kind, const char *why);

#endif /* MCA_BML_FSBML_FAULTS_H */
