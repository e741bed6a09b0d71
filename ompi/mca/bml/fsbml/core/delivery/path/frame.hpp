// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Frames on the wire: records of 8 bytes, in network order.
//
//   0  version (4 bits), kind (4 bits)
//   1  tag         Data: the upper layer's; else 0
//   2  handle      of the connection at the receiver
//   4  path        that the record is about, which need not be the one that it comes by
//   5  generation  of that path, in the direction that the record is about
//   6  number      of a message on that path
//
// A data frame is a Data record and the message; one Ack may come before it. A control frame is Identity,
// which says whose connection it is by 48 bits, and up to seven records. Behind Resume stand 8 bytes: a bit
// for each of the 64 numbers after the first missing one, set if its message has arrived.
#ifndef FSBML_FRAME_HPP
#define FSBML_FRAME_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fsbml
{
namespace frame
{

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kWord = 8;

enum class Kind : std::uint8_t {
    kIdentity = 1,
    kData = 2,
    kAck = 3,    // all before `number` have arrived
    kGap = 4,    // `number` is missing, and later ones have arrived or will be dropped
    kAsk = 5,    // please acknowledge; all before `number` was sent by the path
    kClose = 6,  // take no more of this generation, and say what has arrived; `number`: the next to be sent
    kResume = 7, // the generation is closed; all before `number` have arrived, and those of the bits
    kProbe = 8,  // please answer on the path that this came by
    kProbed = 9,
    kVoid = 10, // `number` has no message
};

struct Record {
    Kind kind;
    std::uint8_t tag;
    std::uint16_t handle;
    std::uint8_t path;
    std::uint8_t generation;
    std::uint16_t number;
};

inline std::uint64_t to_network(std::uint64_t word) noexcept
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

inline void put(std::uint8_t *at, std::uint64_t word) noexcept
{
    word = to_network(word);
    std::memcpy(at, &word, kWord);
}

inline std::uint64_t get(const std::uint8_t *at) noexcept
{
    std::uint64_t word = 0;
    std::memcpy(&word, at, kWord);
    return to_network(word);
}

constexpr std::uint64_t word_of(const Record &r) noexcept
{
    return std::uint64_t{static_cast<std::uint8_t>(kVersion << 4 | static_cast<std::uint8_t>(r.kind))} << 56
           | std::uint64_t{r.tag} << 48 | std::uint64_t{r.handle} << 32 | std::uint64_t{r.path} << 24
           | std::uint64_t{r.generation} << 16 | r.number;
}

// What a record of a kind for a connection has in its word, and where.
constexpr std::uint64_t kAddress = 0xff00ffff00000000ULL;

constexpr bool is_this_version(std::uint64_t word) noexcept
{
    return word >> 60 == kVersion;
}

constexpr Record record_of(std::uint64_t word) noexcept
{
    return {static_cast<Kind>(word >> 56 & 0xf),    static_cast<std::uint8_t>(word >> 48),
            static_cast<std::uint16_t>(word >> 32), static_cast<std::uint8_t>(word >> 24),
            static_cast<std::uint8_t>(word >> 16),  static_cast<std::uint16_t>(word)};
}

// Where the generations and numbers of a direction begin, and the identity of its control frames, follow from
// the lives of both ends: frames of another life do not fit.
constexpr std::uint64_t mix(std::uint64_t x) noexcept // splitmix64
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

// Of one direction of a connection.
constexpr std::uint64_t direction(std::uint64_t sender_life, std::uint64_t receiver_life) noexcept
{
    return mix(mix(sender_life) + receiver_life);
}

constexpr std::uint64_t identity(std::uint64_t direction) noexcept
{
    const std::uint64_t first = word_of({Kind::kIdentity, 0, 0, 0, 0, 0});
    return first | (mix(direction) & 0xffffffffffffULL);
}

constexpr std::uint8_t first_generation(std::uint64_t direction, std::uint8_t path) noexcept
{
    return static_cast<std::uint8_t>(mix(direction ^ path) >> 8);
}

constexpr std::uint16_t first_number(std::uint64_t direction, std::uint8_t path,
                                     std::uint8_t generation) noexcept
{
    return static_cast<std::uint16_t>(mix(direction ^ (path | std::uint64_t{generation} << 8)) >> 16);
}

constexpr std::uint8_t kMostClosed = 127; // generations that are known to be past

// Numbers and orders wrap around: true if a comes before b, by less than half of the range.
constexpr bool before(std::uint16_t a, std::uint16_t b) noexcept
{
    return static_cast<std::uint16_t>(a - b) >= 0x8000U;
}

constexpr bool before(std::uint32_t a, std::uint32_t b) noexcept
{
    return a - b >= 0x80000000U;
}

} // namespace frame
} // namespace fsbml

#endif
