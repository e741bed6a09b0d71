// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Little-endian records with magic, version, length and CRC-32, written and read with every bound checked.
//
//   0  magic   u32
//   4  version u16, zero u16
//   8  length  u32   of the whole record
//  12  crc     u32   CRC-32 (IEEE 802.3) of the record with this field left out
//  16  body
#ifndef FSBML_WIRE_HPP
#define FSBML_WIRE_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace fsbml
{
namespace wire
{

constexpr std::size_t kHeader = 16;
constexpr std::size_t kCrcAt = 12;

// Reflected CRC-32, polynomial 0x04C11DB7 (reflected 0xEDB88320), a bit at a time: records are few and short.
constexpr std::uint32_t crc_add(std::uint32_t crc, std::uint8_t byte) noexcept
{
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) {
        crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    return crc;
}

inline std::uint32_t crc32(const std::uint8_t *data, std::size_t n, std::uint32_t so_far = 0) noexcept
{
    std::uint32_t crc = ~so_far;
    for (std::size_t i = 0; i < n; ++i) {
        crc = crc_add(crc, data[i]);
    }
    return ~crc;
}

inline std::uint32_t record_crc(const std::uint8_t *record, std::size_t n) noexcept
{
    const std::uint32_t head = crc32(record, kCrcAt);
    return crc32(record + kHeader, n - kHeader, head);
}

class Writer
{
public:
    Writer(void *buffer, std::size_t size) noexcept : data_(static_cast<std::uint8_t *>(buffer)), size_(size)
    {
    }

    void begin(std::uint32_t magic, std::uint16_t version) noexcept
    {
        put(magic, 4);
        put(version, 2);
        put(0, 2);
        put(0, 4);
        put(0, 4);
    }

    void put(std::uint64_t value, std::size_t bytes) noexcept
    {
        if (bytes > size_ - used_) {
            full_ = true;
            return;
        }
        for (std::size_t i = 0; i < bytes; ++i) {
            data_[used_++] = static_cast<std::uint8_t>(value >> (8 * i));
        }
    }

    void put_double(double value) noexcept
    {
        std::uint64_t bits = 0;
        static_assert(sizeof bits == sizeof value, "doubles are IEEE 754 binary64");
        std::memcpy(&bits, &value, sizeof bits);
        put(bits, 8);
    }

    // One byte of length, then the text without its zero. The caller's array must hold a zero.
    template <std::size_t N>
    void put_text(const char (&text)[N]) noexcept
    {
        static_assert(N <= 256, "the length has one byte");
        const std::size_t n = strnlen(text, N);
        if (n == N) {
            bad_ = true;
            return;
        }
        put(n, 1);
        for (std::size_t i = 0; i < n; ++i) {
            put(static_cast<std::uint8_t>(text[i]), 1);
        }
    }

    // The record's length, or -EINVAL, -ENOSPC.
    long end() noexcept
    {
        if (bad_) {
            return -EINVAL;
        }
        if (full_) {
            return -ENOSPC;
        }
        const std::size_t total = used_;
        used_ = 8;
        put(total, 4);
        const std::uint32_t crc = record_crc(data_, total);
        put(crc, 4);
        used_ = total;
        return static_cast<long>(total);
    }

private:
    std::uint8_t *data_;
    std::size_t size_;
    std::size_t used_ = 0;
    bool full_ = false;
    bool bad_ = false;
};

// After the first failure everything reads as zero; good() tells at the end.
class Reader
{
public:
    Reader(const void *buffer, std::size_t size) noexcept
        : data_(static_cast<const std::uint8_t *>(buffer)), size_(size)
    {
    }

    // 0; -EBADMSG: not such a record, or damaged; -EPROTO: whole, but of another version.
    int begin(std::uint32_t magic, std::uint16_t version) noexcept
    {
        if (nullptr == data_ || size_ < kHeader || get(4) != magic) {
            return -EBADMSG;
        }
        const std::uint64_t its_version = get(2);
        const std::uint64_t zero = get(2);
        const std::uint64_t length = get(4);
        const std::uint64_t crc = get(4);
        if (zero != 0 || length != size_ || crc != record_crc(data_, size_)) {
            return -EBADMSG;
        }
        return its_version == version ? 0 : -EPROTO;
    }

    std::uint64_t get(std::size_t bytes) noexcept
    {
        if (bytes > size_ - used_) {
            good_ = false;
            used_ = size_;
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            value |= static_cast<std::uint64_t>(data_[used_++]) << (8 * i);
        }
        return value;
    }

    std::uint32_t get_u32() noexcept { return static_cast<std::uint32_t>(get(4)); }

    double get_double() noexcept
    {
        const std::uint64_t bits = get(8);
        double value = 0.0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    // Fails on a text that does not fit or has a zero inside.
    template <std::size_t N>
    void get_text(char (&text)[N]) noexcept
    {
        const auto n = static_cast<std::size_t>(get(1));
        if (!good_ || n >= N || n > size_ - used_ || nullptr != std::memchr(data_ + used_, 0, n)) {
            good_ = false;
            return;
        }
        std::memset(text, 0, N);
        std::memcpy(text, data_ + used_, n);
        used_ += n;
    }

    void fail() noexcept { good_ = false; }
    bool good() const noexcept { return good_; }
    bool at_end() const noexcept { return used_ == size_; }

private:
    const std::uint8_t *data_;
    std::size_t size_;
    std::size_t used_ = 0;
    bool good_ = true;
};

// A record is described once: `walk(visit, record)` shows each member to the visit, in the record's order,
// and is false for a record that cannot be. With Put it packs, with Get it unpacks.
struct Put {
    Writer &w;
    void operator()(const std::uint8_t &v) const noexcept { w.put(v, 1); }
    void operator()(const std::uint32_t &v) const noexcept { w.put(v, 4); }
    void operator()(const std::uint64_t &v) const noexcept { w.put(v, 8); }
    void operator()(const double &v) const noexcept { w.put_double(v); }
    template <std::size_t N>
    void operator()(const char (&text)[N]) const noexcept
    {
        w.put_text(text);
    }
    // How many of something there are.
    bool at_most(const std::uint32_t &n, std::uint32_t most) const noexcept
    {
        w.put(n, 4);
        return n <= most;
    }
    // One byte, the first flag in its lowest bit.
    template <class... Flag>
    void flags(const Flag &...flag) const noexcept
    {
        unsigned bits = 0, at = 0;
        ((bits |= (flag ? 1U : 0U) << at++), ...);
        w.put(bits, 1);
    }
};

struct Get {
    Reader &r;
    void operator()(std::uint8_t &v) const noexcept { v = static_cast<std::uint8_t>(r.get(1)); }
    void operator()(std::uint32_t &v) const noexcept { v = r.get_u32(); }
    void operator()(std::uint64_t &v) const noexcept { v = r.get(8); }
    void operator()(double &v) const noexcept { v = r.get_double(); }
    template <std::size_t N>
    void operator()(char (&text)[N]) const noexcept
    {
        r.get_text(text);
    }
    bool at_most(std::uint32_t &n, std::uint32_t most) const noexcept
    {
        n = r.get_u32();
        return n <= most && r.good();
    }
    template <class... Flag>
    void flags(Flag &...flag) const noexcept
    {
        std::uint64_t bits = r.get(1);
        ((flag = 0 != (bits & 1), bits >>= 1), ...);
        if (0 != bits) {
            r.fail();
        }
    }
};

// The record's length, -EINVAL or -ENOSPC.
template <class Record, class Walk>
long pack(std::uint32_t magic, std::uint16_t version, const Record &record, void *buf, std::size_t len,
          Walk walk) noexcept
{
    Writer w(buf, len);
    w.begin(magic, version);
    return walk(Put{w}, record) ? w.end() : -EINVAL;
}

// 0, -EBADMSG, -EPROTO as Reader::begin() has it, or -ENOMEM; the record is then as it was.
template <class Record, class Walk>
int unpack(std::uint32_t magic, std::uint16_t version, Record &record, const void *buf, std::size_t len,
           Walk walk) noexcept
{
    Reader r(buf, len);
    const int rc = r.begin(magic, version);
    if (0 != rc) {
        return rc;
    }
    const std::unique_ptr<Record> got(new (std::nothrow) Record{}); // some are large
    if (!got) {
        return -ENOMEM;
    }
    if (!walk(Get{r}, *got) || !r.good() || !r.at_end()) {
        return -EBADMSG;
    }
    record = *got;
    return 0;
}

} // namespace wire
} // namespace fsbml

#endif
