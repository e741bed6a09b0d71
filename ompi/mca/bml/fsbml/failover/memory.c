/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of messages. That of large ones is kept for the next ones: each time that malloc gave it back, the
 * kernel would have to clear its pages again, a third of the time of a message of 1 MiB. */

#include "failover/failover.h"

enum {
    SPARE_LEAST = 12, /* 2^12 bytes: malloc keeps smaller ones */
    SPARE_MOST = 20,  /* 2^20: and there are no larger ones */
    STEPS = 2,        /* 2^2 sizes from one power of two to the next */
    N_SIZES = ((SPARE_MOST - SPARE_LEAST) << STEPS) + 1,
    MOST_BYTES = 8 << 20, /* of all that are spare */
};

static struct {
    opal_mutex_t lock;
    bool keeps;
    size_t bytes;
    fsbml_message_t *first[N_SIZES]; /* of each size, by `next` */
} spare = {.lock = OPAL_MUTEX_STATIC_INIT};

static unsigned log2_of(size_t bytes)
{
    return (unsigned) (8 * sizeof(unsigned long) - 1) - (unsigned) __builtin_clzl(bytes);
}

/* The size that a message of so many bytes takes. */
static size_t room_for(size_t bytes)
{
    const size_t step = (size_t) 1 << (log2_of(bytes) - STEPS);
    return (bytes + step - 1) & ~(step - 1);
}

/* The list of messages with so much room; NULL: they are not kept. */
static fsbml_message_t **list_of(size_t room)
{
    const unsigned power = log2_of(room | 1);
    if (power < SPARE_LEAST || room > (size_t) 1 << SPARE_MOST) {
        return NULL;
    }
    return &spare.first[((power - SPARE_LEAST) << STEPS) + (room >> (power - STEPS)) - (1 << STEPS)];
}

static fsbml_message_t *take(size_t room)
{
    fsbml_message_t **first = list_of(room);
    if (NULL == first) {
        return NULL;
    }
    opal_mutex_lock(&spare.lock);
    fsbml_message_t *m = *first;
    if (NULL != m) {
        *first = m->next;
        spare.bytes -= room;
    }
    opal_mutex_unlock(&spare.lock);
    return m;
}

static bool keep(fsbml_message_t *m)
{
    fsbml_message_t **first = list_of(m->room);
    if (NULL == first) {
        return false;
    }
    opal_mutex_lock(&spare.lock);
    const bool does = spare.keeps && spare.bytes + m->room <= MOST_BYTES;
    if (does) {
        m->next = *first;
        *first = m;
        spare.bytes += m->room;
    }
    opal_mutex_unlock(&spare.lock);
    return does;
}

fsbml_message_t *fsbml_message_make(fsbml_framed_t *p, size_t bytes, uint32_t flags)
{
    const size_t room = bytes >> SPARE_LEAST > 0 ? room_for(bytes) : bytes;
    fsbml_message_t *m = take(room);
    m = NULL != m ? m : malloc(sizeof(*m) + room);
    if (NULL == m) {
        return NULL;
    }
    memset(m, 0, sizeof(*m));
    OBJ_CONSTRUCT(&m->super, mca_btl_base_descriptor_t);
    m->room = room;
    m->segment.seg_addr.pval = m->bytes;
    m->segment.seg_len = bytes;
    m->super.des_segments = &m->segment;
    m->super.des_segment_count = 1;
    m->super.des_flags = (flags & ~FSBML_DES_MASK) | FSBML_DES_FRAMED;
    m->super.order = MCA_BTL_NO_ORDER;
    m->to = p;
    m->rail = FSBML_NO_RAIL;
    return m;
}

void fsbml_message_free(fsbml_message_t *m)
{
    OBJ_DESTRUCT(&m->super);
    if (!keep(m)) {
        free(m);
    }
}

void fsbml_message_keep_memory(bool keeps)
{
    opal_mutex_lock(&spare.lock);
    spare.keeps = keeps;
    for (size_t i = 0; i < N_SIZES; ++i) {
        for (fsbml_message_t *m; NULL != (m = spare.first[i]);) {
            spare.first[i] = m->next;
            free(m);
        }
    }
    spare.bytes = 0;
    opal_mutex_unlock(&spare.lock);
}
