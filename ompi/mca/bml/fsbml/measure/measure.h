/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Measuring: which processes measure, their probes, the table of parameters, its way to all processes and to
 * later jobs. No rail is left without parameters: a measurement, a table of the user or of an earlier job, or
 * what the BTLs and devices say. What samples and parameters mean is decided in core/measure. A cached table
 * counts if its fingerprint is this job's (cache.c, core/records/records.hpp) and its probes confirm it
 * (calibrate.c).
 */
#ifndef MCA_BML_FSBML_MEASURE_H
#define MCA_BML_FSBML_MEASURE_H

#include "peers/peers.h"

/** Functions of the room that shows the measurement; none may be NULL. */
typedef struct fsbml_measure_listener_t {
    /** The job's hosts follow, each once: what ranks say in their order, NULL: it has no hello. */
    void (*hosts)(void);
    void (*host)(const fsbml_hello_t *hello);
    /** This process is the one to show the job's rails. `pair`: the ranks that measured first, this
     * process being the first of them; NULL: no pair measured. */
    void (*show)(const fsbml_pair_t *pair);
} fsbml_measure_listener_t;
/** Once there are rails, in each life of MPI. */
void fsbml_measure_setup(const fsbml_measure_listener_t *listener);
void fsbml_measure_teardown(void);
/** This process' part in the measurement is over. */
extern bool fsbml_calibrated;

/* measure/prtt.c: probes, as the leader has them */
/** Most messages of a probe. */
enum { FSBML_PRTT_MOST = 1024 };
void fsbml_prtt_reset(void);
/** Runs a probe; returns its time in ns, or 0 if it was not answered within the limit. */
uint64_t fsbml_prtt_run(const mca_bml_fsbml_path_t *path, const fsbml_probe_t *probe, uint64_t limit_ns);
/** Lets a rail be idle. */
void fsbml_prtt_rest(uint64_t ns);
/** Handles a message of a probe, or an answer. */
void fsbml_prtt_came(const fsbml_packet_t *packet);
/** Largest message of a probe on a rail. */
static inline uint32_t fsbml_prtt_bytes(const mca_btl_base_module_t *btl)
{
    const size_t most =
        btl->btl_max_send_size > btl->btl_eager_limit ? btl->btl_max_send_size : btl->btl_eager_limit;
    return most < UINT32_MAX ? (uint32_t) most : UINT32_MAX;
}
/** Whether a rail can carry a probe. */
static inline bool fsbml_prtt_fits(const mca_btl_base_module_t *btl, uint32_t packets, uint32_t bytes)
{
    return packets >= 1 && packets <= FSBML_PRTT_MOST && bytes >= FSBML_PACKET_HEADER
           && bytes <= fsbml_prtt_bytes(btl);
}
/** How long a probe is waited for, in ns. */
static inline uint64_t fsbml_prtt_limit(void)
{
    return mca_bml_fsbml_params.probe_timeout_ns + mca_bml_fsbml_params.calib.budget_ns;
}
/** Time of one look at the clock, in ns: the median of many. */
uint64_t fsbml_prtt_timer_ns(void);

/* The same: probes, as the other process answers them. */
/** A probe's packet has come in. */
void fsbml_mirror_packet(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *btl,
                         const fsbml_packet_t *packet);
/** Sends what has been asked for, until that is through, takes too long, or the measurement is over. */
void fsbml_mirror_serve(const _Atomic bool *over);

/* measure/stream.c: streams of messages, as sender and as receiver */
void fsbml_stream_reset(void);
/** A packet of the measurement has come in. */
void fsbml_stream_heard(void);
/** Leaves the processor to others for a moment, if none has come for a while. */
void fsbml_stream_yield(void);
/** What a stream on a path may take. */
static inline fsbml_streaming_limits_t fsbml_stream_limits(const mca_bml_fsbml_path_t *path,
                                                           uint64_t wanted_ns, uint64_t longest_ns)
{
    enum { MOST = 65536 };
    const uint32_t most = fsbml_prtt_bytes(path->super.btl);
    return (fsbml_streaming_limits_t){.least_bytes = FSBML_PACKET_HEADER,
                                      .most_bytes = most < MOST ? most : MOST,
                                      .wanted_ns = wanted_ns,
                                      .longest_ns = longest_ns > wanted_ns ? longest_ns : wanted_ns};
}
/** Streams on each of these paths at once, their rates, and the share of the time that the processor was busy
 * with sending. False if one was silent for limit_ns. */
