/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads in the pseudo BTL: eight send to several peers while one delivers completions and answers, and one
 * takes rails away, brings them back, and lets time pass. Every message completes once, every descriptor goes
 * back to its BTL, and the rails are charged for what they took. The same with a report and a trace, and a
 * tool that reads counters: what they have seen is what was charged. Meant to run under TSan too. */

#include <sched.h>

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 1, RAILS = 4, SENDERS = 8, EACH = 2000, ALL = SENDERS * EACH };

/* A message: whether some rail has it, and how often it was completed. */
static struct {
    bool taken;
    _Atomic int completed;
} message[ALL];

static mca_bml_base_btl_t *entry[N_PEERS];
static _Atomic bool over;
static _Atomic int n_taken, n_immediate, n_returned, n_removals;

static void completed(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, int status)
{
    (void) endpoint;
    CHECK(OPAL_SUCCESS == status && &fsbml_rails.group[0]->pseudo == btl);
    atomic_fetch_add((_Atomic int *) des->des_cbdata, 1);
}

enum { FLAGS = MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_FLAGS_PRIORITY, BATCH = 8 };

static bool send_at_once(mca_bml_base_btl_t *bml_btl, int id)
{
    char header[64] = "at once";
    mca_btl_base_descriptor_t *des = NULL;
    if (OMPI_SUCCESS
        == mca_bml_base_sendi(bml_btl, NULL, header, sizeof(header), 0, MCA_BTL_NO_ORDER, FLAGS, TAG, &des)) {
        message[id].completed = 1; /* no callback will say so */
        n_immediate++;
        return true;
    }
    if (NULL != des) {
        mca_bml_base_free(bml_btl, des);
    }
    return false;
}

static mca_btl_base_descriptor_t *make(mca_bml_base_btl_t *bml_btl, int id, uint64_t *seed)
{
    mca_btl_base_descriptor_t *des = NULL;
    size_t bytes = 64 + next_random(seed) % 4000;
    if (0 == (next_random(seed) >> 21 & 1)) {
        mca_bml_base_prepare_src(bml_btl, NULL, MCA_BTL_NO_ORDER, 32, &bytes, FLAGS, &des);
    } else {
        mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, bytes, FLAGS);
    }
    if (NULL != des) {
        des->des_cbfunc = completed;
        des->des_cbdata = (void *) &message[id].completed;
    }
    return des;
}

/* Messages first..first + BATCH - 1, as many of them as are not gone yet. Some time passes between the making
 * of a descriptor and its send, in which its rail may go. Returns how many went. */
static int try_to_send(mca_bml_base_btl_t *bml_btl, int first, uint64_t *seed)
{
    mca_btl_base_descriptor_t *des[BATCH] = {NULL};
    int gone = 0;
    for (int k = 0; k < BATCH; ++k) {
        if (!message[first + k].taken) {
            if (0 == (next_random(seed) >> 21 & 7)) {
                gone += message[first + k].taken = send_at_once(bml_btl, first + k);
            } else {
                des[k] = make(bml_btl, first + k, seed);
            }
        }
    }
    (void) syscall(SYS_sched_yield);
    for (int k = 0; k < BATCH; ++k) {
        if (NULL == des[k]) {
            continue;
        }
        int rc = OMPI_ERR_OUT_OF_RESOURCE;
        if (0 != (next_random(seed) >> 21 & 7)) { /* else: made, and not sent after all */
            rc = mca_bml_base_send(bml_btl, des[k], TAG);
            CHECK(rc >= 0 || (OMPI_ERR_OUT_OF_RESOURCE == rc && completed == des[k]->des_cbfunc));
            n_returned += rc < 0;
        }
        if (rc < 0) {
            mca_bml_base_free(bml_btl, des[k]);
        }
        gone += message[first + k].taken = rc >= 0;
    }
    return gone;
}

