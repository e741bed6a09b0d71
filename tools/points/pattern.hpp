// Contents of messages that show every lost, doubled or swapped piece.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsbml::bench
{

// The byte that belongs at `offset` of message `message` of exchange `round`: neighbours in every dimension
// differ.
inline unsigned char pattern(std::uint32_t round, std::uint32_t message, std::size_t offset)
{
    const std::uint32_t mixed = round * 2654435761u + message * 40503u
                                + static_cast<std::uint32_t>(offset) * 97u
                                + static_cast<std::uint32_t>(offset >> 8) * 31u;
    return static_cast<unsigned char>(mixed ^ (mixed >> 15));
}

inline void fill(unsigned char *buffer, std::size_t size, std::uint32_t round, std::uint32_t message)
{
    for (std::size_t offset = 0; offset < size; ++offset) {
        buffer[offset] = pattern(round, message, offset);
    }
}

// The first offset at which the buffer is not as fill() left it, or `size`.
inline std::size_t first_wrong(const unsigned char *buffer, std::size_t size, std::uint32_t round,
                               std::uint32_t message)
{
    std::size_t offset = 0;
    while (offset < size && buffer[offset] == pattern(round, message, offset)) {
        ++offset;
    }
    return offset;
}

} // namespace fsbml::bench
