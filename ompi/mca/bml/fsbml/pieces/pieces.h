/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pieces: a message that several rails together deliver sooner than any of them alone is sent as a piece by
 * each (`bml_fsbml_pieces`). The core decides what is cut and where (core/schedule/cut.cpp).
 *
 * - What is cut: messages up to the eager limit (of tcp 64 KiB). Longer ones are fragments, which take other
 *   rails anyway (send/limits.c). For the PML nothing changes: a message is complete when all of its pieces
 *   are, and arrives when all have.
 * - A piece is a message of its own for send/: it is charged to its rail, offered to another one if that has
 *   no room, and may be pending. It has a header of FSBML_PIECE_HEADER bytes.
 * - Between processes of one job that both know pieces, as their hellos say.
 * - The receiver puts pieces together in any order (pieces/together.c). What it holds is bounded by what its
 *   peers have under way: FSBML_PIECES_OPEN messages each, and what the transport has taken. One that does
 *   not fit its message is dropped.
 *
 * With failover each piece is a framed message (failover/), which another rail takes if its own fails. While
 * messages are recorded they go as they are, as it is for the simulated scheduler to cut them.
 */
#ifndef MCA_BML_FSBML_PIECES_H
#define MCA_BML_FSBML_PIECES_H

#include "send/send.h"

/** Once the pseudo BTLs are made. */
void fsbml_pieces_setup(void);
/** After the last message. */
void fsbml_pieces_teardown(void);
/** Whether this process makes pieces and understands them: for its hello. */
bool fsbml_pieces_are_on(void);

/* ------------------------------------------------------------------- inside the room */

/** Under which pieces go. */
#define FSBML_TAG_PIECE ((mca_btl_base_tag_t) (MCA_BTL_TAG_USR + 0x72))

enum {
    FSBML_PIECES_OPEN = 64, /**< messages to a peer that are cut and not complete here */
    FSBML_PIECE_HEADER = 20
};

/** What goes before the bytes of a piece; on the wire little endian, in this order. */
typedef struct fsbml_piece_t {
    uint32_t from;   /**< rank of the sender */
    uint32_t number; /**< of its messages to this receiver that were cut */
    uint32_t offset; /**< of the piece in the message, the PML's header included */
    uint32_t total;  /**< bytes of the message */
    uint32_t tag;    /**< the PML's */
} fsbml_piece_t;

/* pieces/together.c: pieces that come in */
int fsbml_together_begin(void);
/** Forgets what is not complete. */
void fsbml_together_end(void);

#endif /* MCA_BML_FSBML_PIECES_H */
