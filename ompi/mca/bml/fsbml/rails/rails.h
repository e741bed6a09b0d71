/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rails: which BTL modules a scheduler can choose from, what they are called, and what the system knows of
 * them. A rail has a name on its node ("eth1") and a key on all nodes ("tcp:10.71.1.0/24").
 *
 * rail      one real BTL module that shares its exclusivity with another; shared memory only if asked for
 * group     the rails of equal exclusivity; has the one pseudo BTL that the PML knows for all of their peers
 */
#ifndef MCA_BML_FSBML_RAILS_H
#define MCA_BML_FSBML_RAILS_H

#include "params/params.h"

typedef struct mca_bml_fsbml_group_t mca_bml_fsbml_group_t;

/** Room for the PML's header beside a payload: limits are meant for what the user sends. ob1 subtracts its
 * largest, which has 56 bytes in 4.1 and 80 in 5.0. */
enum { FSBML_PML_HEADER = 128 };

/** Room for what rails/names.c says of a rail. */
enum { FSBML_NAME_FULL = FSBML_NAME_MAX + 64, FSBML_NAME_DETAIL = 256 };

typedef struct mca_bml_fsbml_rail_t {
    mca_btl_base_module_t *btl; /**< the real BTL */
    mca_bml_fsbml_group_t *group;
    char name[FSBML_NAME_MAX]; /**< what a user calls it: "eth1" */
    char key[FSBML_NAME_MAX];  /**< what names it on every node: "tcp:10.71.1.0/24" */
    fsbml_rail_about_t about;  /**< what else a user may know it by */
    _Atomic bool measured;
    _Atomic bool reversed;          /**< measured the other way round than this process sends */
    fsbml_loggp_t model;            /**< what the scheduler has then */
    bool in_table;                  /**< the table has parameters of it */
    bool in_turn;                   /**< the table says that a process uses one of these (measure/table.c) */
    fsbml_loggp_t params;           /**< those in the table, in the direction in which this process sends */
    _Atomic uint64_t way_ns;        /**< of FSBML's smallest packet, by the model; 0: there is none */
    _Atomic uint64_t L_ns;          /**< of the model */
    _Atomic uint64_t round_trip_ns; /**< the kernel's, of the pair that measured it; 0: not known */
    _Atomic uint64_t ask_ns;        /**< how long that packet keeps the rail, by the model */
    uint32_t key_digest;            /**< of the key: names the rail in a registration handle */
    mca_btl_base_module_t
        bound; /**< the pseudo BTL's functions on this rail alone: for what must follow a put */
} mca_bml_fsbml_rail_t;

struct mca_bml_fsbml_group_t {
    mca_btl_base_module_t pseudo; /**< the BTL that the PML sees; first, so that the two pointers are one */
    uint32_t rails;               /**< bit mask */
    _Atomic uint32_t gone;        /**< those of them that del_btl took out of use */
    size_t max_send_size;         /**< of the rails, before the quantum */
    size_t eager_limit;           /**< theirs */
    size_t rndv_eager_limit;      /**< likewise */
    size_t quantum;               /**< largest fragment */
    size_t ahead;                 /**< goes ahead of the answer to a long message */
    uint32_t rdma_rails;          /**< those over which the PML puts and gets; 0: it does neither */
    size_t rdma_frag_size;        /**< of those, before the quantum */
    size_t get_limit;
    bool rdma_rests; /**< the PML sends fragments over them all the same: none registers memory */
};

/** One central table of rails for the process, from bml_init to bml_finalize (thesis 5.6.1). */
typedef struct fsbml_rails_t {
    mca_btl_base_module_t **btls; /**< in use, by falling exclusivity; those that are no rails first */
    size_t n_btls;
    char (*btl_key)[FSBML_NAME_MAX]; /**< names of the BTLs on every node; those that the user left out follow
                                        at the end */
    size_t n_keys;
    mca_bml_fsbml_rail_t rail[FSBML_MAX_RAILS];
    uint32_t n_rails;
    mca_bml_fsbml_group_t *group[FSBML_MAX_RAILS];
    uint32_t n_groups;
    fsbml_sched_t *sched;
    mca_btl_base_component_progress_fn_t *progress; /**< functions that are registered */
    size_t n_progress;
    mca_btl_base_module_error_cb_fn_t error_cb; /**< the PML's; NULL: not known yet */
} fsbml_rails_t;
extern fsbml_rails_t fsbml_rails;

