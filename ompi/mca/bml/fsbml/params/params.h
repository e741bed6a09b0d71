/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * MCA parameters: their names, ranges, defaults and help texts (params/params.c). A value out of range is an
 * error, never corrected silently. A new one is a member below, its registration in params.c, and a line for
 * users in docs/using.md and docs/man/fsbml.7; also in fsbml_params_agreed() if both ends must have the same.
 */
#ifndef MCA_BML_FSBML_PARAMS_H
#define MCA_BML_FSBML_PARAMS_H

#include "api/fsbml_core.h"
#include "compat/compat.h"

/** When long messages are put and got by the PML instead of sent as fragments (parameter bml_fsbml_rdma). */
typedef enum fsbml_rdma_t {
    FSBML_RDMA_AUTO = 0, /**< over rails whose BTL registers memory: hardware reads and writes it; over others
                            where a process uses one rail because the processor feeds it no more */
    FSBML_RDMA_ON = 1,   /**< over every rail that offers put or get, also where that is a copy (tcp) */
    FSBML_RDMA_OFF = 2,
} fsbml_rdma_t;

/** When the ranks of a node share the state of their rails (parameter bml_fsbml_ledger). */
typedef enum fsbml_ledger_mode_t {
    FSBML_LEDGER_AUTO = 0, /**< if the job has several ranks on the node */
    FSBML_LEDGER_ON = 1,
    FSBML_LEDGER_OFF = 2,
} fsbml_ledger_mode_t;

/** What is done with the parameters of earlier jobs (parameter bml_fsbml_cache). */
typedef enum fsbml_cache_mode_t {
    FSBML_CACHE_OFF = 0,
    FSBML_CACHE_READ = 1,  /**< they are used if probes confirm them */
    FSBML_CACHE_WRITE = 2, /**< and this job's are kept where there were none, or others */
} fsbml_cache_mode_t;

/** After validation. */
typedef struct mca_bml_fsbml_params_t {
    fsbml_calib_config_t calib;
    uint64_t probe_timeout_ns;
    size_t quantum; /**< bytes, 0: from the model */
    fsbml_policy_t policy;
    fsbml_rdma_t rdma;
    fsbml_ledger_mode_t ledger;
    fsbml_cache_mode_t cache;
    char *site;           /**< stands for the nodes' names in the cache, NULL or "": none does */
    char *table;          /**< file with parameters to use as they are, NULL or "": measure */
    char *measurement;    /**< file for the measurement's report, NULL or "": none */
    char *report;         /**< file for the report of the job, "-": stdout, NULL or "": none */
    char *trace;          /**< folder, or beginning of the name, for a trace of decisions; NULL or "": none */
    uint32_t trace_every; /**< every Nth decision is traced */
    uint32_t trace_entries; /**< most decisions in the trace, the latest ones */
    char *record;     /**< folder, or beginning of the name, for a record of what is sent; NULL or "": none */
    uint32_t holdout; /**< validation exchanges, for the report */
    char *include;    /**< comma-separated names, NULL or "": all */
    char *exclude;
    unsigned display; /**< the rail table is printed at start */
    bool measure;     /**< rails are measured at start */
    bool together;    /**< the interference of rails is measured */
    bool feedback;    /**< the kernel corrects rates and backlogs during the job */
    uint32_t epoll;   /**< peers on other nodes from which on connections are watched so; 0: as it is */
    bool pieces;      /**< messages may be cut */
    bool failover;    /**< messages are sent again by other rails when one fails */
    uint64_t failover_wait_ns; /**< for which messages wait when no rail works */
    bool per_peer;             /**< the extra latency of each peer is measured */
    bool show_unreach_errors;
    bool valid; /**< false: reported, and the component declines to run */
} mca_bml_fsbml_params_t;

extern mca_bml_fsbml_params_t mca_bml_fsbml_params;

int fsbml_params_register(const mca_base_component_t *component);
/** Text of the parameters that the measuring pair must share; see fsbml_digest(). */
void fsbml_params_agreed(char *buf, size_t len);

#endif /* MCA_BML_FSBML_PARAMS_H */
