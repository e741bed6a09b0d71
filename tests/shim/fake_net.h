/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rails in virtual time between this process and a peer that answers probes as FSBML does. For tests of what
 * is measured, and of what happens when a rail, or the peer, does not do as it should.
 */
#ifndef FSBML_TESTS_FAKE_NET_H
#define FSBML_TESTS_FAKE_NET_H

#include "fake_pml.h"

enum { W_MAGIC, W_TYPE, W_JOB, W_RANK, W_SEQ, W_COUNT, W_BYTES, W_DELAY, N_WORDS };
enum { THERE, BACK, N_WAYS, NET_MOST = 8192 };

typedef struct net_message_t {
    uint64_t at_ns;
    int rail, way;
    size_t bytes;
    uint32_t word[N_WORDS];
} net_message_t;

static struct {
    double G_ns; /* per byte, each way */
    uint64_t L_ns, o_r_ns;
    uint64_t free_ns[N_WAYS];            /* when it has carried all that it was given */
    uint64_t stall_ns, stalled_until_ns; /* TCP waits for a lost frame */
    int dies_after;                      /* number of messages; 0: never */
    int carried;
    int shares_with;       /* another rail whose bytes it waits for, -1: none */
    double beside;         /* how many times as long it takes while the other of two rails is busy, 0: once */
    size_t at_once;        /* alone, a message of some KiB and no more than that takes a quarter */
    uint32_t seq, counted; /* the peer's, of the probe that comes in */
    uint32_t requested;    /* number of the last request */
    uint32_t streamed;     /* bytes of the stream that comes in, ... */
    uint32_t begins;       /* ... of its first message, ... */
    uint64_t lasted_ns;    /* ... until its last one, ... */
    uint64_t streams_ns;   /* ... and when that came */
    fsbml_streaming_t *stream; /* that the peer was asked for */
    uint32_t stream_seq, stream_count;
} net[N_FAKES];

static net_message_t net_message[NET_MOST]; /* on their way */
static size_t net_messages;
static int net_served;       /* messages that the peer has sent for requests */
static int net_rates;        /* that the peer was told */
static bool net_table;       /* the peer has got one */
static uint64_t net_turn_ns; /* the peer waits for its turns: so long, four times, seven times as long ... */
static unsigned net_turns;
static uint64_t net_wanted_ns;  /* how long the last stream was to take that it was asked for */
static uint64_t net_longest_ns; /* that a stream took to come in */
static int net_timed;           /* timed questions that it got */

static void net_reset(void)
{
    for (int i = 0; i < N_FAKES; ++i) {
        fsbml_streaming_destroy(net[i].stream);
    }
    memset(net, 0, sizeof(net));
    net_messages = 0;
    net_served = 0;
    net_rates = 0;
    net_table = false;
    net_turn_ns = net_wanted_ns = net_longest_ns = 0;
    net_turns = 0;
    net_timed = 0;
    for (int i = 0; i < N_FAKES; ++i) {
        net[i].shares_with = -1;
    }
}

static void net_push(int rail, int way, const uint32_t *word, size_t bytes, uint64_t from_ns)
{
    const int other = net[rail].shares_with;
    net_message_t *m = &net_message[net_messages];
    if (0 != net[rail].dies_after && ++net[rail].carried > net[rail].dies_after) {
        return;
    }
    if (NET_MOST == net_messages) {
        CHECK(!"too much on its way");
        return;
    }
    uint64_t start = from_ns > net[rail].free_ns[way] ? from_ns : net[rail].free_ns[way];
    start = other >= 0 && net[other].free_ns[way] > start ? net[other].free_ns[way] : start;
    const bool slowed = 0 != net[rail].beside && net[1 - rail].free_ns[way] > start;
    const bool passes = bytes > 4096 && bytes <= net[rail].at_once && start > net[rail].free_ns[way];
    const double times = slowed ? net[rail].beside : passes ? 0.25 : 1;
    net[rail].free_ns[way] = start + (uint64_t) (net[rail].G_ns * times * (double) bytes);
    *m = (net_message_t){
        .at_ns = net[rail].free_ns[way] + net[rail].L_ns, .rail = rail, .way = way, .bytes = bytes};
    memcpy(m->word, word, sizeof(m->word));
    ++net_messages;
}

/* Sent at once: the network has it, and the descriptor is free again. */
static int net_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *ep,
                    mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    fake_btl_t *from = (fake_btl_t *) btl;
    const int rc = fake_send(btl, ep, des, tag);
    int to;
    fake_des_t *sent = OMPI_SUCCESS == rc && FSBML_TAG_PROBE == tag ? fake_take(from, true, &to) : NULL;
    if (NULL != sent) {
        net_push(fake_number(btl), THERE, sent->segment[0].seg_addr.pval, sent->segment[0].seg_len,
                 virtual_ns);
        fake_free(btl, &sent->super);
    }
    return rc;
}

