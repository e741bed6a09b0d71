/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random traffic between all ranks for a given time. What each rank sends in an epoch follows from the seed,
 * so that the receivers know size, tag and content of every message and notice one that is lost, comes twice,
 * or overtakes another. Nothing separates two epochs: a rank that is done goes on, and the next one's
 * agreement (go on, or stop?) holds the fast ones back so that they are never two ahead. Memory must not
 * grow. Usage: soak [SECONDS [SEED]]
 *
 * No deadlock: only sends to ranks that come earlier in the epoch's order block, so that no circle of ranks
 * waits in sends; no rank blocks in a receive with messages still to be started; every receiver takes each
 * source's next message.
 */
#include <unistd.h>

#include "check.h"

enum {
    MESSAGES = 96, /* of one rank in one epoch */
    TAGS = 3,
    LARGEST = 4 << 20,
    SENDS = 8,    /* started and not yet complete, of one rank */
    RECEIVES = 8, /* posted, of one rank; as many ranks at most */
    MARGIN_BYTES =
        8 << 20, /* the growth of the resident set that is no leak: free lists that a rare peak widens */
    MARGIN_PERCENT = 3
};

enum way { POSTED, PROBED, NAMED, WAYS }; /* how a rank receives in one epoch */

struct message {
    size_t bytes;
    uint64_t content;
    int source, number; /* number: which of its source's messages in this epoch */
    int target, tag;
    unsigned how;
};

struct slot {
    uint8_t *buffer; /* LARGEST + CHECK_GUARD bytes, all poisoned between two messages */
    struct message *message;
    MPI_Status status;
    bool posted, done;
};

static uint64_t job_seed, sent_messages, sent_bytes;
static struct slot out[SENDS], in[RECEIVES];
static MPI_Request sending[SENDS], receiving[RECEIVES];
static struct message *plan[RECEIVES]; /* of each source in the epoch under way */
static int order[RECEIVES];            /* rank: its place in the epoch's order */
static int next[RECEIVES];             /* source: which of its messages may be the next to this rank */
static int expected;                   /* messages to this rank that are still to be taken */
static unsigned first_posted,
    posted; /* receives of any source are taken in the order in which they were posted */

static struct message message_of(int epoch, int source, int number)
{
    uint64_t state = check_mix(job_seed ^ check_seed(source, epoch, 90, (uint64_t) number));
    struct message m = {.source = source, .number = number};
    const uint64_t kind = check_next(&state, 1000);
    m.bytes = (size_t) (kind < 50    ? 0
                        : kind < 500 ? check_next(&state, 65)
                        : kind < 730 ? check_next(&state, 4097)
                        : kind < 870 ? check_next(&state, 32769)
                        : kind < 930 ? 65400 + check_next(&state, 300)
                        : kind < 980 ? 66000 + check_next(&state, 190000)
                        : kind < 996 ? 256000 + check_next(&state, 800000)
                                     : 1 + check_next(&state, LARGEST));
    m.target = (int) check_next(&state, (uint64_t) check_size);
    m.tag = 900 + (int) check_next(&state, TAGS);
    m.how = (unsigned) check_next(&state, 16);
    m.content = check_mix(state);
    return m;
}

static enum way way_of(int epoch, int rank)
{
    return (enum way)(check_mix(job_seed + check_seed(rank, epoch, 91, 0)) % WAYS);
}

/* The plan of all sources, and a random order of the ranks. */
static void plan_epoch(int epoch)
{
    uint64_t state = job_seed ^ check_seed(0, 0, 92, (uint64_t) epoch);
    expected = 0;
    for (int r = 0; r < check_size; ++r) {
        const int at = (int) check_next(&state, (uint64_t) r + 1);
        order[r] = order[at];
        order[at] = r;
        next[r] = 0;
        for (int k = 0; k < MESSAGES; ++k) {
            plan[r][k] = message_of(epoch, r, k);
            expected += plan[r][k].target == check_rank;
        }
    }
}

/* The source's next message to this rank, or NULL. */
static struct message *next_from(int source)
{
    while (next[source] < MESSAGES && plan[source][next[source]].target != check_rank) {
        ++next[source];
    }
    return next[source] < MESSAGES ? &plan[source][next[source]] : NULL;
}

/* Verifies what has come into a slot: it must be its source's next message. The slot is then as before. */
static void take(int epoch, struct slot *slot, MPI_Status *status, const char *how)
{
    char what[160];
    const int source = status->MPI_SOURCE;
    CHECK(source >= 0 && source < check_size, "%s: source %d", how, source);
    const struct message *m = next_from(source);
    CHECK(NULL != m, "seed %" PRIu64 ", epoch %d, %s: a message too many from rank %d with tag %d", job_seed,
          epoch, how, source, status->MPI_TAG);
    snprintf(what, sizeof(what), "seed %" PRIu64 ", epoch %d, %s, message %d of rank %d", job_seed, epoch,
             how, m->number, source);
    CHECK_STATUS(status, source, m->tag, m->bytes, what);
    CHECK_CONTENT(slot->buffer, m->bytes, m->content, what);
    for (int i = 0; i < CHECK_GUARD; ++i) {
        if (CHECK_POISON_BYTE != slot->buffer[m->bytes + (size_t) i]) {
            check_fail(__FILE__, __LINE__, "%s: byte %d after its end was written", what, i);
        }
    }
    check_poison(slot->buffer, m->bytes);
    slot->posted = slot->done = false;
    ++next[source];
    --expected;
}

