// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The digest of a text: equal on two processes iff their texts are (fsbml_digest() in fsbml_table.h).
#ifndef FSBML_DIGEST_HPP
#define FSBML_DIGEST_HPP

#include <cstdint>

namespace fsbml
{

// 32-bit FNV-1a (Fowler, Noll, Vo): offset basis 2166136261, prime 16777619.
inline std::uint32_t digest(const char *text) noexcept
{
    std::uint32_t hash = 2166136261U;
    for (const char *c = text; nullptr != c && '\0' != *c; ++c) {
        hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
    }
    return hash;
}

} // namespace fsbml

#endif
