/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI 6.0 compiles the help texts of its own source tree into its library and reads no help file at run
 * time: of a component that is built outside of the tree it would say that it has no help. So the texts are
 * read here, and handed over as Open MPI does: PMIx counts the processes that have the same to say.
 */

#include "compat/compat.h"

int fsbml_verbosity;

#ifdef FSBML_READS_HELP

#    include <stdarg.h>
#    include <stdio.h>

#    include "opal/mca/installdirs/installdirs.h"

#    define DASHES "--------------------------------------------------------------------------\n"

static char own_dir[4096];

int fsbml_show_help_add_dir(const char *dir)
{
    snprintf(own_dir, sizeof(own_dir), "%s", dir);
    return OPAL_SUCCESS;
}

/* The text of a topic in DIR/FILE, to be freed; NULL if it is not there. */
static char *read_topic(const char *dir, const char *file, const char *topic)
{
    char path[4096 + 256], line[1024], *text = NULL;
    size_t used = 0, size = 0;
    bool inside = false;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    FILE *in = fopen(path, "r");
    if (NULL == in) {
        return NULL;
    }
    FILE *out = open_memstream(&text, &size);
    while (NULL != out && NULL != fgets(line, sizeof(line), in)) {
        if ('[' == line[0]) {
            const size_t n = strcspn(line + 1, "]");
            inside = n == strlen(topic) && 0 == strncmp(line + 1, topic, n);
            used += inside;
        } else if (inside && '#' != line[0]) {
            fputs(line, out);
        }
    }
    fclose(in);
    if (NULL != out) {
        fclose(out);
    }
    if (0 == used) {
        free(text);
        return NULL;
    }
    return text;
}

typedef struct message_t {
    pmix_info_t text, how[3];
    char *rendered;
} message_t;

static void delivered(pmix_status_t status, void *data)
{
    message_t *m = data;
    if (PMIX_SUCCESS != status && PMIX_OPERATION_SUCCEEDED != status) {
        fputs(m->rendered, stderr);
    }
    PMIX_INFO_DESTRUCT(&m->text);
    for (size_t i = 0; i < 3; ++i) {
        PMIX_INFO_DESTRUCT(&m->how[i]);
    }
    free(m->rendered);
    free(m);
}

static void deliver(const char *file, const char *topic, char *rendered)
{
    bool aggregate = true;
    message_t *m = calloc(1, sizeof(*m));
    if (NULL == m) {
        fputs(rendered, stderr);
        free(rendered);
        return;
    }
    m->rendered = rendered;
    PMIX_INFO_LOAD(&m->text, PMIX_LOG_STDERR, rendered, PMIX_STRING);
    PMIX_INFO_LOAD(&m->how[0], PMIX_LOG_AGG, &aggregate, PMIX_BOOL);
    PMIX_INFO_LOAD(&m->how[1], PMIX_LOG_KEY, file, PMIX_STRING);
    PMIX_INFO_LOAD(&m->how[2], PMIX_LOG_VAL, topic, PMIX_STRING);
    const pmix_status_t rc = PMIx_Log_nb(&m->text, 1, m->how, 3, delivered, m);
    if (PMIX_SUCCESS != rc) {
        delivered(rc, m);
    }
}

int fsbml_show_help(const char *file, const char *topic, int header, ...)
{
    char *rendered = NULL;
    size_t size = 0;
    va_list arguments;
    char *text = read_topic(own_dir, file, topic);

    if (NULL == text) {
        text = read_topic(opal_install_dirs.opaldatadir, file, topic);
    }
    FILE *out = open_memstream(&rendered, &size);
    if (NULL == out) {
        free(text);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    fputs(header ? DASHES : "", out);
    if (NULL != text) {
        va_start(arguments, header);
        vfprintf(out, text, arguments);
        va_end(arguments);
    } else {
        fprintf(out, "fsbml: \"%s\"; the help file %s, which explains this, is in neither %s nor %s.\n",
                topic, file, own_dir, opal_install_dirs.opaldatadir);
    }
    fputs(header ? DASHES : "", out);
    fclose(out);
    free(text);
    deliver(file, topic, rendered);
    return OPAL_SUCCESS;
}

#endif /* FSBML_READS_HELP */
