/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* FSBML's own packets on the real BTLs: their form on the wire, sending one, and which handler gets one that
 * comes in. */

#include <endian.h>
#include <errno.h>
#include <stdio.h>

#include "peers/hooks.h"

/* On the wire: 8 words of 32 bits, little endian. The flags are the second byte of the type's word. */
enum { W_MAGIC, W_TYPE, W_JOB, W_RANK, W_SEQ, W_COUNT, W_BYTES, W_DELAY, N_WORDS };
enum { FLAGS_AT = 8 };
_Static_assert(FSBML_PACKET_HEADER == N_WORDS * sizeof(uint32_t), "the header is eight words");

/* The descriptor that this thread is giving to a BTL. A connection that is refused at once can complete it
 * with an error (and so free it) before btl_send returns an error as well; one that cannot be made for want
 * of a socket leaves it in tcp's queue. */
static _Thread_local const mca_btl_base_descriptor_t *in_hand;

static fsbml_packet_fn_t handler[FSBML_PACKET_TYPES];
static void (*lost)(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);

void fsbml_packet_handle(unsigned type, fsbml_packet_fn_t fn)
{
    handler[type] = fn;
}

void fsbml_packet_lost(void (*fn)(const mca_btl_base_module_t *btl,
                                  const struct mca_btl_base_endpoint_t *endpoint))
{
    lost = fn;
}

static void sent(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                 struct mca_btl_base_descriptor_t *des, int status)
{
    /* Not every BTL also reports a failed connection by its error callback; tcp of 4.1 does not. */
    if (in_hand == des) {
        in_hand = NULL;
    }
    if (OPAL_SUCCESS != status) {
        lost(btl, endpoint);
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
    const fsbml_packet_fn_t fn = packet.type < FSBML_PACKET_TYPES ? handler[packet.type] : NULL;
    if (NULL == fn) {
        FSBML_VERBOSE(FSBML_V_PEER, "a packet of unknown type %u is dropped", packet.type);
        return;
    }
    fn(btl, &packet, (const char *) segment[0].seg_addr.pval + sizeof(word),
       segment[0].seg_len - sizeof(word));
}

static void recv_packet(FSBML_RECV_PARAMS(btl, des))
{
    received(btl, des->des_segments, des->des_segment_count);
}

/* -------------------------------------------------------------------- hellos */

/* What processes tell each other through the run-time's key-value store before the first message: their node
 * and rails (hello, in the modex). The record itself is the core's. */

/* MPI can start several times in one process: each time has keys of its own. All of a job count alike. */
static void make_key(char *key, size_t len)
{
    snprintf(key, len, "fsbml.hello.%u", fsbml_life);
}

static uint32_t my_digest(void)
{
    char text[256];
    fsbml_params_agreed(text, sizeof(text));
    return fsbml_digest(text);
}

/* Ranks in a row, from this one on, that are of this node: a process that has seen one of them need not look
 * at the others. */
static uint32_t ranks_in_a_row(void)
{
    char *ranks = fsbml_kvs_local_ranks(), *at = ranks, *end;
    uint32_t next = OMPI_PROC_MY_NAME->vpid + 1;
    while (NULL != at && '\0' != *at) { /* they are sorted */
        next += next == strtoul(at, &end, 10);
        at = end + strspn(end, ",");
        if ('\0' != *end && ',' != *end) {
            break;
        }
    }
    free(ranks);
    return next - OMPI_PROC_MY_NAME->vpid;
}

int fsbml_hello_publish(uint32_t flags)
{
    const fsbml_rails_t *m = &fsbml_rails;
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    void *record = malloc(fsbml_hello_packed_max());
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    if (NULL != hello && NULL != record) {
        char key[64];
        hello->params_digest = my_digest();
        hello->flags = flags | (0 == m->n_groups ? FSBML_HELLO_PLAIN : 0)
                       | (0 == fsbml_my_local_rank() ? FSBML_HELLO_FIRST : 0);
        hello->node_ranks = fsbml_job_local_size();
        hello->run = ranks_in_a_row();
        snprintf(hello->node, sizeof(hello->node), "%s", fsbml_node_name());
        for (size_t i = 0; i < m->n_keys && hello->n_rails < FSBML_MAX_RAILS; ++i) {
            hello->rail[hello->n_rails].exclusivity =
                i < m->n_btls ? m->btls[i]->btl_exclusivity : FSBML_LEFT_OUT;
            memcpy(hello->rail[hello->n_rails].key, m->btl_key[i], sizeof(hello->rail[0].key));
            hello->n_rails++;
        }
        long len = fsbml_hello_pack(hello, record, fsbml_hello_packed_max());
        make_key(key, sizeof(key));
        rc = len > 0 ? fsbml_kvs_put(key, record, (size_t) len) : OMPI_ERROR;
    }
    free(record);
    free(hello);
    return rc;
}

/* Waits for what a peer publishes. What never comes takes the run-time 10 s or 20 s to find out: enough for
 * one peer, not for a job of them. */
static bool await(const ompi_process_name_t *peer, const char *key, void **record, size_t *len)
{
    static _Atomic uint64_t in_vain_ns;
    static _Atomic uint32_t in_vain_in; /* life of MPI */
    static const uint64_t patience_ns = 5000000000u;
    if (fsbml_life != in_vain_in) {
        in_vain_in = fsbml_life;
        in_vain_ns = 0;
    }
    if (in_vain_ns >= patience_ns && peer->jobid == OMPI_PROC_MY_NAME->jobid) {
        return false;
    }
    const uint64_t start = fsbml_now_ns();
    const bool found = OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_WAIT, record, len);
    in_vain_ns += found ? 0 : fsbml_now_ns() - start;
    return found;
}

