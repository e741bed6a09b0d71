/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* When queues become short: where urgent messages come amid bulk, and not where they come between two phases
 * of a program; and what the PML then sends ahead. In virtual time. */

#include <unistd.h>

#include "fake_kernel.h"
#include "fake_net.h"
#include "send/send.h"

enum { EAGER = 16384 };

static mca_btl_base_component_t tcp = {.btl_version = {MCA_BTL_DEFAULT_VERSION("tcp")}};
static mca_bml_fsbml_endpoint_t *ep;

static void up(void)
{
    mca_bml_fsbml_params.feedback = true;
    fake_construct(&fake[0], EAGER, 65536, 10);
    fake_construct(&fake[1], EAGER, 65536, 10);
    fake[0].super.btl_component = fake[1].super.btl_component = &tcp;
    world_up(2);
    net_table_comes();
    (void) peer_up();
    ep = fsbml_endpoint_of_proc(peer);
}

static void down(void)
{
    world_down(2);
    mca_bml_fsbml_params.feedback = false;
    sockets.possible = false;
}

/* Offers bulk for the fast rail alone; false: it is to wait. */
static bool is_taken_as(bool fragment)
{
    size_t bytes = 65536;
    const int rail = fsbml_flow_rail(ep, 0, 1, &bytes, fragment, &bytes, bytes);
    CHECK(rail <= 0 && 65536 == bytes);
    return 0 == rail;
}

static bool is_taken(void)
{
    return is_taken_as(false);
}

static void bulk(void)
{
    CHECK(is_taken());
}

static bool is_short(void)
{
    return fsbml_now_ns() < fsbml_flow.short_until_ns[FSBML_FLOW_SMALL];
}

FAKE_TEST(urgent_messages_amid_bulk_make_queues_short)
{
    up();
    fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
    bulk();
    bulk();
    CHECK(!is_short());
    fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
    CHECK(!is_short()); /* it may have been the last of both */
    bulk();
    CHECK(is_short());
    pass_time(1100);
    CHECK(!is_short());
    down();
}

FAKE_TEST(small_messages_and_answers_are_urgent)
{
    static const struct {
        mca_btl_base_tag_t tag;
        size_t bytes;
        bool is_small, is_answer;
    } of[] = {{FSBML_TAG_MATCH, FSBML_FLOW_URGENT, true, false},
              {FSBML_TAG_ACK, 64, false, true},
              {FSBML_TAG_MATCH, FSBML_FLOW_URGENT + 1, false, false},
              {FSBML_TAG_MATCH + 1, 64, false, false}}; /* a rendezvous */
    for (int i = 0; i < (int) (sizeof(of) / sizeof(of[0])); ++i) {
        up();
        bulk();
        fsbml_note_urgent(of[i].tag, of[i].bytes, fsbml_now_ns());
        CHECK(of[i].is_small == (0 != fsbml_flow.mixed_until_ns));
        CHECK(of[i].is_answer == (0 != fsbml_flow.short_until_ns[FSBML_FLOW_ANSWER]));
        down();
    }
}

/* In the PML's order, what follows a whole message of 64 KiB waits for all of it. */
FAKE_TEST(then_long_messages_begin_with_little)
{
    static const fsbml_loggp_t far = LOGGP(1e6, 1e3, 0, 80);
    up();
    fsbml_rails.rail[0].params = far;
    fsbml_limits_apply_quantum();
    const mca_btl_base_module_t *p = &fsbml_rails.group[0]->pseudo;
    const size_t begins_with = p->btl_rndv_eager_limit;
    CHECK(EAGER + FSBML_PML_HEADER == p->btl_eager_limit
          && FSBML_FLOW_URGENT + FSBML_PML_HEADER < begins_with);
    fsbml_limits_urgent(true);
    CHECK(EAGER == p->btl_eager_limit && FSBML_FLOW_URGENT + FSBML_PML_HEADER == p->btl_rndv_eager_limit);
    fsbml_limits_urgent(false);
    CHECK(EAGER + FSBML_PML_HEADER == p->btl_eager_limit && begins_with == p->btl_rndv_eager_limit);
    down();
}

/* Of many processes those that send at once would overflow a queue, and ranks of a node do so together. */
FAKE_TEST(no_larger_messages_are_whole_where_many_send)
{
    static const struct {
        uint32_t processes, others; /* of the node */
        size_t limit;
    } of[] = {{4, 0, EAGER + FSBML_PML_HEADER}, {5, 0, EAGER}, {4, 1, EAGER}};
    for (int i = 0; i < 3; ++i) {
        up();
        set_local(0, of[i].others);
        ompi_process_info.num_procs = of[i].processes;
        for (int feedback = 0; feedback < 2; ++feedback) {
            mca_bml_fsbml_params.feedback = 0 != feedback;
            fsbml_limits_apply_quantum();
            CHECK((feedback ? of[i].limit : EAGER + FSBML_PML_HEADER)
                  == fsbml_rails.group[0]->pseudo.btl_eager_limit);
        }
        set_local(0, 0);
        ompi_process_info.num_procs = 0;
        down();
    }
}

