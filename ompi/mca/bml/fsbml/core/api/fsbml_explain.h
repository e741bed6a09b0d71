/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a job: what its rails carried, how well that was predicted, what it saved. Plain data that is
 * gathered over all ranks, bounded in size, and what makes text, JSON and a page of it. No header of Open
 * MPI. */
#ifndef FSBML_EXPLAIN_H
#define FSBML_EXPLAIN_H

#include "api/fsbml_core.h"
#include "api/fsbml_observe.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Messages by size: class c holds those of up to 64 * 4^c bytes, the last one all others (above 1 MiB). */
#define FSBML_CLASSES 9
/** Bins of observed by predicted arrival, an eighth of an octave each, from 2^-4 on; what is beyond is in the
 * outer ones. */
#define FSBML_RATIO_BINS 80
/** So many of the following are kept, the gravest first; how many more there were is counted. */
#define FSBML_MOST_FAULTS 16
#define FSBML_MOST_PEERS 8
#define FSBML_MOST_RANKS 16
/** Kinds of faults from this one on: the rail carries, but far less than it should. Below: it carries
 * nothing. */
#define FSBML_FAULT_ONLY_SLOW 100

typedef struct fsbml_class_t {
    uint64_t messages, bytes;
    uint64_t arrivals;                  /**< of these messages, that were found out */
    uint64_t predicted_ns, observed_ns; /**< sums over the arrivals */
} fsbml_class_t;

/** A rail, over all processes that have it. */
typedef struct fsbml_summary_rail_t {
    char key[FSBML_NAME_MAX];     /**< the same on all nodes: "tcp:10.71.1.0/24" */
    char name[FSBML_NAME_MAX];    /**< on the first node that has it: "eth1" */
    char about[FSBML_REASON_MAX]; /**< there: "10.71.1.2, 1 Gbit/s, 0000:3b:00.0, NUMA node 0"; "" if not
                                     known */
    uint32_t processes;           /**< that have it */
    uint32_t far_numa;            /**< processes that run on another NUMA node than the rail is at */
    uint64_t messages, bytes;
    uint64_t passed_over;    /**< times that another rail got the message */
    uint64_t busy_ns;        /**< predicted: sum of the charges */
    uint64_t kernel_busy_ns; /**< how long connections had data that was not acknowledged yet; 0: not known */
    uint64_t retransmitted;  /**< segments, by the kernel's count */
    uint64_t backlog_max_ns;
    uint32_t backlog_max_rank;
    uint32_t interfaces;      /**< nodes that know what the interface has sent, by all programs: */
    uint64_t interface_bytes; /**< sum over these nodes, from the end of the measurement to MPI_Finalize */
    uint32_t alone_processes; /**< processes with a choice that could have taken this rail only */
    uint64_t alone_ns;        /**< how long their messages would have been under way then, by the model */
    fsbml_class_t by_size[FSBML_CLASSES];
    uint64_t
        ratio[FSBML_RATIO_BINS]; /**< arrivals: of 10,000 ranks, more than 32 bits count in half an hour */
} fsbml_summary_rail_t;

/** A rail that carries nothing between two nodes, or far less than it should. */
typedef struct fsbml_summary_fault_t {
    char rail[FSBML_NAME_MAX], from[FSBML_NAME_MAX], to[FSBML_NAME_MAX]; /**< name, nodes */
    uint32_t kind;              /**< the shim's, for sorting: lower is graver */
    char why[FSBML_REASON_MAX]; /**< a sentence's end: "no answer within 500 ms" */
} fsbml_summary_fault_t;

/** A peer with more latency on a rail than measured. */
typedef struct fsbml_summary_peer_t {
    uint32_t from, to; /**< ranks */
    char rail[FSBML_NAME_MAX];
    uint64_t extra_ns;
} fsbml_summary_peer_t;

/** A rank, of those whose messages were under way longest. */
typedef struct fsbml_summary_rank_t {
    uint32_t rank;
    char node[FSBML_NAME_MAX];
    uint64_t messages, bytes;
    uint64_t time_ns;                     /**< that messages were under way */
    uint32_t rail_share[FSBML_MAX_RAILS]; /**< of its bytes, per 1000, by the rails' places in the summary */
} fsbml_summary_rank_t;

/** Of one process, or of several after fsbml_summary_merge(). */
typedef struct fsbml_summary_t {
    uint32_t ranks; /**< of the job */
    uint32_t heard; /**< of which this tells */
    uint32_t nodes;
    uint32_t chose;           /**< processes that had a choice of rails for some message */
    uint64_t duration_ns;     /**< from MPI_Init to MPI_Finalize, the longest */
    uint64_t messages, bytes; /**< on rails */
    uint64_t time_ns; /**< how long messages were under way, by the model; sum over processes with a choice */
    uint64_t r2_ns;   /**< the same had r2's rule chosen */
    uint32_t n_rails;
    uint32_t n_faults, more_faults;
    uint32_t n_peers, more_peers;
    uint32_t n_ranks;
    fsbml_summary_rail_t rail[FSBML_MAX_RAILS];
    fsbml_summary_fault_t fault[FSBML_MOST_FAULTS];
    fsbml_summary_peer_t peer[FSBML_MOST_PEERS];
    fsbml_summary_rank_t rank[FSBML_MOST_RANKS];
    fsbml_changes_t changes; /**< of rates, by the rails' places in the summary */
} fsbml_summary_t;

