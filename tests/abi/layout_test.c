/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers that the component is compiled with, against the libraries that it will meet. Catches headers
 * of another configuration, a replacement header that does not fit, and patched headers beside an unpatched
 * library.
 * `./fsbml build --source` runs it before it uses headers that Open MPI has not installed itself.
 *
 * Sizes: every class of Open MPI has the size that its objects had when the library was compiled, and the
 * symbol of every exported variable has a size. Offsets: a parameter of a BTL is stored in the BTL's module,
 * so its address tells the field's offset; and what the library has filled in is read, and called, by way of
 * the headers.
 */
#include "ompi_config.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/proc/proc.h"
#include "opal/class/opal_bitmap.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/btl/base/base.h"
#include "opal/mca/if/if.h"
#include "opal/util/proc.h"
#if OMPI_MAJOR_VERSION >= 5
#    include "ompi/runtime/ompi_rte.h"
#    include "opal/mca/threads/condition.h"
#    include "opal/mca/threads/mutex.h"
#    include "opal/mca/threads/threads.h"
#else
#    include "ompi/mca/rte/rte.h"
#    include "opal/mca/pmix/pmix.h"
#    include "opal/threads/condition.h"
#    include "opal/threads/mutex.h"
#    include "opal/threads/threads.h"
#endif

static int compared, failures;

static void check(int good, const char *what)
{
    ++compared;
    if (!good) {
        fprintf(stderr, "differs: %s\n", what);
        ++failures;
    }
}

static void same(const char *prefix, const char *name, size_t header, size_t library)
{
    ++compared;
    if (header != library) {
        fprintf(stderr, "differs: %s%s is %zu by the headers, but %zu in the library\n", prefix, name, header,
                library);
        ++failures;
    }
}

#define SAME_CLASS(type) same("the size of ", #type, sizeof(type), OBJ_CLASS(type)->cls_sizeof)

/* Nothing is compared for a variable that this version does not export. */
static void same_variable(const char *name, const void *address, size_t size)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    if (NULL != address && 0 != dladdr1(address, &info, (void **) &symbol, RTLD_DL_SYMENT) && NULL != symbol
        && 0 == strcmp(info.dli_sname, name)) {
        same("the size of ", name, size, symbol->st_size);
    }
}

/* By dlsym, as a reference would make the linker copy the variable into the program. */
#define SAME_VARIABLE(name, type) same_variable(name, dlsym(RTLD_DEFAULT, name), sizeof(type))

static void sizes(void)
{
    SAME_CLASS(opal_object_t);
    SAME_CLASS(opal_mutex_t);
    SAME_CLASS(opal_recursive_mutex_t);
    SAME_CLASS(opal_condition_t);
    SAME_CLASS(opal_thread_t);
    SAME_CLASS(opal_list_t);
    SAME_CLASS(opal_list_item_t);
    SAME_CLASS(opal_free_list_t);
    SAME_CLASS(opal_free_list_item_t);
    SAME_CLASS(opal_bitmap_t);
    SAME_CLASS(opal_hash_table_t);
    SAME_CLASS(opal_convertor_t);
    SAME_CLASS(opal_if_t);
    SAME_CLASS(opal_proc_t);
    SAME_CLASS(mca_base_pvar_t);
    SAME_CLASS(mca_btl_base_descriptor_t);
    SAME_CLASS(mca_btl_base_selected_module_t);
    SAME_CLASS(ompi_proc_t);
    SAME_CLASS(ompi_group_t);
    SAME_CLASS(ompi_communicator_t);
    SAME_CLASS(ompi_datatype_t);
    SAME_CLASS(mca_bml_base_btl_array_t);
    SAME_CLASS(mca_bml_base_endpoint_t);

    SAME_VARIABLE("mca_bml", mca_bml_base_module_t);
    SAME_VARIABLE("mca_bml_component", mca_bml_base_component_t);
    SAME_VARIABLE("mca_pml", mca_pml_base_module_t);
    SAME_VARIABLE("opal_btl_base_framework", mca_base_framework_t);
    SAME_VARIABLE("ompi_mpi_comm_world", ompi_predefined_communicator_t);
    SAME_VARIABLE("opal_process_info", opal_process_info);
    SAME_VARIABLE("mca_btl_base_active_message_trigger", mca_btl_base_active_message_trigger);
#if OMPI_MAJOR_VERSION < 5
    SAME_VARIABLE("orte_process_info", orte_process_info);
    SAME_VARIABLE("opal_pmix", opal_pmix);
#endif
}

