// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of accounts and summaries.
#include "door/door.hpp"

#include "api/fsbml_explain.h"
#include "explain/account/account.hpp"
#include "formats/wire.hpp"

struct fsbml_account_t final {
    explicit fsbml_account_t(std::size_t n) noexcept : impl(n) {}
    fsbml::Account impl;
};

extern "C" {

fsbml_account_t *fsbml_account_create(size_t n_rails) noexcept
{
    if (n_rails < 1 || n_rails > FSBML_MAX_RAILS) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_account_t>([&] { return new fsbml_account_t(n_rails); });
}

void fsbml_account_destroy(fsbml_account_t *a) noexcept
{
    delete a;
}

int fsbml_account_set_model(fsbml_account_t *a, size_t rail, const fsbml_loggp_t *p) noexcept
{
    return nullptr == a || nullptr == p ? -EINVAL : a->impl.set_model(rail, *p);
}

int fsbml_account_set_r2(fsbml_account_t *a, size_t rail, const fsbml_r2_rail_t *r) noexcept
{
    return nullptr == a || nullptr == r ? -EINVAL : a->impl.set_r2(rail, *r);
}

int fsbml_account_set_fragment(fsbml_account_t *a, size_t rail, size_t bytes) noexcept
{
    return nullptr == a ? -EINVAL : a->impl.set_fragment(rail, bytes);
}

fsbml_audience_t fsbml_account_audience(fsbml_account_t *a) noexcept
{
    return {a,
            [](void *context, const fsbml_decision_t *d) {
                static_cast<fsbml_account_t *>(context)->impl.decided(*d);
            },
            [](void *context, const fsbml_arrival_t *arrival) {
                static_cast<fsbml_account_t *>(context)->impl.arrived(*arrival);
            }};
}

void fsbml_account_add(const fsbml_account_t *a, fsbml_summary_t *to) noexcept
{
    a->impl.add_to(*to);
}

void fsbml_changes_add(fsbml_changes_t *into, const fsbml_change_t *change) noexcept
{
    fsbml::add_change(*into, *change);
}

void fsbml_summary_add_peer(fsbml_summary_t *into, const fsbml_summary_peer_t *peer) noexcept
{
    fsbml::add_peer(*into, *peer);
}

void fsbml_summary_merge(fsbml_summary_t *into, const fsbml_summary_t *other) noexcept
{
    fsbml::merge(*into, *other);
}

size_t fsbml_summary_packed_max(void) noexcept
{
    return sizeof(fsbml_summary_t) + fsbml::wire::kHeader; // a text's length takes the place of its zero
}

long fsbml_summary_pack(const fsbml_summary_t *s, void *buf, size_t len) noexcept
{
    return nullptr == s || nullptr == buf ? -EINVAL : fsbml::summary_pack(*s, buf, len);
}

int fsbml_summary_unpack(fsbml_summary_t *s, const void *buf, size_t len) noexcept
{
    return nullptr == s || nullptr == buf ? -EINVAL : fsbml::summary_unpack(*s, buf, len);
}

} // extern "C"
