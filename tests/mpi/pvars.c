/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* FSBML's performance variables, as a tool reads them: they are all there, of the right class; what they
 * count is what was sent; handles begin at zero and are their own, resets as well; threads may read
 * meanwhile. */
#include <pthread.h>

#include "check.h"

#define IS(condition) CHECK(condition, "%s", #condition)

enum { MOST = 32, N = 100, BYTES = 10000 };

typedef struct variable_t {
    const char *name;
    int class;
    MPI_Datatype type;
} variable_t;

static MPI_T_pvar_session session;

static int index_of(const variable_t *v)
{
    int n, found = -1;
    IS(MPI_SUCCESS == MPI_T_pvar_get_num(&n));
    for (int i = 0; i < n; ++i) {
        char name[256], help[1024];
        int name_len = sizeof(name), help_len = sizeof(help), verbosity, class, bind, readonly, continuous,
            atomic;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        if (MPI_SUCCESS
                == MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &enumeration, help,
                                       &help_len, &bind, &readonly, &continuous, &atomic)
            && 0 == strcmp(name, v->name)) {
            IS(v->class == class);
            IS(v->type == type);
            IS(MPI_T_BIND_NO_OBJECT == bind);
            IS(1 == continuous);
            IS(strlen(help) > 10);
            found = i;
        }
    }
    return found;
}