bool fsbml_stream_run(size_t n, const mca_bml_fsbml_path_t *const path[],
                      const fsbml_streaming_limits_t limits[], uint64_t limit_ns, fsbml_rate_t rate[],
                      double *sending);
/** The rate of a stream the other way, which the mirror sends. False if it was silent for limit_ns. */
bool fsbml_stream_ask(const mca_bml_fsbml_path_t *path, const fsbml_streaming_limits_t *limits,
                      uint64_t limit_ns, fsbml_rate_t *rate);
/** The mirror sends what it was asked for. */
void fsbml_stream_serve(const _Atomic bool *over);
/** A stream's packet has come in; payload is what follows the header. */
void fsbml_stream_packet(const mca_bml_fsbml_path_t *path, const fsbml_packet_t *packet, const void *payload,
                         size_t len);

/** The fits of a table's first n rails, as the core works on them, and back. */
static inline void fsbml_fits_take(const fsbml_table_t *table, size_t n, fsbml_fit_t *fit)
{
    for (size_t i = 0; i < n; ++i) {
        fit[i] = table->rail[i].fit;
    }
}

static inline void fsbml_fits_put(fsbml_table_t *table, size_t n, const fsbml_fit_t *fit)
{
    for (size_t i = 0; i < n; ++i) {
        table->rail[i].fit = fit[i];
    }
}

/* measure/sweep.c: rails' parameters, roughly and soon */
/** Fills in the fits of the table's rails; rail[] says which these are. Returns those (bits) that failed. */
uint32_t fsbml_sweep(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n);
/** Whether the rails are as an earlier job has measured them. */
bool fsbml_sweep_recalled(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                          size_t n);

/* measure/benchmark.c: the same, precisely */
/** Puts the PRTT benchmark's parameters in the place of a sweep's. `failed` are rails (bits) not to be
 * measured; returns them with those that failed now. */
uint32_t fsbml_benchmark(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                         uint32_t failed);

/* measure/table.c: rails that were not measured */
/** A fit of parameters that are assumed, with a reason that says so. */
void fsbml_table_assume(uint32_t rail, fsbml_fit_t *fit);
/** Applies a table in which those of all rails are. */
void fsbml_table_apply_assumed(void);

/* measure/sweep.c: a rail that is measured answers no more */
/** Waits until rail number `silent` answers again, or gives it up, with a sentence about what was not
 * answered. Returns the rails (bits) that have failed, now or before. */
uint32_t fsbml_silence(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                       size_t silent, uint32_t failed, const char *what);

/* measure/together.c: interference of rails */
/** Streams on all rails at once, and puts into their fits what that shows; `failed` are rails (bits) not to
 * be used. */
void fsbml_together(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                    uint32_t failed);

/* measure/cache.c: parameters that need no measurement */
typedef enum fsbml_recall_t {
    FSBML_RECALL_NOTHING = 0, /**< there are none, or damaged ones, or another job's: to be measured */
    FSBML_RECALL_GUESS,       /**< an earlier job's: to be confirmed */
    FSBML_RECALL_PINNED,      /**< the user's: to be used as they are */
    FSBML_RECALL_REFUSED,     /**< the user's, and cannot be used: MPI_Init ends */
} fsbml_recall_t;
/** Fills in the fits of these rails to a node, in their order: all or none. */
fsbml_recall_t fsbml_cache_recall(const char *partner_node, const uint32_t *rail, size_t n,
                                  fsbml_table_t *to);
