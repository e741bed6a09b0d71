/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Sending: the pseudo BTL's functions, and what they stand on. For bml_fsbml.h, which has the types. */
#ifndef MCA_BML_FSBML_SEND_H
#define MCA_BML_FSBML_SEND_H

#include "bml_fsbml.h"

/* bml_fsbml_held.c: what is sent before a path is live */
/** Keeps a message until a path is live, and has room; `bound`: that rail, whose traffic it must follow. The
 * descriptor, which `rail` made, goes back to its BTL: it may have few. */
int fsbml_held_add(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_descriptor_t *des, uint32_t rail,
                   mca_btl_base_tag_t tag, bool bound);
/** A descriptor of no BTL, where none has one: it can only be held. So the PML is not refused: it would send
 * again when something of its own completes, and that may be never, as an immediate send has no completion.
 * Only fragments are, while some are held whose completion will come. NULL: that, no memory, or not to be
 * had, as its maker means to keep it. */
mca_btl_base_descriptor_t *fsbml_held_make(size_t bytes, uint32_t flags, bool fragment);
/** Frees a descriptor, or one that held_make made. */
int fsbml_held_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des);
/** A copy of an unsent message that another rail can send, NULL if that rail has no descriptor: a descriptor
 * works only with the BTL that made it. */
mca_btl_base_descriptor_t *fsbml_held_copy(const mca_btl_base_descriptor_t *des, mca_bml_fsbml_path_t *to);
/** Sends what is held, if a path is live. */
void fsbml_held_release(mca_bml_fsbml_endpoint_t *ep);
/** Completes all of it with an error. */
void fsbml_held_fail(mca_bml_fsbml_endpoint_t *ep);
/** Frees it, at the end. */
void fsbml_held_drop(mca_bml_fsbml_endpoint_t *ep);

/* bml_fsbml_recv.c: callbacks from the real BTLs to the PML */
int fsbml_recv_register(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data);
/** For FSBML's own tag: straight to the handler. */
int fsbml_recv_register_raw(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc);
int fsbml_recv_register_error(mca_btl_base_module_error_cb_fn_t cbfunc);
/** A message that the PML takes for sent will not get there: tells the user and the PML, which ends the job.
 */
void fsbml_lost(const mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl, int status);
/** What a descriptor's completion must call so that the PML meets the pseudo BTL again. */
mca_btl_base_completion_fn_t fsbml_completion_wrap(mca_btl_base_tag_t tag, mca_btl_base_completion_fn_t fn);
/** The reverse, for a descriptor that was not sent after all. */
mca_btl_base_completion_fn_t fsbml_completion_unwrap(mca_btl_base_completion_fn_t fn);

/* bml_fsbml_limits.c: what the pseudo BTL advertises */
/** Makes a group's pseudo BTL of its rails' BTLs, less the functions. */
void fsbml_limits_construct(mca_bml_fsbml_group_t *group);
/** Recomputes what the groups' pseudo BTLs advertise, after the parameters of rails became known. */
void fsbml_limits_apply_quantum(void);

/* bml_fsbml_btl.c: the pseudo BTL's functions */
void fsbml_btl_construct(mca_bml_fsbml_group_t *group);
/** Gives a descriptor to this rail and no other. Negative: refused, and as it was; else the rail has it. */
int fsbml_btl_send_on(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                      mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag);

/** Has a group's decisions told to the observer from now on. */
void fsbml_btl_observe(mca_bml_fsbml_group_t *group);

/** The rails to choose from. */
static inline uint32_t fsbml_candidates(mca_bml_fsbml_endpoint_t *ep)
{
    uint32_t rails = atomic_load_explicit(&ep->live, memory_order_acquire); /* and so its slot and path */
    if (OPAL_UNLIKELY(0 == rails)) {
        /* Nothing is proved yet. What is sent now is held, so its rail need only be possible. */
        rails = atomic_load_explicit(&ep->possible, memory_order_acquire);
    }
    return rails;
}

