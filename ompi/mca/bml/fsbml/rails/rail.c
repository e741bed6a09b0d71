/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rails: the rail of a BTL, rails' names, and the abilities of their BTLs. */

#include <stdio.h>

#include "rails/rails.h"

#include "opal/runtime/opal_progress.h"

fsbml_rails_t fsbml_rails;

int fsbml_rail_of(const mca_btl_base_module_t *btl)
{
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        if (btl == fsbml_rails.rail[i].btl) {
            return (int) i;
        }
    }
    return -1;
}

mca_btl_base_module_t *fsbml_visible_btl(mca_btl_base_module_t *btl)
{
    int rail = fsbml_rail_of(btl);
    return rail < 0 ? btl : &fsbml_rails.rail[rail].group->pseudo;
}

void fsbml_rails_names(uint32_t rails, char *buf, size_t len)
{
    buf[0] = '\0';
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        const mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[i];
        size_t used = strlen(buf);
        char full[FSBML_NAME_FULL];
        if (rails & fsbml_bit(i)) {
            snprintf(buf + used, len - used, "%s%s", used > 0 ? ", " : "",
                     fsbml_name_full(rail->name, &rail->about, full));
        }
    }
}

/* ------------------------------------------------------- functions of the BTLs */

uint32_t fsbml_btl_flags(const mca_btl_base_module_t *btl)
{
    uint32_t flags = btl->btl_flags;
    if (NULL == btl->btl_put) {
        flags &= ~(uint32_t) MCA_BTL_FLAGS_PUT;
    }
    if (NULL == btl->btl_get) {
        flags &= ~(uint32_t) MCA_BTL_FLAGS_GET;
    }
    if (0 == (flags & (MCA_BTL_FLAGS_PUT | MCA_BTL_FLAGS_GET | MCA_BTL_FLAGS_SEND))) {
        flags |= MCA_BTL_FLAGS_SEND;
    }
    return flags;
}

void fsbml_progress_start(mca_btl_base_module_t *btl, bool in_use)
{
    fsbml_rails_t *m = &fsbml_rails;
    mca_btl_base_component_progress_fn_t fn = btl->btl_component->btl_progress;
    bool known = false;
    if (NULL == fn) {
        return;
    }
    for (size_t i = 0; i < m->n_progress && !known; ++i) {
        known = fn == m->progress[i];
    }
    if (!known) {
        m->progress[m->n_progress++] = fn;
    }
    if (in_use) {
        opal_progress_register(fn); /* also lifts it from low priority */
    } else if (!known) {
        opal_progress_register_lp(fn);
    }
}

void fsbml_progress_stop(void)
{
    fsbml_rails_t *m = &fsbml_rails;
    while (m->n_progress > 0) {
        opal_progress_unregister(m->progress[--m->n_progress]);
    }
}

int fsbml_rails_receive(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t cbfunc, void *data)
{
    mca_btl_base_active_message_trigger[tag].cbfunc = cbfunc;
    mca_btl_base_active_message_trigger[tag].cbdata = data;
    for (size_t i = 0; i < fsbml_rails.n_btls; ++i) {
        mca_btl_base_module_t *btl = fsbml_rails.btls[i];
        int rc = NULL != btl->btl_register ? btl->btl_register(btl, tag, cbfunc, data) : OMPI_SUCCESS;
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}
