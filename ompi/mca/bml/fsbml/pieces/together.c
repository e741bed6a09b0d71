/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that come in are put together, and the message is given to the PML when all have come. */

#include <endian.h>

#include "pieces/pieces.h"

typedef struct open_t {
    struct open_t *next;
    fsbml_piece_t of; /* but for the offset */
    size_t come;      /* bytes */
    _Alignas(16) char bytes[];
} open_t;

enum { ROWS = 64, MOST = 1 << 24 /* bytes of a message: none that is cut has as many */ };

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static open_t *row[ROWS]; /* messages some pieces of which have not come */

/* The place of the message in its row; of none, the row's end. */
static open_t **find(const fsbml_piece_t *piece)
{
    open_t **at = &row[(piece->from * 31 + piece->number) % ROWS];
    while (NULL != *at && ((*at)->of.from != piece->from || (*at)->of.number != piece->number)) {
        at = &(*at)->next;
    }
    return at;
}

static open_t *make(const fsbml_piece_t *piece)
{
    open_t *m = malloc(sizeof(*m) + piece->total);
    if (NULL != m) {
        m->next = NULL;
        m->of = *piece;
        m->come = 0;
    }
    return m;
}

/* Takes a piece; the message, if it is complete by that, which is the caller's then. */
static open_t *take(const fsbml_piece_t *piece, const void *bytes, size_t n)
{
    open_t **at = find(piece);
    if (NULL == *at) {
        *at = make(piece);
    }
    open_t *m = *at;
    if (NULL == m || m->of.total != piece->total || m->of.tag != piece->tag || m->come + n > m->of.total) {
        return NULL;
    }
    memcpy(m->bytes + piece->offset, bytes, n);
    m->come += n;
    if (m->come < m->of.total) {
        return NULL;
    }
    *at = m->next;
    return m;
}

static bool read_header(const mca_btl_base_segment_t *segment, fsbml_piece_t *piece)
{
    uint32_t wire[FSBML_PIECE_HEADER / sizeof(uint32_t)];
    if (segment->seg_len <= sizeof(wire)) {
        return false;
    }
    memcpy(wire, segment->seg_addr.pval, sizeof(wire));
    *piece = (fsbml_piece_t){.from = le32toh(wire[0]),
                             .number = le32toh(wire[1]),
                             .offset = le32toh(wire[2]),
                             .total = le32toh(wire[3]),
                             .tag = le32toh(wire[4])};
    const size_t n = segment->seg_len - sizeof(wire);
    return piece->tag < MCA_BTL_TAG_MAX && FSBML_TAG_PIECE != piece->tag && piece->total <= MOST
           && piece->offset < piece->total && n <= piece->total - piece->offset;
}

static void recv_piece(FSBML_RECV_PARAMS(btl, des))
{
    const mca_btl_base_segment_t *segment = des->des_segments;
    fsbml_piece_t piece;
    if (1 != des->des_segment_count || !read_header(segment, &piece)) {
        FSBML_VERBOSE(FSBML_V_PEER, "a piece that cannot be one is dropped");
        return;
    }
    opal_mutex_lock(&lock);
    open_t *m = take(&piece, (const char *) segment->seg_addr.pval + FSBML_PIECE_HEADER,
                     segment->seg_len - FSBML_PIECE_HEADER);
    opal_mutex_unlock(&lock);
    if (NULL != m) {
        fsbml_recv_deliver(btl, des, (mca_btl_base_tag_t) m->of.tag, m->bytes, m->of.total);
        free(m);
    }
}

int fsbml_together_begin(void)
{
    return fsbml_rails_receive(FSBML_TAG_PIECE, recv_piece, NULL);
}

void fsbml_together_end(void)
{
    for (size_t i = 0; i < ROWS; ++i) {
        for (open_t *m; NULL != (m = row[i]);) {
            row[i] = m->next;
            free(m);
        }
    }
}
