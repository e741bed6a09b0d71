// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The queue of messages that are kept, against one of the library's.

#include "delivery/path/kept.hpp"
#include "test.hpp"

#include <atomic>
#include <thread>

namespace
{

using fsbml::Chunk;
using fsbml::Kept;
using fsbml::Message;
using fsbml::Store;

fsbml_delivery_limits_t limits()
{
    fsbml_delivery_limits_t l{};
    fsbml_delivery_limits(&l);
    return l;
}

void *handle_of(std::uint32_t order)
{
    return reinterpret_cast<void *>(std::uintptr_t{order});
}

struct Model {
    struct One {
        std::uint32_t order, bytes;
        bool is_copied;
    };
    std::deque<One> all;
    Kept kept;

    bool append(Store &store, const One &one)
    {
        const std::vector<std::uint8_t> body(one.bytes, static_cast<std::uint8_t>(one.order));
        const std::uint32_t half = one.bytes / 3;
        const fsbml_delivery_part_t parts[2] = {{body.data(), half}, {body.data() + half, one.bytes - half}};
        Message record{one.bytes, one.order, 10 * one.order, 0, static_cast<std::uint16_t>(one.order), 0,
                       0,         0};
        record.flags = one.is_copied ? Message::kCopied : 0;
        if (nullptr == kept.append(store, record, parts, 2, handle_of(one.order), false)) {
            return false;
        }
        all.push_back(one);
        return true;
    }
    void check()
    {
        ASSERT_EQ(all.size(), kept.count());
        std::size_t k = 0;
        std::uint32_t oldest = UINT32_MAX;
        kept.each([&](Message &m) {
            const One &one = all[k++];
            oldest = std::min(oldest, one.order);
            EXPECT_EQ(one.order, m.order);
            EXPECT_EQ(one.bytes, m.bytes);
            if (one.is_copied) {
                EXPECT_TRUE(std::all_of(m.data(), m.data() + m.bytes, [&](std::uint8_t byte) {
                    return byte == static_cast<std::uint8_t>(one.order);
                }));
            } else {
                EXPECT_EQ(handle_of(one.order), m.handle());
            }
            return true;
        });
        ASSERT_EQ(k, all.size());
        if (all.empty()) {
            ASSERT_EQ(nullptr, kept.front());
            return;
        }
        ASSERT_EQ(all.front().order, kept.front()->order);
        std::uint32_t order = 0, behind = 0;
        kept.oldest(&order, &behind);
        ASSERT_LE(order, oldest); // it may be taken for older, never for younger
        ASSERT_EQ(10 * order, behind);
    }
};

TEST(Kept, IsAQueue)
{
    const fsbml_delivery_limits_t l = limits();
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Store store(l);
        Model a, b;
        std::uint32_t order = 1000;
        bool may_pop_back = false;
        for (int i = 0; i < 3000; ++i) {
            const unsigned what = random() % 100;
            if (what < 45) {
                const std::uint32_t bytes = 0 == random() % 4 ? random() % 4097 : random() % 100;
                // Now and then one that was sent before.
                const std::uint32_t again = 0 == random() % 10 ? random() % 100 : 0;
                may_pop_back = a.append(store, {order++ - again, bytes, 0 != random() % 3});
            } else if (what < 88) {
                if (!a.all.empty()) {
                    a.all.pop_front();
                    a.kept.pop_front(store);
                }
            } else if (what < 96) {
                if (may_pop_back && !a.all.empty()) {
                    ASSERT_EQ(a.all.back().order, a.kept.back()->order);
                    a.all.pop_back();
                    a.kept.pop_back();
                    may_pop_back = false;
                }
            } else if (what < 98) {
                b.kept.splice(store, a.kept);
                b.all.insert(b.all.end(), a.all.begin(), a.all.end());
                a.all.clear();
            } else {
                for (std::size_t k = random() % (b.all.size() + 1); k > 0; --k) {
                    b.all.pop_front();
                    b.kept.pop_front(store);
                }
            }
            a.check();
            b.check();
            ASSERT_FALSE(HasFailure()) << "step " << i;
        }
        a.kept.drop(store);
        b.kept.drop(store);
        EXPECT_EQ(0U, a.kept.bytes() + b.kept.bytes());
        EXPECT_LE(store.bytes(), 64 * Chunk::kBytes); // what it keeps in reserve
    }
}

