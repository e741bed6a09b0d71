// Times any MPI program that is not ours, loaded by LD_PRELOAD: how long the job took to start and to run,
// and what its nodes' network interfaces sent meanwhile.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#define _GNU_SOURCE
#include "interfaces.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { text_size = 8192 };

// What rank 0 gets of each rank. All nodes are of one kind, so it travels as it lies in memory.
struct report {
    double init; // seconds
    double run;
    struct traffic sent; // none, if another rank tells of the same node
};

// mpirun, daemons and shells are preloaded too and have no MPI library, and Python loads it late and for
// itself only. So nothing of MPI is linked: all is looked up when the program has called MPI.
static struct {
    int (*comm_split)(MPI_Comm, int, int, MPI_Comm *);
    int (*comm_split_type)(MPI_Comm, int, int, MPI_Info, MPI_Comm *);
    int (*comm_rank)(MPI_Comm, int *);
    int (*comm_size)(MPI_Comm, int *);
    int (*comm_free)(MPI_Comm *);
    int (*barrier)(MPI_Comm);
    int (*gather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
    MPI_Comm world;
    MPI_Datatype byte;
    MPI_Info no_info;
} mpi;

static double start;   // of the process
static double running; // end of MPI_Init
static bool measuring; // between MPI_Init and MPI_Finalize, the first of each
static struct traffic before;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

__attribute__((constructor)) static void on_load(void)
{
    start = now();
}

// ---- what is printed

// What stands in JSON as it is: the characters that the benchmark programs take for --arm.
static void read_arm(char *arm, size_t size)
{
    const char *text = getenv("FSBML_PROBE_ARM");
    snprintf(arm, size, "%s", text != NULL && *text != '\0' ? text : "default");
    for (char *c = arm; *c != '\0'; c++) {
        if (!isalnum((unsigned char) *c) && strchr("-_.+:/", *c) == NULL) {
            *c = '_';
        }
    }
}

static void print(double init, double run, const struct traffic *sent)
{
    char arm[128];
    read_arm(arm, sizeof arm);
    char text[text_size];
    // No name is longer than max_name and no number than 20 digits, so all of it fits.
    int length =
        snprintf(text, sizeof text,
                 "fsbml-probe: {\"bench\":\"app\",\"operation\":\"init\",\"arm\":\"%s\",\"seconds\":%.6f}\n"
                 "fsbml-probe: {\"bench\":\"app\",\"operation\":\"run\",\"variant\":\"\",\"arm\":\"%s\","
                 "\"messages\":1,\"bytes\":0,\"unit\":\"s\",\"median\":%.6f,\"traffic\":{",
                 arm, init, arm, run);
    for (int i = 0; i < sent->count; i++) {
        length += snprintf(text + length, sizeof text - (size_t) length, "%s\"%s\":%" PRIu64,
                           i > 0 ? "," : "", sent->interfaces[i].name, sent->interfaces[i].bytes);
    }
    length += snprintf(text + length, sizeof text - (size_t) length, "},\"samples\":[%.6f]}\n", run);

    const char *path = getenv("FSBML_PROBE_FILE");
    const bool to_file = path != NULL && *path != '\0';
    const int out = to_file ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : STDERR_FILENO;
    // At once, so that no other output comes in between.
    const ssize_t written = out < 0 ? -1 : write(out, text, (size_t) length);
    (void) written; // nowhere to tell it
    if (to_file && out >= 0) {
        close(out);
    }
}

// ---- MPI

struct libraries {
    int count;
    const char *paths[16];
};

static int note_library(struct dl_phdr_info *object, size_t size, void *data)
{
    (void) size;
    struct libraries *libraries = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    const int most = (int) (sizeof libraries->paths / sizeof *libraries->paths);
    if (slash != NULL && strncmp(slash, "/libmpi", 7) == 0 && libraries->count < most) {
        libraries->paths[libraries->count++] = object->dlpi_name;
    }
    return 0;
}

// A function or variable of MPI: in the program's own list, or in a library that only a part of it sees. The
// list from its beginning (RTLD_DEFAULT), since programs may have copies of variables, which count; or what
// is behind this library (RTLD_NEXT), for what is defined here too.
static void *look_up(void *list, const char *name)
{
    void *found = dlsym(list, name);
    struct libraries libraries = {0};
    if (found == NULL) {
        dl_iterate_phdr(note_library, &libraries);
    }
    for (int i = 0; found == NULL && i < libraries.count; i++) {
        void *library = dlopen(libraries.paths[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            found = dlsym(library, name);
            dlclose(library);
        }
    }
    return found;
}

// For functions without which the program cannot go on.
static void *must_look_up(const char *name)
{
    void *found = look_up(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "libfsbml_probe.so: the program called MPI, but %s is not to be found\n", name);
        abort();
    }
    return found;
}

static bool look_up_all(void)
{
    mpi.comm_split = look_up(RTLD_DEFAULT, "PMPI_Comm_split");
    mpi.comm_split_type = look_up(RTLD_DEFAULT, "PMPI_Comm_split_type");
    mpi.comm_rank = look_up(RTLD_DEFAULT, "PMPI_Comm_rank");
    mpi.comm_size = look_up(RTLD_DEFAULT, "PMPI_Comm_size");
    mpi.comm_free = look_up(RTLD_DEFAULT, "PMPI_Comm_free");
    mpi.barrier = look_up(RTLD_DEFAULT, "PMPI_Barrier");
    mpi.gather = look_up(RTLD_DEFAULT, "PMPI_Gather");
    // In Open MPI handles are the addresses of these.
    mpi.world = look_up(RTLD_DEFAULT, "ompi_mpi_comm_world");
    mpi.byte = look_up(RTLD_DEFAULT, "ompi_mpi_byte");
    mpi.no_info = look_up(RTLD_DEFAULT, "ompi_mpi_info_null");
    return mpi.comm_split != NULL && mpi.comm_split_type != NULL && mpi.comm_rank != NULL
           && mpi.comm_size != NULL && mpi.comm_free != NULL && mpi.barrier != NULL && mpi.gather != NULL
           && mpi.world != NULL && mpi.byte != NULL && mpi.no_info != NULL;
}

// One of the wrappers below may call another, if a library's Fortran functions call C's: the inner one
// counts.
static void after_init(int status)
{
    if (status == MPI_SUCCESS && running == 0 && look_up_all()) {
        before = traffic_read();
        running = now();
        measuring = true;
    }
}

static bool gather_reports(MPI_Comm all, MPI_Comm node, double run, struct traffic *sent, double *init,
                           double *slowest)
{
    int rank = 0;
    int ranks = 0;
    int on_node = 0;
    mpi.comm_rank(all, &rank);
    mpi.comm_size(all, &ranks);
    mpi.comm_rank(node, &on_node);
    // The node's counters are read when all of its ranks are through, which one rank does not know by itself.
    mpi.barrier(all);
    const struct traffic after = traffic_read();
    struct report mine = {.init = running - start, .run = run};
    if (on_node == 0) {
        mine.sent = traffic_between(&before, &after);
    }
    struct report *reports = rank == 0 ? calloc((size_t) ranks, sizeof *reports) : NULL;
    const int size = (int) sizeof mine;
    const bool gathered = mpi.gather(&mine, size, mpi.byte, reports, size, mpi.byte, 0, all) == MPI_SUCCESS;
    for (int i = 0; rank == 0 && gathered && i < ranks; i++) {
        *init = reports[i].init > *init ? reports[i].init : *init;
        *slowest = reports[i].run > *slowest ? reports[i].run : *slowest;
        traffic_add(sent, &reports[i].sent);
    }
    free(reports);
    return gathered && rank == 0;
}

static void before_finalize(void)
{
    if (!measuring) {
        return;
    }
    measuring = false;
    const double run = now() - running;
    // Communicators of our own, lest a message of the program's is taken for ours; not by MPI_Comm_dup, which
    // would call the program's functions that copy attributes.
    MPI_Comm all;
    MPI_Comm node;
    if (mpi.comm_split(mpi.world, 0, 0, &all) != MPI_SUCCESS) {
        return;
    }
    if (mpi.comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, mpi.no_info, &node) == MPI_SUCCESS) {
        struct traffic sent = {0};
        double init = 0;
        double slowest = 0;
        if (gather_reports(all, node, run, &sent, &init, &slowest)) {
            print(init, slowest, &sent);
        }
        mpi.comm_free(&node);
    }
    mpi.comm_free(&all);
}

