/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Peers: their endpoints and paths, FSBML's own messages to them, and what is wrong with a path.
 *
 * endpoint  a peer, as the pseudo BTL addresses it: its paths and their state (peers/endpoint.c)
 * path      one rail to one peer: unproved until the peer has answered on it, then live, or dead
 *
 * ask.c       questions on paths, and answers      proof.c     unproved paths: asked again, given up
 * path.c      a path opens, closes, is removed     diagnose.c  why one does not work
 * away.c      answers that are late for other reasons than the network
 *
 * A path's masks are atomics and may be read by any thread; all below `lock` in an endpoint needs that lock.
 */
#ifndef MCA_BML_FSBML_PEERS_H
#define MCA_BML_FSBML_PEERS_H

#include "rails/rails.h"

typedef struct mca_bml_fsbml_endpoint_t mca_bml_fsbml_endpoint_t;

/** Where questions on a path were misdelivered to: nowhere, back to this process, or to another rank. */
enum { FSBML_ASTRAY_NOT = 0, FSBML_ASTRAY_BACK = 1, FSBML_ASTRAY_RANK = 2 };

/** A path's bit in an endpoint's masks is that of its rail: the one that its bytes take, and that is charged.
 * With tcp of 4.1 this is not always the one whose BTL makes its descriptors (compat/pairing.c). */
typedef struct mca_bml_fsbml_path_t {
    mca_bml_base_btl_t super; /**< the real BTL and its endpoint, as r2 would list them */
    mca_bml_base_btl_t bound; /**< this path alone, for the PML */
    uint32_t rail;
    uint32_t module;            /**< the rail whose BTL it is: what descriptors are tagged with */
    _Atomic bool reported;      /**< its death was told */
    _Atomic uint64_t closed_ns; /**< when it died, 0: it has not */
    _Atomic bool removed;       /**< by del_btl: an answer does not bring it back */
    uint32_t round;         /**< of questions: what was asked before the path was removed proves nothing */
    bool waits;             /**< it has answered, but a faster one may still do so; ep->lock */
    bool to_ask, ask_again; /**< a question is to be sent, and which: its BTL had no room yet; ep->lock */
    bool owes;              /**< an answer to the peer, likewise */
    uint32_t owed_seq;      /**< its number */
    uint64_t refused_ns;    /**< since when its BTL refuses the question, 0: it does not */
    _Atomic bool heard, proved; /**< the peer has asked on it; or answered, at some time */
    _Atomic uint32_t astray;    /**< misdelivered questions of this end: FSBML_ASTRAY_*, or that and a rank */
    _Atomic bool looked, judged; /**< the peer was asked why the path does not work; the cause is known */
    _Atomic uint32_t speed_mbit; /**< of the peer's interface as its device says; known once it was asked what
                                    it sees, 0: not */
    uint32_t kind;               /**< of its fault (fsbml_fault_kind_t); with ep->lock, as is why */
    char why[FSBML_REASON_MAX];  /**< it was closed, or left out */
    struct fsbml_connection_t *connection; /**< of tcp's, for flow/sockets.c; NULL: there is none */
} mca_bml_fsbml_path_t;

/** What the pseudo BTL takes for a struct mca_btl_base_endpoint_t. */
struct mca_bml_fsbml_endpoint_t {
    _Atomic uint32_t live;            /**< paths that carry traffic */
    _Atomic uint32_t possible;        /**< live, or still to be proved */
    _Atomic uint32_t asleep;          /**< of the latter: not asked on, as one connection will do for now */
    _Atomic uint32_t missed;          /**< messages that could have gained by those */
    _Atomic uint32_t closed;          /**< live, and failed since: failover sends by others meanwhile */
    _Atomic(const fsbml_far_t *) far; /**< extra latency of its rails; NULL: none (flow/latency.c) */
    mca_bml_base_btl_t *bml_btl;      /**< the entry by which the PML knows this endpoint */
    mca_bml_base_btl_t *rdma;         /**< the same in the RDMA list, NULL: not there */
    bool speaks_real;                 /**< registration handles to and from this peer are the real BTL's */
    mca_bml_fsbml_group_t *group;
    ompi_proc_t *proc;
    uint8_t slot[FSBML_MAX_RAILS];        /**< rail -> index in path[] */
    uint8_t module_slot[FSBML_MAX_RAILS]; /**< the rail whose BTL it is -> index in path[] */

