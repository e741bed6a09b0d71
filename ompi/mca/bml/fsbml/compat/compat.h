/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Open MPI's versions and habits: its key-value store, its help texts, the beginning of MPI_Finalize, and
 * what tcp does otherwise than a rail's BTL should (compat/pairing.c, compat/goodbye.c, compat/closing.c,
 * compat/socket.c).
 *
 * How the Open MPI versions that FSBML supports (4.1, 5.0, 6.0) differ is in this room, but for what a
 * patched one has (peers/hooks.h). Another version: docs/porting.md; first socket.c (what tcp keeps to
 * itself), kvs.c and the conditions below. A newer one counts as 6.0 if its interfaces are the same.
 */
#ifndef MCA_BML_FSBML_COMPAT_H
#define MCA_BML_FSBML_COMPAT_H

#include "ompi_config.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "api/fsbml_core.h"

#include "ompi/constants.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/proc/proc.h"
#include "opal/mca/btl/base/base.h"
#include "opal/mca/btl/btl.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#if OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1
#    define FSBML_OMPI_4 1
#    include "ompi/mca/rte/rte.h"
#    include "opal/mca/pmix/pmix.h"
/* Data that exists in 4.x only. Weak, so that another Open MPI can load a component that was built for 4.1
 * far enough for it to say that it refuses (functions bind when they are called). */
#    pragma weak opal_pmix
#    pragma weak orte_process_info
#    pragma weak opal_value_t_class
#elif OMPI_MAJOR_VERSION >= 5
#    define FSBML_OMPI_5 1 /* and later */
#    include "ompi/runtime/ompi_rte.h"
#    include "opal/mca/pmix/pmix-internal.h"
#else
#    error "FSBML needs Open MPI 4.1 or newer"
#endif

/* 6.0 no longer reads help files: see compat/help.c. */
#if OMPI_MAJOR_VERSION >= 6
#    define FSBML_READS_HELP 1
int fsbml_show_help(const char *file, const char *topic, int header, ...);
int fsbml_show_help_add_dir(const char *dir);
#    define opal_show_help fsbml_show_help
#    define opal_show_help_add_dir fsbml_show_help_add_dir
#endif

/* What the versions call otherwise:
 *  - the framework's version that a BML component declares;
 *  - whether tcp gives each module that asks for a peer the next pair of interfaces in their order, whatever
 *    interface the module is made for: 5.0 goes by that. And whether it tells the peer that it closes a
 *    connection, and waits until that is sent;
 *  - parameters of a receive function: 4.1 names tag and data beside the descriptor, 5.0 inside of it;
 *  - GPU flags that a set has only if all of its rails have them, and a BTL's limits for memory of GPUs, as
 *    far as this Open MPI has them;
 *  - where the size of this process' job is, and the like; Open MPI's own user of shared memory;
 *  - a function for checkpoints that 4.1 asks of a module. */
#ifdef FSBML_OMPI_4
#    define FSBML_BML_VERSION MCA_BML_BASE_VERSION_2_0_0
#    define FSBML_TCP_PAIRS_IN_TURN 1
#    define FSBML_TCP_SAYS_GOODBYE 0
#    define FSBML_RECV_PARAMS(btl, des)                                                           \
        struct mca_btl_base_module_t *btl, mca_btl_base_tag_t recv_tag __opal_attribute_unused__, \
            mca_btl_base_descriptor_t *des, void *recv_data __opal_attribute_unused__
#    define FSBML_RECV_DATA(des) (recv_data)
#    define FSBML_RECV_TAG(des) (recv_tag)
typedef mca_btl_base_descriptor_t fsbml_received_t;
#    define FSBML_BTL_FLAGS_COPY_ASYNC \
        (MCA_BTL_FLAGS_CUDA_COPY_ASYNC_SEND | MCA_BTL_FLAGS_CUDA_COPY_ASYNC_RECV)
