/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Each byte of a striped message is sent exactly once, in the right place: a sender that cuts messages as
 * ob1's send_request_schedule does, over rails of random number, speed and limits that refuse and shorten at
 * random. */

#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML + 6, ROUNDS = 120, MAX_BYTES = 3 << 20 };

typedef struct frag_header_t {
    uint64_t offset;
    unsigned char pad[40]; /* about as long as ob1's */
} frag_header_t;

static uint64_t seed;
static opal_datatype_t type;
static unsigned char *user;    /* the message */
static unsigned char *arrived; /* what the receiver has put where */
static unsigned char *times;   /* how often each byte came */
static size_t delivered, expected;

/* Up to `n`, 0 included. */
static uint64_t up_to(uint64_t n)
{
    return (next_random(&seed) >> 16) % (n + 1);
}

static void frag_completion(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                            mca_btl_base_descriptor_t *des, int status)
{
    (void) btl;
    (void) endpoint;
    CHECK(OPAL_SUCCESS == status);
    delivered += fsbml_des_bytes(des) - sizeof(frag_header_t);
}

/* The wire: what the rail was given first reaches the receiver; false if there is nothing. */
static bool arrive(fake_btl_t *rail)
{
    if (0 == rail->n_queue) {
        return false;
    }
    frag_header_t header;
    size_t at = 0, from = 0;
    const fake_des_t *des = rail->queue[0].des;
    memcpy(&header, des->segment[0].seg_addr.pval, sizeof(header));
    for (size_t i = 0; i < des->super.des_segment_count; ++i) {
        const unsigned char *data = des->segment[i].seg_addr.pval;
        for (from = 0 == i ? sizeof(header) : 0; from < des->segment[i].seg_len; ++from, ++at) {
            const bool fits = header.offset + at < expected;
            CHECK(fits);
            if (fits) {
                arrived[header.offset + at] = data[from];
                times[header.offset + at]++;
            }
        }
    }
    return fake_complete(rail, OPAL_SUCCESS);
}

static void some_arrive(int n)
{
    for (uint64_t k = up_to(3); k > 0; --k) {
        (void) arrive(&fake[up_to((uint64_t) n - 1)]);
    }
}

/* As ob1 has it: position, prepare, header, send; what was refused is cut again. */
static void send_striped(mca_bml_base_btl_t *bml_btl, opal_convertor_t *convertor, size_t first, size_t bytes,
                         int n)
{
    size_t offset = first, idle = 0;
    while (offset < first + bytes && idle < 100000) {
        size_t size = bml_btl->btl->btl_max_send_size - sizeof(frag_header_t), position = offset;
        size = size < first + bytes - offset ? size : first + bytes - offset;
        CHECK(OPAL_SUCCESS == opal_convertor_set_position(convertor, &position) && position == offset);
        mca_btl_base_descriptor_t *des;
        mca_bml_base_prepare_src(bml_btl, convertor, MCA_BTL_NO_ORDER, sizeof(frag_header_t), &size,
                                 MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_SEND_ALWAYS_CALLBACK, &des);
        int rc = OMPI_ERR_OUT_OF_RESOURCE;
        if (NULL != des) {
            const frag_header_t header = {.offset = offset};
            memcpy(des->des_segments[0].seg_addr.pval, &header, sizeof(header));
            des->des_cbfunc = frag_completion;
            CHECK(size > 0 && sizeof(header) + size <= bml_btl->btl->btl_max_send_size);
            rc = mca_bml_base_send(bml_btl, des, TAG);
            if (rc < 0) {
                CHECK(OMPI_ERR_OUT_OF_RESOURCE == rc);
                mca_bml_base_free(bml_btl, des);
            }
        }
        if (rc >= 0) {
            offset += size;
            idle = 0;
        } else {
            ++idle;
        }
        virtual_ns += up_to(100000);
        some_arrive(n);
    }
    CHECK(offset == first + bytes);
}

static void one_message(uint64_t round_seed)
{
    seed = round_seed;
    const int n = 1 + (int) up_to(4), world = n > 1 ? n : 2; /* of one rail: what is left of two */
    size_t size = 0 == up_to(3) ? up_to(70000) : up_to(MAX_BYTES), refused = 0;
    size_t first = up_to(size), bytes; /* the head went with the handshake */
    bytes = size - first;
    for (int i = 0; i < world; ++i) {
        fake_construct(&fake[i], 1024 + up_to(65536), 4096 + up_to(131072), 10);
        fake[i].random = next_random(&seed);
    }
    world_up(world);
    mca_bml_fsbml_params.quantum = 0 == up_to(1) ? 0 : 512 + up_to(100000);
    fsbml_limits_apply_quantum();
    mca_bml_base_btl_t *bml_btl = eager_of(peer_up());
    all_answer(world);
    if (n < world) {
        CHECK(OMPI_SUCCESS == mca_bml.bml_del_proc_btl(peer, &fake[1].super));
    }
    for (int i = 0; i < n; ++i) {
        const double G = 1 + (double) up_to(1000);
        const double L = 1e3 + (double) up_to(100000);
        const fsbml_loggp_t p = LOGGP(L, 500, 1e3 + (double) up_to(10000), G);
        CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, (uint32_t) i, &p));
        fake[i].chance = 0 == up_to(2) ? 0 : (unsigned) up_to(200);
        fake[i].shortens = 0 == up_to(1);
    }
    opal_convertor_t convertor = fake_convertor(user, size, &type);
    delivered = 0;
    expected = size;
    memset(arrived, 0, size);
    memset(times, 0, size);
    send_striped(bml_btl, &convertor, first, bytes, n);
    for (int k = 0; k < 10000 && 0 != fsbml_endpoint_of_proc(peer)->n_held; ++k) {
        pass_time(1); /* one may still wait for a rail */
    }
    size_t wrong = 0, charged = 0, sent = 0, messages = 0, taken = 0;
    for (int i = 0; i < n; ++i) {
        while (arrive(&fake[i])) {
        }
        fsbml_rail_counters_t c;
        fsbml_sched_counters(fsbml_rails.sched, (uint32_t) i, &c);
        charged += c.bytes;
        messages += c.messages;
        sent += fake[i].bytes;
        taken += (size_t) fake[i].n_sent;
        refused += (size_t) fake[i].n_refused;
    }
    for (size_t i = 0; i < size; ++i) {
        wrong += i < first ? 0 != times[i] : 1 != times[i] || user[i] != arrived[i];
    }
    CHECK(0 == wrong && bytes == delivered);
    CHECK(charged == sent && messages == taken && sent == bytes + messages * sizeof(frag_header_t));
    printf("seed %llu: %zu bytes from %zu in %zu fragments over %d rails, %zu refusals, %zu bytes wrong\n",
           (unsigned long long) round_seed, bytes, first, messages, n, refused, wrong);
    world_down(world);
    mca_bml_fsbml_params.quantum = 0;
}

FAKE_TEST(each_byte_is_sent_once)
{
    uint64_t start = 0x5eed;
    user = malloc(MAX_BYTES);
    arrived = malloc(MAX_BYTES);
    times = malloc(MAX_BYTES);
    for (size_t i = 0; i < MAX_BYTES; ++i) {
        user[i] = (unsigned char) (next_random(&start) >> 24);
    }
    for (int i = 0; i < ROUNDS; ++i) {
        one_message(next_random(&start) | 1);
    }
    free(user);
    free(arrived);
    free(times);
}