/* rails/rails.c: from BTL modules to rails and groups */
int fsbml_rails_setup(void);
void fsbml_rails_teardown(void);
/** A BTL that could be a rail and is none. */
typedef struct fsbml_left_out_t {
    char name[FSBML_NAME_FULL]; /**< as fsbml_name_full has it */
    char interface[sizeof(((fsbml_rail_about_t *) NULL)->interface)];
    const char *why;
} fsbml_left_out_t;
/** Returns how many *first has. */
size_t fsbml_rails_left_out(const fsbml_left_out_t **first);
/** Whether it reaches processes of this node only, through memory; the same of a rail's or BTL's key. */
bool fsbml_rails_is_shared_memory(const mca_btl_base_module_t *btl);
bool fsbml_rails_means_shared_memory(const char *key);
/** A BTL's flags, less those for which it lacks a function. */
uint32_t fsbml_btl_flags(const mca_btl_base_module_t *btl);
/** Registers a BTL's progress function; at low priority while no peer uses the BTL. */
void fsbml_progress_start(mca_btl_base_module_t *btl, bool in_use);
void fsbml_progress_stop(void);
/** Has all BTLs in use call a function for messages of a tag. */
int fsbml_rails_receive(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data);
/** The pseudo BTL that stands for a real one, or the BTL itself. */
mca_btl_base_module_t *fsbml_visible_btl(mca_btl_base_module_t *btl);
/** Rail of a BTL, or -1. */
int fsbml_rail_of(const mca_btl_base_module_t *btl);
/** Comma-separated names of the rails in a mask, for messages. */
void fsbml_rails_names(uint32_t rails, char *buf, size_t len);

/* rails/names.c: names, addresses, links */
/** Names a BTL module, the ordinal-th of its component: name for users on this node, key for all nodes, and
 * what the kernel tells of its interface. */
void fsbml_name_btl(const mca_btl_base_module_t *btl, unsigned ordinal, char name[FSBML_NAME_MAX],
                    char key[FSBML_NAME_MAX], fsbml_rail_about_t *about);
/** Fills in all that an interface's name leads to, but for where its device is. "" everywhere if there is no
 * such interface. */
void fsbml_about_interface(const char *interface, fsbml_rail_about_t *about);
/** What an interface's driver says, in Mbit/s; 0: nothing. */
uint32_t fsbml_interface_speed(const char *interface);
/** The drivers of links without a device (veth, tap) say 10 or 10,000 Mbit/s, whatever there is behind
 * them. */
bool fsbml_speed_is_made_up(const char *interface, uint32_t mbps);
/** Whether a user's word means this rail: name, key, interface, address, network, device, PCI address, or BTL
 * component. */
bool fsbml_name_means(const char *word, const char *name, const char *key, const char *component,
                      const fsbml_rail_about_t *about);
/** Whether a word is an address in this rail's network. */
bool fsbml_name_is_near(const char *word, const fsbml_rail_about_t *about);
/** "eth1 (10.71.1.2)", or the name alone; returns buf. */
const char *fsbml_name_full(const char *name, const fsbml_rail_about_t *about, char buf[FSBML_NAME_FULL]);
/** What stands in brackets behind a rail's name, "10.71.1.2, tcp:10.71.1.0/24"; returns buf. */
const char *fsbml_name_detail(const mca_bml_fsbml_rail_t *rail, char buf[FSBML_NAME_DETAIL]);
/** What is known of its link and device, ", 10000 Mbit/s, MTU 1500, device mlx5_0, PCI 0000:3b:00.0, NUMA
 * node 1"; returns buf. */
const char *fsbml_name_facts(const fsbml_rail_about_t *about, char buf[FSBML_NAME_DETAIL]);

/* rails/place.c: device, PCI address and NUMA node */
/** The machine, as hwloc knows it. */
typedef struct fsbml_machine_t {
    void *topology; /**< hwloc_topology_t; NULL: there is none */
    bool own;       /**< loaded here */
    uint64_t nodes; /**< NUMA nodes (bit = number, the first 64) that this process is bound to, 0: unknown */
} fsbml_machine_t;
/** Takes the topology that Open MPI has. `load`: if that has no devices, or there is none, loads one, which
 * takes time. */
void fsbml_machine_look(fsbml_machine_t *machine, bool load);
void fsbml_machine_done(fsbml_machine_t *machine);
/** NUMA nodes of a set of processors (hwloc_const_cpuset_t); 0: all of them, or unknown. */
uint64_t fsbml_machine_nodes(void *topology, const void *cpuset);
/** Fills in device, PCI address, NUMA node, and whether that is far, by the interface in *about or else the
 * device's name. */
void fsbml_machine_place(const fsbml_machine_t *machine, const char *name, fsbml_rail_about_t *about);
/** Says so if a rail is far. */
void fsbml_machine_tell(const fsbml_machine_t *machine, const char *name, const fsbml_rail_about_t *about);
/** The same for all rails with a full topology, which starting processes do without: for code that is about
 * to show them. */
void fsbml_rails_place(void);

