/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 * What the MPI test programs share: checks that name file, line, rank and what differed and then end the
 * whole job; buffers whose every byte is known and whose surroundings are guarded; the closing line of a
 * program.
 */
#ifndef FSBML_TESTS_MPI_CHECK_H
#define FSBML_TESTS_MPI_CHECK_H

#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK_GUARD 64 /**< bytes before and after every buffer that nobody may write */
#define CHECK_GUARD_BYTE 0xA5
#define CHECK_POISON_BYTE 0x5A  /**< what a receive buffer holds before the message */
#define CHECK_EAGER_LIMIT 65536 /**< the tcp BTL's default: where the interesting sizes are */
#define CHECK_COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static const char *check_name = "?";
static atomic_uint_least64_t check_passed;
static int check_rank = -1;
static int check_size = 0;

/** Ends the job with a message; never returns. */
__attribute__((format(printf, 3, 4), noreturn, unused)) static void check_fail(const char *file, int line,
                                                                               const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "%s:%d: %s: rank %d: check failed: %s\n", file, line, check_name, check_rank, text);
    fflush(NULL);
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    _Exit(1);
}

/** Counts a condition that holds; prints the rest of the arguments as printf does and ends the job where it
 * does not. */
#define CHECK(condition, ...)                            \
    do {                                                 \
        if (!(condition)) {                              \
            check_fail(__FILE__, __LINE__, __VA_ARGS__); \
        }                                                \
        atomic_fetch_add(&check_passed, 1);              \
    } while (0)

/** Checks that two integers are equal and says both when they are not. */
#define CHECK_EQ(got, expected, what)                                                             \
    do {                                                                                          \
        const long long check_got_ = (long long) (got), check_expected_ = (long long) (expected); \
        CHECK(check_got_ == check_expected_, "%s: got %lld, expected %lld", (what), check_got_,   \
              check_expected_);                                                                   \
    } while (0)

/** SplitMix64: a bijection with good avalanche, so that neighbouring words, seeds and fragments all
 * differ. */
static inline uint64_t check_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/** The seed of one message's content: who sends what to whom, and its number. */
static inline uint64_t check_seed(int source, int target, int tag, uint64_t number)
{
    return check_mix(check_mix(((uint64_t) (uint32_t) source << 32) | (uint32_t) target)
                     ^ (((uint64_t) (uint32_t) tag << 40) + number));
}

/** Byte i of the content that belongs to a seed. */
static inline uint8_t check_byte(uint64_t seed, size_t i)
{
    return (uint8_t) (check_mix(seed + i / 8) >> (8 * (i % 8)));
}

/** A repeatable sequence of numbers: the next one below `limit`. */
static inline uint64_t check_next(uint64_t *state, uint64_t limit)
{
    *state += 1;
    return check_mix(*state) % limit;
}

/** A buffer of `bytes` bytes between guards, poisoned. Free it with check_free(), which looks at the
 * guards. */
__attribute__((unused)) static uint8_t *check_alloc(size_t bytes)
{
    uint8_t *base = malloc(bytes + 2 * CHECK_GUARD);
    if (NULL == base) {
        check_fail(__FILE__, __LINE__, "no memory for %zu bytes", bytes);
    }
    memset(base, CHECK_GUARD_BYTE, bytes + 2 * CHECK_GUARD);
    memset(base + CHECK_GUARD, CHECK_POISON_BYTE, bytes);
    return base + CHECK_GUARD;
}

/** Checks that nobody wrote before or after the buffer. */
__attribute__((unused)) static void check_guards(const char *file, int line, const uint8_t *buffer,
                                                 size_t bytes)
{
    for (int i = 0; i < CHECK_GUARD; ++i) {
        if (CHECK_GUARD_BYTE != buffer[i - CHECK_GUARD]) {
            check_fail(file, line, "%d bytes before a buffer of %zu: written", CHECK_GUARD - i, bytes);
        }
        if (CHECK_GUARD_BYTE != buffer[bytes + (size_t) i]) {
            check_fail(file, line, "%d bytes after the end of a buffer of %zu: written", i, bytes);
        }
    }
    atomic_fetch_add(&check_passed, 1);
}
#define CHECK_GUARDS(buffer, bytes) check_guards(__FILE__, __LINE__, (buffer), (bytes))