    opal_mutex_t lock; /**< of all below */
    opal_list_t held;
    _Atomic uint32_t n_held;
    struct operation_t *_Atomic waiting; /**< puts and gets that no rail has room for (send/rdma.c) */
    struct operation_t *last_waiting;
    bool proving;               /**< in the list of endpoints with unproved paths */
    bool knows_pieces;          /**< the peer puts pieces of messages together (pieces/) */
    _Atomic uint32_t n_cut;     /**< messages to it that were cut so far */
    _Atomic uint32_t open_cuts; /**< ... that are not complete here */
    bool mute;                  /**< the peer does not run FSBML: never asked, and one path is enough */
    _Atomic uint64_t asked_ns;  /**< when its paths were asked first, or again */
    uint64_t ask_from_ns;       /**< they are not asked before: the peer may not know this process yet, or
                                   another rank of its node is asked */
    uint32_t node;              /**< digest of its node's name, 0: what others of it answer tells nothing */
    bool silence_told;          /**< the message that no path is answered was shown */
    uint64_t first_live_ns;     /**< when the first path was proved */
    uint64_t confirm_ns;        /**< when the peer was asked on a live path whether it is there */
    uint64_t confirmed_ns;      /**< when it said so */
    struct mca_bml_fsbml_endpoint_t *next, *before; /**< in that list, which is a ring */
    struct fsbml_framed_t *_Atomic framed; /**< what failover/ has of it; NULL: its messages are not framed */
    uint16_t handle;                       /**< what its frames are to carry, so that this end knows it */
    fsbml_far_t *farther;                  /**< what `far` points to if it is not NULL; NULL: it never was */

    _Atomic uint32_t n_paths; /**< those below it are complete */
    uint32_t capacity;
    mca_bml_fsbml_path_t path[];
};

/* peers/packet.c: FSBML's own packets: echo, PRTT, tables, questions about a path */
/** Active-message tag of FSBML's own packets (echo, PRTT): the top of the range for users of the BTLs. */
#define FSBML_TAG_PROBE ((mca_btl_base_tag_t) (MCA_BTL_TAG_USR + 0x70))

/** Header of FSBML's own packets, in host order; on the wire 32 bytes, little endian. */
typedef struct fsbml_packet_t {
    uint8_t type;
    uint8_t flags;
    ompi_process_name_t from;
    uint32_t seq;   /**< of the probe that it belongs to */
    uint32_t count; /**< PRTT, REQUEST: messages in this probe; ASK: rank that is asked, plus 1; LOOK: the
                       rail */
    uint32_t
        bytes; /**< PRTT, REQUEST: size of each, header included; TABLE, LOOK: of the record; ASK: its job */
    uint32_t delay_ns; /**< ASK, ANSWER: the sender's rail, plus 1, and its handle for the receiver, times
                        * 65536; REQUEST: of computation between two messages; timed ASK: what its answer may
                        * wait; timed ANSWER: what it waited, for its rail or for the process, if that was
                        * more */
} fsbml_packet_t;
enum { FSBML_PACKET_HEADER = 32 };
/** First word on the wire: "FSB" and a version. A change of it goes with one of the hello's version
 * (core/records/table.cpp), or processes of two FSBML versions would wait for each other's answers. */
