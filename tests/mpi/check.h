/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the MPI test programs share: checks that name file, line, rank and what differed and then end the
 * whole job; buffers whose every byte is known and whose surroundings are guarded; the closing line of a
 * program. A file with CHECK_CASE() is a case of the program `suite`; the others that have a main() are
 * programs of their own, as they need an MPI_Init or MPI_Finalize of their own.
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

#define CHECK_GUARD 64 /**< bytes before and after every buffer that no message may write */
#define CHECK_GUARD_BYTE 0xA5
#define CHECK_POISON_BYTE 0x5A /**< what a receive buffer holds before the message */
#define CHECK_COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

extern const char *check_name; /**< of the program, or of the case that runs */
extern atomic_uint_least64_t check_passed;
extern int check_rank, check_size;

/** Ends the job with a message; never returns. */
__attribute__((format(printf, 3, 4), noreturn)) void check_fail(const char *file, int line,
                                                                const char *format, ...);

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

/** The seed of one message's content: its sender, its receiver, and its number. */
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
uint8_t *check_alloc(size_t bytes);

/** Checks that nothing was written before or after the buffer, and frees it. */
void check_free_(const char *file, int line, uint8_t *buffer, size_t bytes);
#define check_free(buffer, bytes) check_free_(__FILE__, __LINE__, (buffer), (bytes))

/** Writes the content that belongs to the seed. */
void check_fill(uint8_t *buffer, size_t bytes, uint64_t seed);

/** Makes a receive buffer hold nothing that could pass for the message. */
void check_poison(uint8_t *buffer, size_t bytes);

/** Compares every byte with the seed's content; says where the first and last wrong bytes are and how
 * many. */
void check_content(const char *file, int line, const uint8_t *buffer, size_t bytes, uint64_t seed,
                   const char *what);
#define CHECK_CONTENT(buffer, bytes, seed, what) \
    check_content(__FILE__, __LINE__, (buffer), (bytes), (seed), (what))

/** Checks a status against the message that must have come: source, tag, length in bytes. */
void check_status(const char *file, int line, MPI_Status *status, int source, int tag, size_t bytes,
                  const char *what);
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

/** The ways to send, in the order of MPI's chapter: standard, synchronous, buffered, ready. */
static int (*const check_send[])(const void *, int, MPI_Datatype, int, int,
                                 MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static int (*const check_isend[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                  MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};

/** The rank of MPI_COMM_WORLD that this one talks with: the mirror image, so that it is on another node. */
static inline int check_partner(void)
{
    return check_size - 1 - check_rank;
}

/** A case of `suite` (suite.c). It leaves nothing behind: no message, no communicator, no error handler. */
struct check_case {
    const char *name;
    int least;    /**< number of ranks that it needs at least */
    int slow;     /**< factor on the time limit, 0 for 1 */
    bool threads; /**< needs MPI_THREAD_MULTIPLE */
    void (*run)(void);
    const struct check_case *next; /**< in the list of all cases */
};

extern struct check_case *check_cases;

/** Adds the function run_case() of this file to the cases of `suite`. */
#define CHECK_CASE(id, ...)                                                          \
    __attribute__((constructor)) static void check_add_case(void)                    \
    {                                                                                \
        static struct check_case mine = {.name = #id, .run = run_case, __VA_ARGS__}; \
        mine.next = check_cases;                                                     \
        check_cases = &mine;                                                         \
    }

/** The n-th argument (from 1) of the case that runs, or NULL. */
const char *check_argument(int n);

/** The seed that all ranks share: the n-th argument of the case, else the time. Rank 0 prints it. */
uint64_t check_job_seed(int n);

/** MPI_Init, rank and size. `least` is the least number of ranks that the program makes sense with. */
void check_begin(int *argc, char ***argv, const char *name, int least);

/** Adds up what all ranks checked, says so on rank 0, MPI_Finalize. Returns main's return value. */
int check_end(void);

#endif /* FSBML_TESTS_MPI_CHECK_H */
