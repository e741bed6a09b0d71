/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sending: the pseudo BTL, which chooses a rail for each message, charges it, and has the real BTL send.
 *
 * - A group has one pseudo BTL, whatever rails a peer has of it: in 4.1 a receive callback names the real
 *   BTL and not the peer, so what stands for a real BTL must not depend on the peer.
 * - A descriptor is made by the BTL of the chosen rail, works with that BTL only, and is freed by it: from
 *   the pseudo BTL's btl_free (send/btl.c), or after completion where the PML gave up ownership. A pending
 *   one belongs to send/held.c until a rail takes it.
 * - What its BTL refuses is freed by send/refused.c once another rail has a copy of it, and if none takes it
 *   by send/held.c, whose copy is pending; a descriptor that the PML keeps (no BTL ownership) stays the PML's
 *   to free. After ERROR or UNREACH it is not freed: tcp still has it (fsbml_refused_is_whole). With
 * failover, failover/message.c frees.
 * - The rail of a message is chosen by fsbml_choose() below, which asks core/schedule/vft_scheduler.
 * - Completions, messages and errors of real BTLs reach the PML as the pseudo BTL's (send/recv.c).
 * - Put and get have one RDMA entry for a peer, as ob1 looks it up by the BTL of the eager entry. With an
 *   entry for each rail ob1 would choose: static weights for puts, one rail for a whole get. Over tcp a
 *   put is a send with a request for each piece, so there long messages are fragments, unless the
 *   processor feeds no more with others: then a put saves the second copy (send/rdma_setup.c).
 */
#ifndef MCA_BML_FSBML_SEND_H
#define MCA_BML_FSBML_SEND_H

#include <limits.h>

#include "api/fsbml_explain.h"
#include "flow/flow.h"
#include "peers/hooks.h"

/** A descriptor that waits until a path to its peer is proved, or has room. */
typedef struct mca_bml_fsbml_held_t {
    opal_list_item_t super;
    mca_btl_base_descriptor_t *des;
    uint32_t rail;
    mca_btl_base_tag_t tag;
    bool bound; /**< to that rail: it must come behind what that carries */
} mca_bml_fsbml_held_t;
OBJ_CLASS_DECLARATION(mca_bml_fsbml_held_t);

/* send/send.c */
/** Once there are rails: makes the groups' pseudo BTLs of them. */
void fsbml_send_setup(void);
/** After the last message. */
void fsbml_send_teardown(void);

/* send/held.c: pending messages, sent before a path is live, or that no rail takes */
/** Keeps a message until a path is live, and has room; `bound`: that rail, whose traffic it must follow. The
 * descriptor, which `rail` made, goes back to its BTL: it may have few. */
int fsbml_held_add(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_descriptor_t *des, uint32_t rail,
                   mca_btl_base_tag_t tag, bool bound);
/** A descriptor of no BTL, where none has one: it can only be pending. So the PML is not refused: it would
 * send again when something of its own completes, and that may be never, as an immediate send has no
 * completion. Only fragments are, while some are pending whose completion will come. NULL: that, no memory,
 * or not to be had, as its maker means to keep it. */
mca_btl_base_descriptor_t *fsbml_held_make(size_t bytes, uint32_t flags, bool fragment);
/** Frees a descriptor, or one that held_make made. */
int fsbml_held_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des);
/** A copy of an unsent message that another rail can send, NULL if that rail has no descriptor: a descriptor
 * works only with the BTL that made it. */
mca_btl_base_descriptor_t *fsbml_held_copy(const mca_btl_base_descriptor_t *des, mca_bml_fsbml_path_t *to);
/** Gives a descriptor to this rail and no other (as fsbml_send_on, for those off the way of most messages).
 */
int fsbml_held_send_on(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag);
/** Sends pending messages, if a path is live. */
void fsbml_held_release(mca_bml_fsbml_endpoint_t *ep);
/** Completes all of it with an error. */
void fsbml_held_fail(mca_bml_fsbml_endpoint_t *ep);
/** Frees it, at the end. */
void fsbml_held_drop(mca_bml_fsbml_endpoint_t *ep);

/** A descriptor of a path's BTL with a header and bytes, which leave from where they are if they are many.
 * NULL: it has none. */
mca_btl_base_descriptor_t *fsbml_send_make(mca_bml_fsbml_path_t *path, const void *header, size_t n_header,
                                           void *bytes, size_t n_bytes, uint32_t flags);

/* send/recv.c: callbacks from the real BTLs to the PML */
/** Gives the PML a message that came as the bytes of another one, by a BTL. */
void fsbml_recv_deliver(mca_btl_base_module_t *btl, const fsbml_received_t *as, mca_btl_base_tag_t tag,
                        void *bytes, size_t n_bytes);
