/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What is wrong with rails, as far as this process has found out. For bml_fsbml.h; the kinds are the core's
 * (core/fsbml_diagnosis.h). */
#ifndef MCA_BML_FSBML_FAULTS_H
#define MCA_BML_FSBML_FAULTS_H

typedef struct fsbml_fault_t {
    char rail[FSBML_NAME_MAX];    /**< what a person calls it: "eth1" */
    char from[FSBML_NAME_MAX];    /**< node that found it, this one */
    char to[FSBML_NAME_MAX];      /**< node of the peer, "": all that have the rail */
    uint32_t kind;                /**< fsbml_fault_kind_t */
    char why[FSBML_REASON_MAX];   /**< a sentence without the full stop, beginning in lower case */
} fsbml_fault_t;

/** Most that are kept. */
enum { FSBML_FAULTS_MAX = 32 };

/* bml_fsbml_faults.c */
/** Keeps a fault, unless one of that kind is known of the same rail and nodes; counts what is beyond the most. Any thread. */
void fsbml_fault_note(const fsbml_fault_t *fault);
/** The faults of this life of MPI, in the order in which they were found. Returns how many *first has; *more, unless NULL,
 * is how many others there were. What is there stays there: later notes only add. */
uint32_t fsbml_faults(const fsbml_fault_t **first, uint32_t *more);
/** A new life of MPI begins. */
void fsbml_faults_reset(void);

#endif /* MCA_BML_FSBML_FAULTS_H */