#    define FSBML_BTL_FLAGS_ACCELERATOR_RDMA MCA_BTL_FLAGS_CUDA_RDMA
#    define FSBML_GPU_SENDS OPAL_CUDA_SUPPORT
#    define FSBML_GPU_MAX_SEND_SIZE btl_cuda_max_send_size
#    define FSBML_GPU_EAGER_LIMIT btl_cuda_eager_limit
#    define FSBML_GPU_RDMA_LIMIT btl_cuda_rdma_limit
#    define FSBML_PROCESS_INFO ompi_process_info
#    define FSBML_SM_BTL "vader"
static inline int fsbml_no_checkpoint(int state)
{
    (void) state; /* nothing to save or restore */
    return OMPI_SUCCESS;
}
#    define FSBML_NO_CHECKPOINTS(module) ((module)->bml_ft_event = fsbml_no_checkpoint)
#else
#    define FSBML_BML_VERSION MCA_BML_BASE_VERSION_2_1_0
#    define FSBML_TCP_PAIRS_IN_TURN 0
#    define FSBML_TCP_SAYS_GOODBYE 1
#    define FSBML_RECV_PARAMS(btl, des) \
        struct mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *des
#    define FSBML_RECV_DATA(des) ((des)->cbdata)
#    define FSBML_RECV_TAG(des) ((des)->tag)
typedef mca_btl_base_receive_descriptor_t fsbml_received_t;
#    define FSBML_BTL_FLAGS_COPY_ASYNC \
        (MCA_BTL_FLAGS_ACCELERATOR_COPY_ASYNC_SEND | MCA_BTL_FLAGS_ACCELERATOR_COPY_ASYNC_RECV)
#    define FSBML_BTL_FLAGS_ACCELERATOR_RDMA MCA_BTL_FLAGS_ACCELERATOR_RDMA
#    define FSBML_GPU_SENDS 1
#    define FSBML_GPU_MAX_SEND_SIZE btl_accelerator_max_send_size
#    define FSBML_GPU_EAGER_LIMIT btl_accelerator_eager_limit
#    define FSBML_GPU_RDMA_LIMIT btl_accelerator_rdma_limit
#    define FSBML_PROCESS_INFO opal_process_info
#    define FSBML_SM_BTL "sm"
#    define FSBML_NO_CHECKPOINTS(module) ((void) (module))
#endif

/** Calls a receive function as a BTL does. One that stands for the real one has no endpoint to name: btl.h
 * allows that. */
static inline void fsbml_received_by(mca_btl_base_module_recv_cb_fn_t fn, mca_btl_base_module_t *btl,
                                     mca_btl_base_tag_t tag, const fsbml_received_t *des, bool is_real,
                                     void *data)
{
#ifdef FSBML_OMPI_4
    (void) is_real;
    fn(btl, tag, (mca_btl_base_descriptor_t *) des, data);
#else
    mca_btl_base_receive_descriptor_t message = *des;
    message.tag = tag;
    message.cbdata = data;
    message.endpoint = is_real ? message.endpoint : NULL;
    fn(btl, &message);
#endif
}

/* Set where a put that is complete has also landed; 4.1 has no flag for it. */
#ifdef MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION
#    define FSBML_BTL_FLAGS_REMOTE_COMPLETION MCA_BTL_FLAGS_RDMA_REMOTE_COMPLETION
#else
#    define FSBML_BTL_FLAGS_REMOTE_COMPLETION 0
#endif

/* 5.0 has BTLs that call back from a thread of their own; 4.1 has no flag for it. */
#ifdef MCA_BTL_FLAGS_BTL_PROGRESS_THREAD_ENABLED
#    define FSBML_BTL_FLAGS_ANY MCA_BTL_FLAGS_BTL_PROGRESS_THREAD_ENABLED
#elif defined(FSBML_OMPI_5)
#    error "MCA_BTL_FLAGS_BTL_PROGRESS_THREAD_ENABLED is missing in this Open MPI"
#else
#    define FSBML_BTL_FLAGS_ANY 0
#endif

