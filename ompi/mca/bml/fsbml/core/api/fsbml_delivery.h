/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivery: each message to a peer exactly once, also while paths to it die and come back. Part of
 * fsbml_core.h. */
#ifndef FSBML_DELIVERY_H
#define FSBML_DELIVERY_H

#include "api/fsbml_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes to reserve before a message for its frame's header, a multiple of 8. */
#define FSBML_DELIVERY_HEADER 16
/** Most bytes of a control frame. */
#define FSBML_DELIVERY_CONTROL 64
/** A time that never comes. */
#define FSBML_DELIVERY_NEVER UINT64_MAX

/** Bounds and times, the same for all peers. fsbml_delivery_limits() has the defaults. */
typedef struct fsbml_delivery_limits_t {
    uint32_t lead_messages; /**< most beyond the oldest one that is not acknowledged; at most 16384 */
    uint32_t lead_bytes;    /**< likewise */
    uint32_t ack_messages;  /**< after so many messages an acknowledgement is sent at once, */
    uint32_t ack_bytes;     /**< or after so many bytes, */
    uint32_t large_bytes;   /**< or after so long if one was larger than this, */
    uint64_t ack_ns;
    uint64_t ack_idle_ns; /**< or after so long in any case */
    uint64_t suspect_ns;  /**< the least time without progress after which a path may be suspected */
    uint64_t dead_ns;     /**< a suspected path that stays silent for so long is dead */
    uint64_t again_ns;    /**< between two probes of such a path; the unit of holding one down */
    uint64_t hold_max_ns; /**< the longest that a path that flaps is held down */
    uint64_t wait_ns;     /**< how long messages wait when there is no path */
} fsbml_delivery_limits_t;
void fsbml_delivery_limits(fsbml_delivery_limits_t *out) FSBML_NOEXCEPT;

/** What both ends of a connection know of each other before the first frame. */
typedef struct fsbml_delivery_peer_t {
    uint64_t own_life, peer_life; /**< each end's number for its job, process and life of MPI */
    uint16_t own_handle;          /**< what frames to this end carry, so that it knows the peer */
    uint16_t peer_handle;         /**< what frames to the peer carry; see fsbml_delivery_peer_handle() */
    uint32_t paths;               /**< both ends number them alike; at most FSBML_MAX_RAILS */
} fsbml_delivery_peer_t;

/** One peer, both directions. The caller serialises the calls for one peer; the limits stay where they are.
 * NULL with errno set on failure. */
typedef struct fsbml_delivery_t fsbml_delivery_t;
fsbml_delivery_t *fsbml_delivery_create(const fsbml_delivery_limits_t *limits,
                                        const fsbml_delivery_peer_t *peer) FSBML_NOEXCEPT;
/** The peer says what frames to it are to carry: before the first message. */
void fsbml_delivery_peer_handle(fsbml_delivery_t *d, uint16_t handle) FSBML_NOEXCEPT;
/** Afterwards the messages that it had are the caller's. */
void fsbml_delivery_destroy(fsbml_delivery_t *d) FSBML_NOEXCEPT;
/** The handle of the peer that a frame is from, or -EBADMSG: it is no frame of this version. */
int fsbml_delivery_handle_of(const void *frame, size_t bytes) FSBML_NOEXCEPT;

/* ------------------------------------------------------------------------ sending */

/** Paths that take messages now, a bit mask. */
uint32_t fsbml_delivery_paths(const fsbml_delivery_t *d) FSBML_NOEXCEPT;

/** A message's record, in the caller's memory: delivery has it from fsbml_delivery_send() on, until it lets
 * the message go (FSBML_DELIVERY_RELEASE). */
typedef struct fsbml_delivery_message_t {
    struct fsbml_delivery_message_t *next, *before; /**< delivery's own, as all but the next two */
    uint32_t bytes;                                 /**< to be set: without the frame's header */
    uint8_t tag;                                    /**< to be set: the upper layer's */
    uint8_t flags;
    uint16_t number; /**< on its path */
    uint32_t order;  /**< of all messages to the peer */
    uint32_t behind; /**< bytes of all messages before it, modulo 2^32 */
    uint32_t due;    /**< when it is late: ns / 2^16, modulo 2^32 */
} fsbml_delivery_message_t;

/** A message's place on its path, and the header of its frame. */
typedef struct fsbml_delivery_seal_t {
    uint8_t header[FSBML_DELIVERY_HEADER];
    uint8_t bytes; /**< of the header that are used, 8 or 16; the message follows at once */
    uint8_t path;
    uint8_t generation;
    uint16_t number;
} fsbml_delivery_seal_t;

/**
 * Numbers a message for a path and keeps it until it is acknowledged; it should be at the peer `predicted_ns`
 * later. -ENETDOWN: the path takes none now, -EAGAIN: too much is under way, the message must wait until
 * something is acknowledged; -EINVAL.
 */
int fsbml_delivery_send(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns, uint64_t predicted_ns,
                        fsbml_delivery_message_t *m, fsbml_delivery_seal_t *seal) FSBML_NOEXCEPT;
/** The transport refused the frame as a whole. 0: the message is the caller's again; 1: it is to be sent
 * again, and will be offered by fsbml_delivery_waiting(). */