static void net_back(int rail, uint32_t type, const uint32_t *word, size_t bytes, uint64_t from_ns)
{
    uint32_t answer[N_WORDS];
    memcpy(answer, word, sizeof(answer));
    answer[W_TYPE] = type;
    answer[W_JOB] = 1;
    answer[W_RANK] = 1;
    net_push(rail, BACK, answer, bytes > sizeof(answer) ? bytes : sizeof(answer), from_ns);
}

/* What the peer does about a message when it comes, also if this process looks only later. */
static void net_peer(int rail, const uint32_t *word, uint64_t now)
{
    uint32_t answer[N_WORDS];
    const uint32_t timed = word[W_TYPE] & (uint32_t) FSBML_PACKET_TIMED << 8;
    switch (word[W_TYPE] & 0xff) {
    case FSBML_PACKET_ASK:
        memcpy(answer, word, sizeof(answer));
        answer[W_DELAY] = 0;
        net_timed += 0 != timed;
        net_back(rail, FSBML_PACKET_ANSWER | timed, answer, 0, now);
        break;
    case FSBML_PACKET_PRTT:
        net[rail].counted = word[W_SEQ] == net[rail].seq ? net[rail].counted + 1 : 1;
        net[rail].seq = word[W_SEQ];
        if (net[rail].counted == word[W_COUNT]) {
            const bool brief = 0 != (word[W_TYPE] >> 8 & FSBML_PACKET_BRIEF);
            const uint64_t late_ns = net_turn_ns * (1 + 3 * net_turns++ % 11);
            net_back(rail, FSBML_PACKET_PRTT_BACK, word, brief ? 0 : word[W_BYTES], now + late_ns);
        }
        break;
    case FSBML_PACKET_STREAM:
        net[rail].streamed = 0 == word[W_COUNT] ? word[W_BYTES] : net[rail].streamed + word[W_BYTES];
        net[rail].begins = 0 == word[W_COUNT] ? word[W_BYTES] : net[rail].begins;
        net[rail].streams_ns = 0 == word[W_COUNT] ? now : net[rail].streams_ns;
        net[rail].lasted_ns = now - net[rail].streams_ns;
        if (net[rail].lasted_ns > net_longest_ns) {
            net_longest_ns = net[rail].lasted_ns;
        }
        memcpy(answer, word, sizeof(answer));
        answer[W_BYTES] = net[rail].streamed;
        answer[W_DELAY] = (uint32_t) now;
        net_back(rail, FSBML_PACKET_STREAM_BACK, answer, 0, now);
        break;
    case FSBML_PACKET_STREAM_BACK:
        if (NULL != net[rail].stream && word[W_SEQ] == net[rail].stream_seq) {
            fsbml_streaming_arrived(net[rail].stream, word[W_BYTES], now, false);
        }
        break;
    case FSBML_PACKET_REQUEST:
        net[rail].requested = word[W_SEQ];
        if (0 != (word[W_TYPE] >> 8 & FSBML_PACKET_STREAMED)) {
            const fsbml_streaming_limits_t limits = {32, 65536, word[W_DELAY],
                                                     UINT64_C(1000) * word[W_COUNT]};
            net_wanted_ns = limits.wanted_ns;
            fsbml_streaming_destroy(net[rail].stream);
            net[rail].stream = fsbml_streaming_create(&limits);
            net[rail].stream_seq = word[W_SEQ];
            net[rail].stream_count = 0;
            break;
        }
        for (uint32_t i = 0; i < word[W_COUNT]; ++i) {
            net_back(rail, FSBML_PACKET_FLOW, word, word[W_BYTES], now + (uint64_t) i * word[W_DELAY]);
            ++net_served;
        }
        break;
    case FSBML_PACKET_RATE:
        net_rates++;
        break;
    case FSBML_PACKET_TABLE:
        net_table = true;
        break;
    default:
        break;
    }
}

/* The message as long as it says it is. */
static void net_deliver(int rail, uint32_t *word)
{
    static uint32_t whole[65536 / sizeof(uint32_t)];
    const bool streams = FSBML_PACKET_STREAM == (word[W_TYPE] & 0xff);
    if (FSBML_PACKET_RATE == (word[W_TYPE] & 0xff)) {
        fake_deliver(&fake[rail], FSBML_TAG_PROBE, word, N_WORDS * sizeof(*word) + word[W_BYTES]);
        return;
    }
    memcpy(whole, word, N_WORDS * sizeof(*word));
    fake_deliver(&fake[rail], FSBML_TAG_PROBE, whole, streams ? word[W_BYTES] : N_WORDS * sizeof(*word));
}

/* Handlers of what arrives here. */
static void (*net_to)(int rail, uint32_t *word) = net_deliver;

