/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages are cut and sent in pieces. */

#include <endian.h>

#include "failover/failover.h"
#include "pieces/pieces.h"

static bool is_on;

bool fsbml_pieces_are_on(void)
{
    return is_on;
}

/* A message that was cut. It stays as the PML made it until its pieces are complete. */
typedef struct cut_t {
    mca_bml_fsbml_endpoint_t *ep;
    mca_btl_base_descriptor_t *whole;
    mca_btl_base_module_t *owner; /* of `whole` */
    _Atomic uint32_t left;        /* pieces that are not complete; and one while they are sent */
    _Atomic int status;           /* the first error, else 0 */
} cut_t;

typedef struct piece_t {
    mca_bml_fsbml_path_t *path;
    mca_btl_base_module_t *owner; /* of `des`: the path's BTL, or the pseudo BTL, which frames it */
    mca_btl_base_descriptor_t *des;
} piece_t;

/* The message is the PML's again. As a BTL does: callback, then its own descriptors go back. */
static void complete(cut_t *cut)
{
    mca_bml_fsbml_endpoint_t *ep = cut->ep;
    mca_btl_base_descriptor_t *whole = cut->whole;
    mca_btl_base_module_t *owner = cut->owner;
    const uint32_t flags = whole->des_flags;
    const int status = atomic_load(&cut->status);
    free(cut);
    if (NULL != whole->des_cbfunc) {
        whole->des_cbfunc(OPAL_SUCCESS == status ? &ep->group->pseudo : NULL,
                          (struct mca_btl_base_endpoint_t *) ep, whole, status);
    }
    if (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) {
        owner->btl_free(owner, whole);
    }
}

/* True: that was the last. */
static bool is_last(cut_t *cut, int status)
{
    int none = OPAL_SUCCESS;
    if (OPAL_UNLIKELY(OPAL_SUCCESS != status)) {
        (void) atomic_compare_exchange_strong(&cut->status, &none, status);
    }
    mca_bml_fsbml_endpoint_t *ep = cut->ep;
    const bool last = 1 == atomic_fetch_sub(&cut->left, 1);
    if (last) {
        atomic_fetch_sub_explicit(&ep->open_cuts, 1, memory_order_relaxed);
    }
    return last;
}

static void piece_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *des, int status)
{
    cut_t *cut = des->des_cbdata;
    (void) btl;
    (void) endpoint;
    if (is_last(cut, status)) {
        complete(cut);
    }
}

/* The bytes of a message: the PML's header, which may be apart, and what follows. */
typedef struct bytes_t {
    const char *header;
    char *payload;
    size_t n_header, n_payload;
} bytes_t;

enum { MOST_APART = 256 };

static bool are_plain(const mca_btl_base_descriptor_t *des, bytes_t *of)
{
    const mca_btl_base_segment_t *segment = des->des_segments;
    const bool apart = 2 == des->des_segment_count;
    *of = (bytes_t){.header = apart ? segment[0].seg_addr.pval : NULL,
                    .n_header = apart ? segment[0].seg_len : 0,
                    .payload = segment[apart].seg_addr.pval,
                    .n_payload = segment[apart].seg_len};
    return des->des_segment_count <= 2 && of->n_header <= MOST_APART;
}

/* A descriptor for a path with the bytes from `offset` on; NULL: its BTL has none. The first piece has the
 * PML's header. */
static mca_btl_base_descriptor_t *make(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                                       const bytes_t *of, fsbml_piece_t piece, size_t bytes, uint32_t flags)
{
    const uint32_t wire[] = {htole32(piece.from), htole32(piece.number), htole32(piece.offset),
                             htole32(piece.total), htole32(piece.tag)};
    char head[FSBML_PIECE_HEADER + MOST_APART];
    const size_t apart = 0 == piece.offset ? of->n_header : 0;
    _Static_assert(sizeof(wire) == FSBML_PIECE_HEADER, "as the header says");
    memcpy(head, wire, sizeof(wire));
    if (apart > 0) {
        memcpy(head + sizeof(wire), of->header, apart);
    }
    const size_t at = piece.offset > of->n_header ? piece.offset - of->n_header : 0;
    flags = MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_SEND_ALWAYS_CALLBACK
            | (flags & (MCA_BTL_DES_FLAGS_PRIORITY | FSBML_DES_MASK));
    if (FSBML_DES_FRAMED == (flags & FSBML_DES_MASK)) {
        return fsbml_failover_make(ep, path->rail, head, sizeof(wire) + apart, of->payload + at,
                                   bytes - apart, flags);
    }
    return fsbml_send_make(path, head, sizeof(wire) + apart, of->payload + at, bytes - apart,
                           flags & ~FSBML_DES_MASK);
}

/* Makes the pieces; false: some BTL has no descriptor for its one, and none is there. */
static bool make_all(mca_bml_fsbml_endpoint_t *ep, const bytes_t *of, const size_t *share, uint32_t rails,
                     fsbml_piece_t piece, uint32_t flags, piece_t *made, size_t n)
{
    const bool is_framed = FSBML_DES_FRAMED == (flags & FSBML_DES_MASK);
    size_t i = 0;
    for (; i < n; rails &= rails - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(rails);
        if (0 == share[rail]) {
            continue;
        }
        made[i].path = fsbml_path(ep, rail);
        made[i].owner = is_framed ? &ep->group->pseudo : made[i].path->super.btl;
        made[i].des = make(ep, made[i].path, of, piece, share[rail], flags);
        if (NULL == made[i].des) {
            break;
        }
        piece.offset += (uint32_t) share[rail];
        ++i;
    }
    if (i < n) {
        while (i-- > 0) {
            made[i].owner->btl_free(made[i].owner, made[i].des);
        }
        return false;
    }
    return true;
}

