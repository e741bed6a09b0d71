// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "records/end.hpp"

#include "formats/wire.hpp"

#include <cerrno>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kEndMagic = 0x444E4546; // "FEND"
constexpr std::uint16_t kEndVersion = 1;
constexpr std::size_t kTexts = 4;

} // namespace

std::size_t end_packed_max() noexcept
{
    return wire::kHeader + kTexts * FSBML_NAME_MAX + 6 + 6 + 3 * 4;
}

long end_pack(const fsbml_end_t &end, void *buf, std::size_t len) noexcept
{
    wire::Writer w(buf, len);
    w.begin(kEndMagic, kEndVersion);
    w.put_text(end.node);
    w.put_text(end.name);
    w.put_text(end.address);
    w.put_text(end.network);
    for (std::size_t i = 0; i < 6; ++i) {
        w.put(end.device[i], 1);
        w.put(end.neighbour[i], 1);
    }
    w.put(end.seen, 4);
    w.put(end.mtu, 4);
    w.put(end.speed_mbit, 4);
    return w.end();
}

int end_unpack(fsbml_end_t &end, const void *buf, std::size_t len) noexcept
{
    wire::Reader r(buf, len);
    const int rc = r.begin(kEndMagic, kEndVersion);
    if (0 != rc) {
        return rc;
    }
    fsbml_end_t got{};
    r.get_text(got.node);
    r.get_text(got.name);
    r.get_text(got.address);
    r.get_text(got.network);
    for (std::size_t i = 0; i < 6; ++i) {
        got.device[i] = static_cast<std::uint8_t>(r.get(1));
        got.neighbour[i] = static_cast<std::uint8_t>(r.get(1));
    }
    got.seen = r.get_u32();
    got.mtu = r.get_u32();
    got.speed_mbit = r.get_u32();
    if (!r.good() || !r.at_end()) {
        return -EBADMSG;
    }
    end = got;
    return 0;
}

} // namespace fsbml
