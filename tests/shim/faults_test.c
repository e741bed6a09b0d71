/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a rail: it is found, told for what it is, and kept for the report. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_pml.h"

/* ------------------------------------------------------------ two rails, one of them silent */

static mca_bml_fsbml_endpoint_t *ep;

#ifndef FSBML_OMPI_4
/* 5.0 would ask the run-time. */
static char *(*asks_for_hosts)(const opal_proc_t *proc);

static char *host_of(const opal_proc_t *proc)
{
    (void) proc;
    return strdup("there");
}
#endif

/* Rail 0 is live; the peer, asked again, is silent on rail 1. Returns the second rail's path, closed. */
static mca_bml_fsbml_path_t *one_silent(void)
{
    fakes_construct(2);
#ifdef FSBML_OMPI_4
    ompi_process_info.nodename = "here";
#else
    opal_process_info.nodename = "here";
#endif
    world_up(2);
    snprintf(fsbml_rails.rail[1].name, sizeof(fsbml_rails.rail[1].name), "eth1");
    (void) peer_up();
    ep = fsbml_endpoint_of_proc(peer);
#ifdef FSBML_OMPI_4
    peer->super.proc_hostname = (char *) "there";
#else
    asks_for_hosts = opal_get_proc_hostname;
    opal_get_proc_hostname = host_of;
#endif
    (void) fake_answer(&fake[0], true);
    return &ep->path[1];
}

static void time_out(void)
{
    (void) fake_answer(&fake[1], false);
    for (int i = 0; i < 12 && 3 == ep->possible; ++i) {
        (void) fake_answer(&fake[0], true);
        pass_time(5);
    }
    CHECK(1 == ep->possible && 1 == ep->live);
    (void) fake_answer(&fake[1], false); /* asked again in vain */
}

/* The next packet of FSBML that this process sends on a rail; its type, 0: there is none. */
static uint32_t taken(int rail, fsbml_end_t *end)
{
    int to;
    uint32_t word[8] = {0};
    fake_des_t *des = fake_take(&fake[rail], true, &to);
    if (NULL == des) {
        return 0;
    }
    memcpy(word, des->segment[0].seg_addr.pval, sizeof(word));
    if (FSBML_PACKET_LOOK == (word[1] & 0xff) || FSBML_PACKET_SEEN == (word[1] & 0xff)) {
        CHECK(fsbml_digest(fsbml_rails.rail[1].key) == word[5]);
        CHECK(0
              == fsbml_end_unpack(end, (const char *) des->segment[0].seg_addr.pval + sizeof(word), word[6]));
    }
    fake_free(&fake[rail].super, &des->super);
    return word[1];
}

/* What the peer sees, or asks for, of rail 1, by rail 0. */
static void deliver(uint32_t type, const fsbml_end_t *end)
{
    uint32_t word[256] = {FSBML_PACKET_MAGIC, type, 1, 1, 0, fsbml_digest(fsbml_rails.rail[1].key)};
    const long len = fsbml_end_pack(end, &word[8], sizeof(word) - 8 * sizeof(word[0]));
    CHECK(len > 0);
    word[6] = (uint32_t) len;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, 8 * sizeof(word[0]) + (size_t) len);
}

static fsbml_end_t end_there(uint32_t seen)
{
    fsbml_end_t end = {.seen = FSBML_END_HAS | seen};
    snprintf(end.node, sizeof(end.node), "there");
    return end;
}

/* One fault is known: its kind, and its sentence. */
static void check_fault(const char *to, uint32_t kind, const char *why)
{
    const fsbml_fault_t *first;
    const uint32_t n = fsbml_faults(&first, NULL);
    CHECK(1 == n);
    if (1 == n) {
        CHECK(0 == strcmp("eth1", first->rail) && 0 == strcmp(fsbml_node_name(), first->from));
        CHECK(0 == strcmp(to, first->to) && kind == first->kind);
        if (0 != strcmp(why, first->why)) {
            fprintf(stderr, "it says: %s\nand not: %s\n", first->why, why);
            CHECK(!"the sentence is another one");
        }
    }
}

