/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters: names, help, levels, and their validation, at registration. */

#include <inttypes.h>
#include <stdio.h>

#include "params/params.h"

#include "opal/mca/base/mca_base_var.h"
#include "opal/util/show_help.h"

mca_bml_fsbml_params_t mca_bml_fsbml_params;

/* What the two processes of a measurement must share is the same everywhere: its scope is ALL_EQ. */

/* Numbers are registered as strings: Open MPI takes "abc" for 0 and "12x" for 12 without a word. */
typedef struct number_t {
    const char *name;
    const char *help;
    uint64_t min, max, fallback;
    mca_base_var_info_lvl_t level;
    mca_base_var_scope_t scope;
    uint64_t value;
    char *text;
} number_t;

/* clang-format off: a line each would hide what belongs together */
enum {
    N_PACKETS,
    N_SIZE_STEP,
    N_SMALL_SIZE,
    N_SAMPLES,
    N_BUDGET,
    N_PROBE_TIMEOUT,
    N_QUANTUM,
    N_MEASURE,
    N_TOGETHER,
    N_PER_PEER,
    N_FEEDBACK,
    N_EPOLL,
    N_PIECES,
    N_FAILOVER,
    N_FAILOVER_WAIT,
    N_VERBOSE,
    N_DISPLAY,
    N_HOLDOUT,
    N_SEED,
    N_TRACE_EVERY,
    N_TRACE_ENTRIES,
    N_NUMBERS
};

/* Without a value yet. */
#define NUMBER(...)          \
    {                        \
        __VA_ARGS__, 0, NULL \
    }

