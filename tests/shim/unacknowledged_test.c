/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that acknowledges for a process that does nothing, and one that does not: on the loopback
 * interface, with real sockets. */

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rails/rails.h"

static int failures;

#define CHECK(ok)                                                        \
    do {                                                                 \
        if (!(ok)) {                                                     \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #ok); \
            ++failures;                                                  \
        }                                                                \
    } while (0)

/* A socket whose owner never accepts. */
static int listener(struct sockaddr_in *address)
{
    socklen_t len = sizeof(*address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    CHECK(0 == bind(fd, (struct sockaddr *) address, len));
    CHECK(0 == listen(fd, 1));
    CHECK(0 == getsockname(fd, (struct sockaddr *) address, &len));
    return fd;
}

static int connection(const struct sockaddr_in *to)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void) connect(fd, (const struct sockaddr *) to, sizeof(*to));
    return fd;
}

static bool is_sent_again(int fd)
{
    struct tcp_info info = {.tcpi_retransmits = 0};
    socklen_t len = sizeof(info);
    return 0 == getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) && 0 != info.tcpi_retransmits;
}

int main(void)
{
    enum { ROOM = 2, MORE = 4, MOST_MS = 20000 }; /* a queue of one takes two */
    const struct timespec ms = {.tv_nsec = 1000000};
    struct sockaddr_in address;
    int fd[ROOM + MORE];
    fsbml_rails.n_rails = 2;
    snprintf(fsbml_rails.rail[0].name, sizeof(fsbml_rails.rail[0].name), "none");
    snprintf(fsbml_rails.rail[1].name, sizeof(fsbml_rails.rail[1].name), "lo");
    const int at = listener(&address);

    for (int i = 0; i < ROOM; ++i) {
        fd[i] = connection(&address);
        CHECK(4 == send(fd[i], "busy", 4, 0));
    }
    CHECK(0 == fsbml_unacknowledged());

    /* The queue is full: the kernel does not answer to these, as if there were no network. */
    for (int i = ROOM; i < ROOM + MORE; ++i) {
        fd[i] = connection(&address);
    }
    CHECK(0 == fsbml_unacknowledged()); /* asked once only */
    for (int i = 0; i < MOST_MS && !is_sent_again(fd[ROOM + MORE - 1]); ++i) {
        (void) nanosleep(&ms, NULL);
    }
    CHECK(fsbml_bit(1) == fsbml_unacknowledged());

    for (int i = 0; i < ROOM + MORE; ++i) {
        (void) close(fd[i]);
    }
    CHECK(0 == fsbml_unacknowledged());
    (void) close(at);
    printf("%d failed checks\n", failures);
    return 0 != failures;
}
