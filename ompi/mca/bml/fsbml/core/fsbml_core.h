/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 * The one boundary between FSBML's C++ core and its C callers (the MCA shim, tests, tools).
 *
 * Plain data and opaque handles only; no Open MPI type, no C++ type. Every function is noexcept:
 * those that return int return 0 (or a count) on success and a negative errno on failure
 * (-ENOMEM, -EINVAL, -EBADMSG, ...). Times are nanoseconds, sizes bytes, per-byte gaps ns/byte.
 * Nothing in here reads a clock: "now" is always an argument.
 */
#ifndef FSBML_CORE_H
#define FSBML_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#    define FSBML_NOEXCEPT noexcept
extern "C" {
#else
#    define FSBML_NOEXCEPT
#endif

/** Most rails that one process can have in use; rail sets are bit masks of this width. */
#define FSBML_MAX_RAILS 32
/** Most bytes in a rail's name or key, the terminating zero included. */
#define FSBML_NAME_MAX 64
/** Most bytes in a reason that a person reads, the terminating zero included. */
#define FSBML_REASON_MAX 160

/* ---------------------------------------------------------------- logging */

/** Receives one line of text without a newline; level as opal_output_verbose has it (lower = more important). */
typedef void (*fsbml_log_fn_t)(void *context, int level, const char *line);

/** Sets where the core's log lines go; NULL drops them. Not thread-safe: call at set-up. */
void fsbml_log_set(fsbml_log_fn_t fn, void *context, int max_level) FSBML_NOEXCEPT;

/* ------------------------------------------------------------------ model */

/**
 * LogGP parameters of a rail in one direction (Alexandrov et al. 1995; thesis 2.2 and 3.2), overheads by size (LoOgGP,
 * Martinez et al. 2010) and the gap in one or two straight pieces:
 *   o_s(s) = o_s + O_s (s-1), o_r(s) likewise
 *   gap(s) = g + G (s-1)                 below break_bytes, or always if that is 0
 *          = g_above + G_above (s-break) from break_bytes on
 */
typedef struct fsbml_loggp_t {
    double L_ns;           /**< latency without overhead */
    double o_s_ns;         /**< CPU overhead of the sender, per message */
    double o_r_ns;         /**< CPU overhead of the receiver, per message */
    double g_ns;           /**< gap per message */
    double G_ns_per_byte;  /**< gap per byte */
    double burst_ns;       /**< backlog that delays nothing: a shaper's bucket; 0 where there is none */
    double O_s_ns_per_byte, O_r_ns_per_byte; /**< what each byte adds to the overheads */
    double break_bytes;    /**< first size of the second piece; 0: there is none */
    double g_above_ns;     /**< gap of a message of break_bytes */
    double G_above_ns_per_byte;
} fsbml_loggp_t;

/** True if every member is finite and in the range that the scheduler can represent. */
bool fsbml_loggp_valid(const fsbml_loggp_t *p) FSBML_NOEXCEPT;

/**
 * Smallest fragment that still uses every given rail well: the message gap and the sender's overhead
 * cost at most `loss` (e.g. 0.02) of the time that the bytes take; a power of two, clamped to [min, max].
 */
size_t fsbml_quantum(const fsbml_loggp_t *params, size_t n_rails, double loss, size_t min, size_t max) FSBML_NOEXCEPT;

/* -------------------------------------------------------------- scheduler */

/** Rule by which a rail is chosen. */
typedef enum fsbml_policy_t {
    FSBML_POLICY_ARRIVAL = 0,    /**< least arrival time: the default */
    FSBML_POLICY_THESIS = 1,     /**< least 2o + L + max(VFT, now) (thesis 4.4.8) */
    FSBML_POLICY_ROUNDROBIN = 2, /**< next rail of the set in turn */
    FSBML_POLICY_SINGLE = 3,     /**< always the rail with the least gap(64 KiB); ties: lower index */
} fsbml_policy_t;

typedef struct fsbml_sched_t fsbml_sched_t;

/** Counters of one rail. */
typedef struct fsbml_rail_counters_t {
    uint64_t messages;
    uint64_t bytes;
    uint64_t busy_ns;      /**< sum of the charges */
} fsbml_rail_counters_t;

/**
 * A scheduler over n_rails rails (1..FSBML_MAX_RAILS), all unmeasured. One per process: a rail's state is
 * shared by all destinations (thesis 4.4.6). NULL with errno set on failure.
 */
fsbml_sched_t *fsbml_sched_create(size_t n_rails, fsbml_policy_t policy) FSBML_NOEXCEPT;
void fsbml_sched_destroy(fsbml_sched_t *s) FSBML_NOEXCEPT;

/** Gives a rail its parameters (set-up; may be repeated while others schedule). -EINVAL: bad rail or parameters. */
int fsbml_sched_set_model(fsbml_sched_t *s, size_t rail, const fsbml_loggp_t *p) FSBML_NOEXCEPT;

/**
 * Chooses the rail for a message of `bytes` bytes among the rails in the bit mask `rails`. Does not charge it.
 * Lock-free, any thread. `now_ns` never runs back per thread; time is told apart for 8 years from the first one on (in
 * a ledger: from when it was made), after that every rail counts as idle. Rails without a model are chosen only when no
 * rail of the mask has one (then: the lowest index). Equal arrivals: the lowest index. Returns -1 iff the mask is empty.
 */
int fsbml_sched_choose(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails) FSBML_NOEXCEPT;

/**
 * Accounts a message that has been given to a rail: VFT = max(VFT, now) + max(gap(s), one tick).
 * Lock-free, any thread; no charge is ever lost, but a VFT saturates 13 days ahead of now, in a ledger 68 s.
 */
void fsbml_sched_charge(fsbml_sched_t *s, size_t rail, uint64_t now_ns, size_t bytes) FSBML_NOEXCEPT;

/** Predicted delivery after now_ns of a message of `bytes` bytes on `rail`, in ns (arrival - now): max(now + o_s(s),
 *  VFT - burst) + L + gap(s) - gap(1) + O_s (s-1) + o_r(s). */
uint64_t fsbml_sched_predict(const fsbml_sched_t *s, size_t rail, uint64_t now_ns, size_t bytes) FSBML_NOEXCEPT;
/** VFT - now in ns, 0 when the rail is idle. */
uint64_t fsbml_sched_backlog(const fsbml_sched_t *s, size_t rail, uint64_t now_ns) FSBML_NOEXCEPT;
void fsbml_sched_counters(const fsbml_sched_t *s, size_t rail, fsbml_rail_counters_t *out) FSBML_NOEXCEPT;

/* ----------------------------------------------------------------- ledger */

/** Virtual finishing times in shared memory: ranks of one node that see each other's charges. */
typedef struct fsbml_ledger_t fsbml_ledger_t;

typedef struct fsbml_ledger_config_t {
    const char *path;      /**< of the file, in a folder for shared memory; the same for all who are to share */
    uint64_t now_ns;
    uint64_t clock_id;     /**< what tells the clock behind now_ns from others, e.g. the time namespace's inode */
    uint32_t members;      /**< processes that will open it: the last of them removes the file's name; 0: unknown */
} fsbml_ledger_config_t;

/**
 * Makes or joins the ledger at a path; waits for nobody. What no living process uses is replaced. NULL with errno set
 * on failure, and `reason` says why: it is another user's, malformed, of another clock, there is no room, ...
 */
fsbml_ledger_t *fsbml_ledger_open(const fsbml_ledger_config_t *c, char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;
/** Leaves it, once no scheduler uses it any more; the last one to do so removes the file if it still has its name. */
void fsbml_ledger_close(fsbml_ledger_t *l) FSBML_NOEXCEPT;
/** Processes that have opened it so far. */
uint32_t fsbml_ledger_joined(const fsbml_ledger_t *l) FSBML_NOEXCEPT;

/**
 * Moves the rails' virtual finishing times, which begin anew, and the origin of the clock into a ledger (set-up; others
 * may schedule meanwhile). keys[i] names rail i to all who share the ledger. With NULL they are the scheduler's own
 * again. -ENOSPC: there is no room for these rails, and nothing changes.
 */
int fsbml_sched_share(fsbml_sched_t *s, fsbml_ledger_t *l, const char *const keys[]) FSBML_NOEXCEPT;

/* ------------------------------------------------------------ calibration */

/** What the calibration may do; the defaults are the thesis' (3.4.3) but for the budget, which it did not have. */
typedef struct fsbml_calib_config_t {
    uint32_t packets;        /**< most n of PRTT(n,d,s); 2..1024, default 16 */
    uint32_t size_step;      /**< least bytes between two planned sizes; default 2048 */
    uint32_t small_size;     /**< s of the PRTT with delay; default 1 */
    uint32_t samples;        /**< wanted repetitions of each PRTT; fewer where the parameters are tight before, up to
                                  four times as many where they never are; default 9 */
    uint64_t budget_ns;      /**< for all rails together; default 300 ms, of which a quiet machine needs a third */
    uint64_t seed;           /**< of the order of the rounds */
    uint64_t timer_ns;       /**< what one look at the clock takes; it is taken off */
} fsbml_calib_config_t;

/** Most sizes at which a rail's protocol is known to change. */
#define FSBML_LIMITS 4

/** What is known of a rail before it is measured. */
typedef struct fsbml_calib_rail_t {
    uint32_t max_bytes;      /**< largest probe that it can carry */
    uint32_t limit[FSBML_LIMITS]; /**< sizes up to which it works one way, beyond another (eager limit, MTU); 0: none */
} fsbml_calib_rail_t;

/** What a probe does. All are PRTTs, timed by the process that leads. */
typedef enum fsbml_probe_kind_t {
    FSBML_PROBE_THERE = 0,   /**< n messages there, one of that size back (thesis 3.2.1) */
    FSBML_PROBE_BACK = 1,    /**< one of the least size there, n messages back, delay_ns between two: the other direction */
    FSBML_PROBE_TAKE = 2,    /**< as BACK, but the leader looks at none before delay_ns, when all are there: the time is
                                  that of taking in n messages, n o_r */
    FSBML_PROBE_BOTH = 3,    /**< n messages there and n back at once: the time until both have come (paper 004) */
} fsbml_probe_kind_t;

/** One PRTT to run: n messages of `bytes` bytes with delay_ns of computation between two, one message back. */
typedef struct fsbml_probe_t {
    fsbml_probe_kind_t kind;
    uint32_t rail;
    uint32_t packets;
    uint32_t bytes;
    uint64_t delay_ns;
    uint32_t id;             /**< the core's own, returned with the report */
    bool warm_up;            /**< not a sample */
} fsbml_probe_t;

/** What came out for one rail. */
typedef struct fsbml_fit_t {
    bool valid;
    fsbml_loggp_t params;
    fsbml_loggp_t low, high; /**< 90 % of other samples of this kind give a parameter in between (core/interval.hpp); 0 and 0:
                                  not known. fsbml_calib_interval fills them in; they are not in records or files. */
    fsbml_loggp_t back;      /**< o_s, g, G of the other direction, the partner's; all 0: not known */
    double duplex;           /**< time of both directions at once by that of one alone: 1 full duplex, 2 half; 0: not known */
    double together;         /**< time of this rail beside all others by that alone: 1 is no interference; 0: not known */
    double residual;         /**< median |measured - fitted| / fitted of the g,G line */
    bool tight;              /**< it was measured until its bounds were tight; else until the budget was spent */
    uint32_t probes;         /**< samples used */
    char reason[FSBML_REASON_MAX]; /**< why it is not valid, or a warning; "" if there is none */
} fsbml_fit_t;

typedef struct fsbml_calib_t fsbml_calib_t;

/**
 * Plans and evaluates the PRTT benchmark over n_rails rails. It does no communication: the caller asks for the next
 * probe, runs it, reports the time.
 */
fsbml_calib_t *fsbml_calib_create(const fsbml_calib_config_t *c, size_t n_rails, const fsbml_calib_rail_t *rails)
    FSBML_NOEXCEPT;
void fsbml_calib_destroy(fsbml_calib_t *c) FSBML_NOEXCEPT;

/**
 * The next probe, given the time since the calibration began. Returns 1 and fills *out, or 0 when it is finished
 * (every rail's parameters are tight, or the budget does not hold one more probe); -EBUSY while the last probe has neither been
 * reported nor its rail failed. A warm_up probe is run as any other; of two small messages with a long delay it is a
 * pause, in which a shaped rail recovers.
 */
int fsbml_calib_next(fsbml_calib_t *c, uint64_t elapsed_ns, fsbml_probe_t *out) FSBML_NOEXCEPT;
/**
 * Reports the time of the probe that is outstanding; -EINVAL for any other. 0: it brought no time; a kind other than
 * THERE is then not asked for again on this rail.
 */
int fsbml_calib_report(fsbml_calib_t *c, const fsbml_probe_t *probe, uint64_t prtt_ns) FSBML_NOEXCEPT;
/** Takes a rail out of the plan, e.g. because a probe was not answered in time; `reason` ends up in the fit. */
int fsbml_calib_fail(fsbml_calib_t *c, size_t rail, const char *reason) FSBML_NOEXCEPT;
/** Evaluates one rail (thesis 3.2.3): one value of each PRTT, one line or two for g and G, then o, then L. */
int fsbml_calib_fit(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *out) FSBML_NOEXCEPT;

/** Fills in low and high of a rail's fit: some ms of work, so only for who wants to know. */
int fsbml_calib_interval(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *fit) FSBML_NOEXCEPT;

/**
 * Whether a fit predicts probes that it was not made from: PRTT(n,0,s) - PRTT(1,0,s), that is (n-1) max(o_s(s), gap(s))
 * (thesis 3.2.2.2), within `tolerance` (0.25: a quarter). The times are in ns, n >= 2.
 */
bool fsbml_fit_predicts(const fsbml_fit_t *fit, uint32_t packets, uint32_t bytes, uint64_t prtt_1_ns, uint64_t prtt_n_ns,
                        double tolerance) FSBML_NOEXCEPT;

/** Size of messages of which `packets` take about `together_ns` on a rail, within 1 and 8 KiB. */
uint32_t fsbml_fit_probe_bytes(const fsbml_fit_t *fit, uint32_t packets, uint64_t together_ns) FSBML_NOEXCEPT;

/**
 * Whether PRTT(1,0,s) is what a fit says (fsbml_fit_prtt), to a third less or a half more and 20 us: what a latency
 * differs from job to job on one machine.
 */
bool fsbml_fit_answers(const fsbml_fit_t *fit, uint32_t bytes, uint64_t prtt_ns) FSBML_NOEXCEPT;

/**
 * Time in ns that a probe of this kind takes by a fit (core/predict.hpp), 0 without a valid one. A burst is taken to be
 * whole when it begins.
 */
double fsbml_fit_prtt(const fsbml_fit_t *fit, fsbml_probe_kind_t kind, uint32_t packets, uint64_t delay_ns, uint32_t bytes)
    FSBML_NOEXCEPT;

/** Messages that are sent on a rail one after the other; a small answer comes once the last is there. */
typedef struct fsbml_stream_t {
    uint32_t packets;
    uint32_t bytes;
} fsbml_stream_t;

/** What rails do to each other, by streams on each by itself and on all at once (core/together.hpp). */
typedef struct fsbml_together_t fsbml_together_t;

/**
 * `rails` are the bits of those whose fits are to be used; min_bytes is the smallest message that there is, max_bytes[i]
 * the largest of rail i. Does no communication: the caller asks for the next run, does it, reports it. NULL with errno
 * set on failure.
 */
fsbml_together_t *fsbml_together_create(size_t n_rails, const fsbml_fit_t *fits, uint32_t rails, uint32_t min_bytes,
                                        const uint32_t *max_bytes) FSBML_NOEXCEPT;
void fsbml_together_destroy(fsbml_together_t *t) FSBML_NOEXCEPT;
/** The rails (bits) to send on at once, all of them idle for *rest_ns before, and what: stream[i] on rail i. 0: no more. */
uint32_t fsbml_together_next(const fsbml_together_t *t, fsbml_stream_t *stream, uint64_t *rest_ns) FSBML_NOEXCEPT;
/** time_ns[i] is that of the stream on rail i, sending_ns how long the sender's processor was busy with all of them. A
 * time of 0: it did not get through, and nothing more is to be done. */
int fsbml_together_report(fsbml_together_t *t, const uint64_t *time_ns, uint64_t sending_ns) FSBML_NOEXCEPT;
/** Puts what came out into the fits of fsbml_together_create; returns the rails (bits) that are left out. */
uint32_t fsbml_together_conclude(const fsbml_together_t *t, fsbml_fit_t *fits) FSBML_NOEXCEPT;

/** A rail's fit as the rail is without the others, whatever they do to it. */
fsbml_fit_t fsbml_fit_alone(const fsbml_fit_t *fit) FSBML_NOEXCEPT;

/** A probe that was run, and what it took. */
typedef struct fsbml_sample_t {
    fsbml_probe_t probe;     /**< warm-ups and pauses, too */
    uint64_t time_ns;
    uint64_t predicted_ns;   /**< of a probe that tests a fit: what that says; else 0 */
} fsbml_sample_t;

/** All probes that were reported, in the order of time: *n of them, until the calibration goes on or ends. */
const fsbml_sample_t *fsbml_calib_samples(const fsbml_calib_t *c, size_t *n) FSBML_NOEXCEPT;

/**
 * A probe that tests a rail's fit: a size that none of these samples of the rail has, between their least and their
 * largest, and either one message or a number of messages that none of them has, of `most_ns` by the fit. The same for
 * the same `turn`. -EINVAL for a fit that is not valid, -ENOENT if there is no such probe.
 */
int fsbml_holdout_probe(const fsbml_fit_t *fit, const fsbml_sample_t *sample, size_t n, uint32_t rail, uint64_t turn,
                        uint64_t most_ns, fsbml_probe_t *out) FSBML_NOEXCEPT;

/* --------------------------------------------------- the table on the wire */

/** One rail of the table that the measuring pair gives to all processes. */
typedef struct fsbml_table_rail_t {
    char key[FSBML_NAME_MAX];   /**< what names the same rail on every node, e.g. "tcp:10.71.1.0/24" */
    char name[FSBML_NAME_MAX];  /**< what a person calls it on the measuring node, e.g. "eth1" */
    fsbml_fit_t fit;
} fsbml_table_rail_t;

typedef struct fsbml_table_t {
    uint32_t n_rails;
    uint32_t pair[2];           /**< ranks that measured */
    uint64_t duration_ns;       /**< of the calibration */
    char reason[FSBML_REASON_MAX]; /**< why there is no measurement, "" if there is one */
    fsbml_table_rail_t rail[FSBML_MAX_RAILS];
} fsbml_table_t;

/** Most bytes that fsbml_table_pack writes. */
size_t fsbml_table_packed_max(void) FSBML_NOEXCEPT;
/** Packs into buf (little endian, versioned, CRC-32); returns the length or -ENOSPC / -EINVAL. */
long fsbml_table_pack(const fsbml_table_t *t, void *buf, size_t len) FSBML_NOEXCEPT;
/** Unpacks and checks everything; -EBADMSG for a malformed record, -EPROTO for another version. *t is then unchanged. */
int fsbml_table_unpack(fsbml_table_t *t, const void *buf, size_t len) FSBML_NOEXCEPT;
/** Writes the table for people (one line a rail) into buf as snprintf does. */
int fsbml_table_text(const fsbml_table_t *t, char *buf, size_t len) FSBML_NOEXCEPT;

/**
 * Reads a table from a file (core/table_file.hpp). With a fingerprint, the file is a cache's: it must be of that
 * fingerprint, undamaged, and nobody else's to write; without (NULL), a person's. 0 or a negative errno (-ENOENT: there
 * is no file; -ESTALE: of something else; -EBADMSG; -EPROTO: another version; -EPERM), and then the reason.
 */
int fsbml_table_load(const char *path, const char *fingerprint, fsbml_table_t *t, char reason[FSBML_REASON_MAX])
    FSBML_NOEXCEPT;
/** Replaces the file as a whole (mode 0600), with its folders; many processes may do so at once. */
int fsbml_table_store(const char *path, const char *fingerprint, const fsbml_table_t *t, char reason[FSBML_REASON_MAX])
    FSBML_NOEXCEPT;

/** All that a calibration leaves for who wants to look into it. Samples are of rails by their place in the table. */
typedef struct fsbml_report_t {
    const fsbml_table_t *table;
    const char *openmpi;            /**< its version */
    const char *node[2];            /**< names of the nodes that measured */
    uint32_t attempts;              /**< to measure; 0: the parameters come from a file */
    const fsbml_sample_t *sample;   /**< of the last of them */
    size_t n_samples;
    const fsbml_sample_t *holdout;  /**< of probes that were not fitted */
    size_t n_holdout;
} fsbml_report_t;

/** Writes it as JSON (core/report.hpp), the file as a whole and with its folders. 0 or a negative errno, and the reason. */
int fsbml_report_store(const char *path, const fsbml_report_t *report, char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

/** A process' long messages are put and got over all of its rails: registration handles are FSBML's. */
#define FSBML_HELLO_RDMA UINT32_C(1)
/** It is the first rank of its node. */
#define FSBML_HELLO_FIRST UINT32_C(2)
/** In a hello, the exclusivity of a rail that its process has and was told not to use. */
#define FSBML_LEFT_OUT UINT32_MAX

/** What each process tells all others before the first message (modex). */
typedef struct fsbml_hello_t {
    uint32_t n_rails;                    /**< rails of this process, self excluded */
    uint32_t params_digest;              /**< of the parameters that must agree, see fsbml_digest() */
    char node[FSBML_NAME_MAX];           /**< host name */
    struct {
        uint32_t exclusivity;
        char key[FSBML_NAME_MAX];
    } rail[FSBML_MAX_RAILS];
    uint32_t flags;                      /**< FSBML_HELLO_* */
    uint32_t node_ranks;                 /**< ranks of this job on its node */
    uint32_t run;                        /**< so many ranks in a row, from this one on, are of its node; 0: unknown */
} fsbml_hello_t;

size_t fsbml_hello_packed_max(void) FSBML_NOEXCEPT;
long fsbml_hello_pack(const fsbml_hello_t *h, void *buf, size_t len) FSBML_NOEXCEPT;
int fsbml_hello_unpack(fsbml_hello_t *h, const void *buf, size_t len) FSBML_NOEXCEPT;

/** FNV-1a of a text such as "packets=16;step=2048": equal on two processes iff their parameters agree. */
uint32_t fsbml_digest(const char *text) FSBML_NOEXCEPT;

/* ------------------------------------------------------------ who measures */

/** Most pairs of ranks that measure. */
#define FSBML_MAX_PAIRS 64

/** Two ranks of one job, on different nodes, that measure rails between them. */
typedef struct fsbml_pair_t {
    uint32_t rank[2];                    /**< who leads, who mirrors */
    uint32_t round;                      /**< pairs of one round measure side by side: no rank is in two of them */
    uint32_t n_rails;
    uint32_t key[FSBML_MAX_RAILS];       /**< rails to measure: fsbml_digest() of their keys */
} fsbml_pair_t;

/** All of a job; none if no two nodes share two rails. Each rail is measured by one pair. */
typedef struct fsbml_pairs_t {
    uint32_t n;
    fsbml_pair_t pair[FSBML_MAX_PAIRS];
} fsbml_pairs_t;

/** Finds the pairs from hellos (core/classes.hpp). All processes get the same from the same hellos. */
typedef struct fsbml_classes_t fsbml_classes_t;
/** On a job of one node, each rank counts as a node. NULL with errno set on failure. */
fsbml_classes_t *fsbml_classes_create(uint32_t n_ranks, bool one_node) FSBML_NOEXCEPT;
void fsbml_classes_destroy(fsbml_classes_t *c) FSBML_NOEXCEPT;
/** 1 and the rank whose hello is to be told next, or 0: no more is needed. */
int fsbml_classes_next(const fsbml_classes_t *c, uint32_t *rank) FSBML_NOEXCEPT;
/** What a rank says; NULL: it has no hello. */
int fsbml_classes_tell(fsbml_classes_t *c, uint32_t rank, const fsbml_hello_t *hello) FSBML_NOEXCEPT;
/** 1 and the ranks of the first pair, 0: there is none so far. Once there, it stays the same whatever else is told. */
int fsbml_classes_first(const fsbml_classes_t *c, fsbml_pair_t *pair) FSBML_NOEXCEPT;
/** The pairs, by what was told so far. */
int fsbml_classes_plan(fsbml_classes_t *c, fsbml_pairs_t *out) FSBML_NOEXCEPT;

size_t fsbml_pairs_packed_max(void) FSBML_NOEXCEPT;
/** As fsbml_table_pack. */
long fsbml_pairs_pack(const fsbml_pairs_t *p, void *buf, size_t len) FSBML_NOEXCEPT;
/** Unpacks the list at the beginning of buf, which something may follow; returns the list's length, or as fsbml_table_unpack. */
long fsbml_pairs_unpack(fsbml_pairs_t *p, const void *buf, size_t len) FSBML_NOEXCEPT;

/**
 * Adds the rails of another pair's table to a table. Of a rail that both have, the first valid fit stays, with its reason;
 * so does the pair. Returns how many rails found no room.
 */
int fsbml_table_merge(fsbml_table_t *into, const fsbml_table_t *other) FSBML_NOEXCEPT;
/** Tells tables apart: by the rails, their parameters and reasons, not by who measured or how long. */
uint32_t fsbml_table_digest(const fsbml_table_t *t) FSBML_NOEXCEPT;

/* ----------------------------------------------------------- small parsers */

/** Parses a policy's name; -EINVAL if there is no such policy. */
int fsbml_policy_parse(const char *text, fsbml_policy_t *out) FSBML_NOEXCEPT;
const char *fsbml_policy_name(fsbml_policy_t p) FSBML_NOEXCEPT;
/** "arrival, thesis, roundrobin, single", for messages. */
const char *fsbml_policy_list(void) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_CORE_H */
