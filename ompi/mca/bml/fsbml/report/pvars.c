/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_T performance variables. One value a rail, in the order of the control variable bml_fsbml_rail_names;
 * there are always FSBML_MAX_RAILS values, those behind the last rail are 0, as a handle may be older than
 * the rails are. What is counted only while it is observed begins with the first handle. */

#include "failover/failover.h"
#include "report/report.h"

#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"

typedef enum value_t {
    RAILS,
    MESSAGES,
    BYTES,
    BUSY,
    KERNEL_BUSY,
    BACKLOG,
    BACKLOG_MAX,
    PASSED_OVER,
    ARRIVALS,
    PREDICTED,
    OBSERVED,
    ERROR_SUM,
    OUT_OF_SERVICE,
    CHANGES,
    FAILURES,
    SENT_AGAIN,
    P_L,
    P_O_S,
    P_O_R,
    P_g,
    P_G,
    P_NOW,
    N_VALUES
} value_t;

typedef struct variable_t {
    const char *name;
    const char *help;
    int class;
    mca_base_var_type_t type;
} variable_t;

#define SUM(name, help)                                                                 \
    {                                                                                   \
        name, help, MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG \
    }
#define COUNT(name, help)                                                             \
    {                                                                                 \
        name, help, MCA_BASE_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG \
    }
#define LEVEL(name, help)                                                           \
    {                                                                               \
        name, help, MCA_BASE_PVAR_CLASS_LEVEL, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG \
    }
#define VALUE(name, help)                                                 \
    {                                                                     \
        name, help, MCA_BASE_PVAR_CLASS_GENERIC, MCA_BASE_VAR_TYPE_DOUBLE \
    }

