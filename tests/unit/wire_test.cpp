// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The records on the wire: a round trip loses nothing, damage is always noticed, nothing reads out of bounds.
#include "formats/wire.hpp"
#include "records.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

// Puts the right CRC into a record that a test has changed on purpose.
void reseal(Bytes &b)
{
    const std::uint32_t crc = wire::record_crc(b.data(), b.size());
    for (int i = 0; i < 4; ++i) {
        b[wire::kCrcAt + static_cast<std::size_t>(i)] = static_cast<unsigned char>(crc >> (8 * i));
    }
}

template <class Record>
void survives_damage(const Record &record, std::uint64_t seed)
{
    const Bytes good = packed(record);
    ASSERT_GT(good.size(), wire::kHeader);
    Record out{};
    ASSERT_EQ(unpack(out, good), 0);
    Record untouched;
    std::memset(static_cast<void *>(&untouched), 0x5a, sizeof untouched);
    Record target = untouched;
    // Every single bit.
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        Bytes b = good;
        b[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
        ASSERT_EQ(unpack(target, b), -EBADMSG) << "bit " << bit;
    }
    // Every shorter length, and longer ones.
    for (std::size_t n = 0; n < good.size(); ++n) {
        // On the heap and no longer than said, so that ASan sees a read beyond it.
        const std::unique_ptr<unsigned char[]> cut(new unsigned char[n]);
        std::memcpy(cut.get(), good.data(), n);
        ASSERT_EQ(unpack(target, cut.get(), n), -EBADMSG) << n;
    }
    Bytes longer = good;
    longer.push_back(0);
    ASSERT_EQ(unpack(target, longer), -EBADMSG);
    // Random damage under a right CRC: refused or a record that packs again; never a crash (ASan) or a half
    // result.
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20000; ++i) {
        Bytes b = good;
        for (std::uint64_t k = 1 + random() % 4; k > 0; --k) {
            b[wire::kHeader + random() % (b.size() - wire::kHeader)] = static_cast<unsigned char>(random());
        }
        reseal(b);
        Record got = untouched;
        const int rc = unpack(got, b);
        if (0 == rc) {
            ASSERT_EQ(packed(got), b) << "seed " << seed << " i " << i;
        } else {
            ASSERT_EQ(rc, -EBADMSG);
            ASSERT_EQ(std::memcmp(&got, &untouched, sizeof got), 0) << "changed by a bad record";
        }
    }
    ASSERT_EQ(std::memcmp(&target, &untouched, sizeof target), 0) << "changed by a bad record";
}

} // namespace

// The CRC is the common one: its check value over "123456789".
TEST(Crc, CheckValue)
{
    const unsigned char text[] = "123456789";
    EXPECT_EQ(wire::crc32(text, 9), 0xcbf43926U);
    EXPECT_EQ(wire::crc32(text + 4, 5, wire::crc32(text, 4)), 0xcbf43926U);
    EXPECT_EQ(wire::crc32(text, 0), 0U);
}

// The byte order and the header are fixed: this is what another machine reads.
TEST(Wire, HeaderIsLittleEndian)
{
    const Bytes b = packed(hello_of(0));
    EXPECT_EQ(std::string(b.begin(), b.begin() + 4), "FSBH");
    EXPECT_EQ(b[4], 6); // version
    EXPECT_EQ(b[5], 0);
    EXPECT_EQ(b[8] | b[9] << 8, static_cast<int>(b.size()));
    EXPECT_EQ(b[20], 0xef); // params_digest
    EXPECT_EQ(b[23], 0xde);
}

