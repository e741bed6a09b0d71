/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp of 5.0 says goodbye on every connection that it closes, and tries that again and again while the kernel
 * has no room for it. Where a rail fell silent with its buffer full, that lasts until TCP gives up: a quarter
 * of an hour in MPI_Finalize. So the full connections of closed paths are shut down before: sending fails at
 * once, and tcp closes them as it does any that failed.
 *
 * Other ways are worse: a time-out of the kernel (TCP_USER_TIMEOUT) counts from the next of its own attempts
 * on, which may be minutes away; a larger buffer (SO_SNDBUF) is limited by the system. */

#include <poll.h>
#include <sys/socket.h>

#include "compat/compat.h"

static void shut_down_if_full(const mca_bml_base_btl_t *path)
{
    const int fd = fsbml_socket_is_possible(path->btl) ? fsbml_socket_of(path->btl, path->btl_endpoint) : -1;
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    if (fd >= 0 && fsbml_socket_is_proved(path->btl_endpoint, fd) && 0 == poll(&room, 1, 0)) {
        FSBML_VERBOSE(FSBML_V_PEER, "a connection that takes no goodbye any more is shut down");
        (void) shutdown(fd, SHUT_RDWR);
    }
}

void fsbml_goodbye_skip(size_t n, ompi_proc_t **procs)
{
    for (size_t p = 0; p < n; ++p) {
        const mca_bml_base_btl_t *path;
        for (size_t i = 0; NULL != (path = fsbml_tcp->closed(procs[p], i)); ++i) {
            shut_down_if_full(path);
        }
    }
}
