/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's set-up and teardown, and how both ends of a connection agree on frames. */

#include "failover/failover.h"

#include "opal/runtime/opal_progress.h"

static bool is_on, ignores_pipe;
static fsbml_delivery_limits_t limits;

bool fsbml_failover_is_on(void)
{
    return is_on;
}

/* ------------------------------------------------------------------- peers */

static uint64_t life_of(const ompi_process_name_t *name)
{
    return (uint64_t) name->jobid << 32 ^ (uint64_t) name->vpid << 8 ^ fsbml_life;
}

static bool is_before(const ompi_process_name_t *a, const ompi_process_name_t *b)
{
    return a->jobid != b->jobid ? a->jobid < b->jobid : a->vpid < b->vpid;
}

/* Whether both ends make and understand frames; *paths: how many of them the end that counts has. */
static bool agree(const mca_bml_fsbml_endpoint_t *ep, bool counts, uint32_t *paths)
{
    const ompi_process_name_t *peer = &ep->proc->super.proc_name;
    if (ep->capacity < 2) {
        return false;
    }
    fsbml_hello_t *hello = malloc(sizeof(*hello));
    const bool speaks =
        NULL != hello && 0 == fsbml_hello_fetch(peer, hello) && 0 != (hello->flags & FSBML_HELLO_FRAMES);
    *paths = speaks && !counts ? hello->n_rails : fsbml_rails.n_rails;
    free(hello);
    return speaks;
}

static void begin(mca_bml_fsbml_endpoint_t *ep)
{
    const ompi_process_name_t *own = OMPI_PROC_MY_NAME, *peer = &ep->proc->super.proc_name;
    const bool counts = is_before(own, peer);
    uint32_t paths;
    if (!is_on || !agree(ep, counts, &paths)) {
        return;
    }
    fsbml_framed_t *p = calloc(1, sizeof(*p) + fsbml_rails.n_rails * sizeof(p->way[0]));
    const int handle = NULL != p ? fsbml_framed_handle() : -1;
    const fsbml_delivery_peer_t ends = {.own_life = life_of(own),
                                        .peer_life = life_of(peer),
                                        .own_handle = (uint16_t) handle,
                                        .paths = paths};
    fsbml_delivery_t *delivery = handle >= 0 ? fsbml_delivery_create(&limits, &ends) : NULL;
    if (NULL == delivery) {
        free(p); /* its messages are not framed, and those of the peer are not taken: it does not send any */
        return;
    }
    p->ep = ep;
    p->counts = counts;
    p->paths = paths;
    p->delivery = delivery;
    ep->handle = ends.own_handle;
    fsbml_framed_add(p);
    fsbml_framed_from(ep->handle, p);
    atomic_store_explicit(&ep->framed, p, memory_order_release);
}

static void number(fsbml_framed_t *p, uint32_t rail, uint32_t as)
{
    if (as < p->paths) {
        opal_mutex_lock(&p->lock);
        p->way[rail].number = (uint8_t) as;
        p->rail[as] = (uint8_t) rail;
        p->numbered |= fsbml_bit(rail);
        opal_mutex_unlock(&p->lock);
    }
}

static int path_known(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    if (0 == ep->n_paths) {
        begin(ep);
    }
    fsbml_framed_t *p = fsbml_framed_of(ep);
    if (NULL != p && p->counts) {
        number(p, path->rail, path->rail);
    }
    return OMPI_SUCCESS;
}

static void path_paired(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path, uint32_t peers_rail,
                        uint16_t handle)
{
    fsbml_framed_t *p = fsbml_framed_of(ep);
    if (NULL == p) {
        return;
    }
    opal_mutex_lock(&p->lock);
    fsbml_delivery_peer_handle(p->delivery, handle);
    opal_mutex_unlock(&p->lock);
    if (!p->counts) {
        number(p, path->rail, peers_rail);
    }
}

