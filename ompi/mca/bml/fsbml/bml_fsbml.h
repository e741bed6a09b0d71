/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 * FSBML's shim: what Open MPI sees of it, and what its files share.
 *
 * rail      one real BTL module that shares its exclusivity with another, so that a scheduler can choose
 * (bml_fsbml_rails.c) group     the rails of equal exclusivity; has the one pseudo BTL that the PML knows for
 * all of their peers endpoint  a peer, as the pseudo BTL addresses it: its paths and their state
 * (bml_fsbml_endpoint.c) path      one rail to one peer: unproved until the peer has answered on it, then
 * live, or dead (bml_fsbml_proof.c)
 *
 * Data flow: parameters -> rails -> probe (proof, PRTT) -> core: fit, model, scheduler -> pseudo BTL -> real
 * BTL. All decisions and all arithmetic on L, o, g, G are in core/.
 */
#ifndef MCA_BML_FSBML_H
#define MCA_BML_FSBML_H

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "bml_fsbml_compat.h"
#include "core/fsbml_core.h"
#include "explain/fsbml_explain.h"

#include "bml_fsbml_packet.h"
#include "bml_fsbml_params.h"

#define FSBML_HELP "help-mca-bml-fsbml.txt"

typedef struct mca_bml_fsbml_group_t mca_bml_fsbml_group_t;
typedef struct mca_bml_fsbml_endpoint_t mca_bml_fsbml_endpoint_t;

/** Room for the PML's header beside a payload: limits are meant for what the user sends. ob1 subtracts its
 * largest, which has 56 bytes in 4.1 and 80 in 5.0. */
enum { FSBML_PML_HEADER = 128 };

typedef struct mca_bml_fsbml_rail_t {
    mca_btl_base_module_t *btl; /**< the real BTL */
    mca_bml_fsbml_group_t *group;
    char name[FSBML_NAME_MAX]; /**< what a person calls it: "eth1" */
    char key[FSBML_NAME_MAX];  /**< what names it on every node: "tcp:10.71.1.0/24" */
    fsbml_rail_about_t about;  /**< what else a person may know it by */
    _Atomic bool measured;
    _Atomic bool reversed;   /**< measured the other way round than this process sends */
    fsbml_loggp_t model;     /**< what the scheduler has then */
    _Atomic uint64_t way_ns; /**< of FSBML's smallest packet, by the model; 0: there is none */
    _Atomic uint64_t L_ns;   /**< of the model */
    _Atomic uint64_t ask_ns; /**< how long that packet keeps the rail, by the model */
    uint32_t key_digest;     /**< of the key: names the rail in a registration handle */
    mca_btl_base_module_t
        bound; /**< the pseudo BTL's functions on this rail alone: for what must follow a put */
} mca_bml_fsbml_rail_t;

struct mca_bml_fsbml_group_t {
    mca_btl_base_module_t pseudo; /**< the BTL that the PML sees; first, so that the two pointers are one */
    uint32_t rails;               /**< bit mask */
    _Atomic uint32_t gone;        /**< those of them that del_btl took out of use */
    size_t max_send_size;         /**< of the rails, before the quantum */
    size_t rndv_eager_limit;
    uint32_t rdma_rails;   /**< those over which the PML puts and gets; 0: it does neither */
    size_t rdma_frag_size; /**< of those, before the quantum */
    size_t get_limit;
    bool rdma_rests; /**< the PML sends fragments over them all the same: none registers memory */
};

/** Where questions on a path have come to: where they should, back to this process, or to another rank. */
enum { FSBML_ASTRAY_NOT = 0, FSBML_ASTRAY_BACK = 1, FSBML_ASTRAY_RANK = 2 };

/** A path's bit in an endpoint's masks is that of its rail: the one that its bytes take, and that is charged.
 * With tcp of 4.1 this is not always the one whose BTL makes its descriptors (bml_fsbml_pairing.c). */