static void send_done(int s)
{
    check_poison(out[s].buffer, out[s].message->bytes);
    out[s].message = NULL;
}

/* Looks which sends are complete; `wait`: until one is. */
static void finish_sends(bool wait)
{
    int n = 0, index[SENDS];
    (wait ? MPI_Waitsome : MPI_Testsome)(SENDS, sending, &n, index, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) {
        send_done(index[i]);
    }
}

/* Starts a message, if a slot is free. */
static bool start_send(MPI_Comm comm, struct message *m)
{
    int s = 0;
    while (s < SENDS && NULL != out[s].message) {
        ++s;
    }
    if (SENDS == s) {
        return false;
    }
    const int bytes = (int) m->bytes;
    const bool may_block = order[m->target] < order[check_rank] && 0 != m->how % 3;
    out[s].message = m;
    check_fill(out[s].buffer, m->bytes, m->content);
    if (may_block) {
        (m->how < 6 ? MPI_Ssend : MPI_Send)(out[s].buffer, bytes, MPI_BYTE, m->target, m->tag, comm);
        send_done(s);
    } else {
        (m->how < 4 ? MPI_Issend : MPI_Isend)(out[s].buffer, bytes, MPI_BYTE, m->target, m->tag, comm,
                                              &sending[s]);
    }
    ++sent_messages;
    sent_bytes += m->bytes;
    return true;
}

/* Completes posted receives: at least one if it may wait, in one of MPI's ways. */
static void complete_receives(bool wait)
{
    int n = 0, index[RECEIVES], flag = 1;
    MPI_Status status[RECEIVES];
    static unsigned turn;
    switch (++turn % 4) {
    case 0:
    case 1:
        if (wait) {
            MPI_Waitany(RECEIVES, receiving, &index[0], &status[0]);
        } else {
            MPI_Testany(RECEIVES, receiving, &index[0], &flag, &status[0]);
        }
        n = flag && MPI_UNDEFINED != index[0];
        break;
    case 2:
        MPI_Testsome(RECEIVES, receiving, &n, index, status);
        break;
    default:
        (wait ? MPI_Waitsome : MPI_Testsome)(RECEIVES, receiving, &n, index, status);
    }
    for (int i = 0; i < n; ++i) {
        in[index[i]].done = true;
        in[index[i]].status = status[i];
    }
}

/* Receives of any source and tag: as many as slots and messages allow. Complete ones wait until those posted
 * before them are complete as well, as only these tell whose message is whose. */
static void receive_posted(MPI_Comm comm, int epoch, bool wait)
{
    while (posted - first_posted < RECEIVES && (int) (posted - first_posted) < expected) {
        const unsigned i = posted++ % RECEIVES;
        MPI_Irecv(in[i].buffer, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receiving[i]);
    }
    complete_receives(wait);
    while (first_posted != posted && in[first_posted % RECEIVES].done) {
        struct slot *slot = &in[first_posted++ % RECEIVES];
        take(epoch, slot, &slot->status, "any source, posted");
    }
}

/* One receive for each source: its next message, by tag and with just the room that it needs. */
static void receive_named(MPI_Comm comm, int epoch, bool wait)
{
    for (int source = 0; source < check_size; ++source) {
        const struct message *m = next_from(source);
        if (NULL != m && !in[source].posted) {
            in[source].posted = true;
            MPI_Irecv(in[source].buffer, (int) m->bytes, MPI_BYTE, source, m->tag, comm, &receiving[source]);
        }
    }
    complete_receives(wait);
    for (int source = 0; source < check_size; ++source) {
        if (in[source].done) {
            take(epoch, &in[source], &in[source].status, "by source and tag");
        }
    }
}

/* Probes for a message before it receives it, with a matching probe every other time. */
static void receive_probed(MPI_Comm comm, int epoch, bool wait)
{
    MPI_Status status;
    MPI_Message message;
    int flag = 1, count = -1;
    const bool matched = 0 == expected % 2;
    if (matched && wait) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
    } else if (matched) {
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
    } else if (wait) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    } else {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    }
    if (!flag) {
        return;
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count >= 0 && count <= LARGEST, "a message of %d bytes was probed", count);
    if (matched && 0 == expected % 4) {
        MPI_Request request;
        MPI_Imrecv(in[0].buffer, count, MPI_BYTE, &message, &request);
        MPI_Wait(&request, &status);
    } else if (matched) {
        MPI_Mrecv(in[0].buffer, count, MPI_BYTE, &message, &status);
    } else {
        MPI_Recv(in[0].buffer, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
    }
    take(epoch, &in[0], &status, matched ? "matching probe" : "probe");
}

