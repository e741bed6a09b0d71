/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The BML module: Open MPI's interface, BTLs that come and go, start and end. */

#include "bml_fsbml.h"
#include "compat/events.h"
#include "failover/failover.h"
#include "pieces/pieces.h"
#include "report/report.h"

#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

/* -------------------------------------------------------------------- BTLs */

/* What del_btl and add_btl change while messages are under way, and what they leave:
 *
 * - A rail leaves all masks at once, so that nothing new takes it. What was given to it is its BTL's to
 * deliver: the BTL's progress function runs on, its receive callbacks stay, and so does the path, to which
 * unsent descriptors lead. Those are pending when they are sent, and copied to a live rail.
 * - ob1 may have made descriptors by the present limits which are still to be sent, or moved to any other
 * rail, also one that comes back. Limits may therefore never exceed what each rail of the group can do,
 * removed or not: eager limit, largest fragment and flags stay. They are the least of the group's, so a
 * removal could only have raised them.
 * - The quantum is a matter of speed alone. ob1 asks for it before each fragment, and a receiver takes
 * fragments of any size, so it follows the rails that are left. */

static mca_bml_fsbml_path_t *path_of(mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl)
{
    return NULL != ep ? fsbml_path_over(ep, btl) : NULL;
}

/* The lists of a peer whose BTLs the PML sees. One BTL must stay: ob1 takes the next of a list without
 * looking whether there is any. */
