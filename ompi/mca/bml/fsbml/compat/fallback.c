/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In an Open MPI of another version than that of its headers, this component may use none of Open MPI's
 * structures, but for those that the loader has compared by their own version: a component's. It finds r2 by
 * that, and gives the job r2's module in place of its own.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "compat/compat.h"

#include "opal/util/output.h"

#include "mpi.h"

/* Copies the version of the Open MPI that runs, "Open MPI v5.0.7"; true if it is that of the headers.
 * MPI_Get_library_version may be called at any time. */
static bool running_version(char *text)
{
    int length, major = -1, minor = -1, release = -1;

    text[0] = '\0';
    MPI_Get_library_version(text, &length);
    const char *v = strstr(text, "Open MPI v");
    text[strcspn(text, ",")] = '\0';
    return NULL != v && 3 == sscanf(v, "Open MPI v%d.%d.%d", &major, &minor, &release)
           && OMPI_MAJOR_VERSION == major && OMPI_MINOR_VERSION == minor && OMPI_RELEASE_VERSION == release;
}

/* The same release can have the base patches or not, and does not say so: its arrays are larger with them. */
static bool layout_fits(void)
{
    return sizeof(mca_bml_base_btl_array_t) == mca_bml_base_btl_array_t_class.cls_sizeof;
}

bool fsbml_version_fits(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    return running_version(text) && layout_fits();
}

/* r2 as a DSO lies beside the PML, which is loaded. */
static int beside_pml(struct dl_phdr_info *info, size_t size, void *found)
{
    char path[4096];
    const char *slash = NULL != info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void) size;
    if (NULL == slash || 0 != strncmp(slash, "/mca_pml_", 9)) {
        return 0;
    }
    const int n =
        snprintf(path, sizeof(path), "%.*s/mca_bml_r2.so", (int) (slash - info->dlpi_name), info->dlpi_name);
    if (n < 0 || (size_t) n >= sizeof(path)) {
        return 0;
    }
    void *dso = dlopen(path, RTLD_LAZY);
    *(void **) found = NULL != dso ? dlsym(dso, "mca_bml_r2_component") : NULL;
    return NULL != *(void **) found;
}

static mca_bml_base_component_t *find_r2(const mca_bml_base_component_t *own)
{
    mca_bml_base_component_t *r2 = NULL;
    Dl_info info;
    /* By this DSO's own handle, which reaches libmpi also where that is not in the global scope. */
    if (0 != dladdr((const void *) find_r2, &info) && NULL != info.dli_fname) {
        void *self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (NULL != self) {
            r2 = dlsym(self, "mca_bml_r2_component");
            dlclose(self);
        }
    }
    if (NULL == r2) {
        (void) dl_iterate_phdr(beside_pml, &r2);
    }
    if (NULL != r2
        && (own->bml_version.mca_type_major_version != r2->bml_version.mca_type_major_version
            || NULL == r2->bml_init)) {
        r2 = NULL;
    }
    return r2;
}

/* One sentence a job: the run-time's names for a rank, as Open MPI's own structures may be others. */
static bool is_first_rank(void)
{
    const char *rank = getenv("PMIX_RANK");
    if (NULL == rank) {
        rank = getenv("OMPI_COMM_WORLD_RANK");
    }
    return NULL == rank || 0 == strcmp(rank, "0");
}

mca_bml_base_module_t *fsbml_fall_back(const mca_bml_base_component_t *own, bool progress_threads,
                                       bool mpi_threads)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    mca_bml_base_component_t *r2 = find_r2(own);
    mca_bml_base_module_t *module = NULL;

    if (NULL != r2
        && (NULL == r2->bml_version.mca_register_component_params
            || OMPI_SUCCESS == r2->bml_version.mca_register_component_params())
        && (NULL == r2->bml_version.mca_open_component
            || OMPI_SUCCESS == r2->bml_version.mca_open_component())) {
        int priority;
        module = r2->bml_init(&priority, progress_threads, mpi_threads);
    }
    const bool same_version = running_version(text);
    const bool larger = sizeof(mca_bml_base_btl_array_t) > mca_bml_base_btl_array_t_class.cls_sizeof;
    if (NULL == module || is_first_rank()) {
        opal_output(
            0,
            "fsbml: this component was built for Open MPI %d.%d.%d%s and %s %s%s%s Build and install it "
            "for this Open MPI (./fsbml build && ./fsbml install), or say bml = r2 for it.",
            OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION,
            !same_version ? ""
            : larger      ? " with the base patches"
                          : " without the base patches",
            NULL != module ? "does not run with" : "refuses to run with", text,
            !same_version ? ""
            : larger      ? " without them"
                          : " with them",
            NULL != module ? ": this job uses r2." : ", and r2 was not found in its place.");
    }
    return module;
}
