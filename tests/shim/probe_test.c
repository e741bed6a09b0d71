/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes on fake rails in virtual time: what they measure, what a mirror does, and what neither lets itself
 * in for. */

#define FAKE_OWN_MAIN
#include "fake_kernel.h"
#include "fake_net.h"

static const uint64_t LIMIT = 100000000; /* ns, of a probe */

static uint64_t run(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, fsbml_probe_kind_t kind, uint32_t packets,
                    uint32_t bytes, uint64_t delay_ns)
{
    const fsbml_probe_t probe = {.kind = kind, .packets = packets, .bytes = bytes, .delay_ns = delay_ns};
    return fsbml_prtt_run(fsbml_path(ep, rail), &probe, LIMIT);
}

/* Packets of probes, without the calibration, which takes them from its partner only. */
static bool leads;
static bool is_away; /* the receiver of streams, again and again */

static void net_deliver_stream(int rail, const fsbml_packet_t *packet, const uint32_t *word)
{
    const size_t len = FSBML_PACKET_STREAM_BACK == packet->type ? 0 : packet->bytes;
    fsbml_packet_t said = *packet;
    said.flags |= is_away && FSBML_PACKET_STREAM_BACK == packet->type ? FSBML_PACKET_AWAY : 0;
    fsbml_stream_packet(fsbml_path(fsbml_endpoint_of_proc(peer), (uint32_t) rail), &said, word + N_WORDS,
                        FSBML_PACKET_STREAM == packet->type ? len - FSBML_PACKET_HEADER : len);
}

static void deliver(int rail, uint32_t *word)
{
    const fsbml_packet_t packet = {.type = (uint8_t) word[W_TYPE],
                                   .flags = (uint8_t) (word[W_TYPE] >> 8),
                                   .from = peer->super.proc_name,
                                   .seq = word[W_SEQ],
                                   .count = word[W_COUNT],
                                   .bytes = word[W_BYTES],
                                   .delay_ns = word[W_DELAY]};
    if (packet.type <= FSBML_PACKET_ANSWER) {
        net_deliver(rail, word);
    } else if (packet.type >= FSBML_PACKET_STREAM) {
        net_deliver_stream(rail, &packet, word);
    } else if (leads) {
        fsbml_prtt_came(&packet);
    } else {
        fsbml_mirror_packet(fsbml_endpoint_of_proc(peer), &fake[rail].super, &packet);
    }
}

static bool near(double expected, uint64_t is)
{
    const bool good = (double) is > 0.95 * expected && (double) is < 1.05 * expected + 2000;
    if (!good) {
        fprintf(stderr, "expected %.1f us, is %.1f us\n", expected / 1e3, (double) is / 1e3);
    }
    return good;
}

FAKE_TEST(each_kind_takes_its_time)
{
    enum { S = 4096, N = 9 };
    mca_bml_fsbml_endpoint_t *ep = net_up(40, 400);
    leads = true;
    fsbml_prtt_reset();
    for (uint32_t r = 0; r < 2; ++r) {
        const double gap = (0 == r ? 40 : 400) * S, way = 10500, small = (0 == r ? 40 : 400) * 32.0;
        CHECK(near(2 * (way + gap), run(ep, r, FSBML_PROBE_THERE, 1, S, 0)));
        CHECK(near(2 * way + gap + N * gap, run(ep, r, FSBML_PROBE_THERE, N, S, 0)));
        CHECK(near(2 * way + 2 * gap + (N - 1) * 3 * gap,
                   run(ep, r, FSBML_PROBE_THERE, N, S, (uint64_t) (3 * gap))));
        CHECK(near(2 * way + small + gap, run(ep, r, FSBML_PROBE_BACK, 1, S, 0)));
        CHECK(near(2 * way + small + N * gap, run(ep, r, FSBML_PROBE_BACK, N, S, 0)));
        CHECK(near(2 * way + small + gap + (N - 1) * 3 * gap,
                   run(ep, r, FSBML_PROBE_BACK, N, S, (uint64_t) (3 * gap))));
        /* there and back at once: as long as one way, and the last word */
        CHECK(near(2 * way + small + N * gap + 2 * small, run(ep, r, FSBML_PROBE_BOTH, N, S, 0)));
        /* all are there when it looks: n o_r */
        CHECK(near(N * 500, run(ep, r, FSBML_PROBE_TAKE, N, S, (uint64_t) (2 * N * gap))));
        /* not all are, and none is lost */
        CHECK(near(way + small + (N - 3) * gap,
                   run(ep, r, FSBML_PROBE_TAKE, N, S, (uint64_t) (3 * gap + way))));
    }
    net_down();
}

