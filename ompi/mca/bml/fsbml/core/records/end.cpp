// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "records/records.hpp"

#include "formats/wire.hpp"

#include <cerrno>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kEndMagic = 0x444E4546; // "FEND"
constexpr std::uint16_t kEndVersion = 1;
constexpr std::size_t kTexts = 4;

constexpr auto kEnd = [](const auto &v, auto &end) noexcept {
    v(end.node), v(end.name), v(end.address), v(end.network);
    for (std::size_t i = 0; i < 6; ++i) {
        v(end.device[i]), v(end.neighbour[i]);
    }
    v(end.seen), v(end.mtu), v(end.speed_mbit);
    return true;
};

} // namespace

std::size_t end_packed_max() noexcept
{
    return wire::kHeader + kTexts * FSBML_NAME_MAX + 6 + 6 + 3 * 4;
}

long end_pack(const fsbml_end_t &end, void *buf, std::size_t len) noexcept
{
    return wire::pack(kEndMagic, kEndVersion, end, buf, len, kEnd);
}

int end_unpack(fsbml_end_t &end, const void *buf, std::size_t len) noexcept
{
    return wire::unpack(kEndMagic, kEndVersion, end, buf, len, kEnd);
}

} // namespace fsbml
