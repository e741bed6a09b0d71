/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A record of what this process gives to its rails, as a file (docs/trace.md), for `./fsbml whatif`
 * (bml_fsbml_record). It stands between the rails' BTLs and all code that sends by them: without the
 * parameter nothing of it is there. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "report/report.h"

#include "api/fsbml_trace.h"
#include "opal/class/opal_hash_table.h"
#include "opal/util/show_help.h"

/* A block of sends is kept, and written when it is full; a line of the file has at most this number of
 * characters. */
enum { BLOCK = 4096, LINES = 64, LINE_BYTES = 96 + FSBML_NAME_MAX };

typedef struct entry_t {
    uint64_t ns;
    uint64_t bytes;
    uint32_t peer;
    uint32_t rail;
} entry_t;

static struct {
    mca_btl_base_module_send_fn_t send;
    mca_btl_base_module_sendi_fn_t sendi;
    mca_btl_base_module_put_fn_t put;
} real[FSBML_MAX_RAILS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static struct {
    int fd;
    bool on;            /* the BTLs' functions are the recorder's */
    uint64_t origin_ns; /* on the shim's clock */
    uint64_t last_ns, sends;
    entry_t *block;
    size_t n;
    opal_hash_table_t rank; /* of the peer behind a real BTL's endpoint, plus 1 */
    char path[OPAL_PATH_MAX];
    char why[FSBML_REASON_MAX]; /* recording has ended early, and it is to be told */
} record = {.fd = -1};

/* ------------------------------------------------------------------- the file */

/* The job goes on, but what is in the file by now is no record: it has no end. */
static void give_up(const char *why)
{
    if (record.fd >= 0) {
        (void) close(record.fd);
        record.fd = -1;
    }
    record.n = 0;
    snprintf(record.why, sizeof(record.why), "%s", why);
}

/* Without the lock: showing it may let messages come and go. Once, as recording is over by
 * then. */
static void tell(const char *why)
{
    if ('\0' != why[0]) {
        opal_show_help(FSBML_HELP, "record not written", true, record.path, fsbml_node_name(), why);
    }
}

static bool write_all(const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(record.fd, text, len);
        if (n < 0 && EINTR == errno) {
            continue;
        }
        if (n <= 0) {
            give_up(n < 0 ? strerror(errno) : "nothing more can be written");
            return false;
        }
        text += n;
        len -= (size_t) n;
    }
    return true;
}

/* The rail is a comment: a trace says what was sent, and it is for the simulated scheduler to choose. */
static void write_block(void)
{
    char text[LINES * LINE_BYTES];
    size_t len = 0;
    for (size_t i = 0; i < record.n; ++i) {
        const entry_t *e = &record.block[i];
        len += (size_t) snprintf(text + len, LINE_BYTES, "%" PRIu64 " %" PRIu32 " %" PRIu64 " # %s\n", e->ns,
                                 e->peer, e->bytes, fsbml_rails.rail[e->rail].name);
        if (sizeof(text) - len < LINE_BYTES || i + 1 == record.n) {
            if (!write_all(text, len)) {
                return;
            }
            len = 0;
        }
    }
    record.sends += record.n;
    record.n = 0;
}

static bool open_file(void)
{
    char header[128];
    struct timespec day;
    if (0
        != fsbml_record_name(mca_bml_fsbml_params.record, OMPI_PROC_MY_NAME->vpid, fsbml_job_number(),
                             fsbml_life, "sends", record.path, sizeof(record.path))) {
        snprintf(record.path, sizeof(record.path), "(bml_fsbml_record)");
        give_up("the name is too long");
        return false;
    }
    /* A new file of this user, whatever there was. */
    (void) unlink(record.path);
    record.fd = open(record.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (record.fd < 0) {
        give_up(strerror(errno));
        return false;
    }
    clock_gettime(CLOCK_REALTIME, &day);
    record.origin_ns = fsbml_now_ns();
    const int len = snprintf(header, sizeof(header), "fsbml-sends 1 rank %u ranks %u origin %" PRIu64 "\n",
                             (unsigned) OMPI_PROC_MY_NAME->vpid, (unsigned) fsbml_job_size(),
                             (uint64_t) day.tv_sec * 1000000000u + (uint64_t) day.tv_nsec);
    return write_all(header, (size_t) len);
}

/* ------------------------------------------------------------------ the sends */

static void keep(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint,
                 uint64_t now, size_t bytes)
{
    const uint32_t module = (uint32_t) fsbml_rail_of(btl);
    void *rank = NULL;
    char why[FSBML_REASON_MAX] = "";
    pthread_mutex_lock(&lock);
    if (record.fd >= 0
        && OPAL_SUCCESS
               == opal_hash_table_get_value_uint64(&record.rank, (uint64_t) (uintptr_t) endpoint, &rank)) {
        /* What one thread, or a completion, has sent meanwhile is there already: time stamps do not run
         * back. */
        const uint64_t ns = now - record.origin_ns;
        record.last_ns = ns > record.last_ns ? ns : record.last_ns;
        record.block[record.n++] = (entry_t){.ns = record.last_ns,
                                             .bytes = bytes,
                                             .peer = (uint32_t) ((uintptr_t) rank - 1),
                                             .rail = fsbml_pairing_rail_of(module, endpoint)};
        if (BLOCK == record.n) {
            write_block();
            memcpy(why, record.why, sizeof(why));
            record.why[0] = '\0';
        }
    }
    pthread_mutex_unlock(&lock);
    tell(why);
}

static int recorded_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                         mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    const uint64_t now = fsbml_now_ns();
    const size_t bytes = fsbml_des_bytes(des); /* the descriptor may be gone afterwards */
    const int rc = real[fsbml_rail_of(btl)].send(btl, endpoint, des, tag);
    if (FSBML_TAG_PROBE != tag && (rc >= 0 || OMPI_ERR_RESOURCE_BUSY == rc)) {
        keep(btl, endpoint, now, bytes);
    }
    return rc;
}