/* Waits until a peer has published what it does when it starts, all of it at once: a BTL's address stands for
 * it, which is there without FSBML, too. */
static bool await_start(const ompi_process_name_t *peer)
{
    void *record = NULL;
    size_t len = 0;
    char *key = mca_base_component_to_string(&fsbml_rails.rail[0].btl->btl_component->btl_version);
    const bool found = NULL != key
                       && (OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len)
                           || await(peer, key, &record, &len));
    free(key);
    free(record);
    return found;
}

static int fetch(const ompi_process_name_t *peer, fsbml_hello_t *hello)
{
    char key[64];
    void *record = NULL;
    size_t len = 0;
    make_key(key, sizeof(key));
    /* nearly always there since the modex; processes of other jobs must be asked for */
    bool found = OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len);
    if (!found && (fsbml_life > 1 || 0 == fsbml_rails.n_rails)) {
        found = await(peer, key, &record, &len); /* in a later life an address may be of an earlier one */
    } else if (!found && await_start(peer)) {
        found = OMPI_SUCCESS == fsbml_kvs_get(peer, key, FSBML_KVS_HERE, &record, &len);
    }
    if (!found) {
        return -ENOENT;
    }
    int rc = fsbml_hello_unpack(hello, record, len);
    free(record);
    if (0 != rc) {
        opal_show_help(FSBML_HELP, "malformed record", true, "hello", OMPI_NAME_PRINT(peer));
    }
    return rc;
}

/* A new peer's hello is asked for some times in a row, each of which takes two switches to the run-time's
 * thread and back; for one that has none the wait may be long. */
static struct {
    opal_mutex_t lock;
    uint32_t life; /* of MPI, 0: none was asked for */
    ompi_process_name_t peer;
    int rc;
    fsbml_hello_t hello;
} last = {.lock = OPAL_MUTEX_STATIC_INIT};

int fsbml_hello_fetch(const ompi_process_name_t *peer, fsbml_hello_t *hello)
{
    opal_mutex_lock(&last.lock);
    const bool known = fsbml_life == last.life && OPAL_EQUAL == opal_compare_proc(*peer, last.peer);
    int rc = last.rc;
    if (known) {
        *hello = last.hello;
    }
    opal_mutex_unlock(&last.lock);
    if (known) {
        return rc;
    }
    rc = fetch(peer, hello);
    opal_mutex_lock(&last.lock);
    last.life = fsbml_life;
    last.peer = *peer;
    last.rc = rc;
    last.hello = *hello;
    opal_mutex_unlock(&last.lock);
    return rc;
}

void fsbml_hello_node(const ompi_process_name_t *peer, char node[FSBML_NAME_MAX])
{
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    node[0] = '\0';
    if (NULL != hello && 0 == fsbml_hello_fetch(peer, hello)) {
        snprintf(node, FSBML_NAME_MAX, "%s", hello->node);
    }
    free(hello);
}

uint64_t fsbml_hello_refusals(const ompi_process_name_t *peer)
{
    const fsbml_rails_t *m = &fsbml_rails;
    uint64_t refused = 0;
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    if (NULL != hello && 0 == fsbml_hello_fetch(peer, hello)) {
        for (size_t b = 0; b < m->n_btls && b < 64; ++b) {
            for (uint32_t r = 0; r < hello->n_rails; ++r) {
                if (FSBML_LEFT_OUT == hello->rail[r].exclusivity
                    && 0 == strcmp(hello->rail[r].key, m->btl_key[b])) {
                    refused |= UINT64_C(1) << b;
                }
            }
        }
    }
    free(hello);
    return refused;
}

fsbml_speech_t fsbml_hello_rdma(const ompi_process_name_t *peer)
{
    fsbml_hello_t *hello = calloc(1, sizeof(*hello));
    fsbml_speech_t speech = FSBML_SPEECH_REAL;
    if (NULL != hello && 0 == fsbml_hello_fetch(peer, hello)) {
        speech = hello->flags & FSBML_HELLO_RDMA    ? FSBML_SPEECH_ALL
                 : hello->flags & FSBML_HELLO_PLAIN ? FSBML_SPEECH_REAL
                                                    : FSBML_SPEECH_NONE;
    }
    free(hello);
    return speech;
}

void fsbml_hello_refresh(const ompi_process_name_t *peer)
{
    char key[64];
    void *record = NULL;
    size_t len = 0;
    opal_mutex_lock(&last.lock);
    last.life = 0;
    opal_mutex_unlock(&last.lock);
    make_key(key, sizeof(key));
    /* first wait until the peer has got to this life, then forget what it said in an earlier one */
    if (await(peer, key, &record, &len)) {
        free(record);
        record = NULL;
        (void) fsbml_kvs_get(peer, key, FSBML_KVS_REFRESH, &record, &len);
    }
    free(record);
}

/* ------------------------------------------------------------------- begin */

int fsbml_packet_init(void)
{
    last.life = 0;
    return fsbml_rails_receive(FSBML_TAG_PROBE, recv_packet, NULL);
}
