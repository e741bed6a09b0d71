/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement in detail, for users who want to look into it (`./fsbml calibrate`): the leader keeps the
 * samples, runs probes that test the fits, and writes all of it to a file. */

#include <stdio.h>

#include "measure/measure.h"

#include "opal/util/show_help.h"

/* Probes that test a fit: each at least and at most so often, and within so much time where the least is
 * done; its middle time counts. It takes no more than so much by the fit, and all are done within what the
 * mirror waits for the table. */
enum { REPEATED = 3, MOST_REPEATED = 25, EACH_NS = 8000000, LONGEST_NS = 40000000, TOGETHER_NS = 2000000000 };

static struct {
    fsbml_sample_t *sample, *holdout;
    size_t n_samples, n_holdout;
    uint32_t attempts;
    bool leads;
} kept;

bool fsbml_measurement_wanted(void)
{
    return kept.leads && NULL != mca_bml_fsbml_params.measurement
           && '\0' != mca_bml_fsbml_params.measurement[0];
}

static void forget(void)
{
    free(kept.sample);
    free(kept.holdout);
    memset(&kept, 0, sizeof(kept));
}

void fsbml_measurement_begin(bool leads)
{
    forget();
    kept.leads = leads;
}

void fsbml_measurement_keep(const fsbml_calib_t *calib, fsbml_table_t *table, size_t n)
{
    size_t samples;
    const fsbml_sample_t *sample = fsbml_calib_samples(calib, &samples);
    if (!fsbml_measurement_wanted()) {
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        (void) fsbml_calib_interval(calib, i, &table->rail[i].fit);
    }
    kept.attempts++;
    free(kept.sample);
    kept.sample = malloc((samples + 1) * sizeof(*sample));
    kept.n_samples = NULL != kept.sample ? samples : 0;
    if (kept.n_samples > 0) {
        memcpy(kept.sample, sample, samples * sizeof(*sample));
    }
}

/* The middle of a probe's times; 0 if it was not answered. */
static uint64_t middle(const mca_bml_fsbml_path_t *path, const fsbml_probe_t *probe, uint64_t rest,
                       uint64_t limit)
{
    uint64_t time[MOST_REPEATED];
    const uint64_t end = fsbml_now_ns() + EACH_NS;
    int n = 0;
    for (; n < REPEATED || (n < MOST_REPEATED && fsbml_now_ns() < end); ++n) {
        /* Each finds a shaper's bucket full, and a path that was used a moment ago, as the calibration's
         * probes do: their pauses end with a small message. */
        fsbml_prtt_rest(rest);
        (void) fsbml_prtt_run(path, &(fsbml_probe_t){.packets = 1, .bytes = FSBML_PACKET_HEADER}, limit);
        time[n] = fsbml_prtt_run(path, probe, limit);
        for (int k = n; k > 0 && time[k] < time[k - 1]; --k) {
            const uint64_t less = time[k];
            time[k] = time[k - 1];
            time[k - 1] = less;
        }
    }
    return 0 != time[0] ? time[n / 2] : 0;
}

/* After such a time a shaper's bucket has back what a probe took out of it. */
static uint64_t refilled_ns(const fsbml_fit_t *fit, const fsbml_probe_t *probe)
{
    const fsbml_loggp_t *p = &fit->params;
    const double most = 2 * (double) fsbml_fit_refill_ns(fit),
                 each = p->g_ns + p->G_ns_per_byte * probe->bytes;
    const double took = most / (p->burst_ns + 1) * probe->packets * each;
    return (uint64_t) (took < most ? took : most);
}

void fsbml_measurement_holdout(mca_bml_fsbml_endpoint_t *partner, const fsbml_table_t *table,
                               const uint32_t *rail)
{
    const uint64_t limit = mca_bml_fsbml_params.probe_timeout_ns + LONGEST_NS,
                   end = fsbml_now_ns() + TOGETHER_NS;
    const uint32_t most = mca_bml_fsbml_params.holdout;
    if (!fsbml_measurement_wanted() || 0 == most || 0 == kept.n_samples
        || NULL == (kept.holdout = calloc(most, sizeof(*kept.holdout)))) {
        return;
    }
    const uint64_t first = (mca_bml_fsbml_params.calib.seed - 1) * most; /* those of other seeds are others */
    for (uint32_t turn = 0; turn < most && fsbml_now_ns() < end; ++turn) {
        fsbml_sample_t *s = &kept.holdout[kept.n_holdout];
        const uint32_t i = turn % table->n_rails;
        const fsbml_fit_t alone = fsbml_fit_alone(&table->rail[i].fit),
                          *fit = &alone; /* nothing else is sent meanwhile */
        if (0
            != fsbml_holdout_probe(fit, kept.sample, kept.n_samples, i, first + turn, LONGEST_NS,
                                   &s->probe)) {
            continue;
        }
        s->time_ns = middle(fsbml_path(partner, rail[i]), &s->probe, refilled_ns(fit, &s->probe), limit);
        s->predicted_ns = (uint64_t) fsbml_fit_prtt(fit, s->probe.kind, s->probe.packets, s->probe.delay_ns,
                                                    s->probe.bytes);
        kept.n_holdout += 0 != s->time_ns;
    }
}

void fsbml_measurement_write(const fsbml_table_t *table)
{
    const ompi_process_name_t partner = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = table->pair[1]};
    char reason[FSBML_REASON_MAX] = "", node[FSBML_NAME_MAX], version[32];
    if (!fsbml_measurement_wanted()) {
        return;
    }
    fsbml_hello_node(&partner, node);
    snprintf(version, sizeof(version), "%d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
             OMPI_RELEASE_VERSION);
    const fsbml_measurement_t report = {.table = table,
                                        .openmpi = version,
                                        .node = {fsbml_node_name(), node},
                                        .attempts = kept.attempts,
                                        .sample = kept.sample,
                                        .n_samples = kept.n_samples,
                                        .holdout = kept.holdout,
                                        .n_holdout = kept.n_holdout};
    if (0 != fsbml_measurement_store(mca_bml_fsbml_params.measurement, &report, reason)) {
        opal_show_help(FSBML_HELP, "measurement not written", true, mca_bml_fsbml_params.measurement,
                       fsbml_node_name(), reason);
    } else {
        FSBML_VERBOSE(FSBML_V_RAILS, "the measurement's report is in %s", mca_bml_fsbml_params.measurement);
    }
    forget();
}
