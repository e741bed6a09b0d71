/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Which connections are shut down before tcp says goodbye on them: real ones, of this machine with itself. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_pml.h"

enum { OWN = 0, OTHER = 1, STRANGER = 2, N_LISTENERS = 3, MOST = 32 };

static mca_btl_base_component_t tcp_component = {.btl_version = {MCA_BTL_DEFAULT_VERSION("tcp")}};

/* Rail r of this process is at 127.1.r.1, that of its peers, which are on one node, at 127.1.r.2. */
static struct in_addr address_of(int rail, int host)
{
    return (struct in_addr){htonl(0x7f010000u + ((uint32_t) rail << 8) + (uint32_t) host)};
}

static int listener[N_LISTENERS]; /* this process', its first peer's, and that of another program */
static in_port_t port[N_LISTENERS];
static int opened[MOST], n_opened;
static uint32_t silent; /* the rank that has not published where it listens, 0: none */

static int kept(int fd)
{
    CHECK(fd >= 0 && n_opened < MOST);
    return opened[n_opened++] = fd;
}

static int bound(struct in_addr address)
{
    const int small = 4096, fd = kept(socket(AF_INET, SOCK_STREAM, 0));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = address};
    CHECK(0 == setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)));
    CHECK(0 == setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
    CHECK(0 == bind(fd, (struct sockaddr *) &at, sizeof(at)));
    return fd;
}

typedef struct pair_t {
    int connected, accepted;
} pair_t;

static pair_t joined(int rail, int from, int to, int by)
{
    pair_t p = {.connected = bound(address_of(rail, from))};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = address_of(rail, to), .sin_port = port[by]};
    CHECK(0 == connect(p.connected, (struct sockaddr *) &at, sizeof(at)));
    p.accepted = kept(accept(listener[by], NULL, NULL));
    return p;
}

/* So much that nothing more is taken, also when the peer's kernel has got what it takes. */
static int full(int fd)
{
    static const char data[1024];
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    CHECK(0 == fcntl(fd, F_SETFL, O_NONBLOCK));
    while (1 == poll(&room, 1, 300)) {
        (void) send(fd, data, sizeof(data), MSG_NOSIGNAL);
    }
    return fd;
}

static int connected(int rail, int to)
{
    return joined(rail, 1, 2, to).connected;
}

static int accepted(int rail, int by)
{
    return joined(rail, 2, 1, by).accepted;
}

static bool is_shut(int fd)
{
    return -1 == send(fd, "bye", 3, MSG_NOSIGNAL | MSG_DONTWAIT) && EPIPE == errno;
}

/* As tcp of 5.0 has it: two interfaces; ranks have ports of their own. */
static size_t where_it_listens(const ompi_process_name_t *from, const char *key, void **data)
{
    uint8_t *list;
    const bool peers_own = 1 == from->jobid && from->vpid >= 1 && from->vpid <= n_peers;
    if (NULL == strstr(key, "btl.tcp") || (peers_own && silent == from->vpid)) {
        return 0;
    }
    *data = list = calloc(2, 32);
    for (int rail = 0; rail < 2; ++rail) {
        const struct in_addr address = address_of(rail, peers_own ? 2 : 1);
        in_port_t at = port[peers_own ? OTHER : OWN];
        at = (in_port_t) (peers_own && from->vpid > 1 ? htons(1) : at);
        memcpy(list + 32 * rail, &address, 4);
        memcpy(list + 32 * rail + 28, &at, 2);
    }
    return 64;
}

static mca_bml_fsbml_endpoint_t *up(uint32_t peer_count)
{
    for (int i = 0; i < 2; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
    }
    world_up(2);
    while (n_peers < peer_count) {
        world_add_peer();
    }
    for (uint32_t p = 0; p < n_peers; ++p) {
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[p]));
    }
    all_answer(2);
    known_procs = n_peers;
    for (int i = 0; i < 2; ++i) {
        char *text = fsbml_rails.rail[i].about.address;
        fake[i].super.btl_component = &tcp_component;
        snprintf(text, sizeof(fsbml_rails.rail[i].about.address), "127.1.%d.1", i);
    }
    for (int i = 0; i < N_LISTENERS; ++i) {
        struct sockaddr_in at;
        socklen_t len = sizeof(at);
        listener[i] = bound((struct in_addr){INADDR_ANY});
        CHECK(0 == listen(listener[i], MOST) && 0 == getsockname(listener[i], (struct sockaddr *) &at, &len));
        port[i] = at.sin_port;
    }
    other_value = where_it_listens;
    silent = 0;
    return fsbml_endpoint_of_proc(peer);
}

static void down(void)
{
    while (n_opened > 0) {
        (void) close(opened[--n_opened]);
    }
    other_value = NULL;
    world_down(2);
    known_procs = 0;
}

static void lose(uint32_t p, uint32_t rail)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peers[p]);
    fsbml_path_close(ep, fsbml_path(ep, rail), "it fell silent");
}

/* Of all full connections, those of the closed path and no other. */
FAKE_TEST(a_closed_path_is_not_told_goodbye)
{
    (void) up(1);
    const int lost[] = {full(connected(0, OTHER)), full(accepted(0, OWN))};
    const int others[] = {full(connected(1, OTHER)),    full(accepted(1, OWN)),      /* a live path's */
                          full(connected(0, STRANGER)), full(accepted(0, STRANGER)), /* not tcp's */
                          connected(0, OTHER),          accepted(0, OWN)};           /* there is room */
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(lost[0]) && !is_shut(lost[1])); /* both paths are well */
    lose(0, 0);
    fsbml_goodbye_skip(0, NULL);
    CHECK(!is_shut(lost[0]) && !is_shut(lost[1])); /* no peer leaves */
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(lost[0]) && is_shut(lost[1]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
        CHECK(!is_shut(others[i]));
    }
    down();
}

/* A path that was taken away, and did not fail, is no other thing. */
FAKE_TEST(nor_is_a_removed_one)
{
    mca_bml_fsbml_endpoint_t *ep = up(1);
    const int lost = full(connected(0, OTHER)), other = full(connected(1, OTHER));
    fsbml_path_remove(ep, fsbml_path(ep, 0));
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(lost) && !is_shut(other));
    down();
}

/* Which of a node's ranks has connected cannot be seen; the rank that this process has connected to can. */
FAKE_TEST(in_doubt_a_connection_is_left_alone)
{
    (void) up(2);
    const int to_first = full(connected(0, OTHER)), from_one = full(accepted(0, OWN));
    lose(0, 0);
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(to_first) && !is_shut(from_one));
    silent = 2;
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(from_one));
    silent = 0;
    lose(1, 0);
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(from_one));
    down();
}

/* A peer that does not say where it listens cannot be told from others. */
FAKE_TEST(an_unknown_address_is_no_peers)
{
    (void) up(1);
    const int lost = full(connected(0, OTHER));
    lose(0, 0);
    silent = 1;
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(lost));
    down();
}
