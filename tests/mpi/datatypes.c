/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes: non-contiguous on the sending side, the receiving side and both, below and above the
 * eager limit. What a type covers is computed here by hand; bytes that it does not cover must stay as they
 * were.
 */
#include "check.h"

enum { MAX_BLOCKS = 8, TAG = 50 };

/* A type and, on its own account, the bytes that one element covers, in the order of its type map. */
struct layout {
    const char *name;
    MPI_Datatype type;
    int n_blocks;
    size_t offset[MAX_BLOCKS];
    size_t length[MAX_BLOCKS];
    size_t size;   /* bytes that one element covers */
    size_t extent; /* bytes from one element to the next */
};

static void finish(struct layout *layout)
{
    int size = 0;
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_commit(&layout->type);
    MPI_Type_size(layout->type, &size);
    MPI_Type_get_extent(layout->type, &lower, &extent);
    layout->size = 0;
    for (int i = 0; i < layout->n_blocks; ++i) {
        layout->size += layout->length[i];
    }
    CHECK_EQ(size, layout->size, "size of the type");
    CHECK_EQ(extent, layout->extent, "extent of the type");
    CHECK_EQ(lower, 0, "lower bound of the type");
}

static void block(struct layout *layout, size_t offset, size_t length)
{
    layout->offset[layout->n_blocks] = offset;
    layout->length[layout->n_blocks] = length;
    ++layout->n_blocks;
}

/* All of these are 6 ints an element, so that any of them can receive what any other sent. */
enum { CONTIGUOUS, VECTOR, INDEXED, HINDEXED_BACKWARDS, SUBARRAY, LAYOUTS };

static void make_layouts(struct layout *layout)
{
    const size_t i = sizeof(int);
    MPI_Datatype inner;
    memset(layout, 0, LAYOUTS * sizeof(*layout));

    layout[CONTIGUOUS].name = "contiguous";
    layout[CONTIGUOUS].extent = 6 * i;
    block(&layout[CONTIGUOUS], 0, 6 * i);
    MPI_Type_contiguous(6, MPI_INT, &layout[CONTIGUOUS].type);

    layout[VECTOR].name = "vector"; /* 3 blocks of 2, 5 apart, then a gap */
    layout[VECTOR].extent = 16 * i;
    for (size_t k = 0; k < 3; ++k) {
        block(&layout[VECTOR], 5 * i * k, 2 * i);
    }
    MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, (MPI_Aint) (16 * i), &layout[VECTOR].type);
    MPI_Type_free(&inner);

    const int lengths[] = {1, 3, 2}, places[] = {1, 4, 9};
    layout[INDEXED].name = "indexed";
    layout[INDEXED].extent = 13 * i;
    for (int k = 0; k < 3; ++k) {
        block(&layout[INDEXED], (size_t) places[k] * i, (size_t) lengths[k] * i);
    }
    MPI_Type_indexed(3, lengths, places, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, (MPI_Aint) (13 * i), &layout[INDEXED].type);
    MPI_Type_free(&inner);

    const int back_lengths[] = {2, 1, 3};
    const MPI_Aint back_places[] = {(MPI_Aint) (10 * i), (MPI_Aint) (6 * i), 0};
    layout[HINDEXED_BACKWARDS].name = "hindexed, backwards";
    layout[HINDEXED_BACKWARDS].extent = 12 * i;
    for (int k = 0; k < 3; ++k) {
        block(&layout[HINDEXED_BACKWARDS], (size_t) back_places[k], (size_t) back_lengths[k] * i);
    }
    MPI_Type_create_hindexed(3, back_lengths, back_places, MPI_INT, &layout[HINDEXED_BACKWARDS].type);

    const int whole[] = {5, 7}, part[] = {3, 2}, start[] = {1, 4};
    layout[SUBARRAY].name = "subarray";
    layout[SUBARRAY].extent = 35 * i;
    for (size_t row = 1; row < 4; ++row) {
        block(&layout[SUBARRAY], (row * 7 + 4) * i, 2 * i);
    }
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_INT, &layout[SUBARRAY].type);

    for (int k = 0; k < LAYOUTS; ++k) {
        finish(&layout[k]);
    }
}

struct mixed {
    char letter;
    double real[2];
    short small;
    int whole[3];
};

/* A struct with the compiler's holes in it: sent to itself only. */
static struct layout make_struct(void)
{
    struct layout layout = {.name = "struct", .extent = sizeof(struct mixed)};
    const int lengths[] = {1, 2, 1, 3};
    const MPI_Aint places[] = {offsetof(struct mixed, letter), offsetof(struct mixed, real),
                               offsetof(struct mixed, small), offsetof(struct mixed, whole)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT};
    const size_t sizes[] = {sizeof(char), 2 * sizeof(double), sizeof(short), 3 * sizeof(int)};
    for (int k = 0; k < 4; ++k) {
        block(&layout, (size_t) places[k], sizes[k]);
    }
    MPI_Datatype inner;
    MPI_Type_create_struct(4, lengths, places, types, &inner);
    MPI_Type_create_resized(inner, 0, sizeof(struct mixed), &layout.type);
    MPI_Type_free(&inner);
    finish(&layout);
    return layout;
}

