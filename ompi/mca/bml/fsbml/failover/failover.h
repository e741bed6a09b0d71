/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Failover: each message to a peer exactly once, also while rails die and come back (bml_fsbml_failover).
 *
 * The core numbers messages, keeps them and says which are to be sent again (core/delivery). This room makes
 * frames of them, gives those to the rails' BTLs, and tells the core what came in and what failed.
 *
 * - The PML's descriptors are FSBML's own: a message with its bytes, which stays until the peer has
 *   acknowledged it, whatever becomes of what carried it. The rail is chosen when it is sent.
 * - A frame is a descriptor of that rail's BTL, under one tag of FSBML's. Its completion, which says that the
 *   network has the bytes, completes the message to the PML.
 * - What no rail takes waits here, in the PML's order.
 * - A put or get with which a rail has failed is done again by another one (send/rdma.c). Only such puts are
 *   used that have landed when they are complete: what follows one may come by any rail.
 * - Peers without failover, or with one rail are served by send/ as ever.
 */
#ifndef MCA_BML_FSBML_FAILOVER_H
#define MCA_BML_FSBML_FAILOVER_H

#include "send/send.h"

/** Once the pseudo BTLs are made. */
void fsbml_failover_setup(void);
/** After the last message; before the peers go. */
void fsbml_failover_teardown(void);
/** Whether this process understands frames: for its hello. */
bool fsbml_failover_is_on(void);
/** Times that a rail has failed to some peer, and messages that were sent again for it. Any thread. */
typedef struct fsbml_failover_counters_t {
    uint64_t failures, sent_again;
} fsbml_failover_counters_t;
fsbml_failover_counters_t fsbml_failover_counters(uint32_t rail);
/** The rails by which frames go to a peer; 0: none, or its messages are not framed. Any thread. */
uint32_t fsbml_failover_rails(mca_bml_fsbml_endpoint_t *ep);
/** A message of a header and bytes, which takes that rail if it can then; the peer's messages are framed.
 * NULL: no memory. */
mca_btl_base_descriptor_t *fsbml_failover_make(mca_bml_fsbml_endpoint_t *ep, uint32_t rail,
                                               const void *header, size_t n_header, const void *bytes,
                                               size_t n_bytes, uint32_t flags);

/* ------------------------------------------------------------------- inside the room */

typedef struct fsbml_message_t fsbml_message_t;

typedef enum fsbml_standing_t {
    FSBML_CONNECTION_STANDS, /**< as far as it is known */
    FSBML_CONNECTION_ENDING, /**< its BTL has closed it, or will */
    FSBML_CONNECTION_ENDED,  /**< nothing is left of it here; a fresh one follows */
} fsbml_standing_t;

/** What failover knows of one rail to one peer. */
typedef struct fsbml_way_t {
    uint64_t failed_ns, resumed_ns; /**< when it failed last, and when the peer had said what it has */
    uint32_t sent_again;            /**< messages, then */
    const char *cause;              /**< ... as a user is told */
    uint32_t in_hand;               /**< messages that threads have numbered, and not yet given to the BTL */
    uint32_t in_row;                /**< that were numbered since there was none */
    uint8_t number;                 /**< of its path, as both ends count */
    bool renews;                    /**< its BTL can make a fresh connection */
    bool connects;                  /**< ... and the next frame has it do so */
    fsbml_standing_t connection;
    uint32_t ended, peer_ended; /**< connections of it that this end and the peer have ended, or are ending */
    uint64_t told_ns;           /**< when the peer was told of that last */
    uint64_t renewed_ns;        /**< when the latest fresh connection was made */
    uint64_t accepted_ns;       /**< since when its BTL has one by which nothing has come; 0: it has none */
    struct fsbml_renewal_t *renewal; /**< asks whether its network works; NULL: it works, or can only be
                                        waited for */
} fsbml_way_t;

/** A peer to and from which messages are framed. */
typedef struct fsbml_framed_t {
    mca_bml_fsbml_endpoint_t *ep;
    struct fsbml_framed_t *next, **to_this; /**< all peers */
    bool counts;                            /**< paths are numbered as this end's rails, else as the peer's */
    uint32_t paths;
    _Atomic uint64_t due_ns; /**< when there is something to do */

    opal_mutex_t lock; /**< of all below */
    fsbml_delivery_t *delivery;
    fsbml_message_t *first, *last; /**< no path takes them; in order */
    fsbml_message_t *all;
    uint32_t numbered, up;         /**< rails whose path has a number; that the core knows of */
    uint32_t told;                 /**< of closed rails (ep->closed), those that the user was told of */
    uint32_t broken;               /**< of those: whose connection its BTL has given up */
    bool acting, again;            /**< a thread does what is to be done; there is more */
    bool stranded;                 /**< no path is left, or was for as long as messages may wait */
    uint64_t looked_ns;            /**< when the kernel was asked about retransmissions */
    uint8_t rail[FSBML_MAX_RAILS]; /**< of a path, by its number */
    fsbml_way_t way[];             /**< by rail */
} fsbml_framed_t;

enum { FSBML_NO_RAIL = UINT8_MAX };

struct fsbml_message_t {
    mca_btl_base_descriptor_t super; /**< what the PML has of it */
    mca_btl_base_segment_t segment;
    fsbml_delivery_message_t record;   /**< delivery's; with the tag */
    fsbml_framed_t *to;                /**< NULL: the peer is gone */
    fsbml_message_t *next;             /**< of those that wait */
    fsbml_message_t *after, **to_this; /**< of all */
    size_t room;                       /**< of `bytes` */
    mca_btl_base_descriptor_t *kept;   /**< the sender's own one, which it keeps; NULL: it has this one */
    uint32_t frames;                   /**< of it that BTLs have */
    bool undelivered;                  /**< the peer has not acknowledged it */
    bool open;                         /**< the PML is to be told of its completion */
    uint8_t rail;                      /**< that bulk is meant for, or FSBML_NO_RAIL */
    _Alignas(16) char bytes[];
};

