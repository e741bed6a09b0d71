/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's set-up and teardown, and its reactions to events of peers. */

#include "send/send.h"

#include "ompi/datatype/ompi_datatype.h"

/* Up to so many bytes a copy is sooner made than a descriptor of bytes elsewhere. */
enum { COPIED = 4096 };

static mca_btl_base_descriptor_t *make_in_place(mca_bml_fsbml_path_t *path, size_t n_header, void *bytes,
                                                size_t n_bytes, uint32_t flags)
{
    mca_btl_base_module_t *real = path->super.btl;
    opal_convertor_t convertor;
    size_t taken = n_bytes;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &ompi_mpi_byte.dt.super, n_bytes,
                                             bytes, 0, &convertor);
    mca_btl_base_descriptor_t *des = real->btl_prepare_src(real, path->super.btl_endpoint, &convertor,
                                                           MCA_BTL_NO_ORDER, n_header, &taken, flags);
    OBJ_DESTRUCT(&convertor);
    if (NULL != des && taken != n_bytes) {
        real->btl_free(real, des);
        return NULL;
    }
    return des;
}

mca_btl_base_descriptor_t *fsbml_send_make(mca_bml_fsbml_path_t *path, const void *header, size_t n_header,
                                           void *bytes, size_t n_bytes, uint32_t flags)
{
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des = NULL;
    if (n_bytes > COPIED && 0 != (real->btl_flags & MCA_BTL_FLAGS_SEND_INPLACE)) {
        des = make_in_place(path, n_header, bytes, n_bytes, flags);
    }
    const bool in_place = NULL != des;
    if (!in_place) {
        des = real->btl_alloc(real, path->super.btl_endpoint, MCA_BTL_NO_ORDER, n_header + n_bytes, flags);
        if (NULL == des) {
            return NULL;
        }
        memcpy((char *) des->des_segments[0].seg_addr.pval + n_header, bytes, n_bytes);
        des->des_segments[0].seg_len = n_header + n_bytes;
    }
    memcpy(des->des_segments[0].seg_addr.pval, header, n_header);
    return des;
}

static int path_known(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    fsbml_rdma_bind(ep, path);
    return fsbml_onesided_path_known(path->super.btl_endpoint, ep);
}

static void path_gone(mca_bml_fsbml_path_t *path)
{
    fsbml_onesided_path_gone(path->super.btl_endpoint);
}

static void look(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_held_release(ep);
    fsbml_rdma_retry(ep);
}

static void forget(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_rdma_forget(ep);
    fsbml_held_drop(ep);
}

static const fsbml_peers_listener_t listener = {.path_known = path_known,
                                                .path_gone = path_gone,
                                                .path_live = fsbml_held_release,
                                                .look = look,
                                                .no_path = fsbml_held_fail,
                                                .forget = forget,
                                                .answered = fsbml_observe_answered};

void fsbml_send_setup(void)
{
    for (uint32_t g = 0; g < fsbml_rails.n_groups; ++g) {
        mca_bml_fsbml_group_t *group = fsbml_rails.group[g];
        fsbml_limits_construct(group);
        fsbml_btl_construct(group);
        fsbml_rdma_construct(group);
    }
    /* A class is made ready by its first object: here, while there is one thread. */
    opal_class_initialize(OBJ_CLASS(mca_bml_fsbml_held_t));
    opal_class_initialize(OBJ_CLASS(mca_btl_base_descriptor_t));
    fsbml_peers_listen(&listener);
    fsbml_recv_wake_by(fsbml_rdma_wake);
    fsbml_flow_setup(fsbml_limits_urgent);
    fsbml_put_watch();
    fsbml_observe_start(fsbml_btl_observe);
}

void fsbml_send_teardown(void)
{
    (void) fsbml_recv_register_error(NULL); /* the BTLs are closed after this component */
    fsbml_flow_teardown();
    fsbml_put_unwatch();
    fsbml_onesided_fini();
    fsbml_rdma_fini();
    fsbml_observe_stop();
}