/* Initialised by the library, used by the header's functions. */
static void mutexes(void)
{
    opal_mutex_t mutex;
    OBJ_CONSTRUCT(&mutex, opal_mutex_t);
    opal_mutex_lock(&mutex);
    check(0 != opal_mutex_trylock(&mutex), "a locked mutex was locked again");
    opal_mutex_unlock(&mutex);
    check(0 == opal_mutex_trylock(&mutex), "an unlocked mutex could not be locked");
    opal_mutex_unlock(&mutex);
    check(0 == opal_mutex_atomic_trylock(&mutex), "a fresh mutex' atomic lock is taken");
    OBJ_DESTRUCT(&mutex);
}

static void same_offset(const mca_btl_base_module_t *btl, const char *parameter, const char *field,
                        size_t offset)
{
    const char *storage = NULL;
    int index = mca_base_var_find("opal", "btl", "self", parameter);
    if (0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &storage, NULL, NULL)) {
        fprintf(stderr, "differs: this Open MPI has no parameter btl_self_%s\n", parameter);
        ++failures;
        return;
    }
    same("the offset of mca_btl_base_module_t::", field, offset, (size_t) (storage - (const char *) btl));
}
#define SAME_OFFSET(btl, parameter) \
    same_offset(btl, #parameter, "btl_" #parameter, offsetof(mca_btl_base_module_t, btl_##parameter))

static void offsets(const mca_btl_base_module_t *btl)
{
    SAME_OFFSET(btl, eager_limit);
    SAME_OFFSET(btl, rndv_eager_limit);
    SAME_OFFSET(btl, max_send_size);
    SAME_OFFSET(btl, rdma_pipeline_send_length);
    SAME_OFFSET(btl, rdma_pipeline_frag_size);
    SAME_OFFSET(btl, min_rdma_pipeline_size);
    SAME_OFFSET(btl, exclusivity);
    SAME_OFFSET(btl, latency);
    SAME_OFFSET(btl, bandwidth);
    SAME_OFFSET(btl, flags);
    SAME_OFFSET(btl, atomic_flags);
    SAME_OFFSET(btl, get_limit);
    SAME_OFFSET(btl, get_alignment);
    SAME_OFFSET(btl, put_limit);
    SAME_OFFSET(btl, put_alignment);
#if OMPI_MAJOR_VERSION >= 5
    SAME_OFFSET(btl, accelerator_max_send_size);
#elif OPAL_CUDA_SUPPORT
    SAME_OFFSET(btl, cuda_max_send_size);
#endif
#if OMPI_MAJOR_VERSION < 5
    check((0 <= mca_base_var_find("opal", "btl", "self", "cuda_max_send_size")) == OPAL_CUDA_SUPPORT,
          "the headers and the library do not agree on CUDA");
#endif
}

/* Those between them belong to no parameter. */
static void functions(const mca_btl_base_module_t *btl)
{
    check(mca_btl_base_dump == btl->btl_dump, "the BTL self's function btl_dump is not mca_btl_base_dump");
    check(NULL != btl->btl_put && NULL != btl->btl_get && NULL == btl->btl_atomic_op
              && NULL == btl->btl_atomic_cswap && NULL == btl->btl_register_mem
              && NULL == btl->btl_deregister_mem && NULL == btl->btl_flush,
          "the BTL self has not the functions that it should have");
#if OMPI_MAJOR_VERSION < 5
    check(NULL != btl->btl_ft_event, "the BTL self has no function btl_ft_event");
#endif
}

enum { TEST_TAG = MCA_BTL_TAG_USR + 0x70, TEST_SIZE = 100 };
static int received, completed;
static unsigned char pattern[TEST_SIZE];

static void arrived(const mca_btl_base_segment_t *segment, size_t count, const void *data, int tag)
{
    check(TEST_TAG == tag && &received == data,
          "a receive callback got another tag or other data than it was registered with");
    check(1 == count && TEST_SIZE == segment->seg_len
              && 0 == memcmp(segment->seg_addr.pval, pattern, TEST_SIZE),
          "a message of the BTL self did not arrive as it was sent");
    ++received;
}

#if OMPI_MAJOR_VERSION >= 5
static void receive(mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *des)
{
    (void) btl;
    arrived(des->des_segments, des->des_segment_count, des->cbdata, des->tag);
}
#else
static void receive(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag, mca_btl_base_descriptor_t *des,
                    void *data)
{
    (void) btl;
    arrived(des->des_segments, des->des_segment_count, data, tag);
}
#endif

static void rdma_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
                      struct mca_btl_base_registration_handle_t *handle, void *context, void *data,
                      int status)
{
    (void) btl, (void) endpoint, (void) local, (void) handle;
    completed += context == data && OPAL_SUCCESS == status;
}

