/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds that all of the core's interface needs; a rail's names, address and device. Part of fsbml_core.h. */
#ifndef FSBML_BASE_H
#define FSBML_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#    include <cstdint> /* the names in std, which the core's own files use */
#    define FSBML_NOEXCEPT noexcept
#else
#    define FSBML_NOEXCEPT
#endif

/** Most rails that one process can have in use; rail sets are bit masks of this width. */
#define FSBML_MAX_RAILS 32
/** Most bytes in a rail's name or key, the terminating zero included. */
#define FSBML_NAME_MAX 64
/** Most bytes in a reason that a user reads, the terminating zero included. */
#define FSBML_REASON_MAX 160

/** One rail, as it is on this node. What is not known is "", 0, or -1 where that is said; only texts and
 * figures to be shown. */
typedef struct fsbml_rail_about_t {
    char interface[16];  /**< "eth1" */
    char address[46];    /**< "10.71.1.2", of the interface; IPv4 if it has any */
    char network[52];    /**< "10.71.1.0/24" */
    char device[32];     /**< "mlx5_0" where the interface's device has such a name, else the interface */
    char pci[24];        /**< "0000:3b:00.0" */
    uint32_t speed_mbps; /**< 1e6 bits a second, as the driver says, unless it makes that up */
    uint32_t mtu;        /**< bytes */
    int32_t numa;        /**< NUMA node of the device, -1: unknown */
    bool far_numa;       /**< this process is bound to other NUMA nodes */
} fsbml_rail_about_t;

#endif /* FSBML_BASE_H */
