/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's ledger: where its file is, which processes join it. A ledger is of one job, one life of MPI, one
 * node and one user; spawned processes are another job, and have another ledger. */

#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "rails/rails.h"

#include "opal/mca/base/mca_base_var.h"
#include "opal/util/show_help.h"

static fsbml_ledger_t *ledger; /* NULL: the scheduler's state is this process' own */

static bool usable(const char *folder)
{
    struct statvfs fs;
    return NULL != folder && 0 == access(folder, W_OK | X_OK) && 0 == statvfs(folder, &fs) && fs.f_bavail > 0;
}

/* Where Open MPI has its own shared memory: the user may have chosen that. */
static const char *shared_memory_folder(void)
{
    char **chosen = NULL;
    int var = mca_base_var_find("opal", "btl", FSBML_SM_BTL, "backing_directory");
    if (var >= 0 && OPAL_SUCCESS == mca_base_var_get_value(var, &chosen, NULL, NULL) && NULL != chosen
        && usable(*chosen)) {
        return *chosen;
    }
    return usable("/dev/shm") ? "/dev/shm" : opal_process_info.job_session_dir;
}

/* CLOCK_MONOTONIC differs between time namespaces; 0 where the kernel has none. */
static uint64_t clock_id(void)
{
    struct stat st;
    return 0 == stat("/proc/self/ns/time", &st) ? st.st_ino : 0;
}

/* A rail to all ranks of the node: network and interface. */
static int share(void)
{
    fsbml_rails_t *m = &fsbml_rails;
    char text[FSBML_MAX_RAILS][2 * FSBML_NAME_MAX];
    const char *keys[FSBML_MAX_RAILS];
    for (uint32_t i = 0; i < m->n_rails; ++i) {
        snprintf(text[i], sizeof(text[i]), "%s %s", m->rail[i].key, m->rail[i].name);
        keys[i] = text[i];
    }
    return fsbml_sched_share(m->sched, ledger, keys);
}

void fsbml_ledger_join(void)
{
    fsbml_rails_t *m = &fsbml_rails;
    const fsbml_ledger_mode_t mode = mca_bml_fsbml_params.ledger;
    if (NULL == m->sched || FSBML_LEDGER_OFF == mode
        || (FSBML_LEDGER_AUTO == mode && fsbml_job_local_size() < 2)) {
        return;
    }
    char path[4096], reason[FSBML_REASON_MAX] = "there is no folder for shared memory";
    const char *folder = shared_memory_folder();
    const int len = snprintf(path, sizeof(path), "%s/fsbml_ledger.%s.%lu.%x.%u", NULL != folder ? folder : "",
                             fsbml_node_name(), (unsigned long) geteuid(),
                             (unsigned) OMPI_PROC_MY_NAME->jobid, fsbml_life);
    if (NULL != folder && len > 0 && (size_t) len < sizeof(path)) {
        const fsbml_ledger_config_t config = {.path = path,
                                              .now_ns = fsbml_now_ns(),
                                              .clock_id = clock_id(),
                                              .members = fsbml_job_local_size()};
        fsbml_remove_at_end(path); /* before it is there: no moment in which a killed job leaves it */
        ledger = fsbml_ledger_open(&config, reason);
    }
    if (NULL != ledger && 0 != share()) {
        snprintf(reason, sizeof(reason), "there is no room left in it for the rails of this process");
        fsbml_ledger_leave();
    }
    if (NULL == ledger) {
        opal_show_help(FSBML_HELP, "no ledger", true, fsbml_node_name(), path, reason);
        return;
    }
    FSBML_VERBOSE(FSBML_V_RAILS, "rails are shared with the ranks of this node: %u of %u so far, in %s",
                  fsbml_ledger_joined(ledger), fsbml_job_local_size(), path);
}

void fsbml_ledger_leave(void)
{
    fsbml_ledger_close(ledger);
    ledger = NULL;
}
