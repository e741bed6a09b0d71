/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a rail leads back: what this node sends comes in again at the same interface. No program without
 * privileges gets such frames, as the kernel drops what comes in with an address of its own; but it counts
 * them. So a few frames are sent to all in the network, three times, each time another number that no process
 * knows before, and the interface must have counted just as many that came in, and then be still for a
 * moment.
 *
 * These frames are a burden to others, in a large job from each of its processes. So they are sent only where
 * it can be a loop: since the job began, nothing has come in or about as much as went out (in a network with
 * others, other numbers soon come together), and no connection stands on the interface. If nothing comes
 * back, that is all: 27 empty datagrams at most, and that three times at most a rail, as a busy machine may
 * be late. Each process looks for itself, not only the first of a node: else the ranks of a node would name
 * different causes.
 *
 * Interfaces whose drivers count late, or that drop frames with their own address, show nothing; neither do
 * networks other than Ethernet with IPv4, nor other systems than Linux. */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rails/rails.h"

enum { ROUNDS = 3, LEAST = 12, SPREAD = 16, TRIES = 3 };
enum { STRAY = 1 };  /* frame that the switch itself may send meanwhile */
enum { ASKED = 16 }; /* frames of others that ask for this address, some three of each, where those get in */
enum { STILL_NS = 1000000, WAIT_NS = 5000000, LOOKS = 100 };

static fsbml_kernel_counters_t before[FSBML_MAX_RAILS];
static bool known[FSBML_MAX_RAILS]; /* before[] is */
static uint32_t tries[FSBML_MAX_RAILS];
static atomic_bool found[FSBML_MAX_RAILS];
static atomic_flag busy = ATOMIC_FLAG_INIT; /* one thread tries at a time, and has tries[] */

void fsbml_echo_begin(uint32_t rail, const char *interface)
{
    known[rail] = fsbml_kernel_counters(interface, &before[rail]);
    tries[rail] = 0;
    atomic_store(&found[rail], false);
}

/* What has come in since the job began can be what went out. */
static bool is_possible(uint32_t rail, const char *interface)
{
    fsbml_kernel_counters_t now;
    if (!known[rail] || !fsbml_kernel_counters(interface, &now)) {
        return false;
    }
    const uint64_t in = now.in - before[rail].in, out = now.out - before[rail].out;
    const uint64_t apart = in > out ? in - out : out - in;
    return 0 == in || apart <= ASKED + out / 16;
}

typedef struct from_t {
    struct in_addr own;
    bool connected;
} from_t;

/* A connection stands between this address and another one: what is sent gets somewhere. */
static bool is_connection(const fsbml_kernel_connection_t *c, void *what)
{
    from_t *from = what;
    from->connected =
        FSBML_KERNEL_ESTABLISHED == c->state && from->own.s_addr == c->local && from->own.s_addr != c->remote;
    return from->connected;
}

static bool is_connected(struct in_addr own)
{
    from_t from = {.own = own};
    fsbml_kernel_connections(is_connection, &from);
    return from.connected;
}

/* This end's address, and that of all in its network. */
static bool addresses(const char *interface, struct sockaddr_in *own, struct sockaddr_in *all)
{
    struct ifaddrs *list;
    bool has = false;
    if (0 != getifaddrs(&list)) {
        return false;
    }
    for (const struct ifaddrs *a = list; NULL != a && !has; a = a->ifa_next) {
        has = 0 == strcmp(a->ifa_name, interface) && NULL != a->ifa_addr && AF_INET == a->ifa_addr->sa_family
              && NULL != a->ifa_netmask;
        if (has) {
            const in_addr_t host = ~((const struct sockaddr_in *) a->ifa_netmask)->sin_addr.s_addr;
            *own = *(const struct sockaddr_in *) a->ifa_addr;
            *all = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_port = htons(9)}; /* where all is discarded */
            all->sin_addr.s_addr = own->sin_addr.s_addr | host;
            has = ntohl(host) > 1;
        }
    }
    freeifaddrs(list);
    return has;
}

/* All that went out since `first`, `sent` frames at least, has come in, and that stays so for a moment: not
 * how frames of others would come. A process that gets no processor for a while has as many looks as others;
 * and where frames come in at all, those of other ranks of this node may be on their way as well. */
static bool came_back(const char *interface, const fsbml_kernel_counters_t *first, uint64_t sent)
{
    const uint64_t begin = fsbml_now_ns();
    uint64_t now = begin, since = begin;
    uint64_t wait = WAIT_NS;
    for (unsigned looks = 0; looks < LOOKS || now - begin < wait; ++looks) {
        fsbml_kernel_counters_t frames;
        now = fsbml_now_ns();
        if (!fsbml_kernel_counters(interface, &frames)) {
            return false;
        }
        const uint64_t in = frames.in - first->in, out = frames.out - first->out;
        wait = in < sent ? WAIT_NS : 4 * WAIT_NS;
        if (out < sent || in < out || in > out + STRAY) {
            since = now;
        } else if (now - since >= STILL_NS) {
            return true;
        }
    }
    return false;
}

static bool probe(const char *interface, const struct sockaddr_in *own, const struct sockaddr_in *all)
{
    const int yes = 1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = own->sin_addr};
    uint64_t sent = 0, random = fsbml_now_ns() + OMPI_PROC_MY_NAME->vpid;
    fsbml_kernel_counters_t first;
    bool good = fd >= 0 && 0 == setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes))
                && 0 == bind(fd, (const struct sockaddr *) &from, sizeof(from))
                && fsbml_kernel_counters(interface, &first);
    for (int round = 0; good && round < ROUNDS; ++round) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth's */
        for (uint64_t n = LEAST + (random >> 60) % SPREAD; good && n > 0; --n, ++sent) {
            good = 0 == sendto(fd, "", 0, MSG_DONTROUTE, (const struct sockaddr *) all, sizeof(*all));
        }
        good = good && came_back(interface, &first, sent);
    }
    if (fd >= 0) {
        (void) close(fd);
    }
    return good;
}

bool fsbml_echo(uint32_t rail, const char *interface)
{
    struct sockaddr_in own, all;
    if (!atomic_load(&found[rail]) && !atomic_flag_test_and_set(&busy)) {
        if (tries[rail] < TRIES && is_possible(rail, interface) && addresses(interface, &own, &all)
            && !is_connected(own.sin_addr)) {
            ++tries[rail];
            atomic_store(&found[rail], probe(interface, &own, &all));
        }
        atomic_flag_clear(&busy);
    }
    return atomic_load(&found[rail]);
}
