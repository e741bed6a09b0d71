/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of a rail that is a network interface: how much it sent, for all programs, its state,
 * and the TCP connections of all processes. Nothing here is asked on the way of a message. */

#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rails/rails.h"

void fsbml_kernel_interface(uint32_t rail, char name[FSBML_NAME_MAX])
{
    const char *text = fsbml_rails.rail[rail].name;
    snprintf(name, FSBML_NAME_MAX, "%.*s", (int) strcspn(text, ":"), text);
}

/* What a line of the table of interfaces says, if it is that one's. */
static bool counters_of(const char *line, const char *interface, fsbml_kernel_counters_t *c)
{
    const size_t len = strlen(interface);
    const char *at = line + strspn(line, " ");
    return 0 == strncmp(at, interface, len) && ':' == at[len]
           && 3
                  == sscanf(at + len + 1, "%*s %" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64,
                            &c->in, &c->bytes_out, &c->out);
}

bool fsbml_kernel_counters(const char *interface, fsbml_kernel_counters_t *c)
{
    char line[512];
    bool found = false;
    FILE *f = fopen("/proc/self/net/dev", "r");
    while (NULL != f && !found && NULL != fgets(line, sizeof(line), f)) {
        found = counters_of(line, interface, c);
    }
    if (NULL != f) {
        (void) fclose(f);
    }
    return found;
}

/* The table of interfaces, kept open: to open it takes longer than to read it. */
static struct {
    opal_mutex_t lock;
    int fd;
} table = {.lock = OPAL_MUTEX_STATIC_INIT, .fd = -1};

void fsbml_kernel_forget(void)
{
    opal_mutex_lock(&table.lock);
    if (table.fd >= 0) {
        (void) close(table.fd);
    }
    table.fd = -1;
    opal_mutex_unlock(&table.lock);
}

/* In one go for all: the kernel writes the whole table anew for each reader. */
uint32_t fsbml_kernel_sent(uint32_t rails, uint64_t bytes[FSBML_MAX_RAILS])
{
    char text[4096], name[FSBML_MAX_RAILS][FSBML_NAME_MAX];
    uint32_t known = 0;
    size_t have = 0; /* bytes of a line that began in what was read before */
    ssize_t n = 0;
    for (uint32_t left = rails; 0 != left; left &= left - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(left);
        fsbml_kernel_interface(rail, name[rail]);
    }
    opal_mutex_lock(&table.lock);
    table.fd = table.fd >= 0 || 0 == rails ? table.fd : open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC);
    for (off_t at = 0; table.fd >= 0 && known != rails; at += n) {
        char *line = text, *end = NULL;
        n = pread(table.fd, text + have, sizeof(text) - 1 - have, at);
        if (n <= 0) {
            break;
        }
        have += (size_t) n;
        text[have] = '\0';
        for (; NULL != (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            for (uint32_t left = rails & ~known; 0 != left; left &= left - 1) {
                const uint32_t rail = (uint32_t) __builtin_ctz(left);
                fsbml_kernel_counters_t c;
                if (counters_of(line, name[rail], &c)) {
                    bytes[rail] = c.bytes_out;
                    known |= fsbml_bit(rail);
                }
            }
        }
        have -= (size_t) (line - text);
        memmove(text, line, have);
    }
    opal_mutex_unlock(&table.lock);
    return known;
}

void fsbml_kernel_connections(bool (*fn)(const fsbml_kernel_connection_t *c, void *what), void *what)
{
    char line[256];
    fsbml_kernel_connection_t c;
    bool over = false;
    FILE *f = fopen("/proc/net/tcp", "r");
    while (NULL != f && !over && NULL != fgets(line, sizeof(line), f)) {
        over = 5
                   == sscanf(line, " %*d: %8" SCNx32 ":%*x %8" SCNx32 ":%*x %x %x:%*x %*x:%*x %x", &c.local,
                             &c.remote, &c.state, &c.unsent, &c.again)
               && fn(&c, what);
    }
    if (NULL != f) {
        (void) fclose(f);
    }
}

bool fsbml_kernel_is_running(int fd, const char *interface)
{
    struct ifreq request = {.ifr_flags = 0};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    return 0 != ioctl(fd, SIOCGIFFLAGS, &request) || 0 != (request.ifr_flags & IFF_RUNNING);
}

bool fsbml_kernel_link(const char *interface, fsbml_kernel_link_t *link)
{
    struct ifreq request = {.ifr_mtu = 0};
    fsbml_kernel_counters_t c;
    *link = (fsbml_kernel_link_t){.carrier = true, .received = UINT64_MAX};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    const bool is_there = 0 == ioctl(fd, SIOCGIFFLAGS, &request);
    if (is_there) {
        link->carrier = 0 == (request.ifr_flags & IFF_UP) || 0 != (request.ifr_flags & IFF_RUNNING);
    }
    if (0 == ioctl(fd, SIOCGIFMTU, &request)) {
        link->mtu = (uint32_t) request.ifr_mtu;
    }
#ifdef SIOCGIFHWADDR
    if (0 == ioctl(fd, SIOCGIFHWADDR, &request)) {
        memcpy(link->device, request.ifr_hwaddr.sa_data, sizeof(link->device));
    }
#endif
    close(fd);
    link->received = fsbml_kernel_counters(interface, &c) ? c.in : UINT64_MAX;
    return is_there;
}

uint32_t fsbml_kernel_sharers(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t most = processors > 0 ? (uint32_t) processors : 1;
    return (fsbml_job_local_size() + most - 1) / most;
}
