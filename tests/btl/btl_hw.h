/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BTL with the semantics of hardware, for tests: several modules between the processes of one machine, each
 * with a rate, a latency and limits of its own. Memory must be registered, and each use of a registration is
 * checked, on both sides. Completions come late; a put that is complete may not have landed. On demand it
 * refuses, has few descriptors, or dies. What a caller may not do ends the job, with a sentence.
 *
 * A process owns a file of shared memory with a ring of frames for each module and sender. Puts, gets and
 * atomics are done by the kernel (process_vm_readv), when their time has come. Every frame has the time at
 * which it arrives.
 */

#ifndef BTL_HW_H
#define BTL_HW_H

#include "opal_config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "opal/class/opal_bitmap.h"
#include "opal/mca/btl/btl.h"
#include "opal/util/proc.h"

enum { MODULES = 4, RANKS = 64, RING = 1 << 19, REGISTRATIONS = 4096, SKIP = UINT32_MAX };

typedef struct ring_t { /* one writer, one reader */
    _Atomic uint64_t written, read;
    char bytes[RING];
} ring_t;

typedef struct frame_t {
    uint64_t due_ns;
    uint32_t bytes; /* SKIP: the next one is at the beginning */
    uint32_t tag;
    char data[];
} frame_t;

typedef struct registration_t {
    _Atomic uint32_t key; /* 0: free */
    uint64_t base, size;
} registration_t;

typedef struct segment_t {
    pid_t pid;
    atomic_flag atomics; /* set during an atomic operation on this process' memory */
    registration_t registration[REGISTRATIONS];
    ring_t ring[MODULES][RANKS];
} segment_t;

/* What Open MPI sends to a peer as it is. */
struct mca_btl_base_registration_handle_t {
    uint64_t base, size;
    uint32_t module, slot, key;
    uint32_t rank;
};

typedef struct module_t module_t;

struct mca_btl_base_endpoint_t {
    module_t *module;
    segment_t *peer;
    opal_proc_t *proc;
    uint32_t rank;
};

typedef struct descriptor_t {
    mca_btl_base_descriptor_t super; /* first */
    mca_btl_base_segment_t segment;
    struct mca_btl_base_endpoint_t *endpoint;
    char data[];
} descriptor_t;

typedef enum kind_t { SEND, PUT, GET, ATOMIC } kind_t;

/* Something that completes or lands later. */
typedef struct event_t {
    struct event_t *next;
    uint64_t done_ns, lands_ns;
    kind_t kind;
    bool told, landed;
    int status;
    descriptor_t *des;
    struct mca_btl_base_endpoint_t *endpoint;
    void *local;
    uint64_t remote;
    mca_btl_base_registration_handle_t *handle;
    mca_btl_base_registration_handle_t target;
    size_t size;
    mca_btl_base_rdma_completion_fn_t fn;
    void *context, *data;
    bool is_cswap, fetches;
    int op;
    uint64_t operand, compare;
    char bytes[];
} event_t;

struct module_t {
    mca_btl_base_module_t super; /* first */
    uint32_t index;
    pthread_mutex_t lock; /* of all below */
    double ns_per_byte;
    uint64_t latency_ns, busy_ns;
    event_t *first, **last;
    unsigned outstanding, descriptors;
    uint64_t random;
    unsigned long sent;
    atomic_bool dead, death_told;
    mca_btl_base_module_error_cb_fn_t error_cb;
    struct mca_btl_base_endpoint_t *to[RANKS];
};

typedef struct params_t {
    int modules, refuse, descriptors, put_alignment, remote_completion, atomics, lands_late, exclusivity;
    char *rates, *latencies, *max_sends, *put_limits, *eager_limits, *dies;
} params_t;

/* btl_hw.c: the component */
extern params_t param;
extern module_t module[MODULES];
extern segment_t *own, *of_rank[RANKS];
extern uint32_t my_rank;
/* Memory registered so far. A handle may come back by another thread, with a message of a peer that was sent
 * it: TSan does not see that through another process, so what registers adds, and what takes a message
 * reads. */
extern _Atomic uint32_t registered;
mca_btl_base_component_t *hw_component(void);
uint64_t now_ns(void);
/** What a caller may not do: ends the job. */
void wrong(const char *what);
/** By chance, as often as wanted. The caller has the module's lock. */
bool refuses(module_t *m);
/** When a module has sent these bytes; the caller has its lock. */
uint64_t occupy(module_t *m, size_t bytes);
/** Something that completes later; the caller has the module's lock. */
void append(module_t *m, event_t *e);

/* btl_hw_message.c: descriptors and sends */
mca_btl_base_descriptor_t *hw_alloc(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                    uint8_t order, size_t size, uint32_t flags);
int hw_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *super);
mca_btl_base_descriptor_t *hw_prepare_src(mca_btl_base_module_t *btl,
                                          struct mca_btl_base_endpoint_t *endpoint,
                                          struct opal_convertor_t *convertor, uint8_t order, size_t reserve,
                                          size_t *size, uint32_t flags);
int hw_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
            mca_btl_base_descriptor_t *super, mca_btl_base_tag_t tag);
/** Delivers what has arrived at `now`; how many. */
int hw_receive(module_t *m, uint64_t now);

/* btl_hw_rdma.c: registrations, puts, gets and atomics */
/** Gives a module its functions. */
void hw_rdma(mca_btl_base_module_t *btl);
/** An operation's effect, when its time has come. */
void hw_land(event_t *e);
/** The module dies: what is under way fails, and has landed or never does; the caller has its lock. */
void hw_fail(module_t *m, bool lands);
/** Completes and lands what is due at `now`; how many. */
int hw_complete(module_t *m, uint64_t now);

/* btl_hw_peer.c: processes */
/** This process' segment of shared memory, under a name for the others. */
bool hw_open_own(void);
void hw_close_all(void);
int hw_add_procs(mca_btl_base_module_t *btl, size_t n, opal_proc_t **procs,
                 struct mca_btl_base_endpoint_t **endpoints, opal_bitmap_t *reachable);
int hw_del_procs(mca_btl_base_module_t *btl, size_t n, opal_proc_t **procs,
                 struct mca_btl_base_endpoint_t **endpoints);

#endif /* BTL_HW_H */
