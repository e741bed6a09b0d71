/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job leaves behind of its decisions: each process' trace of them (bml_fsbml_trace), and the report.
 *
 * The report of the job (bml_fsbml_report): each process' summary, gathered at the beginning of MPI_Finalize,
 * while messages still go, along a binomial tree to rank 0, which writes it. A summary is of bounded size,
 * whatever the number of ranks.
 *
 * The hellos say which processes take part, so none waits for a process that was given other parameters. That
 * a process comes late to MPI_Finalize is nothing new to wait for. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include "report/report.h"
#include "send/send.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "opal/util/show_help.h"

#include "api/fsbml_trace.h"

/* No collective operation is under way in MPI_Finalize. */
enum { TAG = MCA_COLL_BASE_TAG_GATHER };

static struct {
    bool wanted, done, traced;
    uint64_t begin_ns, begin_day_ns; /* on the shim's clock, and as the time of the day */
    uint32_t sent_known;             /* of these rails */
    uint64_t sent[FSBML_MAX_RAILS];  /* by the rail's interface, when the measurement was over */
} job;

bool fsbml_job_is_reported(void)
{
    const char *to = mca_bml_fsbml_params.report;
    return NULL != to && '\0' != to[0];
}

void fsbml_job_begin(void)
{
    memset(&job, 0, sizeof(job));
    job.wanted = fsbml_job_is_reported();
    struct timespec day;
    clock_gettime(CLOCK_REALTIME, &day);
    job.begin_ns = fsbml_now_ns();
    job.begin_day_ns = (uint64_t) day.tv_sec * 1000000000u + (uint64_t) day.tv_nsec;
    fsbml_job_measured();
}

uint32_t fsbml_job_number(void)
{
    const char *port = getenv("OMPI_PARENT_PORT"); /* as ompi_dpm_dyn_init() asks */
    return NULL != port && '\0' != port[0] ? OMPI_PROC_MY_NAME->jobid & 0xffff : 0;
}

void fsbml_job_measured(void)
{
    if (job.wanted) {
        job.sent_known = fsbml_kernel_sent((uint32_t) ((UINT64_C(1) << fsbml_rails.n_rails) - 1), job.sent);
    }
}

/* ------------------------------------------------------- this process' summary */

static void add_rail(fsbml_summary_rail_t *to, uint32_t r, bool first_of_node)
{
    const fsbml_rails_t *m = &fsbml_rails;
    fsbml_rail_counters_t counters;
    fsbml_flow_tcp_t tcp;
    uint64_t sent[FSBML_MAX_RAILS];
    memcpy(to->key, m->rail[r].key, sizeof(to->key));
    memcpy(to->name, m->rail[r].name, sizeof(to->name));
    char facts[FSBML_NAME_DETAIL];
    const fsbml_rail_about_t *about = &m->rail[r].about;
    const char *rest = fsbml_name_facts(about, facts); /* begins with a comma if there is something */
    snprintf(to->about, sizeof(to->about), "%s%s", about->address,
             '\0' == about->address[0] && '\0' != rest[0] ? rest + 2 : rest);
    to->far_numa = about->far_numa;
    to->processes = 1;
    fsbml_sched_counters(m->sched, r, &counters);
    to->busy_ns = counters.busy_ns;
    if (NULL != fsbml_observer) {
        fsbml_rail_seen_t seen;
        fsbml_observer_rail(fsbml_observer, r, &seen);
        to->passed_over = seen.passed_over;
        to->backlog_max_ns = seen.backlog_max_ns;
        to->backlog_max_rank = OMPI_PROC_MY_NAME->vpid;
    }
    if (fsbml_flow_tcp(r, &tcp)) {
        to->kernel_busy_ns = tcp.busy_ns;
        to->retransmitted = tcp.retransmitted;
    }
    if (first_of_node && 0 != fsbml_kernel_sent(job.sent_known & fsbml_bit(r), sent)
        && sent[r] >= job.sent[r]) {
        to->interfaces = 1;
        to->interface_bytes = sent[r] - job.sent[r];
    }
}

/* Peers that are farther than measured. */
static void add_peers(fsbml_summary_t *s)
{
    size_t n = 0;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(procs[p]);
        const fsbml_far_t *far = NULL != ep ? atomic_load(&ep->far) : NULL;
        for (uint32_t r = 0; NULL != far && r < fsbml_rails.n_rails; ++r) {
            const uint64_t extra = fsbml_far_ns(far, r);
            if (0 != extra) {
                fsbml_summary_peer_t peer = {
                    .from = OMPI_PROC_MY_NAME->vpid, .to = procs[p]->super.proc_name.vpid, .extra_ns = extra};
                memcpy(peer.rail, fsbml_rails.rail[r].name, sizeof(peer.rail));
                fsbml_summary_add_peer(s, &peer);
            }
        }
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
}

