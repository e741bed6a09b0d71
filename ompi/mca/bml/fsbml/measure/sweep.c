/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement at start: a few PRTTs of small messages (thesis 3.2) give a rail's L, o and g, a stream
 * each way its G and what a shaper's bucket holds (core/measure/start/start.hpp). Tens of ms a rail, and
 * rough: within a tenth, which is all that a choice among rails depends on. Whatever is lost of it, no rail
 * is left without parameters. */

#include <stdio.h>

#include "flow/flow.h"
#include "measure/measure.h"

#include "opal/util/show_help.h"

/* ------------------------------------------------------------------- silence */

/* A rail that is measured answers no more: is it the rail, or the partner, and is it for good? */

static bool answers(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, uint64_t limit_ns)
{
    const fsbml_probe_t small = {.packets = 1, .bytes = FSBML_PACKET_HEADER};
    return 0 != fsbml_prtt_run(fsbml_path(ep, rail), &small, limit_ns);
}

/* A rail that answered does not any more. A partner that is paused (a virtual machine, a debugger) answers on
 * none, and goes on: so the rails are asked in turn, until one answers. If that is another one, this one has
 * as long again as the silence has lasted, as TCP sends again what was lost meanwhile in intervals that
 * double. */
typedef enum silence_t { SILENCE_OVER, SILENCE_OF_RAIL, SILENCE_OF_PARTNER } silence_t;

static silence_t wait_out(mca_bml_fsbml_endpoint_t *ep, const uint32_t *rail, size_t n, size_t silent,
                          uint32_t failed)
{
    const uint64_t start = fsbml_now_ns(), turn = mca_bml_fsbml_params.probe_timeout_ns;
    const uint64_t patience = fsbml_calibrate_limit_ns(0) / 2;
    while (fsbml_now_ns() - start < patience) {
        for (size_t i = 0; i < n; ++i) {
            if (i != silent && 0 == (failed & fsbml_bit(rail[i])) && answers(ep, rail[i], turn)) {
                const uint64_t lasted = fsbml_prtt_limit() + (fsbml_now_ns() - start);
                return answers(ep, rail[silent], lasted) ? SILENCE_OVER : SILENCE_OF_RAIL;
            }
        }
        if (answers(ep, rail[silent], turn)) {
            return SILENCE_OVER;
        }
    }
    return SILENCE_OF_PARTNER;
}

/* A rail answered, and then not any more, while another does. */
static void give_up(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t i,
                    const char *what)
{
    const mca_bml_fsbml_rail_t *r = &fsbml_rails.rail[rail[i]];
    char *reason = table->rail[i].fit.reason, node[FSBML_NAME_MAX], why[FSBML_REASON_MAX],
         detail[FSBML_NAME_DETAIL];
    const int said = snprintf(reason, FSBML_REASON_MAX, "%s was not answered within %.0f ms", what,
                              (double) fsbml_prtt_limit() / 1e6);
    fsbml_endpoint_remove_path(ep, rail[i]);
    memcpy(why, reason, sizeof(why));
    const uint32_t kind = fsbml_diagnose_now(ep, fsbml_path(ep, rail[i]), why);
    if (0 != strcmp(why, reason)) { /* the cause is known */
        snprintf(reason + said, (size_t) (FSBML_REASON_MAX - said), ": %s", why);
    }
    fsbml_hello_node(&ep->proc->super.proc_name, node);
    fsbml_diagnose_note(rail[i], node, kind, why);
    opal_show_help(FSBML_HELP, "rail not measured", true, r->name, fsbml_name_detail(r, detail),
                   fsbml_node_name(), reason);
}

uint32_t fsbml_silence(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                       size_t silent, uint32_t failed, const char *what)
{
    switch (wait_out(ep, rail, n, silent, failed)) {
    case SILENCE_OVER: /* as if it had not been asked */
        FSBML_VERBOSE(FSBML_V_RAILS, "rank %u was silent for a while; the measurement goes on",
                      table->pair[1]);
        break;
    case SILENCE_OF_RAIL:
        give_up(ep, table, rail, silent, what);
        failed |= fsbml_bit(rail[silent]);
        break;
    case SILENCE_OF_PARTNER: /* its paths stay: there is no better one */
        for (size_t i = 0; i < n; ++i) {
            if (0 == (failed & fsbml_bit(rail[i]))) {
                snprintf(table->rail[i].fit.reason, FSBML_REASON_MAX,
                         "rank %u fell silent in the midst of the measurement", table->pair[1]);
                failed |= fsbml_bit(rail[i]);
            }
        }
        break;
    }
    return failed;
}