/** The message of a record. */
static inline fsbml_message_t *fsbml_message_of(fsbml_delivery_message_t *record)
{
    return (fsbml_message_t *) ((char *) record - offsetof(fsbml_message_t, record));
}

/** NULL: this peer's messages are not framed. */
static inline fsbml_framed_t *fsbml_framed_of(const mca_bml_fsbml_endpoint_t *ep)
{
    return atomic_load_explicit(&ep->framed, memory_order_acquire);
}

/* failover/peer.c: peers, and when there is something to do for one */
void fsbml_framed_add(fsbml_framed_t *p);
void fsbml_framed_remove(fsbml_framed_t *p);
/** Calls a function for each peer that is due; meanwhile none goes. Not while another thread is at it. */
void fsbml_framed_each_due(uint64_t now, void (*act)(fsbml_framed_t *p));
/** Something is to be done at `ns`, or was to be sooner: for a peer; for all of them, false: not while
 * another thread goes through them. */
void fsbml_framed_due(fsbml_framed_t *p, uint64_t ns);
bool fsbml_framed_all_due(uint64_t ns);
/** Live rails whose path takes messages. With the lock. */
uint32_t fsbml_framed_rails(const fsbml_framed_t *p);

/* failover/memory.c: their memory */
/** A message with room for `bytes`; NULL: no memory. Any thread. */
fsbml_message_t *fsbml_message_make(fsbml_framed_t *p, size_t bytes, uint32_t flags);
/** Frees one. */
void fsbml_message_free(fsbml_message_t *m);
/** From now on memory is kept, or no more. */
void fsbml_message_keep_memory(bool keeps);

/* failover/message.c: messages, and what carries them */
/** Sends a message, or has it wait; sends it at once, or not at all: false, it is the caller's. */
void fsbml_message_send(fsbml_message_t *m);
bool fsbml_message_send_now(fsbml_message_t *m);
/** With the lock, which they give back meanwhile: sends what waits; what is to be sent again. */
void fsbml_message_send_waiting(fsbml_framed_t *p);
void fsbml_message_send_again(fsbml_framed_t *p);
/** The peer has acknowledged it. With the lock, which it gives back meanwhile. */
void fsbml_message_delivered(fsbml_message_t *m);
/** Sends a control frame; false: not now. With the lock, which it gives back meanwhile. */
bool fsbml_message_control(fsbml_framed_t *p, uint32_t rail, const void *frame, size_t bytes);
/** The peer goes: frees what no BTL has. */
void fsbml_message_forget(fsbml_framed_t *p);

/* failover/renew.c: fresh connections for paths that are dead. All with the lock. */
/** A path is dead, or works again. */
void fsbml_renew_begin(fsbml_framed_t *p, uint32_t rail);
void fsbml_renew_end(fsbml_framed_t *p, uint32_t rail);
/** A path's connection has failed; nothing is sent again before the BTL has returned. */
void fsbml_framed_failed(fsbml_framed_t *p, uint32_t rail);
/** Whether its BTL has closed a connection that should stand: a message would have it connect at once. */
bool fsbml_renew_is_closed(const fsbml_framed_t *p, uint32_t rail);
/** ... and the peer has not said that it closes it. */
bool fsbml_renew_is_lost(const fsbml_framed_t *p, uint32_t rail);
/** A frame came by a path. */
static inline bool fsbml_renew_awaits(const fsbml_framed_t *p, uint32_t rail)
{
    return OPAL_UNLIKELY(FSBML_CONNECTION_ENDED == p->way[rail].connection);
}
void fsbml_renew_came(fsbml_framed_t *p, uint32_t rail);
/** What is to be done now; it gives the lock back meanwhile. */
void fsbml_renew_look(fsbml_framed_t *p, uint64_t now);
/** From now on peers may say that they have ended a connection. */
void fsbml_renew_setup(void);

/* failover/act.c: what the core wants done; looks at carriers and retransmissions; tells the user that a rail
 * has failed or is back */
/** Has all that is to be done for a peer done, by this thread or the one that is at it. Without the lock. */
void fsbml_framed_act(fsbml_framed_t *p);
/** The progress function. */
int fsbml_failover_look(void);
/** At the begin and end: forgets the counters; looks after the rails' cables, or no more. */
void fsbml_failover_act_setup(void);
void fsbml_failover_act_teardown(void);

/* failover/framed.c: the pseudo BTL's functions, and frames that come in */
/** Has a group's pseudo BTL send by frames; once, before the first message. */
void fsbml_framed_construct(mca_bml_fsbml_group_t *group);
/** From now on frames come in. */
int fsbml_framed_receive(void);
/** A handle that no peer's frames have had in this life of MPI; -1: there is none, or no memory for it. */
int fsbml_framed_handle(void);
/** The peer whose frames have it; NULL: it is gone. */
void fsbml_framed_from(uint16_t handle, fsbml_framed_t *p);
void fsbml_framed_reset(void);

/** Under which frames go. */
#define FSBML_TAG_FRAME ((mca_btl_base_tag_t) (MCA_BTL_TAG_USR + 0x71))

#endif /* MCA_BML_FSBML_FAILOVER_H */
