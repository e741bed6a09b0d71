/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring: the plan of probes, what they come to, and what that predicts. Part of fsbml_core.h. */
#ifndef FSBML_CALIBRATION_H
#define FSBML_CALIBRATION_H

#include "api/fsbml_schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the calibration may do; the defaults are the thesis' (3.4.3) but for the budget, which it did not
 * have. */
typedef struct fsbml_calib_config_t {
    uint32_t packets;    /**< most n of PRTT(n,d,s); 2..1024, default 16 */
    uint32_t size_step;  /**< least bytes between two planned sizes; default 2048 */
    uint32_t small_size; /**< s of the PRTT with delay; default 1 */
    uint32_t samples; /**< wanted repetitions of each PRTT; fewer where the parameters are tight before, up to
                           four times as many where they never are; default 9 */
    uint64_t budget_ns; /**< for all rails together; default 300 ms, of which a quiet machine needs a third */
    uint64_t seed;      /**< of the order of the rounds */
    uint64_t timer_ns;  /**< what one look at the clock takes; it is taken off */
} fsbml_calib_config_t;

/** Most sizes at which a rail's protocol is known to change. */
#define FSBML_LIMITS 4

/** What is known of a rail before it is measured. */
typedef struct fsbml_calib_rail_t {
    uint32_t max_bytes;           /**< largest probe that it can carry */
    uint32_t limit[FSBML_LIMITS]; /**< sizes up to which it works one way, beyond another (eager limit, MTU);
                                     0: none */
} fsbml_calib_rail_t;

/** What a probe does. All are PRTTs, timed by the process that leads. */
typedef enum fsbml_probe_kind_t {
    FSBML_PROBE_THERE = 0, /**< n messages there, one of that size back (thesis 3.2.1) */
    FSBML_PROBE_BACK =
        1, /**< one of the least size there, n messages back, delay_ns between two: the other direction */
    FSBML_PROBE_TAKE = 2, /**< as BACK, but the leader looks at none before delay_ns, when all are there: the
                             time is that of taking in n messages, n o_r */
    FSBML_PROBE_BOTH =
        3, /**< n messages there and n back at once: the time until both have come (paper 004) */
} fsbml_probe_kind_t;

/** One PRTT to run: n messages of `bytes` bytes with delay_ns of computation between two, one message
 * back. */
typedef struct fsbml_probe_t {
    fsbml_probe_kind_t kind;
    uint32_t rail;
    uint32_t packets;
    uint32_t bytes;
    uint64_t delay_ns;
    uint32_t id;  /**< the core's own, returned with the report */
    bool warm_up; /**< not a sample */
} fsbml_probe_t;

/** What came out for one rail. */
typedef struct fsbml_fit_t {
    bool valid;
    fsbml_loggp_t params;
    fsbml_loggp_t low, high; /**< 90 % of other samples of this kind give a parameter in between
                                (core/measure/fit/fit.hpp); 0 and 0: not known. fsbml_calib_interval
                                fills them in; they are not in records or files. */
    fsbml_loggp_t back;      /**< o_s, g, G of the other direction, the partner's; all 0: not known */
    double duplex;   /**< time of both directions at once by that of one alone: 1 full duplex, 2 half; 0: not
                        known */
    double together; /**< time of this rail beside all others by that alone: 1 is no interference; 0: not
                        known. Of rails in turn (below): the rate of one alone by that of all: from 1 on,
                        the others gain nothing */
    double residual; /**< median |measured - fitted| / fitted of the g,G line */
    bool
        in_turn; /**< the processor feeds no more of such rails than one at a time: a process uses one of them
                  */
    bool tight;  /**< it was measured until its bounds were tight; else until the budget was spent */
    uint32_t probes;               /**< samples used */
    char reason[FSBML_REASON_MAX]; /**< why it is not valid, or a warning; "" if there is none */
} fsbml_fit_t;

typedef struct fsbml_calib_t fsbml_calib_t;