enum {
    SMALL = FSBML_PACKET_HEADER,
    ROW = 16,           /* messages of a PRTT */
    TIMES = 8,          /* that a PRTT is run at most, the least counts; where it takes long, ... */
    AGAIN = 3,          /* ... or is not as important, fewer, ... */
    SOON_NS = 1000000,  /* ... if two are alike by then, ... */
    LATE_NS = 60000000, /* ... and in any case after that */
    SLICE_NS = 2000000, /* about a turn of a process on a busy processor, ... */
    WAITED_NS = 300000, /* ... and what two that are not alike may have waited for theirs */
    LEAST_DELAY_NS = 20000,
    MOST_DELAY_NS = 100000, /* of a PRTT: more than the gap of small messages */
    STREAM_NS = 8000000,
    BRIEF_NS = 2000000,
    LONGEST = 3, /* times as long */
    ATTEMPTS = 3,
    STREAMS = 4,        /* where each was disturbed */
    TRIPS = 12,         /* there and back, that a stream takes at least */
    ALONE_MOST = 73728, /* bytes of a message that is sent alone: of 64 KiB with its header, ... */
    ALONE_LEAST = 9216,
    ALONE_NS = 1000000, /* ... on rails where that takes no longer */
};

/* What was disturbed is measured again, but not for ever: that is for other jobs' sake, or for a busy
 * processor's. Of a rail that is disturbed then, no more is asked than its parameters need. */
static uint64_t repeat_until_ns,
    late_ns = UINT64_MAX; /* UINT64_MAX: nothing is, where a cache is confirmed */

static bool is_late(void)
{
    return fsbml_now_ns() > late_ns;
}

/* The least of some runs of a probe: of few, where two are alike, or in *sure (NULL: of no interest) that
 * none are. A run that takes a turn longer than the kernels' way, 0 if that is not known, has waited for a
 * processor. False if one was not answered. */
static bool least(const mca_bml_fsbml_path_t *path, fsbml_probe_t probe, int times, uint64_t kernels,
                  uint64_t *ns, bool *sure)
{
    const uint64_t start = fsbml_now_ns();
    uint64_t second = *ns = UINT64_MAX, elapsed = 0;
    bool alike = false;
    for (int i = 0; i < (elapsed < SOON_NS ? times : TIMES) && elapsed < LATE_NS && (i < 2 || !is_late());
         ++i) {
        const uint64_t took = fsbml_prtt_run(path, &probe, fsbml_prtt_limit());
        if (0 == took) {
            return false;
        }
        second = took < *ns ? *ns : took < second ? took : second;
        *ns = took < *ns ? took : *ns;
        elapsed = fsbml_now_ns() - start;
        alike = second - *ns <= *ns / 5;
        if (took >= kernels + SLICE_NS) {
            /* two processes that wait for their turns must not do so in step for ever */
            fsbml_prtt_rest(took * (uint64_t) (i % 4 + 1) / 5);
        } else if (elapsed >= SOON_NS && alike) {
            break;
        }
    }
    FSBML_VERBOSE(FSBML_V_PROBE, "PRTT(%u,%.1f us,%u B)%s on %s: at least %.1f us", probe.packets,
                  (double) probe.delay_ns / 1e3, probe.bytes, FSBML_PROBE_TAKE == probe.kind ? " taken" : "",
                  fsbml_rails.rail[path->rail].name, (double) *ns / 1e3);
    if (NULL != sure) {
        *sure = alike;
    }
    return true;
}

/* What a small message takes to and fro, and whether two took about as long. What processes waited for their
 * turns beyond the time of the kernels, which need none, does not count: told in *turns. */
static bool there_and_back(const mca_bml_fsbml_path_t *path, uint64_t kernels, uint64_t *ns, bool *alike,
                           bool *turns)
{
    const fsbml_probe_t one = {.packets = 1, .bytes = SMALL};
    if (!least(path, one, TIMES, kernels, ns, alike)) {
        return false;
    }
    *turns = 0 != kernels && *ns >= kernels + (*alike ? SLICE_NS : WAITED_NS);
    *ns = *turns ? kernels : *ns;
    return true;
}

/* What a stream may take: what is under way at once must last for the round trip. */
static fsbml_streaming_limits_t limits(const mca_bml_fsbml_path_t *path, uint64_t wanted, uint64_t one_ns)
{
    const uint64_t most = fsbml_prtt_limit() / 8;
    wanted = wanted < TRIPS * one_ns ? TRIPS * one_ns : wanted;
    wanted = wanted < most ? wanted : most;
    return fsbml_stream_limits(path, wanted, LONGEST * wanted);
}

