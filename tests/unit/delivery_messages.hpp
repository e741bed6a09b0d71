// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The messages of one end in a world of delivery tests, and what is expected of each: that it arrives once,
// with its bytes and its tag, in the connection that it was given to; that it is let go once, after that; and
// that not too many are under way.
#ifndef FSBML_TESTS_UNIT_DELIVERY_MESSAGES_HPP
#define FSBML_TESTS_UNIT_DELIVERY_MESSAGES_HPP

#include "api/fsbml_core.h"
#include "test.hpp"

namespace delivery
{

struct Destroy {
    void operator()(fsbml_delivery_t *d) const noexcept { fsbml_delivery_destroy(d); }
};
using Ptr = std::unique_ptr<fsbml_delivery_t, Destroy>;

inline fsbml_delivery_limits_t limits()
{
    fsbml_delivery_limits_t l{};
    fsbml_delivery_limits(&l);
    l.wait_ns = FSBML_DELIVERY_NEVER;
    return l;
}

// The words of a test's own, each with a number behind it. False: there is another word.
inline bool read_words(int argc, char **argv, const std::map<std::string, std::uint64_t *> &known)
{
    for (int i = 1; i < argc; i += 2) {
        const auto word = known.find(argv[i]);
        char *end = nullptr;
        const std::uint64_t value = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 10) : 0;
        if (known.end() == word || nullptr == end || end == argv[i + 1] || '\0' != *end) {
            std::fprintf(stderr, "usage: %s", argv[0]);
            for (const auto &one : known) {
                std::fprintf(stderr, " [%s N]", one.first.c_str());
            }
            std::fprintf(stderr, "\n");
            return false;
        }
        *word->second = value;
    }
    return true;
}

class Messages
{
public:
    static void fill(std::uint8_t *at, std::uint32_t id, std::uint32_t bytes)
    {
        for (std::uint32_t i = 0; i < bytes; ++i) {
            at[i] = static_cast<std::uint8_t>(i < 4 ? id >> (8 * i) : id + 31 * i);
        }
    }
    static std::uint32_t id_in(const std::uint8_t *at)
    {
        return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8
               | static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
    }
    static std::uint32_t id_of(const fsbml_delivery_message_t *m)
    {
        return reinterpret_cast<const One *>(m)->id; // its first member
    }
    static std::uint8_t tag_of(std::uint32_t id) { return static_cast<std::uint8_t>(id * 7); }

    std::uint32_t add(std::uint32_t bytes)
    {
        const auto id = static_cast<std::uint32_t>(all_.size());
        all_.emplace_back();
        all_.back().m.bytes = bytes;
        all_.back().m.tag = tag_of(id);
        all_.back().id = id;
        return id;
    }
    fsbml_delivery_message_t *record(std::uint32_t id) { return &all_[id].m; }
    std::uint32_t bytes(std::uint32_t id) const { return all_[id].m.bytes; }
    std::size_t arrived() const { return arrived_; }

    // The connection has taken it.
    void given(std::uint32_t id, std::uint64_t connection, const fsbml_delivery_limits_t &l)
    {
        all_[id].connection = connection;
        all_[id].seen = 0;
        under_way_.push_back(id);
        bytes_ += all_[id].m.bytes;
        settle();
        ASSERT_LE(under_way_.size(), l.lead_messages) << "too many messages are ahead";
        if (under_way_.size() > 1) {
            ASSERT_LE(bytes_, l.lead_bytes) << "too many bytes are ahead";
        }
    }
    // ... and given back, or it is gone with its connection.
    void taken_back(std::uint32_t id)
    {
        all_[id].connection = 0;
        const auto at = std::find(under_way_.begin(), under_way_.end(), id);
        ASSERT_NE(under_way_.end(), at);
        under_way_.erase(at);
        bytes_ -= all_[id].m.bytes;
    }
    void connection_gone()
    {
        under_way_.clear();
        bytes_ = 0;
    }
    void arrived(std::uint32_t id, std::uint8_t tag, std::uint64_t connection)
    {
        ASSERT_LT(id, all_.size()) << "a message that never was";
        ASSERT_EQ(connection, all_[id].connection) << "message " << id << " of another life";
        ASSERT_EQ(tag_of(id), tag) << "message " << id;
        ASSERT_EQ(1, ++all_[id].seen) << "message " << id << " came twice";
        ++arrived_;
    }
    void let_go(std::uint32_t id)
    {
        ASSERT_LT(id, all_.size());
        ASSERT_FALSE(all_[id].gone) << "message " << id << " was let go twice";
        ASSERT_EQ(1, all_[id].seen) << "message " << id << " was let go before it arrived";
        all_[id].gone = true;
    }
    // Have all that were given to this connection arrived, and all others been given to some?
    bool are_done(std::uint64_t connection) const
    {
        return std::all_of(all_.begin(), all_.end(), [&](const One &m) {
            return 0 != m.connection && (connection != m.connection || (1 == m.seen && m.gone));
        });
    }

private:
    struct One {
        fsbml_delivery_message_t m{};
        std::uint32_t id = 0;
        int seen = 0; // by the other end
        bool gone = false;
        std::uint64_t connection = 0; // 0: not given to any
    };

    void settle()
    {
        for (; !under_way_.empty() && all_[under_way_.front()].seen > 0; under_way_.pop_front()) {
            bytes_ -= all_[under_way_.front()].m.bytes;
        }
    }

    std::deque<One> all_;                 // they stay where they are
    std::deque<std::uint32_t> under_way_; // in the order in which they were given
    std::uint64_t bytes_ = 0;
    std::size_t arrived_ = 0;
};

// One end of a connection.
struct End {
    Messages messages; // that it sends
    Ptr d;
    std::uint64_t tick_at = FSBML_DELIVERY_NEVER, paused_until = 0;
    std::deque<std::uint32_t> to_send; // those that had to wait
    unsigned stranded = 0, suspected = 0, resumed = 0, dead = 0, up = 0;

    fsbml_delivery_counters_t counters() const
    {
        fsbml_delivery_counters_t c{};
        fsbml_delivery_counters(d.get(), &c);
        return c;
    }
};

// A message that the transport refused.
struct Late {
    unsigned end;
    fsbml_delivery_seal_t seal;
    std::uint32_t id;
};

} // namespace delivery

#endif