#define FSBML_PACKET_MAGIC UINT32_C(0x04425346)
enum {
    FSBML_PACKET_ASK = 1, /**< echo, please answer on this rail */
    FSBML_PACKET_ANSWER = 2,
    FSBML_PACKET_PRTT = 3, /**< one of n messages of a probe */
    FSBML_PACKET_PRTT_BACK = 4,
    FSBML_PACKET_TABLE = 5,   /**< the measurement is over; what came out */
    FSBML_PACKET_READY = 6,   /**< the mirror has come to its part of the measurement */
    FSBML_PACKET_REQUEST = 7, /**< asks for `count` messages of `bytes` bytes */
    FSBML_PACKET_FLOW = 8,    /**< one of those */
    FSBML_PACKET_LOOK = 9,    /**< what do you see of another path, that does not work? payload: what I see */
    FSBML_PACKET_SEEN = 10,   /**< the answer */
    FSBML_PACKET_STREAM = 11, /**< one message of a stream, the first has the count 0 */
    FSBML_PACKET_STREAM_BACK = 12, /**< bytes: that have come by then; delay_ns: the receiver's clock */
    FSBML_PACKET_RATE = 13,        /**< what a stream that was asked for came to; payload: a table */
    FSBML_PACKET_ENDED = 14, /**< nothing is left of a path's connection; seq: its number, count: ended */
    FSBML_PACKET_TYPES
};
enum {
    FSBML_PACKET_AWAY = 1,      /**< flag of STREAM_BACK: the receiver had not looked for a while */
    FSBML_PACKET_STREAMED = 32, /**< flag of REQUEST: a stream, not a row; count: of us that it may take,
                                  delay_ns: that it is wanted to take */
    FSBML_PACKET_BRIEF = 1,     /**< flag of PRTT: the answer is to be as small as can be */
    FSBML_PACKET_TIMED = 2,     /**< flag of ASK and ANSWER: for when a message arrives, not for liveness */
    FSBML_PACKET_ASTRAY = 4,    /**< flag of ANSWER: misdelivered, the question was for another process */
    FSBML_PACKET_GIVEN_UP = 8,  /**< flag of LOOK: the path worked, was measured, and is given up here */
};

/** Has packets of this type go to a function; payload is what follows the packet's header. */
typedef void (*fsbml_packet_fn_t)(mca_btl_base_module_t *btl, const fsbml_packet_t *packet,
                                  const void *payload, size_t len);
void fsbml_packet_handle(unsigned type, fsbml_packet_fn_t fn);
/** A packet was not delivered by this BTL and endpoint. */
void fsbml_packet_lost(void (*fn)(const mca_btl_base_module_t *btl,
                                  const struct mca_btl_base_endpoint_t *endpoint));
/** From now on packets come in. One that is malformed, or of another version, is dropped (peers/packet.c). */
int fsbml_packet_init(void);
/** A packet of at least `bytes` bytes in all, header included; payload may be NULL (zeros). */
int fsbml_packet_send(const mca_bml_base_btl_t *entry, const fsbml_packet_t *packet, const void *payload,
                      size_t payload_len, size_t bytes);

