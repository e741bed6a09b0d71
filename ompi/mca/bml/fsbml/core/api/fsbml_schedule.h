/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduling: models of rails, the scheduler over them, the ledger that ranks of a node share. Part of
 * fsbml_core.h. */
#ifndef FSBML_SCHEDULE_H
#define FSBML_SCHEDULE_H

#include "api/fsbml_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ model */

/**
 * LogGP parameters of a rail in one direction (Alexandrov et al. 1995; thesis 2.2 and 3.2), overheads by size
 * (LoOgGP, Martinez et al. 2010) and the gap in one or two straight pieces:
 *
 *     o_s(s) = o_s + O_s (s-1), o_r(s) likewise
 *     gap(s) = g + G (s-1)                       below break_bytes, or always if that is 0
 *            = g_above + G_above (s-break)       from break_bytes on
 */
typedef struct fsbml_loggp_t {
    double L_ns;          /**< latency without overhead */
    double o_s_ns;        /**< CPU overhead of the sender, per message */
    double o_r_ns;        /**< CPU overhead of the receiver, per message */
    double g_ns;          /**< gap per message */
    double G_ns_per_byte; /**< gap per byte */
    double burst_ns;      /**< backlog that delays nothing: a shaper's bucket; 0 where there is none */
    double O_s_ns_per_byte, O_r_ns_per_byte; /**< what each byte adds to the overheads */
    double break_bytes;                      /**< first size of the second piece; 0: there is none */
    double g_above_ns;                       /**< gap of a message of break_bytes */
    double G_above_ns_per_byte;
} fsbml_loggp_t;

/** True if every member is finite and in the range that the scheduler can represent. */
bool fsbml_loggp_valid(const fsbml_loggp_t *p) FSBML_NOEXCEPT;

/**
 * Smallest fragment that still uses every given rail well: the message gap and the sender's overhead
 * cost at most `loss` of the time that the bytes take; a power of two, clamped to [min, max].
 */
size_t fsbml_quantum(const fsbml_loggp_t *params, size_t n_rails, double loss, size_t min,
                     size_t max) FSBML_NOEXCEPT;

/** What jobs and the simulator take for `loss`: the fixed part is hidden while another fragment is on the
 * rail, and what a large one loses at a message's end, where rails do not end together, is more. */
#define FSBML_QUANTUM_LOSS 0.06
/** And for `min`, in bytes: the last frame, which is not full, then does not matter. */
enum { FSBML_QUANTUM_LEAST = 8192 };

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
    uint64_t busy_ns; /**< sum of the charges */
} fsbml_rail_counters_t;

/**
 * A scheduler over n_rails rails (1..FSBML_MAX_RAILS), all unmeasured. One per process: a rail's state is
 * shared by all destinations (thesis 4.4.6). NULL with errno set on failure.
 */
fsbml_sched_t *fsbml_sched_create(size_t n_rails, fsbml_policy_t policy) FSBML_NOEXCEPT;
void fsbml_sched_destroy(fsbml_sched_t *s) FSBML_NOEXCEPT;

/** Gives a rail its parameters (set-up; may be repeated while others schedule). -EINVAL: bad rail or
 * parameters. */
int fsbml_sched_set_model(fsbml_sched_t *s, size_t rail, const fsbml_loggp_t *p) FSBML_NOEXCEPT;

/** How sure a rail's model is. */
typedef enum fsbml_doubt_t {
    FSBML_DOUBT_NONE,
    FSBML_DOUBT_BUCKET, /**< it was disturbed: a shaper's bucket may not have been seen */
    FSBML_DOUBT_ALL,    /**< it is a guess: no message is cut for it, and the first evidence replaces it */
} fsbml_doubt_t;

/** Of the model that a rail is given next. Feedback (fsbml_flow.h) takes it back once it has seen a rail busy
 * whose model was a guess. */
void fsbml_sched_doubt(fsbml_sched_t *s, size_t rail, fsbml_doubt_t doubt) FSBML_NOEXCEPT;

/**
 * Chooses the rail for a message of `bytes` bytes among the rails in the bit mask `rails`. Does not charge
 * it. Lock-free, any thread. `now_ns` never runs back per thread; time is told apart for 8 years from the
 * first one on (in a ledger: from when it was made), after that every rail counts as idle. Rails without a
 * model are chosen only when no rail of the mask has one (then: the lowest index). Equal arrivals: the lowest
 * index. Returns -1 iff the mask is empty.
 */
int fsbml_sched_choose(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails) FSBML_NOEXCEPT;

/** What rails to one destination add to their models' L, at most 17 s each; see fsbml_far_set(). */
typedef struct fsbml_far_t {
    uint64_t ticks[FSBML_MAX_RAILS]; /**< in the scheduler's unit */
} fsbml_far_t;

/** extra_ns[i] is that of rail i; may be set while others choose by it. What is less than nothing, or no
 * number, is nothing; what is more than 17 s is 17 s. */
