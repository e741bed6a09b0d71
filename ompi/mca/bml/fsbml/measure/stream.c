/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of messages on real BTLs, as sender and as receiver; how much is sent when, and what the arrivals
 * come to, the core says (core/measure/start/start.hpp).
 *
 *           sender                    receiver
 *           n STREAM        each:     STREAM_BACK, with its time and the bytes that have come by then
 *
 * The mirror sends one where it is asked to (REQUEST with the flag), and then says what came out (RATE). */

#include <sched.h>

#include "measure/measure.h"

#include "opal/runtime/opal_progress.h"

/* A process that has not looked for so long has to say so: the time of what comes next is not that of its
 * arrival. */
enum { AWAY_NS = 1000000 };
/* After so long without a word from the other end it may be because it waits for this processor. If it is not
 * the other end that takes it then, but a process that keeps it, it is not given away any more. */
enum { IDLE_NS = 500000, GONE_NS = 2000000, MOST_GONE = 3 };
enum { ASKED_NS = 300000 }; /* between two questions to the kernel about a stream */
typedef struct incoming_t {
    const mca_bml_fsbml_path_t *path;
    uint32_t seq, bytes, pauses; /* how many there had been when it last came */
    uint64_t heard_ns;
    fsbml_packet_t back;
} incoming_t;

typedef struct outgoing_t {
    fsbml_streaming_t *stream; /* NULL: none */
    uint32_t seq;
    uint64_t stamp_ns, heard_ns, asked_ns;
    int fd;                /* of its connection, -1: nothing can be asked */
    uint64_t acknowledged; /* by its peer, before */
} outgoing_t;

/* One a rail each. The lock is held for moments, never over a BTL's function. */
static incoming_t incoming[FSBML_MAX_RAILS];
static outgoing_t outgoing[FSBML_MAX_RAILS];
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static uint64_t looked_ns;
static uint32_t pauses; /* of this process */
static _Atomic uint64_t heard_ns;
static _Atomic int gone;
static _Atomic uint32_t owed; /* rails (bits) that had no room for the last answer */

/* What the mirror is asked for, and what the leader has heard from it. */
static struct {
    _Atomic bool wanted;
    const mca_bml_fsbml_path_t *path;
    fsbml_packet_t request;
} asked;
static struct {
    uint32_t seq; /* 0: nothing is awaited */
    fsbml_rate_t rate;
} told;

void fsbml_stream_reset(void)
{
    opal_mutex_lock(&lock);
    memset(incoming, 0, sizeof(incoming));
    atomic_store(&asked.wanted, false);
    atomic_store(&owed, 0);
    atomic_store(&gone, 0);
    told.seq = 0;
    opal_mutex_unlock(&lock);
}

/* This process looks at its rails. The lock is held. */
static void looks(uint64_t now)
{
    pauses += now - looked_ns > AWAY_NS;
    looked_ns = now;
}

void fsbml_stream_heard(void)
{
    atomic_store(&heard_ns, fsbml_now_ns());
}

void fsbml_stream_yield(void)
{
    const uint64_t now = fsbml_now_ns();
    if (now - atomic_load(&heard_ns) > IDLE_NS && atomic_load(&gone) < MOST_GONE) {
        (void) sched_yield();
        if (fsbml_now_ns() - now > GONE_NS) {
            atomic_fetch_add(&gone, 1);
        }
    }
}

/* ------------------------------------------------------------------ receiver */

static void answer(incoming_t *in)
{
    opal_mutex_lock(&lock);
    const mca_bml_fsbml_path_t *path = in->path;
    const fsbml_packet_t back = in->back;
    opal_mutex_unlock(&lock);
    if (OMPI_ERR_OUT_OF_RESOURCE == fsbml_packet_send(&path->super, &back, NULL, 0, 0)) {
        atomic_fetch_or(&owed, fsbml_bit(path->rail)); /* it, or the next one, which says as much */
    }
}

