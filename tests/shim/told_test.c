/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a rail whose rate changes while the job runs: it is in the report and the trace, is
 * counted, and goes to the cache once it has lasted. And of a rail's faults: they are kept for the report. */

#include <unistd.h>

#define FAKE_OWN_MAIN
#include "fake_start.h"

static char folder[] = "/tmp/fsbml-told.XXXXXX", path[128];

/* All of a file of the folder; for the caller to free. */
static char *text_of(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    CHECK(NULL != file);
    char *text = calloc(1, 1000000);
    if (NULL != file) {
        CHECK(fread(text, 1, 999999, file) > 0);
        fclose(file);
    }
    return text;
}

static bool has(const char *name, const char *part)
{
    char *text = text_of(name);
    const bool found = NULL != strstr(text, part);
    if (!found) {
        fprintf(stderr, "'%s' is not in %s:\n%s\n", part, path, text);
    }
    free(text);
    return found;
}

FAKE_TEST(changes_are_in_report_and_trace)
{
    char report[64], trace[64];
    snprintf(report, sizeof(report), "%s/report.json", folder);
    snprintf(trace, sizeof(trace), "%s/", folder);
    mca_bml_fsbml_params.report = report;
    mca_bml_fsbml_params.trace = trace;
    mca_bml_fsbml_params.trace_every = 1;
    mca_bml_fsbml_params.trace_entries = 100;
    (void) job_up(0, 40, 80);
    fsbml_life = 1; /* else the files have its number */
    net_table_comes();
    fsbml_told(1, 1500000000, 95.5, 20.25);
    fsbml_told(0, 2500000000, 190, 400);
    fsbml_told(1, 3500000000, 20.25, 95);
    CHECK(1 == fsbml_told_count(0) && 2 == fsbml_told_count(1));
    fsbml_job_tell(false);
    char wanted[256];
    snprintf(
        wanted, sizeof(wanted),
        "{\"rail\": \"%s\", \"node\": \"here\", \"ns\": 1500000000, \"before_mbps\": 95.5, \"after_mbps\": "
        "20.25}",
        fsbml_rails.rail[1].name);
    CHECK(has("report.json", wanted));
    CHECK(has("report.json", "changed its rate on here: from 95.5 to 20.2 Mbit/s, 1.5 s into the job"));
    snprintf(wanted, sizeof(wanted),
             "\n1500000000 rate %s 95500000 20250000\n2500000000 rate %s 190000000 400000000\n",
             fsbml_rails.rail[1].name, fsbml_rails.rail[0].name);
    CHECK(has("0.decisions", wanted));
    job_down();
    mca_bml_fsbml_params.report = mca_bml_fsbml_params.trace = NULL;
    /* The next life of MPI begins anew. */
    (void) job_up(0, 40, 80);
    CHECK(0 == fsbml_told_count(0) && 0 == fsbml_told_count(1));
    job_down();
}

/* -------------------------------------------------------------------- the cache */

static char kept[256]; /* the file */

/* A rail's G, as the file has it. */
static double kept_gap(uint32_t rail)
{
    char line[4096], word[FSBML_NAME_MAX + 3];
    double gap = 0;
    snprintf(word, sizeof(word), " %s ", fsbml_rails.rail[rail].name);
    FILE *file = fopen(kept, "r");
    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        const char *at = strstr(line, " G=");
        if (0 == strncmp(line, "rail ", 5) && NULL != strstr(line, word) && NULL != at) {
            gap = strtod(at + 3, NULL);
        }
    }
    if (NULL != file) {
        fclose(file);
    }
    return gap;
}

static bool is_about(double value, double wanted)
{
    return value > 0.95 * wanted && value < 1.05 * wanted;
}

static void find_kept(void)
{
    char command[256];
    snprintf(command, sizeof(command), "ls -d %s/fsbml/rails-* 2>/dev/null", folder);
    FILE *list = popen(command, "r");
    kept[0] = '\0';
    CHECK(NULL != list && NULL != fgets(kept, sizeof(kept), list));
    kept[strcspn(kept, "\n")] = '\0';
    (void) pclose(list);
}

/* A job that measures 40 and 400 ns a byte, or confirms it. */
static void measured(fsbml_cache_mode_t mode)
{
    (void) job_up(0, 40, 400);
    mca_bml_fsbml_params.cache = mode;
    ready();
    fsbml_calibrate();
    find_kept();
    CHECK(is_about(kept_gap(0), 40) && is_about(kept_gap(1), 400));
}

FAKE_TEST(what_a_job_learns_is_kept)
{
    const double learnt[FSBML_MAX_RAILS] = {80, 410}, later[FSBML_MAX_RAILS] = {200, 2000};
    CHECK(0 == setenv("XDG_CACHE_HOME", folder, 1));
    measured(FSBML_CACHE_WRITE);
    fsbml_cache_learn(learnt);
    CHECK(is_about(kept_gap(0), 80) && is_about(kept_gap(1), 400)); /* less than a tenth is no change */
    fsbml_cache_learn(later);                                       /* the second time nothing */
    CHECK(is_about(kept_gap(0), 80) && is_about(kept_gap(1), 400));
    job_down();
    (void) unlink(kept);
}

FAKE_TEST(only_a_job_that_may_write_keeps_it)
{
    const double learnt[FSBML_MAX_RAILS] = {80, 2000};
    measured(FSBML_CACHE_WRITE);
    job_down();
    measured(FSBML_CACHE_READ);
    fsbml_cache_learn(learnt);
    CHECK(is_about(kept_gap(0), 40) && is_about(kept_gap(1), 400));
    job_down();
    (void) unlink(kept);
}