static number_t number[N_NUMBERS] = {
    [N_PACKETS] =
        NUMBER("packets",
               "Maximum messages in one probe of the PRTT benchmark, n of PRTT(n,d,s) (2-1024, default 16)",
               2, 1024, 16, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_SIZE_STEP] = NUMBER(
        "size_step",
        "Minimum bytes between two message sizes that the PRTT benchmark plans; they grow by a factor, and "
        "are closer where the rail's protocol changes (64-1048576, default 2048)",
        64, 1048576, 2048, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_SMALL_SIZE] =
        NUMBER("small_size",
               "Smallest message of the PRTT benchmark, in bytes, but at least its header of 32; measures "
               "overhead and latency (1-4096, default 1)",
               1, 4096, 1, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_SAMPLES] = NUMBER(
        "samples",
        "Wanted repetitions of each probe of the PRTT benchmark; fewer where the parameters are sure before, "
        "or the budget is spent, and up to four times as many where they are not sure (1-1000, default 9)",
        1, 1000, 9, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_BUDGET] = NUMBER(
        "budget",
        "Milliseconds of the measurement at start, for all rails of a pair of nodes: after half of it, nothing that "
        "was disturbed is repeated. Where the PRTT benchmark's report is wanted (bml_fsbml_measurement), the maximum "
        "of one run; plans are made for two fifths (10-60000, default 300)",
        10, 60000, 300, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_PROBE_TIMEOUT] =
        NUMBER("probe_timeout",
               "Milliseconds after which a rail that does not answer, while another rail to the same peer "
               "does, carries no traffic to that peer (10-60000, default 500)",
               10, 60000, 500, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_QUANTUM] = NUMBER(
        "quantum",
        "Largest fragment of a long message, in bytes; 0 = the smallest that still uses every rail well, "
        "from the measured parameters; a multiple of 64 is taken (0, or 1024-1073741824, default 0)",
        0, 1073741824, 0, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY),
    [N_MEASURE] = NUMBER(
        "measure",
        "Whether the rails are measured at start; 0 = they begin with what BTLs and devices say of themselves, "
        "and are learned from what the job sends (bml_fsbml_feedback) (0 or 1, default 1; with bml_fsbml_table "
        "1)",
        0, 1, 1, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_TOGETHER] = NUMBER(
        "together",
        "Whether the interference of rails is measured, all of them at once, to find those that share a link, "
        "a bus or a processor (0 or 1, default 1)",
        0, 1, 1, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_PER_PEER] = NUMBER(
        "per_peer",
        "Whether the extra latency of each peer, by the kernel's round trips of tcp's connections, is added to that "
        "of the pair that measured (0 or 1, default 1; with bml_fsbml_table 0)",
        0, 1, 1, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY),
    [N_EPOLL] = NUMBER(
        "epoll",
        "From so many processes on other nodes on, connections are watched by epoll, below by poll, unless opal_event_include is "
        "set: by poll each connection costs a little, by epoll each message (0 to 1000000, default 3; 0: as Open MPI has it)",
        0, 1000000, 3, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY),
    [N_FEEDBACK] = NUMBER(
        "feedback",
        "Whether the kernel's figures of the rails' connections correct rates and backlogs while the job runs: a rail that "
        "becomes slower or faster gets its share, and small messages do not wait behind bulk (0 or 1, default 1)",
        0, 1, 1, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY),
    [N_FAILOVER] = NUMBER(
        "failover",
        "Whether the job goes on when a rail fails: messages are kept until their peer has acknowledged them, and are sent "
        "again by other rails (0 or 1, default 0)",
        0, 1, 0, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_FAILOVER_WAIT] = NUMBER(
        "failover_wait",
        "Seconds for which messages wait when no rail to their peer works (bml_fsbml_failover); then the job ends. It "
        "ends at once where the network says that all connections are lost (0-86400, default 60)",
        0, 86400, 60, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY),
    [N_PIECES] = NUMBER(
        "pieces",
        "Whether a message of 2 KiB up to the eager limit is sent in pieces over several rails where it arrives a "
        "sixteenth sooner so; not with bml_fsbml_record (0 or 1, default 1)",
        0, 1, 1, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_VERBOSE] = NUMBER(
        "verbose",
        "What to print on stderr: 0 = only errors, 1 = the rail table once a job, 5 = what each process found "
        "at start, and rates that change, 20 = what happens to each peer's paths, 40 = each probe (0-100, default 0)",
        0, 100, 0, OPAL_INFO_LVL_2, MCA_BASE_VAR_SCOPE_READONLY),
    [N_DISPLAY] = NUMBER(
        "display",
        "Whether the job prints on stderr, once and when it starts, its rails, what was measured of them, and which "
        "are left out and why; 2 = also by which rails messages of several sizes would go (0-2, default 0)",
        0, 2, 0, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY),
    [N_HOLDOUT] = NUMBER(
        "holdout",
        "Validation exchanges: of sizes and numbers that were not measured, they test the fit, for the report "
        "(bml_fsbml_measurement); at most what fits into 2 s (0-1000, default 0)",
        0, 1000, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY),
    [N_SEED] = NUMBER(
        "seed",
        "Seed of random choices: the order of the PRTT benchmark's probes, and validation exchanges (bml_fsbml_holdout) "
        "(1-1000000, default 1)",
        1, 1000000, 1, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_ALL_EQ),
    [N_TRACE_EVERY] = NUMBER(
        "trace_every", "Record every Nth decision in the trace (bml_fsbml_trace) (1-1000000000, default 1)",
        1, 1000000000, 1, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY),
    [N_TRACE_ENTRIES] = NUMBER(
        "trace_entries",
        "Maximum decisions in the trace of a process, the latest ones; each takes 32 bytes of memory and 24 for "
        "each rail (1-16777216, default 65536)",
        1, 16777216, 65536, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY),
};
/* clang-format on */

static char *policy_text, *rdma_text, *ledger_text, *cache_text;
static char policy_help[256]; /* filled in at registration: it lists the core's policies */

/* Names and files go into the parameters as they are; words are looked up once all are registered. */
typedef struct string_t {
    const char *name;
    const char *help;
    mca_base_var_info_lvl_t level;
    mca_base_var_scope_t scope;
    char **storage;
    char *fallback; /* NULL: none */
} string_t;