/** Registers the function that is called when a peer asks for a put, while this process does not put yet. */
void fsbml_recv_wake_by(void (*fn)(mca_bml_fsbml_group_t *group));
int fsbml_recv_register(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data);
/** Has a function asked about a path that has failed after it carried messages: true, they are not lost. */
void fsbml_recv_survive_by(bool (*fn)(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, bool is_fatal));
int fsbml_recv_register_error(mca_btl_base_module_error_cb_fn_t cbfunc);
/** A message that the PML takes for sent will not get there: tells the user and the PML, which ends the job.
 */
void fsbml_lost(const mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl, int status);
/** The same where the user was told in other words; `info` is the PML's last one. */
void fsbml_lost_told(const mca_bml_fsbml_endpoint_t *ep, char *info);
/** What a descriptor's completion must call so that the PML meets the pseudo BTL again. */
mca_btl_base_completion_fn_t fsbml_completion_wrap(mca_btl_base_tag_t tag, mca_btl_base_completion_fn_t fn);

/* send/limits.c: what the pseudo BTL advertises */
/** Makes a group's pseudo BTL of its rails' BTLs, less the functions. */
void fsbml_limits_construct(mca_bml_fsbml_group_t *group);
/** Recomputes what the groups' pseudo BTLs advertise, after the parameters of rails became known. */
void fsbml_limits_apply_quantum(void);

/** While small messages are sent, long ones begin with little, behind which nothing waits for long. */
void fsbml_limits_urgent(bool begins);

/* send/btl.c: the pseudo BTL's functions */
void fsbml_btl_construct(mca_bml_fsbml_group_t *group);
/** Has messages of `from` bytes or more offered to a function before they are sent by a path; SIZE_MAX: none.
 * It returns what btl_send does, and the message is its own then, or FSBML_NOT_CUT. `owner` frees it. */
typedef int (*fsbml_cut_fn_t)(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *owner,
                              mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag);
enum { FSBML_NOT_CUT = INT_MIN };
void fsbml_btl_cut_by(size_t from, fsbml_cut_fn_t fn);
/** Offers a message to that function: what it returns. */
int fsbml_btl_cut(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *owner, mca_btl_base_descriptor_t *des,
                  mca_btl_base_tag_t tag);
/** Has a group's decisions told to the observer from now on. */
void fsbml_btl_observe(mca_bml_fsbml_group_t *group);

/** The rails to choose from. */
static inline uint32_t fsbml_candidates(mca_bml_fsbml_endpoint_t *ep)
{
    uint32_t rails = atomic_load_explicit(&ep->live, memory_order_acquire); /* and so its slot and path */
    if (OPAL_UNLIKELY(0 == rails)) {
        /* Nothing is proved yet. What is sent now is pending, so its rail need only be possible. */
        rails = atomic_load_explicit(&ep->possible, memory_order_acquire);
    }
    return rails;
}

/** The rail for a message to a peer, of at least one. */
static inline uint32_t fsbml_choose(mca_bml_fsbml_endpoint_t *ep, uint64_t now, size_t bytes, uint32_t rails)
{
    const fsbml_far_t *far = atomic_load_explicit(&ep->far, memory_order_acquire);
    if (OPAL_UNLIKELY(NULL != far)) {
        return (uint32_t) fsbml_sched_choose_far(fsbml_rails.sched, now, bytes, rails, far);
    }
    return (uint32_t) fsbml_sched_choose(fsbml_rails.sched, now, bytes, rails);
}

/** The path for a message, of any number of rails, or for a part of one of `whole` bytes; 0: it is no part.
 * Cost of a choice of one is a comparison. */
static inline mca_bml_fsbml_path_t *fsbml_choose_path(mca_bml_fsbml_endpoint_t *ep, uint32_t rails,
                                                      uint64_t now, size_t bytes, size_t whole)
{
    if (0 == (rails & (rails - 1))) {
        if (OPAL_UNLIKELY(0 != atomic_load_explicit(&ep->asleep, memory_order_relaxed))) {
            fsbml_ask_more(ep, rails, bytes);
        }
        /* no rail at all: the message is pending until one comes back, or fails with all others */
        return 0 != rails ? fsbml_path(ep, (uint32_t) __builtin_ctz(rails)) : &ep->path[0];
    }
    if (0 != whole) {
        const fsbml_far_t *far = atomic_load_explicit(&ep->far, memory_order_acquire);
        return fsbml_path(
            ep, (uint32_t) fsbml_sched_choose_part(fsbml_rails.sched, now, bytes, whole, rails, far));
    }
    return fsbml_path(ep, fsbml_choose(ep, now, bytes, rails));
}