static int remove_plain(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep, mca_btl_base_module_t *btl)
{
    if (1 == mca_bml_base_btl_array_get_size(&bml_ep->btl_send)
        && btl == mca_bml_base_btl_array_get_index(&bml_ep->btl_send, 0)->btl) {
        char *peer = fsbml_proc_host(proc);
        opal_show_help(FSBML_HELP, "only btl to a process", true,
                       btl->btl_component->btl_version.mca_component_name, fsbml_node_name(),
                       OMPI_NAME_PRINT(&proc->super.proc_name), peer);
        free(peer);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    mca_bml_base_btl_array_remove(&bml_ep->btl_send, btl);
    mca_bml_base_btl_array_remove(&bml_ep->btl_eager, btl);
    if (0
        == mca_bml_base_btl_array_get_size(
            &bml_ep->btl_eager)) { /* it had the least latency: another has now */
        *mca_bml_base_btl_array_insert(&bml_ep->btl_eager) =
            *mca_bml_base_btl_array_get_index(&bml_ep->btl_send, 0);
    }
    return OMPI_SUCCESS;
}

static int del_proc_btl(struct ompi_proc_t *proc, struct mca_btl_base_module_t *btl)
{
    mca_bml_base_endpoint_t *bml_ep = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    if (NULL == bml_ep) {
        return OMPI_SUCCESS;
    }
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
    mca_bml_fsbml_path_t *path = path_of(ep, btl);
    int rc = OMPI_SUCCESS;
    if (NULL != path) {
        fsbml_path_remove(
            ep, path); /* the pseudo BTL's entry stays in the lists: it stands for the rails that are left */
        fsbml_held_release(ep);
    } else if (NULL == ep) {
        rc = remove_plain(proc, bml_ep, btl);
    }
    if (OMPI_SUCCESS == rc) {
        mca_bml_base_btl_array_remove(&bml_ep->btl_rdma, btl);
        if (NULL != ep
            && NULL != ep->rdma) { /* it may have moved up; what is under way finds it where it was, too */
            ep->rdma = mca_bml_base_btl_array_find(&bml_ep->btl_rdma, &ep->group->pseudo);
        }
    }
    return rc;
}

/* Does one thing for all processes that Open MPI knows. */
static void for_all_procs(void (*fn)(ompi_proc_t *, mca_btl_base_module_t *), mca_btl_base_module_t *btl)
{
    size_t n = 0;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        fn(procs[p], btl);
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
}

static void note_rail(const mca_btl_base_module_t *btl, bool gone)
{
    const int rail = fsbml_rail_of(btl);
    if (rail >= 0) {
        mca_bml_fsbml_group_t *group = fsbml_rails.rail[rail].group;
        const uint32_t bit = fsbml_bit((uint32_t) rail);
        (void) (gone ? atomic_fetch_or(&group->gone, bit) : atomic_fetch_and(&group->gone, ~bit));
        fsbml_limits_apply_quantum();
    }
}

static void forget_btl(ompi_proc_t *proc, mca_btl_base_module_t *btl)
{
    (void) del_proc_btl(proc, btl);
}

static int del_btl(struct mca_btl_base_module_t *btl)
{
    fsbml_rails_t *m = &fsbml_rails;
    size_t at = 0;
    while (at < m->n_btls && m->btls[at] != btl) {
        ++at;
    }
    if (at == m->n_btls) {
        return OMPI_SUCCESS;
    }
    if (1 == m->n_btls) {
        opal_show_help(FSBML_HELP, "last btl", true, btl->btl_component->btl_version.mca_component_name,
                       fsbml_node_name());
        return OMPI_ERR_NOT_AVAILABLE;
    }
    for_all_procs(forget_btl, btl);
    note_rail(btl, true);
    memmove(&m->btls[at], &m->btls[at + 1], (m->n_btls - at - 1) * sizeof(m->btls[0]));
    memmove(&m->btl_key[at], &m->btl_key[at + 1], (m->n_keys - at - 1) * sizeof(m->btl_key[0]));
    m->n_btls--;
    m->n_keys--;
    return OMPI_SUCCESS;
}

/* Brings a rail back to a peer: the path is there since the peer was added, or is made now; it must be proved
 * again. */
static void revive_btl(ompi_proc_t *proc, mca_btl_base_module_t *btl)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(proc);
    int rail = fsbml_rail_of(btl);
    if (NULL == ep || rail < 0 || fsbml_rails.rail[rail].group != ep->group) {
        return;
    }
    mca_bml_fsbml_path_t *path = path_of(ep, btl);
    if (NULL == path) {
        mca_bml_base_btl_t entry = {.btl = btl, .btl_flags = fsbml_btl_flags(btl)};
        if (OPAL_SUCCESS != btl->btl_add_procs(btl, 1, (opal_proc_t **) &proc, &entry.btl_endpoint, NULL)
            || NULL == entry.btl_endpoint
            || OMPI_SUCCESS != fsbml_endpoint_add_path(ep, &entry, (uint32_t) rail)) {
            return;
        }
        path = path_of(ep, btl);
    } else if (0 != (atomic_load(&ep->possible) & fsbml_bit(path->rail))) {
        return; /* in use, or being proved */
    }
    fsbml_ask_return(ep, path);
}

static int add_btl(struct mca_btl_base_module_t *btl)
{
    fsbml_rails_t *m = &fsbml_rails;
    for (size_t i = 0; i < m->n_btls; ++i) {
        if (m->btls[i] == btl) {
            for_all_procs(revive_btl, btl); /* single peers may have lost it */
            return OMPI_SUCCESS;
        }
    }
    /* Which BTLs can share a peer is settled when MPI starts; one that was a rail then can come back. */
    const int rail = fsbml_rail_of(btl);
    if (rail < 0) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    size_t at = 0;
    while (at < m->n_btls && m->btls[at]->btl_exclusivity >= btl->btl_exclusivity) {
        ++at;
    }
    memmove(&m->btls[at + 1], &m->btls[at], (m->n_btls - at) * sizeof(m->btls[0]));
    memmove(&m->btl_key[at + 1], &m->btl_key[at], (m->n_keys - at) * sizeof(m->btl_key[0]));
    m->btls[at] = btl;
    memcpy(m->btl_key[at], m->rail[rail].key, sizeof(m->btl_key[at]));
    m->n_btls++;
    m->n_keys++;
    fsbml_progress_start(btl, true);
    note_rail(btl, false);
    for_all_procs(revive_btl, btl);
    return OMPI_SUCCESS;
}

