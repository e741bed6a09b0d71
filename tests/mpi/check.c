/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

const char *check_name = "?";
atomic_uint_least64_t check_passed;
int check_rank = -1, check_size = 0;

void check_fail(const char *file, int line, const char *format, ...)
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

uint8_t *check_alloc(size_t bytes)
{
    uint8_t *base = malloc(bytes + 2 * CHECK_GUARD);
    if (NULL == base) {
        check_fail(__FILE__, __LINE__, "no memory for %zu bytes", bytes);
    }
    memset(base, CHECK_GUARD_BYTE, bytes + 2 * CHECK_GUARD);
    memset(base + CHECK_GUARD, CHECK_POISON_BYTE, bytes);
    return base + CHECK_GUARD;
}

void check_free_(const char *file, int line, uint8_t *buffer, size_t bytes)
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
    free(buffer - CHECK_GUARD);
}

void check_fill(uint8_t *buffer, size_t bytes, uint64_t seed)
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

void check_poison(uint8_t *buffer, size_t bytes)
{
    memset(buffer, CHECK_POISON_BYTE, bytes);
}

void check_content(const char *file, int line, const uint8_t *buffer, size_t bytes, uint64_t seed,
                   const char *what)
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

void check_status(const char *file, int line, MPI_Status *status, int source, int tag, size_t bytes,
                  const char *what)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (status->MPI_SOURCE != source || status->MPI_TAG != tag || count < 0 || (size_t) count != bytes) {
        check_fail(file, line, "%s: got source %d tag %d length %d, expected source %d tag %d length %zu",
                   what, status->MPI_SOURCE, status->MPI_TAG, count, source, tag, bytes);
    }
    atomic_fetch_add(&check_passed, 1);
}

void check_begin(int *argc, char ***argv, const char *name, int least)
{
    check_name = name;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK(check_size >= least, "needs at least %d ranks, has %d", least, check_size);
}

int check_end(void)
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