/* bml_fsbml_far.c: peers that are farther than those that were measured */
/** What an endpoint has until the first message to its peer. */
extern const fsbml_far_t fsbml_far_unknown;
void fsbml_far_init(mca_bml_fsbml_endpoint_t *ep);
/** This peer need not be asked, as its rails were measured. False: that was known, or is being found out. */
bool fsbml_far_known(mca_bml_fsbml_endpoint_t *ep);
/** The choice where ep->far is not NULL. */
uint32_t fsbml_far_choose(mca_bml_fsbml_endpoint_t *ep, const fsbml_far_t *far, uint64_t now, size_t bytes,
                          uint32_t rails);
/** Asks what is to be asked now (called by the progress function of bml_fsbml_proof.c). */
void fsbml_far_look(mca_bml_fsbml_endpoint_t *ep);
bool fsbml_far_asks(mca_bml_fsbml_endpoint_t *ep);
/** The answer to a timed question has come. */
void fsbml_far_answered(const fsbml_packet_t *packet);
/** What the answer to a timed question on this BTL has to wait, or the question had to, in ns; 0: no more
 * than the question tolerates. ep may be NULL. */
uint32_t fsbml_far_late_ns(mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl,
                           const fsbml_packet_t *question);
/** After the last message. */
void fsbml_far_forget(mca_bml_fsbml_endpoint_t *ep);

/** The rail for a message to a peer, of at least one. */
static inline uint32_t fsbml_choose(mca_bml_fsbml_endpoint_t *ep, uint64_t now, size_t bytes, uint32_t rails)
{
    const fsbml_far_t *far = atomic_load_explicit(&ep->far, memory_order_acquire);
    if (OPAL_UNLIKELY(NULL != far)) {
        return fsbml_far_choose(ep, far, now, bytes, rails);
    }
    return (uint32_t) fsbml_sched_choose(mca_bml_fsbml.sched, now, bytes, rails);
}

/* bml_fsbml_refused.c: what a rail refuses, offered to the others */
/** btl_alloc, btl_prepare_src of the best rail but `tried`, and so on; NULL if none has a descriptor. The
 * convertor is first set to where it was, `packed`. */
mca_btl_base_descriptor_t *fsbml_refused_alloc(mca_bml_fsbml_endpoint_t *ep, uint32_t tried, uint8_t order,
                                               size_t size, uint32_t flags);
mca_btl_base_descriptor_t *fsbml_refused_prepare(mca_bml_fsbml_endpoint_t *ep, uint32_t tried,
                                                 struct opal_convertor_t *convertor, size_t packed,
                                                 uint8_t order, size_t reserve, size_t *size, uint32_t flags);
/** Whether a descriptor that a BTL refused with this error is the caller's as before. Not so where a
 * connection fails: tcp reports that for one that it keeps in its queue, or has completed; to free it would
 * free it twice, to send it elsewhere could deliver it twice. */
bool fsbml_refused_is_whole(int rc);
/** `refused` did not take the descriptor. Negative: no rail did, and it is as it was. */
int fsbml_refused_send(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *refused,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag);

/* bml_fsbml_rdma.c: put and get over all rails */
/** Chooses the group's rails for RDMA and fills in what its pseudo BTL advertises of them. */
void fsbml_rdma_construct(mca_bml_fsbml_group_t *group);
/** Limits of fragments, once the quantum is known. */
void fsbml_rdma_apply_quantum(mca_bml_fsbml_group_t *group, size_t quantum);
/** True if this process' PML puts and gets over some group's rails. */
bool fsbml_rdma_in_use(void);
/** Tries again the operations to a peer that no rail had room for. */
void fsbml_rdma_retry(mca_bml_fsbml_endpoint_t *ep);
/** The peer goes: so do they. */
void fsbml_rdma_forget(mca_bml_fsbml_endpoint_t *ep);
void fsbml_rdma_fini(void);