static void tell(const mca_bml_fsbml_path_t *path, const char *way, const fsbml_rate_t *r)
{
    FSBML_VERBOSE(FSBML_V_PROBE, "a stream %s on %s: %.4g (%.4g to %.4g) ns/B%s, ahead by %.0f B, %u stamps",
                  way, fsbml_rails.rail[path->rail].name, r->G_ns_per_byte, r->low_ns_per_byte,
                  r->high_ns_per_byte, r->steady ? "" : ", unsteady", r->burst_bytes, r->stamps);
}

/* Another one where it was disturbed. */
static bool stream(const mca_bml_fsbml_path_t *path, bool there, uint64_t wanted, uint64_t one_ns,
                   fsbml_rate_t *rate)
{
    const fsbml_streaming_limits_t most = limits(path, wanted, one_ns);
    bool good = true;
    *rate = (fsbml_rate_t){0};
    for (int attempt = 0;
         good && attempt < STREAMS && !rate->steady && (0 == attempt || fsbml_now_ns() < repeat_until_ns);
         ++attempt) {
        fsbml_rate_t next = {0};
        double sending;
        good = there ? fsbml_stream_run(1, &path, &most, fsbml_prtt_limit(), &next, &sending)
                     : fsbml_stream_ask(path, &most, fsbml_prtt_limit(), &next);
        tell(path, there ? "there" : "back", &next);
        *rate = 0 == attempt ? next : fsbml_rate_better(*rate, next);
    }
    return good;
}

/* The largest message that a rail at rest carries in two thirds of what its streams take: a shaper's bucket
 * lets it pass. Streams do not show that where the processors feed a rail hardly faster than it is. */
static bool pass_at_once(const mca_bml_fsbml_path_t *path, fsbml_sweep_t *seen)
{
    const double there = seen->there.G_ns_per_byte, back = seen->back.G_ns_per_byte;
    const double G = there + (back > 0 ? back : there), one = (double) seen->one_ns;
    bool any = G * ALONE_MOST <= 2 * ALONE_NS; /* or hardly faster, and smaller ones are not, either */
    for (uint32_t bytes = ALONE_MOST; bytes >= ALONE_LEAST && any && 0 == seen->at_once; bytes /= 2) {
        const fsbml_probe_t alone = {.packets = 1, .bytes = bytes};
        const double trip = G * bytes;
        if (!fsbml_prtt_fits(path->super.btl, 1, bytes)) {
            continue;
        }
        any = false;
        for (int i = 0; i < AGAIN && 0 == seen->at_once; ++i) {
            fsbml_prtt_rest((uint64_t) trip);
            const double took = (double) fsbml_prtt_run(path, &alone, fsbml_prtt_limit());
            if (!(took > 0)) {
                return false;
            }
            any = any || took < one + 0.9 * trip;
            seen->at_once = took < one + 2 * trip / 3 ? bytes : 0;
        }
    }
    FSBML_VERBOSE(FSBML_V_PROBE, "a message alone on %s: %u B pass at once",
                  fsbml_rails.rail[path->rail].name, seen->at_once);
    return true;
}

/* False, with what was not answered, if the rail is silent. What was seen until then stays. */
static bool sweep(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, fsbml_sweep_t *seen, const char **what)
{
    const mca_bml_fsbml_path_t *path = fsbml_path(ep, rail);
    *seen = (fsbml_sweep_t){.bytes = SMALL, .packets = ROW};
    *what = "a small message";
    bool alike, turns;
    const uint64_t kernels = fsbml_flow_round_trip(ep, rail);
    if (!there_and_back(path, kernels, &seen->one_ns, &alike, &turns)) {
        seen->one_ns = 0;
        return false;
    }
    /* Streams last for some round trips, but not for some turns of a busy processor. */
    const uint64_t trip = turns || alike || seen->one_ns < SOON_NS ? seen->one_ns : SOON_NS;
    const uint64_t delay = seen->one_ns < MOST_DELAY_NS ? seen->one_ns : MOST_DELAY_NS;
    seen->delay_ns = delay > LEAST_DELAY_NS ? delay : LEAST_DELAY_NS;
    *what = "a row of small messages";
    fsbml_probe_t probe = {.packets = ROW, .bytes = SMALL, .delay_ns = seen->delay_ns};
    const bool rows = !turns && (alike || !is_late());
    if (rows && !least(path, probe, AGAIN, kernels, &seen->delayed_ns, NULL)) {
        return false;
    }
    probe.kind = FSBML_PROBE_TAKE;
    probe.delay_ns = 2 * seen->one_ns + ROW * LEAST_DELAY_NS;
    if (rows && !least(path, probe, AGAIN, kernels, &seen->take_ns, NULL)) {
        return false;
    }
    *what = "a stream";
    if (!stream(path, true, STREAM_NS, trip, &seen->there)) {
        return false;
    }
    *what = "a row of small messages";
    const bool goes_on = seen->there.steady || !is_late();
    const fsbml_probe_t row = {.packets = ROW, .bytes = SMALL};
    if (goes_on && !turns && !least(path, row, AGAIN, kernels, &seen->row_ns, NULL)) {
        return false;
    }
    /* Without it, the other way is as this one. */
    *what = "the wish for a stream";
    if (!goes_on && 0 != seen->there.stamps) {
        return true;
    }
    if (!stream(path, false, STREAM_NS, trip, &seen->back)) {
        return false;
    }
    *what = "a large message";
    return turns || !seen->there.steady || pass_at_once(path, seen);
}

