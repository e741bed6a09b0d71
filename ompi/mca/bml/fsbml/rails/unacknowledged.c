/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells a network that does not answer from a peer that is busy: TCP acknowledges in the kernel, whether
 * or not a process gets a processor. */

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "rails/rails.h"

static void add_rail(int fd, void *what)
{
    uint32_t *rails = what;
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    /* Sent again, and still not acknowledged: also a SYN. Of other files the question fails. */
    if (0 == getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) && 0 != info.tcpi_retransmits) {
        const int rail = fsbml_kernel_rail_of(fd);
        *rails |= rail >= 0 ? fsbml_bit((uint32_t) rail) : 0;
    }
}

uint32_t fsbml_unacknowledged(void)
{
    uint32_t rails = 0;
    fsbml_descriptors(add_rail, &rails);
    return rails;
}
