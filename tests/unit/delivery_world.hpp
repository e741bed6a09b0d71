// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Two ends and the paths between them, in virtual time: what delivery is tried on. Does what the shim does.
#ifndef FSBML_TESTS_UNIT_DELIVERY_WORLD_HPP
#define FSBML_TESTS_UNIT_DELIVERY_WORLD_HPP

#include "delivery_lines.hpp"
#include "delivery_messages.hpp"

namespace delivery
{
class World
{
public:
    enum Fault : std::uint64_t { kCut, kStall, kCarrier, kReconnect, kPause, kLife, kMend, kQuiet };

    World(const fsbml_delivery_limits_t &l, unsigned paths, std::uint64_t seed)
        : limits(l), n(paths), random(seed), lines(clock, random, paths)
    {
        connect();
    }

    // A fresh connection of fresh ends; frames of the one before may still be under way.
    void connect()
    {
        ++connection;
        const std::uint64_t life[2] = {random(), random()};
        const auto handle = static_cast<std::uint16_t>(2 * connection);
        for (unsigned e = 0; e < 2; ++e) {
            const fsbml_delivery_peer_t peer{life[e], life[1 - e], static_cast<std::uint16_t>(handle + e),
                                             static_cast<std::uint16_t>(handle + 1 - e), n};
            end[e].d.reset(fsbml_delivery_create(&limits, &peer));
            end[e].messages.connection_gone();
            for (unsigned p = 0; p < n; ++p) {
                fsbml_delivery_path_up(end[e].d.get(), p, clock.now);
            }
        }
        refused_late.clear();
    }

    fsbml_delivery_t *d(unsigned e) { return end[e].d.get(); }
    fsbml_delivery_counters_t counters(unsigned e) { return end[e].counters(); }
    Line &line(unsigned e, unsigned path) { return lines.line[e][path]; }

    // A message to be sent at some time.
    std::uint32_t add(unsigned e, std::uint64_t when, std::uint32_t bytes)
    {
        const std::uint32_t id = end[e].messages.add(bytes);
        clock.at(Event::kSend, when, e, 0, id);
        return id;
    }
    void fault(Fault what, std::uint64_t when, unsigned e, unsigned path)
    {
        clock.at(Event::kFault, when, e, path, what);
    }

    // False: nothing will happen any more.
    bool step()
    {
        if (!clock.has_any()) {
            return false;
        }
        const Event event = clock.next();
        End &x = end[event.end];
        switch (event.kind) {
        case Event::kTick:
            if (clock.now >= x.paused_until) {
                x.tick_at = FSBML_DELIVERY_NEVER;
                fsbml_delivery_tick(x.d.get(), clock.now);
                serve(event.end);
            } else {
                clock.at(Event::kTick, x.paused_until, event.end, 0);
            }
            break;
        case Event::kFrame:
            arrive(event.end, event.path);
            break;
        case Event::kSend:
            x.to_send.push_back(static_cast<std::uint32_t>(event.what));
            serve(event.end);
            break;
        case Event::kDoubt:
            doubt(event.end, event.path);
            break;
        case Event::kFault:
            fault(event);
            break;
        }
        return true;
    }
    void run_for(std::uint64_t ns)
    {
        const std::uint64_t until = clock.now + ns;
        clock.at(Event::kTick, until, 0, 0);
        while (clock.now < until && !testing::Test::HasFailure() && step()) {
        }
    }
    // All arrived, and nothing kept?
    bool is_done() const
    {
        return std::all_of(std::begin(end), std::end(end), [&](const End &x) {
            return x.to_send.empty() && fsbml_delivery_idle(x.d.get()) && x.messages.are_done(connection);
        });
    }