static inline uint32_t fsbml_job_size(void)
{
    return FSBML_PROCESS_INFO.num_procs;
}

static inline uint32_t fsbml_job_local_size(void)
{
    return FSBML_PROCESS_INFO.num_local_peers + 1;
}

static inline uint32_t fsbml_my_local_rank(void)
{
    return FSBML_PROCESS_INFO.my_local_rank;
}

static inline const char *fsbml_node_name(void)
{
    return FSBML_PROCESS_INFO.nodename;
}

/** Name of a peer's host; the caller frees it. */
static inline char *fsbml_proc_host(ompi_proc_t *proc)
{
#ifdef FSBML_OMPI_4
    return strdup(NULL != proc->super.proc_hostname ? proc->super.proc_hostname : "unknown");
#else
    return opal_get_proc_hostname(&proc->super);
#endif
}

/** Has the run-time remove a file when this process ends, in whatever way. */
static inline void fsbml_remove_at_end(char *path)
{
#ifdef FSBML_OMPI_4
    if (NULL != opal_pmix.register_cleanup) {
        (void) opal_pmix.register_cleanup(path, false, false, false);
    }
#else
    (void) opal_pmix_register_cleanup(path, false, false, false);
#endif
}

/* hwloc, for sources that ask for it before this header: by Open MPI's own header, since in 4.1 that knows
 * under which names its own hwloc has the functions. Nothing is linked for it: they come with Open MPI's
 * library, or there are none (see fsbml_hwloc_is_there), as where the headers are of another hwloc than the
 * one inside of Open MPI. */
#if defined(FSBML_WANT_HWLOC) && !defined(FSBML_NO_HWLOC)
#    include "opal/mca/hwloc/base/base.h"
#    include "opal/mca/hwloc/hwloc-internal.h"

extern __typeof__(hwloc_topology_init) hwloc_topology_init __attribute__((weak));
#    pragma weak opal_hwloc_topology

static inline bool fsbml_hwloc_is_there(void)
{
    return NULL != hwloc_topology_init;
}

/* Open MPI's topology; NULL if there is none, or it is another hwloc's. */
static inline hwloc_topology_t fsbml_hwloc_of_openmpi(void)
{
    hwloc_topology_t topology = NULL != &opal_hwloc_topology ? opal_hwloc_topology : NULL;
#    if HWLOC_API_VERSION >= 0x00020000
    return NULL != topology && 0 == hwloc_topology_abi_check(topology) ? topology : NULL;
#    else
    return topology;
#    endif
}

/* Has a topology keep the devices that are of interest. */
static inline int fsbml_hwloc_want_devices(hwloc_topology_t topology)
{
#    if HWLOC_API_VERSION >= 0x00020000
    return hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
#    else
    return hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_IO_DEVICES);
#    endif
}

/* Of a device of the operating system: whether it is an interface for verbs ("mlx5_0"), or one of the network
 * ("eth1"). */
static inline bool fsbml_hwloc_is_verbs(hwloc_obj_t device)
{
#    if HWLOC_API_VERSION >= 0x00030000
    return 0 != (device->attr->osdev.types & HWLOC_OBJ_OSDEV_OPENFABRICS);
#    else
    return HWLOC_OBJ_OSDEV_OPENFABRICS == device->attr->osdev.type;
#    endif
}
#endif

/* compat/kvs.c: key and value store of the run-time. All return an OMPI error code. */
int fsbml_kvs_put(const char *key, const void *data, size_t len);
/** Makes what was put visible to others after the modex. */
int fsbml_kvs_commit(void);
/** Ranks of this job on this node, "0,1,5", sorted; NULL if the run-time does not say. The caller frees
 * it. */