/* send/refused.c: what a rail refuses, offered to the others */
/** btl_alloc, btl_prepare_src of the best rail but `tried`, and so on; NULL if none has a descriptor. The
 * convertor is first set to where it was, `packed`. */
mca_btl_base_descriptor_t *fsbml_refused_alloc(mca_bml_fsbml_endpoint_t *ep, uint32_t tried, uint8_t order,
                                               size_t size, uint32_t flags);
mca_btl_base_descriptor_t *fsbml_refused_prepare(mca_bml_fsbml_endpoint_t *ep, uint32_t tried,
                                                 struct opal_convertor_t *convertor, size_t packed,
                                                 uint8_t order, size_t reserve, size_t *size, uint32_t flags);
/** `refused` did not take the descriptor: another rail does, or it is pending. Negative: it is the caller's,
 * as it was, since the PML keeps it or there is no memory. */
int fsbml_refused_send(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *refused,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag);

/* send/rdma.c, send/rdma_setup.c: put and get over all rails */
/** Chooses the group's rails for RDMA and fills in what its pseudo BTL advertises of them. */
void fsbml_rdma_construct(mca_bml_fsbml_group_t *group);
/** Has long messages put where that was kept ready. */
void fsbml_rdma_wake(mca_bml_fsbml_group_t *group);
/** Limits of fragments, once the quantum is known. */
void fsbml_rdma_apply_quantum(mca_bml_fsbml_group_t *group, size_t quantum);
/** True if this process' PML puts and gets over some group's rails. */
bool fsbml_rdma_in_use(void);
/** Gives a peer's RDMA list the one entry for all rails, if the PML may put to this peer and get from it, and
 * is to. The list has room for it. */
void fsbml_rdma_list(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_endpoint_t *ep);
/** Makes the entry for a path alone, also of one that came later. */
void fsbml_rdma_bind(const mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** The pseudo BTL's btl_put and btl_get. */
int fsbml_rdma_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local_address,
                   uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
                   mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                   mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata);
int fsbml_rdma_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local_address,
                   uint64_t remote_address, mca_btl_base_registration_handle_t *local_handle,
                   mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                   mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata);
/** Tries again the operations to a peer that no rail had room for. */
void fsbml_rdma_retry(mca_bml_fsbml_endpoint_t *ep);
/** For failover. `failed` is told that a rail has failed with an operation; true: it is to be done again, by
 * another one. `rails`: those that work. NULL: no more. */
void fsbml_rdma_survive_by(bool (*failed)(mca_bml_fsbml_endpoint_t *ep, uint32_t rail),
                           uint32_t (*rails)(mca_bml_fsbml_endpoint_t *ep));
/** The peer goes: so do they. */
void fsbml_rdma_forget(mca_bml_fsbml_endpoint_t *ep);
void fsbml_rdma_fini(void);

/* send/handles.c: registration handles: memory is registered with every rail, and what the PML sends to the
 * peer holds all of theirs */
static inline bool fsbml_handle_needed(uint32_t rail)
{
    return NULL != fsbml_rails.rail[rail].btl->btl_register_mem;
}

/** Bytes of all of a handle for the peer but for what fsbml_handle_share gives for each rail. */
size_t fsbml_handle_head(void);
/** Bytes that a rail has in it, 0: it registers nothing. */
size_t fsbml_handle_share(uint32_t rail);
/** A rail's handle in this process' own, NULL if there is none. */
mca_btl_base_registration_handle_t *fsbml_handle_local(const mca_btl_base_registration_handle_t *handle,
                                                       uint32_t rail);
/** A rail's handle in what a peer sent, NULL if there is none: whatever the peer sent. */
const void *fsbml_handle_remote(const mca_bml_fsbml_endpoint_t *ep, const void *remote, uint32_t rail);

/** The pseudo BTL's btl_register_mem and btl_deregister_mem. */
mca_btl_base_registration_handle_t *fsbml_handle_register(mca_btl_base_module_t *btl,
                                                          struct mca_btl_base_endpoint_t *endpoint,
                                                          void *base, size_t size, uint32_t flags);
int fsbml_handle_deregister(mca_btl_base_module_t *btl, mca_btl_base_registration_handle_t *handle);

/* send/observe.c: observation of decisions, for reports, traces and tools */
#define FSBML_NO_PEER UINT32_MAX
extern _Atomic(fsbml_observer_t *) fsbml_observer; /**< NULL: decisions are not observed */
/** At set-up, once there are rails: if a report or a trace is wanted. The function has a group's decisions
 * told to the observer from then on. */
