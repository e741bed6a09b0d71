// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "compat/compat.h"

#include <stdio.h>

#include "port.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/error.h"
#ifdef FSBML_OMPI_4
#    include "opal/mca/event/event.h"
#else
#    include "opal/util/event.h"
#endif

// Each sender has a tag of its own, since a receive callback of 4.1 does not say which rank the message is
// from. FSBML's own tag is just above the range.
enum { FIRST_TAG = MCA_BTL_TAG_USR };
_Static_assert(FIRST_TAG + PORT_MAX_RANKS <= MCA_BTL_TAG_MAX, "the tags must be there");

struct port_peer_t {
    mca_bml_base_btl_t bml; // a copy: the array in the endpoint moves its entries when a BTL is taken out
    ompi_proc_t *proc;
};

struct port_layout_t {
    MPI_Datatype type;
};

typedef struct inbox_t {
    uint64_t messages, bytes;
    unsigned char *memory;
    size_t slot, slots, kept;
    size_t *lengths;
} inbox_t;

static inbox_t inbox[PORT_MAX_RANKS];
static mca_btl_base_tag_t my_tag;
static uint64_t pending, callbacks, failures;
static int last_error;
// The descriptor that is just being given to a BTL. It can be completed, and gone, before btl_send returns
// even an error.
static const mca_btl_base_descriptor_t *in_hand;

static void received(FSBML_RECV_PARAMS(btl, des))
{
    inbox_t *in = (inbox_t *) FSBML_RECV_DATA(des);
    unsigned char *to = in->kept < in->slots ? in->memory + in->kept * in->slot : NULL;
    size_t bytes = 0;
    (void) btl;
#ifdef FSBML_OMPI_4
    (void) recv_tag;
#endif
    for (size_t i = 0; i < des->des_segment_count; ++i) {
        const size_t length = des->des_segments[i].seg_len;
        if (NULL != to && bytes < in->slot) {
            memcpy(to + bytes, des->des_segments[i].seg_addr.pval,
                   length < in->slot - bytes ? length : in->slot - bytes);
        }
        bytes += length;
    }
    if (NULL != to) {
        in->lengths[in->kept++] = bytes;
    }
    in->bytes += bytes;
    ++in->messages;
}

static void completed(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, int status)
{
    (void) btl;
    (void) endpoint;
    if (in_hand == des) {
        in_hand = NULL;
    }
    --pending;
    ++callbacks;
    if (OPAL_SUCCESS != status) {
        ++failures;
        last_error = status;
    }
}

const char *port_start(int ranks)
{
    if (ranks > PORT_MAX_RANKS) {
        return "there are more ranks than free tags";
    }
    // Only a PML that sends by BTLs has a BML.
    if (!mca_bml_base_inited() || NULL == mca_bml.bml_register) {
        return "MPI does not use BTLs here; pass --mca pml ob1 to mpirun";
    }
    my_tag = (mca_btl_base_tag_t) (FIRST_TAG + ompi_comm_rank(&ompi_mpi_comm_world.comm));
    for (int rank = 0; rank < ranks; ++rank) {
        if (OMPI_SUCCESS
            != mca_bml.bml_register((mca_btl_base_tag_t) (FIRST_TAG + rank), received, &inbox[rank])) {
            return "a BTL does not let this program register for messages";
        }
    }
    return NULL;
}

static mca_bml_base_endpoint_t *endpoint_of(int rank)
{
    ompi_proc_t *proc = ompi_comm_peer_lookup(&ompi_mpi_comm_world.comm, rank);
    return NULL != proc ? mca_bml_base_get_endpoint(proc) : NULL;
}

int port_entries(int rank)
{
    mca_bml_base_endpoint_t *endpoint = endpoint_of(rank);
    return NULL != endpoint ? (int) mca_bml_base_btl_array_get_size(&endpoint->btl_send) : 0;
}

port_peer_t *port_connect(int rank, int entry, port_entry_t *about)
{
    mca_bml_base_endpoint_t *endpoint = endpoint_of(rank);
    const mca_bml_base_btl_t *bml =
        NULL != endpoint ? mca_bml_base_btl_array_get_index(&endpoint->btl_send, (size_t) entry) : NULL;
    port_peer_t *peer = NULL != bml ? malloc(sizeof(*peer)) : NULL;
    if (NULL == peer) {
        return NULL;
    }
    const mca_btl_base_module_t *btl = bml->btl;
    const char *name = btl->btl_component->btl_version.mca_component_name;
    peer->bml = *bml;
    peer->proc = ompi_comm_peer_lookup(&ompi_mpi_comm_world.comm, rank);
    snprintf(about->name, sizeof(about->name), "%s", name);
    about->eager_limit = btl->btl_eager_limit;
    about->max_send_size = btl->btl_max_send_size;
    about->immediate = NULL != btl->btl_sendi;
    about->event_driven = NULL == btl->btl_component->btl_progress;
    return peer;
}

void port_disconnect(port_peer_t *peer)
{
    free(peer);
}

static bool short_of_something(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc || OMPI_ERR_TEMP_OUT_OF_RESOURCE == rc;
}

static int untaken(int rc)
{
    last_error = rc;
    return short_of_something(rc) ? PORT_BUSY : PORT_FAILED;
}

// The BTL owns the descriptor, so it frees it after the callback (or at once, where none comes).
static uint32_t flags_of(int callback)
{
    return MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP
           | (callback ? MCA_BTL_DES_SEND_ALWAYS_CALLBACK : 0);
}