static void *sender(void *arg)
{
    const int me = (int) (intptr_t) arg;
    uint64_t seed = 0x7ead + (uint64_t) me;
    for (int first = me * EACH; first < (me + 1) * EACH; first += BATCH) {
        for (int gone = 0; gone < BATCH;) {
            const int now = try_to_send(entry[next_random(&seed) >> 30 & (N_PEERS - 1)], first, &seed);
            gone += now;
            n_taken += now;
        }
    }
    return NULL;
}

static void *wire(void *unused)
{
    for (unsigned turn = 0; !over;) {
        const bool answers = 0 == (turn++ & 7); /* seldom, so that messages are pending meanwhile */
        for (int i = 0; i < RAILS; ++i) {
            if (answers) {
                (void) fake_answer(&fake[i], true);
            }
            for (int k = 0; k < 8 && fake_complete(&fake[i], OPAL_SUCCESS); ++k) {
            }
        }
        pass_time(1);
    }
    return unused;
}

/* Rail 0 goes as well, and is to be proved anew, but only while another is there: no message has to fail. */
static void renew_rail_0(ompi_proc_t *proc)
{
    if (0 != (fsbml_endpoint_of_proc(proc)->possible & ~UINT32_C(1))) {
        CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(proc, &fake[0].super));
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(&fake[0].super));
        n_removals++;
    }
}

static fsbml_far_t *farther; /* what the first peer's rails add to their latencies */

/* A rail comes or goes every few messages, and the first peer becomes farther or nearer. */
static void *trouble(void *unused)
{
    uint64_t seed = 0x0ff;
    while (!over) {
        mca_btl_base_module_t *btl = &fake[1 + next_random(&seed) % (RAILS - 1)].super;
        ompi_proc_t *proc = peers[next_random(&seed) >> 30 & (N_PEERS - 1)];
        switch (next_random(&seed) >> 17 & 7) {
        case 0:
            CHECK(OMPI_SUCCESS == mca_bml.bml_del_btl(btl));
            n_removals++;
            break;
        case 1:
            CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(proc, btl));
            n_removals++;
            break;
        case 2:
            (void) fsbml_proof_failed(fsbml_endpoint_of_proc(proc), (uint32_t) fsbml_rail_of(btl), "test");
            break;
        case 3:
        case 4:
            renew_rail_0(proc);
            break;
        default:
            CHECK(OMPI_SUCCESS == mca_bml.bml_add_btl(btl));
        }
        const double extra[FSBML_MAX_RAILS] = {(double) (next_random(&seed) >> 44)};
        fsbml_far_set(farther, extra);
        const int before = n_taken;
        while (!over && n_taken - before < 20) { /* some traffic in between */
            (void) syscall(SYS_sched_yield);
        }
    }
    return unused;
}

/* As MPI_T does, at any time. */
static void *tool(void *unused)
{
    fsbml_rail_seen_t seen;
    fsbml_rail_counters_t c;
    while (!over) {
        for (uint32_t i = 0; i < RAILS; ++i) {
            fsbml_observer_rail(fsbml_observer, i, &seen);
            fsbml_sched_counters(fsbml_rails.sched, i, &c);
            CHECK(seen.arrivals <= c.messages);
        }
        (void) syscall(SYS_sched_yield);
    }
    return unused;
}

/* What a report would say of the rails together. */
static void observed(uint64_t *messages, uint64_t *bytes)
{
    fsbml_summary_t *s = calloc(1, sizeof(*s));
    s->n_rails = RAILS;
    fsbml_account_add(fsbml_observe_account(), s);
    *messages = s->messages;
    *bytes = s->bytes;
    free(s);
}