/* Puts the seed's content into the bytes that the type covers, in the order of the type map. */
static void scatter(const struct layout *layout, size_t count, uint8_t *memory, uint64_t seed)
{
    size_t position = 0;
    for (size_t element = 0; element < count; ++element) {
        for (int b = 0; b < layout->n_blocks; ++b) {
            for (size_t k = 0; k < layout->length[b]; ++k) {
                memory[element * layout->extent + layout->offset[b] + k] = check_byte(seed, position++);
            }
        }
    }
}

/* One exchange in both directions, and every byte of the receiver's memory compared, covered or not. */
static void exchange(const struct layout *from, const struct layout *to, size_t count)
{
    const int partner = check_partner();
    const size_t out_bytes = count * from->extent, in_bytes = count * to->extent;
    uint8_t *out = check_alloc(out_bytes), *in = check_alloc(in_bytes), *expected = check_alloc(in_bytes);
    MPI_Request request[2];
    MPI_Status status;
    int elements = -1;
    scatter(from, count, out, check_seed(check_rank, partner, TAG, count));
    scatter(to, count, expected, check_seed(partner, check_rank, TAG, count));
    MPI_Irecv(in, (int) count, to->type, partner, TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, (int) count, from->type, partner, TAG, MPI_COMM_WORLD, &request[1]);
    MPI_Wait(&request[0], &status);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Get_count(&status, to->type, &elements);
    CHECK_EQ(elements, count, "elements received");
    for (size_t i = 0; i < in_bytes; ++i) {
        if (in[i] != expected[i]) {
            check_fail(__FILE__, __LINE__,
                       "%zu elements, %s to %s: byte %zu of %zu is 0x%02x, expected 0x%02x%s", count,
                       from->name, to->name, i, in_bytes, in[i], expected[i],
                       CHECK_POISON_BYTE == expected[i] ? " (a gap, perhaps)" : "");
        }
    }
    CHECK(true, "every byte compared");
    check_free(out, out_bytes);
    check_free(in, in_bytes);
    check_free(expected, in_bytes);
}

/* MPI_Pack on one side, the type itself on the other. */
static void packed(const struct layout *layout, size_t count)
{
    const int partner = check_partner();
    const size_t in_bytes = count * layout->extent;
    int room = 0, position = 0;
    MPI_Pack_size((int) count, layout->type, MPI_COMM_WORLD, &room);
    uint8_t *memory = check_alloc(in_bytes), *parcel = check_alloc((size_t) room),
            *in = check_alloc(in_bytes);
    scatter(layout, count, memory, check_seed(check_rank, partner, TAG + 1, count));
    MPI_Pack(memory, (int) count, layout->type, parcel, room, &position, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Irecv(in, (int) count, layout->type, partner, TAG + 1, MPI_COMM_WORLD, &request);
    MPI_Send(parcel, position, MPI_PACKED, partner, TAG + 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_poison(memory, in_bytes);
    scatter(layout, count, memory, check_seed(partner, check_rank, TAG + 1, count));
    CHECK(0 == memcmp(memory, in, in_bytes), "%zu packed elements of %s: differ", count, layout->name);
    check_free(memory, in_bytes);
    check_free(parcel, (size_t) room);
    check_free(in, in_bytes);
}

static void run_case(void)
{
    /* 24 bytes an element: nothing, little, about the eager limit, far above it */
    static const size_t counts[] = {0, 1, 3, 170, 2727, 2728, 2730, 2731, 5461, 20001};
    struct layout layout[LAYOUTS];
    make_layouts(layout);
    struct layout mixed = make_struct();
    for (int c = 0; c < CHECK_COUNT(counts); ++c) {
        for (int from = 0; from < LAYOUTS; ++from) {
            for (int to = 0; to < LAYOUTS; ++to) {
                /* the largest ones take part in each role once: the volume has its price on slow rails */
                if (counts[c] < 5000 || (from + 1) % LAYOUTS == to) {
                    exchange(&layout[from], &layout[to], counts[c]);
                }
            }
            if (counts[c] < 5000) {
                packed(&layout[from], counts[c]);
            }
        }
        exchange(&mixed, &mixed, counts[c]);
    }
    for (int k = 0; k < LAYOUTS; ++k) {
        MPI_Type_free(&layout[k].type);
    }
    MPI_Type_free(&mixed.type);
}

CHECK_CASE(datatypes, .least = 2)