/* Nor with more than a rail carries until the answer is here: 4 (L + o_s + o_r) of it, in units of 4 KiB. */
FAKE_TEST(long_messages_begin_with_what_hides_the_answer)
{
    static const struct {
        fsbml_loggp_t one, other;
        size_t begins_with;
    } of[] = {{LOGGP(3e3, 1e3, 0, 80), LOGGP(3e3, 1e3, 0, 800), FSBML_FLOW_URGENT},
              {LOGGP(3e3, 1e3, 0, 1.5), LOGGP(3e3, 1e3, 0, 3), 12288},
              {LOGGP(3e3, 1e3, 0, 80), LOGGP(3e3, 1e3, 0, 1.5), 12288},
              {LOGGP(1e6, 1e3, 0, 80), LOGGP(1e6, 1e3, 0, 80), 8192}}; /* a fragment */
    up();
    mca_bml_fsbml_params.quantum = 0;
    const mca_btl_base_module_t *p = &fsbml_rails.group[0]->pseudo;
    for (int i = 0; i < (int) (sizeof(of) / sizeof(of[0])); ++i) {
        fsbml_rails.rail[0].params = of[i].one;
        fsbml_rails.rail[1].params = of[i].other;
        fsbml_limits_apply_quantum();
        CHECK(of[i].begins_with + FSBML_PML_HEADER == p->btl_rndv_eager_limit);
    }
    mca_bml_fsbml_params.feedback = false; /* as before: a fragment */
    fsbml_rails.rail[0].params = fsbml_rails.rail[1].params = of[0].one;
    fsbml_limits_apply_quantum();
    CHECK(8192 + FSBML_PML_HEADER == p->btl_rndv_eager_limit);
    mca_bml_fsbml_params.quantum = 10001; /* fragments end between elements */
    fsbml_limits_apply_quantum();
    CHECK(9984 + FSBML_PML_HEADER == p->btl_max_send_size);
    mca_bml_fsbml_params.quantum = 0;
    down();
}

FAKE_TEST(urgent_messages_between_phases_do_not)
{
    up();
    for (int phase = 0; phase < 3; ++phase) {
        bulk();
        bulk();
        fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL); /* the bulk is given, and still on its way */
        pass_time(100);
        fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
    }
    bulk();
    CHECK(!is_short());
    down();
}

/* Where the kernel tells, its word counts: the model may believe in bulk that has long arrived. */
FAKE_TEST(bulk_that_has_arrived_is_none)
{
    kernel_connects();
    up();
    for (int phase = 0; phase < 3; ++phase) {
        bulk();
        kernel[0].queued = 65536;
        fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
        kernel[0].queued = phase < 2 ? 100 : 65536;
        bulk();
        CHECK(is_short() == (2 == phase));
    }
    kernel[0].queued = 0;
    down();
}

/* What a message begins with is bulk, too: behind several of those, it is too late to see that nothing was
 * under way. */
FAKE_TEST(a_phase_may_begin_with_requests)
{
    static unsigned char bytes[FSBML_FLOW_BULK];
    static opal_datatype_t type;
    kernel_connects();
    up();
    mca_bml_base_btl_t *entry = eager_of(peer->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML]);
    for (int begins = 0; begins < 2; ++begins) {
        bulk();
        fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
        kernel[0].queued = 100;
        for (int i = 0; i < 4; ++i) {
            size_t size = FSBML_FLOW_URGENT - (0 == begins ? 0 : 1);
            mca_btl_base_descriptor_t *des = NULL;
            opal_convertor_t convertor = fake_convertor(bytes, sizeof(bytes), &type);
            mca_bml_base_prepare_src(entry, &convertor, MCA_BTL_NO_ORDER, 16, &size,
                                     MCA_BTL_DES_FLAGS_PRIORITY, &des);
            mca_bml_base_free(entry, des);
            kernel[0].queued += 4096;
        }
        bulk();
        CHECK(is_short() == (1 == begins)); /* what is less than a request is none */
    }
    kernel[0].queued = 0;
    down();
}

FAKE_TEST(without_feedback_they_are_always_long)
{
    up();
    bulk(); /* of another life */
    down();
    fakes_up(2);
    bulk();
    fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
    bulk();
    CHECK(!is_short() && 0 == fsbml_flow.mixed_until_ns);
    world_down(2);
}

/* Feedback's function, which comes last. */
static int look(void)
{
    return low_progress_fn();
}

/* How often the rails are looked at in 400 ms, if a look takes 100 us of a processor's time. */
static int looks(uint32_t local_ranks)
{
    set_local(0, local_ranks - 1);                  /* others */
    mca_bml_fsbml_params.ledger = FSBML_LEDGER_OFF; /* there is no run-time to tell of its file */
    up();
    look_ns = 100000;
    other_clocks = 0;
    const uint64_t end = virtual_ns + 400000000;
    while (virtual_ns < end) {
        pass_time(1);
        (void) look();
    }
    const int n = other_clocks / 2; /* processor time, before and after */
    look_ns = 0;
    down();
    mca_bml_fsbml_params.ledger = FSBML_LEDGER_AUTO;
    set_local(0, 0);
    return n;
}

