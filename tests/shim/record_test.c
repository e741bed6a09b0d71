/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of what is sent (bml_fsbml_record): all of it is there, once, in files of the form that
 * docs/trace.md has. */

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAKE_OWN_MAIN
#include "fake_pml.h"

enum { TAG = MCA_BTL_TAG_PML, MOST = 20000, THREADS = 4, EACH = 1500 };

static char folder[] = "/tmp/fsbml-record.XXXXXX", path[128];

/* What a file holds; complete: with the right number at its end. */
static struct {
    unsigned rank, ranks, n, by_rail[2];
    uint64_t bytes, last_ns;
    bool complete, in_order;
} seen;

static bool read_record(void)
{
    char line[256], rail[64];
    unsigned long long ns, bytes, origin, end;
    unsigned to;
    FILE *file = fopen(path, "r");
    memset(&seen, 0, sizeof(seen));
    seen.in_order = true;
    if (NULL == file || NULL == fgets(line, sizeof(line), file)) {
        return false;
    }
    CHECK(3 == sscanf(line, "fsbml-sends 1 rank %u ranks %u origin %llu", &seen.rank, &seen.ranks, &origin));
    while (NULL != fgets(line, sizeof(line), file)) {
        CHECK(!seen.complete); /* nothing follows the end */
        if (1 == sscanf(line, "end %llu", &end)) {
            seen.complete = end == seen.n;
            continue;
        }
        CHECK(4 == sscanf(line, "%llu %u %llu # %63s", &ns, &to, &bytes, rail));
        CHECK(
            1 == to
            && (0 == strcmp(rail, fsbml_rails.rail[0].name) || 0 == strcmp(rail, fsbml_rails.rail[1].name)));
        seen.by_rail[0 == strcmp(rail, fsbml_rails.rail[0].name) ? 0 : 1]++;
        seen.in_order = seen.in_order && ns >= seen.last_ns;
        seen.last_ns = ns;
        seen.bytes += bytes;
        seen.n++;
    }
    fclose(file);
    return true;
}

static mca_bml_base_btl_t *up(const char *to)
{
    mca_bml_fsbml_params.record = (char *) to;
    fakes_construct(2);
    fake[1].super.btl_sendi = fake_sendi;
    fsbml_life = 0; /* as in a new process */
    world_up(2);
    peer->super.proc_name.jobid = OMPI_PROC_MY_NAME->jobid;
    mca_bml_base_endpoint_t *ep = peer_up();
    peer->super.proc_name.jobid = 1; /* by which its answers name it */
    all_answer(2);
    return mca_bml_base_btl_array_get_next(&ep->btl_eager);
}

static void down(void)
{
    for (int i = 0; i < 2; ++i) {
        while (fake_complete(&fake[i], OPAL_SUCCESS)) {
        }
    }
    world_down(2);
    mca_bml_fsbml_params.record = NULL;
}

static unsigned mode_of(const char *file)
{
    struct stat st;
    return 0 == stat(file, &st) ? (unsigned) st.st_mode & 0777u : 0;
}

/* Without the parameter, the BTLs' functions are their own. */
FAKE_TEST(off_is_not_there)
{
    (void) up("");
    CHECK(fake_send == fake[0].super.btl_send && fake_send == fake[1].super.btl_send);
    CHECK(fake_sendi == fake[1].super.btl_sendi);
    down();
    CHECK(0 != rmdir(folder) || 0 == mkdir(folder, 0700)); /* it was empty */
}

FAKE_TEST(all_is_recorded)
{
    mca_bml_base_btl_t *bml_btl = up(folder);
    CHECK(fake_send != fake[0].super.btl_send && fake_sendi != fake[1].super.btl_sendi);
    CHECK(NULL == fake[0].super.btl_sendi);
    uint64_t bytes = 0;
    const int n = 9000; /* more than two blocks */
    for (int i = 0; i < n; ++i) {
        const size_t size = 1 + (size_t) (i * 7919 % 4000);
        CHECK(0 <= pml_send(bml_btl, size, TAG));
        bytes += size;
        virtual_ns += 1000;
        for (int r = 0; r < 2; ++r) {
            while (fake_complete(&fake[r], OPAL_SUCCESS)) {
            }
        }
    }
    const int by_rail[2] = {fake[0].n_sent, fake[1].n_sent};
    CHECK(read_record() && 2 * 4096 == seen.n && !seen.complete); /* full blocks are written at once */
    down();
    CHECK(fake_send == fake[0].super.btl_send && fake_sendi == fake[1].super.btl_sendi);
    CHECK(read_record() && seen.complete && seen.in_order);
    CHECK((unsigned) n == seen.n && bytes == seen.bytes);
    CHECK((unsigned) by_rail[0] == seen.by_rail[0] && (unsigned) by_rail[1] == seen.by_rail[1]);
    CHECK(seen.rank == OMPI_PROC_MY_NAME->vpid && seen.ranks == fsbml_job_size());
    CHECK(0600 == mode_of(path));
}

