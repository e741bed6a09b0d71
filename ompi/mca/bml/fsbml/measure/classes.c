/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A process' part in the measurement, and how all processes get the result.
 *
 * Pairs (measure/pairs.c) without a rank in common measure side by side. A pair's leader puts its table
 * into the run-time's key-value store; the first leader's has the list of pairs before it. All others find
 * out which rank the first leader is, fetch its list, then the tables of the other leaders, and make one
 * table of them. */

#include <errno.h>
#include <stdio.h>

#include "measure/measure.h"

#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

static void make_key(char *key, size_t len)
{
    snprintf(key, len, "fsbml.table.%u", fsbml_life);
}

bool fsbml_calibrated;
static bool table_wanted; /* an endpoint needs it, and it could not be had yet */
static const fsbml_measure_listener_t *listener;

/* The table in use has only what this process took part in, enough for its partner; for other peers there is
 * more. */
static bool partial;

static void compare_parameters(const fsbml_pair_t *pair)
{
    fsbml_hello_t *hello = calloc(2, sizeof(*hello));
    bool told = NULL != hello;
    for (int i = 0; i < 2 && told; ++i) {
        const ompi_process_name_t name = fsbml_pairs_name(pair->rank[i]);
        told = 0 == fsbml_hello_fetch(&name, &hello[i]);
    }
    if (told && hello[0].params_digest != hello[1].params_digest) {
        opal_show_help(FSBML_HELP, "parameters differ", true, pair->rank[0], pair->rank[1], hello[0].node,
                       hello[1].node);
    }
    free(hello);
}

/* -------------------------------------------------------------- the tables */

/* A leader's record: a list of pairs (the first leader's: all, else none), and the table of what it has
 * measured. */
static void publish(const fsbml_pairs_t *pairs, const fsbml_table_t *table)
{
    const size_t size = fsbml_pairs_packed_max() + fsbml_table_packed_max();
    char *record = malloc(size), key[64];
    const long head = NULL != record ? fsbml_pairs_pack(pairs, record, size) : -ENOMEM;
    const long len = head > 0 ? fsbml_table_pack(table, record + head, size - (size_t) head) : head;
    make_key(key, sizeof(key));
    if (len <= 0 || OMPI_SUCCESS != fsbml_kvs_put(key, record, (size_t) (head + len))
        || OMPI_SUCCESS != fsbml_kvs_commit()) {
        opal_show_help(FSBML_HELP, "table not published", true, fsbml_node_name());
    }
    free(record);
}

/* The other way round; false if it does not come until the deadline. */
static bool fetch(uint32_t rank, uint64_t deadline, fsbml_pairs_t *pairs, fsbml_table_t *table)
{
    /* The run-time of 4.1 sometimes says at once that there is no such key, and has it a moment later. */
    const struct timespec moment = {.tv_nsec = 20000000};
    const ompi_process_name_t leader = fsbml_pairs_name(rank);
    void *record = NULL;
    size_t len = 0;
    char key[64];
    make_key(key, sizeof(key));
    int rc = fsbml_kvs_get(&leader, key, FSBML_KVS_WAIT, &record, &len);
    for (int i = 0; OMPI_SUCCESS != rc && i < 1000 && fsbml_now_ns() < deadline; ++i) {
        (void) nanosleep(&moment, NULL);
        rc = fsbml_kvs_get(&leader, key, FSBML_KVS_WAIT, &record, &len);
        if (OMPI_SUCCESS == rc) {
            FSBML_VERBOSE(FSBML_V_RAILS, "asked %d times more for the table of rank %u", i + 1, rank);
        }
    }
    if (OMPI_SUCCESS != rc) {
        return false;
    }
    const long head = fsbml_pairs_unpack(pairs, record, len);
    const bool good =
        head > 0 && 0 == fsbml_table_unpack(table, (const char *) record + head, len - (size_t) head);
    if (!good) {
        opal_show_help(FSBML_HELP, "malformed record", true, "table", OMPI_NAME_PRINT(&leader));
    }
    free(record);
    return good;
}