/* ---------------------------------------------------- one process' account */

typedef struct fsbml_account_t fsbml_account_t;

/**
 * Follows the decisions of a process with n_rails rails: give its audience to the observer. It replays each
 * in the model with the rail that got the message, with each rail alone, and with r2's rule. NULL with errno
 * set.
 */
fsbml_account_t *fsbml_account_create(size_t n_rails) FSBML_NOEXCEPT;
/** The scheduler's parameters of a rail; what was decided before all of a message's candidates have some
 * takes no time. */
int fsbml_account_set_model(fsbml_account_t *a, size_t rail, const fsbml_loggp_t *p) FSBML_NOEXCEPT;
/** What r2 knows of a rail, as the BTL states it. */
typedef struct fsbml_r2_rail_t {
    uint32_t bandwidth; /**< Mbit/s; 0: not stated */
    uint32_t latency;   /**< us */
    size_t eager_limit; /**< bytes */
    int sendi;          /**< the BTL has btl_sendi */
} fsbml_r2_rail_t;
/**
 * For the replay of r2's rule. Of the rails of least latency, by bandwidth, a message up to the eager limit
 * takes the next but one: with two rails without btl_sendi always the second (account.cpp has the reason).
 * Longer ones share all rails by bandwidth. Without it all messages are eager, and the rails alike.
 */
int fsbml_account_set_r2(fsbml_account_t *a, size_t rail, const fsbml_r2_rail_t *r) FSBML_NOEXCEPT;
/** Bytes of a full fragment: what has as many is of a long message, also below the eager limit. */
int fsbml_account_set_fragment(fsbml_account_t *a, size_t rail, size_t bytes) FSBML_NOEXCEPT;
void fsbml_account_destroy(fsbml_account_t *a) FSBML_NOEXCEPT;
fsbml_audience_t fsbml_account_audience(fsbml_account_t *a) FSBML_NOEXCEPT;
/** Adds what it knows to the summary of this one process, whose rails (key, name, ...) the caller has filled
 * in. */
void fsbml_account_add(const fsbml_account_t *a, fsbml_summary_t *to) FSBML_NOEXCEPT;

/* ------------------------------------------------------------- many summaries */

/** Adds a peer with more latency than measured; those with most stay. */
void fsbml_summary_add_peer(fsbml_summary_t *into, const fsbml_summary_peer_t *peer) FSBML_NOEXCEPT;
/** Adds another's processes. Rails are the same if their keys are; of more than FSBML_MAX_RAILS the first
 * ones stay. */
void fsbml_summary_merge(fsbml_summary_t *into, const fsbml_summary_t *other) FSBML_NOEXCEPT;
size_t fsbml_summary_packed_max(void) FSBML_NOEXCEPT;
/** Packs into buf (little endian, versioned, CRC-32); returns the length or -ENOSPC. */
long fsbml_summary_pack(const fsbml_summary_t *s, void *buf, size_t len) FSBML_NOEXCEPT;
/** -EBADMSG for a malformed record, -EPROTO for another version; *s is then unchanged. */
int fsbml_summary_unpack(fsbml_summary_t *s, const void *buf, size_t len) FSBML_NOEXCEPT;

/* ------------------------------------------------------------------ the report */

/** What one process knows for all. */
typedef struct fsbml_job_t {
    const fsbml_summary_t *summary;
    const fsbml_table_t *table; /**< parameters, intervals, fits; NULL: there is none */
    const char *program;
    const char *openmpi; /**< its version */
    const char *policy;
    const char *ended; /**< when, "2026-11-22 07:00:00 UTC" */
} fsbml_job_t;

typedef enum fsbml_form_t {
    FSBML_FORM_TEXT = 0,
    FSBML_FORM_JSON = 1, /**< docs/report.schema.json */
    FSBML_FORM_HTML = 2, /**< one page with all that it needs */
} fsbml_form_t;

/** By the end of the file's name: .json, .html or .htm; else text. */
fsbml_form_t fsbml_form_of(const char *path) FSBML_NOEXCEPT;
/** Replaces the file as a whole, with its folders; "-" is stdout. 0 or a negative errno, and the reason. */
int fsbml_job_report_store(const char *path, const fsbml_job_t *job,
                           char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

/** What a plan is made by. */
typedef struct fsbml_plan_t {
    size_t n_rails;
    const char *name[FSBML_MAX_RAILS];
    fsbml_loggp_t model[FSBML_MAX_RAILS]; /**< valid ones */
    fsbml_policy_t policy;
    size_t eager, quantum; /**< bytes: longer messages go in fragments, of at most so many */
    bool pieces;           /**< others may be cut */
} fsbml_plan_t;

/** Which rails messages of several sizes take while nothing else is sent, and when they arrive: lines of
 * text, to be freed by free(); NULL: no memory, or no rail. */
char *fsbml_plan(const fsbml_plan_t *plan) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_EXPLAIN_H */