typedef struct mca_bml_fsbml_path_t {
    mca_bml_base_btl_t super; /**< the real BTL and its endpoint, as r2 would list them */
    mca_bml_base_btl_t bound; /**< this path alone, for the PML */
    uint32_t rail;
    uint32_t module;            /**< the rail whose BTL it is: what descriptors are tagged with */
    _Atomic bool reported;      /**< its death was told */
    _Atomic uint64_t closed_ns; /**< when it died, 0: it has not */
    _Atomic bool removed;       /**< by del_btl: an answer does not bring it back */
    uint32_t round;         /**< of questions: what was asked before the path was removed proves nothing */
    bool to_ask, ask_again; /**< a question is to be sent, and which: its BTL had no room yet; ep->lock */
    bool owes;              /**< an answer to the peer, likewise */
    uint32_t owed_seq;      /**< its number */
    uint64_t refused_ns;    /**< since when its BTL refuses the question, 0: it does not */
    _Atomic bool heard, proved;  /**< the peer has asked on it; or answered, at some time */
    _Atomic uint32_t astray;     /**< where this end's questions went: FSBML_ASTRAY_*, or that and a rank */
    _Atomic bool looked, judged; /**< the peer was asked why the path does not work; the cause is known */
    _Atomic uint32_t speed_mbit; /**< of the peer's interface as its device says; known once it was asked what
                                    it sees, 0: not */
    uint32_t kind;               /**< of its fault (fsbml_fault_kind_t); with ep->lock, as is why */
    char why[FSBML_REASON_MAX];  /**< it was closed, or left out */
} mca_bml_fsbml_path_t;

/** A descriptor that waits until a path to its peer is proved, or has room. */
typedef struct mca_bml_fsbml_held_t {
    opal_list_item_t super;
    mca_btl_base_descriptor_t *des;
    uint32_t rail;
    mca_btl_base_tag_t tag;
    bool bound; /**< to that rail: it must come behind what that carries */
} mca_bml_fsbml_held_t;
OBJ_CLASS_DECLARATION(mca_bml_fsbml_held_t);

/** What the pseudo BTL takes for a struct mca_btl_base_endpoint_t. */
struct mca_bml_fsbml_endpoint_t {
    _Atomic uint32_t live;     /**< paths that carry traffic */
    _Atomic uint32_t possible; /**< live, or still to be proved */
    _Atomic uint32_t asleep;   /**< of the latter: not asked on, as one connection will do for now */
    _Atomic uint32_t missed;   /**< messages that could have gained by those */
    _Atomic(const fsbml_far_t *)
        far; /**< its rails are farther than measured; NULL: they are not (bml_fsbml_far.c) */
    mca_bml_base_btl_t *bml_btl; /**< the entry by which the PML knows this endpoint */
    mca_bml_base_btl_t *rdma;    /**< the same in the RDMA list, NULL: not there */
    bool speaks_real;            /**< registration handles to and from this peer are the real BTL's */
    mca_bml_fsbml_group_t *group;
    ompi_proc_t *proc;
    uint8_t slot[FSBML_MAX_RAILS];        /**< rail -> index in path[] */
    uint8_t module_slot[FSBML_MAX_RAILS]; /**< the rail whose BTL it is -> index in path[] */

    opal_mutex_t lock; /**< of all below */
    opal_list_t held;
    _Atomic uint32_t n_held;
    struct operation_t *_Atomic waiting; /**< puts and gets that no rail has room for (bml_fsbml_rdma.c) */
    struct operation_t *last_waiting;
    bool proving;              /**< in the list of endpoints with unproved paths */
    bool mute;                 /**< the peer does not run FSBML: never asked, and one path is enough */
    _Atomic uint64_t asked_ns; /**< when its paths were asked first, or again */
    bool silence_told;         /**< the message that no path is answered was shown */
    uint64_t first_live_ns;    /**< when the first path was proved */
    uint64_t confirm_ns;       /**< when the peer was asked on a live path whether it is there */
    uint64_t confirmed_ns;     /**< when it said so */
    struct mca_bml_fsbml_endpoint_t *next, *before; /**< in that list, which is a ring */
    fsbml_distance_t *distance;                     /**< it is being asked how far it is, NULL: it is not */

    _Atomic uint32_t n_paths; /**< those below it are complete */
    uint32_t capacity;
    mca_bml_fsbml_path_t path[];
};

/** Everything that lives from bml_init to bml_finalize: one central table of rails for the process
 * (thesis 5.6.1). */
