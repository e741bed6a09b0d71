// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of the measuring pairs: their ranks, and the record of them.
#include "door/door.hpp"

#include "measure/start/start.hpp"
#include "records/records.hpp"

struct fsbml_classes_t final {
    fsbml_classes_t(std::uint32_t ranks, bool one_node) : impl(ranks, one_node) {}
    fsbml::Classes impl;
};

extern "C" {

fsbml_classes_t *fsbml_classes_create(uint32_t n_ranks, bool one_node) noexcept
{
    return fsbml::guard_new<fsbml_classes_t>([&] { return new fsbml_classes_t(n_ranks, one_node); });
}

void fsbml_classes_destroy(fsbml_classes_t *c) noexcept
{
    delete c;
}

int fsbml_classes_next(const fsbml_classes_t *c, uint32_t *rank) noexcept
{
    return nullptr == c || nullptr == rank ? -EINVAL : static_cast<int>(c->impl.next(*rank));
}

int fsbml_classes_tell(fsbml_classes_t *c, uint32_t rank, const fsbml_hello_t *hello) noexcept
{
    if (nullptr == c) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        c->impl.tell(rank, hello);
        return 0;
    });
}

int fsbml_classes_first(const fsbml_classes_t *c, fsbml_pair_t *pair) noexcept
{
    return nullptr == c || nullptr == pair ? -EINVAL : static_cast<int>(c->impl.first(*pair));
}

int fsbml_classes_plan(fsbml_classes_t *c, fsbml_pairs_t *out) noexcept
{
    if (nullptr == c || nullptr == out) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        c->impl.plan(*out);
        return 0;
    });
}

size_t fsbml_pairs_packed_max(void) noexcept
{
    return fsbml::pairs_packed_max();
}

long fsbml_pairs_pack(const fsbml_pairs_t *p, void *buf, size_t len) noexcept
{
    return nullptr == p || nullptr == buf ? -EINVAL : fsbml::pairs_pack(*p, buf, len);
}

long fsbml_pairs_unpack(fsbml_pairs_t *p, const void *buf, size_t len) noexcept
{
    return nullptr == p || nullptr == buf ? -EINVAL : fsbml::pairs_unpack(*p, buf, len);
}

} // extern "C"
