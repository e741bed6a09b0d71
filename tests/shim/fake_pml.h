/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What is around the shim in its tests: a PML that sends, and the few parts of Open MPI that need a running
 * job (the key-value store, the process table, the progress engine, time).
 */
#ifndef FSBML_TESTS_FAKE_PML_H
#define FSBML_TESTS_FAKE_PML_H

#include <sys/syscall.h>
#include <unistd.h>

#include "fake_progress.h"
#include "ompi/mca/hook/base/base.h"
#include "ompi/runtime/mpiruntime.h"
#ifndef FSBML_OMPI_4
#    include "opal/mca/accelerator/accelerator.h"
#endif
#include "opal/runtime/opal.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

/* ------------------------------------------- Open MPI without a running job */

static ompi_proc_t *peers[N_PEERS];
#define peer peers[0] /* the one that most tests have */
static bool peer_has_fsbml = true;
static uint32_t first_with_fsbml; /* ranks below have no hello */
static uint32_t peer_flags;       /* of its hello */
static fsbml_hello_t peer_hello;

opal_proc_t *ompi_proc_for_name(const opal_process_name_t name)
{
    return (1 == name.jobid && 1 <= name.vpid && name.vpid <= N_PEERS && NULL != peers[name.vpid - 1])
               ? &peers[name.vpid - 1]->super
               : NULL;
}

/* This process' number among those of its node, and how many others these are. */
static inline void set_local(uint32_t rank, uint32_t others)
{
#ifdef FSBML_OMPI_4
    ompi_process_info.my_local_rank = rank;
    ompi_process_info.num_local_peers = others;
#else
    opal_process_info.my_local_rank = (uint16_t) rank;
    opal_process_info.num_local_peers = others;
#endif
}

/* The processes that Open MPI knows: the peers, if a test says so. */
static size_t known_procs;

ompi_proc_t **ompi_proc_all(size_t *n)
{
    ompi_proc_t **all = calloc(N_PEERS, sizeof(*all));
    *n = known_procs;
    for (size_t i = 0; i < known_procs; ++i) {
        all[i] = peers[i];
        OBJ_RETAIN(peers[i]);
    }
    return all;
}

static ompi_hook_base_component_t *hooked; /* is told when MPI_Finalize begins */

int ompi_hook_base_register_callbacks(ompi_hook_base_component_t *component)
{
    CHECK(NULL == hooked);
    hooked = component;
    return OMPI_SUCCESS;
}

int ompi_hook_base_deregister_callbacks(ompi_hook_base_component_t *component)
{
    CHECK(component == hooked);
    hooked = NULL;
    return OMPI_SUCCESS;
}

int fsbml_kvs_put(const char *key, const void *data, size_t len)
{
    (void) key;
    (void) data;
    (void) len;
    return OMPI_SUCCESS;
}

int fsbml_kvs_commit(void)
{
    return OMPI_SUCCESS;
}

char *fsbml_kvs_local_ranks(void)
{
    return NULL;
}

/* What else there is for a test; returns the bytes, 0: not that. */
static size_t (*other_value)(const ompi_process_name_t *from, const char *key, void **data);

static int n_vain;   /* waits for something that never comes */
static int n_hellos; /* fetched */
static bool peers_share_node;

/* The peer's hello; no table. */
int fsbml_kvs_get(const ompi_process_name_t *from, const char *key, fsbml_kvs_mode_t mode, void **data,
                  size_t *len)
{
    if (NULL != other_value && 0 != (*len = other_value(from, key, data))) {
        return OMPI_SUCCESS;
    }
    if (NULL == strstr(key, "hello") || !peer_has_fsbml || from->vpid < first_with_fsbml) {
        n_vain += FSBML_KVS_HERE != mode;
        return OMPI_ERR_NOT_FOUND;
    }
    ++n_hellos;
    *data = malloc(fsbml_hello_packed_max());
    peer_hello.flags = peer_flags;
    snprintf(peer_hello.node, sizeof(peer_hello.node), "peer%u", peers_share_node ? 1 : from->vpid);
    long n = fsbml_hello_pack(&peer_hello, *data, fsbml_hello_packed_max());
    *len = n > 0 ? (size_t) n : 0;
    return n > 0 ? OMPI_SUCCESS : OMPI_ERROR;
}