FAKE_TEST(streams_find_the_rates)
{
    mca_bml_fsbml_endpoint_t *ep = net_up(40, 400);
    const mca_bml_fsbml_path_t *path[2] = {fsbml_path(ep, 0), fsbml_path(ep, 1)};
    const fsbml_streaming_limits_t limits[2] = {fsbml_stream_limits(path[0], 8000000, 24000000),
                                                fsbml_stream_limits(path[1], 8000000, 24000000)};
    const uint64_t start = virtual_ns;
    fsbml_rate_t rate[2];
    double sending;
    leads = true;
    fsbml_prtt_reset();
    CHECK(fsbml_stream_run(2, path, limits, LIMIT, rate, &sending));
    CHECK(rate[0].G_ns_per_byte > 39 && rate[0].G_ns_per_byte < 41 && rate[0].steady);
    CHECK(rate[1].G_ns_per_byte > 390 && rate[1].G_ns_per_byte < 410);
    CHECK(sending > 0 && sending < 0.5 && virtual_ns - start < 40000000);
    CHECK(fsbml_stream_ask(path[1], &limits[1], LIMIT, rate));
    CHECK(rate[0].G_ns_per_byte > 390 && rate[0].G_ns_per_byte < 410);
    net[0].dies_after = 1;
    CHECK(!fsbml_stream_run(2, path, limits, LIMIT, rate, &sending));
    CHECK(!fsbml_stream_ask(path[0], &limits[0], LIMIT, rate));
    net_down();
}

FAKE_TEST(the_kernel_is_asked_about_a_stream_once_an_end_was_away)
{
    const mca_bml_fsbml_path_t *path = fsbml_path(net_up(40, 400), 0);
    const fsbml_streaming_limits_t limits = fsbml_stream_limits(path, 8000000, 24000000);
    fsbml_rate_t rate;
    double sending;
    kernel_connects();
    for (int away = 1; away >= 0; --away) {
        const uint64_t start = virtual_ns;
        is_away = 1 == away;
        fsbml_prtt_reset();
        kernel[0].asked = 0;
        CHECK(fsbml_stream_run(1, &path, &limits, LIMIT, &rate, &sending));
        const int most = is_away ? (int) ((virtual_ns - start) / 300000) + 2 : 1;
        CHECK(kernel[0].asked <= most && kernel[0].asked >= (is_away ? 10 : 1));
    }
    memset(&sockets, 0, sizeof(sockets));
    net_down();
}

static void stray(uint32_t type, uint32_t seq)
{
    uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC, type, 1, 1, seq, 9, 4096, 0};
    deliver(0, word);
}

static void strays(void)
{
    static uint32_t seq;
    stray(FSBML_PACKET_FLOW, seq);
    stray(FSBML_PACKET_PRTT_BACK, seq);
    stray(FSBML_PACKET_FLOW, 0);
    stray(FSBML_PACKET_PRTT_BACK, 0);
    stray(FSBML_PACKET_FLOW, seq * 32);
    stray(FSBML_PACKET_REQUEST, seq);
    seq = seq + 1 < 100 ? seq + 1 : 0;
    virtual_ns -= 6 * 20;
}

/* An answer where none was asked for. */
static void unasked(void)
{
    stray(FSBML_PACKET_PRTT_BACK, net[0].requested);
    virtual_ns -= 20;
}

/* Late answers, those of other probes, requests to a leader: what is measured is what comes for this
 * probe. */