/* Where processors are busy, a small message may take as long as a process waits for its turn, each time:
 * then another rail tells better how far the partner is; but none is nearer than its kernels are. */
static void settle_latencies(mca_bml_fsbml_endpoint_t *ep, const uint32_t *rail, fsbml_sweep_t *seen,
                             size_t n)
{
    uint64_t one = UINT64_MAX;
    for (size_t i = 0; i < n; ++i) {
        one = 0 != seen[i].one_ns && seen[i].one_ns < one ? seen[i].one_ns : one;
    }
    for (size_t i = 0; i < n; ++i) {
        const uint64_t kernels = fsbml_flow_round_trip(ep, rail[i]);
        const uint64_t settled = kernels > one ? kernels : one;
        if (seen[i].one_ns >= SLICE_NS && settled < SLICE_NS && !seen[i].there.steady) {
            seen[i].one_ns = settled;
            seen[i].delayed_ns = seen[i].row_ns = seen[i].take_ns = 0;
        }
    }
}

uint32_t fsbml_sweep(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n)
{
    const uint64_t start = fsbml_now_ns();
    fsbml_sweep_t seen[FSBML_MAX_RAILS] = {{0}};
    uint32_t failed = 0;
    repeat_until_ns = late_ns = start + mca_bml_fsbml_params.calib.budget_ns / 2;
    for (size_t i = 0; i < n; ++i) {
        const char *what = "";
        bool good = false;
        for (int attempt = 0; attempt < ATTEMPTS && !good && 0 == (failed & fsbml_bit(rail[i])); ++attempt) {
            good = sweep(ep, rail[i], &seen[i], &what);
            failed = good ? failed : fsbml_silence(ep, table, rail, n, i, failed, what);
        }
    }
    late_ns = UINT64_MAX;
    settle_latencies(ep, rail, seen, n);
    fsbml_fit_t fit[FSBML_MAX_RAILS];
    fsbml_fits_take(table, n, fit);
    for (size_t i = 0; i < n; ++i) {
        if (0 == (failed & fsbml_bit(rail[i]))) {
            fsbml_sweep_fit(&seen[i], &fit[i]);
        }
    }
    fsbml_sweep_level(fit, n);
    fsbml_fits_put(table, n, fit);
    table->duration_ns += fsbml_now_ns() - start;
    return failed;
}

/* A stream that was disturbed looks like a slower rail, be it by chance the one of the file. So each attempt
 * takes twice as long, until one was not. A small message behind a stream waits for a shaper's bucket: the
 * shortest of its times is the rail's. */
static bool recalled(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, const fsbml_fit_t *fit)
{
    const mca_bml_fsbml_path_t *path = fsbml_path(ep, rail);
    fsbml_sweep_t seen = {.bytes = SMALL, .packets = ROW};
    uint64_t least_ns = UINT64_MAX;
    bool same = false, good = true, alike, turns;
    for (int attempt = 0; attempt < ATTEMPTS && good && !(same && seen.there.steady); ++attempt) {
        const fsbml_rate_t before = seen.there;
        good = there_and_back(path, fsbml_flow_round_trip(ep, rail), &seen.one_ns, &alike, &turns)
               && stream(path, true, (uint64_t) BRIEF_NS << attempt, seen.one_ns, &seen.there);
        seen.one_ns = least_ns = seen.one_ns < least_ns ? seen.one_ns : least_ns;
        seen.there = fsbml_rate_better(seen.there, before);
        same = good && fsbml_sweep_confirms(&seen, fit);
    }
    if (!same || !seen.there.steady) {
        FSBML_VERBOSE(FSBML_V_RAILS, "%s %s", fsbml_rails.rail[rail].name,
                      same ? "is taken as an earlier job has measured it: the measurement was disturbed"
                           : "is not what an earlier job has measured");
    }
    return same;
}

bool fsbml_sweep_recalled(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                          size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (!recalled(ep, rail[i], &table->rail[i].fit)) {
            return false;
        }
    }
    return true;
}