static mca_btl_base_selected_module_t *selected[N_FAKES];

static uint32_t n_peers, my_job = 1; /* the peers' job as well */

/* Not constructed: that would enter it into the table of a running job. Only its reference count is used. */
static void world_add_peer(void)
{
    ompi_proc_t *p = peers[n_peers++] = calloc(1, sizeof(*p));
    ((opal_object_t *) p)->obj_class = OBJ_CLASS(opal_object_t);
    ((opal_object_t *) p)->obj_reference_count = 1;
    p->super.proc_name.jobid = 1;
    p->super.proc_name.vpid = n_peers;
}

/* A model with the same o on both sides, a gap of one piece, and no more. */
#define LOGGP(L, o, g, G)                                                            \
    {                                                                                \
        .L_ns = (L), .o_s_ns = (o), .o_r_ns = (o), .g_ns = (g), .G_ns_per_byte = (G) \
    }

/* Fresh rails from the first n fakes (constructed by the caller), and the module behind them. */
static inline void world_up(int n)
{
    static const fsbml_loggp_t fast = LOGGP(10e3, 2e3, 3e3, 40), slow = LOGGP(10e3, 2e3, 3e3, 400);
    for (int i = 0; i < n; ++i) {
        selected[i] = OBJ_NEW(mca_btl_base_selected_module_t);
        selected[i]->btl_module = &fake[i].super;
        opal_list_append(&mca_btl_base_modules_initialized, &selected[i]->super);
    }
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
    ompi_process_info.my_name.jobid = my_job;
    fsbml_module_construct();
    CHECK(OMPI_SUCCESS == fsbml_set_up());
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        CHECK(0 == fsbml_sched_set_model(fsbml_rails.sched, i, 0 == i ? &fast : &slow));
    }
    mca_bml = mca_bml_fsbml;
    peer_has_fsbml = true;
    n_peers = 0;
    world_add_peer();
    ompi_proc_local_proc = peer;
}

/* The same with n fakes as most tests have them. */
static inline void fakes_up(int n)
{
    fakes_construct(n);
    world_up(n);
}

static inline void world_down(int n)
{
    CHECK(OMPI_SUCCESS == mca_bml.bml_del_procs(n_peers, peers));
    for (int i = 0; i < n; ++i) {
        (void) fake_answer(&fake[i], false);
        CHECK(0 == fake[i].n_queue);
        CHECK(fake[i].n_alloc == fake[i].n_free);
        CHECK(0 == fake[i].n_wrong_owner);
        opal_list_remove_item(&mca_btl_base_modules_initialized, &selected[i]->super);
        OBJ_RELEASE(selected[i]);
    }
    for (uint32_t p = 0; p < n_peers; ++p) {
        CHECK(1 == ((opal_object_t *) peers[p])->obj_reference_count);
        free(peers[p]);
        peers[p] = NULL;
    }
    fsbml_proof_fini();
    fsbml_tear_down();
}

/* The shim sends all of its packets; each is answered. */
static inline void all_answer(int n)
{
    for (int i = 0; i < n; ++i) {
        CHECK((int) n_peers == fake_answer(&fake[i], true));
    }
}

static inline mca_bml_base_endpoint_t *peer_up(void)
{
    CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peer));
    return (mca_bml_base_endpoint_t *) peer->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
}

/* What the PML's completion function was told last. */
static struct {
    int n, status;
    const mca_btl_base_module_t *btl;
    const void *endpoint, *context, *data;
    size_t bytes;
    unsigned char first, last;
} done;