// 0, 1 and all rails go there and come back with every member.
TEST(Wire, TableRoundTrip)
{
    for (const std::uint32_t n : {0U, 1U, 2U, 32U}) {
        fsbml_table_t t = table_of(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            t.rail[i].round_trip_ns = 1000 + i;
        }
        if (0 == n) {
            std::snprintf(t.reason, sizeof t.reason, "no two nodes share two rails");
        } else {
            t.rail[n - 1].fit.valid = false;
            t.rail[n - 1].fit.params = {};
            std::snprintf(t.rail[n - 1].fit.reason, sizeof t.rail[0].fit.reason, "no answer within 1 s");
        }
        fsbml_table_t got{};
        const Bytes b = packed(t);
        ASSERT_EQ(unpack(got, b), 0) << n;
        EXPECT_EQ(packed(got), b) << n;
        EXPECT_EQ(got.n_rails, n);
        EXPECT_EQ(got.pair[1], 7U);
        EXPECT_EQ(got.duration_ns, t.duration_ns);
        EXPECT_STREQ(got.reason, t.reason);
        for (std::uint32_t i = 0; i < n; ++i) {
            EXPECT_STREQ(got.rail[i].key, t.rail[i].key);
            EXPECT_STREQ(got.rail[i].name, t.rail[i].name);
            EXPECT_EQ(got.rail[i].pair[0], 2 * i);
            EXPECT_EQ(got.rail[i].pair[1], 2 * i + 1);
            EXPECT_EQ(got.rail[i].round_trip_ns, 1000 + i);
            EXPECT_EQ(got.rail[i].fit.valid, t.rail[i].fit.valid);
            EXPECT_EQ(got.rail[i].fit.params.L_ns, t.rail[i].fit.params.L_ns);
            EXPECT_EQ(got.rail[i].fit.params.o_s_ns, t.rail[i].fit.params.o_s_ns);
            EXPECT_EQ(got.rail[i].fit.params.o_r_ns, t.rail[i].fit.params.o_r_ns);
            EXPECT_EQ(got.rail[i].fit.params.burst_ns, t.rail[i].fit.params.burst_ns);
            EXPECT_EQ(got.rail[i].fit.params.g_ns, t.rail[i].fit.params.g_ns);
            EXPECT_EQ(got.rail[i].fit.params.G_ns_per_byte, t.rail[i].fit.params.G_ns_per_byte);
            EXPECT_EQ(got.rail[i].fit.residual, t.rail[i].fit.residual);
            EXPECT_EQ(got.rail[i].fit.probes, t.rail[i].fit.probes);
            EXPECT_STREQ(got.rail[i].fit.reason, t.rail[i].fit.reason);
        }
    }
}

// Every number of a fit, each another one, and all flags in all ways.
TEST(Wire, FitRoundTrip)
{
    fsbml_table_t t = table_of(1);
    fsbml_fit_t fit = full_fit();
    for (unsigned flags = 0; flags < 8; ++flags) {
        fit.valid = 0 != (flags & 1);
        fit.tight = 0 != (flags & 2);
        fit.in_turn = 0 != (flags & 4);
        t.rail[0].fit = fit;
        fsbml_table_t got{};
        ASSERT_EQ(unpack(got, packed(t)), 0);
        const std::vector<double *> sent = numbers_of(fit);
        const std::vector<double *> come = numbers_of(got.rail[0].fit);
        for (std::size_t i = 0; i < sent.size(); ++i) {
            EXPECT_EQ(*come[i], *sent[i]) << "number " << i;
            EXPECT_NE(*come[i], 0.0) << "number " << i;
        }
        EXPECT_EQ(got.rail[0].fit.valid, fit.valid);
        EXPECT_EQ(got.rail[0].fit.tight, fit.tight);
        EXPECT_EQ(got.rail[0].fit.in_turn, fit.in_turn);
        EXPECT_EQ(got.rail[0].fit.probes, 123U);
    }
}

// The bounds of a fit's parameters are for the measuring pair: they are not sent.
TEST(Wire, BoundsAreNotSent)
{
    fsbml_table_t t = table_of(1);
    t.rail[0].fit.low = t.rail[0].fit.high = t.rail[0].fit.params;
    fsbml_table_t got{};
    ASSERT_EQ(unpack(got, packed(t)), 0);
    EXPECT_EQ(got.rail[0].fit.low.L_ns, 0.0);
    EXPECT_EQ(got.rail[0].fit.high.L_ns, 0.0);
    EXPECT_EQ(packed(t), packed(table_of(1)));
}

