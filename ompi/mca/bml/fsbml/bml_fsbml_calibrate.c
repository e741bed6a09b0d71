/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The measurement at start: two processes run the PRTT benchmark (thesis 3.2.1, 3.4.2) over each rail that
 * they share, on the BTLs' active messages (bml_fsbml_prtt.c, _mirror.c). Which probes, and what they mean,
 * the core says. What an earlier job has measured is used if a few probes confirm it (bml_fsbml_cache.c). */

#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

static struct {
    /* NULL outside of a measurement; a BTL's own thread may bring a packet at any time */
    mca_bml_fsbml_endpoint_t *_Atomic partner;
    bool leads;         /* sends the probes; the other is the mirror */
    _Atomic bool begun; /* the partner has sent something */
    _Atomic bool over;  /* mirror: the table has come */
} run;

/* Ranks that said they are ready to be measured with. Apart from `run`, as that can come before this process
 * is. */
static struct {
    _Atomic uint32_t n;
    _Atomic int64_t rank[FSBML_MAX_PAIRS]; /* 0: none, else one more */
} heard;

static bool is_ready(uint32_t rank)
{
    for (size_t i = 0; i < FSBML_MAX_PAIRS; ++i) {
        if ((int64_t) rank + 1 == atomic_load(&heard.rank[i])) {
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------- packets */

static void take_table(const mca_bml_fsbml_endpoint_t *partner, const void *record, size_t len)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    if (NULL != table && 0 == fsbml_table_unpack(table, record, len)) {
        fsbml_table_apply(table);
    } else {
        opal_show_help(FSBML_HELP, "malformed record", true, "table",
                       OMPI_NAME_PRINT(&partner->proc->super.proc_name));
    }
    free(table);
    atomic_store(&run.over, true);
}

void fsbml_calibrate_packet(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                            size_t len)
{
    if (FSBML_PACKET_READY == packet->type) {
        if (packet->from.jobid == OMPI_PROC_MY_NAME->jobid && atomic_load(&heard.n) < FSBML_MAX_PAIRS) {
            const uint32_t at = atomic_fetch_add(&heard.n, 1) % FSBML_MAX_PAIRS;
            atomic_store(&heard.rank[at], (int64_t) packet->from.vpid + 1);
        }
        return;
    }
    mca_bml_fsbml_endpoint_t *partner = run.partner;
    if (NULL == partner || OPAL_EQUAL != opal_compare_proc(packet->from, partner->proc->super.proc_name)) {
        return; /* late, or from somebody with whom this process does not measure */
    }
    atomic_store(&run.begun, true);
    switch (packet->type) {
    case FSBML_PACKET_PRTT:
    case FSBML_PACKET_REQUEST:
        if (!run.leads) {
            fsbml_mirror_packet(partner, btl, packet);
        }
        break;
    case FSBML_PACKET_PRTT_BACK:
    case FSBML_PACKET_FLOW:
        if (run.leads) {
            fsbml_prtt_came(packet);
        }
        break;
    default:
        if (!run.leads && !atomic_load(&run.over)) {
            take_table(partner, payload, packet->bytes <= len ? packet->bytes : 0); /* 0: it is cut short */
        }
    }
}

/* ---------------------------------------------------------------- the leader */

static bool answers(uint32_t rail, uint64_t limit_ns)
{
    const fsbml_probe_t small = {.packets = 1, .bytes = FSBML_PACKET_HEADER};
    return 0 != fsbml_prtt_run(fsbml_path(run.partner, rail), &small, limit_ns);
}

typedef enum silence_t { SILENCE_OVER, SILENCE_OF_RAIL, SILENCE_OF_PARTNER } silence_t;

/* A rail that answered does not any more. A partner that is paused (a virtual machine, a debugger) answers on
 * none, and goes on: so the rails are asked in turn, until one answers. If that is another one, this one has
 * as long again as the silence has lasted, as TCP sends again what was lost meanwhile in intervals that
 * double. */
static silence_t wait_out(const uint32_t *rail, size_t n, size_t silent, uint32_t failed)
{
    const uint64_t start = fsbml_now_ns(), turn = mca_bml_fsbml_params.probe_timeout_ns;
    const uint64_t patience = fsbml_calibrate_limit_ns(0) / 2;
    while (fsbml_now_ns() - start < patience) {
        for (size_t i = 0; i < n; ++i) {
            if (i != silent && 0 == (failed & fsbml_bit(rail[i])) && answers(rail[i], turn)) {
                const uint64_t lasted = fsbml_prtt_limit() + (fsbml_now_ns() - start);
                return answers(rail[silent], lasted) ? SILENCE_OVER : SILENCE_OF_RAIL;
            }
        }
        if (answers(rail[silent], turn)) {
            return SILENCE_OVER;
        }
    }
    return SILENCE_OF_PARTNER;
}

/* A rail answered, and then not any more, while another does. */
static void give_up(fsbml_table_t *table, const uint32_t *rail, size_t i, const fsbml_probe_t *probe,
                    uint64_t timeout)
{
    const mca_bml_fsbml_rail_t *r = &mca_bml_fsbml.rail[rail[i]];
    char *reason = table->rail[i].fit.reason, node[FSBML_NAME_MAX], why[FSBML_REASON_MAX],
         detail[FSBML_NAME_DETAIL];
    const int said =
        snprintf(reason, FSBML_REASON_MAX, "a probe of %u x %u bytes was not answered within %.0f ms",
                 probe->packets, probe->bytes, (double) timeout / 1e6);
    fsbml_endpoint_remove_path(run.partner, rail[i]);
    memcpy(why, reason, sizeof(why));
    const uint32_t kind = fsbml_diagnose_now(run.partner, fsbml_path(run.partner, rail[i]), why);
    if (0 != strcmp(why, reason)) { /* the cause is known */
        snprintf(reason + said, (size_t) (FSBML_REASON_MAX - said), ": %s", why);
    }
    fsbml_hello_node(&run.partner->proc->super.proc_name, node);
    fsbml_diagnose_note(rail[i], node, kind, why);
    opal_show_help(FSBML_HELP, "rail not measured", true, r->name, fsbml_name_detail(r, detail),
                   fsbml_node_name(), reason);
}

/* Measures the partner's live paths; rail[] says which. Returns those of them (bits) that have failed, now or
 * before. */
static uint32_t measure(fsbml_table_t *table, const uint32_t *rail, size_t n, uint64_t seed, uint32_t failed)
{
    static const char *const kind[] = {"", " back", " taken", " both ways"};
    const uint64_t timeout = fsbml_prtt_limit();
    fsbml_calib_config_t config = mca_bml_fsbml_params.calib;
    fsbml_calib_rail_t known[FSBML_MAX_RAILS];
    fsbml_probe_t probe;

    config.seed = seed;
    config.timer_ns = fsbml_prtt_timer_ns();
    if (config.small_size < FSBML_PACKET_HEADER) {
        config.small_size = FSBML_PACKET_HEADER; /* no smaller message exists */
    }
    for (size_t i = 0; i < n; ++i) {
        const mca_btl_base_module_t *btl = mca_bml_fsbml.rail[rail[i]].btl;
        const uint32_t most = fsbml_prtt_bytes(btl);
        const size_t eager = btl->btl_eager_limit;
        known[i] = (fsbml_calib_rail_t){.max_bytes = most, .limit = {eager < most ? (uint32_t) eager : 0}};
    }
    fsbml_calib_t *calib = fsbml_calib_create(&config, n, known);
    if (NULL == calib) {
        snprintf(table->reason, sizeof(table->reason), "out of memory");
        return failed;
    }
    for (size_t i = 0; i < n; ++i) {
        if (failed & fsbml_bit(rail[i])) {
            (void) fsbml_calib_fail(calib, i, table->rail[i].fit.reason);
        }
    }
    uint64_t start = fsbml_now_ns();
    while (1 == fsbml_calib_next(calib, fsbml_now_ns() - start, &probe)) {
        uint32_t r = rail[probe.rail];
        uint64_t prtt = fsbml_prtt_run(fsbml_path(run.partner, r), &probe, timeout);
        FSBML_VERBOSE(FSBML_V_PROBE, "PRTT(%u,%.1f us,%u B)%s on %s: %.1f us%s", probe.packets,
                      (double) probe.delay_ns / 1e3, probe.bytes, kind[probe.kind],
                      mca_bml_fsbml.rail[r].name, (double) prtt / 1e3, probe.warm_up ? " (warm-up)" : "");
        if (0 != prtt) {
            (void) fsbml_calib_report(calib, &probe, prtt);
            continue;
        }
        switch (wait_out(rail, n, probe.rail, failed)) {
        case SILENCE_OVER: /* as if the probe had not been */
            FSBML_VERBOSE(FSBML_V_RAILS, "rank %u was silent for a while; the measurement goes on",
                          table->pair[1]);
            break;
        case SILENCE_OF_RAIL:
            give_up(table, rail, probe.rail, &probe, timeout);
            (void) fsbml_calib_fail(calib, probe.rail, table->rail[probe.rail].fit.reason);
            failed |= fsbml_bit(r);
            break;
        case SILENCE_OF_PARTNER: /* its paths stay: there is no better one */
            for (size_t i = 0; i < n; ++i) {
                if (0 == (failed & fsbml_bit(rail[i]))) {
                    char *reason = table->rail[i].fit.reason;
                    snprintf(reason, FSBML_REASON_MAX, "rank %u fell silent in the midst of the measurement",
                             table->pair[1]);
                    (void) fsbml_calib_fail(calib, i, reason);
                    failed |= fsbml_bit(rail[i]);
                }
            }
            break;
        }
    }
    table->duration_ns += fsbml_now_ns() - start;
    for (size_t i = 0; i < n; ++i) {
        (void) fsbml_calib_fit(calib, i, &table->rail[i].fit);
        if (FSBML_V_RAILS <= mca_bml_fsbml_params.verbose) {
            (void) fsbml_calib_interval(calib, i, &table->rail[i].fit);
        }
    }
    fsbml_measurement_keep(calib, table, n);
    fsbml_calib_destroy(calib);
    return failed;
}

static void show_bounds(const fsbml_table_t *table)
{
    for (uint32_t i = 0; i < table->n_rails; ++i) {
        const fsbml_loggp_t *low = &table->rail[i].fit.low, *high = &table->rail[i].fit.high;
        if (table->rail[i].fit.valid && high->G_ns_per_byte > 0) {
            FSBML_VERBOSE(
                FSBML_V_RAILS,
                "%s: 90 %% of such samples give L %.2f to %.2f, o_s %.2f to %.2f, g %.2f to %.2f us, G %.4g to "
                "%.4g ns/B",
                table->rail[i].name, low->L_ns / 1e3, high->L_ns / 1e3, low->o_s_ns / 1e3, high->o_s_ns / 1e3,
                low->g_ns / 1e3, high->g_ns / 1e3, low->G_ns_per_byte, high->G_ns_per_byte);
        }
    }
}

/* Fills in the table for these rails: from a file, if it may be, or by measurement. */
static void find_parameters(fsbml_table_t *table, const uint32_t *rail, size_t n)
{
    char node[FSBML_NAME_MAX];
    fsbml_hello_node(&run.partner->proc->super.proc_name, node);
    const fsbml_recall_t recall = fsbml_cache_recall(node, rail, n, table);
    uint32_t failed = 0;
    bool good = FSBML_RECALL_PINNED == recall
                || (FSBML_RECALL_GUESS == recall && fsbml_confirm_recalled(run.partner, table, rail, n));
    const bool measures = !good;
    double before[FSBML_MAX_RAILS] = {0};

    for (size_t i = 0; FSBML_RECALL_GUESS == recall && i < n; ++i) {
        before[i] = table->rail[i].fit.valid ? table->rail[i].fit.params.G_ns_per_byte : 0;
    }
    for (uint64_t attempt = 1; attempt <= 3 && !good && FSBML_RECALL_REFUSED != recall; ++attempt) {
        failed = measure(table, rail, n, mca_bml_fsbml_params.calib.seed + attempt - 1, failed);
        good = fsbml_confirm_measured(run.partner, table, rail, n, failed);
    }
    if (good && measures && mca_bml_fsbml_params.together) {
        const uint64_t start = fsbml_now_ns();
        fsbml_together(run.partner, table, rail, n, failed);
        table->duration_ns += fsbml_now_ns() - start;
    }
    if (good && measures) {
        fsbml_diagnose_speeds(run.partner, table, rail, n, before);
    }
    /* Parameters that do not hold are worse than none: without any, each peer has one rail. */
    for (size_t i = 0; !good && i < n; ++i) {
        table->rail[i].fit.valid = false;
        if (0 == (failed & fsbml_bit(rail[i]))) {
            snprintf(table->rail[i].fit.reason, sizeof(table->rail[i].fit.reason),
                     FSBML_RECALL_REFUSED == recall
                         ? "bml_fsbml_table cannot be used"
                         : "the measurement was disturbed three times; were the processors busy?");
        }
    }
    bool all = true;
    for (size_t i = 0; i < n; ++i) {
        fsbml_table_rail_t *t = &table->rail[i];
        all = all && t->fit.valid;
        memcpy(t->key, mca_bml_fsbml.rail[rail[i]].key, sizeof(t->key));
        memcpy(t->name, mca_bml_fsbml.rail[rail[i]].name, sizeof(t->name));
        memcpy(t->pair, table->pair, sizeof(t->pair));
    }
    table->n_rails = (uint32_t) n;
    if (good && measures && all) { /* a rail that failed may be good next time */
        fsbml_cache_keep(node, rail, n, table);
    }
}

/* `wanted`: rails that are to be measured; if that is all that there are, one has no rival. */
static void lead(fsbml_table_t *table, uint32_t wanted)
{
    mca_bml_fsbml_endpoint_t *ep = run.partner;
    uint32_t live = atomic_load(&ep->live), rail[FSBML_MAX_RAILS];
    size_t n = 0;

    for (uint32_t r = 0; r < mca_bml_fsbml.n_rails; ++r) {
        if (live & wanted & fsbml_bit(r)) {
            rail[n++] = r;
        }
    }
    if (n >= (UINT32_MAX == wanted ? 2 : 1)) {
        find_parameters(table, rail, n);
        fsbml_measurement_holdout(run.partner, table, rail);
    } else {
        snprintf(table->reason, sizeof(table->reason), "%s between the measuring ranks %u and %u",
                 0 == n ? "no rail answers" : "only one rail answers", table->pair[0], table->pair[1]);
    }

    /* The mirror waits for the table; it takes the live rail that answers soonest, by what is known now. */
    fsbml_table_apply(table);
    live = atomic_load(&ep->live);
    void *record = malloc(fsbml_table_packed_max());
    long len = NULL != record ? fsbml_table_pack(table, record, fsbml_table_packed_max()) : -1;
    if (0 != live && len > 0) {
        const uint32_t r = fsbml_choose(ep, fsbml_now_ns(), (size_t) len, live);
        const fsbml_packet_t packet = {
            .type = FSBML_PACKET_TABLE, .from = *OMPI_PROC_MY_NAME, .bytes = (uint32_t) len};
        const uint64_t limit = fsbml_now_ns() + fsbml_prtt_limit();
        while (OMPI_ERR_OUT_OF_RESOURCE
                   == fsbml_packet_send(&fsbml_path(ep, r)->super, &packet, record, (size_t) len, 0)
               && fsbml_now_ns() < limit) {
            opal_progress();
        }
    }
    free(record);
    show_bounds(table);
}

/* -------------------------------------------------------------------- both */

uint64_t fsbml_calibrate_limit_ns(uint32_t rounds)
{
    return (rounds + 1)
           * (6 * mca_bml_fsbml_params.calib.budget_ns + 8 * mca_bml_fsbml_params.probe_timeout_ns
              + 4000000000u);
}

/* A turn of waiting. Who waits for a later round leaves the processor to those who measure in this one. */
static void wait_a_turn(uint32_t round)
{
    const struct timespec moment = {.tv_nsec = 100000};
    if (round > 0 && !atomic_load(&run.begun)) {
        (void) nanosleep(&moment, NULL);
    }
    opal_progress();
}

/* Waits until the partner's paths on these rails are proved or given up; the leader also for the mirror's
 * word. */
static bool settle(uint32_t partner, uint32_t rails, uint32_t round)
{
    /* the partner may still be in an earlier round */
    const uint64_t before = round > 0 ? fsbml_calibrate_limit_ns(round - 1) : 0;
    const uint64_t limit = fsbml_now_ns() + before + 4 * mca_bml_fsbml_params.probe_timeout_ns + 2000000000u;
    while (fsbml_now_ns() < limit) {
        const uint32_t live = atomic_load(&run.partner->live), possible = atomic_load(&run.partner->possible);
        if (0 == (possible & ~live & rails) && (0 != live || 0 == possible)
            && (!run.leads || is_ready(partner))) {
            return true;
        }
        wait_a_turn(round);
    }
    return false;
}

/* The mirror: says that it is there, then answers until the table comes. */
static void follow(uint32_t round)
{
    const uint32_t live = atomic_load(&run.partner->live);
    const fsbml_packet_t ready = {.type = FSBML_PACKET_READY, .from = *OMPI_PROC_MY_NAME};
    if (0 == live) {
        return;
    }
    const mca_bml_base_btl_t *by = &fsbml_path(run.partner, (uint32_t) __builtin_ctz(live))->super;
    const uint64_t until = fsbml_now_ns() + fsbml_prtt_limit();
    while (OMPI_ERR_OUT_OF_RESOURCE == fsbml_packet_send(by, &ready, NULL, 0, 0) && fsbml_now_ns() < until) {
        opal_progress();
    }
    const uint64_t limit = fsbml_now_ns() + fsbml_calibrate_limit_ns(round);
    while (!atomic_load(&run.over) && fsbml_now_ns() < limit) {
        fsbml_mirror_serve(&run.over);
        wait_a_turn(round);
    }
}

/* False if this process does not see two rails to its partner. */
static bool find_partner(uint32_t partner)
{
    const ompi_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = partner};
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(name);
    run.partner = NULL != proc ? fsbml_endpoint_of(mca_bml_base_get_endpoint(proc)) : NULL;
    if (NULL == run.partner) {
        return false;
    }
    (void) fsbml_far_known(run.partner);
    return run.partner->n_paths >= 2 || !run.leads;
}

void fsbml_calibrate_pair(const fsbml_pair_t *pair, uint32_t rails, fsbml_table_t *table)
{
    atomic_store(&run.begun, false);
    atomic_store(&run.over, false);
    run.leads = OMPI_PROC_MY_NAME->vpid == pair->rank[0];
    table->pair[0] = pair->rank[0];
    table->pair[1] = pair->rank[1];
    const uint32_t partner = pair->rank[run.leads ? 1 : 0];
    if (!find_partner(partner)) {
        snprintf(table->reason, sizeof(table->reason), "ranks %u and %u do not share two rails",
                 pair->rank[0], pair->rank[1]);
        fsbml_table_apply(table);
    } else if (!settle(partner, rails, pair->round) && run.leads) {
        snprintf(table->reason, sizeof(table->reason), "rank %u does not answer rank %u", pair->rank[1],
                 pair->rank[0]);
        fsbml_table_apply(table);
    } else if (run.leads) {
        lead(table, rails);
    } else {
        follow(pair->round);
    }
    run.partner = NULL;
}

void fsbml_calibrate_end(void)
{
    for (size_t i = 0; i < FSBML_MAX_PAIRS; ++i) {
        atomic_store(&heard.rank[i], 0);
    }
    atomic_store(&heard.n, 0);
}