int fsbml_delivery_refused(fsbml_delivery_t *d, uint64_t now_ns,
                           const fsbml_delivery_seal_t *seal) FSBML_NOEXCEPT;

/** The next message that is to be sent again; NULL: there is none. */
fsbml_delivery_message_t *fsbml_delivery_waiting(fsbml_delivery_t *d) FSBML_NOEXCEPT;
/** Numbers that message for a path; errors as of fsbml_delivery_send(), -ENOENT: there is none. */
int fsbml_delivery_resend(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns, uint64_t predicted_ns,
                          fsbml_delivery_seal_t *seal) FSBML_NOEXCEPT;

/* ---------------------------------------------------------------------- receiving */

typedef struct fsbml_delivery_arrival_t {
    uint8_t header; /**< bytes before the message */
    uint8_t tag;
    bool work;     /**< fsbml_delivery_next() or fsbml_delivery_waiting() has something for the peer */
    bool released; /**< fsbml_delivery_next() has messages that are acknowledged: whenever it suits */
} fsbml_delivery_arrival_t;

/** A frame came in by a path. 1: its message is to be delivered; 0: it has none, or was delivered before;
 * -EBADMSG: it is false, and was dropped. */
int fsbml_delivery_arrived(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns, const void *frame,
                           size_t bytes, fsbml_delivery_arrival_t *out) FSBML_NOEXCEPT;

/* -------------------------------------------------------------------------- paths */

/** A path's connection stands: at the start proved by the caller, later a fresh one, which is probed. */
void fsbml_delivery_path_up(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) FSBML_NOEXCEPT;
/** Its connection has failed: an error status, an error callback. */
void fsbml_delivery_path_failed(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) FSBML_NOEXCEPT;
/** A sign that it does not work, such as growing retransmissions: it is suspected if nothing is acknowledged
 * while the peer answers elsewhere. */
void fsbml_delivery_path_doubtful(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) FSBML_NOEXCEPT;
/** It cannot carry anything, as its interface has no carrier: it is suspected at once, if another path takes
 * messages. */
void fsbml_delivery_path_cut(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) FSBML_NOEXCEPT;

/* --------------------------------------------------------------- time and actions */

/** When fsbml_delivery_tick() is to be called. */
uint64_t fsbml_delivery_due(const fsbml_delivery_t *d) FSBML_NOEXCEPT;
/** True: fsbml_delivery_next() or fsbml_delivery_waiting() has something. */
bool fsbml_delivery_tick(fsbml_delivery_t *d, uint64_t now_ns) FSBML_NOEXCEPT;

typedef enum fsbml_delivery_kind_t {
    FSBML_DELIVERY_RELEASE = 1,   /**< `message` is acknowledged, and the caller's again */
    FSBML_DELIVERY_FRAME = 2,     /**< send the control frame by `path` */
    FSBML_DELIVERY_UP = 3,        /**< the path takes messages, again */
    FSBML_DELIVERY_SUSPECTED = 4, /**< the path takes none; the peer is asked by another one what it has */
    FSBML_DELIVERY_RESUMED = 5,   /**< the peer has said it: `count` messages are to be sent again */
    FSBML_DELIVERY_DEAD = 6,      /**< the path stays silent: take the connection down and make a fresh one */
    FSBML_DELIVERY_STRANDED = 7,  /**< there was no path for as long as messages may wait */
} fsbml_delivery_kind_t;

typedef struct fsbml_delivery_action_t {
    fsbml_delivery_kind_t kind;
    uint32_t path;
    uint32_t count;
    fsbml_delivery_message_t *message;
    uint32_t bytes; /**< of the frame */
    uint8_t frame[FSBML_DELIVERY_CONTROL];
} fsbml_delivery_action_t;

/** The next thing to do; false: there is none. */
bool fsbml_delivery_next(fsbml_delivery_t *d, uint64_t now_ns, fsbml_delivery_action_t *out) FSBML_NOEXCEPT;
/** The transport refused the control frame: it is made anew by a later fsbml_delivery_tick(). */
void fsbml_delivery_unsent(fsbml_delivery_t *d, uint64_t now_ns,
                           const fsbml_delivery_action_t *action) FSBML_NOEXCEPT;

/** Asks the peer to acknowledge at once what it has: before the end. */
void fsbml_delivery_flush(fsbml_delivery_t *d) FSBML_NOEXCEPT;
/** True if it has no message. */
bool fsbml_delivery_idle(const fsbml_delivery_t *d) FSBML_NOEXCEPT;

typedef struct fsbml_delivery_counters_t {
    uint64_t sent, delivered;
    uint32_t sent_again;     /**< messages, after a path was closed */
    uint32_t repeated;       /**< messages that came in a second time, and were dropped */
    uint32_t stale;          /**< records of a generation that is closed, or older than what is known */
    uint32_t false_frames;   /**< frames or records that the peer cannot have meant for this connection */
    uint32_t control_frames; /**< made */
    uint32_t closed;         /**< times that a path was suspected, or failed */
    uint32_t revived;        /**< times that one came back */
} fsbml_delivery_counters_t;
void fsbml_delivery_counters(const fsbml_delivery_t *d, fsbml_delivery_counters_t *out) FSBML_NOEXCEPT;
/** Bytes of the peer's state. */
size_t fsbml_delivery_bytes(const fsbml_delivery_t *d) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_DELIVERY_H */