char *fsbml_kvs_local_ranks(void);
typedef enum fsbml_kvs_mode_t {
    FSBML_KVS_HERE,    /* what this process or its node has already */
    FSBML_KVS_WAIT,    /* asks the peer's node, and waits for the value to come up there */
    FSBML_KVS_REFRESH, /* like wait, and drops what this process remembers of the peer: all of its values are
                          new then */
} fsbml_kvs_mode_t;
/** Fetches a peer's value; the caller frees *data. */
int fsbml_kvs_get(const ompi_process_name_t *peer, const char *key, fsbml_kvs_mode_t mode, void **data,
                  size_t *len);

/* compat/help.c */
/** Verbosity: the parameter bml_fsbml_verbose. */
extern int fsbml_verbosity;
/** Prints a line at the given verbosity. */
#define FSBML_VERBOSE(level, ...)                        \
    do {                                                 \
        if (OPAL_UNLIKELY((level) <= fsbml_verbosity)) { \
            opal_output(0, "fsbml: " __VA_ARGS__);       \
        }                                                \
    } while (0)
enum {
    FSBML_V_TABLE = 1,  /**< the rail table, once a job */
    FSBML_V_RAILS = 5,  /**< what each process found and decided at start; rates that change */
    FSBML_V_PEER = 20,  /**< what happens to each peer's paths */
    FSBML_V_PROBE = 40, /**< each probe */
};
#define FSBML_HELP "help-mca-bml-fsbml.txt"

/* compat/fallback.c: what happens in an Open MPI of another version */
bool fsbml_version_fits(void);
/** Says that this component was built for another Open MPI; r2's module, or NULL if r2 cannot be had. */
mca_bml_base_module_t *fsbml_fall_back(const mca_bml_base_component_t *own, bool progress_threads,
                                       bool mpi_threads);

/* compat/closing.c: lives of MPI, and connections to peers that have closed theirs */
/** How many times MPI was initialised in this process: each life has keys of its own in the store. */
extern uint32_t fsbml_life;
typedef struct fsbml_closing_t {
    sigset_t before, pipe;
    bool held, was_pending;
} fsbml_closing_t;
/** Between the two, this thread does not get SIGPIPE. */
fsbml_closing_t fsbml_closing_begin(void);
void fsbml_closing_end(const fsbml_closing_t *closing);
/** The same from the beginning of MPI_Finalize to fini; the function is called just before. */
void fsbml_closing_init(void (*finalize_has_begun)(void));
void fsbml_closing_fini(void);
/** True while no peer can have reached MPI_Finalize: peers wait there, unless told not to, or in sessions. */
bool fsbml_closing_is_far_off(void);
/** Is this process in MPI_Finalize? */
bool fsbml_closing_has_begun(void);

/* What compat/goodbye.c and compat/pairing.c must know of rails and peers, from the room that does. */
typedef struct fsbml_tcp_rail_t {
    mca_btl_base_module_t *btl;
    const char *name;
} fsbml_tcp_rail_t;
typedef struct fsbml_tcp_view_t {
    /** False beyond the last rail. */
    bool (*rail)(uint32_t rail, fsbml_tcp_rail_t *is);
    /** Rail of a BTL, or -1. */
    int (*rail_of)(const mca_btl_base_module_t *btl);
    bool (*in_use)(const mca_btl_base_module_t *btl);
    /** The i-th of a peer's closed paths; NULL: there are no more. */
    const mca_bml_base_btl_t *(*closed)(ompi_proc_t *proc, size_t i);
    /** A peer's hello; 0: it has one. */
    int (*hello)(const ompi_process_name_t *peer, fsbml_hello_t *hello);
} fsbml_tcp_view_t;
/** At set-up, before peers are added. */
void fsbml_tcp_view(const fsbml_tcp_view_t *view);
extern const fsbml_tcp_view_t *fsbml_tcp;

/* compat/goodbye.c: no goodbye to a peer that has gone */
/** Before tcp closes its connections to these processes, with SIGPIPE held back: shuts down those of closed
 * paths that have no room for its goodbye, for which it would wait. */