/* Whether the table of a pair's leader is still to be fetched. */
static bool is_needed(const fsbml_pairs_t *pairs, uint32_t i)
{
    uint32_t rails = 0;
    bool seen = false;
    for (uint32_t k = 0; k < pairs->n; ++k) {
        rails += pairs->pair[k].n_rails;
        seen = seen || (k < i && pairs->pair[k].rank[0] == pairs->pair[i].rank[0]);
    }
    /* More rails than a table has room for: then each process has a table of its own ones. */
    return !seen && (rails <= FSBML_MAX_RAILS || 0 != fsbml_pairs_rails(&pairs->pair[i]));
}

/* Adds to the first leader's table what the others have measured. */
static void fetch_others(const fsbml_pairs_t *pairs, uint64_t deadline, fsbml_table_t *table)
{
    fsbml_table_t *part = calloc(1, sizeof(*part));
    fsbml_pairs_t *none = calloc(1, sizeof(*none));
    char missing[256] = "";
    for (uint32_t i = 1; i < pairs->n && NULL != part && NULL != none; ++i) {
        if (!is_needed(pairs, i)) {
            continue;
        }
        const fsbml_pair_t *pair = &pairs->pair[i];
        if (!fetch(pair->rank[0], deadline, none, part)) {
            const size_t used = strlen(missing);
            memset(part, 0, sizeof(*part));
            snprintf(part->reason, sizeof(part->reason),
                     "the parameters that rank %u measured did not arrive", pair->rank[0]);
            snprintf(missing + used, sizeof(missing) - used, "%s%u", used > 0 ? ", " : "", pair->rank[0]);
        }
        (void) fsbml_table_merge(table, part);
    }
    if ('\0' != missing[0]) {
        opal_show_help(FSBML_HELP, "no table", true, fsbml_node_name(), missing);
    }
    free(none);
    free(part);
}

static void tell_digest(void)
{
    const fsbml_table_t *table = fsbml_table();
    if (NULL != table) {
        FSBML_VERBOSE(FSBML_V_RAILS, "the table has %u rails, its digest is %08x", table->n_rails,
                      fsbml_table_digest(table));
    }
}

/* Waits for it. */
static void fetch_table(void)
{
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    opal_mutex_lock(&lock);
    fsbml_table_t *table = NULL == fsbml_table() || partial ? calloc(1, sizeof(*table)) : NULL;
    fsbml_pairs_t *pairs = calloc(1, sizeof(*pairs));
    uint32_t rank;
    if (NULL != table && NULL != pairs) {
        if (!fsbml_pairs_first_leader(&rank)) {
            snprintf(table->reason, sizeof(table->reason), "no two processes share two rails");
        } else if (fetch(rank, fsbml_now_ns() + fsbml_calibrate_limit_ns(0), pairs, table)) {
            uint32_t rounds = 0;
            for (uint32_t i = 0; i < pairs->n; ++i) {
                rounds = pairs->pair[i].round > rounds ? pairs->pair[i].round : rounds;
            }
            fetch_others(pairs, fsbml_now_ns() + fsbml_calibrate_limit_ns(rounds), table);
        } else {
            char missing[16];
            snprintf(missing, sizeof(missing), "%u", rank);
            memset(table, 0, sizeof(*table));
            snprintf(table->reason, sizeof(table->reason), "the measured parameters did not arrive");
            opal_show_help(FSBML_HELP, "no table", true, fsbml_node_name(), missing);
        }
        fsbml_table_apply(table); /* with a reason in place of rails: it is not asked for again */
        partial = false;
        tell_digest();
    }
    free(pairs);
    free(table);
    opal_mutex_unlock(&lock);
}

