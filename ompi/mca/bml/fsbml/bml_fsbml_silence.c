/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* A rail that is measured answers no more: is it the rail, or the partner, and is it for good? */

#include <stdio.h>

#include "bml_fsbml_hooks.h"
#include "opal/util/show_help.h"

static bool answers(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, uint64_t limit_ns)
{
    const fsbml_probe_t small = {.packets = 1, .bytes = FSBML_PACKET_HEADER};
    return 0 != fsbml_prtt_run(fsbml_path(ep, rail), &small, limit_ns);
}

/* A rail that answered does not any more. A partner that is paused (a virtual machine, a debugger) answers on
 * none, and goes on: so the rails are asked in turn, until one answers. If that is another one, this one has
 * as long again as the silence has lasted, as TCP sends again what was lost meanwhile in intervals that
 * double. */
typedef enum silence_t { SILENCE_OVER, SILENCE_OF_RAIL, SILENCE_OF_PARTNER } silence_t;

static silence_t wait_out(mca_bml_fsbml_endpoint_t *ep, const uint32_t *rail, size_t n, size_t silent,
                          uint32_t failed)
{
    const uint64_t start = fsbml_now_ns(), turn = mca_bml_fsbml_params.probe_timeout_ns;
    const uint64_t patience = fsbml_calibrate_limit_ns(0) / 2;
    while (fsbml_now_ns() - start < patience) {
        for (size_t i = 0; i < n; ++i) {
            if (i != silent && 0 == (failed & fsbml_bit(rail[i])) && answers(ep, rail[i], turn)) {
                const uint64_t lasted = fsbml_prtt_limit() + (fsbml_now_ns() - start);
                return answers(ep, rail[silent], lasted) ? SILENCE_OVER : SILENCE_OF_RAIL;
            }
        }
        if (answers(ep, rail[silent], turn)) {
            return SILENCE_OVER;
        }
    }
    return SILENCE_OF_PARTNER;
}

/* A rail answered, and then not any more, while another does. */
static void give_up(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t i,
                    const char *what)
{
    const mca_bml_fsbml_rail_t *r = &mca_bml_fsbml.rail[rail[i]];
    char *reason = table->rail[i].fit.reason, node[FSBML_NAME_MAX], why[FSBML_REASON_MAX],
         detail[FSBML_NAME_DETAIL];
    const int said = snprintf(reason, FSBML_REASON_MAX, "%s was not answered within %.0f ms", what,
                              (double) fsbml_prtt_limit() / 1e6);
    fsbml_endpoint_remove_path(ep, rail[i]);
    memcpy(why, reason, sizeof(why));
    const uint32_t kind = fsbml_diagnose_now(ep, fsbml_path(ep, rail[i]), why);
    if (0 != strcmp(why, reason)) { /* the cause is known */
        snprintf(reason + said, (size_t) (FSBML_REASON_MAX - said), ": %s", why);
    }
    fsbml_hello_node(&ep->proc->super.proc_name, node);
    fsbml_diagnose_note(rail[i], node, kind, why);
    opal_show_help(FSBML_HELP, "rail not measured", true, r->name, fsbml_name_detail(r, detail),
                   fsbml_node_name(), reason);
}

uint32_t fsbml_silence(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                       size_t silent, uint32_t failed, const char *what)
{
    switch (wait_out(ep, rail, n, silent, failed)) {
    case SILENCE_OVER: /* as if it had not been asked */
        FSBML_VERBOSE(FSBML_V_RAILS, "rank %u was silent for a while; the measurement goes on",
                      table->pair[1]);
        break;
    case SILENCE_OF_RAIL:
        give_up(ep, table, rail, silent, what);
        failed |= fsbml_bit(rail[silent]);
        break;
    case SILENCE_OF_PARTNER: /* its paths stay: there is no better one */
        for (size_t i = 0; i < n; ++i) {
            if (0 == (failed & fsbml_bit(rail[i]))) {
                snprintf(table->rail[i].fit.reason, FSBML_REASON_MAX,
                         "rank %u fell silent in the midst of the measurement", table->pair[1]);
                failed |= fsbml_bit(rail[i]);
            }
        }
        break;
    }
    return failed;
}