/* bml_fsbml_rdma_entry.c: the entries for put and get in the PML's lists */
/** Gives a peer's RDMA list the one entry for all rails, if the PML may put to this peer and get from it. */
void fsbml_rdma_list(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_endpoint_t *ep);
/** Makes the entry for a path alone, also of one that came later. */
void fsbml_rdma_bind(const mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Offers the entry in the RDMA list to the PML, or does not yet. */
void fsbml_rdma_offer(mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_endpoint_t *ep);
/** Has long messages put where that was kept ready. */
void fsbml_rdma_wake(mca_bml_fsbml_group_t *group);

/* bml_fsbml_bound.c: one rail of the pseudo BTL */
void fsbml_bound_construct(mca_bml_fsbml_rail_t *rail);

/* bml_fsbml_record.c: a record of what is sent, for bml_fsbml_record; without that, nothing */
/** Puts itself between the rails' BTLs and all code that sends by them. */
void fsbml_record_start(void);
/** Takes itself out again, and ends the file. */
void fsbml_record_stop(void);
/** Whose a real BTL's endpoint is. */
void fsbml_record_path_known(const struct mca_btl_base_endpoint_t *real_endpoint, const ompi_proc_t *proc);
void fsbml_record_path_gone(const struct mca_btl_base_endpoint_t *real_endpoint);

/* bml_fsbml_observe.c: looking at decisions, for reports, traces and tools */
#define FSBML_NO_PEER UINT32_MAX
/** At set-up, once there are rails: if a report or a trace is wanted. */
void fsbml_observe_start(void);
/** When no message is sent any more. */
void fsbml_observe_stop(void);
/** A tool wants to see what is counted only then; false: there is nothing to look at. */
bool fsbml_observe_begin(void);
/** ... and when messages arrive. */
void fsbml_observe_arrivals(void);
/** Charges a message to a peer's path, observed. */
void fsbml_observe_charge(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now,
                          size_t bytes, uint32_t candidates);
/** Charges a put or get, observed if an observer is on; of the second, past the pseudo BTL, the peer may not
 * be known. */
void fsbml_observe_transfer(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, uint64_t now,
                            size_t bytes, uint32_t candidates);
void fsbml_observe_put(uint32_t rail, uint64_t now, size_t bytes, uint32_t peer);
/** The answer to a timed question has come. False: the question was another's. */
bool fsbml_observe_answered(const fsbml_packet_t *packet);
/** What is accounted for the report; NULL: nothing. */
fsbml_account_t *fsbml_observe_account(void);

/* bml_fsbml_away.c: how long this process had not looked at its networks */
/** From now on it is known; until the other one. */
void fsbml_away_watch(void);
void fsbml_away_stop(void);
/** Called with each look. */
int fsbml_away_looked(void);
/** In ns at `now`, when something has just come in; 0: it was no longer than tolerated (0.1 ms always is), or
 * is not known. */
uint64_t fsbml_away_ns(uint64_t now, uint64_t tolerated);

/* bml_fsbml_onesided.c: one-sided communication by active messages (Open MPI 5.0) */
/** Offers the pseudo BTLs to osc/rdma. */
void fsbml_onesided_init(void);
void fsbml_onesided_fini(void);
/** True if a message of this tag is one of Open MPI's active messages for RDMA. */
bool fsbml_onesided_is_tag(mca_btl_base_tag_t tag);
/** A path by its real BTL's endpoint: the reverse of fsbml_path(). Kept by path_known and path_gone. */
int fsbml_onesided_path_known(const struct mca_btl_base_endpoint_t *real, mca_bml_fsbml_endpoint_t *ep);
void fsbml_onesided_path_gone(const struct mca_btl_base_endpoint_t *real);
mca_bml_fsbml_endpoint_t *fsbml_onesided_endpoint(const struct mca_btl_base_endpoint_t *real);

#endif /* MCA_BML_FSBML_SEND_H */