FAKE_TEST(strays_change_nothing)
{
    mca_bml_fsbml_endpoint_t *ep = net_up(40, 400);
    leads = true;
    fsbml_prtt_reset();
    for (int i = 0; i < 110; ++i) { /* beyond the numbers of the strays */
        CHECK(0 != run(ep, 0, FSBML_PROBE_THERE, 1, 32, 0));
    }
    const uint64_t one = run(ep, 0, FSBML_PROBE_BACK, 9, 4096, 0),
                   two = run(ep, 0, FSBML_PROBE_BOTH, 9, 4096, 0);
    net_also = strays;
    CHECK(near((double) one, run(ep, 0, FSBML_PROBE_BACK, 9, 4096, 0)));
    CHECK(near((double) two, run(ep, 0, FSBML_PROBE_BOTH, 9, 4096, 0)));
    net_also = unasked;
    CHECK(near((double) one, run(ep, 0, FSBML_PROBE_BACK, 9, 4096, 0)));
    net_also = NULL;
    net_down();
}

/* A rail that answers and then never: each kind of probe ends in time, and what it sends later is of no
 * probe. */
FAKE_TEST(a_mute_rail_costs_its_limit)
{
    mca_bml_fsbml_endpoint_t *ep = net_up(40, 400);
    leads = true;
    fsbml_prtt_reset();
    CHECK(0 != run(ep, 0, FSBML_PROBE_THERE, 1, 32, 0));
    net[0].dies_after = 3;
    for (fsbml_probe_kind_t kind = FSBML_PROBE_THERE; kind <= FSBML_PROBE_BOTH; ++kind) {
        const uint64_t start = virtual_ns;
        CHECK(0 == run(ep, 0, kind, 8, 4096, 1000));
        CHECK(near((double) LIMIT, virtual_ns - start));
        CHECK(0 != run(ep, 1, kind, 8, 4096, 1000)); /* the other is as good as before */
    }
    net_down();
}

/* TCP waits 200 ms for a frame that was lost. The probe is late, and the next one is not. */
FAKE_TEST(a_stall_delays_one_probe)
{
    mca_bml_fsbml_endpoint_t *ep = net_up(40, 400);
    leads = true;
    fsbml_prtt_reset();
    const fsbml_probe_t probe = {.kind = FSBML_PROBE_BOTH, .packets = 8, .bytes = 4096};
    const uint64_t usual = fsbml_prtt_run(fsbml_path(ep, 0), &probe, 5 * LIMIT);
    net[0].stall_ns = 200000000;
    const uint64_t late = fsbml_prtt_run(fsbml_path(ep, 0), &probe, 5 * LIMIT);
    CHECK(late > 200000000 && late < 210000000);
    CHECK(near((double) usual, fsbml_prtt_run(fsbml_path(ep, 0), &probe, 5 * LIMIT)));
    net[0].stall_ns = 200000000;
    CHECK(0 == fsbml_prtt_run(fsbml_path(ep, 0), &probe, LIMIT)); /* or it is not waited for any more */
    CHECK(near((double) usual, run(ep, 1, FSBML_PROBE_BOTH, 8, 409, 0)));
    fsbml_prtt_rest(200000000);
    CHECK(near((double) usual, fsbml_prtt_run(fsbml_path(ep, 0), &probe, LIMIT)));
    net_down();
}

static int room_for;

static void make_room(void)
{
    fake[0].refuses = --room_for > 0;
}