void fsbml_observe_start(void (*has_observed)(mca_bml_fsbml_group_t *group));
/** When no message is sent any more. */
void fsbml_observe_stop(void);
/** A tool reads counters that are kept only then; false: there are no rails. */
bool fsbml_observe_begin(void);
/** ... and when messages arrive. */
void fsbml_observe_arrivals(void);
/** Charges a message to a peer's path, observed. */
void fsbml_observe_charge(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now,
                          size_t bytes, uint32_t candidates);
/** Charges a put or get, observed if an observer is on. */
void fsbml_observe_transfer(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now,
                            size_t bytes, uint32_t candidates);
/** The answer to a timed question has come. */
void fsbml_observe_answered(const fsbml_packet_t *packet);
/** What is accounted for the report; NULL: nothing. */
fsbml_account_t *fsbml_observe_account(void);

/* send/observe.c: puts past the pseudo BTL are charged, too */
void fsbml_put_watch(void);
void fsbml_put_unwatch(void);

/* send/onesided.c: one-sided communication by active messages (Open MPI 5.0 and later) */
/** Offers the pseudo BTLs to osc/rdma. */
void fsbml_onesided_init(void);
void fsbml_onesided_fini(void);
/** True if a message of this tag is one of Open MPI's active messages for RDMA. */
bool fsbml_onesided_is_tag(mca_btl_base_tag_t tag);
/** A path by its real BTL's endpoint: the reverse of fsbml_path(). Kept by path_known and path_gone. */
int fsbml_onesided_path_known(const struct mca_btl_base_endpoint_t *real, mca_bml_fsbml_endpoint_t *ep);
void fsbml_onesided_path_gone(const struct mca_btl_base_endpoint_t *real);
mca_bml_fsbml_endpoint_t *fsbml_onesided_endpoint(const struct mca_btl_base_endpoint_t *real);

/** Charges a message. `observed` is a constant wherever this is inlined on the way of a message: a process
 * that is not observed does not ask. */
static inline __attribute__((always_inline)) void fsbml_charge(mca_bml_fsbml_endpoint_t *ep,
                                                               mca_bml_fsbml_path_t *path, uint64_t now,
                                                               size_t bytes, bool observed)
{
    fsbml_flow_sends();
    if (observed) {
        fsbml_observe_charge(ep, path, now, bytes, fsbml_candidates(ep));
    } else {
        fsbml_sched_charge(fsbml_rails.sched, path->rail, now, bytes);
    }
}

/** Tags of ob1's that are urgent if they are small, in headers of ob1's own: a message without a rendezvous,
 * and the answer to one. */
enum { FSBML_TAG_MATCH = MCA_BTL_TAG_PML + 1, FSBML_TAG_ACK = MCA_BTL_TAG_PML + 4 };

static inline void fsbml_note_urgent(mca_btl_base_tag_t tag, size_t bytes, uint64_t now)
{
    if (bytes <= FSBML_FLOW_URGENT && (FSBML_TAG_MATCH == tag || FSBML_TAG_ACK == tag)) {
        fsbml_flow_urgent(now, FSBML_TAG_ACK == tag ? FSBML_FLOW_ANSWER : FSBML_FLOW_SMALL);
    }
}

/** Gives a descriptor to this rail and no other. Negative: refused, and as it was; else the rail has it. */
static inline __attribute__((always_inline)) int fsbml_send_on(mca_bml_fsbml_endpoint_t *ep,
                                                               mca_bml_fsbml_path_t *path,
                                                               mca_btl_base_descriptor_t *des,
                                                               mca_btl_base_tag_t tag, bool observed)
{
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_completion_fn_t fn = des->des_cbfunc;
    size_t bytes = fsbml_des_bytes(des);

    /* From here on the PML's view of the descriptor: its completion may run before btl_send returns, and then
     * the descriptor is gone. */
    fsbml_hooks_unbind(ep, des);
    des->des_cbfunc = fsbml_completion_wrap(tag, fn);
    int rc = real->btl_send(real, path->super.btl_endpoint, des, tag);
    if (OPAL_LIKELY(rc >= 0 || OMPI_ERR_RESOURCE_BUSY == rc)) {
        const uint64_t now = fsbml_now_ns();
        fsbml_note_urgent(tag, bytes, now);
        fsbml_charge(ep, path, now, bytes, observed);
        /* Busy, but taken: where ob1 asks for the status itself, it would send that a second time. */
        return OPAL_LIKELY(rc >= 0) ? rc : OMPI_SUCCESS;
    }
    if (OPAL_UNLIKELY(!fsbml_refused_is_whole(rc))) {
        fsbml_lost(ep, real, rc);
        return OMPI_SUCCESS; /* the caller must not touch it any more */
    }
    des->des_cbfunc = fn;
    return rc;
}

#endif /* MCA_BML_FSBML_SEND_H */