/**
 * Plans and evaluates the PRTT benchmark over n_rails rails. It does no communication: the caller asks for
 * the next probe, runs it, reports the time.
 */
fsbml_calib_t *fsbml_calib_create(const fsbml_calib_config_t *c, size_t n_rails,
                                  const fsbml_calib_rail_t *rails) FSBML_NOEXCEPT;
void fsbml_calib_destroy(fsbml_calib_t *c) FSBML_NOEXCEPT;

/**
 * The next probe, given the time since the calibration began. Returns 1 and fills *out, or 0 when it is
 * finished (every rail's parameters are tight, or the budget does not hold one more probe); -EBUSY while the
 * last probe has neither been reported nor its rail failed. A warm_up probe is run as any other; of two small
 * messages with a long delay it is a pause, in which a shaped rail recovers.
 */
int fsbml_calib_next(fsbml_calib_t *c, uint64_t elapsed_ns, fsbml_probe_t *out) FSBML_NOEXCEPT;
/**
 * Reports the time of the probe that is outstanding; -EINVAL for any other. 0: it brought no time; a kind
 * other than THERE is then not asked for again on this rail.
 */
int fsbml_calib_report(fsbml_calib_t *c, const fsbml_probe_t *probe, uint64_t prtt_ns) FSBML_NOEXCEPT;
/** Takes a rail out of the plan, e.g. because a probe was not answered in time; `reason` ends up in the
 * fit. */
int fsbml_calib_fail(fsbml_calib_t *c, size_t rail, const char *reason) FSBML_NOEXCEPT;
/** Evaluates one rail (thesis 3.2.3): one value of each PRTT, one line or two for g and G, then o, then L. */
int fsbml_calib_fit(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *out) FSBML_NOEXCEPT;

/** Fills in low and high of a rail's fit: some ms of work, so only for a report. */
int fsbml_calib_interval(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *fit) FSBML_NOEXCEPT;

/** Time in ns without a message after which a shaper's bucket is full again, in either direction. */
uint64_t fsbml_fit_refill_ns(const fsbml_fit_t *fit) FSBML_NOEXCEPT;

/**
 * Time in ns that a probe of this kind takes by a fit (core/model/model.hpp), 0 without a valid one. A
 * burst is taken to be whole when it begins.
 */
double fsbml_fit_prtt(const fsbml_fit_t *fit, fsbml_probe_kind_t kind, uint32_t packets, uint64_t delay_ns,
                      uint32_t bytes) FSBML_NOEXCEPT;

/** A rail's fit as the rail is without the others, whatever they do to it. */
fsbml_fit_t fsbml_fit_alone(const fsbml_fit_t *fit) FSBML_NOEXCEPT;

/**
 * Parameters of messages from the partner's node to that of the process that led, where a rail's directions
 * are not alike: G differs by more than a tenth. Otherwise, and where the other direction is not known, those
 * of a fit as it is.
 */
fsbml_loggp_t fsbml_fit_reverse(const fsbml_fit_t *fit) FSBML_NOEXCEPT;

/** What is assumed of a rail of which only the speed is known: of no rail much, what counts is how they
 * compare.
 */
fsbml_loggp_t fsbml_loggp_assumed(double mbps) FSBML_NOEXCEPT;

/**
 * What a job has learnt of a rail by using it: a byte of a fragment of `quantum` bytes takes so many ns
 * there. If that differs by more than a tenth from what the fit says, gaps and bucket are scaled, and the fit
 * is sure, also one that was disturbed. The other direction stays: nothing was learnt of it. False: nothing
 * is changed, as that is what the fit says, or cannot be.
 */
bool fsbml_fit_learn(fsbml_fit_t *fit, double gap_ns_per_byte, size_t quantum) FSBML_NOEXCEPT;

/** A probe that was run, and what it took. */
typedef struct fsbml_sample_t {
    fsbml_probe_t probe; /**< warm-ups and pauses, too */
    uint64_t time_ns;
    uint64_t predicted_ns; /**< of a probe that tests a fit: what that says; else 0 */
} fsbml_sample_t;

