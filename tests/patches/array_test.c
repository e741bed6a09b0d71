/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BML's BTL arrays and descriptor contexts, on a fake BTL module. What default_* tests say holds with and
 * without the base patches: compiled against unpatched headers, this program shows what must not change,
 * against patched ones, that it has not. What patched_* tests say is what the patches add.
 */
#include "ompi_config.h"

#include <stdio.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/mca/bml/bml.h"

#define MODULES 8

static int failures;
#define CHECK(what)                                                                  \
    do {                                                                             \
        if (!(what)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __func__, __LINE__, #what); \
            ++failures;                                                              \
        }                                                                            \
    } while (0)

/* ---- arrays */

static mca_btl_base_module_t module[MODULES + 1];

/* Fills an array with n entries for module[0..n-1]. */
static void fill(mca_bml_base_btl_array_t *array, size_t n)
{
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_reserve(array, n));
    for (size_t i = 0; i < n; ++i) {
        mca_bml_base_btl_t *entry = mca_bml_base_btl_array_insert(array);
        entry->btl = &module[i];
        entry->btl_flags = (uint32_t) i;
        entry->btl_weight = (float) i;
        entry->btl_endpoint = (struct mca_btl_base_endpoint_t *) &module[MODULES];
    }
}

/* n entries named by module[i] in the order of wanted[]; all ways to reach them agree. */
static void check_order(mca_bml_base_btl_array_t *array, const size_t *wanted, size_t n)
{
    CHECK(n == mca_bml_base_btl_array_get_size(array));
    for (size_t i = 0; i < n; ++i) {
        mca_bml_base_btl_t *entry = mca_bml_base_btl_array_get_index(array, i);
        CHECK(NULL != entry && &module[wanted[i]] == entry->btl);
        CHECK(wanted[i] == entry->btl_flags && (float) wanted[i] == entry->btl_weight);
        CHECK(entry == mca_bml_base_btl_array_find(array, &module[wanted[i]]));
        CHECK(array->bml_btls != NULL);
    }
    CHECK(NULL == mca_bml_base_btl_array_get_index(array, n));
    CHECK(NULL == mca_bml_base_btl_array_find(array, &module[MODULES]));
}

/* Three rounds: each entry in turn, from the first. */
static void check_turns(mca_bml_base_btl_array_t *array, size_t n)
{
    for (size_t i = 0; i < 3 * n; ++i) {
        CHECK(mca_bml_base_btl_array_get_index(array, i % n) == mca_bml_base_btl_array_get_next(array));
    }
}

static void default_array(size_t n)
{
    const size_t all[MODULES] = {0, 1, 2, 3, 4, 5, 6, 7};
    mca_bml_base_btl_array_t array;
    OBJ_CONSTRUCT(&array, mca_bml_base_btl_array_t);
    CHECK(NULL == array.bml_btls && 0 == array.arr_size && 0 == array.arr_reserve && 0 == array.arr_index);
    fill(&array, n);
    check_order(&array, all, n);
    check_turns(&array, n);

    /* r2 sorts bml_btls in place: element i must be bml_btls[i]. */
    for (size_t i = 0; i < n; ++i) {
        CHECK(&array.bml_btls[i] == mca_bml_base_btl_array_get_index(&array, i));
    }

    /* A larger reserve keeps what is there, clears the rest; a smaller one does nothing. */
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_reserve(&array, n + 3));
    check_order(&array, all, n);
    for (size_t i = n; i < n + 3; ++i) {
        static const mca_bml_base_btl_t empty;
        CHECK(0 == memcmp(&empty, &array.bml_btls[i], sizeof(empty)));
    }
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_reserve(&array, 1) && n + 3 == array.arr_reserve);

    CHECK(!mca_bml_base_btl_array_remove(&array, &module[MODULES]));
    for (size_t gone = 0; gone < n; ++gone) {
        /* From the middle outwards: first, last and inner ones are all removed at some n. */
        size_t size = mca_bml_base_btl_array_get_size(&array), victim = size / 2, left[MODULES], k = 0;
        for (size_t i = 0; i < size; ++i) {
            if (i != victim) {
                left[k++] = mca_bml_base_btl_array_get_index(&array, i)->btl_flags;
            }
        }
        CHECK(mca_bml_base_btl_array_remove(&array, mca_bml_base_btl_array_get_index(&array, victim)->btl));
        CHECK(0 == array.arr_index);
        check_order(&array, left, k);
        if (k > 0) {
            check_turns(&array, k);
        }
    }
    OBJ_DESTRUCT(&array);
    CHECK(NULL == array.bml_btls && 0 == array.arr_size && 0 == array.arr_reserve);
}

/* ---- descriptor contexts */

static mca_btl_base_descriptor_t descriptor;
static void *context_at_send;
static int send_result;
static int stale;

static int fake_send(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                     struct mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    (void) btl, (void) endpoint, (void) tag;
    context_at_send = des->des_context;
    return send_result;
}