static void message_came(const mca_bml_fsbml_path_t *path, const fsbml_packet_t *packet, size_t bytes)
{
    const uint64_t now = fsbml_now_ns();
    incoming_t *in = &incoming[path->rail];
    opal_mutex_lock(&lock);
    looks(now);
    if (0 == packet->count) {
        *in = (incoming_t){.path = path, .seq = packet->seq, .pauses = pauses};
    }
    const bool known = in->seq == packet->seq && in->path == path;
    if (known) {
        const bool away = in->pauses != pauses;
        in->pauses = pauses;
        in->bytes += (uint32_t) bytes;
        in->heard_ns = now;
        in->back = (fsbml_packet_t){.type = FSBML_PACKET_STREAM_BACK,
                                    .flags = away ? FSBML_PACKET_AWAY : 0,
                                    .from = *OMPI_PROC_MY_NAME,
                                    .seq = packet->seq,
                                    .bytes = in->bytes,
                                    .delay_ns = (uint32_t) now};
    }
    opal_mutex_unlock(&lock);
    if (known) {
        answer(in);
    }
}

/* Between two looks at the rails: what is owed is paid. */
static void look(void)
{
    const uint64_t now = fsbml_now_ns();
    opal_mutex_lock(&lock);
    looks(now);
    opal_mutex_unlock(&lock);
    for (uint32_t rails = 0 != atomic_load(&owed) ? atomic_exchange(&owed, 0) : 0; 0 != rails;
         rails &= rails - 1) {
        answer(&incoming[__builtin_ctz(rails)]);
    }
    fsbml_stream_yield();
}

/* -------------------------------------------------------------------- sender */

static void answer_came(uint32_t rail, const fsbml_packet_t *packet)
{
    outgoing_t *out = &outgoing[rail];
    opal_mutex_lock(&lock);
    if (NULL != out->stream && out->seq == packet->seq) {
        const int32_t since = (int32_t) (packet->delay_ns - (uint32_t) out->stamp_ns);
        out->stamp_ns += (uint64_t) (int64_t) since;
        out->heard_ns = fsbml_now_ns();
        fsbml_streaming_arrived(out->stream, packet->bytes, out->stamp_ns,
                                0 != (packet->flags & FSBML_PACKET_AWAY));
    }
    opal_mutex_unlock(&lock);
}

/* What the kernel does of a stream goes on while the processes are away. */
static void ask_kernel(outgoing_t *out, uint64_t now)
{
    fsbml_kernel_flow_t flow;
    if (out->fd >= 0 && now - out->asked_ns >= ASKED_NS && fsbml_streaming_asks(out->stream)
        && fsbml_kernel_flow(out->fd, &flow)) {
        const fsbml_streaming_look_t look = {.ns = now,
                                             .acknowledged = flow.acknowledged - out->acknowledged,
                                             .queued = flow.queued,
                                             .limited_ns = flow.limited_ns};
        out->asked_ns = now;
        fsbml_streaming_look(out->stream, &look);
    }
}

/* Opens a stream; false if there is no memory for it. */
static bool begin(const mca_bml_fsbml_path_t *path, const fsbml_streaming_limits_t *limits, uint32_t seq)
{
    outgoing_t *out = &outgoing[path->rail];
    fsbml_streaming_t *stream = fsbml_streaming_create(limits);
    const uint64_t now = fsbml_now_ns();
    fsbml_kernel_flow_t flow = {.acknowledged = 0};
    const int fd = fsbml_socket_find(path->super.btl, path->super.btl_endpoint);
    const bool asks = fd >= 0 && fsbml_kernel_flow(fd, &flow);
    opal_mutex_lock(&lock);
    *out = (outgoing_t){.stream = stream, .seq = seq, .stamp_ns = now, .heard_ns = now, .fd = asks ? fd : -1};
    out->acknowledged = flow.acknowledged;
    opal_mutex_unlock(&lock);
    return NULL != stream;
}

static fsbml_rate_t end(const mca_bml_fsbml_path_t *path)
{
    outgoing_t *out = &outgoing[path->rail];
    opal_mutex_lock(&lock);
    fsbml_streaming_t *stream = out->stream;
    out->stream = NULL;
    opal_mutex_unlock(&lock);
    const fsbml_rate_t rate = fsbml_streaming_rate(stream);
    fsbml_streaming_destroy(stream);
    return rate;
}

