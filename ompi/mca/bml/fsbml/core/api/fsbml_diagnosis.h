/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a rail between two nodes does not work: from what each end sees of it. Part of fsbml_core.h. */
#ifndef FSBML_DIAGNOSIS_H
#define FSBML_DIAGNOSIS_H

#include "api/fsbml_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The cause, where it is known. */
typedef enum fsbml_fault_kind_t {
    FSBML_FAULT_OTHER = 0, /**< it does not work, and what is seen fits several causes */
    FSBML_FAULT_CUT,       /**< nothing gets through */
    FSBML_FAULT_SLOW,      /**< far from the speed that it should have; it is used as it is */
    FSBML_FAULT_SUBNET,    /**< the two ends are in different networks */
    FSBML_FAULT_ONE_WAY,   /**< what one end sends gets there, what the other sends does not */
    FSBML_FAULT_MTU,       /**< small frames get through, large ones do not */
    FSBML_FAULT_LOOP,      /**< it leads to another process than it should, or back to where it comes from */
} fsbml_fault_kind_t;
/** What a kind is called, for reports: "cut", "slow", "subnet", "one-way", "mtu", "loop", "other". */
const char *fsbml_fault_name(uint32_t kind) FSBML_NOEXCEPT;

/** What an end of a path can see. Of the other end it sees nothing before it knows the other's address. */
enum {
    FSBML_END_HAS = 1,         /**< the node has this rail at all */
    FSBML_END_NO_CARRIER = 2,  /**< the interface says that nothing is at the other end of its cable */
    FSBML_END_QUIET = 4,       /**< no frame has come in on this interface since the job began */
    FSBML_END_RESOLVED = 8,    /**< the other's address was resolved to a device's, neighbour[] */
    FSBML_END_UNRESOLVED = 16, /**< that was tried, and no device answered */
    FSBML_END_HEARD = 32,      /**< a question of the other has come in on this path */
    FSBML_END_CONNECTED = 64,  /**< a connection between the two addresses stands */
    FSBML_END_STUCK = 128,     /**< what was sent on it is not acknowledged, although it was sent again */
    FSBML_END_HALF_OPEN =
        256, /**< the other's request for a connection came in, and what it was answered did not arrive */
    FSBML_END_HARDWARE = 512, /**< the interface's speed is that of a device, not a made-up one */
    FSBML_END_ECHO = 4096,    /**< what this node sends on the interface comes in there again */
    FSBML_END_PROVED = 2048,  /**< it has worked before: a question that filled a frame was answered */
    FSBML_END_ASTRAY =
        1024, /**< its questions came to another process, or back to itself: name[] says which */
};

typedef struct fsbml_end_t {
    char node[FSBML_NAME_MAX];
    char name[FSBML_NAME_MAX];    /**< with ASTRAY: the node that got its questions, such as "node3" */
    char address[FSBML_NAME_MAX]; /**< "10.71.1.1", "": unknown */
    char network[FSBML_NAME_MAX]; /**< "10.71.1.0/24", "": unknown */
    uint8_t device[6];            /**< address of the interface on the wire, zeros: unknown */
    uint8_t neighbour[6];         /**< with RESOLVED: the other's, as it was resolved */
    uint32_t seen;                /**< FSBML_END_* */
    uint32_t mtu;                 /**< bytes, 0: unknown */
    uint32_t speed_mbit;          /**< of the interface, by its driver; 0: unknown */
} fsbml_end_t;

/** Most bytes that fsbml_end_pack writes. */
size_t fsbml_end_packed_max(void) FSBML_NOEXCEPT;
/** Packs into buf (little endian, versioned, CRC-32); returns the length or -ENOSPC / -EINVAL. */
long fsbml_end_pack(const fsbml_end_t *end, void *buf, size_t len) FSBML_NOEXCEPT;
/** -EBADMSG for a malformed record, -EPROTO for another version; *end is then unchanged. */
int fsbml_end_unpack(fsbml_end_t *end, const void *buf, size_t len) FSBML_NOEXCEPT;

/**
 * Finds the cause for a path that does not work. `there` may be NULL: the other end could not be asked, and
 * says nothing. Returns the kind (fsbml_fault_kind_t) or -EINVAL; why[] then has a sentence for users,
 * without its full stop, "" if nothing is known.
 */
int fsbml_diagnose(const fsbml_end_t *here, const fsbml_end_t *there,
                   char why[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

/**
 * Whether a rail is far slower than it should be: below a fifth of what an earlier job measured, or of the
 * slower end's speed, where both are those of devices; of that, 10 Gbit/s count at most, as one connection is
 * no measure of more. The gaps per byte, now and before, are in ns, 0: unknown. Returns FSBML_FAULT_SLOW and
 * the sentence, or FSBML_FAULT_OTHER and "".
 */
int fsbml_diagnose_speed(const fsbml_end_t *here, const fsbml_end_t *there, double G_ns, double G_before_ns,
                         char why[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_DIAGNOSIS_H */