static void leave(void)
{
    (void) fake_answer(&fake[0], false);
    (void) fake_answer(&fake[1], false);
#ifdef FSBML_OMPI_4
    peer->super.proc_hostname = NULL;
#else
    opal_get_proc_hostname = asks_for_hosts;
#endif
    world_down(2);
}

/* The peer is asked once, on the live rail, as soon as the path is closed; it says why, and that is told when
 * it is time. */
FAKE_TEST(the_peer_says_what_it_sees)
{
    fsbml_end_t look;
    mca_bml_fsbml_path_t *path = one_silent();
    time_out();
    pass_time(1);
    CHECK(FSBML_PACKET_LOOK == taken(0, &look) && FSBML_END_HAS == look.seen);
    pass_time(1);
    CHECK(0 == taken(0, &look) && 0 == taken(1, &look)); /* asked once, and never on the rail in question */
    const fsbml_end_t there = end_there(FSBML_END_NO_CARRIER);
    deliver(FSBML_PACKET_SEEN, &there);
    CHECK(!path->reported);
    pass_time(30);
    CHECK(path->reported);
    check_fault("there", FSBML_FAULT_CUT, "the interface has no carrier on there: its cable is out");
    leave();
}

/* A peer that does not answer, or answers nonsense, leaves it at what closed the path. */
FAKE_TEST(without_its_word_the_reason_is_what_was_seen)
{
    mca_bml_fsbml_path_t *path = one_silent();
    time_out();
    uint32_t word[20] = {
        FSBML_PACKET_MAGIC, FSBML_PACKET_SEEN, 1, 1, 0, fsbml_digest(fsbml_rails.rail[1].key), 48};
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word)); /* no record */
    word[6] = 4096;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word)); /* longer than it is */
    word[5] = 7;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word)); /* no such rail */
    word[3] = 3;
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word)); /* from no rank */
    pass_time(70);
    CHECK(!path->reported); /* it was asked in time, and may still answer */
    pass_time(30);
    CHECK(path->reported);
    check_fault("there", FSBML_FAULT_OTHER, "the peer answers on another rail, but not on this one");
    leave();
}

/* Its word may come before this end sees what is wrong: here, that its question came back. */
FAKE_TEST(what_is_seen_later_counts)
{
    mca_bml_fsbml_path_t *path = one_silent();
    time_out();
    pass_time(1);
    const fsbml_end_t there = end_there(0);
    deliver(FSBML_PACKET_SEEN, &there);
    CHECK(path->judged && FSBML_FAULT_OTHER == path->kind);
    atomic_store(&path->astray, FSBML_ASTRAY_BACK);
    pass_time(30);
    CHECK(path->reported);
    check_fault("there", FSBML_FAULT_LOOP, "what here sends on it comes to itself");
    leave();
}

/* A short job is over before it is sure. */
FAKE_TEST(what_is_closed_is_told_when_mpi_ends)
{
    mca_bml_fsbml_path_t *path = one_silent();
    time_out();
    fsbml_proof_tell();
    CHECK(!path->reported); /* it may come back */
    pass_time(10);
    CHECK(!path->reported);
    fsbml_proof_tell();
    CHECK(path->reported);
    check_fault("there", FSBML_FAULT_OTHER, "the peer answers on another rail, but not on this one");
    leave();
}

/* The other way round: asked what it sees of a rail, this process says so where it was asked. Its questions
 * came in, its answers did not arrive: the peer can name a one-way rail. */
FAKE_TEST(this_process_says_what_it_sees)
{
    fsbml_end_t seen = {.seen = 0};
    (void) one_silent();
    (void) fake_answer(&fake[1], false);
    uint32_t ask[8] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ASK, 1, 1, 0};
    const fsbml_end_t there = end_there(0);
    deliver(FSBML_PACKET_LOOK, &there);
    CHECK(FSBML_PACKET_SEEN == taken(0, &seen) && 0 == (seen.seen & FSBML_END_HEARD));
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    CHECK(FSBML_PACKET_ANSWER == taken(1, &seen));
    deliver(FSBML_PACKET_LOOK, &there);
    CHECK(FSBML_PACKET_SEEN == taken(0, &seen) && 0 != (seen.seen & FSBML_END_HEARD));
    CHECK(0 == strcmp(fsbml_node_name(), seen.node));
    leave();
}