typedef struct mca_bml_fsbml_module_t {
    mca_bml_base_module_t super;
    mca_btl_base_module_t **btls; /**< in use, by falling exclusivity */
    size_t n_btls;
    char (*btl_key)[FSBML_NAME_MAX]; /**< names of the BTLs on every node; those that the user left out follow
                                        at the end */
    size_t n_keys;
    mca_btl_base_component_progress_fn_t *progress;
    size_t n_progress;
    mca_bml_fsbml_rail_t rail[FSBML_MAX_RAILS];
    uint32_t n_rails;
    mca_bml_fsbml_group_t *group[FSBML_MAX_RAILS];
    uint32_t n_groups;
    fsbml_sched_t *sched;
    _Atomic(fsbml_observer_t *) observer;       /**< NULL: decisions are not observed */
    fsbml_ledger_t *ledger;                     /**< NULL: the scheduler's state is this process' own */
    fsbml_table_t *table;                       /**< NULL: not known yet */
    bool calibrated;                            /**< this process' part in the measurement has come */
    bool table_wanted;                          /**< an endpoint needs it, and it could not be had yet */
    uint32_t epoch;                             /**< how many times MPI was initialised in this process */
    mca_btl_base_module_error_cb_fn_t error_cb; /**< the PML's */
} mca_bml_fsbml_module_t;

OMPI_DECLSPEC extern mca_bml_base_component_t mca_bml_fsbml_component;
extern mca_bml_fsbml_module_t mca_bml_fsbml;

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

/* What each file gives the others, in the order of the data; parameters (bml_fsbml_params.h), FSBML's own
 * packets (bml_fsbml_packet.h), names (bml_fsbml_names.h), the faults of rails (bml_fsbml_faults.h),
 * measuring (bml_fsbml_measure.h) and sending (bml_fsbml_send.h) have headers of their own. */

/* bml_fsbml.c: the BML module */
void fsbml_module_construct(void);

/* bml_fsbml_procs.c: its interface for processes */
int fsbml_add_proc(struct ompi_proc_t *proc);
int fsbml_add_procs(size_t n, struct ompi_proc_t **procs, struct opal_bitmap_t *reachable);
int fsbml_del_procs(size_t n, struct ompi_proc_t **procs);
/** What a BTL can really do: its flags, less what it lacks a function for. */
uint32_t fsbml_btl_flags(const mca_btl_base_module_t *btl);
/** Registers a BTL's progress function; at low priority while no peer uses the BTL. */
void fsbml_progress_start(mca_btl_base_module_t *btl, bool in_use);

/* bml_fsbml_fallback.c: what happens in an Open MPI of another version */
bool fsbml_version_fits(void);
/** Says that this component was built for another Open MPI; r2's module, or NULL if r2 cannot be had. */
mca_bml_base_module_t *fsbml_fall_back(bool progress_threads, bool mpi_threads);

/* bml_fsbml_closing.c: connections to peers that have closed theirs */
typedef struct fsbml_closing_t {
    sigset_t before, pipe;
    bool held, was_pending;
} fsbml_closing_t;
/** Between the two, this thread does not get SIGPIPE. */
fsbml_closing_t fsbml_closing_begin(void);
void fsbml_closing_end(const fsbml_closing_t *closing);
/** The same from the beginning of MPI_Finalize to fini. */
void fsbml_closing_init(void);
void fsbml_closing_fini(void);
/** Will peers surely not close yet? They wait in MPI_Finalize for this process, except if told not to, and in
 * sessions. */
bool fsbml_closing_is_far_off(void);
/** Is this process in MPI_Finalize? */
bool fsbml_closing_has_begun(void);

/* bml_fsbml_goodbye.c: no goodbye to a peer that has gone */
/** Before tcp closes its connections to these processes, with SIGPIPE held back: shuts down those of closed
 * paths that have no room for its goodbye, for which it would wait. */
void fsbml_goodbye_skip(size_t n, ompi_proc_t **procs);

/* bml_fsbml_rails.c: from BTL modules to rails and groups */
int fsbml_rails_setup(void);
void fsbml_rails_teardown(void);
/** The pseudo BTL that stands for a real one, or the BTL itself. */
mca_btl_base_module_t *fsbml_visible_btl(mca_btl_base_module_t *btl);
/** Rail of a BTL, or -1. */
int fsbml_rail_of(const mca_btl_base_module_t *btl);
/** Comma-separated names of the rails in a mask, for messages. */
void fsbml_rails_names(uint32_t rails, char *buf, size_t len);