static int give(port_peer_t *peer, mca_btl_base_descriptor_t *des, int callback)
{
    des->des_cbfunc = completed;
    des->des_cbdata = NULL;
    ++pending;
    in_hand = des;
    int rc = mca_bml_base_send_status(&peer->bml, des, my_tag);
    const bool uncalled = in_hand == des;
    in_hand = NULL;
    if (OPAL_LIKELY(rc >= 0 || OMPI_ERR_RESOURCE_BUSY == rc)) {
        if (1 == rc && uncalled && !callback) {
            --pending; // complete, and no callback will say so
        }
        return PORT_TAKEN;
    }
    if (!uncalled) {
        return PORT_FAILED; // completed() has the error
    }
    --pending;
    mca_bml_base_free(&peer->bml, des);
    return untaken(rc);
}

int port_send(port_peer_t *peer, const void *data, size_t bytes, int callback)
{
    mca_btl_base_descriptor_t *des = NULL;
    mca_bml_base_alloc(&peer->bml, &des, MCA_BTL_NO_ORDER, bytes, flags_of(callback));
    if (OPAL_UNLIKELY(NULL == des)) {
        return untaken(OMPI_ERR_OUT_OF_RESOURCE);
    }
    if (OPAL_UNLIKELY(des->des_segments[0].seg_len < bytes)) {
        mca_bml_base_free(&peer->bml, des);
        return untaken(OMPI_ERR_BAD_PARAM);
    }
    des->des_segments[0].seg_len = bytes;
    memcpy(des->des_segments[0].seg_addr.pval, data, bytes);
    return give(peer, des, callback);
}

static void convert(opal_convertor_t *convertor, const port_peer_t *peer, const void *memory,
                    const port_layout_t *layout, size_t bytes)
{
    ompi_datatype_t *type = (ompi_datatype_t *) (NULL != layout ? layout->type : MPI_BYTE);
    OBJ_CONSTRUCT(convertor, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(peer->proc->super.proc_convertor, &type->super,
                                             NULL != layout ? 1 : bytes, memory, 0, convertor);
}

int port_send_memory(port_peer_t *peer, const void *memory, const port_layout_t *layout, size_t bytes,
                     int callback)
{
    mca_btl_base_descriptor_t *des = NULL;
    opal_convertor_t convertor;
    size_t prepared = bytes;
    convert(&convertor, peer, memory, layout, bytes);
    mca_bml_base_prepare_src(&peer->bml, &convertor, MCA_BTL_NO_ORDER, 0, &prepared, flags_of(callback),
                             &des);
    OBJ_DESTRUCT(&convertor);
    if (OPAL_UNLIKELY(NULL == des)) {
        return untaken(OMPI_ERR_OUT_OF_RESOURCE);
    }
    if (OPAL_UNLIKELY(prepared != bytes)) {
        mca_bml_base_free(&peer->bml, des);
        return untaken(OMPI_ERR_BAD_PARAM);
    }
    return give(peer, des, callback);
}

int port_send_immediate(port_peer_t *peer, const void *memory, size_t bytes)
{
    opal_convertor_t convertor;
    char no_header;
    convert(&convertor, peer, memory, NULL, bytes);
    int rc = mca_bml_base_sendi(&peer->bml, &convertor, &no_header, 0, bytes, MCA_BTL_NO_ORDER, flags_of(0),
                                my_tag, NULL);
    OBJ_DESTRUCT(&convertor);
    if (OPAL_UNLIKELY(rc < 0)) {
        return OMPI_ERR_RESOURCE_BUSY == rc ? PORT_BUSY : untaken(rc);
    }
    return PORT_TAKEN;
}

port_layout_t *port_layout(int pieces, int piece, int distance)
{
    port_layout_t *layout = malloc(sizeof(*layout));
    if (NULL != layout) {
        if (MPI_SUCCESS == MPI_Type_vector(pieces, piece, distance, MPI_BYTE, &layout->type)
            && MPI_SUCCESS == MPI_Type_commit(&layout->type)) {
            return layout;
        }
        free(layout);
    }
    return NULL;
}

void port_layout_free(port_layout_t *layout)
{
    if (NULL != layout) {
        (void) MPI_Type_free(&layout->type);
        free(layout);
    }
}

void port_progress(void)
{
    opal_progress();
}

void port_block(int on)
{
    static int flag_before;
    if (on) {
        flag_before = opal_progress_set_event_flag(OPAL_EVLOOP_ONCE);
        opal_progress_event_users_increment(); // at every turn, not at every eighth
    } else {
        opal_progress_event_users_decrement();
        (void) opal_progress_set_event_flag(flag_before);
    }
}

uint64_t port_pending(void)
{
    return pending;
}

uint64_t port_callbacks(void)
{
    return callbacks;
}

uint64_t port_failures(void)
{
    return failures;
}

const char *port_error(void)
{
    return opal_strerror(last_error);
}

uint64_t port_messages(int rank)
{
    return inbox[rank].messages;
}

uint64_t port_bytes(int rank)
{
    return inbox[rank].bytes;
}

void port_keep(int rank, unsigned char *memory, size_t slot, size_t slots, size_t *lengths)
{
    inbox_t *in = &inbox[rank];
    in->memory = memory;
    in->slot = slot;
    in->slots = NULL != memory ? slots : 0;
    in->kept = 0;
    in->lengths = lengths;
}