/** Reactions of rooms above to events of a peer; each may be NULL. Without ep->lock where not said. */
typedef struct fsbml_peers_listener_t {
    /** A new path; with ep->lock. An error: it cannot be used. */
    int (*path_known)(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
    void (*path_gone)(mca_bml_fsbml_path_t *path);
    /** The peer has said by which of its rails the path leads, and its handle for this process. */
    void (*path_paired)(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path, uint32_t peers_rail,
                        uint16_t handle);
    /** A path is live now. */
    void (*path_live)(mca_bml_fsbml_endpoint_t *ep);
    /** From the progress function, while something waits: there may be room for it. */
    void (*look)(mca_bml_fsbml_endpoint_t *ep);
    /** No path is left: what waits must fail. */
    void (*no_path)(mca_bml_fsbml_endpoint_t *ep);
    /** The peer goes, and with it what waits. */
    void (*forget)(mca_bml_fsbml_endpoint_t *ep);
    /** The answer to a timed question. */
    void (*answered)(const fsbml_packet_t *packet);
} fsbml_peers_listener_t;
/* peers/peers.c: listeners */
/** Before other rooms set up: forgets all listeners. */
void fsbml_peers_setup(void);
/** Registers a listener at set-up; listeners are called in the order of registration. */
void fsbml_peers_listen(const fsbml_peers_listener_t *listener);
int fsbml_peers_path_known(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
void fsbml_peers_path_gone(mca_bml_fsbml_path_t *path);
void fsbml_peers_path_paired(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path,
                             uint32_t peers_rail, uint16_t handle);
void fsbml_peers_path_live(mca_bml_fsbml_endpoint_t *ep);
void fsbml_peers_look(mca_bml_fsbml_endpoint_t *ep);
void fsbml_peers_no_path(mca_bml_fsbml_endpoint_t *ep);
void fsbml_peers_forget(mca_bml_fsbml_endpoint_t *ep);
void fsbml_peers_answered(const fsbml_packet_t *packet);

/* peers/peers.c: endpoints with something to do in the progress function */
/** Which function that is. */
void fsbml_watch_by(int (*look)(void));
/** Something is to be proved, told, or sent. */
void fsbml_watch(mca_bml_fsbml_endpoint_t *ep);
/** No more. */
void fsbml_watch_end(mca_bml_fsbml_endpoint_t *ep);
/** Those whose turn it is; returns how many. */
size_t fsbml_watch_next(mca_bml_fsbml_endpoint_t **ep, size_t most);
/** Calls a function for each, until it returns true; meanwhile none can go. */
void fsbml_watch_find(bool (*fn)(mca_bml_fsbml_endpoint_t *ep, void *what), void *what);
/** Unregisters the function if there is nothing to do. */
void fsbml_watch_rest(void);
void fsbml_watch_fini(void);

/* peers/endpoint.c: peers */
extern const fsbml_tcp_view_t fsbml_peers_tcp; /**< for compat/ */
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

/** Whether the policy asks when a message would arrive. */
static inline bool fsbml_peers_by_time(void)
{
    const fsbml_policy_t policy = mca_bml_fsbml_params.policy;
    return FSBML_POLICY_ARRIVAL == policy || FSBML_POLICY_THESIS == policy;
}

static inline mca_bml_fsbml_path_t *fsbml_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rail)
{
    return &ep->path[ep->slot[rail]];
}
/** The path over a real BTL; NULL if there is none. */
static inline mca_bml_fsbml_path_t *fsbml_path_over(mca_bml_fsbml_endpoint_t *ep,
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

/* peers/ask.c: questions on paths, and answers */
/** Asks on all paths of a new endpoint; in a job of many processes on the nearest one, the others sleep. */
void fsbml_ask_peer(mca_bml_fsbml_endpoint_t *ep);
/** Has those asked on that sleep, by the progress function: another connection can gain, or the first fails.
 */
void fsbml_ask_wake(mca_bml_fsbml_endpoint_t *ep);
/** Wakes them at the eighth message that could gain by another rail: of `bytes` bytes, on `rail` (a bit). */
void fsbml_ask_more(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, size_t bytes);
/** A removed path is to be used again, and proved anew. */
void fsbml_ask_return(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Sends the questions and answers that are to be sent, those among them for which a BTL had no room. */
void fsbml_ask_pending(mca_bml_fsbml_endpoint_t *ep);
bool fsbml_ask_owes(mca_bml_fsbml_endpoint_t *ep);
/** An echo came in: a peer asks on a path, or answers. */
void fsbml_ask_heard(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                     size_t len);
void fsbml_ask_answered(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                        size_t len);

/* peers/proof.c: liveness: a path carries traffic only after its peer has answered on it */
int fsbml_proof_init(void);
void fsbml_proof_fini(void);
void fsbml_proof_forget(mca_bml_fsbml_endpoint_t *ep);
/** A path failed before it was proved; `rail` is the one whose BTL it is. Returns false if it had been live:
 * then it is the PML's business. */
bool fsbml_proof_failed(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, const char *why);
/** MPI_Finalize begins: what is closed by now is told, as a short job is over before that is sure. */
void fsbml_proof_tell(void);

/* peers/path.c: a path's state, and what ranks of its peer's node have answered on its rail */
int fsbml_path_init(void);
void fsbml_path_fini(void);
typedef enum { FSBML_NODE_SILENT, FSBML_NODE_ASKED, FSBML_NODE_ANSWERED } fsbml_node_t;
fsbml_node_t fsbml_node_knows(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path);
void fsbml_node_learn(const mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path,
                      fsbml_node_t state);
/** The peer has answered on it: it is live from now on, or once no faster one is worth waiting for. */
void fsbml_path_open(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Opens what waits no more. */
void fsbml_path_look(mca_bml_fsbml_endpoint_t *ep);
/** Takes a path out of use; it is reported if it has not come back after the time-out: a connection that
 * failed from here can still come from the peer. */
void fsbml_path_close(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, const char *why);
/** Tells of the paths that have been closed for good. Returns false while one may still come back. `at_end`:
 * it cannot be told later. */
bool fsbml_path_report(mca_bml_fsbml_endpoint_t *ep, uint64_t now, bool at_end);
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

/* peers/away.c: how long this process had not looked at its networks */
/** From now on it is known; until the other one. */
void fsbml_away_watch(void);
void fsbml_away_stop(void);
/** Called with each look. */
int fsbml_away_looked(void);
/** In ns at `now`, when something has just come in; 0: it was no longer than tolerated (0.1 ms always is), or
 * is not known. */
uint64_t fsbml_away_ns(uint64_t now, uint64_t tolerated);
/** What the answer to a timed question on this BTL has to wait, or the question had to, in ns; 0: no more
 * than the question tolerates. ep may be NULL. */
uint32_t fsbml_away_late_ns(mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl,
                            const fsbml_packet_t *question);

/* peers/packet.c: hellos (fsbml_hello_t, core/api/fsbml_table.h) in the run-time's key-value store */
/** `flags`: FSBML_HELLO_*, those that the rooms above know. */
int fsbml_hello_publish(uint32_t flags);
/** A peer's hello; -ENOENT if it has none (it does not run FSBML). */
int fsbml_hello_fetch(const ompi_process_name_t *peer, fsbml_hello_t *hello);
/** The name of a peer's node, "" if it does not say. */
void fsbml_hello_node(const ompi_process_name_t *peer, char node[FSBML_NAME_MAX]);
/** BTLs (bit = index, the first 64) that a peer was told not to use; 0 if it has no hello. */
uint64_t fsbml_hello_refusals(const ompi_process_name_t *peer);
/** How a peer's registration handles look. */
typedef enum fsbml_speech_t {
    FSBML_SPEECH_NONE, /**< it does not put and get by FSBML */
    FSBML_SPEECH_ALL,  /**< FSBML's, with those of all rails */
    FSBML_SPEECH_REAL, /**< it does not run FSBML, or has one rail: the real BTL's */
} fsbml_speech_t;
fsbml_speech_t fsbml_hello_rdma(const ompi_process_name_t *peer);
/** Sees to it that what this process knows of a peer, its BTLs' addresses too, is of this life of MPI. */
void fsbml_hello_refresh(const ompi_process_name_t *peer);

/* peers/diagnose.c: faults of rails, and their causes */
typedef struct fsbml_fault_t {
    char rail[FSBML_NAME_MAX];  /**< what a user calls it: "eth1" */
    char from[FSBML_NAME_MAX];  /**< node that found it, this one */
    char to[FSBML_NAME_MAX];    /**< node of the peer, "": all that have the rail */
    uint32_t kind;              /**< fsbml_fault_kind_t */
    char why[FSBML_REASON_MAX]; /**< a sentence without the full stop, beginning in lower case */
} fsbml_fault_t;

enum { FSBML_FAULTS_MAX = 32 }; /**< that are kept */

/** Keeps a fault, unless one of that kind is known of the same rail and nodes; counts what is beyond the
 * most. Any thread. */
void fsbml_fault_note(const fsbml_fault_t *fault);
/** The faults of this life of MPI, in the order in which they were found. Returns how many *first has; *more,
 * unless NULL, is how many others there were. What is there stays there: later notes only add. */
uint32_t fsbml_faults(const fsbml_fault_t **first, uint32_t *more);
/** A new life of MPI begins. */
void fsbml_faults_reset(void);

/* peers/diagnose.c: why a path does not work */
/** Asks the peer once, on another path as soon as one is live, what it sees of this one. */
void fsbml_diagnose_begin(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Decides without the peer's word, if that has not come: then path->why is what closed it, or better. */
void fsbml_diagnose_end(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Both, and waits for up to the probes' time-out: for the measurement. Returns the kind; why[] is what is
 * known, then why. */
uint32_t fsbml_diagnose_now(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                            char why[FSBML_REASON_MAX]);
/** Tells of rails that were measured far slower than they should be; before[]: G by an earlier job, 0:
 * unknown. */
void fsbml_diagnose_speeds(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                           size_t n, const double before[]);
/** LOOK or SEEN came in. */
void fsbml_diagnose_packet(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                           size_t len);
/** Whether a question was meant for this process. */
bool fsbml_diagnose_is_mine(const fsbml_packet_t *packet);
/** A question of this process, as it was or as its answer repeats it, came to `receiver`, and not to the peer
 * that it names. */
void fsbml_diagnose_astray(const mca_btl_base_module_t *btl, const fsbml_packet_t *packet,
                           const ompi_process_name_t *receiver);
/** Notes a fault of one of this process' rails, and prints a line where lines are wanted; `to` is the other
 * node, "": all. */
void fsbml_diagnose_note(uint32_t rail, const char *to, uint32_t kind, const char *why);

#endif /* MCA_BML_FSBML_PEERS_H */