/* A rail that failed under the other's measurement is not used from here either, if there is another one. */
FAKE_TEST(what_the_peer_gave_up_is_not_used)
{
    fsbml_end_t seen;
    (void) one_silent();
    (void) fake_answer(&fake[1], true);
    CHECK(3 == ep->live);
    const fsbml_end_t there = end_there(0);
    deliver(FSBML_PACKET_LOOK, &there);
    CHECK(FSBML_PACKET_SEEN == taken(0, &seen) && 3 == ep->live); /* asked, no more */
    deliver(FSBML_PACKET_LOOK | FSBML_PACKET_GIVEN_UP << 8, &there);
    CHECK(FSBML_PACKET_SEEN == taken(0, &seen) && 1 == ep->live && 1 == ep->possible);
    fsbml_path_open(ep, &ep->path[1]);
    fsbml_endpoint_remove_path(ep, 0);
    deliver(FSBML_PACKET_LOOK | FSBML_PACKET_GIVEN_UP << 8, &there);
    CHECK(FSBML_PACKET_SEEN == taken(0, &seen) && 2 == ep->live); /* the last one stays */
    leave();
}

/* The peer answers on another path only, and the reason is told. */
static void loops_to(const char *whom)
{
    char why[FSBML_REASON_MAX];
    snprintf(why, sizeof(why), "what %s sends on it comes to %s", fsbml_node_name(), whom);
    time_out();
    pass_time(70);
    pass_time(30);
    check_fault("there", FSBML_FAULT_LOOP, why);
    leave();
}

/* A question comes back to the process that asked. No peer answers, and the reason is told. */
FAKE_TEST(a_question_comes_back)
{
    uint32_t word[8];
    (void) one_silent();
    memcpy(word, fake[1].queue[0].des->segment[0].seg_addr.pval, sizeof(word));
    CHECK(FSBML_PACKET_ASK == word[1] && 2 == word[5] && 1 == word[6]); /* for rank 1 of job 1 */
    (void) fake_answer(&fake[1], false);
    fake_deliver(&fake[1], FSBML_TAG_PROBE, word, sizeof(word));
    CHECK(0 == fake[1].n_queue && 1 == ep->live);
    loops_to("itself");
}

/* Another process got the question, and says that it is not the one that was asked: that proves nothing of
 * the peer's path. */
FAKE_TEST(a_question_goes_astray)
{
    uint32_t word[8];
    (void) one_silent();
    memcpy(word, fake[1].queue[0].des->segment[0].seg_addr.pval, sizeof(word));
    (void) fake_answer(&fake[1], false);
    word[1] = FSBML_PACKET_ANSWER | FSBML_PACKET_ASTRAY << 8;
    word[2] = 1;
    word[3] = 2;
    fake_deliver(&fake[1], FSBML_TAG_PROBE, word, sizeof(word));
    CHECK(1 == ep->live);
    loops_to("peer2");
}

/* The same from the other side: a process that gets a question for another says so, and proves no path with
 * it. */
FAKE_TEST(a_question_for_another_process_is_no_proof)
{
    fsbml_end_t none;
    mca_bml_fsbml_path_t *path = one_silent();
    (void) fake_answer(&fake[1], false);
    uint32_t ask[8] = {FSBML_PACKET_MAGIC,          FSBML_PACKET_ASK,        1, 1, 0,
                       OMPI_PROC_MY_NAME->vpid + 2, OMPI_PROC_MY_NAME->jobid};
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    CHECK((FSBML_PACKET_ANSWER | FSBML_PACKET_ASTRAY << 8) == taken(1, &none));
    CHECK(!path->heard);
    ask[5] = OMPI_PROC_MY_NAME->vpid + 1;
    fake_deliver(&fake[1], FSBML_TAG_PROBE, ask, sizeof(ask));
    CHECK(FSBML_PACKET_ANSWER == taken(1, &none));
    CHECK(path->heard);
    leave();
}