/** All probes that were reported, in the order of time: *n of them, until the calibration goes on or ends. */
const fsbml_sample_t *fsbml_calib_samples(const fsbml_calib_t *c, size_t *n) FSBML_NOEXCEPT;

/**
 * A probe that tests a rail's fit: a size that none of these samples of the rail has, between their least and
 * their largest, and either one message or a number of messages that none of them has, of `most_ns` by the
 * fit. The same for the same `turn`. -EINVAL for a fit that is not valid, -ENOENT if there is no such probe.
 */
int fsbml_holdout_probe(const fsbml_fit_t *fit, const fsbml_sample_t *sample, size_t n, uint32_t rail,
                        uint64_t turn, uint64_t most_ns, fsbml_probe_t *out) FSBML_NOEXCEPT;

/* ------------------------------------------------------- at start: a sweep */

/** What a stream may do. */
typedef struct fsbml_streaming_limits_t {
    uint32_t least_bytes, most_bytes; /**< of a message */
    uint64_t wanted_ns; /**< how long it takes where nothing disturbs it: a dozen round trips or more, as what
                           the rail carries in a quarter of that time is under way at once */
    uint64_t longest_ns; /**< after which it ends in any case; twice that where it was disturbed */
} fsbml_streaming_limits_t;

/** The rate at which a rail carries a stream; G 0: not known. */
typedef struct fsbml_rate_t {
    double G_ns_per_byte, low_ns_per_byte, high_ns_per_byte; /**< 80 % of what was seen lies between these */
    double burst_bytes; /**< what passed ahead of that rate: a shaper's bucket; 0 where there is none */
    uint32_t stamps;    /**< arrivals that counted; 0: of a rate with all pauses in it */
    bool steady;        /**< the last quarters agree within a tenth */
    uint64_t bytes;     /**< that arrived, pauses or not */
} fsbml_rate_t;

/** A stream of messages on one rail (core/measure/start/start.hpp). */
typedef struct fsbml_streaming_t fsbml_streaming_t;

/** NULL with errno set on failure. */
fsbml_streaming_t *fsbml_streaming_create(const fsbml_streaming_limits_t *limits) FSBML_NOEXCEPT;
void fsbml_streaming_destroy(fsbml_streaming_t *s) FSBML_NOEXCEPT;
/** Bytes of the next message, to be sent now; 0: none now. A caller that asks rarely counts as away. */
uint32_t fsbml_streaming_next(fsbml_streaming_t *s, uint64_t now_ns) FSBML_NOEXCEPT;
void fsbml_streaming_sent(fsbml_streaming_t *s, uint32_t bytes) FSBML_NOEXCEPT;
/** `bytes` in all had arrived at stamp_ns of the receiver's clock; `away`: it had not looked for a while
 * before. What cannot be is ignored. */
void fsbml_streaming_arrived(fsbml_streaming_t *s, uint64_t bytes, uint64_t stamp_ns,
                             bool away) FSBML_NOEXCEPT;
/** What the sender's kernel says of a stream's connection. */
typedef struct fsbml_streaming_look_t {
    uint64_t ns;           /**< the time */
    uint64_t acknowledged; /**< bytes, by the peer's kernel */
    uint64_t queued;       /**< bytes that are not */
    uint64_t limited_ns;   /**< for how long the receiver had no room */
} fsbml_streaming_look_t;
/** Whether that is wanted; then it may be told now and then, twice a millisecond or so. */
bool fsbml_streaming_asks(const fsbml_streaming_t *s) FSBML_NOEXCEPT;
void fsbml_streaming_look(fsbml_streaming_t *s, const fsbml_streaming_look_t *look) FSBML_NOEXCEPT;
/** No more is to be sent, and all of it has arrived. */
bool fsbml_streaming_over(const fsbml_streaming_t *s) FSBML_NOEXCEPT;
fsbml_rate_t fsbml_streaming_rate(const fsbml_streaming_t *s) FSBML_NOEXCEPT;
/** Of two streams the one that varies less; where all that is known is the time with all pauses, the faster
 * one. With the larger burst if they agree about the rate: a bucket is seen by the stream that empties it. */
