// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "ledger/ledger.hpp"

#include <iterator>

namespace fsbml
{

namespace
{

// 64-bit FNV-1a (Fowler, Noll, Vo).
std::uint64_t hash(const char *text) noexcept
{
    std::uint64_t h = 14695981039346656037ULL;
    for (const char *c = text; '\0' != *c; ++c) {
        h = (h ^ static_cast<unsigned char>(*c)) * 1099511628211ULL;
    }
    return 0 != h ? h : 1;
}

// True if the slot is that key's, now or from before.
bool take(VftSlot &slot, std::uint64_t key) noexcept
{
    std::uint64_t seen = 0;
    return slot.key.compare_exchange_strong(seen, key, std::memory_order_relaxed) || key == seen;
}

} // namespace

const char *Ledger::flaw(std::uint64_t now_ns, std::uint64_t clock_id) const noexcept
{
    if (kMagic != magic || sizeof(Ledger) != size) {
        return "it is malformed";
    }
    if (kVersion != version) {
        return "it is of another version of FSBML";
    }
    if (clock_id != clock) {
        return "it is of processes with another clock (time namespace)";
    }
    if (origin_ns > now_ns && origin_ns - now_ns > kLate) {
        return "it is of the future";
    }
    return nullptr;
}

VftSlot *Ledger::claim(const char *const *keys, std::size_t n) noexcept
{
    std::uint64_t wanted[FSBML_MAX_RAILS];
    for (std::size_t i = 0; i < n; ++i) {
        wanted[i] = hash(keys[i]);
    }
    // All look in one order and slots are never given back: rails that two claim at once get the same slots.
    for (VftSlot *first = slot; first + n <= std::end(slot); ++first) {
        std::size_t i = 0;
        while (i < n && take(first[i], wanted[i])) {
            ++i;
        }
        if (i == n) {
            return first;
        }
    }
    return nullptr;
}

} // namespace fsbml