static struct {
    atomic_bool waits; /* after_init() is registered */
    atomic_bool sends; /* there is a peer: the table is wanted, at the latest then */
    uint64_t since_ns;
} init;

static bool is_in_init(void)
{
    return OMPI_MPI_STATE_INIT_STARTED == ompi_mpi_state;
}

/* MPI_Init ends with a fence, before which the leaders publish their tables. All others wait and poll there,
 * which takes processors that are shared from those that measure: so a process rests, the longer the longer
 * it has waited, until it has something to send. */
static int after_init(void)
{
    enum { SHARE = 16, LONGEST_NS = 50000000 };
    if (is_in_init()) {
        const uint64_t rest = (fsbml_now_ns() - init.since_ns) / SHARE;
        const struct timespec moment = {.tv_nsec = (long) (rest < LONGEST_NS ? rest : LONGEST_NS)};
        if (!atomic_load(&init.sends)) {
            (void) nanosleep(&moment, NULL);
        }
        return 0;
    }
    if (!atomic_exchange(&init.waits, false)) {
        return 0;
    }
    opal_progress_unregister(after_init);
    if (atomic_exchange(&init.sends, false)) {
        fsbml_table_want(FSBML_TABLE_USED);
    }
    return 0;
}

static void wait_for_init(void)
{
    if (is_in_init() && !atomic_exchange(&init.waits, true)) {
        init.since_ns = fsbml_now_ns();
        opal_progress_register(after_init);
    }
}

void fsbml_table_want(fsbml_table_use_t use)
{
    if (FSBML_TABLE_USED == use) {
        atomic_store(&init.sends, true);
    }
    if ((NULL != fsbml_table() && !partial) || !fsbml_calibrated) {
        table_wanted = NULL == fsbml_table();
    } else if (FSBML_TABLE_USED == use && is_in_init()) {
        wait_for_init();
    } else {
        fetch_table();
    }
}

void fsbml_table_fini(void)
{
    table_wanted = false;
    atomic_store(&init.sends, false);
    if (atomic_exchange(&init.waits, false)) {
        opal_progress_unregister(after_init);
    }
}

/* ------------------------------------------------------------- this process */

/* Its part in the measurement. */
static void take_part(const fsbml_pairs_t *pairs)
{
    static const fsbml_pairs_t none;
    const uint32_t me = OMPI_PROC_MY_NAME->vpid;
    fsbml_table_t *all = calloc(2, sizeof(*all));
    bool leads = false;
    if (NULL == all) {
        return;
    }
    fsbml_table_t *table = all + 1;
    for (uint32_t i = 0; i < pairs->n; ++i) { /* by rounds */
        const fsbml_pair_t *pair = &pairs->pair[i];
        if (!fsbml_pairs_is_in(pair)) {
            continue;
        }
        compare_parameters(pair);
        memset(table, 0, sizeof(*table));
        /* The first pair measures whatever connects it: also rails between networks that have two names. */
        fsbml_measurement_begin(0 == i && me == pair->rank[0]);
        fsbml_calibrate_pair(pair, 0 == i ? UINT32_MAX : fsbml_pairs_rails(pair), table);
        if (me != pair->rank[0]) {
            continue;
        }
        FSBML_VERBOSE(FSBML_V_RAILS, "ranks %u and %u have measured %u rails in round %u, in %.0f ms",
                      pair->rank[0], pair->rank[1], table->n_rails, pair->round,
                      (double) table->duration_ns / 1e6);
        if (0 == i) {
            fsbml_measurement_write(table);
        }
        if (leads) {
            (void) fsbml_table_merge(all, table);
        } else {
            *all = *table;
        }
        leads = true;
    }
    if (leads) {
        publish(me == pairs->pair[0].rank[0] ? pairs : &none, all);
    }
    fsbml_calibrate_end();
    free(all);
}