FAKE_TEST(a_leader_without_room_tries_again)
{
    mca_bml_fsbml_endpoint_t *ep = net_up(40, 400);
    leads = true;
    fsbml_prtt_reset();
    for (fsbml_probe_kind_t kind = FSBML_PROBE_THERE; kind <= FSBML_PROBE_BOTH; ++kind) {
        room_for = 50;
        fake[0].refuses = true;
        net_also = make_room;
        CHECK(0 != run(ep, 0, kind, 8, 4096, 1000) && room_for <= 0);
        net_also = NULL;
        fake[0].refuses = true; /* for good */
        uint64_t start = virtual_ns;
        CHECK(0 == run(ep, 0, kind, 8, 4096, 1000));
        CHECK(virtual_ns - start < 2 * LIMIT);
        fake[0].error = OMPI_ERR_NOT_SUPPORTED; /* and says so */
        start = virtual_ns;
        CHECK(0 == run(ep, 0, kind, 8, 4096, 1000));
        CHECK(virtual_ns - start < LIMIT / 10);
        fake[0].error = 0;
        fake[0].refuses = false;
    }
    CHECK(0 == run(ep, 0, FSBML_PROBE_THERE, 0, 4096, 0));
    CHECK(0 == run(ep, 0, FSBML_PROBE_THERE, 1025, 4096, 0));
    CHECK(0 == run(ep, 0, FSBML_PROBE_THERE, 1, 65537, 0));
    CHECK(0 == run(ep, 0, FSBML_PROBE_THERE, 1, 31, 0));
    net_down();
}

/* -------------------------------------------------------------------- mirror */

static _Atomic bool over;

static void come(int rail, uint32_t type, uint32_t seq, uint32_t count, uint32_t bytes, uint32_t delay_ns)
{
    uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC, type, 1, 1, seq, count, bytes, delay_ns};
    deliver(rail, word);
}

/* What the mirror has sent since: messages of this type, size and number. */
static int sent(uint32_t type, uint32_t seq, size_t bytes)
{
    int n = 0;
    for (size_t i = 0; i < net_messages; ++i) {
        const net_message_t *m = &net_message[i];
        n += THERE == m->way && type == m->word[W_TYPE] && seq == m->word[W_SEQ] && bytes == m->bytes;
    }
    return n;
}

static void mirror_up(void)
{
    (void) net_up(40, 400);
    leads = false;
    over = false;
    fsbml_prtt_reset();
    mca_bml_fsbml_params.calib.budget_ns = 80000000; /* with the time-out, LIMIT */
    CHECK(LIMIT == fsbml_prtt_limit());
}

/* One message is answered by the handler; what takes long is done when there is time for it. */
FAKE_TEST(a_mirror_sends_what_it_is_asked_for)
{
    mirror_up();
    come(0, FSBML_PACKET_REQUEST, 32, 5, 1000, 2000000);
    CHECK(0 == net_messages);
    const uint64_t start = virtual_ns;
    fsbml_mirror_serve(&over);
    CHECK(5 == sent(FSBML_PACKET_FLOW, 32, 1000) && 5 == net_messages);
    CHECK(near(8e6, virtual_ns - start));          /* computing between two */
    come(0, FSBML_PACKET_REQUEST, 32, 5, 1000, 0); /* again */
    fsbml_mirror_serve(&over);
    CHECK(5 == net_messages);
    for (int i = 0; i < 4; ++i) {
        come(1, FSBML_PACKET_PRTT, 33, 3, 500, 0);
        CHECK((i < 2 ? 0 : 1) == sent(FSBML_PACKET_PRTT_BACK, 33, 500)); /* once */
    }
    for (int i = 0; i < 2; ++i) { /* both rails at once, and answers as small as can be */
        come(0, FSBML_PACKET_PRTT | FSBML_PACKET_BRIEF << 8, 64, 2, 500, 0);
        come(1, FSBML_PACKET_PRTT | FSBML_PACKET_BRIEF << 8, 65, 2, 500, 0);
    }
    CHECK(1 == sent(FSBML_PACKET_PRTT_BACK, 64, 32) && 1 == sent(FSBML_PACKET_PRTT_BACK, 65, 32));
    net_down();
}

