/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a user asks for about a job: the table at start, the report, traces, records, and MPI_T variables.
 * What is told at once, unasked, is printed where it is noticed: rates that change in flow/flow.c, rails that
 * fail in failover/act.c, peers that do not answer in peers/proof.c. report/report.c is the set-up only; the
 * job report's words are core/explain/forms/text.cpp.
 */
#ifndef MCA_BML_FSBML_REPORT_H
#define MCA_BML_FSBML_REPORT_H

#include "measure/measure.h"

#include "api/fsbml_observe.h"

/** Once there are rails, and what sends by them. */
void fsbml_report_setup(void);
void fsbml_report_teardown(void);
/** For measuring: what is shown of it. */
extern const fsbml_measure_listener_t fsbml_report_measuring;

/* report/display.c: the rail table, once a job */
/** The job's hosts follow, each once: what ranks say in their order, NULL: it has no hello. */
void fsbml_display_hosts(void);
void fsbml_display_host(const fsbml_hello_t *hello);
/** Prints what the parameters ask for. `pair`: the ranks that measured first, this process being the first of
 * them; NULL: none did. */
void fsbml_display(const fsbml_pair_t *pair);
void fsbml_display_reset(void);

/* report/job.c: traces, and the report of the job */
bool fsbml_job_is_reported(void);
void fsbml_job_begin(void);
/** The number of this job among those of its mpirun if another one has spawned it, else 0. */
uint32_t fsbml_job_number(void);
/** This process' part in the measurement is over: what the interfaces send from now on is the job's. */
void fsbml_job_measured(void);
/** What this process has learnt of its rails goes to the cache; the second time nothing. */
void fsbml_job_learnt(void);
/** Writes the trace; gathers all processes' summaries at rank 0, or, where they cannot talk any more, has
 * only its own, and writes the report. The second time nothing. */
void fsbml_job_tell(bool together);

/* report/told.c: rails whose rates change while the job runs */
void fsbml_told_begin(void);
/** What feedback calls (flow/flow.h). */
void fsbml_told(uint32_t rail, uint64_t into_ns, double before_mbps, double after_mbps);
/** Those that this process has noticed, by its rails. */
void fsbml_told_changes(fsbml_changes_t *to);
/** How often a rail's rate has changed. */
uint32_t fsbml_told_count(uint32_t rail);
/** Of each rail whose rate has been what it is now for some seconds: what a byte of a fragment takes there,
 * in ns, by what was delivered; of others 0. */
void fsbml_told_lasting(double gap[FSBML_MAX_RAILS]);

/* report/record.c: a record of what is sent, for bml_fsbml_record; without that, nothing */
/** Puts itself between the rails' BTLs and all code that sends by them. */
void fsbml_record_start(void);
/** Takes itself out again, and ends the file. */
void fsbml_record_stop(void);
/** Whose a real BTL's endpoint is. */
void fsbml_record_path_known(const struct mca_btl_base_endpoint_t *real_endpoint, const ompi_proc_t *proc);
void fsbml_record_path_gone(const struct mca_btl_base_endpoint_t *real_endpoint);

/* report/pvars.c: MPI_T performance variables */
int fsbml_pvars_register(const mca_base_component_t *component);
/** The rails are there; they will not be any more. */
void fsbml_pvars_open(void);
void fsbml_pvars_close(void);

#endif /* MCA_BML_FSBML_REPORT_H */
