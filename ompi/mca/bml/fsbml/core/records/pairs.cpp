// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "records/records.hpp"

#include "formats/wire.hpp"

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
constexpr std::uint16_t kPairsVersion = 1;
constexpr std::size_t kLengthAt = 8; // in a record's header

constexpr auto kPairs = [](const auto &v, auto &p) noexcept {
    bool good = v.at_most(p.n, FSBML_MAX_PAIRS);
    for (std::uint32_t i = 0; good && i < p.n; ++i) {
        auto &pair = p.pair[i];
        v(pair.rank[0]), v(pair.rank[1]), v(pair.round);
        good = v.at_most(pair.n_rails, FSBML_MAX_RAILS);
        for (std::uint32_t k = 0; good && k < pair.n_rails; ++k) {
            v(pair.key[k]);
        }
    }
    return good;
};

} // namespace

// --------------------------------------------------------------- the list

std::size_t pairs_packed_max() noexcept
{
    return wire::kHeader + 4 + std::size_t{FSBML_MAX_PAIRS} * 4 * (4 + FSBML_MAX_RAILS);
}

long pairs_pack(const fsbml_pairs_t &p, void *buf, std::size_t len) noexcept
{
    return wire::pack(kMagic, kPairsVersion, p, buf, len, kPairs);
}

long pairs_unpack(fsbml_pairs_t &p, const void *buf, std::size_t len) noexcept
{
    const auto *bytes = static_cast<const std::uint8_t *>(buf);
    std::size_t length = 0; // another record may follow
    if (len < wire::kHeader) {
        return -EBADMSG;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        length |= static_cast<std::size_t>(bytes[kLengthAt + i]) << (8 * i);
    }
    const int rc = wire::unpack(kMagic, kPairsVersion, p, buf, std::min(length, len), kPairs);
    return 0 == rc ? static_cast<long>(length) : rc;
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
        rail.round_trip_ns = 0;
    }
    std::vector<std::uint8_t> record(table_packed_max());
    const long len = table_pack(*same, record.data(), record.size());
    return len > 0 ? wire::record_crc(record.data(), static_cast<std::size_t>(len)) : 0;
}

} // namespace fsbml