/* bml_fsbml_kernel.c: what the kernel knows of a rail that is a network interface */
typedef struct fsbml_kernel_tcp_t {
    uint32_t connections;   /**< of this process over the rail, that are open */
    uint64_t busy_ns;       /**< sum of the times that there was data which the peer had not acknowledged */
    uint64_t acknowledged;  /**< bytes */
    uint64_t retransmitted; /**< segments */
} fsbml_kernel_tcp_t;
/** False: it has no TCP connection, or is no interface. */
bool fsbml_kernel_tcp(uint32_t rail, fsbml_kernel_tcp_t *sum);
/** Bytes that the interface has sent since it is there, by all programs. */
bool fsbml_kernel_sent(uint32_t rail, uint64_t *bytes);
typedef struct fsbml_kernel_link_t {
    bool carrier;      /**< false only of an interface that is up and has none */
    uint8_t device[6]; /**< its address, zeros: it has none */
    uint32_t mtu;
    uint64_t received; /**< frames since it is there, UINT64_MAX: not known */
} fsbml_kernel_link_t;
/** State of an interface of this process' network namespace, which /sys need not show. False: there is none.
 */
bool fsbml_kernel_link(const char *interface, fsbml_kernel_link_t *link);

/* bml_fsbml_files.c: too few file descriptors for all connections */
/** At the end of MPI_Init: says so, and from then on ends the job once peers wait for a connection in vain.
 */
void fsbml_files_check(void);
void fsbml_files_forget(void);

/* bml_fsbml_job.c: traces, and the report of the job */
bool fsbml_job_is_reported(void);
void fsbml_job_begin(void);
/** The number of this job among those of its mpirun if another one has spawned it, else 0. */
uint32_t fsbml_job_number(void);
/** This process' part in the measurement is over: what the interfaces send from now on is the job's. */
void fsbml_job_measured(void);
/** Writes the trace; gathers all processes' summaries at rank 0, or, where they cannot talk any more, has
 * only its own, and writes the report. The second time nothing. */
void fsbml_job_tell(bool together);

/* bml_fsbml_pvars.c: MPI_T performance variables */
int fsbml_pvars_register(const mca_base_component_t *component);
/** The rails are there; they will not be any more. */
void fsbml_pvars_open(void);
void fsbml_pvars_close(void);
/** Gives the module this table, and frees the one that it had: no tool reads it meanwhile. */
void fsbml_pvars_take(fsbml_table_t *table);

/* bml_fsbml_ledger.c: what the ranks of a node have given to its rails */
/** Moves the scheduler's state into the node's ledger, if it is wanted and can be had. */
void fsbml_ledger_join(void);
/** After the scheduler's end. */
void fsbml_ledger_leave(void);

/* bml_fsbml_pairing.c: which of a peer's addresses a tcp module gets in 4.1 */
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

/* bml_fsbml_put.c: puts past the pseudo BTL are charged, too */
void fsbml_put_watch(void);
void fsbml_put_unwatch(void);

/* bml_fsbml_endpoint.c: peers */
/** Turns the entries that r2's rule gives for a peer into its send, eager and rdma lists. */
int fsbml_endpoint_build(ompi_proc_t *proc, mca_bml_base_endpoint_t *ep, const mca_bml_base_btl_t *entry,
                         size_t n);
/** FSBML's endpoint behind a BML endpoint, or NULL if the PML has the real BTL. */
mca_bml_fsbml_endpoint_t *fsbml_endpoint_of(mca_bml_base_endpoint_t *ep);
/** Same for a process; does not add it. */
mca_bml_fsbml_endpoint_t *fsbml_endpoint_of_proc(ompi_proc_t *proc);
/** The real BTL's entry for a peer, on a path or in the plain list; NULL if there is none. */
const mca_bml_base_btl_t *fsbml_endpoint_entry(mca_bml_base_endpoint_t *ep, const mca_btl_base_module_t *btl);
/** `rail` is the one that the bytes take, mostly that of the entry's BTL. */
int fsbml_endpoint_add_path(mca_bml_fsbml_endpoint_t *ep, const mca_bml_base_btl_t *entry, uint32_t rail);
/** Takes a path out of service for good. */
void fsbml_endpoint_remove_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rail);
/** The same, unless no other path is live, also where threads take away different ones at the same time. */
bool fsbml_endpoint_spare_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rail);
void fsbml_endpoint_release(mca_bml_base_endpoint_t *ep);
/** How many peers a rail should lead to, and carries nothing to. */
uint32_t fsbml_peers_without(uint32_t rail);