/* Else ranks that wait for each other's processors would spend them on looks. */
FAKE_TEST(ranks_that_share_a_processor_look_less_often)
{
    const uint32_t processors = (uint32_t) sysconf(_SC_NPROCESSORS_ONLN);
    const int own = looks(processors), shared = looks(4 * processors);
    CHECK(own > 60 && own <= 80); /* 2 % of the time */
    CHECK(shared >= own / 5 && shared <= own / 3);
}

/* Messages of so many bytes that come in, `turns` of them behind one that was sent; and looks at what is
 * under way. */
static int calmed_by_long(int messages, int turns, size_t bytes)
{
    sockets.calmed[0] = 0;
    for (int i = 0; i < messages; ++i) {
        if (i < turns) {
            fsbml_flow_sends();
        }
        fsbml_flow_receives(bytes);
    }
    for (int i = 0; i < 4; ++i) {
        fsbml_sched_charge(fsbml_rails.sched, 0, fsbml_now_ns(), 65536);
        pass_time(2);
        (void) look();
    }
    return sockets.calmed[0];
}

static int calmed_by(int messages, int turns)
{
    return calmed_by_long(messages, turns, 8192);
}

/* The kernel sets a window anew when messages change their size. Of messages that come behind each other, one
 * acknowledgement for many is better. */
FAKE_TEST(short_messages_that_come_one_by_one_have_room)
{
    kernel_connects();
    up();
    CHECK(1 == calmed_by(64, 64) && 0 == calmed_by(64, 32));
    sockets.window = 1;
    CHECK(1 == calmed_by(64, 64) && 0 == calmed_by(0, 0));
    CHECK(0 == calmed_by(63, 0) && 1 == calmed_by(1, 0) && 0 == calmed_by(640, 64)); /* of a few at least */
    CHECK(0 == calmed_by(64, 31) && 1 == calmed_by(64, 33));
    CHECK(1 == calmed_by_long(64, 64, 12000)
          && 0 == calmed_by_long(64, 64, 12000)); /* not longer ones, either */
    sockets.window = 0;
    down();
}

/* What failover has taken from a connection goes by others: it keeps no rail busy. */
FAKE_TEST(what_a_closed_path_has_left_does_not_count)
{
    kernel_connects();
    kernel[0].queued = 100000;
    up();
    CHECK(100000 == fsbml_sockets_look(0).queued);
    atomic_store(&ep->closed, 1);
    CHECK(0 == fsbml_sockets_look(0).queued && 1 == fsbml_sockets_look(0).n);
    atomic_store(&ep->closed, 0);
    CHECK(100000 == fsbml_sockets_look(0).queued);
    down();
    kernel[0].queued = 0;
}

/* Offers a part of much for the fast rail, or another one: a policy that has chosen is not overruled. */
static int taken_by(fsbml_policy_t policy)
{
    size_t bytes = 65536;
    mca_bml_fsbml_params.policy = policy;
    const int rail = fsbml_flow_rail(ep, 0, 3, &bytes, false, &bytes, 1 << 20);
    mca_bml_fsbml_params.policy = FSBML_POLICY_ARRIVAL;
    return rail;
}

/* Where answers cross bulk, fragments wait for room, which others follow; with small messages amid bulk,
 * whole messages do as well. Not those for a peer with nothing under way: what others have may wait for their
 * ends of the rail. One test, as what was refused anything is not refused again in another life of MPI. */
FAKE_TEST(bulk_waits_for_room)
{
    enum { MUCH = 1 << 20 };
    kernel_connects();
    kernel[0].queued = MUCH;
    up();
    bulk();
    fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_ANSWER);
    bulk();
    fsbml_sched_charge(fsbml_rails.sched, 0, fsbml_now_ns(), MUCH);
    pass_time(2);
    (void) look();
    const mca_btl_base_module_t *p = &fsbml_rails.group[0]->pseudo;
    CHECK(!is_short() && !is_taken_as(true) && is_taken() && EAGER + FSBML_PML_HEADER == p->btl_eager_limit);
    fsbml_flow_urgent(fsbml_now_ns(), FSBML_FLOW_SMALL);
    CHECK(!is_taken_as(true) && is_short() && !is_taken());
    pass_time(2);
    (void) look();
    CHECK(EAGER == p->btl_eager_limit);
    CHECK(1 == taken_by(FSBML_POLICY_ARRIVAL) && -1 == taken_by(FSBML_POLICY_SINGLE));
    kernel[0].queued = 100;
    CHECK(!is_taken()); /* there are no others */
    world_add_peer();
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[1]));
    CHECK(is_taken());
    kernel[0].queued = MUCH;
    CHECK(!is_taken());
    kernel[0].number = 0; /* not connected: nothing is known */
    CHECK(!is_taken());
    kernel[0].queued = 0;
    down();
    up(); /* another life */
    CHECK(EAGER + FSBML_PML_HEADER == fsbml_rails.group[0]->pseudo.btl_eager_limit);
    down();
}