/* ------------------------------------------------------ callbacks and the end */

static int register_recv(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data)
{
    return fsbml_recv_register(tag, cbfunc, data);
}

static void check_files(void)
{
    uint64_t made = 0; /* connections */
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        fsbml_flow_tcp_t tcp;
        made += fsbml_flow_tcp(i, &tcp) ? tcp.connections : 0;
    }
    fsbml_files_check(made);
}

/* The PML registers its error handler last: now every receive callback is in place, so that a message which
 * overtakes the measurement finds its owner. */
static int register_error(mca_btl_base_module_error_cb_fn_t cbfunc)
{
    int rc = fsbml_recv_register_error(cbfunc);
    if (OMPI_SUCCESS == rc && !fsbml_calibrated) {
        fsbml_calibrate();
        fsbml_job_measured();
        check_files();
        fsbml_calibrated = true;
        if (fsbml_cache_table_refused()) {
            rc = OMPI_ERR_BAD_PARAM; /* as with any other parameter that cannot be used */
        }
    }
    return rc;
}

static int finalize(void)
{
    fsbml_job_learnt();
    fsbml_job_tell(false); /* a program with sessions alone */
    fsbml_pvars_close();   /* a tool's thread may still read, also of endpoints */
    fsbml_proof_fini();
    fsbml_table_fini();
    fsbml_files_forget();
    fsbml_progress_stop();
    /* Peers that the PML did not delete keep their endpoints in ompi_proc_t: take FSBML's part out of
     * them. */
    size_t n = 0;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        mca_bml_base_endpoint_t *ep = procs[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
        if (NULL != ep && NULL != fsbml_endpoint_of(ep)) {
            fsbml_endpoint_release(ep);
            mca_bml_base_btl_array_set_size(&ep->btl_eager, 0);
            mca_bml_base_btl_array_set_size(&ep->btl_send, 0);
        }
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
    fsbml_tear_down();
    fsbml_closing_fini();
    return OMPI_SUCCESS;
}

mca_bml_base_module_t mca_bml_fsbml;

void fsbml_module_construct(void)
{
    ++fsbml_life;
    fsbml_faults_reset();
    mca_bml_fsbml = (mca_bml_base_module_t){
        .bml_add_proc = fsbml_add_proc,
        .bml_add_procs = fsbml_add_procs,
        .bml_del_procs = fsbml_del_procs,
        .bml_add_btl = add_btl,
        .bml_del_btl = del_btl,
        .bml_del_proc_btl = del_proc_btl,
        .bml_register = register_recv,
        .bml_register_error = register_error,
        .bml_finalize = finalize,
    };
    FSBML_NO_CHECKPOINTS(&mca_bml_fsbml);
}

/* ------------------------------------------------------------ the rooms' life */

static bool has_connections(void)
{
    uint32_t i = 0;
    while (i < fsbml_rails.n_rails && !fsbml_socket_is_possible(fsbml_rails.rail[i].btl)) {
        ++i;
    }
    return i < fsbml_rails.n_rails;
}

int fsbml_set_up(void)
{
    int rc = fsbml_rails_setup();
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    fsbml_events_look(has_connections());
    fsbml_events_set_aside();
    fsbml_tcp_view(&fsbml_peers_tcp);
    fsbml_peers_setup();
    fsbml_send_setup();
    fsbml_failover_setup();
    fsbml_pieces_setup();
    fsbml_measure_setup(&fsbml_report_measuring);
    fsbml_report_setup();
    return fsbml_proof_init(); /* from here on peers may ask */
}

void fsbml_tear_down(void)
{
    fsbml_report_teardown();
    fsbml_pieces_teardown();
    fsbml_failover_teardown();
    fsbml_send_teardown();
    fsbml_measure_teardown();
    fsbml_rails_teardown();
    fsbml_events_look(false);
}