/* Bytes of the first piece, which has the whole of the PML's header. */
static size_t first_share(const size_t *share, uint32_t rails)
{
    while (0 == share[__builtin_ctz(rails)]) {
        rails &= rails - 1;
    }
    return share[__builtin_ctz(rails)];
}

static void send_piece(cut_t *cut, const piece_t *piece)
{
    mca_bml_fsbml_endpoint_t *ep = cut->ep;
    mca_btl_base_module_t *btl = piece->owner;
    piece->des->des_cbfunc = piece_done;
    piece->des->des_cbdata = cut;
    piece->des->des_context = ep->bml_btl;
    int rc;
    if (btl == &ep->group->pseudo) {
        rc = btl->btl_send(btl, (struct mca_btl_base_endpoint_t *) ep, piece->des, FSBML_TAG_PIECE);
    } else {
        rc = fsbml_held_send_on(ep, piece->path, piece->des, FSBML_TAG_PIECE);
        rc = rc >= 0 ? rc : fsbml_refused_send(ep, piece->path, piece->des, FSBML_TAG_PIECE);
    }
    if (OPAL_UNLIKELY(rc < 0)) { /* no memory: the others are on their way */
        btl->btl_free(btl, piece->des);
        fsbml_lost(ep, btl, rc);
        (void) is_last(cut, rc); /* it is not: the sender counts as one */
    }
}

/* As btl_send, or FSBML_NOT_CUT. */
static int send_cut(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *owner,
                    mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    const uint32_t rails = fsbml_des_is_framed(des) ? fsbml_failover_rails(ep)
                                                    : atomic_load_explicit(&ep->live, memory_order_acquire);
    size_t share[FSBML_MAX_RAILS];
    piece_t made[FSBML_MAX_RAILS];
    bytes_t bytes;
    if (0 == (rails & (rails - 1)) || !ep->knows_pieces || FSBML_TAG_MATCH != tag
        || atomic_load_explicit(&ep->open_cuts, memory_order_relaxed) >= FSBML_PIECES_OPEN
        || !are_plain(des, &bytes)) {
        return FSBML_NOT_CUT;
    }
    const size_t total = bytes.n_header + bytes.n_payload;
    const size_t n = fsbml_sched_cut(fsbml_rails.sched, fsbml_now_ns(), total, rails,
                                     atomic_load_explicit(&ep->far, memory_order_acquire), share);
    if (0 == n || first_share(share, rails) < bytes.n_header) {
        return FSBML_NOT_CUT;
    }
    cut_t *cut = malloc(sizeof(*cut));
    const fsbml_piece_t piece = {.from = OMPI_PROC_MY_NAME->vpid,
                                 .number = atomic_fetch_add(&ep->n_cut, 1),
                                 .total = (uint32_t) total,
                                 .tag = tag};
    if (NULL == cut || !make_all(ep, &bytes, share, rails, piece, des->des_flags, made, n)) {
        free(cut);
        return FSBML_NOT_CUT;
    }
    const bool calls_back = 0 != (des->des_flags & MCA_BTL_DES_SEND_ALWAYS_CALLBACK);
    fsbml_hooks_unbind(ep, des);
    *cut = (cut_t){.ep = ep, .whole = des, .owner = owner};
    atomic_init(&cut->left, (uint32_t) n + 1);
    atomic_init(&cut->status, OPAL_SUCCESS);
    atomic_fetch_add_explicit(&ep->open_cuts, 1, memory_order_relaxed);
    for (size_t i = 0; i < n; ++i) {
        send_piece(cut, &made[i]);
    }
    if (!is_last(cut, OPAL_SUCCESS)) {
        return OMPI_SUCCESS;
    }
    if (!calls_back && OPAL_SUCCESS == atomic_load(&cut->status)) { /* sent at once: no callback is wanted */
        if (des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) {
            owner->btl_free(owner, des);
        }
        free(cut);
        return 1;
    }
    complete(cut);
    return OMPI_SUCCESS;
}

static int path_known(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    const ompi_process_name_t *peer = &ep->proc->super.proc_name;
    (void) path;
    if (0 == ep->n_paths && ep->capacity > 1 && peer->jobid == OMPI_PROC_MY_NAME->jobid) {
        fsbml_hello_t *hello = malloc(sizeof(*hello));
        ep->knows_pieces =
            NULL != hello && 0 == fsbml_hello_fetch(peer, hello) && 0 != (hello->flags & FSBML_HELLO_PIECES);
        free(hello);
    }
    return OMPI_SUCCESS;
}

static const fsbml_peers_listener_t listener = {.path_known = path_known};

void fsbml_pieces_setup(void)
{
    const mca_bml_fsbml_params_t *p = &mca_bml_fsbml_params;
    const bool is_recorded = NULL != p->record && '\0' != p->record[0];
    if (!p->pieces || is_recorded || 0 == fsbml_rails.n_groups || OMPI_SUCCESS != fsbml_together_begin()) {
        return;
    }
    is_on = true;
    fsbml_peers_listen(&listener);
    fsbml_btl_cut_by(FSBML_CUT_LEAST, send_cut);
}

void fsbml_pieces_teardown(void)
{
    if (is_on) {
        fsbml_btl_cut_by(SIZE_MAX, NULL);
        fsbml_together_end();
        is_on = false;
    }
}
