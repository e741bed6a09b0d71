/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that are made anew: at either end nothing is left of the old one before the end that counts the
 * paths has the next one made, and no message meets a connection that its BTL has closed. */
#include <net/if.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "fake_refusal.h"
#include "fake_sockets.h"

enum { RAILS = 2, W_TYPE = 1, W_JOB, W_RANK, W_SEQ, W_COUNT, N_WORDS = 8, MS = 1, SECOND = 1000 };

static fsbml_framed_t *framed;
static mca_bml_base_btl_t *bml_btl;

/* Rails whose interface has no carrier. */
static uint32_t without_carrier;

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    struct ifreq *of = va_arg(arguments, struct ifreq *);
    va_end(arguments);
    if (SIOCGIFFLAGS != request) {
        return (int) syscall(SYS_ioctl, fd, request, of);
    }
    uint32_t rail = 0;
    while (rail < fsbml_rails.n_rails && 0 != strcmp(of->ifr_name, fsbml_rails.rail[rail].name)) {
        ++rail;
    }
    of->ifr_flags = (short) (IFF_UP | (0 == (without_carrier & fsbml_bit(rail)) ? IFF_RUNNING : 0));
    return 0;
}

/* ----------------------------------------------------------------------- the two ends */

/* The peer has rank 1. */
static void begin(uint32_t own)
{
    memset(&sockets, 0, sizeof(sockets));
    sockets.possible = true;
    ompi_process_info.my_name.jobid = 1;
    ompi_process_info.my_name.vpid = own;
    ompi_process_info.num_procs = 3;
    peer_flags = FSBML_HELLO_FRAMES;
    peer_hello.n_rails = RAILS;
    mca_bml_fsbml_params.failover = true;
    fakes_up(RAILS);
    bml_btl = eager_of(peer_up());
    all_answer(RAILS);
    framed = fsbml_framed_of((mca_bml_fsbml_endpoint_t *) bml_btl->btl_endpoint);
    CHECK(NULL != framed && (own < 1) == framed->counts && 3 == fsbml_framed_rails(framed));
}

static void end(void)
{
    for (int i = 0; i < RAILS; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
        }
    }
    world_down(RAILS);
    mca_bml_fsbml_params.failover = false;
    peer_flags = 0;
    ompi_process_info.my_name.vpid = 0;
}

static void send_one(void)
{
    CHECK(OMPI_SUCCESS == pml_send(bml_btl, 64, TAG));
}

/* Frames that the BTL of a rail was given; it has sent them. */
static int frames(int rail)
{
    int n = 0;
    while (fake_complete(&fake[rail], OPAL_SUCCESS)) {
        ++n;
    }
    return n;
}

/* How many connections this end says that it has ended, by what it says on rail 0; 0: nothing. */
static uint32_t says(void)
{
    uint32_t word[N_WORDS], count = 0;
    int to;
    for (fake_des_t *des; NULL != (des = fake_take(&fake[0], true, &to));) {
        memcpy(word, des->segment[0].seg_addr.pval, sizeof(word));
        fake_free(&fake[0].super, &des->super);
        if (FSBML_PACKET_ENDED == (word[W_TYPE] & 0xff)) {
            CHECK(1 == word[W_SEQ]);
            count = word[W_COUNT];
        }
    }
    return count;
}

static void peer_says(uint32_t count)
{
    uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC, FSBML_PACKET_ENDED, 1, 1, 1, count};
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
}

static void wait_for(unsigned ms)
{
    for (unsigned i = 0; i < ms; i += 10) {
        pass_time(10 * MS);
    }
}

/* Its BTL has closed the connection of rail 1, which is noticed beside a message. */
static void close_1(void)
{
    (void) frames(1);
    send_one();
    sockets.closed[1] = true;
    wait_for(300);
    CHECK(1 == fsbml_framed_rails(framed) && 1 == sockets.renewed[1]);
    CHECK(2 == atomic_load(&framed->ep->closed)); /* for flow */
}

FAKE_TEST(the_end_that_counts_connects_when_both_have_ended)
{
    begin(0);
    close_1();
    CHECK(1 == says() && 0 == frames(1));
    wait_for(2 * SECOND);
    CHECK(1 == says()); /* again, as there was no answer */
    CHECK(0 == frames(1) && 1 == sockets.renewed[1]);
    peer_says(1);
    wait_for(20);
    CHECK(frames(1) > 0); /* a probe, for which the BTL connects */
    sockets.closed[1] = false;
    peer_says(1); /* late */
    wait_for(100);
    CHECK(1 == sockets.renewed[1] && FSBML_CONNECTION_STANDS == framed->way[1].connection);
    end();
}

/* MPI_T handles may come at any time. */
FAKE_TEST(a_tool_that_begins_to_look_leaves_frames_as_they_are)
{
    begin(0);
    CHECK(fsbml_observe_begin());
    (void) frames(0);
    (void) frames(1);
    send_one();
    for (int rail = 0; rail < RAILS; ++rail) {
        for (int i = 0; i < fake[rail].n_queue; ++i) {
            CHECK(TAG != fake[rail].queue[i].tag);
        }
    }
    CHECK(1 == frames(0) + frames(1));
    end();
}