static const variable_t variable[N_VALUES] = {
    [RAILS] = {"rails", "Rails of this process: so many values of the others are in use",
               MCA_BASE_PVAR_CLASS_LEVEL, MCA_BASE_VAR_TYPE_UNSIGNED_INT},
    [MESSAGES] =
        COUNT("rail_messages", "Messages and fragments given to each rail, the PML's own among them"),
    [BYTES] = SUM("rail_bytes", "Bytes of these, with the PML's headers, without the network's"),
    [BUSY] = SUM("rail_busy_ns", "How long each rail was to be busy with them by the model, in ns"),
    [KERNEL_BUSY] = SUM(
        "rail_kernel_busy_ns",
        "How long this process' TCP connections on each rail had data that was not acknowledged, in ns, by "
        "the kernel; the sum over connections"),
    [BACKLOG] = LEVEL("rail_backlog_ns",
                      "How long each rail still has to do now, in ns: by the model, or less if what has been "
                      "delivered says so; all ranks of the node together where they share an account"),
    [BACKLOG_MAX] = {"rail_backlog_max_ns",
                     "The most that this was right after a message, since the first handle",
                     MCA_BASE_PVAR_CLASS_HIGHWATERMARK, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    [PASSED_OVER] = COUNT("rail_passed_over",
                          "Times that each rail could have had a message and another one got it, since "
                          "the first handle"),
    [ARRIVALS] =
        COUNT("rail_arrivals",
              "Messages whose arrival was found out, by a small question behind them, since the first "
              "handle"),
    [PREDICTED] =
        SUM("rail_arrivals_predicted_ns", "Predicted times of these, from when they were given to the rail"),
    [OBSERVED] = SUM("rail_arrivals_observed_ns",
                     "Observed times of these; not of those that came while this process did not poll"),
    [ERROR_SUM] = SUM("rail_arrivals_error_ns", "Sum of what the two differ by"),
    [OUT_OF_SERVICE] =
        LEVEL("rail_out_of_service", "Peers to which each rail does not lead, although it should"),
    [CHANGES] = COUNT("rail_changes",
                      "Times that each rail has become slower or faster by more than a quarter, and stayed "
                      "so (bml_fsbml_feedback)"),
    [FAILURES] = COUNT("rail_failures",
                       "Times that each rail has failed to some peer while the job ran (bml_fsbml_failover)"),
    [SENT_AGAIN] =
        COUNT("rail_sent_again", "Messages that were sent again by other rails, as each rail had failed"),
    [P_L] = VALUE("rail_L_ns", "Measured latency L in ns; 0: not measured"),
    [P_O_S] = VALUE("rail_o_s_ns", "Measured overhead of the sender o_s in ns"),
    [P_O_R] = VALUE("rail_o_r_ns", "Measured overhead of the receiver o_r in ns"),
    [P_g] = VALUE("rail_g_ns", "Measured gap per message g in ns"),
    [P_G] = VALUE("rail_G_ns_per_byte", "Measured gap per byte G in ns"),
    [P_NOW] = {"rail_now_mbps",
               "What each rail carries now, in Mbit/s of fragments, by what has been delivered; 0: not "
               "watched (bml_fsbml_feedback), or not used yet",
               MCA_BASE_PVAR_CLASS_LEVEL, MCA_BASE_VAR_TYPE_DOUBLE},
};

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT; /* the rails do not go away while they are read */
static bool open_now;
static bool looks, looks_at_arrivals; /* a handle was made, maybe before the rails */
static char *names;                   /* storage of the control variable */
/* Sums never become less, as handles tell what was added: not when a connection goes whose times the kernel
 * knew, nor when the rails go with MPI, and a tool stays. */
static unsigned long long ended[N_VALUES][FSBML_MAX_RAILS], told[N_VALUES][FSBML_MAX_RAILS];

static uint64_t seen(uint32_t r, value_t v)
{
    fsbml_rail_seen_t s = {.passed_over = 0};
    if (NULL != fsbml_observer) {
        fsbml_observer_rail(fsbml_observer, r, &s);
    }
    return BACKLOG_MAX == v   ? s.backlog_max_ns
           : PASSED_OVER == v ? s.passed_over
           : ARRIVALS == v    ? s.arrivals
           : PREDICTED == v   ? s.predicted_ns
           : OBSERVED == v    ? s.observed_ns
                              : s.error_ns;
}

static uint64_t count(uint32_t r, value_t v)
{
    fsbml_rail_counters_t c;
    fsbml_flow_tcp_t tcp;
    fsbml_sched_counters(fsbml_rails.sched, r, &c);
    switch (v) {
    case MESSAGES:
        return c.messages;
    case BYTES:
        return c.bytes;
    case BUSY:
        return c.busy_ns;
    case KERNEL_BUSY:
        return fsbml_flow_tcp(r, &tcp) ? tcp.busy_ns : 0;
    case BACKLOG:
        return fsbml_sched_backlog(fsbml_rails.sched, r, fsbml_now_ns());
    case OUT_OF_SERVICE:
        return fsbml_peers_without(r);
    case CHANGES:
        return fsbml_told_count(r);
    case FAILURES:
        return fsbml_failover_counters(r).failures;
    case SENT_AGAIN:
        return fsbml_failover_counters(r).sent_again;
    default:
        return seen(r, v);
    }
}

static bool is_sum(value_t v)
{
    return MCA_BASE_PVAR_CLASS_COUNTER == variable[v].class
           || MCA_BASE_PVAR_CLASS_AGGREGATE == variable[v].class;
}

/* `now`: 0 once the rail is gone. */
static unsigned long long sum(uint32_t r, value_t v, uint64_t now)
{
    const unsigned long long all = ended[v][r] + now;
    told[v][r] = told[v][r] < all ? all : told[v][r];
    return told[v][r];
}

static double parameter(uint32_t r, value_t v)
{
    fsbml_loggp_t p;
    if (P_NOW == v) {
        const double gap = fsbml_flow_gap(r);
        return gap > 0.0 ? 8e3 / gap : 0.0;
    }
    if (!fsbml_table_params(r, &p)) {
        return 0.0;
    }
    return P_L == v     ? p.L_ns
           : P_O_S == v ? p.o_s_ns
           : P_O_R == v ? p.o_r_ns
           : P_g == v   ? p.g_ns
                        : p.G_ns_per_byte;
}

static int get_value(const mca_base_pvar_t *pvar, void *value, void *object)
{
    const value_t v = (value_t) ((const variable_t *) pvar->ctx - variable);
    (void) object;
    opal_mutex_lock(&lock);
    const uint32_t n = open_now ? fsbml_rails.n_rails : 0;
    if (RAILS == v) {
        *(unsigned *) value = n;
    }
    for (uint32_t r = 0; RAILS != v && r < FSBML_MAX_RAILS; ++r) {
        if (MCA_BASE_VAR_TYPE_DOUBLE == variable[v].type) {
            ((double *) value)[r] = r < n ? parameter(r, v) : 0.0;
        } else {
            const uint64_t now = r < n ? count(r, v) : 0;
            ((unsigned long long *) value)[r] = is_sum(v) ? sum(r, v, now) : now;
        }
    }
    opal_mutex_unlock(&lock);
    return OPAL_SUCCESS;
}

/* A handle's sum is the handle's own: writing it changes no rail. */
static int set_value(mca_base_pvar_t *pvar, const void *value, void *object)
{
    (void) pvar;
    (void) value;
    (void) object;
    return OPAL_SUCCESS;
}

static void begin(void)
{
    if (looks && open_now) {
        (void) fsbml_observe_begin();
    }
    if (looks_at_arrivals && open_now) {
        fsbml_observe_arrivals();
    }
}

static int notify(mca_base_pvar_t *pvar, mca_base_pvar_event_t event, void *object, int *n)
{
    const value_t v = (value_t) ((const variable_t *) pvar->ctx - variable);
    (void) object;
    if (MCA_BASE_PVAR_HANDLE_BIND == event) {
        *n = RAILS == v ? 1 : FSBML_MAX_RAILS;
        opal_mutex_lock(&lock);
        looks = looks || (v >= BACKLOG_MAX && v <= ERROR_SUM);
        looks_at_arrivals = looks_at_arrivals || (v >= ARRIVALS && v <= ERROR_SUM);
        begin();
        opal_mutex_unlock(&lock);
    }
    return OPAL_SUCCESS;
}

int fsbml_pvars_register(const mca_base_component_t *component)
{
    for (int v = 0; v < N_VALUES; ++v) {
        const variable_t *p = &variable[v];
        const bool adds = is_sum((value_t) v);
        const int rc = mca_base_component_pvar_register(
            component, p->name, p->help, OPAL_INFO_LVL_4, p->class, p->type, NULL,
            MCA_BASE_VAR_BIND_NO_OBJECT,
            MCA_BASE_PVAR_FLAG_CONTINUOUS | (adds ? 0 : MCA_BASE_PVAR_FLAG_READONLY), get_value,
            adds ? set_value : NULL, notify, (void *) (uintptr_t) p);
        if (rc < 0) {
            return rc;
        }
    }
    names = NULL; /* the variable system has freed it */
    const int rc = mca_base_component_var_register(
        component, "rail_names",
        "The rails of this process, in the order of the performance variables (set by FSBML)",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, MCA_BASE_VAR_FLAG_DEFAULT_ONLY, OPAL_INFO_LVL_4,
        MCA_BASE_VAR_SCOPE_READONLY, &names);
    return rc < 0 ? rc : OMPI_SUCCESS;
}

void fsbml_pvars_open(void)
{
    char list[FSBML_MAX_RAILS * (FSBML_NAME_MAX + 2)] = "";
    fsbml_rails_names(UINT32_MAX, list, sizeof(list));
    opal_mutex_lock(&lock);
    free(names);
    names = strdup(list);
    open_now = true;
    begin();
    opal_mutex_unlock(&lock);
}

void fsbml_pvars_close(void)
{
    opal_mutex_lock(&lock);
    for (int v = 0; open_now && v < N_VALUES; ++v) {
        for (uint32_t r = 0; is_sum((value_t) v) && r < fsbml_rails.n_rails; ++r) {
            ended[v][r] = sum(r, (value_t) v, count(r, (value_t) v));
        }
    }
    open_now = false;
    opal_mutex_unlock(&lock);
}