/* Its hello says that the peer has no address in the rail's network: no peer needs to be asked. */
FAKE_TEST(the_hello_says_that_networks_differ)
{
    fsbml_end_t none;
    peer_hello.n_rails = 1;
    peer_hello.rail[0].exclusivity = 10;
    snprintf(peer_hello.rail[0].key, sizeof(peer_hello.rail[0].key), "tcp:10.72.1.0/24");
    mca_bml_fsbml_path_t *path = one_silent();
    snprintf(fsbml_rails.rail[1].key, sizeof(fsbml_rails.rail[1].key), "tcp:10.71.1.0/24");
    time_out();
    pass_time(1);
    CHECK(0 == taken(0, &none));
    pass_time(30);
    CHECK(path->reported);
    char why[FSBML_REASON_MAX];
    snprintf(why, sizeof(why),
             "it is in 10.71.1.0/24 on %s, where peer1 has no address; that has one in 10.72.1.0/24",
             fsbml_node_name());
    check_fault("there", FSBML_FAULT_SUBNET, why);
    peer_hello.n_rails = 0;
    leave();
}

/* ------------------------------------------------------------- what a system tells */

/* The loopback interface is on every machine: its address, its MTU, and a connection between two of its
 * addresses. */
FAKE_TEST(the_system_is_read)
{
    fsbml_end_t end;
    (void) one_silent();
    CHECK(0 == fsbml_end_frame(1)); /* no interface: questions are as small as can be */
    snprintf(fsbml_rails.rail[1].name, sizeof(fsbml_rails.rail[1].name), "lo:1");
    snprintf(fsbml_rails.rail[1].key, sizeof(fsbml_rails.rail[1].key), "tcp:127.0.0.0/8:1");
    look_ns = 20000;
    for (int try = 0; try < 60000; ++try) { /* until no one else sends there */
        fsbml_end_begin();
        fsbml_end_look(1, "127.0.0.2", &end);
        if (0 != (end.seen & FSBML_END_QUIET)) {
            break;
        }
        (void) usleep(1000);
    }
    look_ns = 0;
    CHECK(0 == strcmp("127.0.0.1", end.address) && 0 == strcmp("127.0.0.0/8:1", end.network) && end.mtu > 0);
    CHECK(FSBML_END_HAS
          == (end.seen & (FSBML_END_HAS | FSBML_END_NO_CARRIER | FSBML_END_CONNECTED | FSBML_END_STUCK)));
    CHECK(0 != (end.seen & FSBML_END_ECHO)); /* what goes out there does come in again */
    CHECK(0 != (end.seen & FSBML_END_QUIET));
    CHECK(4096 == fsbml_end_frame(1) || end.mtu == fsbml_end_frame(1)); /* no larger than an eager message */

    struct sockaddr_in here = {.sin_family = AF_INET}, there = here;
    socklen_t len = sizeof(here);
    CHECK(1 == inet_pton(AF_INET, "127.0.0.1", &here.sin_addr)
          && 1 == inet_pton(AF_INET, "127.0.0.2", &there.sin_addr));
    const int listens = socket(AF_INET, SOCK_STREAM, 0), connects = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(0 == bind(listens, (struct sockaddr *) &here, sizeof(here)) && 0 == listen(listens, 1));
    CHECK(0 == getsockname(listens, (struct sockaddr *) &here, &len));
    CHECK(0 == bind(connects, (struct sockaddr *) &there, sizeof(there)));
    CHECK(0 == connect(connects, (struct sockaddr *) &here, sizeof(here)));
    fsbml_end_begin();
    CHECK(1 == write(connects, "", 1));
    fsbml_end_look(1, "127.0.0.2", &end);
    CHECK(0 == (end.seen & FSBML_END_ECHO)); /* not tried where a connection stands */
    CHECK(0 != (end.seen & FSBML_END_CONNECTED) && 0 == (end.seen & (FSBML_END_STUCK | FSBML_END_QUIET)));
    fsbml_end_look(1, "127.0.0.3", &end);
    CHECK(0 == (end.seen & FSBML_END_CONNECTED));
    (void) close(connects);
    (void) close(listens);
    leave();
}