static void path_live(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_framed_t *p = fsbml_framed_of(ep);
    if (NULL == p) {
        return;
    }
    opal_mutex_lock(&p->lock);
    for (uint32_t left = atomic_load(&ep->live) & p->numbered & ~p->up; 0 != left; left &= left - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(left);
        p->way[rail].renews = fsbml_socket_is_possible(fsbml_path(ep, rail)->super.btl);
        fsbml_delivery_path_up(p->delivery, p->way[rail].number, fsbml_now_ns());
        p->up |= fsbml_bit(rail);
    }
    opal_mutex_unlock(&p->lock);
    fsbml_framed_act(p);
}

static void forget(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_framed_t *p = fsbml_framed_of(ep);
    if (NULL == p) {
        return;
    }
    fsbml_framed_from(ep->handle, NULL);
    atomic_store(&ep->framed, NULL);
    fsbml_framed_remove(p);
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        fsbml_renew_end(p, r);
    }
    fsbml_delivery_destroy(p->delivery);
    fsbml_message_forget(p);
    OBJ_DESTRUCT(&p->lock);
    free(p);
}

/* A BTL says that a connection has failed which has carried messages. They wait for another one; where there
 * is none, or not in time, the PML is told then. What tcp calls fatal is the end of one connection, too; and
 * of another BTL's, that of one rail. */
static bool survives(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, bool is_fatal)
{
    fsbml_framed_t *p = fsbml_framed_of(ep);
    if (NULL == p) {
        return false;
    }
    opal_mutex_lock(&p->lock);
    const bool does =
        0 != (p->up & fsbml_bit(rail))
        && (!is_fatal || p->way[rail].renews || 0 != (fsbml_framed_rails(p) & ~fsbml_bit(rail)));
    if (does) {
        fsbml_framed_failed(p, rail);
    }
    opal_mutex_unlock(&p->lock);
    return does;
}

/* The same of a put or get. */
static bool operation_failed(mca_bml_fsbml_endpoint_t *ep, uint32_t rail)
{
    return survives(ep, rail, false);
}

static uint32_t working_rails(mca_bml_fsbml_endpoint_t *ep)
{
    return NULL != fsbml_framed_of(ep) ? fsbml_failover_rails(ep) : UINT32_MAX;
}

/* ---------------------------------------------------------------- begin and end */

static const fsbml_peers_listener_t listener = {
    .path_known = path_known, .path_paired = path_paired, .path_live = path_live, .forget = forget};

void fsbml_failover_setup(void)
{
    if (!mca_bml_fsbml_params.failover || 0 == fsbml_rails.n_groups) {
        return;
    }
    fsbml_delivery_limits(&limits);
    limits.wait_ns = mca_bml_fsbml_params.failover_wait_ns;
    fsbml_failover_act_setup();
    for (uint32_t g = 0; g < fsbml_rails.n_groups; ++g) {
        fsbml_framed_construct(fsbml_rails.group[g]);
    }
    if (OMPI_SUCCESS != fsbml_framed_receive()) {
        return;
    }
    is_on = true;
    fsbml_message_keep_memory(true);
    /* To write to a connection that its peer has ended is an error like others then. */
    struct sigaction pipe;
    if (0 == sigaction(SIGPIPE, NULL, &pipe) && SIG_DFL == pipe.sa_handler) {
        ignores_pipe = SIG_ERR != signal(SIGPIPE, SIG_IGN);
    }
    fsbml_peers_listen(&listener);
    fsbml_recv_survive_by(survives);
    fsbml_rdma_survive_by(operation_failed, working_rails);
    fsbml_renew_setup();
    opal_progress_register_lp(fsbml_failover_look);
}

void fsbml_failover_teardown(void)
{
    if (!is_on) {
        return;
    }
    opal_progress_unregister(fsbml_failover_look);
    fsbml_recv_survive_by(NULL);
    fsbml_rdma_survive_by(NULL, NULL);
    if (ignores_pipe) {
        (void) signal(SIGPIPE, SIG_DFL);
        ignores_pipe = false;
    }
    fsbml_framed_reset();
    fsbml_failover_act_teardown();
    fsbml_message_keep_memory(false);
    is_on = false;
}
