// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The list of pairs on the wire, and one table out of several.
#include "records.hpp"

#include "test.hpp"

namespace
{

std::unique_ptr<fsbml_pairs_t> pairs_of(std::uint32_t n)
{
    auto p = std::make_unique<fsbml_pairs_t>();
    p->n = n;
    for (std::uint32_t i = 0; i < n; ++i) {
        p->pair[i].rank[0] = 10 * i;
        p->pair[i].rank[1] = 10 * i + 1;
        p->pair[i].round = i % 3;
        p->pair[i].n_rails = 1 + i % FSBML_MAX_RAILS;
        for (std::uint32_t k = 0; k < p->pair[i].n_rails; ++k) {
            p->pair[i].key[k] = 0x80000000U + 100 * i + k;
        }
    }
    return p;
}

Bytes packed(const fsbml_pairs_t &p)
{
    Bytes b(fsbml_pairs_packed_max());
    const long n = fsbml_pairs_pack(&p, b.data(), b.size());
    b.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return b;
}

fsbml_table_t one_rail(const char *key, double G, bool valid, const char *reason)
{
    fsbml_table_t t = table_of(1);
    std::snprintf(t.rail[0].key, sizeof t.rail[0].key, "%s", key);
    std::snprintf(t.rail[0].fit.reason, sizeof t.rail[0].fit.reason, "%s", reason);
    t.rail[0].fit.valid = valid;
    t.rail[0].fit.params.G_ns_per_byte = G;
    return t;
}

} // namespace

// A list comes back as it was, also with something behind it.
TEST(Pairs, RoundTrip)
{
    for (const std::uint32_t n : {0, 1, 5, FSBML_MAX_PAIRS}) {
        const auto p = pairs_of(n);
        const Bytes b = packed(*p);
        ASSERT_GT(b.size(), 0U);
        Bytes longer = b;
        longer.insert(longer.end(), 17, 0xff);
        for (const Bytes &from : {b, longer}) {
            auto got = std::make_unique<fsbml_pairs_t>();
            ASSERT_EQ(fsbml_pairs_unpack(got.get(), from.data(), from.size()), static_cast<long>(b.size()));
            EXPECT_EQ(got->n, n);
            EXPECT_EQ(packed(*got), b);
        }
    }
}

// Damage is noticed, and leaves what was there.
TEST(Pairs, DamageIsNoticed)
{
    const Bytes b = packed(*pairs_of(3));
    const Bytes before = packed(*pairs_of(2));
    const auto got = pairs_of(2);
    for (std::size_t bit = 0; bit < 8 * b.size(); ++bit) {
        Bytes bad = b;
        bad[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
        ASSERT_LT(fsbml_pairs_unpack(got.get(), bad.data(), bad.size()), 0) << bit;
    }
    for (std::size_t n = 0; n < b.size(); ++n) {
        const std::unique_ptr<unsigned char[]> cut(new unsigned char[n]);
        std::memcpy(cut.get(), b.data(), n);
        ASSERT_EQ(fsbml_pairs_unpack(got.get(), cut.get(), n), -EBADMSG) << n;
    }
    EXPECT_EQ(packed(*got), before);
    auto many = pairs_of(1);
    many->n = FSBML_MAX_PAIRS + 1;
    EXPECT_EQ(packed(*many), Bytes{});
    many->n = 1;
    many->pair[0].n_rails = FSBML_MAX_RAILS + 1;
    EXPECT_EQ(packed(*many), Bytes{});
}

// Rails that one table lacks come from the other; of those that both have, the first that is valid stays.
TEST(Merge, FirstPairsRailsStay)
{
    fsbml_table_t t = one_rail("A", 1.0, true, "a remark");
    const fsbml_table_t same = one_rail("A", 2.0, true, "other"), b = one_rail("B", 3.0, true, "");
    EXPECT_EQ(fsbml_table_merge(&t, &same), 0);
    EXPECT_EQ(fsbml_table_merge(&t, &b), 0);
    ASSERT_EQ(t.n_rails, 2U);
    EXPECT_EQ(t.rail[0].fit.params.G_ns_per_byte, 1.0);
    EXPECT_STREQ(t.rail[0].fit.reason, "a remark");
    EXPECT_STREQ(t.rail[1].key, "B");
    EXPECT_EQ(t.pair[1], 7U);

    t = one_rail("A", 1.0, false, "no answer");
    const fsbml_table_t neither = one_rail("A", 2.0, false, "other");
    EXPECT_EQ(fsbml_table_merge(&t, &neither), 0);
    EXPECT_STREQ(t.rail[0].fit.reason, "no answer");
    EXPECT_EQ(fsbml_table_merge(&t, &same), 0);
    EXPECT_TRUE(t.rail[0].fit.valid);
    EXPECT_EQ(t.rail[0].fit.params.G_ns_per_byte, 2.0);
}

// A pair that measured nothing leaves its reason, and takes nothing away.
TEST(Merge, ReasonsStay)
{
    fsbml_table_t t = one_rail("A", 1.0, true, ""), none{};
    std::snprintf(none.reason, sizeof none.reason, "rank 2 does not answer rank 3");
    EXPECT_EQ(fsbml_table_merge(&t, &none), 0);
    EXPECT_EQ(t.n_rails, 1U);
    EXPECT_STREQ(t.reason, "rank 2 does not answer rank 3");
    fsbml_table_t first{};
    std::snprintf(first.reason, sizeof first.reason, "out of memory");
    EXPECT_EQ(fsbml_table_merge(&first, &t), 0);
    EXPECT_EQ(first.n_rails, 1U);
    EXPECT_STREQ(first.reason, "out of memory");
}

TEST(Merge, NoRoom)
{
    fsbml_table_t t = table_of(FSBML_MAX_RAILS);
    const fsbml_table_t more = one_rail("one more", 1.0, true, "");
    EXPECT_EQ(fsbml_table_merge(&t, &more), 1);
    EXPECT_EQ(t.n_rails, static_cast<std::uint32_t>(FSBML_MAX_RAILS));
}

// The digest sees every rail, parameter and reason, and not which pair measured for how long.
TEST(Merge, Digest)
{
    const fsbml_table_t t = table_of(3);
    fsbml_table_t other = t;
    other.pair[0] = 3;
    other.duration_ns = 5;
    other.rail[1].round_trip_ns = 7;
    EXPECT_EQ(fsbml_table_digest(&t), fsbml_table_digest(&other));
    other.rail[2].fit.params.L_ns += 1;
    EXPECT_NE(fsbml_table_digest(&t), fsbml_table_digest(&other));
    other = t;
    std::snprintf(other.reason, sizeof other.reason, "x");
    EXPECT_NE(fsbml_table_digest(&t), fsbml_table_digest(&other));
    other = t;
    other.n_rails = 2;
    EXPECT_NE(fsbml_table_digest(&t), fsbml_table_digest(&other));
    EXPECT_EQ(fsbml_table_digest(nullptr), 0U);
}