/* rails/kernel.c: what the kernel knows of a rail that is a network interface */
/** Its interface: with btl_tcp_links > 1 there are several rails on one, "eth1:2". */
void fsbml_kernel_interface(uint32_t rail, char name[FSBML_NAME_MAX]);
/** Since an interface is there, by all programs: frames, and bytes. */
typedef struct fsbml_kernel_counters_t {
    uint64_t in, out, bytes_out;
} fsbml_kernel_counters_t;
/** Of this process' network namespace, unlike what /sys may show. False: there is no such interface. */
bool fsbml_kernel_counters(const char *interface, fsbml_kernel_counters_t *counters);
/** A TCP connection of any process in this network namespace, by IPv4; addresses as in a struct in_addr. */
typedef struct fsbml_kernel_connection_t {
    uint32_t local, remote;
    unsigned state;  /**< FSBML_KERNEL_ESTABLISHED, or else */
    unsigned unsent; /**< bytes that are sent or to be sent, and not acknowledged */
    unsigned again;  /**< how often the oldest of them was sent again */
} fsbml_kernel_connection_t;
enum { FSBML_KERNEL_ESTABLISHED = 1 };
/** Calls a function for each, until it returns true. */
void fsbml_kernel_connections(bool (*fn)(const fsbml_kernel_connection_t *c, void *what), void *what);
/** Bytes that these rails' interfaces have sent since they are there, by all programs; those of which it is
 * known. */
uint32_t fsbml_kernel_sent(uint32_t rails, uint64_t bytes[FSBML_MAX_RAILS]);
/** Closes what that keeps open. */
void fsbml_kernel_forget(void);
/** Ranks of this node that share a processor, at least this one. */
uint32_t fsbml_kernel_sharers(void);
typedef struct fsbml_kernel_link_t {
    bool carrier;      /**< false only of an interface that is up and has none */
    uint8_t device[6]; /**< its address, zeros: it has none */
    uint32_t mtu;
    uint64_t received; /**< frames since it is there, UINT64_MAX: not known */
} fsbml_kernel_link_t;
/** State of an interface of this process' network namespace, which /sys need not show. False: there is none.
 */
bool fsbml_kernel_link(const char *interface, fsbml_kernel_link_t *link);
/** Whether an interface can carry anything: it is up, and has a carrier; true also if there is none of that
 * name. `fd`: any socket. */
bool fsbml_kernel_is_running(int fd, const char *interface);

/* rails/connection.c: what the kernel knows of a TCP connection of this process */
/** Whether its own address is one of a rail's interface. */
bool fsbml_kernel_is_on(int fd, uint32_t rail);
/** The kernel's number of a socket, another one if the descriptor is used again; 0: it is no socket. */
uint64_t fsbml_kernel_socket(int fd);
/** Bytes that it has not acknowledged; -1: it is closed. */
int64_t fsbml_kernel_queued(int fd);
/** All but the first two, the round trips and the last are sums since it is there. What the kernel is too old
 * to know is 0. */
typedef struct fsbml_kernel_flow_t {
    uint64_t queued;    /**< bytes that are not acknowledged: on their way, or still here */
    uint64_t in_flight; /**< of them, those that have been sent */
    uint64_t acknowledged, busy_ns, limited_ns; /**< busy: with such; limited: the receiver has no room */
    uint64_t received;
    uint64_t round_trip_ns; /**< the shortest of the last minutes, 0: not known */
    uint64_t usual_ns;      /**< of late, smoothed */
    uint64_t segments;      /**< with data, each a sample of the round trip */
    uint64_t retransmitted; /**< segments */
    bool is_silent;         /**< nothing has been acknowledged since a retransmission timed out */
    double payload;         /**< share of it in what an interface counts */
} fsbml_kernel_flow_t;
/** False: it is closed. */
bool fsbml_kernel_flow(int fd, fsbml_kernel_flow_t *flow);

/* rails/files.c: too few file descriptors for all connections */
/** At the end of MPI_Init, with so many connections: says so, and from then on ends the job once peers wait
 * for a connection in vain. */
void fsbml_files_check(uint64_t made);
void fsbml_files_forget(void);

/* rails/end.c: this end's view of a path */
/** The rails are known: from now on it counts whether anything comes in on them. */
void fsbml_end_begin(void);
/** Bytes of a message that fills a frame of a rail's interface, 0: unknown. */
size_t fsbml_end_frame(uint32_t rail);
/** `other` is the address of the peer's end, NULL or "" if it is not known. */
void fsbml_end_look(uint32_t rail, const char *other, fsbml_end_t *end);

/* rails/echo.c: a rail that leads back to this node */
/** The rails are known: what is counted on a rail's interface from now on matters, and what was found before
 * does not. */
void fsbml_echo_begin(uint32_t rail, const char *interface);
/** Whether what this node sends on it comes in again. Only for a rail that does not work: it may send some
 * frames to find out, and takes 5 ms then, 60 at most if frames come in. Any thread. */
bool fsbml_echo(uint32_t rail, const char *interface);

/* rails/ledger.c: the VFTs that the ranks of a node share */
/** Moves the scheduler's state into the node's ledger, if it is wanted and can be had. */
void fsbml_ledger_join(void);
/** After the scheduler's end. */
void fsbml_ledger_leave(void);

#endif /* MCA_BML_FSBML_RAILS_H */
