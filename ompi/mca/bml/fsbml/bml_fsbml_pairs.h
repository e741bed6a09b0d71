/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The pairs of processes that measure rails, as each process finds them. */
#ifndef MCA_BML_FSBML_PAIRS_H
#define MCA_BML_FSBML_PAIRS_H

#include "bml_fsbml.h"

/** A process of this job by its rank. */
static inline ompi_process_name_t fsbml_pairs_name(uint32_t rank)
{
    return (ompi_process_name_t){.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = rank};
}

/** Rank that leads the first pair; false: no pair measures. */
bool fsbml_pairs_first_leader(uint32_t *rank);
/** All pairs, for the caller to free; NULL: out of memory. */
fsbml_pairs_t *fsbml_pairs_all(void);
/** All pairs, if this process is in one of them; else NULL. */
fsbml_pairs_t *fsbml_pairs_mine(void);
/** Whether this process is one of the two. */
bool fsbml_pairs_is_in(const fsbml_pair_t *pair);
/** The rails of this process that a pair measures. */
uint32_t fsbml_pairs_rails(const fsbml_pair_t *pair);

#endif /* MCA_BML_FSBML_PAIRS_H */