static int recorded_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                          struct opal_convertor_t *convertor, void *header, size_t header_size,
                          size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                          mca_btl_base_descriptor_t **descriptor)
{
    const uint64_t now = fsbml_now_ns();
    const int rc = real[fsbml_rail_of(btl)].sendi(btl, endpoint, convertor, header, header_size, payload_size,
                                                  order, flags, tag, descriptor);
    if (OMPI_SUCCESS == rc) {
        keep(btl, endpoint, now, header_size + payload_size);
    }
    return rc;
}

static int recorded_put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        void *local_address, uint64_t remote_address,
                        mca_btl_base_registration_handle_t *local_handle,
                        mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags, int order,
                        mca_btl_base_rdma_completion_fn_t cbfunc, void *cbcontext, void *cbdata)
{
    const uint64_t now = fsbml_now_ns();
    const int rc = real[fsbml_rail_of(btl)].put(btl, endpoint, local_address, remote_address, local_handle,
                                                remote_handle, size, flags, order, cbfunc, cbcontext, cbdata);
    if (rc >= 0) {
        keep(btl, endpoint, now, size);
    }
    return rc;
}

/* ------------------------------------------------------------ set-up and end */

void fsbml_record_start(void)
{
    const char *to = mca_bml_fsbml_params.record;
    if (NULL == to || '\0' == to[0] || record.on) {
        return;
    }
    record.why[0] = '\0';
    record.block = malloc(BLOCK * sizeof(*record.block));
    if (NULL == record.block || !open_file()) {
        tell('\0' != record.why[0] ? record.why : "memory is short");
        free(record.block);
        record.block = NULL;
        return;
    }
    OBJ_CONSTRUCT(&record.rank, opal_hash_table_t);
    (void) opal_hash_table_init(&record.rank, 256);
    record.last_ns = record.sends = 0;
    record.n = 0;
    record.on = true;
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        mca_btl_base_module_t *btl = fsbml_rails.rail[r].btl;
        real[r].send = btl->btl_send;
        real[r].sendi = btl->btl_sendi;
        real[r].put = btl->btl_put;
        btl->btl_send = recorded_send;
        btl->btl_sendi = NULL != btl->btl_sendi ? recorded_sendi : NULL;
        btl->btl_put = NULL != btl->btl_put ? recorded_put : NULL;
    }
}

void fsbml_record_stop(void)
{
    if (!record.on) {
        return;
    }
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        mca_btl_base_module_t *btl = fsbml_rails.rail[r].btl;
        btl->btl_send = real[r].send;
        btl->btl_sendi = real[r].sendi;
        btl->btl_put = real[r].put;
    }
    pthread_mutex_lock(&lock);
    record.on = false;
    if (record.fd >= 0) {
        write_block();
    }
    if (record.fd >= 0) {
        char end[32];
        const int len = snprintf(end, sizeof(end), "end %" PRIu64 "\n", record.sends);
        if (write_all(end, (size_t) len)) {
            const int fd = record.fd;
            record.fd = -1;
            if (0 != close(fd)) { /* where a full disk is noticed late */
                give_up(strerror(errno));
            } else {
                FSBML_VERBOSE(FSBML_V_RAILS, "%" PRIu64 " sends are recorded in %s", record.sends,
                              record.path);
            }
        }
    }
    free(record.block);
    record.block = NULL;
    OBJ_DESTRUCT(&record.rank);
    pthread_mutex_unlock(&lock);
    tell(record.why);
    record.why[0] = '\0';
}

void fsbml_record_path_known(const struct mca_btl_base_endpoint_t *real_endpoint, const ompi_proc_t *proc)
{
    /* A trace has the ranks of one job. */
    if (record.on && proc->super.proc_name.jobid == OMPI_PROC_MY_NAME->jobid) {
        pthread_mutex_lock(&lock);
        (void) opal_hash_table_set_value_uint64(&record.rank, (uint64_t) (uintptr_t) real_endpoint,
                                                (void *) ((uintptr_t) proc->super.proc_name.vpid + 1));
        pthread_mutex_unlock(&lock);
    }
}

void fsbml_record_path_gone(const struct mca_btl_base_endpoint_t *real_endpoint)
{
    if (record.on) {
        pthread_mutex_lock(&lock);
        (void) opal_hash_table_remove_value_uint64(&record.rank, (uint64_t) (uintptr_t) real_endpoint);
        pthread_mutex_unlock(&lock);
    }
}
