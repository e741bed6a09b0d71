/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections are watched by poll where there are few, by epoll where there are many.
 *
 * By poll, Open MPI's progress engine asks for each connection, each time: some 0.08 us, and two rails have
 * twice as many as one. By epoll their number does not count, but a message that comes in costs 10 % more.
 * 4.1 takes poll, 5.0 and later take epoll (opal_event_include), for good, before there is any component. So
 * here the engine's event base is exchanged before the BTLs have any events: tcp takes the new one, which
 * Open MPI frees in the end as it would have freed the old one. What others put into that is still served,
 * ten thousand times a second.
 *
 * So are, where connections are watched by poll, the sockets by which peers connect: a fifth of what each
 * look takes, for something that happens once a peer.
 *
 * All of it is libevent's and Open MPI's own, of which headers need not be installed. Where a function is not
 * found (an Open MPI with a libevent of its own), the user has named a way to watch, or the base is in use
 * already, nothing is done.
 *
 * A choice of opal_event_include by the number of peers would make this file unnecessary. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>

#include "compat/events.h"

#include "opal/runtime/opal_progress.h"

enum { ADDED = 4 /* EVENT_BASE_COUNT_ADDED */, ONCE_AT_MOST = 3 /* EVLOOP_ONCE | EVLOOP_NONBLOCK */ };
enum { PRIORITIES = 8 /* OPAL_EVENT_NUM_PRI */, SERVE_NS = 100000 };

struct event;
struct event_base;
struct event_config;

static struct {
    struct event_base **engine; /* what opal_progress() looks at */
    struct event_config *(*config_new)(void);
    int (*config_avoid)(struct event_config *config, const char *method);
    struct event_base *(*base_new)(const struct event_config *config);
    void (*config_free)(struct event_config *config);
    int (*priority_init)(struct event_base *base, int n);
    const char *(*method)(const struct event_base *base);
    int (*count)(struct event_base *base, unsigned which);
    int (*loop)(struct event_base *base, int flags);
    void (*base_free)(struct event_base *base);
    int (*each)(struct event_base *base,
                int (*fn)(const struct event_base *base, const struct event *event, void *with), void *with);
    int (*fd)(const struct event *event);
    int (*del)(struct event *event);
    int (*set)(struct event_base *base, struct event *event);
    int (*add)(struct event *event, const struct timeval *timeout);
} lib;

static struct event_base *old; /* NULL: there is none */
static _Atomic uint64_t next_ns;

static bool find_all(void)
{
    const struct {
        const char *name;
        void *to;
    } wanted[] = {
        {"opal_sync_event_base", &lib.engine},
        {"event_config_new", &lib.config_new},
        {"event_config_avoid_method", &lib.config_avoid},
        {"event_base_new_with_config", &lib.base_new},
        {"event_config_free", &lib.config_free},
        {"event_base_priority_init", &lib.priority_init},
        {"event_base_get_method", &lib.method},
        {"event_base_get_num_events", &lib.count},
        {"event_base_loop", &lib.loop},
        {"event_base_free", &lib.base_free},
        {"event_base_foreach_event", &lib.each},
        {"event_get_fd", &lib.fd},
        {"event_del", &lib.del},
        {"event_base_set", &lib.set},
        {"event_add", &lib.add},
    };
    Dl_info opal;
    void *in = 0 != dladdr((const void *) (uintptr_t) opal_progress_register, &opal)
                   ? dlopen(opal.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                   : NULL;
    bool found = true;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
        void *symbol = dlsym(NULL != in ? in : RTLD_DEFAULT, wanted[i].name);
        memcpy(wanted[i].to, &symbol, sizeof(symbol));
        found = found && NULL != symbol;
    }
    if (NULL != in) {
        dlclose(in); /* it stays loaded without that */
    }
    return found;
}

static bool is_named_by_user(void)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    int index;
    return OPAL_SUCCESS == mca_base_var_find_by_name("opal_event_include", &index)
           && OPAL_SUCCESS == mca_base_var_get_value(index, NULL, &source, NULL)
           && MCA_BASE_VAR_SOURCE_DEFAULT != source;
}

