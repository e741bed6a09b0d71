/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a job: each owns a segment of shared memory, and tells the others its name. */
#include "btl_hw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if OMPI_MAJOR_VERSION >= 5
#    include "opal/mca/pmix/pmix-internal.h"
#    define GLOBAL PMIX_GLOBAL
#else
#    include "opal/mca/pmix/pmix.h"
#    define GLOBAL OPAL_PMIX_GLOBAL
#endif

static char own_path[64];

static segment_t *attach(const char *path, bool make)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
    void *at = MAP_FAILED;
    if (fd >= 0 && (!make || 0 == ftruncate(fd, sizeof(segment_t)))) {
        at = mmap(NULL, sizeof(segment_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    return MAP_FAILED == at ? NULL : at;
}

int hw_add_procs(mca_btl_base_module_t *btl, size_t n, opal_proc_t **procs,
                 struct mca_btl_base_endpoint_t **endpoints, opal_bitmap_t *reachable)
{
    module_t *m = (module_t *) btl;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t rank = procs[i]->proc_name.vpid;
        char *path = NULL;
        size_t len = 0;
        int rc;
        endpoints[i] = NULL;
        if (procs[i]->proc_name.jobid != OPAL_PROC_MY_NAME.jobid || rank >= RANKS) {
            continue;
        }
        of_rank[rank] = rank == my_rank ? own : of_rank[rank];
        if (NULL == of_rank[rank]) {
            OPAL_MODEX_RECV(rc, &hw_component()->btl_version, &procs[i]->proc_name, (void **) &path, &len);
            if (OPAL_SUCCESS == rc && len > 0) {
                of_rank[rank] = attach(path, false);
            }
            free(path);
        }
        if (NULL == of_rank[rank]) {
            continue;
        }
        if (NULL == m->to[rank]) {
            m->to[rank] = calloc(1, sizeof(*m->to[rank]));
        }
        *m->to[rank] = (struct mca_btl_base_endpoint_t){m, of_rank[rank], procs[i], rank};
        endpoints[i] = m->to[rank];
        if (NULL != reachable) {
            opal_bitmap_set_bit(reachable, (int) i);
        }
    }
    return OPAL_SUCCESS;
}

int hw_del_procs(mca_btl_base_module_t *btl, size_t n, opal_proc_t **procs,
                 struct mca_btl_base_endpoint_t **endpoints)
{
    (void) btl;
    (void) n;
    (void) procs;
    (void) endpoints; /* kept: what is late may still name them */
    return OPAL_SUCCESS;
}

bool hw_open_own(void)
{
    int rc;
    snprintf(own_path, sizeof(own_path), "/dev/shm/fsbml-hw.%d", (int) getpid());
    (void) unlink(own_path); /* a killed process of the same number may have left it */
    own = attach(own_path, true);
    if (NULL == own) {
        return false;
    }
    own->pid = getpid();
    OPAL_MODEX_SEND(rc, GLOBAL, &hw_component()->btl_version, own_path, strlen(own_path) + 1);
    return OPAL_SUCCESS == rc;
}

void hw_close_all(void)
{
    if (NULL != own) {
        (void) unlink(own_path);
        (void) munmap(own, sizeof(*own));
        own = NULL;
    }
    for (uint32_t rank = 0; rank < RANKS; ++rank) {
        if (NULL != of_rank[rank] && rank != my_rank) {
            (void) munmap(of_rank[rank], sizeof(segment_t));
        }
        of_rank[rank] = NULL;
    }
}