static const string_t string[] = {
    {"policy", policy_help, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY, &policy_text, "arrival"},
    {"rdma",
     "Whether long messages are put and got over all rails instead of sent in fragments: auto = over rails whose hardware "
     "does it, and where the processor feeds no more than one rail; on = wherever a rail offers it; off = "
     "never (default auto)",
     OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ, &rdma_text, "auto"},
    {"include",
     "Comma-separated names of the only rails to use, e.g. eth1,eth2; also addresses, networks, PCI addresses, devices, BTL "
     "components; empty = all",
     OPAL_INFO_LVL_1, MCA_BASE_VAR_SCOPE_LOCAL, &mca_bml_fsbml_params.include, NULL},
    {"exclude",
     "Comma-separated names of rails not to use, e.g. eth0; also as include has them; empty = none",
     OPAL_INFO_LVL_1, MCA_BASE_VAR_SCOPE_LOCAL, &mca_bml_fsbml_params.exclude, NULL},
    {"ledger",
     "Whether the ranks of a node share the backlogs of its rails in shared memory: auto (if the "
     "job has several ranks on the node), on, off (default auto)",
     OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY, &ledger_text, "auto"},
    {"cache",
     "Whether parameters of rails are kept for later jobs between the same nodes, in $XDG_CACHE_HOME/fsbml or "
     "~/.cache/fsbml: off, read (used, if a few probes confirm them), write (and kept, at the end of a job with what it has learnt of them) (default off)",
     OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_ALL_EQ, &cache_text, "off"},
    {"site",
     "Name that stands for the nodes' names in the cache, where all nodes are alike: what was measured between two of them "
     "then holds for all; empty = none",
     OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ, &mca_bml_fsbml_params.site, NULL},
    {"table",
     "File with the parameters of the rails, such as the cache has: they are used as they are, and nothing is measured; "
     "empty = none",
     OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_ALL_EQ, &mca_bml_fsbml_params.table, NULL},
    {"measurement",
     "File for a report of the measurement as JSON: the rails' parameters, how sure they are, what they cost, all samples. "
     "The first of the two processes that measure writes it, on its node (of several pairs, the first's); empty = none",
     OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, &mca_bml_fsbml_params.measurement, NULL},
    {"report",
     "File for the report of the job: what its rails carried, how well that was predicted, what it saved, which rail is to "
     "blame. A page for a browser if the name ends with .html, JSON if with .json, else text; - is stdout. Rank 0 writes it "
     "in MPI_Finalize, on its node; empty = none",
     OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_ALL_EQ, &mca_bml_fsbml_params.report, NULL},
    {"trace",
     "Folder, or beginning of a file's name, for a trace of each process' decisions: time, peer, size, when each rail would "
     "have delivered, choice (RANK.decisions); `./fsbml trace` reads it; empty = none",
     OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY, &mca_bml_fsbml_params.trace, NULL},
    {"record",
     "Folder, or beginning of a file's name, for a record of what each process gives to its rails (RANK.sends), as `./fsbml "
     "whatif` reads it; empty = none",
     OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, &mca_bml_fsbml_params.record, NULL},
};

/* Reads a whole decimal number; false if there is anything else in the text. */
static bool parse(const char *text, uint64_t *value)
{
    if (NULL == text || text[0] < '0' || text[0] > '9') {
        return false;
    }
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (0 != errno || '\0' != *end) {
        return false;
    }
    *value = parsed;
    return true;
}

static bool validate(number_t *n)
{
    bool ok = parse(n->text, &n->value) && n->value >= n->min && n->value <= n->max;
    if (ok && n == &number[N_QUANTUM] && n->value > 0 && n->value < 1024) {
        ok = false;
    }
    if (!ok) {
        opal_show_help(FSBML_HELP, "bad number", true, n->name, NULL != n->text ? n->text : "", n->help);
    }
    return ok;
}

static int register_string(const mca_base_component_t *component, const char *name, const char *help,
                           mca_base_var_info_lvl_t level, mca_base_var_scope_t scope, char **storage)
{
    int rc = mca_base_component_var_register(component, name, help, MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0,
                                             level, scope, storage);
    return rc < 0 ? rc : OMPI_SUCCESS;
}

static bool is_default(const char *name)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    const int index = mca_base_var_find("ompi", "bml", "fsbml", name);
    return index < 0 || OPAL_SUCCESS != mca_base_var_get_value(index, NULL, &source, NULL)
           || MCA_BASE_VAR_SOURCE_DEFAULT == source;
}

static bool refuse(const char *name, const char *text, const char *known)
{
    opal_show_help(FSBML_HELP, "bad word", true, name, NULL != text ? text : "", known);
    return false;
}

/* Sets choice to the place of a word among three. */
static bool validate_choice(const char *name, const char *text, const char *const word[3], int *choice)
{
    char list[64];
    for (int i = 0; i < 3; ++i) {
        if (NULL != text && 0 == strcmp(text, word[i])) {
            *choice = i;
            return true;
        }
    }
    snprintf(list, sizeof(list), "%s, %s, %s", word[0], word[1], word[2]);
    return refuse(name, text, list);
}

