/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* FSBML's own packets on the real BTLs: their form on the wire, sending one, and which handler gets one that
 * comes in. */

#include <endian.h>

#include "bml_fsbml_hooks.h"

/* On the wire: 8 words of 32 bits, little endian. The flags are the second byte of the type's word. */
enum { W_MAGIC, W_TYPE, W_JOB, W_RANK, W_SEQ, W_COUNT, W_BYTES, W_DELAY, N_WORDS };
enum { FLAGS_AT = 8 };
_Static_assert(FSBML_PACKET_HEADER == N_WORDS * sizeof(uint32_t), "the header is eight words");

/* The descriptor that this thread is giving to a BTL. A connection that is refused at once can complete it
 * with an error (and so free it) before btl_send returns an error as well; one that cannot be made for want
 * of a socket leaves it in tcp's queue. */
static _Thread_local const mca_btl_base_descriptor_t *in_hand;

static void sent(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                 struct mca_btl_base_descriptor_t *des, int status)
{
    /* Not every BTL also reports a failed connection by its error callback; tcp of 4.1 does not. */
    if (in_hand == des) {
        in_hand = NULL;
    }
    if (OPAL_SUCCESS != status) {
        fsbml_proof_lost(btl, endpoint);
    }
}

int fsbml_packet_send(const mca_bml_base_btl_t *entry, const fsbml_packet_t *packet, const void *payload,
                      size_t payload_len, size_t bytes)
{
    mca_btl_base_module_t *btl = entry->btl;
    int rail = fsbml_rail_of(btl);
    uint32_t tag = rail >= 0 ? fsbml_des_tag((uint32_t) rail) : 0;
    size_t size = FSBML_PACKET_HEADER + payload_len;
    size = size < bytes ? bytes : size;

    mca_btl_base_descriptor_t *des = btl->btl_alloc(
        btl, entry->btl_endpoint, MCA_BTL_NO_ORDER, size,
        MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_FLAGS_SIGNAL | tag);
    if (NULL == des) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (tag != (des->des_flags & FSBML_DES_MASK)) {
        btl->btl_free(btl, des); /* FSBML could not tell whose descriptor it is */
        return OMPI_ERR_NOT_SUPPORTED;
    }
    unsigned char *at = des->des_segments[0].seg_addr.pval;
    const uint32_t word[N_WORDS] = {
        [W_MAGIC] = htole32(FSBML_PACKET_MAGIC),
        [W_TYPE] = htole32(packet->type | (uint32_t) packet->flags << FLAGS_AT),
        [W_JOB] = htole32(packet->from.jobid),
        [W_RANK] = htole32(packet->from.vpid),
        [W_SEQ] = htole32(packet->seq),
        [W_COUNT] = htole32(packet->count),
        [W_BYTES] = htole32(packet->bytes),
        [W_DELAY] = htole32(packet->delay_ns),
    };
    memcpy(at, word, sizeof(word));
    if (payload_len > 0) {
        memcpy(at + sizeof(word), payload, payload_len);
    }
    memset(at + sizeof(word) + payload_len, 0, size - sizeof(word) - payload_len);
    des->des_cbfunc = sent;
    des->des_cbdata = NULL;
    des->des_context = NULL;
    in_hand = des;
    int rc = btl->btl_send(btl, entry->btl_endpoint, des, FSBML_TAG_PROBE);
    const bool still_ours = in_hand == des;
    in_hand = NULL;
    if (rc < 0 && OMPI_ERR_RESOURCE_BUSY != rc) {
        if (still_ours && fsbml_refused_is_whole(rc)) {
            btl->btl_free(btl, des);
        }
        return rc;
    }
    return OMPI_SUCCESS;
}

static void received(mca_btl_base_module_t *btl, const mca_btl_base_segment_t *segment, size_t n_segments)
{
    uint32_t word[N_WORDS];
    if (n_segments < 1 || segment[0].seg_len < sizeof(word)) {
        return; /* not ours, whatever it is */
    }
    memcpy(word, segment[0].seg_addr.pval, sizeof(word));
    if (FSBML_PACKET_MAGIC != le32toh(word[W_MAGIC])) {
        FSBML_VERBOSE(FSBML_V_PEER, "a packet of another FSBML version is dropped");
        return;
    }
    fsbml_packet_t packet = {
        .type = (uint8_t) le32toh(word[W_TYPE]),
        .flags = (uint8_t) (le32toh(word[W_TYPE]) >> FLAGS_AT),
        .from = {.jobid = le32toh(word[W_JOB]), .vpid = le32toh(word[W_RANK])},
        .seq = le32toh(word[W_SEQ]),
        .count = le32toh(word[W_COUNT]),
        .bytes = le32toh(word[W_BYTES]),
        .delay_ns = le32toh(word[W_DELAY]),
    };
    switch (packet.type) {
    case FSBML_PACKET_ASK:
        fsbml_ask_heard(btl, &packet);
        break;
    case FSBML_PACKET_ANSWER:
        fsbml_ask_answered(btl, &packet);
        break;
    case FSBML_PACKET_PRTT:
    case FSBML_PACKET_PRTT_BACK:
    case FSBML_PACKET_TABLE:
    case FSBML_PACKET_READY:
    case FSBML_PACKET_REQUEST:
    case FSBML_PACKET_FLOW:
    case FSBML_PACKET_STREAM:
    case FSBML_PACKET_STREAM_BACK:
    case FSBML_PACKET_RATE:
        fsbml_calibrate_packet(btl, &packet, (const char *) segment[0].seg_addr.pval + sizeof(word),
                               segment[0].seg_len - sizeof(word));
        break;
    case FSBML_PACKET_LOOK:
    case FSBML_PACKET_SEEN:
        fsbml_diagnose_packet(btl, &packet, (const char *) segment[0].seg_addr.pval + sizeof(word),
                              segment[0].seg_len - sizeof(word));
        break;
    default:
        FSBML_VERBOSE(FSBML_V_PEER, "a packet of unknown type %u is dropped", packet.type);
    }
}

static void recv_packet(FSBML_RECV_PARAMS(btl, des))
{
#ifdef FSBML_OMPI_4
    (void) recv_tag;
    (void) recv_data;
#endif
    received(btl, des->des_segments, des->des_segment_count);
}

int fsbml_packet_init(void)
{
    return fsbml_recv_register_raw(FSBML_TAG_PROBE, recv_packet);
}
