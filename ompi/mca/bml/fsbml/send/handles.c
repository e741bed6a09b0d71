/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A registration handle of the pseudo BTL holds a handle of each rail. The peer finds a rail's by its key,
 * since it may number them otherwise, and may have fewer. */

#include <endian.h>

#include "send/send.h"

/* What the PML copies into its headers: this, then a record for each rail. In little endian, but for the
 * BTLs' own bytes. */
typedef struct wire_t {
    uint16_t length; /* of all records; a peer with fewer rails sends less than this process looks at */
    uint16_t reserved;
} wire_t;
typedef struct record_t {
    uint32_t rail; /* digest of its key */
    uint32_t size; /* of the BTL's handle, which follows */
} record_t;

/* A registration: the bytes for the peer first, since the PML takes them from the handle's address. */
typedef struct handle_t {
    unsigned char wire[MCA_BTL_REG_HANDLE_MAX_SIZE];
    mca_bml_fsbml_group_t *group;
    mca_btl_base_registration_handle_t *real[FSBML_MAX_RAILS];
} handle_t;

size_t fsbml_handle_head(void)
{
    return sizeof(wire_t);
}

size_t fsbml_handle_share(uint32_t rail)
{
    return fsbml_handle_needed(rail)
               ? sizeof(record_t) + fsbml_rails.rail[rail].btl->btl_registration_handle_size
               : 0;
}

mca_btl_base_registration_handle_t *fsbml_handle_local(const mca_btl_base_registration_handle_t *handle,
                                                       uint32_t rail)
{
    return NULL != handle ? ((const handle_t *) handle)->real[rail] : NULL;
}

const void *fsbml_handle_remote(const mca_bml_fsbml_endpoint_t *ep, const void *remote, uint32_t rail)
{
    const mca_bml_fsbml_group_t *group = ep->group;
    const unsigned char *at = remote;
    wire_t head;
    if (NULL == remote || ep->speaks_real) {
        return remote;
    }
    memcpy(&head, at, sizeof(head));
    size_t end = sizeof(head) + le16toh(head.length), pos = sizeof(head);
    end = end < group->pseudo.btl_registration_handle_size ? end : group->pseudo.btl_registration_handle_size;
    while (pos + sizeof(record_t) <= end) {
        record_t record;
        memcpy(&record, at + pos, sizeof(record));
        const size_t size = le32toh(record.size);
        pos += sizeof(record);
        if (size > end - pos) {
            return NULL;
        }
        if (le32toh(record.rail) == fsbml_rails.rail[rail].key_digest) {
            return size == fsbml_rails.rail[rail].btl->btl_registration_handle_size ? at + pos : NULL;
        }
        pos += size;
    }
    return NULL;
}

int fsbml_handle_deregister(mca_btl_base_module_t *btl, mca_btl_base_registration_handle_t *handle)
{
    (void) btl;
    handle_t *h = (handle_t *) handle;
    int rc = OMPI_SUCCESS;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        mca_btl_base_module_t *real = fsbml_rails.rail[i].btl;
        if (NULL != h->real[i]) {
            const int one = real->btl_deregister_mem(real, h->real[i]);
            rc = OMPI_SUCCESS == rc ? one : rc;
        }
    }
    free(h);
    return rc;
}

mca_btl_base_registration_handle_t *fsbml_handle_register(mca_btl_base_module_t *btl,
                                                          struct mca_btl_base_endpoint_t *endpoint,
                                                          void *base, size_t size, uint32_t flags)
{
    mca_bml_fsbml_group_t *group = (mca_bml_fsbml_group_t *) btl;
    mca_bml_fsbml_endpoint_t *ep =
        MCA_BTL_ENDPOINT_ANY != endpoint ? (mca_bml_fsbml_endpoint_t *) endpoint : NULL;
    /* Also with rails that are not proved yet: the peer may have proved others first, and a transfer needs a
     * rail with which both have registered. */
    uint32_t rails = group->rdma_rails & (NULL != ep ? atomic_load(&ep->possible) : group->rails);
    if (NULL != ep && ep->speaks_real) {
        rails &= ~(rails - 1); /* it has one path */
    }
    handle_t *h = calloc(1, sizeof(*h));
    size_t pos = sizeof(wire_t);
    bool usable = false;
    if (NULL == h) {
        return NULL;
    }
    h->group = group;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        mca_btl_base_module_t *real = fsbml_rails.rail[i].btl;
        if (0 == (rails & fsbml_bit(i))) {
            continue;
        }
        if (!fsbml_handle_needed(i)) {
            usable = true;
            continue;
        }
        h->real[i] = real->btl_register_mem(
            real, NULL != ep ? fsbml_path(ep, i)->super.btl_endpoint : endpoint, base, size, flags);
        if (NULL == h->real[i]) {
            continue; /* the other rails may do */
        }
        usable = true;
        if (NULL != ep && ep->speaks_real) {
            memcpy(h->wire, h->real[i], real->btl_registration_handle_size);
            break;
        }
        const record_t record = {.rail = htole32(fsbml_rails.rail[i].key_digest),
                                 .size = htole32((uint32_t) real->btl_registration_handle_size)};
        memcpy(h->wire + pos, &record, sizeof(record));
        memcpy(h->wire + pos + sizeof(record), h->real[i], real->btl_registration_handle_size);
        pos += fsbml_handle_share(i);
    }
    if (pos > sizeof(wire_t)) {
        const wire_t head = {.length = htole16((uint16_t) (pos - sizeof(wire_t)))};
        memcpy(h->wire, &head, sizeof(head));
    }
    if (!usable) {
        free(h);
        return NULL;
    }
    return (mca_btl_base_registration_handle_t *) h;
}
