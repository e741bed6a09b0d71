/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The event base that Open MPI's progress engine looks at is exchanged, and nothing that is in it is lost: on
 * the libevent of this Open MPI. */

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compat/events.h"
#include "fake_pml.h"

/* What is used of libevent, whose headers need not be installed. */
struct event_base;
struct event_config;
struct event;
struct event_config *event_config_new(void);
int event_config_avoid_method(struct event_config *config, const char *method);
struct event_base *event_base_new_with_config(const struct event_config *config);
void event_config_free(struct event_config *config);
const char *event_base_get_method(const struct event_base *base);
void event_base_free(struct event_base *base);
struct event *event_new(struct event_base *base, int fd, short what, void (*fn)(int, short, void *),
                        void *with);
int event_add(struct event *event, const struct timeval *timeout);
void event_free(struct event *event);
int event_base_loop(struct event_base *base, int flags);
struct event_base *event_get_base(const struct event *event);

extern struct event_base *opal_sync_event_base;

/* A turn of the engine. */
static int look(void)
{
    const opal_progress_callback_t fn = low_progress_fn;
    return fn();
}

static int came;

static void comes(int fd, short what, void *with)
{
    char byte;
    (void) what;
    (void) with;
    came += 1 == read(fd, &byte, 1);
}

/* The engine's, as Open MPI makes it by default, or by epoll. */
static struct event_base *engine(bool by_epoll)
{
    struct event_config *config = event_config_new();
    const char *const avoided[] = {"select", by_epoll ? "poll" : "epoll"};
    for (int i = 0; i < 2; ++i) {
        CHECK(0 == event_config_avoid_method(config, avoided[i]));
    }
    opal_sync_event_base = event_base_new_with_config(config);
    event_config_free(config);
    CHECK(NULL != opal_sync_event_base);
    return opal_sync_event_base;
}

static struct event *watch(struct event_base *base, int fd)
{
    enum { READ = 2 };
    struct event *event = event_new(base, fd, READ, comes, NULL);
    CHECK(NULL != event && 0 == event_add(event, NULL));
    return event;
}

FAKE_TEST(poll_is_exchanged_for_epoll)
{
    struct event_base *const old = engine(false);
    CHECK(0 == strcmp("poll", event_base_get_method(old)));
    CHECK(fsbml_events_watch("epoll") && old != opal_sync_event_base && NULL != low_progress_fn);
    CHECK(0 == strcmp("epoll", event_base_get_method(opal_sync_event_base)));
    CHECK(!fsbml_events_watch("epoll")); /* once */
    fsbml_events_close();
    CHECK(NULL == low_progress_fn && 0 == strcmp("epoll", event_base_get_method(opal_sync_event_base)));
    event_base_free(opal_sync_event_base); /* as Open MPI does */
}

/* Other code has kept a pointer to the old base, and waits by it. */
FAKE_TEST(what_waits_by_the_old_one_is_served)
{
    int end[2];
    CHECK(0 == pipe(end));
    struct event_base *const old = engine(false);
    CHECK(fsbml_events_watch("epoll"));
    struct event *late = watch(old, end[0]);
    came = 0;
    CHECK(0 == look() && 0 == came && 1 == write(end[1], "", 1));
    CHECK(0 == look() && 0 == came); /* it is looked at every tenth of a millisecond */
    virtual_ns += 100000;
    CHECK(0 == look() && 1 == came);
    CHECK(0 == event_add(late, NULL));
    fsbml_events_close(); /* which leaves it to its owner */
    event_free(late);
    event_base_free(old);
    event_base_free(opal_sync_event_base);
    close(end[0]);
    close(end[1]);
}

static int connected;

static void connects(int fd, short what, void *with)
{
    (void) what;
    (void) with;
    connected += 0 == close(accept(fd, NULL, NULL));
}

