/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The run-time's key-value store (PMIx), as far as FSBML needs it; declared in compat/compat.h. */

#include "compat/compat.h"

#ifdef FSBML_OMPI_4

char *fsbml_kvs_local_ranks(void)
{
    const opal_process_name_t all = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = OPAL_VPID_WILDCARD};
    char *ranks = NULL;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_LOCAL_PEERS, &all, &ranks, OPAL_STRING);
    return OPAL_SUCCESS == rc ? ranks : NULL;
}

int fsbml_kvs_put(const char *key, const void *data, size_t len)
{
    int rc;
    OPAL_MODEX_SEND_STRING(rc, OPAL_PMIX_GLOBAL, (char *) key, (void *) data, len);
    return rc;
}

int fsbml_kvs_commit(void)
{
    return opal_pmix.commit();
}

int fsbml_kvs_get(const ompi_process_name_t *peer, const char *key, fsbml_kvs_mode_t mode, void **data,
                  size_t *len)
{
    opal_value_t *value = NULL;
    opal_list_t hints;
    const bool wait = FSBML_KVS_HERE != mode; /* MPI starts once in 4.1: nothing is ever stale */
    OBJ_CONSTRUCT(&hints, opal_list_t);
    opal_value_t *hint = OBJ_NEW(opal_value_t);
    hint->key = strdup(wait ? OPAL_PMIX_TIMEOUT : OPAL_PMIX_OPTIONAL);
    hint->type = wait ? OPAL_INT : OPAL_BOOL;
    if (wait) {
        hint->data.integer = 10; /* seconds */
    } else {
        hint->data.flag = true;
    }
    opal_list_append(&hints, &hint->super);
    int rc = opal_pmix.get(peer, key, &hints, &value);
    OPAL_LIST_DESTRUCT(&hints);
    if (OPAL_SUCCESS != rc || NULL == value) {
        return OMPI_ERR_NOT_FOUND;
    }
    rc = OMPI_ERR_NOT_FOUND;
    if (OPAL_BYTE_OBJECT == value->type && NULL != value->data.bo.bytes) {
        *data = value->data.bo.bytes;
        *len = value->data.bo.size;
        value->data.bo.bytes = NULL; /* ours now */
        rc = OMPI_SUCCESS;
    }
    OBJ_RELEASE(value);
    return rc;
}

#else /* 5.0 and later */

char *fsbml_kvs_local_ranks(void)
{
    const opal_process_name_t all = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = OPAL_VPID_WILDCARD};
    char *ranks = NULL;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, PMIX_LOCAL_PEERS, &all, &ranks, PMIX_STRING);
    return OPAL_SUCCESS == rc ? ranks : NULL;
}

int fsbml_kvs_put(const char *key, const void *data, size_t len)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    value.data.bo.bytes = (char *) data;
    value.data.bo.size = len;
    return PMIX_SUCCESS == PMIx_Put(PMIX_GLOBAL, key, &value) ? OMPI_SUCCESS : OMPI_ERROR;
}

int fsbml_kvs_commit(void)
{
    return PMIX_SUCCESS == PMIx_Commit() ? OMPI_SUCCESS : OMPI_ERROR;
}

int fsbml_kvs_get(const ompi_process_name_t *peer, const char *key, fsbml_kvs_mode_t mode, void **data,
                  size_t *len)
{
    pmix_proc_t proc;
    pmix_info_t hint[2];
    pmix_value_t *value = NULL;
    size_t n_hints = 1;
    if (OMPI_PROC_MY_NAME->jobid == peer->jobid) {
        /* Open MPI forgets the names of jobs before it closes connections; but not its own. */
        PMIX_LOAD_PROCID(&proc, opal_process_info.myprocid.nspace, peer->vpid);
    } else {
        OPAL_PMIX_CONVERT_NAME(&proc, peer);
    }
    if (FSBML_KVS_HERE != mode) {
        int seconds = 10;
        PMIX_INFO_LOAD(&hint[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
#    ifdef PMIX_GET_REFRESH_CACHE
        if (FSBML_KVS_REFRESH == mode) {
            PMIX_INFO_LOAD(&hint[1], PMIX_GET_REFRESH_CACHE, NULL, PMIX_BOOL);
            n_hints = 2;
        }
#    endif
    } else {
        PMIX_INFO_LOAD(&hint[0], PMIX_OPTIONAL, NULL, PMIX_BOOL);
    }
    pmix_status_t rc = PMIx_Get(&proc, key, hint, n_hints, &value);
    for (size_t i = 0; i < n_hints; ++i) {
        PMIX_INFO_DESTRUCT(&hint[i]);
    }
    if (PMIX_SUCCESS != rc || NULL == value) {
        return OMPI_ERR_NOT_FOUND;
    }
    int found = OMPI_ERR_NOT_FOUND;
    if (PMIX_BYTE_OBJECT == value->type && NULL != value->data.bo.bytes) {
        *data = value->data.bo.bytes;
        *len = value->data.bo.size;
        value->data.bo.bytes = NULL; /* ours now */
        value->data.bo.size = 0;
        found = OMPI_SUCCESS;
    }
    PMIX_VALUE_RELEASE(value);
    return found;
}

#endif