static inline mca_bml_fsbml_path_t *fsbml_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rail)
{
    return &ep->path[ep->slot[rail]];
}
/** The path over a real BTL; NULL if there is none. */
static inline const mca_bml_fsbml_path_t *fsbml_path_over(const mca_bml_fsbml_endpoint_t *ep,
                                                          const mca_btl_base_module_t *btl)
{
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (ep->path[i].super.btl == btl) {
            return &ep->path[i];
        }
    }
    return NULL;
}

/** The path whose descriptors a rail's BTL makes. */
static inline mca_bml_fsbml_path_t *fsbml_path_of_module(mca_bml_fsbml_endpoint_t *ep, uint32_t module)
{
    return &ep->path[ep->module_slot[module]];
}

/* bml_fsbml_ask.c: questions on paths, and answers */
/** Asks on all paths of a new endpoint; in a job of many processes on the nearest one, the others sleep. */
void fsbml_ask_peer(mca_bml_fsbml_endpoint_t *ep);
/** Has those asked on that sleep, by the progress function: another connection can gain, or the first fails.
 */
void fsbml_ask_wake(mca_bml_fsbml_endpoint_t *ep);
/** Wakes them at the eighth message that could gain by another rail: one of so many bytes on `rail` (a bit).
 */
void fsbml_ask_more(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, size_t bytes);
/** The same for one path that came later. */
void fsbml_ask_path(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** A removed path is to be used again, and proved anew. */
void fsbml_ask_return(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Sends the questions and answers that are to be sent, those among them for which a BTL had no room. */
void fsbml_ask_pending(mca_bml_fsbml_endpoint_t *ep);
bool fsbml_ask_owes(mca_bml_fsbml_endpoint_t *ep);
/** An echo came in: a peer asks on a path, or answers. */
void fsbml_ask_heard(mca_btl_base_module_t *btl, const fsbml_packet_t *packet);
void fsbml_ask_answered(mca_btl_base_module_t *btl, const fsbml_packet_t *packet);

/* bml_fsbml_proof.c: a path carries traffic only after its peer has answered on it */
int fsbml_proof_init(void);
void fsbml_proof_fini(void);
void fsbml_proof_forget(mca_bml_fsbml_endpoint_t *ep);
/** A path failed before it was proved; `rail` is the one whose BTL it is. Returns false if it had been live:
 * then it is the PML's business. */
bool fsbml_proof_failed(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, const char *why);
/** A probe could not be delivered: the path that it was for, if it is not proved, has failed. */
void fsbml_proof_lost(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint);
/** Looks after an endpoint in the progress function: something is to be proved, told, or sent. */
void fsbml_proof_watch(mca_bml_fsbml_endpoint_t *ep);

/* bml_fsbml_path.c: a path's state */
void fsbml_path_open(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Takes a path out of use; it is reported if it has not come back after the time-out: a connection that
 * failed from here can still come from the peer. */
void fsbml_path_close(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, const char *why);
/** Tells of the paths that have been closed for good. Returns false while one may still come back. */
bool fsbml_path_report(mca_bml_fsbml_endpoint_t *ep, uint64_t now);
/** Its rail is taken out of use: it carries no more, whatever the peer answers. */
void fsbml_path_remove(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** For a peer that must not be asked: its first path that is in use, if there is one. The caller has
 * ep->lock. */
void fsbml_path_use_one(mca_bml_fsbml_endpoint_t *ep);

static inline bool fsbml_path_closed(const mca_bml_fsbml_path_t *path)
{
    return 0 != path->closed_ns && !path->removed;
}

static inline size_t fsbml_des_bytes(const mca_btl_base_descriptor_t *des)
{
    size_t bytes = 0;
    for (size_t i = 0; i < des->des_segment_count; ++i) {
        bytes += des->des_segments[i].seg_len;
    }
    return bytes;
}

#include "bml_fsbml_faults.h"
#include "bml_fsbml_measure.h"
#include "bml_fsbml_names.h"
#include "bml_fsbml_send.h"

#endif /* MCA_BML_FSBML_H */