FAKE_TEST(a_mirror_refuses_what_no_leader_asks_for)
{
    static const uint32_t bad[][4] = {/* number, messages, bytes, delay */
                                      {0, 5, 1000, 0},
                                      {32, 0, 1000, 0},
                                      {32, 1025, 1000, 0},
                                      {32, UINT32_MAX, 1000, 0},
                                      {32, 5, 0, 0},
                                      {32, 5, 31, 0},
                                      {32, 5, 65537, 0},
                                      {32, 5, UINT32_MAX, 0},
                                      {32, 5, 1000, UINT32_MAX},
                                      {32, 1024, 1000, 100000},
                                      {32, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    mirror_up();
    const uint64_t start = virtual_ns;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        come(0, FSBML_PACKET_REQUEST, bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        come(0, FSBML_PACKET_PRTT, bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        fsbml_mirror_serve(&over);
        CHECK(0 == net_messages);
    }
    CHECK(virtual_ns - start < LIMIT / 100);
    come(0, FSBML_PACKET_REQUEST, 32, 5, 1000, 0); /* none of them has begun an exchange */
    fsbml_mirror_serve(&over);
    CHECK(5 == net_messages);
    net_down();
}

FAKE_TEST(a_mirror_does_not_look_back)
{
    mirror_up();
    come(0, FSBML_PACKET_PRTT, 3200, 2, 500, 0);
    come(0, FSBML_PACKET_REQUEST, 3168, 5, 1000, 0); /* of an exchange before */
    come(0, FSBML_PACKET_PRTT, 3168, 1, 500, 0);
    fsbml_mirror_serve(&over);
    CHECK(0 == net_messages);
    come(0, FSBML_PACKET_PRTT, 3200, 2, 500, 0); /* the newest has lost nothing */
    CHECK(1 == sent(FSBML_PACKET_PRTT_BACK, 3200, 500));
    come(0, FSBML_PACKET_REQUEST, 3232, 5, 1000, 0);
    come(0, FSBML_PACKET_REQUEST, 3264, 7, 1000, 0); /* its leader has given the last one up */
    fsbml_mirror_serve(&over);
    CHECK(0 == sent(FSBML_PACKET_FLOW, 3232, 1000) && 7 == sent(FSBML_PACKET_FLOW, 3264, 1000));
    come(0, FSBML_PACKET_REQUEST, 3296, 5, 1000, 0);
    over = true;
    fsbml_mirror_serve(&over);
    CHECK(0 == sent(FSBML_PACKET_FLOW, 3296, 1000));
    net_down();
}

FAKE_TEST(a_mirror_without_room_tries_again_for_a_while)
{
    mirror_up();
    fake[0].refuses = true;
    come(0, FSBML_PACKET_PRTT, 32, 1, 500, 0);
    come(0, FSBML_PACKET_REQUEST, 32, 5, 1000, 0);
    room_for = 50;
    net_also = make_room;
    fsbml_mirror_serve(&over);
    net_also = NULL;
    CHECK(room_for <= 0);
    CHECK(6 == sent(FSBML_PACKET_FLOW, 32, 1000) + sent(FSBML_PACKET_PRTT_BACK, 32, 500));
    fake[0].refuses = true; /* for good */
    come(0, FSBML_PACKET_REQUEST, 64, 5, 1000, 0);
    uint64_t start = virtual_ns;
    fsbml_mirror_serve(&over);
    CHECK(near((double) LIMIT, virtual_ns - start) && 0 == sent(FSBML_PACKET_FLOW, 64, 1000));
    fake[0].error = OMPI_ERR_NOT_SUPPORTED;
    come(0, FSBML_PACKET_REQUEST, 96, 5, 1000, 0);
    start = virtual_ns;
    fsbml_mirror_serve(&over);
    CHECK(virtual_ns - start < LIMIT / 100);
    fake[0].error = 0;
    fake[0].refuses = false;
    come(0, FSBML_PACKET_REQUEST, 128, 5, 1000, 0);
    fsbml_mirror_serve(&over);
    CHECK(5 == sent(FSBML_PACKET_FLOW, 128, 1000));
    net_down();
}

FAKE_TEST(a_look_at_the_clock_is_timed)
{
    look_ns = 37;
    CHECK(37 == fsbml_prtt_timer_ns());
    look_ns = 0;
    CHECK(0 == fsbml_prtt_timer_ns());
}

int main(void)
{
    net_to = deliver;
    return fake_main();
}