// The oldest is known exactly once those are gone that came out of order.
TEST(Kept, KnowsItsOldest)
{
    const fsbml_delivery_limits_t l = limits();
    Store store(l);
    Model m;
    std::uint32_t order = 0, behind = 0;
    for (const std::uint32_t one : {10U, 11U, 3U, 12U, 13U}) {
        ASSERT_TRUE(m.append(store, {one, 8, true}));
    }
    for (const std::uint32_t expected : {3U, 3U, 3U, 12U, 13U}) {
        m.kept.oldest(&order, &behind);
        EXPECT_EQ(expected, order);
        m.kept.pop_front(store);
    }
    // Orders wrap around.
    Model w;
    for (const std::uint32_t one : {5U, UINT32_MAX - 1, 6U}) {
        ASSERT_TRUE(w.append(store, {one, 8, true}));
    }
    w.kept.oldest(&order, &behind);
    EXPECT_EQ(UINT32_MAX - 1, order);
    m.kept.drop(store);
    w.kept.drop(store);
}

TEST(Kept, TakesBackSeveral)
{
    const fsbml_delivery_limits_t l = limits();
    Store store(l);
    Model m;
    for (const std::uint32_t one : {10U, 11U, 12U}) {
        ASSERT_TRUE(m.append(store, {one, 40 * one, true}));
    }
    for (const std::uint32_t expected : {12U, 11U, 10U}) {
        ASSERT_NE(nullptr, m.kept.back());
        EXPECT_EQ(expected, m.kept.back()->order);
        m.kept.pop_back();
    }
    EXPECT_EQ(nullptr, m.kept.back());
    m.kept.drop(store);
}

TEST(Store, HasABudget)
{
    fsbml_delivery_limits_t l = limits();
    l.store_bytes = 2 * Chunk::kBytes;
    Store store(l);
    Chunk *const a = store.take(false), *const b = store.take(false);
    ASSERT_NE(nullptr, a);
    ASSERT_NE(nullptr, b);
    EXPECT_EQ(nullptr, store.take(false));
    Chunk *const moved = store.take(true);
    ASSERT_NE(nullptr, moved);
    EXPECT_EQ(3 * Chunk::kBytes, store.bytes());
    store.give(moved);
    EXPECT_EQ(nullptr, store.take(false)); // what went beyond it does not stay
    store.give(a);
    EXPECT_EQ(a, store.take(false));
    store.give(a);
    store.give(b);
    EXPECT_EQ(2 * Chunk::kBytes, store.bytes());
}

// Peers of several threads have one store.
TEST(Store, IsForAllThreads)
{
    fsbml_delivery_limits_t l = limits();
    l.store_bytes = 8 * Chunk::kBytes;
    Store store(l);
    std::vector<std::thread> threads;
    std::atomic<int> bad{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20000; ++i) {
                Chunk *const one = store.take(false), *const two = store.take(false);
                for (Chunk *chunk : {one, two}) {
                    if (nullptr != chunk) {
                        chunk->last = static_cast<std::uint32_t>(t);
                        bad += 0 != chunk->begin + chunk->end ? 1 : 0;
                    }
                }
                for (Chunk *chunk : {one, two}) {
                    if (nullptr != chunk) {
                        bad += static_cast<std::uint32_t>(t) != chunk->last ? 1 : 0;
                        store.give(chunk);
                    }
                }
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(0, bad.load());
    EXPECT_LE(store.bytes(), 8 * Chunk::kBytes);
}

} // namespace