static MPI_T_pvar_handle handle_of(const char *name, int class, MPI_Datatype type, int wanted)
{
    const variable_t v = {name, class, type};
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    const int index = index_of(&v);
    IS(index >= 0);
    if (index >= 0) {
        IS(MPI_SUCCESS == MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
        IS(wanted == count);
    }
    return handle;
}

static void read_all(MPI_T_pvar_handle handle, unsigned long long value[MOST])
{
    memset(value, 0xff, MOST * sizeof(*value));
    IS(MPI_SUCCESS == MPI_T_pvar_read(session, handle, value));
}

static unsigned long long total(MPI_T_pvar_handle handle)
{
    unsigned long long value[MOST], sum = 0;
    read_all(handle, value);
    for (int i = 0; i < MOST; ++i) {
        sum += value[i];
    }
    return sum;
}

/* Each rank sends to the next one. */
static void traffic(int rank, int size)
{
    static char out[BYTES], in[N][BYTES];
    MPI_Request request[2 * N];
    for (int i = 0; i < N; ++i) {
        IS(MPI_SUCCESS
           == MPI_Irecv(in[i], BYTES, MPI_CHAR, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request[i]));
    }
    for (int i = 0; i < N; ++i) {
        IS(MPI_SUCCESS
           == MPI_Isend(out, BYTES, MPI_CHAR, (rank + 1) % size, i, MPI_COMM_WORLD, &request[N + i]));
    }
    IS(MPI_SUCCESS == MPI_Waitall(2 * N, request, MPI_STATUSES_IGNORE));
}

/* Long messages, one rank after another: an answer that waits behind the peer's own messages tells nothing of
 * arrivals, nor one that comes while this process sends, and does not look. */
static void one_way(int rank, int size)
{
    enum { LONG = 200000 };
    static char out[LONG], in[LONG];
    for (int turn = 0; turn < size; ++turn) {
        for (int i = 0; i < N / 10; ++i) {
            if (turn == rank) {
                IS(MPI_SUCCESS == MPI_Send(out, LONG, MPI_CHAR, (rank + 1) % size, i, MPI_COMM_WORLD));
            } else if ((turn + 1) % size == rank) {
                IS(MPI_SUCCESS == MPI_Recv(in, LONG, MPI_CHAR, turn, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static volatile int stop;

static void *reads(void *handle)
{
    while (!stop) {
        (void) total(*(MPI_T_pvar_handle *) handle);
    }
    return NULL;
}

static void end_tool(void)
{
    IS(MPI_SUCCESS == MPI_T_pvar_session_free(&session));
    IS(MPI_SUCCESS == MPI_T_finalize());
}

#if OMPI_MAJOR_VERSION < 5
static int end(MPI_T_pvar_handle bytes)
{
    (void) bytes;
    end_tool(); /* 4.1 crashes in MPI_T_finalize if MPI has ended before, with r2 as well */
    return check_end();
}
#else
/* Sums stay what they are when MPI ends before the tool does: the rails are gone then. */
static int end(MPI_T_pvar_handle bytes)
{
    const unsigned long long before = total(bytes);
    const int status = check_end();
    const unsigned long long after = total(bytes);
    if (after < before || after > before + 1000000) {
        fprintf(stderr, "pvars: %llu bytes before MPI_Finalize, %llu after it\n", before, after);
        return 1;
    }
    end_tool();
    return status;
}
#endif

int main(int argc, char **argv)
{
    int provided;
    IS(MPI_SUCCESS == MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_name = "pvars";
    IS(MPI_SUCCESS == MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    const int rank = check_rank, size = check_size;
    IS(MPI_SUCCESS == MPI_T_pvar_session_create(&session));

    MPI_T_pvar_handle rails = handle_of("bml_fsbml_rails", MPI_T_PVAR_CLASS_LEVEL, MPI_UNSIGNED, 1);
    MPI_T_pvar_handle messages =
        handle_of("bml_fsbml_rail_messages", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle bytes =
        handle_of("bml_fsbml_rail_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle again =
        handle_of("bml_fsbml_rail_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle passed =
        handle_of("bml_fsbml_rail_passed_over", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle most = handle_of("bml_fsbml_rail_backlog_max_ns", MPI_T_PVAR_CLASS_HIGHWATERMARK,
                                       MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle busy =
        handle_of("bml_fsbml_rail_busy_ns", MPI_T_PVAR_CLASS_AGGREGATE, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle kernel =
        handle_of("bml_fsbml_rail_kernel_busy_ns", MPI_T_PVAR_CLASS_AGGREGATE, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle arrivals =
        handle_of("bml_fsbml_rail_arrivals", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle observed = handle_of("bml_fsbml_rail_arrivals_observed_ns", MPI_T_PVAR_CLASS_AGGREGATE,
                                           MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle out =
        handle_of("bml_fsbml_rail_out_of_service", MPI_T_PVAR_CLASS_LEVEL, MPI_UNSIGNED_LONG_LONG, MOST);
    MPI_T_pvar_handle gap =
        handle_of("bml_fsbml_rail_G_ns_per_byte", MPI_T_PVAR_CLASS_GENERIC, MPI_DOUBLE, MOST);
    MPI_T_pvar_handle mbps = handle_of("bml_fsbml_rail_now_mbps", MPI_T_PVAR_CLASS_LEVEL, MPI_DOUBLE, MOST);
    MPI_T_pvar_handle changes =
        handle_of("bml_fsbml_rail_changes", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG, MOST);

    unsigned n = 0;
    double parameter[MOST];
    IS(MPI_SUCCESS == MPI_T_pvar_read(session, rails, &n));
    IS(n >= 2);
    IS(0 == total(messages)); /* of this handle */
    IS(0 == total(changes));
    /* The first message to a peer brings the table; messages that are pending until then are in no decision
     * yet. */
    traffic(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    const unsigned long long before[2] = {total(messages), total(bytes)};
    IS(before[0] >= N && before[1] >= (unsigned long long) N * BYTES);
    IS(MPI_SUCCESS == MPI_T_pvar_reset(session, messages));
    IS(MPI_SUCCESS == MPI_T_pvar_reset(session, bytes));
    IS(0 == total(messages) && 0 == total(bytes));
    IS(total(again) == before[1]); /* another handle is not reset */
    traffic(rank, size);
    const unsigned long long sent = total(bytes);
    IS(sent >= (unsigned long long) N * BYTES && sent < (unsigned long long) N * (BYTES + 200));
    IS(total(again) == before[1] + sent);
    IS(total(messages) >= N && total(messages) <= 2 * N);
    IS(MPI_SUCCESS == MPI_T_pvar_read(session, gap, parameter));
    for (unsigned i = 0; i < MOST; ++i) {
        IS(i < n || 0.0 == parameter[i]);
    }
    if (parameter[0] > 0.0 && parameter[1] > 0.0) { /* else the measurement came to nothing, which it tells */
        IS(total(passed) > 0);
        IS(total(most) > 0);
        IS(total(busy) > 0);
        for (int i = 0, found = 0; i < 200 && !found; ++i) {
            one_way(rank, size);
            const int mine = total(arrivals) > 0;
            MPI_Allreduce(&mine, &found, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        }
        IS(total(arrivals) > 0);
        IS(total(observed) > 0);
        IS(MPI_SUCCESS == MPI_T_pvar_read(session, mbps, parameter)); /* of the cluster's fast rail */
        IS(parameter[0] > 50.0 && parameter[0] < 500.0);
        for (unsigned i = n; i < MOST; ++i) {
            IS(0.0 == parameter[i]);
        }
    }
    IS(total(kernel) > 0);
    IS(0 == total(out));
    /* read-only is what is no sum */
    IS(MPI_SUCCESS != MPI_T_pvar_reset(session, gap));
    IS(MPI_SUCCESS != MPI_T_pvar_start(session, messages)); /* continuous */

    pthread_t thread;
    IS(0 == pthread_create(&thread, NULL, reads, &again));
    for (int i = 0; i < 5; ++i) {
        traffic(rank, size);
    }
    stop = 1;
    IS(0 == pthread_join(thread, NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    return end(again);
}