// Any number that is none, negative or beyond all ranges: not packed, and refused under a right CRC.
TEST(Wire, NumbersAreChecked)
{
    for (const bool valid : {false, true}) {
        fsbml_table_t t = table_of(1);
        t.rail[0].fit = full_fit();
        t.rail[0].fit.valid = valid;
        const Bytes good = packed(t);
        ASSERT_FALSE(good.empty());
        const std::size_t numbers = numbers_of(t.rail[0].fit).size();
        for (std::size_t i = 0; i < numbers; ++i) {
            for (const double bad :
                 {-1.0, -1e-300, 1e300, std::nan(""), double{INFINITY}, -double{INFINITY}}) {
                if (1e300 == bad && i + 1 == numbers) {
                    continue; // a residual may be anything
                }
                fsbml_table_t wrong = t;
                double *const number = numbers_of(wrong.rail[0].fit)[i];
                const double before = *number;
                *number = bad;
                EXPECT_TRUE(packed(wrong).empty()) << "number " << i << ": " << bad;
                // Where its bytes are in the record; no other number is the same.
                const auto *bytes = reinterpret_cast<const unsigned char *>(&before);
                Bytes b = good;
                const auto at = std::search(b.begin(), b.end(), bytes, bytes + sizeof before);
                ASSERT_NE(at, b.end()) << "number " << i;
                std::memcpy(&*at, &bad, sizeof bad);
                reseal(b);
                fsbml_table_t got{};
                EXPECT_EQ(unpack(got, b), -EBADMSG) << "number " << i << ": " << bad;
            }
        }
    }
}

// Of a valid fit, the parameters are those that a scheduler takes.
TEST(Wire, ValidMeansThatASchedulerTakesIt)
{
    fsbml_table_t t = table_of(1);
    t.rail[0].fit = full_fit();
    t.rail[0].fit.params.g_above_ns = 1.0; // 1.3 ms are below it
    EXPECT_TRUE(packed(t).empty());
    t.rail[0].fit.valid = false;
    EXPECT_FALSE(packed(t).empty());
}

// The same of a hello.
TEST(Wire, HelloRoundTrip)
{
    for (const std::uint32_t n : {0U, 1U, 32U}) {
        const fsbml_hello_t h = hello_of(n);
        fsbml_hello_t got{};
        ASSERT_EQ(unpack(got, packed(h)), 0) << n;
        EXPECT_EQ(packed(got), packed(h)) << n;
        EXPECT_EQ(got.n_rails, n);
        EXPECT_EQ(got.params_digest, 0xdeadbeefU);
        EXPECT_EQ(got.flags, FSBML_HELLO_RDMA);
        EXPECT_EQ(got.node_ranks, 48U);
        EXPECT_EQ(got.run, 24U);
        EXPECT_STREQ(got.node, h.node);
        for (std::uint32_t i = 0; i < n; ++i) {
            EXPECT_EQ(got.rail[i].exclusivity, h.rail[i].exclusivity);
            EXPECT_STREQ(got.rail[i].key, h.rail[i].key);
        }
    }
}

// The longest record fits what packed_max says, and a byte less is -ENOSPC.
TEST(Wire, LongestRecord)
{
    fsbml_table_t t = table_of(FSBML_MAX_RAILS);
    std::memset(t.reason, 'r', sizeof t.reason - 1);
    fsbml_hello_t h = hello_of(FSBML_MAX_RAILS);
    std::memset(h.node, 'n', sizeof h.node - 1);
    for (std::uint32_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        std::memset(t.rail[i].key, 'k', sizeof t.rail[i].key - 1);
        std::memset(t.rail[i].name, 'n', sizeof t.rail[i].name - 1);
        std::memset(t.rail[i].fit.reason, 'f', sizeof t.rail[i].fit.reason - 1);
        std::memset(h.rail[i].key, 'k', sizeof h.rail[i].key - 1);
    }
    EXPECT_EQ(packed(t).size(), fsbml_table_packed_max());
    EXPECT_EQ(packed(h).size(), fsbml_hello_packed_max());
    Bytes b(fsbml_table_packed_max());
    for (std::size_t n = 0; n < b.size(); n += 97) {
        EXPECT_EQ(fsbml_table_pack(&t, b.data(), n), -ENOSPC) << n;
    }
    EXPECT_EQ(fsbml_table_pack(&t, b.data(), b.size() - 1), -ENOSPC);
    EXPECT_EQ(fsbml_hello_pack(&h, b.data(), fsbml_hello_packed_max() - 1), -ENOSPC);
}

