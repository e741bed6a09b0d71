/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* FSBML's own packets: echo, PRTT, tables, questions about a path. For bml_fsbml.h. */
#ifndef MCA_BML_FSBML_PACKET_H
#define MCA_BML_FSBML_PACKET_H

#include "bml_fsbml_compat.h"

/** Active-message tag of FSBML's own packets (echo, PRTT): the top of the range for users of the BTLs. */
#define FSBML_TAG_PROBE ((mca_btl_base_tag_t) (MCA_BTL_TAG_USR + 0x70))

/** Header of FSBML's own packets, in host order; on the wire 32 bytes, little endian. */
typedef struct fsbml_packet_t {
    uint8_t type;
    uint8_t flags;
    ompi_process_name_t from;
    uint32_t seq;   /**< of the probe that it belongs to */
    uint32_t count; /**< PRTT, REQUEST: messages in this probe; ASK: rank that is asked, plus 1; LOOK: the
                       rail */
    uint32_t
        bytes; /**< PRTT, REQUEST: size of each, header included; TABLE, LOOK: of the record; ASK: its job */
    uint32_t delay_ns; /**< REQUEST: of computation between two messages; timed ASK: what its answer may wait;
                        * timed ANSWER: what it waited, for its rail or for the process, if that was more */
} fsbml_packet_t;
enum { FSBML_PACKET_HEADER = 32 };
/** First word on the wire: "FSB" and a version. A change of it goes with one of the hello's version
 * (core/table.cpp), or processes of two FSBML versions would wait for each other's answers. */
#define FSBML_PACKET_MAGIC UINT32_C(0x03425346)
enum {
    FSBML_PACKET_ASK = 1, /**< echo, please answer on this rail */
    FSBML_PACKET_ANSWER = 2,
    FSBML_PACKET_PRTT = 3, /**< one of n messages of a probe */
    FSBML_PACKET_PRTT_BACK = 4,
    FSBML_PACKET_TABLE = 5,   /**< the measurement is over; what came out */
    FSBML_PACKET_READY = 6,   /**< the mirror has come to its part of the measurement */
    FSBML_PACKET_REQUEST = 7, /**< please send so many messages of that size */
    FSBML_PACKET_FLOW = 8,    /**< one of those */
    FSBML_PACKET_LOOK = 9,    /**< what do you see of another path, that does not work? payload: what I see */
    FSBML_PACKET_SEEN = 10,   /**< the answer */
    FSBML_PACKET_STREAM = 11, /**< one message of a stream, the first has the count 0 */
    FSBML_PACKET_STREAM_BACK = 12, /**< bytes: that have come by then; delay_ns: the receiver's clock */
    FSBML_PACKET_RATE = 13,        /**< what a stream that was asked for came to; payload: a table */
};
enum {
    FSBML_PACKET_AWAY = 1,      /**< flag of STREAM_BACK: the receiver had not looked for a while */
    FSBML_PACKET_STREAMED = 32, /**< flag of REQUEST: a stream, not a row; count: of us that it may take,
                                  delay_ns: that it is wanted to take */
    FSBML_PACKET_BRIEF = 1,     /**< flag of PRTT: the answer is to be as small as can be */
    FSBML_PACKET_TIMED =
        2, /**< flag of ASK, and of its ANSWER: for how far the peer is, not whether it is there */
    FSBML_PACKET_ASTRAY = 4,   /**< flag of ANSWER: the question was for another process */
    FSBML_PACKET_AT_ONCE = 16, /**< flag of timed ASK: what waited for the asked process, not for its rail, is
                                  no answer either */
    FSBML_PACKET_GIVEN_UP =
        8, /**< flag of LOOK: the path worked, was measured, and is not used any more from here */
};

/* bml_fsbml_packet.c: on the wire, and their handlers */
int fsbml_packet_init(void);
/** A packet of at least `bytes` bytes in all, header included; payload may be NULL (zeros). */
int fsbml_packet_send(const mca_bml_base_btl_t *entry, const fsbml_packet_t *packet, const void *payload,
                      size_t payload_len, size_t bytes);

#endif /* MCA_BML_FSBML_PACKET_H */