FAKE_TEST(the_other_end_awaits_it)
{
    begin(2);
    close_1();
    CHECK(1 == says());
    peer_says(1);
    wait_for(2 * SECOND);
    CHECK(1 == says() && 0 == frames(1)); /* it was asked what this end has, and has told again */
    CHECK(FSBML_CONNECTION_ENDED == framed->way[1].connection);
    const uint64_t own = (uint64_t) 1 << 32 ^ 2 << 8 ^ fsbml_life,
                   other = (uint64_t) 1 << 32 ^ 1 << 8 ^ fsbml_life;
    const fsbml_delivery_peer_t ends = {
        .own_life = other, .peer_life = own, .own_handle = 0, .peer_handle = 0, .paths = RAILS};
    fsbml_delivery_limits_t limits;
    fsbml_delivery_limits(&limits);
    fsbml_delivery_t *far = fsbml_delivery_create(&limits, &ends);
    fsbml_delivery_message_t m = {.bytes = 0, .tag = TAG};
    fsbml_delivery_seal_t seal;
    fsbml_delivery_path_up(far, 1, virtual_ns);
    CHECK(0 == fsbml_delivery_send(far, 1, virtual_ns, 0, &m, &seal));
    sockets.closed[1] = false; /* the peer has connected */
    fake_deliver(&fake[1], FSBML_TAG_FRAME, seal.header, seal.bytes);
    CHECK(FSBML_CONNECTION_STANDS == framed->way[1].connection);
    wait_for(20);
    CHECK(frames(1) > 0);
    fsbml_delivery_destroy(far);
    end();
}

/* The peer has given it up again, and could not say so. */
FAKE_TEST(an_accepted_connection_by_which_nothing_comes_is_ended)
{
    begin(2);
    close_1();
    sockets.closed[1] = false; /* the peer has connected */
    const int before = sockets.shut[1];
    wait_for(900);
    CHECK(before == sockets.shut[1] && FSBML_CONNECTION_ENDED == framed->way[1].connection);
    wait_for(300);
    CHECK(before < sockets.shut[1]);
    sockets.closed[1] = true;
    wait_for(300);
    CHECK(2 == sockets.renewed[1] && FSBML_CONNECTION_ENDED == framed->way[1].connection);
    end();
}

/* The peer has found the path dead: this end ends its connection, too, and says so when nothing is left. */
FAKE_TEST(what_the_peer_has_ended_is_ended_here)
{
    for (uint32_t own = 0; own <= 2; own += 2) {
        begin(own);
        send_one();
        peer_says(1);
        wait_for(300);
        CHECK(sockets.shut[1] > 0 && 0 == sockets.renewed[1] && 0 == says());
        CHECK(1 == fsbml_framed_rails(framed));
        sockets.closed[1] = true; /* its BTL has */
        wait_for(20);
        CHECK(1 == sockets.renewed[1] && 1 == says());
        CHECK((0 == own) == (frames(1) > 0));
        end();
    }
}

FAKE_TEST(no_message_meets_a_closed_connection)
{
    begin(0);
    for (int rail = 0; rail < RAILS; ++rail) {
        (void) frames(rail);
    }
    sockets.closed[0] = true;
    for (int i = 0; i < 20; ++i) {
        send_one();
        pass_time(1);
    }
    CHECK(0 == frames(0) && frames(1) >= 20);
    end();
}

/* Its peer has no path left by which to tell. */
FAKE_TEST(an_idle_end_notices_once_a_rail_has_failed)
{
    begin(0);
    peer_says(1);
    wait_for(20);
    CHECK(1 == fsbml_framed_rails(framed));
    sockets.closed[0] = true;
    wait_for(20);
    CHECK(0 == fsbml_framed_rails(framed) && FSBML_CONNECTION_STANDS != framed->way[0].connection);
    end();
}

/* It only waits for messages, and its peer has no path by which to ask for new connections. */
FAKE_TEST(an_idle_end_that_has_lost_all_connections_makes_new_ones)
{
    begin(0);
    sockets.closed[0] = true;
    wait_for(600);
    CHECK(3 == fsbml_framed_rails(framed)); /* the peer has another one */
    sockets.closed[1] = sockets.said_goodbye = true;
    wait_for(600);
    CHECK(3 == fsbml_framed_rails(framed)); /* it is in MPI_Finalize */
    sockets.said_goodbye = false;
    wait_for(300);
    CHECK(0 == fsbml_framed_rails(framed) && 1 == sockets.renewed[0] && 1 == sockets.renewed[1]);
    wait_for(2 * SECOND);
    CHECK(frames(0) > 0 && frames(1) > 0); /* for which the BTL connects */
    end();
}

/* A cable is pulled at this end: nothing need be late. But an interface that works may never say that it
 * runs. */
FAKE_TEST(a_rail_without_carrier_is_left_at_once)
{
    begin(0);
    wait_for(20);
    CHECK(3 == fsbml_framed_rails(framed));
    without_carrier = 2;
    wait_for(20);
    CHECK(1 == fsbml_framed_rails(framed) && 2 == atomic_load(&framed->ep->closed));
    CHECK(NULL != strstr(framed->way[1].cause, "carrier"));
    end();
    begin(0); /* rail 1 has never said it */
    wait_for(20);
    CHECK(3 == fsbml_framed_rails(framed));
    without_carrier = 3;
    wait_for(20);
    CHECK(2 == fsbml_framed_rails(framed));
    without_carrier = 0;
    end();
}
