/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's set-up and teardown, and its reactions to events of rooms below. */

#include "report/report.h"

const fsbml_measure_listener_t fsbml_report_measuring = {
    .hosts = fsbml_display_hosts, .host = fsbml_display_host, .show = fsbml_display};

static int path_known(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    fsbml_record_path_known(path->super.btl_endpoint, ep->proc);
    return OMPI_SUCCESS;
}

static void path_gone(mca_bml_fsbml_path_t *path)
{
    fsbml_record_path_gone(path->super.btl_endpoint);
}

static const fsbml_peers_listener_t listener = {.path_known = path_known, .path_gone = path_gone};

void fsbml_report_setup(void)
{
    fsbml_peers_listen(&listener);
    fsbml_record_start();
    fsbml_job_begin();
    fsbml_told_begin();
    fsbml_pvars_open();
}

void fsbml_report_teardown(void)
{
    fsbml_pvars_close();
    fsbml_record_stop();
    fsbml_display_reset();
}