static void send_all(bool look)
{
    pthread_t thread[SENDERS + 3];
    memset(message, 0, sizeof(message));
    over = false;
    n_taken = n_immediate = n_returned = n_removals = 0;
    mca_bml_fsbml_params.report = look ? "report" : NULL;
    mca_bml_fsbml_params.trace = look ? "trace" : NULL;
    mca_bml_fsbml_params.trace_every = 3;
    mca_bml_fsbml_params.trace_entries = 100;
    mca_bml_fsbml_params.probe_timeout_ns = UINT64_MAX / 4; /* no peer is given up */
    mca_bml_fsbml_params.per_peer = true;
    for (int i = 0; i < RAILS; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
        fake[i].super.btl_sendi = 1 == i ? fake_sendi : NULL;
        fake[i].room = 64;
        fake[i].random = 77 + (uint64_t) i;
    }
    world_up(RAILS);
    while (n_peers < N_PEERS) {
        world_add_peer();
    }
    for (int p = 0; p < N_PEERS; ++p) {
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[p]));
        entry[p] = eager_of((mca_bml_base_endpoint_t *) peers[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML]);
    }
    known_procs = N_PEERS;
    farther = calloc(1, sizeof(*farther));
    fsbml_endpoint_of_proc(peers[0])->far = fsbml_endpoint_of_proc(peers[0])->farther = farther;
    for (int i = 0; i < RAILS; ++i) {
        fake[i].chance = 8;
    }
    mca_bml_fsbml_held_t *first =
        OBJ_NEW(mca_bml_fsbml_held_t); /* sets the class up: not in a way that TSan sees */
    OBJ_RELEASE(first);
    for (int i = 0; i < SENDERS; ++i) {
        CHECK(0 == pthread_create(&thread[i], NULL, sender, (void *) (intptr_t) i));
    }
    CHECK(0 == pthread_create(&thread[SENDERS], NULL, wire, NULL));
    CHECK(0 == pthread_create(&thread[SENDERS + 1], NULL, trouble, NULL));
    CHECK(!look || 0 == pthread_create(&thread[SENDERS + 2], NULL, tool, NULL));
    for (int i = 0; i < SENDERS; ++i) {
        CHECK(0 == pthread_join(thread[i], NULL));
    }
    over = true;
    CHECK(0 == pthread_join(thread[SENDERS], NULL) && 0 == pthread_join(thread[SENDERS + 1], NULL));
    CHECK(!look || 0 == pthread_join(thread[SENDERS + 2], NULL));
    for (int i = 0; i < RAILS; ++i) { /* what waits is let through */
        fake[i].chance = 0;
    }
    bool rest = true;
    for (int k = 0; rest && k < 100000; ++k) {
        pass_time(1);
        rest = NULL != atomic_load(&progress_fn);
        for (int i = 0; i < RAILS; ++i) {
            rest = fake_answer(&fake[i], true) > 0 || rest;
            while (fake_complete(&fake[i], OPAL_SUCCESS)) {
                rest = true;
            }
        }
    }
    uint64_t charged = 0, bytes = 0, sent = 0, given = 0, refused = 0;
    for (uint32_t i = 0; i < RAILS; ++i) {
        fsbml_rail_counters_t c;
        fsbml_sched_counters(fsbml_rails.sched, i, &c);
        charged += c.messages;
        bytes += c.bytes;
        sent += (uint64_t) fake[i].n_sent + (uint64_t) fake[i].n_sendi;
        given += fake[i].bytes;
        refused += (uint64_t) fake[i].n_refused;
    }
    int wrong = 0;
    for (int i = 0; i < ALL; ++i) {
        wrong += !message[i].taken || 1 != message[i].completed;
    }
    CHECK(0 == wrong);
    CHECK(ALL == sent && ALL == charged && given == bytes);
    if (look) {
        observed(&charged, &bytes);
        CHECK(ALL == charged && given == bytes);
    }
    for (int p = 0; p < N_PEERS; ++p) {
        CHECK(0 == fsbml_endpoint_of_proc(peers[p])->n_held);
    }
    CHECK(n_immediate > 0 && n_removals > 0 && refused > 0);
    printf("%s: %d messages, %d at once, %llu refusals by a rail, %d by all, %d removals, %d wrong\n",
           look ? "observed" : "alone", (int) ALL, n_immediate, (unsigned long long) refused, n_returned,
           n_removals, wrong);
    known_procs = 0;
    world_down(RAILS);
}

FAKE_TEST(each_message_completes_once)
{
    send_all(false);
}

FAKE_TEST(each_message_is_seen_once)
{
    send_all(true);
}