/* The first stream on a rail is disturbed, and behind it a small message waits for a shaper's bucket. */
static void fill_bucket(void)
{
    static uint64_t until_ns;
    if (0 != net[1].streamed && 10000 == net[1].L_ns) {
        net[1].L_ns = 100000;
        until_ns = virtual_ns + 1000000;
    }
    net[1].G_ns = virtual_ns < until_ns ? 1200 : 400;
}

/* The shortest of its times is the rail's. One that was never as short is no more what it was. */
FAKE_TEST(a_rail_is_known_again_behind_a_stream)
{
    measured(FSBML_CACHE_WRITE);
    job_down();
    for (int farther = 0; farther < 2; ++farther) {
        (void) job_up(0, 40, 400);
        mca_bml_fsbml_params.cache = FSBML_CACHE_READ;
        net_also = fill_bucket;
        virtual_ns += 1000000000; /* no stream is repeated for the first job's sake */
        net[1].L_ns = farther ? 100000 : 10000;
        ready();
        fsbml_calibrate();
        CHECK(100000 == net[1].L_ns);
        CHECK(farther == (0 != net_wanted_ns)); /* only a process that measures asks for streams */
        job_down();
    }
    (void) unlink(kept);
}

/* Another job has measured meanwhile: what it found of other rails stays. A file that is damaged is left to
 * the next job, and one that is gone does not come back. */
FAKE_TEST(the_file_of_another_job_is_not_lost)
{
    const double learnt[FSBML_MAX_RAILS] = {80, 0};
    for (int what = 0; what < 3; ++what) {
        measured(FSBML_CACHE_WRITE);
        if (0 == what) {
            char reason[FSBML_REASON_MAX], print[4096] = "", line[4096];
            FILE *file = fopen(kept, "r");
            while (NULL != fgets(line, sizeof(line), file)) {
                if (0 == strncmp(line, "of ", 3)) {
                    snprintf(print, sizeof(print), "%.*s", (int) strcspn(line + 3, "\n"), line + 3);
                }
            }
            fclose(file);
            fsbml_table_t *table = calloc(1, sizeof(*table));
            CHECK(0 == fsbml_table_load(kept, print, table, reason));
            table->rail[1].fit.params.G_ns_per_byte = 300;
            table->rail[1].fit.back = (fsbml_loggp_t){.L_ns = 0};
            CHECK(0 == fsbml_table_store(kept, print, table, reason));
            free(table);
            CHECK(is_about(kept_gap(1), 300));
        } else if (1 == what) {
            CHECK(0 == truncate(kept, 200));
        } else {
            CHECK(0 == unlink(kept));
        }
        fsbml_cache_learn(learnt);
        if (0 == what) {
            CHECK(is_about(kept_gap(0), 80) && is_about(kept_gap(1), 300));
        } else if (1 == what) {
            FILE *file = fopen(kept, "r");
            CHECK(NULL != file && 0 == fseek(file, 0, SEEK_END) && 200 == ftell(file));
            fclose(file);
        } else {
            CHECK(0 != access(kept, F_OK));
        }
        job_down();
        (void) unlink(kept);
    }
    CHECK(0 == unsetenv("XDG_CACHE_HOME"));
}

static fsbml_fault_t fault(const char *rail, const char *to, uint32_t kind, const char *why)
{
    fsbml_fault_t f = {.from = "here", .kind = kind};
    snprintf(f.rail, sizeof(f.rail), "%s", rail);
    snprintf(f.to, sizeof(f.to), "%s", to);
    snprintf(f.why, sizeof(f.why), "%s", why);
    return f;
}

/* One of a kind for a rail and two nodes; the first one stays. */
FAKE_TEST(each_fault_is_kept_once)
{
    const fsbml_fault_t told[] = {
        fault("eth1", "there", FSBML_FAULT_CUT, "first"), fault("eth1", "there", FSBML_FAULT_CUT, "again"),
        fault("eth1", "there", FSBML_FAULT_MTU, "kind"),  fault("eth2", "there", FSBML_FAULT_CUT, "rail"),
        fault("eth1", "beyond", FSBML_FAULT_CUT, "node"),
    };
    static const char *const kept[] = {"first", "kind", "rail", "node"};
    const fsbml_fault_t *first;
    uint32_t more = 7;
    fsbml_faults_reset();
    CHECK(0 == fsbml_faults(&first, &more) && 0 == more);
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); ++i) {
        fsbml_fault_note(&told[i]);
    }
    CHECK(4 == fsbml_faults(&first, NULL));
    for (size_t i = 0; i < 4; ++i) {
        CHECK(0 == strcmp(kept[i], first[i].why));
    }
}

/* Beyond the room there is a count, and what was there first stays. The next life of MPI begins with none. */
FAKE_TEST(more_than_there_is_room_for_are_counted)
{
    const fsbml_fault_t *first;
    char rail[16];
    uint32_t more;
    fsbml_faults_reset();
    for (uint32_t i = 0; i < FSBML_FAULTS_MAX + 5; ++i) {
        snprintf(rail, sizeof(rail), "eth%u", (unsigned) i);
        const fsbml_fault_t f = fault(rail, "there", FSBML_FAULT_OTHER, "it is so");
        fsbml_fault_note(&f);
    }
    CHECK(FSBML_FAULTS_MAX == fsbml_faults(&first, &more) && 5 == more);
    CHECK(0 == strcmp("eth0", first[0].rail) && 0 == strcmp("eth31", first[FSBML_FAULTS_MAX - 1].rail));
    fsbml_module_construct();
    CHECK(0 == fsbml_faults(&first, &more) && 0 == more);
}

int main(void)
{
    if (NULL == mkdtemp(folder)) {
        return 1;
    }
    const int rc = fake_main();
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return 0 != system(command) ? 1 : rc;
}
