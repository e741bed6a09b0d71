// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Frames that the peer cannot mean, among those that it does: of another version, connection, life, path or
// generation, numbers out of the window, words about what was never sent, repeats, pieces, noise. None is
// delivered, all are counted, and the messages go on as if there were none.
//
//   delivery_false_test [--frames N] [--seed S]
#include "delivery_world.hpp"

namespace
{

using namespace delivery;

std::uint64_t frames = 300000, first_seed = 1;

using Bytes = std::vector<std::uint8_t>;

enum Kind : unsigned { kIdentity = 1, kData, kAck, kGap, kAsk, kClose, kResume, kProbe, kProbed, kVoid };

// What end 0 says to end 1 is known by listening, as a forger on the line could.
class Forger
{
public:
    explicit Forger(std::uint64_t seed) : random(seed), w(limits(), 2, seed), other(limits(), 2, seed + 1) {}

    // A legitimate message, by hand: it arrives at once.
    void message(unsigned path)
    {
        fsbml_delivery_seal_t seal{};
        ASSERT_EQ(0, fsbml_delivery_send(w.d(0), path, now, 0, next(), &seal));
        ++sent;
        Bytes frame(seal.header, seal.header + seal.bytes);
        frame.resize(frame.size() + sizeof sent);
        last[path] = seal;
        history.push_back(frame);
        ASSERT_EQ(1, arrive(path, frame));
        ++arrived;
    }
    int arrive(unsigned path, const Bytes &frame)
    {
        fsbml_delivery_arrival_t arrival{};
        // Of just that size, so that a byte read beyond it is noticed.
        const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[frame.size()]);
        std::copy(frame.begin(), frame.end(), exact.get());
        return fsbml_delivery_arrived(w.d(1), path, now, exact.get(), frame.size(), &arrival);
    }
    // Both ends do what they have to; their control frames arrive, and are remembered.
    void work()
    {
        now += 1 + random() % (2 * kMs);
        fsbml_delivery_action_t a{};
        fsbml_delivery_arrival_t arrival{};
        for (int round = 0; round < 4; ++round) {
            for (unsigned e = 0; e < 2; ++e) {
                fsbml_delivery_tick(w.d(e), now);
                while (fsbml_delivery_next(w.d(e), now, &a)) {
                    if (FSBML_DELIVERY_FRAME != a.kind) {
                        ASSERT_NE(FSBML_DELIVERY_SUSPECTED, a.kind)
                            << "a path was given up for a false frame";
                        continue;
                    }
                    if (0 == e) {
                        control.assign(a.frame, a.frame + a.bytes);
                        history.push_back(control);
                    }
                    ASSERT_EQ(0, fsbml_delivery_arrived(w.d(1 - e), a.path, now, a.frame, a.bytes, &arrival));
                }
            }
        }
        if (history.size() > 64) {
            history.erase(history.begin(), history.begin() + 32);
        }
    }

