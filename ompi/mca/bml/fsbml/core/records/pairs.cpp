// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "records/pairs.hpp"

#include "formats/wire.hpp"
#include "records/table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kMagic = 0x50425346; // "FSBP"
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kLengthAt = 8; // in a record's header

} // namespace

// --------------------------------------------------------------- the list

std::size_t pairs_packed_max() noexcept
{
    return wire::kHeader + 4 + std::size_t{FSBML_MAX_PAIRS} * 4 * (4 + FSBML_MAX_RAILS);
}

long pairs_pack(const fsbml_pairs_t &p, void *buf, std::size_t len) noexcept
{
    wire::Writer w(buf, len);
    if (p.n > FSBML_MAX_PAIRS) {
        return -EINVAL;
    }
    w.begin(kMagic, kVersion);
    w.put(p.n, 4);
    for (std::uint32_t i = 0; i < p.n; ++i) {
        const fsbml_pair_t &pair = p.pair[i];
        if (pair.n_rails > FSBML_MAX_RAILS) {
            return -EINVAL;
        }
        for (const std::uint32_t value : {pair.rank[0], pair.rank[1], pair.round, pair.n_rails}) {
            w.put(value, 4);
        }
        for (std::uint32_t k = 0; k < pair.n_rails; ++k) {
            w.put(pair.key[k], 4);
        }
    }
    return w.end();
}

long pairs_unpack(fsbml_pairs_t &p, const void *buf, std::size_t len) noexcept
{
    const auto *bytes = static_cast<const std::uint8_t *>(buf);
    std::size_t length = 0;
    if (len < wire::kHeader) {
        return -EBADMSG;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        length |= static_cast<std::size_t>(bytes[kLengthAt + i]) << (8 * i);
    }
    wire::Reader r(buf, std::min(length, len));
    const int rc = r.begin(kMagic, kVersion);
    if (0 != rc) {
        return rc;
    }
    // Twice: what is wrong must leave p as it is, and it is large.
    for (const bool take : {false, true}) {
        wire::Reader again = r;
        const std::uint32_t n = again.get_u32();
        if (n > FSBML_MAX_PAIRS) {
            return -EBADMSG;
        }
        for (std::uint32_t i = 0; i < n; ++i) {
            fsbml_pair_t pair{};
            for (std::uint32_t *value : {&pair.rank[0], &pair.rank[1], &pair.round, &pair.n_rails}) {
                *value = again.get_u32();
            }
            if (pair.n_rails > FSBML_MAX_RAILS) {
                return -EBADMSG;
            }
            for (std::uint32_t k = 0; k < pair.n_rails; ++k) {
                pair.key[k] = again.get_u32();
            }
            if (take) {
                p.pair[i] = pair;
            }
        }
        if (!again.good() || !again.at_end()) {
            return -EBADMSG;
        }
        if (take) {
            p.n = n;
        }
    }
    return static_cast<long>(length);
}

// -------------------------------------------------------------- the tables

int table_merge(fsbml_table_t &into, const fsbml_table_t &other) noexcept
{
    int no_room = 0;
    for (std::uint32_t i = 0; i < other.n_rails && i < FSBML_MAX_RAILS; ++i) {
        const fsbml_table_rail_t &rail = other.rail[i];
        std::uint32_t at = 0;
        while (at < into.n_rails && 0 != std::strncmp(into.rail[at].key, rail.key, sizeof rail.key)) {
            ++at;
        }
        if (at == FSBML_MAX_RAILS) {
            ++no_room;
        } else if (at == into.n_rails) {
            into.rail[into.n_rails++] = rail;
        } else if (!into.rail[at].fit.valid && rail.fit.valid) {
            into.rail[at] = rail;
        }
    }
    if ('\0' == into.reason[0]) {
        std::memcpy(into.reason, other.reason, sizeof into.reason);
    }
    into.duration_ns = std::max(into.duration_ns, other.duration_ns);
    return no_room;
}

std::uint32_t table_digest(const fsbml_table_t &t)
{
    const auto same = std::make_unique<fsbml_table_t>(t);
    same->pair[0] = same->pair[1] = 0;
    same->duration_ns = 0;
    for (fsbml_table_rail_t &rail : same->rail) {
        rail.pair[0] = rail.pair[1] = 0;
    }
    std::vector<std::uint8_t> record(table_packed_max());
    const long len = table_pack(*same, record.data(), record.size());
    return len > 0 ? wire::record_crc(record.data(), static_cast<std::size_t>(len)) : 0;
}

} // namespace fsbml