/* The first leader prints the job's rails; where no pair measures, the first rank does. */
static void show(const fsbml_pairs_t *pairs)
{
    const uint32_t me = OMPI_PROC_MY_NAME->vpid;
    if (NULL != pairs && me == pairs->pair[0].rank[0]) {
        listener->show(&pairs->pair[0]);
    } else if (NULL == pairs && 0 == me && mca_bml_fsbml_params.display) {
        fsbml_pairs_t *others = fsbml_pairs_all();
        if (NULL != others && 0 == others->n) {
            listener->show(NULL);
        }
        free(others);
    }
}

void fsbml_calibrate_prepare(void)
{
    fsbml_pairs_t *pairs = !fsbml_calibrated && fsbml_life > 1 ? fsbml_pairs_mine() : NULL;
    for (uint32_t i = 0; NULL != pairs && i < pairs->n; ++i) {
        const fsbml_pair_t *pair = &pairs->pair[i];
        if (fsbml_pairs_is_in(pair)) {
            const ompi_process_name_t partner =
                fsbml_pairs_name(pair->rank[OMPI_PROC_MY_NAME->vpid == pair->rank[0] ? 1 : 0]);
            fsbml_hello_refresh(&partner);
        }
    }
    free(pairs);
}

/* What the others have measured, for processes that need it before MPI_Init returns. All pairs take about the
 * same time: better a little later than too early. */
static void want_all(const fsbml_pairs_t *pairs)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    const bool shows = OMPI_PROC_MY_NAME->vpid == pairs->pair[0].rank[0]
                       && (FSBML_V_TABLE <= fsbml_verbosity || mca_bml_fsbml_params.display);
    bool now = shows || NULL == fsbml_table();
    for (uint32_t i = 1; i < pairs->n; ++i) {
        now = now
              || fsbml_pairs_is_in(&pairs->pair[i]); /* the first pair has measured all of its rails itself */
    }
    if (now) {
        (void) nanosleep(&moment, NULL);
        fsbml_table_want(FSBML_TABLE_SHOWN);
    }
}

void fsbml_calibrate(void)
{
    fsbml_prtt_reset();
    partial = false;
    if (!mca_bml_fsbml_params.measure) {
        fsbml_table_apply_assumed();
        fsbml_calibrated = true;
        if (0 == OMPI_PROC_MY_NAME->vpid) {
            free(mca_bml_fsbml_params.display ? fsbml_pairs_all() : NULL); /* which tells of the hosts */
            listener->show(NULL);
        }
        return;
    }
    fsbml_pairs_t *pairs = fsbml_pairs_mine();
    if (NULL != pairs) {
        take_part(pairs);
        partial = pairs->n > 1;
        if (!partial) {
            tell_digest();
        }
    }
    fsbml_calibrated = true; /* from now on the table can be waited for */
    if (partial) {
        want_all(pairs);
    } else if (table_wanted && NULL == fsbml_table()) {
        fsbml_table_want(FSBML_TABLE_USED);
    }
    show(pairs);
    free(pairs);
    wait_for_init();
}

/* ------------------------------------------------------------ begin and end */

void fsbml_measure_setup(const fsbml_measure_listener_t *l)
{
    static const uint8_t packet[] = {FSBML_PACKET_PRTT,   FSBML_PACKET_PRTT_BACK,   FSBML_PACKET_TABLE,
                                     FSBML_PACKET_READY,  FSBML_PACKET_REQUEST,     FSBML_PACKET_FLOW,
                                     FSBML_PACKET_STREAM, FSBML_PACKET_STREAM_BACK, FSBML_PACKET_RATE};
    listener = l;
    fsbml_pairs_listen(l);
    fsbml_calibrated = partial = false;
    for (size_t i = 0; i < sizeof(packet); ++i) {
        fsbml_packet_handle(packet[i], fsbml_calibrate_packet);
    }
}

void fsbml_measure_teardown(void)
{
    fsbml_table_drop();
    fsbml_cache_forget();
}
