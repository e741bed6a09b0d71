/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that may not open as many files as it needs connections. Those that it cannot make fail at once;
 * those that peers make to it wait for ever: the kernel has them, and tcp asks for them again and again. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rails/rails.h"

#include "opal/util/show_help.h"

enum {
    LOOKS = 5, /* one a second */
    SPARE = 8  /* both sides may connect at once, and the help texts are files */
};

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static bool watched; /* the thread runs */

static uint32_t open_files(void)
{
    uint32_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (NULL != dir && NULL != readdir(dir)) {
        ++n;
    }
    if (NULL == dir) {
        return 0;
    }
    (void) closedir(dir);
    return n - 3; /* two names of folders, and this one */
}

static bool none_is_left(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void) close(fd);
    }
    return fd < 0 && EMFILE == errno;
}

/* Whether a connection waits to be accepted at one of this process' sockets. */
static bool a_connection_waits(int most)
{
    bool waits = false;
    for (int fd = 0; fd < most && !waits; ++fd) {
        int listens = 0;
        struct tcp_info info = {.tcpi_unacked = 0};
        socklen_t len = sizeof(listens), size = sizeof(info);
        waits = 0 == getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && 0 != listens
                && 0 == getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size)
                && info.tcpi_unacked > 0; /* of a listening socket: its backlog (tcp_get_info) */
    }
    return waits;
}

static void end_the_job(rlim_t limit)
{
    /* not by a help text, which is in a file */
    opal_output(0,
                "fsbml: %s on %s has used up its %lu file descriptors, and peers wait for it to accept their "
                "connections: raise the limit (ulimit -n), or use fewer rails (--mca bml_fsbml_exclude NAME)",
                OMPI_NAME_PRINT(OMPI_PROC_MY_NAME), fsbml_node_name(), (unsigned long) limit);
    if (NULL != fsbml_rails.error_cb) {
        fsbml_rails.error_cb(&fsbml_rails.group[0]->pseudo, MCA_BTL_ERROR_FLAGS_FATAL,
                             &ompi_proc_local_proc->super, "no file is left");
    }
}

/* A thread, as tcp's accept does not let the progress function go on: its event loop runs while there is a
 * connection that it cannot accept. */
static void *look(void *unused)
{
    unsigned stuck = 0; /* how many looks in a row */
    struct timespec at;
    struct rlimit limit;
    (void) unused;
    pthread_mutex_lock(&lock);
    while (watched) {
        clock_gettime(CLOCK_REALTIME, &at);
        ++at.tv_sec;
        if (ETIMEDOUT != pthread_cond_timedwait(&over, &lock, &at)) {
            continue;
        }
        const bool is_stuck = 0 == getrlimit(RLIMIT_NOFILE, &limit) && none_is_left()
                              && a_connection_waits((int) limit.rlim_cur);
        stuck = is_stuck ? stuck + 1 : 0;
        if (LOOKS == stuck) {
            pthread_mutex_unlock(&lock);
            end_the_job(limit.rlim_cur);
            pthread_mutex_lock(&lock);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

void fsbml_files_check(uint64_t made)
{
    struct rlimit limit;
    uint32_t rails = 0;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        rails += 0 == strncmp(fsbml_rails.rail[i].key, "tcp:", 4);
    }
    const uint64_t peers = fsbml_job_size() - fsbml_job_local_size(), files = open_files();
    const uint64_t needed = files - (made < files ? made : files) + peers * rails + SPARE;
    if (0 == rails || 0 != getrlimit(RLIMIT_NOFILE, &limit) || needed <= limit.rlim_cur) {
        return;
    }
    opal_show_help(FSBML_HELP, "few files", true, fsbml_node_name(), (unsigned long) limit.rlim_cur,
                   (unsigned long) files, (unsigned long) peers, (unsigned long) rails,
                   (unsigned long) needed);
    sigset_t all, before; /* signals are the program's threads' */
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_BLOCK, &all, &before);
    watched = true;
    watched = 0 == pthread_create(&thread, NULL, look, NULL);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fsbml_files_forget(void)
{
    pthread_mutex_lock(&lock);
    const bool runs = watched;
    watched = false;
    pthread_cond_signal(&over);
    pthread_mutex_unlock(&lock);
    if (runs) {
        (void) pthread_join(thread, NULL);
    }
}