/* A message, a put and a get to this process itself, by the headers' inline functions and structures. */
static void traffic(mca_bml_base_btl_t *bml_btl)
{
    mca_btl_base_descriptor_t *des = NULL;
    unsigned char target[TEST_SIZE] = {0};
    unsigned char zero[TEST_SIZE] = {0};

    for (int i = 0; i < TEST_SIZE; ++i) {
        pattern[i] = (unsigned char) (i + 1);
    }
    mca_bml.bml_register(TEST_TAG, receive, &received);
    mca_bml_base_alloc(bml_btl, &des, MCA_BTL_NO_ORDER, TEST_SIZE, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
    check(NULL != des && 1 == des->des_segment_count && TEST_SIZE == des->des_segments->seg_len
              && (des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP),
          "a descriptor of the BTL self does not have what it was allocated with");
    if (0 != failures) {
        return; /* better no message than one over other memory */
    }
    memcpy(des->des_segments->seg_addr.pval, pattern, TEST_SIZE);
    des->des_cbfunc = NULL;
    check(0 <= mca_bml_base_send(bml_btl, des, TEST_TAG) && 1 == received,
          "a message of the BTL self has not arrived");
    mca_bml_base_put(bml_btl, pattern, (uint64_t) (uintptr_t) target, NULL, NULL, TEST_SIZE, 0,
                     MCA_BTL_NO_ORDER, rdma_done, bml_btl);
    check(1 == completed && 1 == pattern[0] && 0 == memcmp(target, pattern, TEST_SIZE),
          "a put of the BTL self did not work");
    mca_bml_base_get(bml_btl, target, (uint64_t) (uintptr_t) zero, NULL, NULL, TEST_SIZE, 0, MCA_BTL_NO_ORDER,
                     rdma_done, bml_btl);
    check(2 == completed && 0 == memcmp(target, zero, TEST_SIZE), "a get of the BTL self did not work");
}

static void crashed(int signal_number)
{
    static const char text[] = "differs: a call by way of the headers crashed in the library\n";
    (void) signal_number;
    (void) !write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(1);
}

/* MPI with the BTL self alone, which needs no network, no second process and no mpirun. */
static void behaviour(void)
{
    ompi_proc_t *proc = ompi_proc_local();
    mca_bml_base_endpoint_t *endpoint;
    mca_bml_base_btl_t *bml_btl;
    mca_btl_base_selected_module_t *selected;

    check(0 == opal_compare_proc(proc->super.proc_name, *OMPI_PROC_MY_NAME),
          "this process' ompi_proc_t has not its name");
    check(&ompi_mpi_comm_world.comm == (ompi_communicator_t *) MPI_COMM_WORLD
              && 0 == strcmp(ompi_mpi_comm_world.comm.c_name, "MPI_COMM_WORLD"),
          "the communicator's name is not MPI_COMM_WORLD");
    check(1 == opal_list_get_size(&mca_btl_base_modules_initialized),
          "the list of BTLs does not hold self alone");
    if (0 != failures) {
        return;
    }
    selected = (mca_btl_base_selected_module_t *) opal_list_get_first(&mca_btl_base_modules_initialized);
    check(0 == strcmp(selected->btl_component->btl_version.mca_component_name, "self"),
          "the only BTL's name is not self");
    check(selected->btl_component == selected->btl_module->btl_component,
          "the BTL's module does not name its component");
    same_variable("mca_btl_self", selected->btl_module, sizeof(mca_btl_base_module_t));
    offsets(selected->btl_module);
    functions(selected->btl_module);
    endpoint = mca_bml_base_get_endpoint(proc);
    check(proc == endpoint->btl_proc && 1 == mca_bml_base_btl_array_get_size(&endpoint->btl_send),
          "this process' endpoint is not as r2 has made it");
    if (0 != failures) {
        return;
    }
    bml_btl = mca_bml_base_btl_array_get_index(&endpoint->btl_send, 0);
    check(selected->btl_module == bml_btl->btl, "this process' endpoint does not have the BTL self");
    traffic(bml_btl);
}

int main(void)
{
    sizes();
    mutexes();
    if (0 == failures) {
        setenv("OMPI_MCA_pml", "ob1", 1);
        setenv("OMPI_MCA_bml", "r2", 1);
        setenv("OMPI_MCA_btl", "self", 1);
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 1); /* 4.1: without a daemon */
        if (MPI_SUCCESS != MPI_Init(NULL, NULL)) {
            return 1;
        }
        signal(SIGSEGV, crashed); /* now, as MPI_Init has set Open MPI's own */
        behaviour();
        if (0 == failures) {
            MPI_Finalize();
        }
    }
    printf("%d sizes, offsets and results compared, %d differ\n", compared, failures);
    fflush(NULL);
    _Exit(0 == failures ? 0 : 1); /* without the library's own ends, after a difference */
}
