/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The MCA component: its name and version, when it runs, when it declines. */

#define _GNU_SOURCE
#include <dlfcn.h>

#include "bml_fsbml.h"
#include "compat/events.h"
#include "failover/failover.h"
#include "pieces/pieces.h"
#include "report/report.h"

#include "ompi/mca/hook/base/base.h"
#include "ompi/mca/mca.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/util/output.h"
#include "opal/util/show_help.h"

static int component_register(void);
static int component_open(void);
static int component_close(void);
static mca_bml_base_module_t *component_init(int *priority, bool progress_threads, bool mpi_threads);

mca_bml_base_component_t mca_bml_fsbml_component = {
    .bml_version =
        {
            FSBML_BML_VERSION,
            .mca_component_name = "fsbml",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
            .mca_open_component = component_open,
            .mca_close_component = component_close,
            .mca_register_component_params = component_register,
        },
    .bml_data = {.param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .bml_init = component_init,
};
#ifdef MCA_BASE_COMPONENT_INIT
MCA_BASE_COMPONENT_INIT(ompi, bml, fsbml) /* how 6.0 finds it inside of libmpi */
#endif

/* What MPI gets in place of a module when FSBML was asked for and cannot run, and has said why: every call
 * fails, and so MPI_Init does. Without any module at all, ob1 of 4.1 would call a null pointer. The room
 * behind it is for an Open MPI whose module is larger than that of the headers. */
static int refuse_proc(struct ompi_proc_t *proc)
{
    (void) proc;
    return OMPI_ERR_NOT_AVAILABLE;
}

static int refuse_procs(size_t n, struct ompi_proc_t **procs, struct opal_bitmap_t *reachable)
{
    (void) n;
    (void) procs;
    (void) reachable;
    return OMPI_ERR_NOT_AVAILABLE;
}

static int nothing_to_delete(size_t n, struct ompi_proc_t **procs)
{
    (void) n;
    (void) procs;
    return OMPI_SUCCESS;
}

static int refuse_recv(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t fn, void *data)
{
    (void) tag;
    (void) fn;
    (void) data;
    return OMPI_ERR_NOT_AVAILABLE;
}

static int refuse_error(mca_btl_base_module_error_cb_fn_t fn)
{
    (void) fn;
    return OMPI_ERR_NOT_AVAILABLE;
}

static int nothing_to_finalize(void)
{
    return OMPI_SUCCESS;
}

static union {
    mca_bml_base_module_t module;
    void *room[32];
} refusal = {.module = {
                 .bml_component = &mca_bml_fsbml_component,
                 .bml_add_proc = refuse_proc,
                 .bml_add_procs = refuse_procs,
                 .bml_del_procs = nothing_to_delete,
                 .bml_register = refuse_recv,
                 .bml_register_error = refuse_error,
                 .bml_finalize = nothing_to_finalize,
             }};

/* True if the user named this component: it never runs by default. */
static bool was_asked_for(void)
{
    const char *selection = ompi_bml_base_framework.framework_selection;
    if (NULL == selection || '^' == selection[0]) {
        return false;
    }
    for (const char *p = selection; NULL != (p = strstr(p, "fsbml")); p += 5) {
        bool begins = (p == selection || ',' == p[-1] || ' ' == p[-1]);
        bool ends = ('\0' == p[5] || ',' == p[5] || ' ' == p[5]);
        if (begins && ends) {
            return true;
        }
    }
    return false;
}

/* A DSO in a user's folder has its help texts beside it. */
static void find_help(void)
{
    Dl_info info;
    char dir[4096];
    if (0 == dladdr((const void *) component_register, &info) || NULL == info.dli_fname) {
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    if (NULL != slash && (size_t) (slash - info.dli_fname) < sizeof(dir)) {
        memcpy(dir, info.dli_fname, (size_t) (slash - info.dli_fname));
        dir[slash - info.dli_fname] = '\0';
        opal_show_help_add_dir(dir);
    }
    if (was_asked_for()) {
        /* MPI can start again in this process (sessions), and must find FSBML's count of its lives: stay
         * loaded. */
        (void) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

static int component_register(void)
{
    if (!fsbml_version_fits()) {
        return OMPI_SUCCESS; /* component_init says so, if FSBML is asked for */
    }
    find_help();
    const int rc = fsbml_pvars_register(&mca_bml_fsbml_component.bml_version);
    return OMPI_SUCCESS == rc ? fsbml_params_register(&mca_bml_fsbml_component.bml_version) : rc;
}

/* MPI_Init ends, by whatever PML. Those that are not ob1 do not ask for a BML. */
static void init_ends(int argc, char **argv, int requested, int *provided)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    (void) argc;
    (void) argv;
    (void) requested;
    (void) provided;
    if (0 != strcmp("ob1", pml) && 0 == OMPI_PROC_MY_NAME->vpid) {
        opal_show_help(FSBML_HELP, "another pml", true, pml);
    }
}

static ompi_hook_base_component_t hook = {.hookm_mpi_init_bottom = init_ends};
static bool hooked;

static int component_open(void)
{
    /* in ompi_info there is no MPI_Init */
    hooked = was_asked_for() && OMPI_MPI_STATE_INIT_STARTED == ompi_mpi_state
             && OMPI_SUCCESS == ompi_hook_base_register_callbacks(&hook);
    return OMPI_SUCCESS;
}

static int component_close(void)
{
    /* where MPI_T had it open longer than MPI was, the list of hooks is gone */
    if (hooked && ompi_mpi_state < OMPI_MPI_STATE_FINALIZE_COMPLETED) {
        (void) ompi_hook_base_deregister_callbacks(&hook);
    }
    hooked = false;
    fsbml_events_close();
    fsbml_closing_fini(); /* if the module was not finalized, the hook must not outlive this DSO */
    return OMPI_SUCCESS;
}

/* r2 selects the BTLs in its own init. Two components that do so would initialise every BTL twice. */
static bool is_beside_another(void)
{
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, &ompi_bml_base_framework.framework_components, mca_base_component_list_item_t)
    {
        if (item->cli_component != &mca_bml_fsbml_component.bml_version) {
            opal_show_help(FSBML_HELP, "beside another", true, ompi_bml_base_framework.framework_selection,
                           item->cli_component->mca_component_name, item->cli_component->mca_component_name);
            return true;
        }
    }
    return false;
}

static uint32_t hello_flags(void)
{
    return (fsbml_rdma_in_use() ? FSBML_HELLO_RDMA : 0) | (fsbml_failover_is_on() ? FSBML_HELLO_FRAMES : 0)
           | (fsbml_pieces_are_on() ? FSBML_HELLO_PIECES : 0)
           | (fsbml_job_is_reported() ? FSBML_HELLO_REPORT : 0);
}

static void watch_connections(void)
{
    const uint32_t elsewhere = fsbml_job_size() - fsbml_job_local_size(), many = mca_bml_fsbml_params.epoll;
    if (0 != many && elsewhere > 0) {
        (void) fsbml_events_watch(elsewhere < many ? "poll" : "epoll");
    }
}

static void finalize_has_begun(void)
{
    fsbml_proof_tell(); /* before the report, which has it as well */
    fsbml_job_learnt();
    fsbml_job_tell(true); /* as long as all can be talked to */
}

static mca_bml_base_module_t *component_init(int *priority, bool progress_threads, bool mpi_threads)
{
    if (!was_asked_for()) {
        return NULL;
    }
    /* FSBML uses Open MPI's internal structures, which may change with every release: it runs only with the
     * very version that it was compiled for. Beside another BML component, that one does the work. */
    if (!fsbml_version_fits() && 1 == opal_list_get_size(&ompi_bml_base_framework.framework_components)) {
        mca_bml_base_module_t *other =
            fsbml_fall_back(&mca_bml_fsbml_component, progress_threads, mpi_threads);
        *priority = 110;
        return NULL != other ? other : &refusal.module;
    }
    if (!fsbml_version_fits() || is_beside_another()) {
        return NULL;
    }
    *priority = 110;
    if (!mca_bml_fsbml_params.valid /* told when they were read */) {
        return &refusal.module;
    }
    fsbml_pairing_order();
    watch_connections();
    if (OMPI_SUCCESS != mca_btl_base_select(progress_threads, mpi_threads)) {
        return &refusal.module;
    }
    fsbml_module_construct();
    mca_bml_fsbml.bml_component = &mca_bml_fsbml_component;
    /* Peers that are ahead of this process may ask at once, and also where it has one rail only. */
    if (OMPI_SUCCESS != fsbml_set_up() || OMPI_SUCCESS != fsbml_hello_publish(hello_flags())) {
        fsbml_tear_down();
        return &refusal.module;
    }
    fsbml_onesided_init();
    fsbml_closing_init(finalize_has_begun);
    FSBML_VERBOSE(FSBML_V_RAILS, "%s hooks, Open MPI %d.%d.%d, %u rails in %u groups", fsbml_hooks_name,
                  OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION, fsbml_rails.n_rails,
                  fsbml_rails.n_groups);
    return &mca_bml_fsbml;
}