// What is not a proper record is not packed: too many rails, texts without an end, numbers that are none.
TEST(Wire, NonsenseIsNotPacked)
{
    Bytes b(fsbml_table_packed_max());
    const auto rc = [&](const fsbml_table_t &t) { return fsbml_table_pack(&t, b.data(), b.size()); };
    fsbml_table_t t = table_of(2);
    t.n_rails = FSBML_MAX_RAILS + 1;
    EXPECT_EQ(rc(t), -EINVAL);
    t = table_of(2);
    std::memset(t.rail[1].key, 'k', sizeof t.rail[1].key);
    EXPECT_EQ(rc(t), -EINVAL);
    t = table_of(2);
    std::memset(t.reason, 'r', sizeof t.reason);
    EXPECT_EQ(rc(t), -EINVAL);
    t = table_of(2);
    t.rail[0].fit.params.G_ns_per_byte = 0.0; // valid, and yet no model
    EXPECT_EQ(rc(t), -EINVAL);
    t = table_of(2);
    t.rail[0].fit.valid = false;
    t.rail[0].fit.params.L_ns = NAN;
    EXPECT_EQ(rc(t), -EINVAL);
    t = table_of(2);
    t.rail[0].fit.residual = -1.0;
    EXPECT_EQ(rc(t), -EINVAL);
    fsbml_hello_t h = hello_of(2);
    h.n_rails = FSBML_MAX_RAILS + 1;
    EXPECT_EQ(fsbml_hello_pack(&h, b.data(), b.size()), -EINVAL);
    h = hello_of(2);
    std::memset(h.node, 'n', sizeof h.node);
    EXPECT_EQ(fsbml_hello_pack(&h, b.data(), b.size()), -EINVAL);
}

// A whole record of another version is told from a damaged one; the other kind of record is not taken either.
TEST(Wire, VersionAndKind)
{
    Bytes b = packed(table_of(1));
    fsbml_table_t t{};
    const auto version = b[4];
    for (const int step : {-1, 1}) { // older and newer
        b[4] = static_cast<unsigned char>(version + step);
        reseal(b);
        EXPECT_EQ(unpack(t, b), -EPROTO);
    }
    EXPECT_EQ(unpack(t, packed(hello_of(1))), -EBADMSG);
    fsbml_hello_t h{};
    EXPECT_EQ(unpack(h, packed(table_of(1))), -EBADMSG);
    b = packed(table_of(1));
    b[6] = 1; // reserved
    reseal(b);
    EXPECT_EQ(unpack(t, b), -EBADMSG);
}

// More rails than fit, and a text with a zero inside, under a right CRC.
TEST(Wire, CountsAndTextsAreChecked)
{
    Bytes b = packed(hello_of(2));
    b[16] = 33;
    reseal(b);
    fsbml_hello_t h{};
    EXPECT_EQ(unpack(h, b), -EBADMSG);
    b = packed(hello_of(2));
    b[25] = 0; // first letter of the node's name
    reseal(b);
    EXPECT_EQ(unpack(h, b), -EBADMSG);
    b = packed(hello_of(2));
    b[24] = 64; // its length: as large as the array
    reseal(b);
    EXPECT_EQ(unpack(h, b), -EBADMSG);
}

// A text that fills its array leaves no room for the zero: a record of just such a node name is refused, one
// letter less is taken.
TEST(Wire, TextsNeedRoomForTheirEnd)
{
    for (const unsigned char letters : {FSBML_NAME_MAX - 1, FSBML_NAME_MAX}) {
        Bytes b = packed(hello_of(0));
        b.resize(24);
        b.push_back(letters);
        b.insert(b.end(), letters, 'n');
        b.insert(b.end(), 12, 0); // flags, node_ranks, run
        b[8] = static_cast<unsigned char>(b.size());
        reseal(b);
        fsbml_hello_t h{};
        EXPECT_EQ(unpack(h, b), letters < FSBML_NAME_MAX ? 0 : -EBADMSG);
    }
}

// The length in the header is that of the record, also when the CRC does not object.
TEST(Wire, LengthIsChecked)
{
    for (const int off : {-1, 1}) {
        Bytes b = packed(hello_of(1));
        b[8] = static_cast<unsigned char>(b[8] + off);
        reseal(b);
        fsbml_hello_t h{};
        EXPECT_EQ(unpack(h, b), -EBADMSG);
    }
}

// Every bit flipped, every length cut, thousands of random changes.
TEST(Wire, TableSurvivesDamage)
{
    fsbml_table_t t = table_of(2);
    t.rail[1].fit = full_fit();
    survives_damage(t, 99);
}
// The same of a hello.
TEST(Wire, HelloSurvivesDamage)
{
    survives_damage(hello_of(3), 98);
}