static struct event_base *make(const char *by)
{
    static const char *const ways[] = {"epoll", "poll", "select"};
    struct event_config *config = lib.config_new();
    struct event_base *base = NULL;
    if (NULL != config) {
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
            if (0 != strcmp(by, ways[i])) {
                (void) lib.config_avoid(config, ways[i]);
            }
        }
        base = lib.base_new(config);
        lib.config_free(config);
    }
    return NULL != base && 0 == lib.priority_init(base, PRIORITIES) ? base : NULL;
}

/* One thread at a time, and seldom. */
static int serve(void)
{
    const uint64_t now = fsbml_now_ns();
    uint64_t due = atomic_load_explicit(&next_ns, memory_order_relaxed);
    if (now < due || !atomic_compare_exchange_strong(&next_ns, &due, UINT64_MAX)) {
        return 0;
    }
    (void) lib.loop(old, ONCE_AT_MOST);
    atomic_store(&next_ns, now + SERVE_NS);
    return 0;
}

static void serve_from_now(struct event_base *base)
{
    old = base;
    atomic_store(&next_ns, 0);
    opal_progress_register_lp(serve);
}

bool fsbml_events_watch(const char *by)
{
    if (NULL != old || !find_all() || NULL == *lib.engine || 0 == strcmp(by, lib.method(*lib.engine))
        || 0 != lib.count(*lib.engine, ADDED) || is_named_by_user()) {
        return false;
    }
    struct event_base *base = make(by);
    if (NULL == base) {
        return false;
    }
    serve_from_now(*lib.engine);
    *lib.engine = base;
    FSBML_VERBOSE(FSBML_V_RAILS, "connections are watched by %s", lib.method(base));
    return true;
}

typedef struct listeners_t {
    struct event *event[16]; /* tcp has two */
    size_t n;
} listeners_t;

static int note_listener(const struct event_base *base, const struct event *event, void *with)
{
    listeners_t *all = with;
    int listens = 0;
    socklen_t len = sizeof(listens);
    (void) base;
    if (all->n < sizeof(all->event) / sizeof(all->event[0])
        && 0 == getsockopt(lib.fd(event), SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && 0 != listens) {
        all->event[all->n++] = (struct event *) (uintptr_t) event;
    }
    return 0;
}

static void move(const listeners_t *all, struct event_base *to)
{
    for (size_t i = 0; i < all->n; ++i) {
        (void) lib.del(all->event[i]);
        (void) lib.set(to, all->event[i]);
        (void) lib.add(all->event[i], NULL);
    }
}

void fsbml_events_set_aside(void)
{
    listeners_t all = {.n = 0};
    if (!find_all() || NULL == *lib.engine || 0 != strcmp("poll", lib.method(*lib.engine))
        || is_named_by_user() || 0 != lib.each(*lib.engine, note_listener, &all) || 0 == all.n) {
        return;
    }
    if (NULL == old) {
        struct event_base *base = make("poll");
        if (NULL == base) {
            return;
        }
        serve_from_now(base);
    }
    move(&all, old);
}

/* tcp counts each connection that is made among the reasons for that, and takes off each that is closed, also
 * if it never was made (4.1.4, 5.0.7, 6.0): where both ends connect at the same time, or a cable is out. With
 * none left, connections are looked at a hundred times a second. So there are more reasons than failures. */
void fsbml_events_look(bool always)
{
    enum { REASONS = 1024 };
    static bool looks;
    for (int i = 0; looks != always && i < REASONS; ++i) {
        if (always) {
            opal_progress_event_users_increment();
        } else {
            opal_progress_event_users_decrement();
        }
    }
    looks = always;
}

void fsbml_events_close(void)
{
    listeners_t all = {.n = 0};
    if (NULL != old) {
        opal_progress_unregister(serve);
        if (NULL != *lib.engine && 0 == lib.each(old, note_listener, &all)) {
            move(&all, *lib.engine);
        }
        if (0 == lib.count(old, ADDED)) { /* else it is in use */
            lib.base_free(old);
        }
        old = NULL;
    }
}