/** The table that the user has named was not used. */
bool fsbml_cache_table_refused(void);
/** Keeps a table that has held, if the user wants it. */
void fsbml_cache_keep(const char *partner_node, const uint32_t *rail, size_t n, const fsbml_table_t *table);
/** At the end of a job: in the files that this process may write, what a byte takes on a rail, in ns,
 * replaces what differs by more than a tenth; 0: not known. The second time nothing. */
void fsbml_cache_learn(const double gap[FSBML_MAX_RAILS]);
void fsbml_cache_forget(void);

/* measure/calibrate.c: a measuring pair runs the PRTT benchmark */
/** This process' part in one pair's measurement; `rails` are those to measure. The leader's table says what
 * came out. */
void fsbml_calibrate_pair(const fsbml_pair_t *pair, uint32_t rails, fsbml_table_t *table);
/** After the last one. */
void fsbml_calibrate_end(void);
/** How long a measurement can take, with as many rounds before it. */
static inline uint64_t fsbml_calibrate_limit_ns(uint32_t rounds)
{
    return (rounds + 1)
           * (6 * mca_bml_fsbml_params.calib.budget_ns + 8 * mca_bml_fsbml_params.probe_timeout_ns
              + 4000000000u);
}
/** A packet of the measurement came in; payload is what follows the packet's header. */
void fsbml_calibrate_packet(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                            size_t len);

/* measure/pairs.c: the pairs of processes that measure rails, as each process finds them */
/** A process of this job by its rank. */
static inline ompi_process_name_t fsbml_pairs_name(uint32_t rank)
{
    return (ompi_process_name_t){.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = rank};
}

/** Registers the listener for the job's hosts. */
void fsbml_pairs_listen(const fsbml_measure_listener_t *listener);
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

/* measure/classes.c: a process' part, and how all get the table */
/** This process' part in the measurement, if it has one. */
void fsbml_calibrate(void);
/** Before the first peer is added: sees to it that measuring pairs know each other's present addresses. */
void fsbml_calibrate_prepare(void);
/** What the table is wanted for: by the scheduler, which can do without for a while, or to show it. */
typedef enum fsbml_table_use_t { FSBML_TABLE_USED, FSBML_TABLE_SHOWN } fsbml_table_use_t;
/** Fetches the table if it is needed and not there yet. To use it, not within MPI_Init: PRRTE of 5.0 looks
 * only every 2 s for what was not there when it was asked for. */
void fsbml_table_want(fsbml_table_use_t use);
void fsbml_table_fini(void);

/* measure/measurement.c: the measurement's report, on the leader; nothing where it is not wanted */
/** Before a pair measures: whether this process is to report it. */
void fsbml_measurement_begin(bool leads);
bool fsbml_measurement_wanted(void);
/** Keeps the samples of n rails, and fills in how sure their fits in the table are; before the calibration's
 * end. */
void fsbml_measurement_keep(const fsbml_calib_t *calib, fsbml_table_t *table, size_t n);
/** Runs probes that test the fits of the table's rails; rail[] says which these are. The mirror must still
 * answer. */
void fsbml_measurement_holdout(mca_bml_fsbml_endpoint_t *partner, const fsbml_table_t *table,
                               const uint32_t *rail);
void fsbml_measurement_write(const fsbml_table_t *table);

/* measure/table.c: the table in use */
/** Gives the parameters to the scheduler. */
void fsbml_table_apply(const fsbml_table_t *table);
/** A rail's row in a table; NULL if it has none, or there is no table. */
const fsbml_table_rail_t *fsbml_table_row(const fsbml_table_t *table, uint32_t rail);
/** The table in use; NULL: not known yet. */
const fsbml_table_t *fsbml_table(void);
/** The parameters that it has of a rail, in the direction in which this process sends; false: none. Any
 * thread. */
bool fsbml_table_params(uint32_t rail, fsbml_loggp_t *params);
void fsbml_table_drop(void);

#endif /* MCA_BML_FSBML_MEASURE_H */