// Nothing else is seen by the program (-fvisibility=hidden).
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int (*real)(int *, char ***) = must_look_up("PMPI_Init");
    const int status = real(argc, argv);
    after_init(status);
    return status;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*real)(int *, char ***, int, int *) = must_look_up("PMPI_Init_thread");
    const int status = real(argc, argv, required, provided);
    after_init(status);
    return status;
}

EXPORTED int MPI_Finalize(void)
{
    int (*real)(void) = must_look_up("PMPI_Finalize");
    before_finalize();
    return real();
}

// ---- Fortran: mpif.h and the mpi module call the first name of each, mpi_f08 the second. There `status` may
// be absent.

typedef void init_function(MPI_Fint *status);
typedef void init_thread_function(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *status);

static void fortran_init(const char *name, MPI_Fint *status)
{
    MPI_Fint result = MPI_SUCCESS;
    init_function *real = must_look_up(name);
    real(&result);
    after_init(result);
    if (status != NULL) {
        *status = result;
    }
}

static void fortran_init_thread(const char *name, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *status)
{
    MPI_Fint result = MPI_SUCCESS;
    init_thread_function *real = must_look_up(name);
    real(required, provided, &result);
    after_init(result);
    if (status != NULL) {
        *status = result;
    }
}

static void fortran_finalize(const char *name, MPI_Fint *status)
{
    init_function *real = must_look_up(name);
    before_finalize();
    real(status);
}

EXPORTED init_function mpi_init_, mpi_init_f08_, mpi_finalize_, mpi_finalize_f08_;
EXPORTED init_thread_function mpi_init_thread_, mpi_init_thread_f08_;

void mpi_init_(MPI_Fint *status)
{
    fortran_init("mpi_init_", status);
}

void mpi_init_f08_(MPI_Fint *status)
{
    fortran_init("mpi_init_f08_", status);
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *status)
{
    fortran_init_thread("mpi_init_thread_", required, provided, status);
}

void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *status)
{
    fortran_init_thread("mpi_init_thread_f08_", required, provided, status);
}

void mpi_finalize_(MPI_Fint *status)
{
    fortran_finalize("mpi_finalize_", status);
}

void mpi_finalize_f08_(MPI_Fint *status)
{
    fortran_finalize("mpi_finalize_f08_", status);
}