void fsbml_goodbye_skip(size_t n, ompi_proc_t **procs);

/* compat/socket.c: the descriptors of tcp's connections. Whether a module's endpoints can have one: */
bool fsbml_socket_is_possible(const mca_btl_base_module_t *btl);
/** That of such a module's endpoint, a few loads; -1: it is not connected, or not as it is known here. */
int fsbml_socket_of(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** Whether it is a connection to that endpoint's peer: to be asked once, before it is used. */
bool fsbml_socket_is_proved(const struct mca_btl_base_endpoint_t *endpoint, int fd);
/** Whether the kernel sends something of it again, also the request for a connection, as the other end's has
 * not acknowledged it (a peer that computes leaves that to its kernel). Then: once a second at least. */
bool fsbml_socket_is_resent(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
void fsbml_socket_hasten(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** The descriptor of a connection, if it is proved; else -1. */
int fsbml_socket_find(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** Bulk slows down messages of some KiB: makes a connection nearly as it was, or not, if it was `before`. */
int fsbml_socket_calm(int fd, int before, bool calm);
/** Has what waits sent, where nothing is on its way. */
void fsbml_socket_push(int fd);
typedef struct fsbml_socket_ends_t {
    struct sockaddr_storage own, peer; /**< addresses and ports of a connection */
    socklen_t len;
} fsbml_socket_ends_t;
bool fsbml_socket_ends(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint,
                       fsbml_socket_ends_t *ends);
/** Has the BTL close it when it looks next; what it had is completed with an error. */
void fsbml_socket_end(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** Whether the BTL, whose endpoints can have one, has closed it, or has none yet. A few loads. */
bool fsbml_socket_is_closed(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** ... and the peer has not said that it closes it; where no peer says so (4.1), whether it is closed. */
bool fsbml_socket_is_lost(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** Closed: has it make a fresh one for the next message. False: it is not closed yet. */
bool fsbml_socket_renew(const mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint);

/* compat/pairing.c: which of a peer's addresses a tcp module gets in 4.1 */
/** Before BTLs are selected: the order in which tcp makes its modules. */
void fsbml_pairing_order(void);
/** Place of an interface in the user's own order, which stays that of the rails: what is first is used where
 * nothing was measured. 0 where it was not changed. */
uint32_t fsbml_pairing_place(const char *interface);
/** A BTL module and its key, in the order in which they were made. */
void fsbml_pairing_note(mca_btl_base_module_t *btl, const char *key);
void fsbml_pairing_reset(void);
/** Before a peer's BTLs are asked for: makes tcp join equal networks. */
void fsbml_pairing_ask(ompi_proc_t *proc);
/** After that: takes back what was asked on the part of modules that are not in use. */
void fsbml_pairing_settle(ompi_proc_t *proc);
/** The rails that the bytes to a peer take, by the rail whose BTL gets them. */
void fsbml_pairing_rails(ompi_proc_t *proc, const mca_bml_base_btl_t *entry, size_t n,
                         uint32_t taken[FSBML_MAX_RAILS]);
/** The rail that the bytes take which a rail's BTL gets for one of its endpoints. */
uint32_t fsbml_pairing_rail_of(uint32_t module, const struct mca_btl_base_endpoint_t *endpoint);

/** Whether a descriptor that a BTL refused with this error is the caller's as before. Not so where a
 * connection fails: tcp reports that for one that it keeps in its queue, or has completed; to free it would
 * free it twice, to send it elsewhere could deliver it twice. */
static inline bool fsbml_refused_is_whole(int rc)
{
    return OMPI_ERR_UNREACH != rc && OMPI_ERROR != rc;
}

/** The one clock of the shim: CLOCK_MONOTONIC in ns. */
static inline uint64_t fsbml_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

static inline uint32_t fsbml_bit(uint32_t rail)
{
    return UINT32_C(1) << rail;
}

#endif /* MCA_BML_FSBML_COMPAT_H */