static void receive(MPI_Comm comm, int epoch, bool wait)
{
    static void (*const by_way[WAYS])(MPI_Comm, int, bool) = {
        [POSTED] = receive_posted, [PROBED] = receive_probed, [NAMED] = receive_named};
    by_way[way_of(epoch, check_rank)](comm, epoch, wait);
}

static void run_epoch(MPI_Comm comm, int epoch)
{
    int started = 0;
    plan_epoch(epoch);
    while (started < MESSAGES || expected > 0) {
        const bool free_slot = started < MESSAGES && start_send(comm, &plan[check_rank][started]);
        started += free_slot;
        finish_sends(false);
        if (expected > 0) {
            receive(comm, epoch, MESSAGES == started);
        } else if (!free_slot) {
            finish_sends(true);
        }
    }
    for (int s = 0; s < SENDS; ++s) {
        if (NULL != out[s].message) {
            MPI_Wait(&sending[s], MPI_STATUS_IGNORE);
            send_done(s);
        }
    }
}

/* MPI_Sendrecv with each rank in turn, also with itself. */
static void exchange(MPI_Comm comm, int epoch)
{
    for (int turn = 0; turn < check_size; ++turn) {
        const int peer = (turn - check_rank + check_size) % check_size;
        const struct message mine = message_of(epoch, check_rank, MESSAGES + peer);
        const struct message theirs = message_of(epoch, peer, MESSAGES + check_rank);
        MPI_Status status;
        check_fill(out[0].buffer, mine.bytes, mine.content);
        MPI_Sendrecv(out[0].buffer, (int) mine.bytes, MPI_BYTE, peer, mine.tag, in[0].buffer, LARGEST,
                     MPI_BYTE, peer, MPI_ANY_TAG, comm, &status);
        CHECK_STATUS(&status, peer, theirs.tag, theirs.bytes, "MPI_Sendrecv");
        CHECK_CONTENT(in[0].buffer, theirs.bytes, theirs.content, "MPI_Sendrecv");
        check_poison(out[0].buffer, mine.bytes);
        check_poison(in[0].buffer, theirs.bytes);
        ++sent_messages;
        sent_bytes += mine.bytes;
    }
}

static long resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(NULL != file && 2 == fscanf(file, "%ld %ld", &size, &pages), "/proc/self/statm cannot be read");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void prepare(void)
{
    for (int r = 0; r < check_size; ++r) {
        plan[r] = calloc(MESSAGES, sizeof(*plan[r]));
        CHECK(NULL != plan[r], "no memory");
    }
    for (int i = 0; i < SENDS; ++i) {
        out[i].buffer = check_alloc(LARGEST + CHECK_GUARD);
        sending[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < RECEIVES; ++i) {
        in[i].buffer = check_alloc(LARGEST + CHECK_GUARD);
        receiving[i] = MPI_REQUEST_NULL;
    }
}

static void run_case(void)
{
    /* One for every other epoch, so that receives of any source get nothing of the next one, and one for
     * exchange(). */
    MPI_Comm comm[3];
    CHECK(check_size <= RECEIVES, "for at most %d ranks", RECEIVES);
    const double seconds = NULL != check_argument(1) ? strtod(check_argument(1), NULL) : 20;
    job_seed = check_job_seed(2);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    }
    prepare();

    const double start = check_seconds();
    int epoch = 0, stop = 0;
    long warm = 0;
    for (; !stop; ++epoch) {
        const double spent = check_seconds() - start;
        const int mine = spent >= seconds;
        MPI_Request agreed;
        MPI_Iallreduce(&mine, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &agreed);
        run_epoch(comm[epoch % 2], epoch);
        if (0 == epoch % 4) {
            exchange(comm[2], epoch);
        }
        MPI_Wait(&agreed, MPI_STATUS_IGNORE);
        if (spent < 0.4 * seconds) {
            const long now = resident();
            warm = now > warm ? now : warm;
        }
    }
    const long end = resident();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
        int flag = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm[i], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a message is left over");
        MPI_Comm_free(&comm[i]);
    }
    uint64_t sent[2] = {sent_messages, sent_bytes};
    long grown = end - warm, most = 0;
    MPI_Reduce(0 == check_rank ? MPI_IN_PLACE : sent, sent, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (0 == check_rank) {
        printf("soak: %d epochs, %" PRIu64 " messages, %" PRIu64
               " MiB; resident set after the warm-up %ld KiB, "
               "grown by at most %ld KiB\n",
               epoch, sent[0], sent[1] >> 20, warm >> 10, most >> 10);
        fflush(stdout);
    }
    CHECK(grown <= MARGIN_BYTES + warm / 100 * MARGIN_PERCENT, "the resident set grew from %ld to %ld KiB",
          warm >> 10, end >> 10);
}

CHECK_CASE(soak, .least = 2)