static void add_faults(fsbml_summary_t *s)
{
    const fsbml_fault_t *fault;
    uint32_t more;
    const uint32_t n = fsbml_faults(&fault, &more);
    fsbml_summary_t *one = calloc(1, sizeof(*one)); /* the gravest stay, as when summaries are merged */
    for (uint32_t i = 0; NULL != one && i < n; ++i) {
        fsbml_summary_fault_t *to = &one->fault[0];
        one->n_faults = 1;
        memcpy(to->rail, fault[i].rail, sizeof(to->rail));
        memcpy(to->from, fault[i].from, sizeof(to->from));
        memcpy(to->to, fault[i].to, sizeof(to->to));
        memcpy(to->why, fault[i].why, sizeof(to->why));
        to->kind = FSBML_FAULT_SLOW == fault[i].kind ? FSBML_FAULT_ONLY_SLOW : fault[i].kind;
        fsbml_summary_merge(s, one);
    }
    s->more_faults += more;
    free(one);
}

static fsbml_summary_t *own_summary(void)
{
    const fsbml_rails_t *m = &fsbml_rails;
    const bool first = 0 == fsbml_my_local_rank();
    fsbml_summary_t *s = calloc(1, sizeof(*s));
    if (NULL == s) {
        return NULL;
    }
    s->ranks = fsbml_job_size();
    s->heard =
        0 == m->n_rails || NULL != fsbml_observe_account() ? 1 : 0; /* what was not seen is not nothing */
    s->nodes = first ? 1 : 0;
    s->duration_ns = fsbml_now_ns() - job.begin_ns;
    s->n_rails = m->n_rails;
    s->n_ranks = 1;
    s->rank[0].rank = OMPI_PROC_MY_NAME->vpid;
    snprintf(s->rank[0].node, sizeof(s->rank[0].node), "%s", fsbml_node_name());
    if (first) {
        fsbml_rails_place(); /* once a node, as it may have to look at all of its devices */
    }
    for (uint32_t r = 0; r < m->n_rails; ++r) {
        add_rail(&s->rail[r], r, first);
    }
    if (NULL != fsbml_observe_account()) {
        fsbml_account_add(fsbml_observe_account(), s);
    }
    fsbml_told_changes(&s->changes);
    add_peers(s);
    add_faults(s);
    return s;
}

/* -------------------------------------------------------------- gathering */

static bool takes_part(uint32_t rank)
{
    const ompi_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = rank};
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    const bool does =
        NULL != hello && 0 == fsbml_hello_fetch(&name, hello) && (hello->flags & FSBML_HELLO_REPORT);
    free(hello);
    return does;
}

static void receive(fsbml_summary_t *into, uint32_t from, void *buffer, size_t room)
{
    ompi_status_public_t status;
    fsbml_summary_t *other = calloc(1, sizeof(*other));
    if (OMPI_SUCCESS
            == MCA_PML_CALL(
                recv(buffer, room, &ompi_mpi_byte.dt, (int) from, TAG, &ompi_mpi_comm_world.comm, &status))
        && NULL != other) {
        if (0 == fsbml_summary_unpack(other, buffer, status._ucount)) {
            fsbml_summary_merge(into, other);
        } else if (status._ucount > 0) {
            const ompi_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = from};
            opal_show_help(FSBML_HELP, "malformed record", true, "summary", OMPI_NAME_PRINT(&name));
        }
    }
    free(other);
}

/* True if this process has them all: it is rank 0. `s` is NULL where there was no memory: others do not wait
 * for it. */
static bool gather(fsbml_summary_t *s)
{
    const uint32_t me = OMPI_PROC_MY_NAME->vpid, n = fsbml_job_size();
    const size_t room = fsbml_summary_packed_max();
    void *buffer = NULL != s ? malloc(room) : NULL;
    for (uint32_t bit = 1; bit < n; bit <<= 1) {
        if (0 != (me & bit)) {
            const uint32_t parent = me - bit;
            if (takes_part(parent)) {
                const long len = NULL != buffer ? fsbml_summary_pack(s, buffer, room) : 0;
                (void) MCA_PML_CALL(send(buffer, len > 0 ? (size_t) len : 0, &ompi_mpi_byte.dt, (int) parent,
                                         TAG, MCA_PML_BASE_SEND_STANDARD, &ompi_mpi_comm_world.comm));
            }
            break;
        }
        if (NULL != buffer && me + bit < n && takes_part(me + bit)) {
            receive(s, me + bit, buffer, room);
        }
    }
    free(buffer);
    return NULL != s && 0 == me;
}