    Bytes record(unsigned kind, std::uint16_t handle, unsigned path, unsigned generation, unsigned number)
    {
        return {static_cast<std::uint8_t>(0x10 | kind), 0,
                static_cast<std::uint8_t>(handle >> 8), static_cast<std::uint8_t>(handle),
                static_cast<std::uint8_t>(path),        static_cast<std::uint8_t>(generation),
                static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
    }
    static void add(Bytes &to, const Bytes &more) { to.insert(to.end(), more.begin(), more.end()); }
    // The frame of the right connection that says this.
    Bytes said(const Bytes &record)
    {
        Bytes frame(control.begin(), control.begin() + 8);
        add(frame, record);
        return frame;
    }

    // A false frame, and by which path.
    Bytes forge(unsigned path)
    {
        const fsbml_delivery_seal_t &seal = last[path];
        const auto handle =
            static_cast<std::uint16_t>(seal.header[seal.bytes - 6] << 8 | seal.header[seal.bytes - 5]);
        const unsigned next = seal.number + 1U;
        const auto wrong = static_cast<unsigned>(1 + random() % 253); // never the generation before
        const auto far = static_cast<unsigned>(random() % 16000);
        Bytes good = record(kData, handle, path, seal.generation, next);
        switch (random() % 16) {
        case 0: { // noise
            Bytes noise(random() % 100);
            for (std::uint8_t &byte : noise) {
                byte = static_cast<std::uint8_t>(random());
            }
            if (!noise.empty() && noise[0] >> 4 == 1) {
                noise[0] ^= 0x80;
            }
            return noise;
        }
        case 1: // another version
            good[0] = static_cast<std::uint8_t>(good[0] ^ (1 + random() % 15) << 4);
            return good;
        case 2: // another connection
            return record(kData, static_cast<std::uint16_t>(handle + 1 + random() % 65535), path,
                          seal.generation, next);
        case 3:
            return record(kData, handle, path, seal.generation + wrong, next);
        case 4:
            return record(kData, handle, 2 + static_cast<unsigned>(random() % 254), seal.generation, next);
        case 5: // beyond the window
            return record(kData, handle, path, seal.generation, next + 65 + far);
        case 6: { // an acknowledgement of what was never sent, before a message that is right
            Bytes frame = record(kAck, handle, path, w_generation(path), w_number(path) + 1 + far);
            add(frame, good);
            return frame;
        }
        case 7: { // the same of another generation
            Bytes frame = record(kAck, handle, path, w_generation(path) + wrong, w_number(path));
            add(frame, good);
            return frame;
        }
        case 8: // the right words of another identity
        {
            Bytes frame = said(record(kClose, handle, path, seal.generation, next));
            frame[2 + random() % 6] ^= static_cast<std::uint8_t>(1 + random() % 255);
            return frame;
        }
        case 9: // closes what was never so far, or another generation
            return 0 == random() % 2 ? said(record(kClose, handle, path, seal.generation, next - 1 - far))
                                     : said(record(kClose, handle, path, seal.generation + wrong, next));
        case 10: { // resumes what was not closed
            Bytes frame = said(record(kResume, handle, path, w_generation(path), w_number(path)));
            add(frame, Bytes(8, static_cast<std::uint8_t>(random())));
            return frame;
        }
        case 11: // asks or answers on another path
            return 0 == random() % 2 ? said(record(kProbe, handle, 1 - path, last[1 - path].generation, 0))
                                     : said(record(kProbed, handle, 1 - path, w_generation(1 - path), 0));
        case 12:
            return said(record(0 == random() % 2 ? kAsk : kProbe, handle, path, seal.generation + wrong, 0));
        case 13: // has no message beyond the window
            return said(record(kVoid, handle, path, seal.generation, next + 65 + far));
        case 14: { // a piece, or with something behind
            Bytes frame = said(record(kAsk, handle, path, seal.generation, 0));
            if (0 == random() % 2) {
                frame.resize(9 + random() % 7);
            } else {
                frame.resize(frame.size() + 1 + random() % 100, 0);
            }
            return frame;
        }
        default: // misses what was never sent
            return said(record(kGap, handle, path, w_generation(path), w_number(path) + 1 + far));
        }
    }
    // What end 1 sends by a path: nothing, so its numbers are those of the beginning.
    unsigned w_generation(unsigned path)
    {
        fill(path);
        return back[path].generation;
    }
    unsigned w_number(unsigned path)
    {
        fill(path);
        return back[path].number;
    }
    void fill(unsigned path)
    {
        if (0 == back[path].bytes) {
            ASSERT_EQ(0, fsbml_delivery_send(w.d(1), path, now, 0, next(), &back[path]));
            ASSERT_EQ(0, fsbml_delivery_refused(w.d(1), now, &back[path]));
        }
    }

    fsbml_delivery_message_t *next()
    {
        messages.emplace_back();
        messages.back().bytes = sizeof sent;
        messages.back().tag = 65;
        return &messages.back();
    }

    std::deque<fsbml_delivery_message_t> messages;
    std::mt19937_64 random;
    World w, other; // the same handles, other lives
    std::uint64_t now = 10 * kSecond, sent = 0, arrived = 0;
    fsbml_delivery_seal_t last[2] = {}, back[2] = {};
    Bytes control;
    std::vector<Bytes> history;
};

TEST(DeliveryFalse, NoneIsDelivered)
{
    Forger f(first_seed);
    RecordProperty("seed", static_cast<int>(first_seed));
    for (unsigned path : {0U, 1U}) {
        f.message(path);
    }
    fsbml_delivery_flush(f.w.d(0));
    f.work();
    ASSERT_FALSE(f.control.empty());
    for (std::uint64_t i = 0; i < frames; ++i) {
        const auto path = static_cast<unsigned>(f.random() % 2);
        const Bytes frame = f.forge(path);
        const std::uint64_t before = f.w.counters(1).false_frames;
        ASSERT_EQ(-EBADMSG, f.arrive(path, frame)) << "frame " << i << " of " << frame.size()
                                                   << " bytes, kind " << (frame.empty() ? 0 : frame[0] & 0xf);
        ASSERT_EQ(before + 1, f.w.counters(1).false_frames);
        if (0 == i % 8) { // repeats are late, not false
            const fsbml_delivery_counters_t c = f.w.counters(1);
            const Bytes &again = f.history[f.random() % f.history.size()];
            ASSERT_EQ(0, f.arrive(path, again));
            ASSERT_EQ(c.delivered, f.w.counters(1).delivered);
        }
        if (0 == i % 4) {
            f.message(path);
        }
        if (0 == i % 32) {
            f.work();
        }
        ASSERT_FALSE(HasFailure()) << "again by: delivery_false_test --frames " << i + 1 << " --seed "
                                   << first_seed;
    }
    fsbml_delivery_flush(f.w.d(0));
    f.work();
    EXPECT_TRUE(fsbml_delivery_idle(f.w.d(0)));
    EXPECT_EQ(f.sent, f.w.counters(1).delivered);
    EXPECT_EQ(frames, f.w.counters(1).false_frames);
    EXPECT_EQ(0U, f.w.counters(0).closed + f.w.counters(1).closed);
}

// All that one life says, said to another with the same handles.
TEST(DeliveryFalse, AnotherLifeIsNotThis)
{
    std::uint64_t said = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::deque<fsbml_delivery_message_t> messages;
        World mine(limits(), 2, seed), another(limits(), 2, seed + 1000);
        fsbml_delivery_t *const to = mine.d(1), *const from = another.d(0);
        const std::uint64_t now = 10 * kSecond;
        fsbml_delivery_arrival_t arrival{};
        fsbml_delivery_action_t a{};
        for (int i = 0; i < 20; ++i) {
            fsbml_delivery_seal_t seal{};
            messages.emplace_back();
            ASSERT_EQ(0, fsbml_delivery_send(from, i % 2, now, 0, &messages.back(), &seal));
            // One in 256 has the generation by chance, and may look like a repeat.
            ASSERT_NE(1, fsbml_delivery_arrived(to, seal.path, now, seal.header, seal.bytes, &arrival));
            ++said;
        }
        fsbml_delivery_path_failed(from, 0, now);
        fsbml_delivery_flush(from);
        fsbml_delivery_tick(from, now);
        while (fsbml_delivery_next(from, now, &a)) {
            if (FSBML_DELIVERY_FRAME == a.kind) {
                ASSERT_EQ(-EBADMSG, fsbml_delivery_arrived(to, a.path, now, a.frame, a.bytes, &arrival));
                ++said;
            }
        }
        EXPECT_EQ(0U, mine.counters(1).delivered);
    }
    EXPECT_GE(said, 200U * 21U);
}

// A forged CLOSE is not to be told from a true one by one end alone. It costs a fence, and nothing is lost.
TEST(DeliveryFalse, AForgedCloseIsFoundOut)
{
    Forger f(7);
    f.message(0);
    f.message(1);
    fsbml_delivery_flush(f.w.d(0));
    f.work();
    const fsbml_delivery_seal_t &seal = f.last[0];
    const auto handle =
        static_cast<std::uint16_t>(seal.header[seal.bytes - 6] << 8 | seal.header[seal.bytes - 5]);
    EXPECT_EQ(0, f.arrive(0, f.said(f.record(kClose, handle, 0, seal.generation, seal.number + 1U))));
    World &w = f.w;
    w.clock.now = f.now;
    for (unsigned i = 0; i < 200; ++i) {
        w.add(0, w.clock.now + i * 100 * kUs, 16);
    }
    w.run_for(3 * kSecond);
    EXPECT_TRUE(w.end[0].messages.are_done(w.connection));
    EXPECT_EQ(1U, w.end[0].suspected);
    EXPECT_EQ(3U, fsbml_delivery_paths(w.d(0)));
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    return read_words(argc, argv, {{"--frames", &frames}, {"--seed", &first_seed}}) ? RUN_ALL_TESTS() : 2;
}