void fsbml_far_set(fsbml_far_t *far, const double extra_ns[FSBML_MAX_RAILS]) FSBML_NOEXCEPT;
/** What rail i adds, in ns. */
uint64_t fsbml_far_ns(const fsbml_far_t *far, size_t rail) FSBML_NOEXCEPT;
/** The same choice for such a destination. Policies that ask for no time of arrival (roundrobin, single)
 * ignore `far`. */
int fsbml_sched_choose_far(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails,
                           const fsbml_far_t *far) FSBML_NOEXCEPT;
/** The same choice for a part of a message of `whole` bytes: a shaper's credit is by these (see
 * fsbml_sched_predict()). `far` may be NULL. */
int fsbml_sched_choose_part(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, size_t whole, uint32_t rails,
                            const fsbml_far_t *far) FSBML_NOEXCEPT;

/** Messages of fewer bytes are not cut. */
enum { FSBML_CUT_LEAST = 2048 };
/**
 * Cuts a message of `bytes` bytes into pieces that several rails of the mask deliver at the same time, if
 * that is sooner than any of them delivers the whole, by a sixteenth at least. share[i] is then what rail i
 * of the mask takes, and the result how many take a piece. 0: it goes as a whole, and share is of no use. For
 * policy arrival; `far` may be NULL. Charges nothing; lock-free, any thread.
 */
size_t fsbml_sched_cut(const fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails,
                       const fsbml_far_t *far, size_t share[FSBML_MAX_RAILS]) FSBML_NOEXCEPT;

/**
 * Accounts a message that has been given to a rail: VFT = max(VFT, now) + max(gap(s), one tick).
 * Lock-free, any thread; no charge is ever lost, but a VFT saturates 13 days ahead of now, in a ledger 68 s.
 */
void fsbml_sched_charge(fsbml_sched_t *s, size_t rail, uint64_t now_ns, size_t bytes) FSBML_NOEXCEPT;

/** Predicted delivery after now_ns of a message of `bytes` bytes on `rail`, in ns (arrival - now): max(now +
 * o_s(s), VFT - credit) + L + gap(s) - gap(1) + O_s (s-1) + o_r(s). The credit is a quarter of the burst, but
 * no more than the message's bytes take; of a burst of 20 ms or more it is all, but no more than 32 times
 * that. */
uint64_t fsbml_sched_predict(const fsbml_sched_t *s, size_t rail, uint64_t now_ns,
                             size_t bytes) FSBML_NOEXCEPT;
/** VFT - now in ns, 0 when the rail is idle. */
uint64_t fsbml_sched_backlog(const fsbml_sched_t *s, size_t rail, uint64_t now_ns) FSBML_NOEXCEPT;
/** A rail's model as it was set; false: it has none. */
bool fsbml_sched_model(fsbml_sched_t *s, size_t rail, fsbml_loggp_t *p) FSBML_NOEXCEPT;
void fsbml_sched_counters(const fsbml_sched_t *s, size_t rail, fsbml_rail_counters_t *out) FSBML_NOEXCEPT;

/* ----------------------------------------------------------------- ledger */

/** Virtual finishing times in shared memory: ranks of one node that see each other's charges. */
typedef struct fsbml_ledger_t fsbml_ledger_t;

typedef struct fsbml_ledger_config_t {
    const char *path; /**< of the file, in a folder for shared memory; the same for all that are to share */
    uint64_t now_ns;
    uint64_t clock_id; /**< what tells the clock behind now_ns from others, e.g. the time namespace's inode */
    uint32_t
        members; /**< processes that will open it: the last of them removes the file's name; 0: unknown */
} fsbml_ledger_config_t;

/**
 * Makes or joins the ledger at a path; waits for no process. What no living process uses is replaced. NULL
 * with errno set on failure, and `reason` says why: it is another user's, malformed, of another clock, there
 * is no room, ...
 */
fsbml_ledger_t *fsbml_ledger_open(const fsbml_ledger_config_t *c,
                                  char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;
/** Leaves it, once no scheduler uses it any more; the last one to do so removes the file if it still has its
 * name. */
void fsbml_ledger_close(fsbml_ledger_t *l) FSBML_NOEXCEPT;
/** Processes that have opened it so far. */
uint32_t fsbml_ledger_joined(const fsbml_ledger_t *l) FSBML_NOEXCEPT;

/**
 * Moves the rails' virtual finishing times, which begin anew, and the origin of the clock into a ledger
 * (set-up; others may schedule meanwhile). keys[i] names rail i to all processes that share the ledger. With
 * NULL they are the scheduler's own again. -ENOSPC: there is no room for these rails, and nothing changes.
 */
int fsbml_sched_share(fsbml_sched_t *s, fsbml_ledger_t *l, const char *const keys[]) FSBML_NOEXCEPT;

/* ---------------------------------------------------------------- policies */

/** Parses a policy's name; -EINVAL if there is no such policy. */
int fsbml_policy_parse(const char *text, fsbml_policy_t *out) FSBML_NOEXCEPT;
const char *fsbml_policy_name(fsbml_policy_t p) FSBML_NOEXCEPT;
/** "arrival, thesis, roundrobin, single", for messages. */
const char *fsbml_policy_list(void) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_SCHEDULE_H */
