// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The list of messages that are kept, against the library's.

#include "delivery/path/path.hpp"
#include "test.hpp"

namespace
{

using fsbml::is;
using fsbml::Kept;
using fsbml::Mark;
using fsbml::Message;

struct Model {
    std::deque<Message *> all;
    Kept kept;

    void append(Message &m)
    {
        kept.append(m);
        all.push_back(&m);
    }
    void take(bool first)
    {
        Message *const m = first ? all.front() : all.back();
        ASSERT_EQ(m, first ? kept.front() : kept.back());
        kept.take(*m);
        first ? all.pop_front() : all.pop_back();
    }
    void check() const
    {
        ASSERT_EQ(all.size(), kept.count());
        std::size_t k = 0;
        std::uint32_t oldest = UINT32_MAX;
        const Message *before = nullptr;
        kept.each([&](Message &m) {
            oldest = std::min(oldest, m.order);
            EXPECT_EQ(all[k++], &m);
            EXPECT_EQ(before, m.before);
            before = &m;
            return true;
        });
        ASSERT_EQ(k, all.size());
        ASSERT_EQ(before, kept.back());
        if (all.empty()) {
            ASSERT_EQ(nullptr, kept.front());
            return;
        }
        std::uint32_t order = 0, behind = 0;
        kept.oldest(&order, &behind);
        ASSERT_LE(order, oldest); // it may be taken for older, never for younger
        ASSERT_EQ(10 * order, behind);
    }
};

class KeptTest : public testing::Test
{
protected:
    Message &message(std::uint32_t order)
    {
        messages.emplace_back();
        messages.back().order = order;
        messages.back().behind = 10 * order;
        return messages.back();
    }

    std::deque<Message> messages; // they stay where they are
    std::vector<std::unique_ptr<Message>> holes;
};

TEST_F(KeptTest, IsAList)
{
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Model a, b;
        std::uint32_t order = 1000;
        for (int i = 0; i < 3000; ++i) {
            const unsigned what = random() % 100;
            Model &one = 0 == random() % 8 ? b : a;
            if (what < 50) { // now and then one that was sent before
                one.append(message(order++ - (0 == random() % 10 ? random() % 100 : 0)));
            } else if (what < 90) {
                if (!one.all.empty()) {
                    one.take(what < 84);
                }
            } else if (what < 95) {
                if (!one.all.empty()) { // its number has no message any more
                    auto *const hole = new Message;
                    Message *&m = one.all[random() % one.all.size()];
                    if (!is(*m, Mark::kVoid)) {
                        one.kept.hollow(*m, *hole);
                        EXPECT_TRUE(is(*hole, Mark::kVoid) && is(*hole, Mark::kDone));
                        m = hole;
                        holes.emplace_back(hole);
                    } else {
                        delete hole;
                    }
                }
            } else if (what < 98) {
                b.kept.splice(a.kept);
                b.all.insert(b.all.end(), a.all.begin(), a.all.end());
                a.all.clear();
            } else {
                for (std::size_t k = random() % (b.all.size() + 1); k > 0; --k) {
                    b.take(true);
                }
            }
            a.check();
            b.check();
            ASSERT_FALSE(HasFailure()) << "step " << i;
        }
        while (!a.all.empty()) {
            a.take(true);
        }
        while (!b.all.empty()) {
            b.take(false);
        }
    }
}

// The oldest is known exactly once those are gone that came out of order.
TEST_F(KeptTest, KnowsItsOldest)
{
    Model m, w;
    std::uint32_t order = 0, behind = 0;
    for (const std::uint32_t one : {10U, 11U, 3U, 12U, 13U}) {
        m.append(message(one));
    }
    for (const std::uint32_t expected : {3U, 3U, 3U, 12U, 13U}) {
        m.kept.oldest(&order, &behind);
        EXPECT_EQ(expected, order);
        m.take(true);
    }
    for (const std::uint32_t one : {5U, UINT32_MAX - 1, 6U}) { // orders wrap around
        w.append(message(one));
    }
    w.kept.oldest(&order, &behind);
    EXPECT_EQ(UINT32_MAX - 1, order);
}

// A number without a message has a record that is the list's own.
TEST_F(KeptTest, FreesWhatIsItsOwn)
{
    Model m;
    m.append(message(1));
    m.append(message(2));
    m.kept.hollow(*m.all[0], *new Message); // the sanitizers would tell
    EXPECT_EQ(2U, m.kept.count());
    EXPECT_EQ(m.all[1], m.kept.back());
    EXPECT_EQ(m.all[1]->before, m.kept.front());
}

} // namespace