    // Everything that an end has to do now.
    void serve(unsigned e)
    {
        End &x = end[e];
        if (clock.now < x.paused_until) {
            return;
        }
        fsbml_delivery_action_t action{};
        for (int k = 0; fsbml_delivery_next(d(e), clock.now, &action); ++k) {
            ASSERT_LT(k, 100000) << "actions without end";
            act(e, action);
        }
        send_again(e);
        for (std::size_t k = x.to_send.size(); k > 0 && send(e, x.to_send.front()); --k) {
            x.to_send.pop_front();
        }
        while (!refused_late.empty() && lines.chance(50)) {
            take_back_late();
        }
        const std::uint64_t due = fsbml_delivery_due(d(e));
        if (due < x.tick_at) {
            x.tick_at = due;
            clock.at(Event::kTick, due, e, 0);
        }
    }

private:
    // False: it has to wait.
    bool send(unsigned e, std::uint32_t id)
    {
        Messages &messages = end[e].messages;
        const std::uint32_t takes = fsbml_delivery_paths(d(e));
        if (0 == takes) {
            return false;
        }
        fsbml_delivery_seal_t seal{};
        const unsigned path = pick(takes);
        const int rc = fsbml_delivery_send(d(e), path, clock.now, messages.bytes(id) * 10ULL,
                                           messages.record(id), &seal);
        if (0 != rc) {
            EXPECT_EQ(-EAGAIN, rc);
            return false;
        }
        messages.given(id, connection, limits);
        if (lines.chance(refuses)) {
            const int kept = fsbml_delivery_refused(d(e), clock.now, &seal);
            EXPECT_EQ(0, kept);
            messages.taken_back(id);
            return false;
        }
        if (lines.chance(
                refuses)) { // of another thread: messages behind it are numbered before that is known
            refused_late.push_back({e, seal, id});
        } else {
            give(e, seal, id);
        }
        return true;
    }
    void send_again(unsigned e)
    {
        while (const fsbml_delivery_message_t *const m = fsbml_delivery_waiting(d(e))) {
            const std::uint32_t takes = fsbml_delivery_paths(d(e));
            if (0 == takes) {
                return;
            }
            const std::uint32_t id = Messages::id_of(m);
            fsbml_delivery_seal_t seal{};
            ASSERT_EQ(0, fsbml_delivery_resend(d(e), pick(takes), clock.now, m->bytes * 10ULL, &seal));
            if (lines.chance(refuses)) {
                ASSERT_EQ(1, fsbml_delivery_refused(d(e), clock.now, &seal));
                return;
            }
            give(e, seal, id);
        }
    }
    void give(unsigned e, const fsbml_delivery_seal_t &seal, std::uint32_t id)
    {
        Frame f;
        std::memcpy(f.data.data(), seal.header, seal.bytes);
        const std::uint32_t body = std::min(std::max(end[e].messages.bytes(id), 4U), 64U);
        Messages::fill(f.data.data() + seal.bytes, id, body);
        f.bytes = seal.bytes + end[e].messages.bytes(id);
        lines.put(e, seal.path, f, false);
    }
    void take_back_late()
    {
        const Late late = refused_late.front();
        refused_late.pop_front();
        const int kept = fsbml_delivery_refused(d(late.end), clock.now, &late.seal);
        ASSERT_GE(kept, 0);
        if (0 == kept) {
            end[late.end].messages.taken_back(late.id);
            end[late.end].to_send.push_back(late.id);
        }
        clock.at(Event::kTick, clock.now, late.end, 0);
    }

    void act(unsigned e, const fsbml_delivery_action_t &action)
    {
        End &x = end[e];
        switch (action.kind) {
        case FSBML_DELIVERY_RELEASE:
            x.messages.let_go(Messages::id_of(action.message));
            break;
        case FSBML_DELIVERY_FRAME:
            if (lines.chance(refuses)) {
                fsbml_delivery_unsent(x.d.get(), clock.now, &action);
            } else {
                Frame f;
                std::memcpy(f.data.data(), action.frame, action.bytes);
                f.bytes = action.bytes;
                lines.put(e, action.path, f, true);
            }
            break;
        case FSBML_DELIVERY_DEAD: // both ends take the connection apart, and make a fresh one
            ++x.dead;
            break_up(action.path);
            clock.at(Event::kFault, clock.now + 1 + random() % (500 * kMs), 0, action.path, kReconnect);
            break;
        case FSBML_DELIVERY_SUSPECTED:
            ++x.suspected;
            break;
        case FSBML_DELIVERY_RESUMED:
            ++x.resumed;
            break;
        case FSBML_DELIVERY_UP:
            ++x.up;
            break;
        case FSBML_DELIVERY_STRANDED:
            ++x.stranded;
            break;
        }
    }
    // The head of a line comes in.
    void arrive(unsigned from, unsigned path)
    {
        Line &l = line(from, path);
        const unsigned e = 1 - from;
        if (l.stalls || l.under_way.empty() || l.under_way.front().when > clock.now) {
            return;
        }
        if (clock.now < end[e].paused_until) {
            clock.at(Event::kFrame, end[e].paused_until, from, path);
            return;
        }
        const Frame f = l.under_way.front();
        l.under_way.pop_front();
        fsbml_delivery_arrival_t arrival{};
        if (1 == fsbml_delivery_arrived(d(e), path, clock.now, f.data.data(), f.bytes, &arrival)) {
            end[from].messages.arrived(Messages::id_in(f.data.data() + arrival.header), arrival.tag,
                                       connection);
        }
        if (arrival.work || (arrival.released && 0 == clock.now % 2) || fsbml_delivery_due(d(e)) <= clock.now
            || !end[e].to_send.empty()) {
            fsbml_delivery_tick(d(e), clock.now);
        }
        serve(e);
    }