/* As a free list gives it: with the context of its last use. */
static struct mca_btl_base_descriptor_t *fake_prepare_src(struct mca_btl_base_module_t *btl,
                                                          struct mca_btl_base_endpoint_t *endpoint,
                                                          struct opal_convertor_t *convertor, uint8_t order,
                                                          size_t reserve, size_t *size, uint32_t flags)
{
    (void) btl, (void) endpoint, (void) convertor, (void) order, (void) reserve, (void) flags;
    if (0 == *size) {
        return NULL;
    }
    descriptor.des_context = &stale;
    return &descriptor;
}

/* The context that the BTL meets in send, send_status and prepare_src, when a stale one was there before. */
static void check_context(uint32_t flags, bool kept)
{
    mca_btl_base_module_t btl = {.btl_send = fake_send, .btl_prepare_src = fake_prepare_src};
    mca_bml_base_btl_t entry = {.btl = &btl, .btl_flags = flags};
    void *wanted = kept ? (void *) &stale : (void *) &entry;
    static const int results[] = {OMPI_SUCCESS, 1, OMPI_ERR_OUT_OF_RESOURCE, OMPI_ERR_RESOURCE_BUSY};

    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); ++i) {
        send_result = results[i];
        descriptor.des_context = &stale;
        CHECK((OMPI_ERR_RESOURCE_BUSY == results[i] ? OMPI_SUCCESS : results[i])
              == mca_bml_base_send(&entry, &descriptor, MCA_BTL_TAG_PML));
        CHECK(wanted == context_at_send && wanted == descriptor.des_context);

        descriptor.des_context = &stale;
        CHECK(results[i] == mca_bml_base_send_status(&entry, &descriptor, MCA_BTL_TAG_PML));
        CHECK(wanted == context_at_send && wanted == descriptor.des_context);
    }

    mca_btl_base_descriptor_t *des = NULL;
    size_t size = 1;
    mca_bml_base_prepare_src(&entry, NULL, MCA_BTL_NO_ORDER, 0, &size, 0, &des);
    CHECK(&descriptor == des && wanted == descriptor.des_context);
    size = 0;
    mca_bml_base_prepare_src(&entry, NULL, MCA_BTL_NO_ORDER, 0, &size, 0, &des);
    CHECK(NULL == des);
}

/* All that a BTL module can have set: r2 copies it into its entries. */
static void default_contexts(void)
{
    check_context(0, false);
    check_context(0x00ffffffu, false);
}

#ifdef MCA_BML_BASE_BTL_ARRAY_FIND_HOOK

typedef struct element_t {
    mca_bml_base_btl_t super;
    char payload[40];
} element_t;

static void set_payload(mca_bml_base_btl_array_t *array)
{
    for (size_t i = 0; i < mca_bml_base_btl_array_get_size(array); ++i) {
        element_t *element = (element_t *) mca_bml_base_btl_array_get_index(array, i);
        snprintf(element->payload, sizeof(element->payload), "payload of module %u",
                 (unsigned) element->super.btl_flags);
    }
}

static void check_payload(mca_bml_base_btl_array_t *array)
{
    for (size_t i = 0; i < mca_bml_base_btl_array_get_size(array); ++i) {
        element_t *element = (element_t *) mca_bml_base_btl_array_get_index(array, i);
        char wanted[40];
        snprintf(wanted, sizeof(wanted), "payload of module %u", (unsigned) element->super.btl_flags);
        CHECK(0 == strcmp(wanted, element->payload));
    }
}

static void patched_larger_elements(size_t n)
{
    const size_t all[MODULES] = {0, 1, 2, 3, 4, 5, 6, 7};
    mca_bml_base_btl_array_t array;
    OBJ_CONSTRUCT(&array, mca_bml_base_btl_array_t);
    CHECK(sizeof(mca_bml_base_btl_t) == array.arr_element_size);
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_set_element_size(&array, sizeof(element_t)));
    fill(&array, n);
    check_order(&array, all, n);
    check_turns(&array, n);
    for (size_t i = 0; i < n; ++i) {
        CHECK((char *) array.bml_btls + i * sizeof(element_t)
              == (char *) mca_bml_base_btl_array_get_index(&array, i));
        CHECK(0 == ((element_t *) mca_bml_base_btl_array_get_index(&array, i))->payload[0]);
    }

    set_payload(&array);
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_reserve(&array, n + 3));
    check_order(&array, all, n);
    check_payload(&array);
    for (size_t i = n * sizeof(element_t); i < (n + 3) * sizeof(element_t); ++i) {
        CHECK(0 == ((char *) array.bml_btls)[i]);
    }

    while (mca_bml_base_btl_array_get_size(&array) > 0) {
        size_t size = mca_bml_base_btl_array_get_size(&array);
        CHECK(mca_bml_base_btl_array_remove(&array, mca_bml_base_btl_array_get_index(&array, size / 2)->btl));
        CHECK(size - 1 == mca_bml_base_btl_array_get_size(&array));
        check_payload(&array);
    }
    OBJ_DESTRUCT(&array);
}

