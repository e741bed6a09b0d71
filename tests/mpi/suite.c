/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs cases (CHECK_CASE) one after the other in one MPI job, as a launch takes a second and most cases take
 * less. With a case that needs threads, the job has MPI_THREAD_MULTIPLE. Rank 0 prints for each case
 *
 *     case NAME ARGUMENTS begins
 *     case NAME ARGUMENTS: N checks passed in S s; this node sent B bytes on rail0, B on rail1, B on rail2
 *
 * usage: suite [--limit SECONDS] 'CASE [ARGUMENT]...'...
 */
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include "interfaces.h"

enum { MOST_ARGUMENTS = 4, MOST_TEXT = 200 };

struct check_case *check_cases;

static char words[MOST_TEXT];                    /* of the case that runs */
static const char *argument[1 + MOST_ARGUMENTS]; /* into words; the first one is the case's name */
static char complaint[MOST_TEXT + 100];          /* if the case that runs exceeds its time limit */

const char *check_argument(int n)
{
    return n <= MOST_ARGUMENTS ? argument[n] : NULL;
}

uint64_t check_job_seed(int n)
{
    const char *given = check_argument(n);
    uint64_t seed = NULL != given ? strtoull(given, NULL, 0) : (uint64_t) time(NULL) % 1000000;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (0 == check_rank) {
        printf("%s: seed %" PRIu64 "\n", check_name, seed);
        fflush(stdout);
    }
    return seed;
}

/* Splits a case's name and arguments into words, and returns the case. */
static const struct check_case *parse(const char *text)
{
    char *rest = words;
    memset(argument, 0, sizeof(argument));
    CHECK(strlen(text) < sizeof(words), "'%s' is too long", text);
    strcpy(words, text);
    for (int n = 0; n <= MOST_ARGUMENTS; ++n) {
        argument[n] = strtok_r(0 == n ? words : NULL, " ", &rest);
    }
    const struct check_case *found = check_cases;
    while (NULL != found && (NULL == argument[0] || 0 != strcmp(found->name, argument[0]))) {
        found = found->next;
    }
    CHECK(NULL != found, "there is no case '%s'", text);
    return found;
}

/* A rank that hangs says so, and where, and ends the job. */
static void too_long(int signal)
{
    void *frames[32];
    (void) signal;
    const ssize_t written = write(STDERR_FILENO, complaint, strlen(complaint));
    backtrace_symbols_fd(frames, backtrace(frames, CHECK_COUNT(frames)), STDERR_FILENO);
    _exit(written < 0 ? 3 : 2);
}

/* Until alarm(0), `what` must end within these seconds. */
static void must_end(const char *what, unsigned limit)
{
    snprintf(complaint, sizeof(complaint), "%s: hung: rank %d did not end it within %u s\n", what, check_rank,
             limit);
    alarm(limit);
}

static void run(const char *text, unsigned limit)
{
    const struct check_case *one = parse(text);
    uint64_t before[INTERFACES_RAILS], after[INTERFACES_RAILS];
    if (0 == check_rank) {
        printf("case %s begins\n", text);
        fflush(stdout);
    }
    check_name = one->name;
    CHECK(check_size >= one->least, "needs at least %d ranks, has %d", one->least, check_size);
    interfaces_sent(before);
    const double start = check_seconds();
    atomic_store(&check_passed, 0);
    must_end(text, one->slow > 0 ? limit * (unsigned) one->slow : limit);
    one->run();
    uint64_t mine = atomic_load(&check_passed), all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    int left = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &left, MPI_STATUS_IGNORE);
    CHECK(!left, "a message is left over");
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    interfaces_sent(after);
    if (0 == check_rank) {
        printf("case %s: %" PRIu64 " checks passed in %.3f s; this node sent", text, all,
               check_seconds() - start);
        for (int rail = 0; rail < INTERFACES_RAILS; ++rail) {
            printf("%s %" PRIu64 "%s on rail%d", rail > 0 ? "," : "", after[rail] - before[rail],
                   rail > 0 ? "" : " bytes", rail);
        }
        printf("\n");
        fflush(stdout);
    }
}

/* Open MPI 5.0 makes two communicators at once when partitioned communication is first used, which hangs
 * where messages are late and ranks have had different communicators, whatever the BML. So that is here,
 * before a rail fails. */
static void begin_partitioned(void)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    char out = 1, in = 0;
    MPI_Request request[2];
    MPI_Psend_init(&out, 1, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(&in, 1, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request[1]);
    MPI_Startall(2, request);
    MPI_Pready(0, request[0]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    CHECK_EQ(in, out, "a partition for this rank itself");
#endif
}

int main(int argc, char **argv)
{
    int first = 1, wanted = MPI_THREAD_SINGLE, provided = -1;
    unsigned limit = 90;
    if (argc > 2 && 0 == strcmp(argv[1], "--limit")) {
        limit = (unsigned) strtoul(argv[2], NULL, 10);
        first = 3;
    }
    CHECK(first < argc && limit > 0, "usage: suite [--limit SECONDS] 'CASE [ARGUMENT]...'...");
    for (int i = first; i < argc; ++i) {
        wanted = parse(argv[i])->threads ? MPI_THREAD_MULTIPLE : wanted;
    }
    void *loads[1];
    (void) backtrace(loads, 1); /* its library, which no signal handler may load */
    signal(SIGALRM, too_long);
    must_end("MPI_Init", limit);
    const double start = check_seconds();
    /* Not MPI_Init_thread where no case needs it: most programs start with MPI_Init. */
    if (MPI_THREAD_SINGLE == wanted) {
        MPI_Init(&argc, &argv);
    } else {
        MPI_Init_thread(&argc, &argv, wanted, &provided);
        CHECK_EQ(provided, wanted, "thread level provided");
    }
    const double took = check_seconds() - start;
    alarm(0);
    double longest = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    for (int i = first; i < argc; ++i) {
        if (0 == strcmp(argv[i], "requests")) {
            must_end("partitioned communication's begin", limit);
            begin_partitioned();
            alarm(0);
        }
    }
    for (int i = first; i < argc; ++i) {
        run(argv[i], limit);
    }
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    must_end("MPI_Finalize", limit);
    MPI_Finalize();
    if (0 == check_rank) {
        printf("suite: MPI_Init took %.0f ms\nsuite: %d cases passed\n", 1e3 * longest, argc - first);
    }
    return 0;
}