/* ---------------------------------------------------------------- the report */

/* A job that another one has spawned has its parameters, and MPI may begin a second time: neither replaces
 * the report that is there. report.html then is report.spawned2.html, or report.life2.html. */
static void report_path(char path[OPAL_PATH_MAX])
{
    const char *name = mca_bml_fsbml_params.report, *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    const bool again = fsbml_life > 1;
    char tag[48] = "";
    dot = NULL == dot || (NULL != slash && dot < slash) ? name + strlen(name) : dot;
    if (0 != fsbml_job_number()) {
        snprintf(tag, sizeof(tag), ".spawned%u", (unsigned) fsbml_job_number());
    }
    if (again) {
        snprintf(tag + strlen(tag), sizeof(tag) - strlen(tag), ".life%u", (unsigned) fsbml_life);
    }
    snprintf(path, OPAL_PATH_MAX, "%.*s%s%s", (int) (dot - name), name, 0 == strcmp(name, "-") ? "" : tag,
             dot);
}

static void write_report(const fsbml_summary_t *s)
{
    char version[32], ended[40], reason[FSBML_REASON_MAX] = "", path[OPAL_PATH_MAX];
    const time_t now = time(NULL);
    struct tm utc;
    snprintf(version, sizeof(version), "%d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
             OMPI_RELEASE_VERSION);
    (void) strftime(ended, sizeof(ended), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &utc));
    const fsbml_job_t all = {.summary = s,
                             .table = fsbml_table(),
                             .program = program_invocation_short_name,
                             .openmpi = version,
                             .policy = fsbml_policy_name(mca_bml_fsbml_params.policy),
                             .ended = ended};
    report_path(path);
    const int rc = fsbml_job_report_store(path, &all, reason);
    if (0 != rc) {
        opal_show_help(FSBML_HELP, "report not written", true, path, fsbml_node_name(),
                       '\0' != reason[0] ? reason : strerror(-rc));
    }
}

/* ----------------------------------------------------------------- the trace */

static void write_trace(void)
{
    const fsbml_rails_t *m = &fsbml_rails;
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    char path[OPAL_PATH_MAX] = "", reason[FSBML_REASON_MAX] = "";
    fsbml_trace_t *t = calloc(1, sizeof(*t));
    fsbml_changes_t *changes = calloc(1, sizeof(*changes));
    int rc = -ENOMEM;
    if (NULL != t && NULL != changes
        && 0
               == (rc = fsbml_record_name(p->trace, OMPI_PROC_MY_NAME->vpid, fsbml_job_number(), fsbml_life,
                                          "decisions", path, sizeof(path)))) {
        *t = (fsbml_trace_t){.rank = OMPI_PROC_MY_NAME->vpid,
                             .ranks = fsbml_job_size(),
                             .node = fsbml_node_name(),
                             .policy = p->policy,
                             .trace_every = p->trace_every,
                             .n_rails = m->n_rails,
                             .origin_ns = job.begin_ns,
                             .origin_day_ns = job.begin_day_ns,
                             .observer = fsbml_observer,
                             .changes = changes};
        fsbml_told_changes(changes);
        for (uint32_t r = 0; r < m->n_rails; ++r) {
            fsbml_rail_counters_t counters;
            fsbml_sched_counters(m->sched, r, &counters);
            t->messages += counters.messages;
            t->name[r] = m->rail[r].name;
            t->key[r] = m->rail[r].key;
            t->measured[r] = m->rail[r].measured;
            t->model[r] = m->rail[r].model;
        }
        rc = fsbml_trace_store(path, t, reason);
    }
    free(changes);
    free(t);
    if (0 != rc) {
        opal_show_help(FSBML_HELP, "trace not written", true, '\0' != path[0] ? path : p->trace,
                       fsbml_node_name(), '\0' != reason[0] ? reason : strerror(-rc));
    }
}

void fsbml_job_learnt(void)
{
    double gap[FSBML_MAX_RAILS];
    fsbml_told_lasting(gap);
    fsbml_cache_learn(gap);
}

void fsbml_job_tell(bool together)
{
    const char *trace = mca_bml_fsbml_params.trace;
    if (NULL != trace && '\0' != trace[0] && NULL != fsbml_observer && !job.traced) {
        job.traced = true;
        write_trace();
    }
    if (!job.wanted || job.done) {
        return;
    }
    job.done = true;
    fsbml_table_want(FSBML_TABLE_SHOWN); /* a job that sent nothing has not asked for it */
    fsbml_summary_t *s = own_summary();
    if (together ? gather(s) : NULL != s && 0 == OMPI_PROC_MY_NAME->vpid) {
        write_report(s);
    }
    free(s);
}