static void patched_element_size_is_checked(void)
{
    mca_bml_base_btl_array_t array;
    OBJ_CONSTRUCT(&array, mca_bml_base_btl_array_t);
    CHECK(OMPI_ERR_BAD_PARAM == mca_bml_base_btl_array_set_element_size(&array, 0));
    CHECK(OMPI_ERR_BAD_PARAM
          == mca_bml_base_btl_array_set_element_size(&array, sizeof(mca_bml_base_btl_t) - sizeof(void *)));
    CHECK(OMPI_ERR_BAD_PARAM
          == mca_bml_base_btl_array_set_element_size(&array, sizeof(mca_bml_base_btl_t) + 1));
    CHECK(sizeof(mca_bml_base_btl_t) == array.arr_element_size);
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_set_element_size(&array, sizeof(mca_bml_base_btl_t)));
    CHECK(OMPI_SUCCESS == mca_bml_base_btl_array_reserve(&array, 1));
    CHECK(OMPI_ERR_BAD_PARAM == mca_bml_base_btl_array_set_element_size(&array, sizeof(element_t)));
    CHECK(sizeof(mca_bml_base_btl_t) == array.arr_element_size);
    OBJ_DESTRUCT(&array);
}

static int asked;
static mca_bml_base_btl_t answer;

static mca_bml_base_btl_t *hook(mca_bml_base_btl_array_t *array, struct mca_btl_base_module_t *btl)
{
    (void) array;
    ++asked;
    return btl == &module[MODULES] ? &answer : NULL;
}

static void patched_find_hook(void)
{
    mca_bml_base_btl_array_t array, other;
    OBJ_CONSTRUCT(&array, mca_bml_base_btl_array_t);
    OBJ_CONSTRUCT(&other, mca_bml_base_btl_array_t);
    CHECK(NULL == array.arr_find);
    fill(&array, 3);
    fill(&other, 3);
    mca_bml_base_btl_array_set_find(&array, hook);
    CHECK(NULL == other.arr_find);

    asked = 0;
    for (size_t i = 0; i < 3; ++i) {
        CHECK(mca_bml_base_btl_array_get_index(&array, i) == mca_bml_base_btl_array_find(&array, &module[i]));
    }
    CHECK(0 == asked);
    CHECK(&answer == mca_bml_base_btl_array_find(&array, &module[MODULES]) && 1 == asked);
    CHECK(NULL == mca_bml_base_btl_array_find(&array, &module[MODULES - 1]) && 2 == asked);
    CHECK(NULL == mca_bml_base_btl_array_find(&other, &module[MODULES]) && 2 == asked);
    /* Removing is by the entries' own names only. */
    CHECK(!mca_bml_base_btl_array_remove(&array, &module[MODULES]) && 2 == asked);
    mca_bml_base_btl_array_set_find(&array, NULL);
    CHECK(NULL == mca_bml_base_btl_array_find(&array, &module[MODULES]) && 2 == asked);

    /* An endpoint's arrays begin as r2 has them. */
    mca_bml_base_endpoint_t *endpoint = OBJ_NEW(mca_bml_base_endpoint_t);
    CHECK(NULL == endpoint->btl_eager.arr_find && NULL == endpoint->btl_send.arr_find
          && NULL == endpoint->btl_rdma.arr_find);
    CHECK(sizeof(mca_bml_base_btl_t) == endpoint->btl_eager.arr_element_size
          && sizeof(mca_bml_base_btl_t) == endpoint->btl_send.arr_element_size
          && sizeof(mca_bml_base_btl_t) == endpoint->btl_rdma.arr_element_size);
    OBJ_RELEASE(endpoint);
    OBJ_DESTRUCT(&other);
    OBJ_DESTRUCT(&array);
}

static void patched_contexts(void)
{
    check_context(MCA_BML_BTL_FLAGS_KEEP_CONTEXT, true);
    check_context(MCA_BML_BTL_FLAGS_KEEP_CONTEXT | 0x00ffffffu, true);
    check_context(0xffffffffu & ~MCA_BML_BTL_FLAGS_KEEP_CONTEXT, false);
}

static void patched(void)
{
    for (size_t n = 1; n <= MODULES; ++n) {
        patched_larger_elements(n);
    }
    patched_element_size_is_checked();
    patched_find_hook();
    patched_contexts();
}
#    define HEADERS "patched"
#else
static void patched(void) {}
#    define HEADERS "unpatched"
#endif

int main(void)
{
    for (size_t n = 1; n <= MODULES; ++n) {
        default_array(n);
    }
    default_contexts();
    patched();
    printf("headers: " HEADERS ", failures: %d\n", failures);
    return 0 == failures ? 0 : 1;
}