/* What came out of a stream, in a table as the mirror sends it. */
static void net_tell_rate(int rail)
{
    static uint64_t record[8192];
    fsbml_table_t *table = calloc(1, sizeof(*table));
    const fsbml_rate_t rate = fsbml_streaming_rate(net[rail].stream);
    table->n_rails = 1;
    table->rail[0].fit.valid = true;
    table->rail[0].fit.params.G_ns_per_byte = rate.G_ns_per_byte;
    table->rail[0].fit.tight = rate.steady;
    CHECK(sizeof(record) >= N_WORDS * 4 + fsbml_table_packed_max());
    const long len = fsbml_table_pack(table, record + N_WORDS / 2, fsbml_table_packed_max());
    const uint32_t word[N_WORDS] = {
        FSBML_PACKET_MAGIC, FSBML_PACKET_RATE, 1, 1, net[rail].stream_seq, 0, (uint32_t) len, 0};
    memcpy(record, word, sizeof(word));
    net_to(rail, (uint32_t *) record);
    free(table);
    fsbml_streaming_destroy(net[rail].stream);
    net[rail].stream = NULL;
}

/* The peer goes on with the stream that it was asked for. */
static void net_streams(void)
{
    for (int rail = 0; rail < 2; ++rail) {
        uint32_t bytes;
        while (NULL != net[rail].stream
               && 0 != (bytes = fsbml_streaming_next(net[rail].stream, virtual_ns))) {
            const uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC,   FSBML_PACKET_STREAM,      1,     1,
                                            net[rail].stream_seq, net[rail].stream_count++, bytes, 0};
            net_push(rail, BACK, word, bytes, virtual_ns);
            fsbml_streaming_sent(net[rail].stream, bytes);
        }
        if (NULL != net[rail].stream && fsbml_streaming_over(net[rail].stream)) {
            net_tell_rate(rail);
        }
    }
}

/* Brings what has arrived by now, in the order of its times. */
static void net_bring(void)
{
    for (;;) {
        size_t first = 0;
        for (size_t i = 1; i < net_messages; ++i) {
            first = net_message[i].at_ns < net_message[first].at_ns ? i : first;
        }
        if (0 == net_messages || net_message[first].at_ns > virtual_ns) {
            return;
        }
        net_message_t m = net_message[first];
        if (0 != net[m.rail].stall_ns) { /* this one and those behind it come later */
            net[m.rail].stalled_until_ns = virtual_ns + net[m.rail].stall_ns;
            net[m.rail].stall_ns = 0;
        }
        if (net[m.rail].stalled_until_ns > virtual_ns) {
            net_message[first].at_ns = net[m.rail].stalled_until_ns;
            continue;
        }
        memmove(&net_message[first], &net_message[first + 1], (--net_messages - first) * sizeof(m));
        if (THERE == m.way) {
            net_peer(m.rail, m.word, m.at_ns);
        } else {
            virtual_ns += net[m.rail].o_r_ns;
            net_to(m.rail, m.word);
        }
    }
}

static void (*net_also)(void); /* done at every progress, too */

/* Of a look: longer where nothing comes for a while, so that virtual seconds of waiting are soon over. */
static uint64_t net_look_ns(void)
{
    for (size_t i = 0; i < net_messages; ++i) {
        const uint64_t stalled = net[net_message[i].rail].stalled_until_ns;
        const uint64_t at = net_message[i].at_ns > stalled ? net_message[i].at_ns : stalled;
        if (at < virtual_ns + 20000) {
            return 200;
        }
    }
    return NULL == net[0].stream && NULL == net[1].stream ? 2000 : 200;
}

#ifdef FSBML_OMPI_4
void opal_progress(void)
#else
int opal_progress(void)
#endif
{
    opal_progress_callback_t fn = progress_fn;
    virtual_ns += net_look_ns();
    if (looks_are_told) {
        (void) fsbml_away_looked();
    }
    if (NULL != fn) {
        (void) fn();
    }
    if (NULL != net_also) {
        net_also();
    }
    net_bring();
    net_streams();
#ifndef FSBML_OMPI_4
    return 0;
#endif
}

/* Two rails in virtual time, proved: `fast` and `slow` are ns per byte. */
static inline mca_bml_fsbml_endpoint_t *net_up(double fast, double slow)
{
    net_reset();
    look_ns = 20;
    for (int i = 0; i < 2; ++i) {
        fake_construct(&fake[i], 65536, 65536, 10);
        fake[i].super.btl_send = net_send;
        net[i].G_ns = 0 == i ? fast : slow;
        net[i].L_ns = 10000;
        net[i].o_r_ns = 500;
    }
    world_up(2);
    (void) peer_up();
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    for (int i = 0; i < 1000 && 3 != ep->live; ++i) {
        opal_progress();
    }
    CHECK(3 == ep->live);
    return ep;
}

/* The table that another pair has measured: 10 us on both rails. */
static inline void net_table_comes(void)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    table->n_rails = 2;
    for (uint32_t i = 0; i < 2; ++i) {
        const fsbml_loggp_t p = LOGGP(10e3, 300, 40, 0 == i ? 40 : 80);
        memcpy(table->rail[i].key, fsbml_rails.rail[i].key, sizeof(table->rail[i].key));
        table->rail[i].fit.valid = true;
        table->rail[i].fit.params = p;
    }
    fsbml_table_apply(table);
    free(table);
}

static inline void net_down(void)
{
    net_also = NULL;
    net_reset();
    world_down(2);
    look_ns = 0;
}

#endif /* FSBML_TESTS_FAKE_NET_H */