/* A socket that listens is looked at seldom, what brings data in each turn; in each life of MPI. */
FAKE_TEST(sockets_that_listen_are_set_aside)
{
    enum { READ = 2, PERSIST = 16, NOW = 3 };
    struct event_base *const base = engine(false);
    int end[2];
    CHECK(0 == socketpair(AF_UNIX, SOCK_STREAM, 0, end));
    struct event *data = watch(base, end[0]);
    fsbml_events_set_aside();
    CHECK(NULL == low_progress_fn); /* nothing listens */
    for (int life = 0; life < 2; ++life) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t len = sizeof(at);
        const int listener = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(0 == bind(listener, (struct sockaddr *) &at, len) && 0 == listen(listener, 4)
              && 0 == getsockname(listener, (struct sockaddr *) &at, &len));
        struct event *event = event_new(base, listener, READ | PERSIST, connects, NULL);
        CHECK(0 == event_add(event, NULL));
        fsbml_events_set_aside();
        CHECK(NULL != low_progress_fn && base != event_get_base(event) && base == event_get_base(data)
              && base == opal_sync_event_base);
        connected = 0;
        CHECK(0 == connect(other, (struct sockaddr *) &at, len));
        (void) event_base_loop(base, NOW);
        CHECK(0 == connected);
        virtual_ns += 100000;
        CHECK(0 == look() && 1 == connected);
        if (1 == life) {
            fsbml_events_close(); /* before tcp does */
            CHECK(NULL == low_progress_fn && base == event_get_base(event));
        }
        event_free(event);
        close(other);
        close(listener);
    }
    event_free(data);
    event_base_free(base);
    close(end[0]);
    close(end[1]);
}

FAKE_TEST(by_epoll_nothing_is_set_aside)
{
    struct event_base *const base = engine(true);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(0 == listen(listener, 4));
    struct event *event = watch(base, listener);
    fsbml_events_set_aside();
    CHECK(NULL == low_progress_fn && base == event_get_base(event));
    event_free(event);
    event_base_free(base);
    close(listener);
}

FAKE_TEST(a_base_that_is_in_use_stays)
{
    int end[2];
    CHECK(0 == pipe(end));
    struct event_base *const base = engine(false);
    struct event *early = watch(base, end[0]);
    CHECK(!fsbml_events_watch("epoll") && base == opal_sync_event_base && NULL == low_progress_fn);
    event_free(early);
    event_base_free(base);
    close(end[0]);
    close(end[1]);
}

FAKE_TEST(epoll_is_exchanged_for_poll)
{
    struct event_base *const old = engine(true);
    CHECK(fsbml_events_watch("poll") && old != opal_sync_event_base);
    CHECK(0 == strcmp("poll", event_base_get_method(opal_sync_event_base)));
    fsbml_events_close();
    event_base_free(opal_sync_event_base);
}

static int reasons;

void opal_progress_event_users_increment(void)
{
    ++reasons;
}

void opal_progress_event_users_decrement(void)
{
    --reasons;
}

/* However many connections fail before they are made, in each life of MPI; not where none is of tcp. */
FAKE_TEST(connections_are_looked_at_in_each_turn)
{
    static mca_btl_base_component_t tcp = {.btl_version = {MCA_BTL_DEFAULT_VERSION("tcp")}};
    opal_sync_event_base = NULL;
    for (int life = 0; life < 3; ++life) {
        fakes_construct(2);
        fake[1].super.btl_component = 2 == life ? fake[1].super.btl_component : &tcp;
        world_up(2);
        CHECK((life < 2) == (reasons > 1000));
        world_down(2);
        CHECK(0 == reasons);
    }
}

FAKE_TEST(what_is_so_already_stays)
{
    struct event_base *const base = engine(true);
    CHECK(!fsbml_events_watch("epoll") && base == opal_sync_event_base);
    fsbml_events_close();
    event_base_free(base);
    opal_sync_event_base = NULL;
    CHECK(!fsbml_events_watch("epoll") && NULL == opal_sync_event_base); /* none at all */
}
