/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Which connections are shut down before tcp says goodbye on them: real ones, of this machine with itself. */

#include <errno.h>

#include "fake_tcp.h"

/* Connected, and so much sent that nothing more is taken, also when the peer's kernel has got what it takes.
 */
static int full(uint32_t rail, uint32_t p)
{
    static const char data[1024];
    (void) tcp_connect(rail, p);
    struct pollfd room = {.fd = tcp_endpoint[rail][p]->descriptor, .events = POLLOUT};
    CHECK(0 == fcntl(room.fd, F_SETFL, O_NONBLOCK));
    while (1 == poll(&room, 1, 300)) {
        (void) send(room.fd, data, sizeof(data), MSG_NOSIGNAL);
    }
    return room.fd;
}

static bool is_shut(int fd)
{
    return -1 == send(fd, "bye", 3, MSG_NOSIGNAL | MSG_DONTWAIT) && EPIPE == errno;
}

static void lose(uint32_t p, uint32_t rail)
{
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peers[p]);
    fsbml_path_close(ep, fsbml_path(ep, rail), "it fell silent");
}

/* Of all full connections, those of the closed path and no other. */
FAKE_TEST(a_closed_path_is_not_told_goodbye)
{
    tcp_up(2);
    const int lost = full(0, 0), live = full(1, 0), of_another = full(0, 1);
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(lost)); /* both paths are well */
    lose(0, 0);
    fsbml_goodbye_skip(0, NULL);
    CHECK(!is_shut(lost)); /* no peer leaves */
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(lost) && !is_shut(live) && !is_shut(of_another));
    tcp_down();
}

FAKE_TEST(one_with_room_is)
{
    tcp_up(1);
    (void) tcp_connect(0, 0);
    lose(0, 0);
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(tcp_endpoint[0][0]->descriptor));
    tcp_down();
}

/* A path that was taken away, and did not fail, is no other thing. */
FAKE_TEST(nor_is_a_removed_one)
{
    tcp_up(1);
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    const int lost = full(0, 0), other = full(1, 0);
    fsbml_path_remove(ep, fsbml_path(ep, 0));
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(lost) && !is_shut(other));
    tcp_down();
}

/* What is not as it should be is left alone. */
FAKE_TEST(in_doubt_a_connection_is_left_alone)
{
    struct in_addr elsewhere = {htonl(0x7f000002)};
    tcp_up(1);
    const int lost = full(0, 0);
    lose(0, 0);
    tcp_endpoint[0][0]->address = &elsewhere;
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(lost));
    tcp_endpoint[0][0]->address = &tcp_address;
    tcp_endpoint[0][0]->state = TCP_CLOSED;
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(!is_shut(lost));
    tcp_endpoint[0][0]->state = TCP_CONNECTED;
    fsbml_goodbye_skip(n_peers, peers);
    CHECK(is_shut(lost));
    tcp_down();
}