/* What a rail refuses is not sent; what another then takes is, once. */
FAKE_TEST(refused_is_not_recorded)
{
    mca_bml_base_btl_t *bml_btl = up(folder);
    fake[0].refuses = fake[1].refuses = true;
    CHECK(0 <= pml_send(bml_btl, 100, TAG)); /* pending */
    fake[1].refuses = false;
    CHECK(0 <= pml_send(bml_btl, 200, TAG));
    down();
    CHECK(read_record() && seen.complete && 1 == seen.n && 200 == seen.bytes && 1 == seen.by_rail[1]);
}

static mca_bml_base_btl_t *shared;

static void *sender(void *arg)
{
    for (int i = 0; i < EACH; ++i) {
        mca_btl_base_descriptor_t *des = NULL;
        mca_bml_base_alloc(shared, &des, MCA_BTL_NO_ORDER, 64, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
        des->des_cbfunc = pml_completion;
        memset(des->des_segments[0].seg_addr.pval, 1, 64);
        virtual_ns += 10;
        CHECK(0 <= mca_bml_base_send(shared, des, TAG));
    }
    return arg;
}

FAKE_TEST(threads_share_a_record)
{
    pthread_t thread[THREADS];
    shared = up(folder);
    fake[0].room = fake[1].room = FAKE_QUEUE;
    for (int i = 0; i < THREADS; ++i) {
        CHECK(0 == pthread_create(&thread[i], NULL, sender, NULL));
    }
    for (int i = 0; i < THREADS; ++i) {
        CHECK(0 == pthread_join(thread[i], NULL));
    }
    down();
    CHECK(read_record() && seen.complete && seen.in_order);
    CHECK(THREADS * EACH == seen.n && 64 * THREADS * EACH == seen.bytes);
}

/* Messages go on; there is no file, or one that says it is none by having no end. */
FAKE_TEST(errors_end_the_record_alone)
{
    CHECK(0 <= pml_send(up("/nowhere/at/all/"), 100, TAG));
    CHECK(fake_send == fake[0].super.btl_send); /* nothing stands between */
    down();
    (void) unlink(path);
    CHECK(0 == symlink("/dev/full", path)); /* is replaced, not followed */
    mca_bml_base_btl_t *bml_btl = up(folder);
    CHECK(0 <= pml_send(bml_btl, 100, TAG));
    down();
    CHECK(read_record() && 1 == seen.n && seen.complete);
}

/* A disk that is full: the file ends where it does, and everything is sent. */
FAKE_TEST(a_full_disk_ends_the_record_alone)
{
    struct rlimit before, small;
    CHECK(0 == getrlimit(RLIMIT_FSIZE, &before));
    small = before;
    small.rlim_cur = 100000;
    (void) signal(SIGXFSZ, SIG_IGN);
    CHECK(0 == setrlimit(RLIMIT_FSIZE, &small));
    mca_bml_base_btl_t *bml_btl = up(folder);
    for (int i = 0; i < 9000; ++i) {
        CHECK(0 <= pml_send(bml_btl, 100, TAG));
        for (int r = 0; r < 2; ++r) {
            while (fake_complete(&fake[r], OPAL_SUCCESS)) {
            }
        }
    }
    CHECK(9000 == fake[0].n_sent + fake[1].n_sent);
    down();
    CHECK(0 == setrlimit(RLIMIT_FSIZE, &before));
    struct stat st;
    CHECK(0 == stat(path, &st) && 100000 == st.st_size);
    char end[8] = "";
    FILE *file = fopen(path, "r");
    CHECK(NULL != file && 0 == fseek(file, -4, SEEK_END) && 4 == fread(end, 1, 4, file)
          && NULL == strstr(end, "end"));
    if (NULL != file) {
        fclose(file);
    }
}

int main(void)
{
    if (NULL == mkdtemp(folder)) {
        return 1;
    }
    snprintf(path, sizeof(path), "%s/%u.sends", folder, (unsigned) OMPI_PROC_MY_NAME->vpid);
    const int rc = fake_main();
    (void) unlink(path);
    (void) rmdir(folder);
    return rc;
}
