/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes and jobs tell each other: tables of rails, files, reports, hellos. Part of fsbml_core.h. */
#ifndef FSBML_TABLE_H
#define FSBML_TABLE_H

#include "api/fsbml_calibration.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- tables */

/** One rail of the table that the measuring pair gives to all processes. */
typedef struct fsbml_table_rail_t {
    char key[FSBML_NAME_MAX];  /**< what names the same rail on every node, e.g. "tcp:10.71.1.0/24" */
    char name[FSBML_NAME_MAX]; /**< what a user calls it on the measuring node, e.g. "eth1" */
    uint32_t pair[2]; /**< ranks that measured it: from the first one's node to the other's, and fit.back
                         reversed */
    uint64_t round_trip_ns; /**< the kernel's shortest between these two, 0: not known; of this job alone */
    fsbml_fit_t fit;
} fsbml_table_rail_t;

typedef struct fsbml_table_t {
    uint32_t n_rails;
    uint32_t pair[2];              /**< ranks that measured */
    uint64_t duration_ns;          /**< of the calibration */
    char reason[FSBML_REASON_MAX]; /**< why there is no measurement, "" if there is one */
    fsbml_table_rail_t rail[FSBML_MAX_RAILS];
} fsbml_table_t;

/** Most bytes that fsbml_table_pack writes. */
size_t fsbml_table_packed_max(void) FSBML_NOEXCEPT;
/** Packs into buf (little endian, versioned, CRC-32); returns the length or -ENOSPC / -EINVAL. */
long fsbml_table_pack(const fsbml_table_t *t, void *buf, size_t len) FSBML_NOEXCEPT;
/** Unpacks and checks everything; -EBADMSG for a malformed record, -EPROTO for another version. *t is then
 * unchanged. */
int fsbml_table_unpack(fsbml_table_t *t, const void *buf, size_t len) FSBML_NOEXCEPT;
/** Writes the table for users (one line a rail) into buf as snprintf does. */
int fsbml_table_text(const fsbml_table_t *t, char *buf, size_t len) FSBML_NOEXCEPT;
/** The same, with more columns: what is known about each rail of the table, in their order. */
int fsbml_table_display(const fsbml_table_t *t, const fsbml_rail_about_t *about, char *buf,
                        size_t len) FSBML_NOEXCEPT;

/**
 * Reads a table from a file (core/records/records.hpp). With a fingerprint, the file is a cache's: it must
 * be of that fingerprint, undamaged, and writable by its user alone; without (NULL), a user's. 0 or a
 * negative errno
 * (-ENOENT: there is no file; -ESTALE: of something else; -EBADMSG; -EPROTO: another version; -EPERM), and
 * then the reason.
 */
int fsbml_table_load(const char *path, const char *fingerprint, fsbml_table_t *t,
                     char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;
/** Replaces the file as a whole (mode 0600), with its folders; many processes may do so at once. */
int fsbml_table_store(const char *path, const char *fingerprint, const fsbml_table_t *t,
                      char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

/**
 * Adds the rails of another pair's table to a table. Of a rail that both have, the first valid fit stays,
 * with its reason; so does the pair. Returns how many rails found no room.
 */
int fsbml_table_merge(fsbml_table_t *into, const fsbml_table_t *other) FSBML_NOEXCEPT;
/** Tells tables apart: by the rails, their parameters and reasons, not by the pair that measured or the time
 * it took. */
uint32_t fsbml_table_digest(const fsbml_table_t *t) FSBML_NOEXCEPT;

/* ---------------------------------------------------------------- reports */

/** All that a calibration leaves for a report. Samples are of rails by their place in the
 * table. */
typedef struct fsbml_measurement_t {
    const fsbml_table_t *table;
    const char *openmpi;          /**< its version */
    const char *node[2];          /**< names of the nodes that measured */
    uint32_t attempts;            /**< to measure; 0: the parameters come from a file */
    const fsbml_sample_t *sample; /**< of the last of them */
    size_t n_samples;
    const fsbml_sample_t *holdout; /**< validation exchanges: probes that were not fitted */
    size_t n_holdout;
} fsbml_measurement_t;

/** Writes it as JSON (core/records/records.hpp), the file as a whole and with its folders. 0 or a
 * negative errno, and the reason. */
int fsbml_measurement_store(const char *path, const fsbml_measurement_t *report,
                            char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

/* ----------------------------------------------------------------- hellos */

/** A process' long messages are put and got over all of its rails: registration handles are FSBML's. */
#define FSBML_HELLO_RDMA UINT32_C(1)
/** It is the first rank of its node. */
#define FSBML_HELLO_FIRST UINT32_C(2)
/** It takes part in the report of the job. */
#define FSBML_HELLO_REPORT UINT32_C(4)
/** It has nothing to choose from, and so no pseudo BTL: its puts and registrations are the real BTL's. */
#define FSBML_HELLO_PLAIN UINT32_C(8)
/** It makes frames of messages, and understands them (fsbml_delivery.h). */
#define FSBML_HELLO_FRAMES UINT32_C(16)
/** It cuts messages into pieces, and puts them together. */
#define FSBML_HELLO_PIECES UINT32_C(32)
/** In a hello, the exclusivity of a rail that its process has and was told not to use. */
#define FSBML_LEFT_OUT UINT32_MAX

/** What each process tells all others before the first message (modex). */
typedef struct fsbml_hello_t {
    uint32_t n_rails;          /**< rails of this process, self excluded */
    uint32_t params_digest;    /**< of the parameters that must agree, see fsbml_digest() */
    char node[FSBML_NAME_MAX]; /**< host name */
    struct {
        uint32_t exclusivity;
        char key[FSBML_NAME_MAX];
    } rail[FSBML_MAX_RAILS];
    uint32_t flags;      /**< FSBML_HELLO_* */
    uint32_t node_ranks; /**< ranks of this job on its node */
    uint32_t run;        /**< number of consecutive ranks, from this one on, on its node; 0: unknown */
} fsbml_hello_t;

size_t fsbml_hello_packed_max(void) FSBML_NOEXCEPT;
long fsbml_hello_pack(const fsbml_hello_t *h, void *buf, size_t len) FSBML_NOEXCEPT;
int fsbml_hello_unpack(fsbml_hello_t *h, const void *buf, size_t len) FSBML_NOEXCEPT;

/** FNV-1a of a text such as "packets=16;step=2048": equal on two processes iff their parameters agree. */
uint32_t fsbml_digest(const char *text) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_TABLE_H */