/* The variable system frees and clears strings when MPI ends: defaults are set anew each time. */
static int register_all(const mca_base_component_t *component)
{
    static char fallback[N_NUMBERS][24];
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < N_NUMBERS && OMPI_SUCCESS == rc; ++i) {
        number_t *n = &number[i];
        snprintf(fallback[i], sizeof(fallback[i]), "%" PRIu64, n->fallback);
        n->text = fallback[i];
        rc = register_string(component, n->name, n->help, n->level, n->scope, &n->text);
    }
    snprintf(policy_help, sizeof(policy_help),
             "Rule that chooses the rail of a message: %s (default arrival: the rail that delivers it first)",
             fsbml_policy_list());
    for (size_t i = 0; i < sizeof(string) / sizeof(string[0]) && OMPI_SUCCESS == rc; ++i) {
        const string_t *t = &string[i];
        *t->storage = t->fallback;
        rc = register_string(component, t->name, t->help, t->level, t->scope, t->storage);
    }
    return rc;
}

int fsbml_params_register(const mca_base_component_t *component)
{
    mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;

    memset(p, 0, sizeof(*p));
    p->valid = true;
    const int rc = register_all(component);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    p->show_unreach_errors = true;
    (void) mca_base_component_var_register(component, "show_unreach_errors",
                                           "Show an error message when a process cannot be reached",
                                           MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0, OPAL_INFO_LVL_9,
                                           MCA_BASE_VAR_SCOPE_READONLY, &p->show_unreach_errors);

    for (int i = 0; i < N_NUMBERS; ++i) {
        p->valid = validate(&number[i]) && p->valid;
    }
    if (0 != fsbml_policy_parse(NULL != policy_text ? policy_text : "", &p->policy)) {
        p->valid = refuse("policy", policy_text, fsbml_policy_list());
    }
    /* in the order of their types */
    static const char *const when[] = {"auto", "on", "off"}, *const cache_mode[] = {"off", "read", "write"};
    int rdma = FSBML_RDMA_AUTO, ledger = FSBML_LEDGER_AUTO, cache = FSBML_CACHE_OFF;
    p->valid = validate_choice("rdma", rdma_text, when, &rdma) && p->valid;
    p->valid = validate_choice("ledger", ledger_text, when, &ledger) && p->valid;
    p->valid = validate_choice("cache", cache_text, cache_mode, &cache) && p->valid;
    p->cache = (fsbml_cache_mode_t) cache;
    p->rdma = (fsbml_rdma_t) rdma;
    p->ledger = (fsbml_ledger_mode_t) ledger;
    bool has_include = NULL != p->include && '\0' != p->include[0];
    bool has_exclude = NULL != p->exclude && '\0' != p->exclude[0];
    if (has_include && has_exclude) {
        opal_show_help(FSBML_HELP, "include and exclude", true, p->include, p->exclude);
        p->valid = false;
    }
    p->calib.packets = (uint32_t) number[N_PACKETS].value;
    p->calib.size_step = (uint32_t) number[N_SIZE_STEP].value;
    p->calib.small_size = (uint32_t) number[N_SMALL_SIZE].value;
    p->calib.samples = (uint32_t) number[N_SAMPLES].value;
    p->calib.budget_ns = number[N_BUDGET].value * 1000000u;
    p->calib.seed = number[N_SEED].value;
    p->probe_timeout_ns = number[N_PROBE_TIMEOUT].value * 1000000u;
    p->quantum = number[N_QUANTUM].value;
    p->together = 0 != number[N_TOGETHER].value;
    /* The user's own table is used as it is, unless the user says this as well. */
    const bool pinned = NULL != p->table && '\0' != p->table[0];
    p->per_peer = 0 != number[N_PER_PEER].value && (!pinned || !is_default("per_peer"));
    p->measure = 0 != number[N_MEASURE].value || pinned;
    p->feedback = 0 != number[N_FEEDBACK].value;
    p->epoll = (uint32_t) number[N_EPOLL].value;
    p->pieces = 0 != number[N_PIECES].value;
    p->failover = 0 != number[N_FAILOVER].value;
    p->failover_wait_ns = number[N_FAILOVER_WAIT].value * 1000000000u;
    fsbml_verbosity = (int) number[N_VERBOSE].value;
    p->display = (unsigned) number[N_DISPLAY].value;
    p->holdout = (uint32_t) number[N_HOLDOUT].value;
    p->trace_every = (uint32_t) number[N_TRACE_EVERY].value;
    p->trace_entries = (uint32_t) number[N_TRACE_ENTRIES].value;
    return OMPI_SUCCESS;
}

void fsbml_params_agreed(char *buf, size_t len)
{
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    snprintf(buf, len,
             "packets=%u step=%u small=%u samples=%u budget=%" PRIu64 " timeout=%" PRIu64
             " measure=%d together=%d",
             p->calib.packets, p->calib.size_step, p->calib.small_size, p->calib.samples, p->calib.budget_ns,
             p->probe_timeout_ns, p->measure, p->together);
}