static void pml_completion(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                           mca_btl_base_descriptor_t *des, int status)
{
    const mca_btl_base_segment_t *end = &des->des_segments[des->des_segment_count - 1];
    done.n++;
    done.status = status;
    done.btl = btl;
    done.endpoint = endpoint;
    done.context = des->des_context;
    done.data = des->des_cbdata;
    done.bytes = fsbml_des_bytes(des);
    done.first = *(unsigned char *) des->des_segments[0].seg_addr.pval;
    done.last = ((unsigned char *) end->seg_addr.pval)[end->seg_len - 1];
}

/* What its error function was told of the peer, last. */
static struct {
    int n;
    int32_t flags;
    bool has_reason;
} error;

static inline void pml_error(mca_btl_base_module_t *btl, int32_t flags, opal_proc_t *proc, char *reason)
{
    CHECK(&fsbml_rails.group[0]->pseudo == btl && &peer->super == proc);
    error.n++;
    error.flags = flags;
    error.has_reason = NULL != reason;
}

/* Sends as the PML does: alloc, header, send; returns what btl_send said. */
static inline int pml_send(mca_bml_base_btl_t *bml_btl, size_t bytes, mca_btl_base_tag_t tag)
{
    mca_btl_base_descriptor_t *des = NULL;
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, bytes,
                       MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
    CHECK(NULL != des);
    memset(des->des_segments[0].seg_addr.pval, 0x5a, bytes);
    des->des_cbfunc = pml_completion;
    des->des_cbdata = &done;
    int rc = mca_bml_base_send(bml_btl, des, tag);
    if (rc < 0) { /* refused, as it was: freed and made anew for another try, as ob1 does */
        CHECK(pml_completion == des->des_cbfunc);
        mca_bml_base_free(bml_btl, des);
    }
    return rc;
}

#ifndef FSBML_OMPI_4
/* No memory is that of a GPU. */
static inline int fake_check_addr(const void *address, int *device, uint64_t *flags)
{
    (void) address;
    (void) device;
    (void) flags;
    return 0;
}
#endif

/* Defines a test, which main() runs; in the order of the file. */
#define FAKE_TEST(name)                                       \
    static void name(void);                                   \
    static __attribute__((constructor)) void add_##name(void) \
    {                                                         \
        fake_test[n_fake_tests++] = name;                     \
    }                                                         \
    static void name(void)

static void (*fake_test[64])(void);
static size_t n_fake_tests;

/* The folder tests/, as make says it (by hand: srcdir=.../tests shim/X_test): the compiler may have been
 * given another one's, and its work kept. */
#define FAKE_FOLDER (NULL != getenv("srcdir") ? getenv("srcdir") : ".")

static inline int fake_main(void)
{
    int argc = 0;
    char **argv = NULL;
    char help[PATH_MAX], from_root[PATH_MAX];
    time_is_virtual = true;
    opal_init_util(&argc, &argv);
#ifndef FSBML_OMPI_4
    opal_accelerator.check_addr = fake_check_addr;
#endif
    if (NULL == ompi_mpi_local_convertor) {
        ompi_mpi_local_convertor = opal_convertor_create(opal_local_arch, 0);
    }
    snprintf(help, sizeof(help), "%s/../ompi/mca/bml/fsbml", FAKE_FOLDER);
    opal_show_help_add_dir(NULL != realpath(help, from_root) ? from_root : help);
    OBJ_CONSTRUCT(&mca_btl_base_modules_initialized, opal_list_t);
    for (size_t i = 0; i < n_fake_tests; ++i) {
        memset(&done, 0, sizeof(done));
        memset(&error, 0, sizeof(error));
        mca_bml_fsbml_params.policy = FSBML_POLICY_ARRIVAL;
        mca_bml_fsbml_params.probe_timeout_ns = 20000000;
        mca_bml_fsbml_params.show_unreach_errors = true;
        fake_test[i]();
    }
    printf("%zu tests, %d failed checks\n", n_fake_tests, failures);
    return failures > 0;
}

#ifndef FAKE_OWN_MAIN /* of a test that prepares something */
int main(void)
{
    return fake_main();
}
#endif

#endif /* FSBML_TESTS_FAKE_PML_H */