    // The kernel sends again and again, and says so.
    void doubt(unsigned e, unsigned path)
    {
        const Line &l = line(e, path);
        if ((l.stalls || l.swallows) && !l.under_way.empty()) {
            fsbml_delivery_path_doubtful(d(e), path, clock.now);
            serve(e);
        }
        if (l.stalls) {
            clock.at(Event::kDoubt, clock.now + 60 * kMs, e, path);
        }
    }
    // The connection is gone, with what is under way; both ends are told.
    void break_up(unsigned path)
    {
        for (unsigned e = 0; e < 2; ++e) {
            line(e, path).under_way.clear();
            line(e, path).swallows = true;
            fsbml_delivery_path_failed(d(e), path, clock.now);
            clock.at(Event::kTick, clock.now, e, 0);
        }
    }
    void fault(const Event &event)
    {
        const unsigned path = event.path;
        switch (static_cast<Fault>(event.what)) {
        case kCut:
            is_cut[path] = true;
            for (unsigned e = 0; e < 2; ++e) {
                lines.truncate(e, path);
                line(e, path).swallows = true;
                fsbml_delivery_path_failed(d(e), path, clock.now);
                serve(e);
            }
            break;
        case kStall:
            lines.stall(event.end, path, true);
            clock.at(Event::kDoubt, clock.now + 60 * kMs, event.end, path);
            break;
        case kCarrier: // lost at one end
            fsbml_delivery_path_cut(d(event.end), path, clock.now);
            serve(event.end);
            break;
        case kMend:
            is_cut[path] = false;
            lines.stall(0, path, false);
            lines.stall(1, path, false);
            clock.at(Event::kFault, clock.now + random() % (100 * kMs), 0, path, kReconnect);
            break;
        case kReconnect:
            reconnect(path);
            break;
        case kPause: // for so many ms
            end[event.end].paused_until = clock.now + path * kMs;
            clock.at(Event::kTick, end[event.end].paused_until, event.end, 0);
            break;
        case kLife:
            connect();
            for (unsigned p = 0; p < n; ++p) {
                if (line(0, p).swallows) {
                    fsbml_delivery_path_failed(d(0), p, clock.now);
                    fsbml_delivery_path_failed(d(1), p, clock.now);
                }
            }
            serve(0);
            serve(1);
            break;
        case kQuiet: // no more faults
            refuses = lines.loses_control = lines.loses_data = lines.repeats = lines.swaps = 0;
            while (!refused_late.empty()) {
                take_back_late();
            }
            for (unsigned p = 0; p < n; ++p) {
                fault(kMend, clock.now, 0, p);
                clock.at(Event::kDoubt, clock.now, 0, p);
                clock.at(Event::kDoubt, clock.now, 1, p);
            }
            break;
        }
    }
    void reconnect(unsigned path)
    {
        if (!line(0, path).swallows) {
            return; // the connection lives
        }
        if (is_cut[path] || line(0, path).stalls || line(1, path).stalls) {
            clock.at(Event::kFault, clock.now + 200 * kMs, 0, path, kReconnect);
            return;
        }
        line(0, path).swallows = line(1, path).swallows = false;
        for (unsigned e = 0; e < 2; ++e) {
            fsbml_delivery_path_up(d(e), path, clock.now);
            serve(e);
        }
    }
    unsigned pick(std::uint32_t mask)
    {
        std::uint64_t k = random() % static_cast<unsigned>(__builtin_popcount(mask));
        for (; k > 0; --k) {
            mask &= mask - 1;
        }
        return static_cast<unsigned>(__builtin_ctz(mask));
    }

public:
    const fsbml_delivery_limits_t limits;
    const unsigned n;
    std::mt19937_64 random;
    Clock clock;
    Lines lines;
    End end[2];
    std::uint64_t connection = 0;
    unsigned refuses = 0; // of a thousand messages and frames, the transport
private:
    bool is_cut[FSBML_MAX_RAILS] = {};
    std::deque<Late> refused_late;
};

// Sends `n` messages of 16 bytes from an end, one each microsecond.
inline void stream(World &w, unsigned e, unsigned n, std::uint32_t bytes = 16)
{
    for (unsigned i = 0; i < n; ++i) {
        w.add(e, w.clock.now + i * kUs, bytes);
    }
}

inline void expect_done(World &w)
{
    EXPECT_TRUE(w.is_done());
}

} // namespace delivery
#endif