typedef enum state_t { GOES_ON, OVER, SILENT } state_t;

/* What there is to do for one stream now. */
static state_t go_on(const mca_bml_fsbml_path_t *path, uint32_t *count, uint64_t limit_ns,
                     uint64_t *sending_ns)
{
    outgoing_t *out = &outgoing[path->rail];
    for (;;) {
        const uint64_t now = fsbml_now_ns();
        opal_mutex_lock(&lock);
        ask_kernel(out, now);
        const uint32_t bytes = fsbml_streaming_next(out->stream, now);
        const bool over = fsbml_streaming_over(out->stream), silent = now - out->heard_ns > limit_ns;
        opal_mutex_unlock(&lock);
        if (over || silent || 0 == bytes) {
            return over ? OVER : silent ? SILENT : GOES_ON;
        }
        const fsbml_packet_t packet = {.type = FSBML_PACKET_STREAM,
                                       .from = *OMPI_PROC_MY_NAME,
                                       .seq = out->seq,
                                       .count = *count,
                                       .bytes = bytes};
        const int rc = fsbml_packet_send(&path->super, &packet, NULL, 0, bytes);
        *sending_ns += fsbml_now_ns() - now;
        if (OMPI_SUCCESS != rc) {
            return OMPI_ERR_OUT_OF_RESOURCE == rc ? GOES_ON : SILENT;
        }
        opal_mutex_lock(&lock);
        fsbml_streaming_sent(out->stream, bytes);
        opal_mutex_unlock(&lock);
        ++*count;
    }
}

bool fsbml_stream_run(size_t n, const mca_bml_fsbml_path_t *const path[],
                      const fsbml_streaming_limits_t limits[], uint64_t limit_ns, fsbml_rate_t rate[],
                      double *sending)
{
    static uint32_t turn; /* never begun anew: what is late from an earlier life of MPI has another number */
    uint32_t count[FSBML_MAX_RAILS] = {0};
    uint64_t sending_ns = 0;
    bool good = true;
    size_t left = n;
    ++turn;
    const uint64_t start = fsbml_now_ns();
    for (size_t i = 0; i < n; ++i) {
        good = begin(path[i], &limits[i], turn) && good;
    }
    while (good && left > 0) {
        left = 0;
        for (size_t i = 0; i < n && good; ++i) {
            const state_t state = go_on(path[i], &count[i], limit_ns, &sending_ns);
            good = SILENT != state;
            left += OVER != state;
        }
        look();
        opal_progress();
    }
    *sending = (double) sending_ns / (double) (fsbml_now_ns() - start + 1);
    for (size_t i = 0; i < n; ++i) {
        rate[i] = end(path[i]);
    }
    return good;
}

/* ------------------------------------------------- a stream the other way */

/* The leader asks for it; false if nothing came for a while. */
bool fsbml_stream_ask(const mca_bml_fsbml_path_t *path, const fsbml_streaming_limits_t *limits,
                      uint64_t limit_ns, fsbml_rate_t *rate)
{
    static uint32_t turn;
    const fsbml_packet_t request = {.type = FSBML_PACKET_REQUEST,
                                    .flags = FSBML_PACKET_STREAMED,
                                    .from = *OMPI_PROC_MY_NAME,
                                    .seq = ++turn,
                                    .count = (uint32_t) (limits->longest_ns / 1000),
                                    .delay_ns = (uint32_t) limits->wanted_ns};
    incoming_t *in = &incoming[path->rail];
    uint64_t heard = fsbml_now_ns();
    bool waits = true, sent = false;
    opal_mutex_lock(&lock);
    told.seq = request.seq;
    opal_mutex_unlock(&lock);
    while (waits && fsbml_now_ns() - heard <= limit_ns) {
        sent = sent || OMPI_SUCCESS == fsbml_packet_send(&path->super, &request, NULL, 0, 0);
        look();
        opal_progress();
        opal_mutex_lock(&lock);
        heard = in->heard_ns > heard ? in->heard_ns : heard;
        waits = told.seq == request.seq;
        opal_mutex_unlock(&lock);
    }
    opal_mutex_lock(&lock);
    waits = told.seq == request.seq; /* it may have come at last */
    told.seq = 0;
    *rate = told.rate;
    opal_mutex_unlock(&lock);
    return !waits;
}

