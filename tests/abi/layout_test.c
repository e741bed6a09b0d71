/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * The headers that the component is compiled with, against the library that it will meet: every class of Open
 * MPI tells how large its objects were when the library was compiled. Catches a replacement header that does
 * not fit, and patched headers beside an unpatched library.
 */
#include "ompi_config.h"

#include <stdio.h>

#include "ompi/mca/bml/bml.h"
#include "ompi/proc/proc.h"
#if OMPI_MAJOR_VERSION >= 5
#    include "opal/mca/threads/condition.h"
#    include "opal/mca/threads/mutex.h"
#    include "opal/mca/threads/threads.h"
#else
#    include "opal/threads/condition.h"
#    include "opal/threads/mutex.h"
#    include "opal/threads/threads.h"
#endif

static int failures;

static void same(const char *type, size_t header, size_t library)
{
    if (header != library) {
        fprintf(stderr, "sizeof(%s) is %zu by the headers, but %zu in the library\n", type, header, library);
        ++failures;
    }
}
#define SAME(type) same(#type, sizeof(type), OBJ_CLASS(type)->cls_sizeof)

int main(void)
{
    SAME(opal_mutex_t);
    SAME(opal_recursive_mutex_t);
    SAME(opal_condition_t);
    SAME(opal_thread_t);
    SAME(opal_list_t);
    SAME(opal_convertor_t);
    SAME(ompi_proc_t);
    SAME(mca_bml_base_btl_array_t);
    SAME(mca_bml_base_endpoint_t);

    /* Layout inside: initialised by the library, used by the header's functions. */
    opal_mutex_t mutex;
    OBJ_CONSTRUCT(&mutex, opal_mutex_t);
    opal_mutex_lock(&mutex);
    if (0 == opal_mutex_trylock(&mutex)) {
        fprintf(stderr, "a locked mutex was locked again\n");
        ++failures;
    }
    opal_mutex_unlock(&mutex);
    if (0 != opal_mutex_trylock(&mutex)) {
        fprintf(stderr, "an unlocked mutex could not be locked\n");
        ++failures;
    } else {
        opal_mutex_unlock(&mutex);
    }
    if (0 != opal_mutex_atomic_trylock(&mutex)) {
        fprintf(stderr, "a fresh mutex' atomic lock is taken\n");
        ++failures;
    }
    OBJ_DESTRUCT(&mutex);
    return 0 == failures ? 0 : 1;
}