__attribute__((unused)) static void check_free_(const char *file, int line, uint8_t *buffer, size_t bytes)
{
    check_guards(file, line, buffer, bytes);
    free(buffer - CHECK_GUARD);
}
#define check_free(buffer, bytes) check_free_(__FILE__, __LINE__, (buffer), (bytes))

/** Writes the content that belongs to the seed. */
__attribute__((unused)) static void check_fill(uint8_t *buffer, size_t bytes, uint64_t seed)
{
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        const uint64_t word = check_mix(seed + i / 8);
        for (int k = 0; k < 8; ++k) {
            buffer[i + (size_t) k] = (uint8_t) (word >> (8 * k));
        }
    }
    for (; i < bytes; ++i) {
        buffer[i] = check_byte(seed, i);
    }
}

/** Makes a receive buffer hold nothing that could pass for the message. */
__attribute__((unused)) static void check_poison(uint8_t *buffer, size_t bytes)
{
    memset(buffer, CHECK_POISON_BYTE, bytes);
}

/** Compares every byte with the seed's content; says where the first and last wrong bytes are and how
 * many. */
__attribute__((unused)) static void check_content(const char *file, int line, const uint8_t *buffer,
                                                  size_t bytes, uint64_t seed, const char *what)
{
    size_t wrong = 0, first = 0, last = 0;
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = check_mix(seed + i / 8);
        for (size_t k = 0; k < 8 && i + k < bytes; ++k) {
            if (buffer[i + k] != (uint8_t) (word >> (8 * k))) {
                first = 0 == wrong ? i + k : first;
                last = i + k;
                ++wrong;
            }
        }
    }
    if (wrong > 0) {
        check_fail(file, line,
                   "%s: %zu of %zu bytes are wrong, from %zu to %zu; byte %zu is 0x%02x, expected 0x%02x",
                   what, wrong, bytes, first, last, first, buffer[first], check_byte(seed, first));
    }
    atomic_fetch_add(&check_passed, 1);
}
#define CHECK_CONTENT(buffer, bytes, seed, what) \
    check_content(__FILE__, __LINE__, (buffer), (bytes), (seed), (what))

/** Checks a status against the message that must have come: source, tag, length in bytes. */
__attribute__((unused)) static void check_status(const char *file, int line, MPI_Status *status, int source,
                                                 int tag, size_t bytes, const char *what)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (status->MPI_SOURCE != source || status->MPI_TAG != tag || count < 0 || (size_t) count != bytes) {
        check_fail(file, line, "%s: got source %d tag %d length %d, expected source %d tag %d length %zu",
                   what, status->MPI_SOURCE, status->MPI_TAG, count, source, tag, bytes);
    }
    atomic_fetch_add(&check_passed, 1);
}
#define CHECK_STATUS(status, source, tag, bytes, what) \
    check_status(__FILE__, __LINE__, (status), (source), (tag), (bytes), (what))

/** Seconds on a clock that never runs back, without MPI. */
static inline double check_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static inline void check_sleep(double seconds)
{
    const struct timespec t = {(time_t) seconds, (long) (1e9 * (seconds - (double) (time_t) seconds))};
    nanosleep(&t, NULL);
}

/** The rank of MPI_COMM_WORLD that this one talks with: the mirror image, so that it is on another node. */
static inline int check_partner(void)
{
    return check_size - 1 - check_rank;
}

/** MPI_Init and who we are. `least` is the least number of ranks that the program makes sense with. */
__attribute__((unused)) static void check_begin(int *argc, char ***argv, const char *name, int least)
{
    check_name = name;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK(check_size >= least, "needs at least %d ranks, has %d", least, check_size);
}

/** Adds up what all ranks checked, says so on rank 0, MPI_Finalize. Returns main's return value. */
__attribute__((unused)) static int check_end(void)
{
    uint64_t mine = atomic_load(&check_passed), all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    const bool speak = 0 == check_rank;
    MPI_Finalize();
    if (speak) {
        printf("%s: %" PRIu64 " checks passed\n", check_name, all);
        fflush(stdout);
    }
    return 0;
}

#endif /* FSBML_TESTS_MPI_CHECK_H */