/* In a table's record, as that is checked as a whole. */
static void tell(const mca_bml_fsbml_path_t *path, uint32_t seq, const fsbml_rate_t *rate)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    void *record = malloc(fsbml_table_packed_max());
    if (NULL != table && NULL != record) {
        fsbml_fit_t *fit = &table->rail[0].fit;
        table->n_rails = 1;
        fit->valid = rate->G_ns_per_byte > 0;
        fit->params.G_ns_per_byte = rate->G_ns_per_byte;
        fit->residual = rate->G_ns_per_byte > 0 ? rate->high_ns_per_byte / rate->G_ns_per_byte - 1 : 0;
        fit->tight = rate->steady;
        fit->probes = rate->stamps;
        const long len = fsbml_table_pack(table, record, fsbml_table_packed_max());
        const fsbml_packet_t packet = {.type = FSBML_PACKET_RATE,
                                       .from = *OMPI_PROC_MY_NAME,
                                       .seq = seq,
                                       .bytes = len > 0 ? (uint32_t) len : 0};
        const uint64_t until = fsbml_now_ns() + fsbml_prtt_limit();
        while (len > 0 && fsbml_now_ns() < until
               && OMPI_ERR_OUT_OF_RESOURCE
                      == fsbml_packet_send(&path->super, &packet, record, (size_t) len, 0)) {
            opal_progress();
        }
    }
    free(record);
    free(table);
}

static void rate_came(const fsbml_packet_t *packet, const void *record, size_t len)
{
    fsbml_table_t *table = calloc(1, sizeof(*table));
    if (NULL != table && packet->bytes <= len && 0 == fsbml_table_unpack(table, record, packet->bytes)) {
        const fsbml_fit_t *fit = &table->rail[0].fit;
        const double G = fit->valid ? fit->params.G_ns_per_byte : 0;
        opal_mutex_lock(&lock);
        if (0 != packet->seq && packet->seq == told.seq) {
            told.rate = (fsbml_rate_t){.G_ns_per_byte = G,
                                       .low_ns_per_byte = G,
                                       .high_ns_per_byte = G * (1 + fit->residual),
                                       .stamps = fit->probes,
                                       .steady = fit->tight};
            told.seq = 0;
        }
        opal_mutex_unlock(&lock);
    }
    free(table);
}

void fsbml_stream_serve(const _Atomic bool *over)
{
    look();
    if (!atomic_load(&asked.wanted)) {
        return;
    }
    opal_mutex_lock(&lock);
    const mca_bml_fsbml_path_t *path = asked.path;
    const fsbml_packet_t request = asked.request;
    atomic_store(&asked.wanted, false);
    opal_mutex_unlock(&lock);
    const uint64_t most = fsbml_prtt_limit(), longest = request.count * UINT64_C(1000);
    const fsbml_streaming_limits_t limits = fsbml_stream_limits(
        path, request.delay_ns < most ? request.delay_ns : most, longest < most ? longest : most);
    fsbml_rate_t rate;
    double sending;
    if (fsbml_stream_run(1, &path, &limits, fsbml_prtt_limit(), &rate, &sending) && !atomic_load(over)) {
        tell(path, request.seq, &rate);
    }
}

void fsbml_stream_packet(const mca_bml_fsbml_path_t *path, const fsbml_packet_t *packet, const void *payload,
                         size_t len)
{
    switch (packet->type) {
    case FSBML_PACKET_STREAM:
        message_came(path, packet, FSBML_PACKET_HEADER + len);
        break;
    case FSBML_PACKET_STREAM_BACK:
        answer_came(path->rail, packet);
        break;
    case FSBML_PACKET_RATE:
        rate_came(packet, payload, len);
        break;
    default: /* a request */
        opal_mutex_lock(&lock);
        asked.path = path;
        asked.request = *packet;
        atomic_store(&asked.wanted, true);
        opal_mutex_unlock(&lock);
        break;
    }
}