fsbml_rate_t fsbml_rate_better(fsbml_rate_t one, fsbml_rate_t two) FSBML_NOEXCEPT;

/** What a sweep has seen of a rail: the least times of some PRTTs (thesis 3.2) of small messages, and streams
 * both ways. A time of 0 was not measured. */
typedef struct fsbml_sweep_t {
    uint32_t bytes, packets; /**< s and n */
    uint64_t one_ns;         /**< PRTT(1,0,s) */
    uint64_t row_ns;         /**< PRTT(n,0,s), a shaper's bucket empty */
    uint64_t delayed_ns;     /**< PRTT(n,d,s) */
    uint64_t delay_ns;       /**< d, more than the gap */
    uint64_t take_ns;        /**< to take in n messages that are there */
    fsbml_rate_t there, back;
    uint32_t at_once; /**< bytes of a message alone that a rest lets pass faster than streams; 0: none does */
} fsbml_sweep_t;

/** The fit of a rail that was swept: o_s by equation 3.2.2.2 with d > gap, L by 3.2.3.1, g of small messages,
 * G of streams. Without a stream it is not valid. */
void fsbml_sweep_fit(const fsbml_sweep_t *seen, fsbml_fit_t *out) FSBML_NOEXCEPT;

/** Rails whose small messages take as long within a tenth, or 1 us, get the same L, o and g, and gaps per
 * byte within a twentieth the same G, of both directions: where the measurement cannot tell rails apart, both
 * ends of a path must prefer the same one, or an answer does not take the acknowledgement of a question
 * along. */
void fsbml_sweep_level(fsbml_fit_t *fits, size_t n) FSBML_NOEXCEPT;

/** Whether two fits of a rail agree about 64 KiB within a quarter. */
bool fsbml_fit_is_like(const fsbml_fit_t *fit, const fsbml_fit_t *other) FSBML_NOEXCEPT;

/** Whether a rail is as a fit says, by PRTT(1,0,s) and the stream there of a sweep: the first to a third less
 * or a half more and 20 us, as latencies differ from job to job on one machine, G to 15 %. A stream that is
 * not steady was disturbed: then it refutes only what is better than the fit, or three times slower. */
bool fsbml_sweep_confirms(const fsbml_sweep_t *seen, const fsbml_fit_t *fit) FSBML_NOEXCEPT;

/* --------------------------------------------------------- rails together */

/** What rails do to each other, by streams on all at once (core/measure/start/start.hpp). */
typedef struct fsbml_together_t fsbml_together_t;

/**
 * `rails` are the bits of those whose fits are to be used. Does no communication: the caller asks for the
 * next run, does it, reports it. NULL with errno set on failure.
 */
fsbml_together_t *fsbml_together_create(size_t n_rails, const fsbml_fit_t *fits,
                                        uint32_t rails) FSBML_NOEXCEPT;
void fsbml_together_destroy(fsbml_together_t *t) FSBML_NOEXCEPT;
/** The rails (bits) to stream on at once. 0: no more. */
uint32_t fsbml_together_next(const fsbml_together_t *t) FSBML_NOEXCEPT;
/** Their rates by rail, the share of the time that the sender's processor was busy with sending, and how long
 * it took in all. A G of 0: it did not get through, and nothing more is to be done. */
int fsbml_together_report(fsbml_together_t *t, const fsbml_rate_t *rate, double sending,
                          uint64_t took_ns) FSBML_NOEXCEPT;
/** Puts what came out into the fits of fsbml_together_create; returns the rails (bits) that are left out. */
uint32_t fsbml_together_conclude(const fsbml_together_t *t, fsbml_fit_t *fits) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_CALIBRATION_H */
