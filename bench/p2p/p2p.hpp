// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The point-to-point suite: its settings and its experiments, and what they send: a message and back, or a
// window of messages.
#ifndef FSBML_BENCH_P2P_HPP
#define FSBML_BENCH_P2P_HPP

#include "tools/session/session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fsbml::bench::p2p
{

struct Choice {
    std::vector<std::size_t> sizes = {1, 64, 1024, 4096, 16384, 65536};
    std::vector<int> windows = {32}; // messages under way at once
    int window() const { return *std::max_element(windows.begin(), windows.end()); }
};

// The window for what is about messages rather than bytes: fewer large ones, as slow rails take long for
// them.
inline int short_window(const Choice &choice, std::size_t size)
{
    const std::size_t most = (std::size_t{256} << 10) / size;
    return static_cast<int>(std::clamp<std::size_t>(most, 1, static_cast<std::size_t>(choice.window())));
}

// All ranks call each of these; unless said otherwise, ranks 0 and 1 exchange messages and rank 0 takes the
// time.
void measure_latency(Session &session, const Choice &choice);
void measure_reuse(Session &session, const Choice &choice);
void measure_connections(Session &session, const Choice &choice);
void measure_bandwidth(Session &session, const Choice &choice);
void measure_bidirectional(Session &session, const Choice &choice);
void measure_rate(Session &session, const Choice &choice);
void measure_completion(Session &session, const Choice &choice);
// An even number of ranks, each of which sends or receives.
void measure_multipair(Session &session, const Choice &choice);
void measure_logp(Session &session, const Choice &choice);
void measure_unexpected(Session &session, const Choice &choice);
void measure_progress(Session &session, const Choice &choice);
void measure_overlap(Session &session, const Choice &choice);
void measure_beside(Session &session, const Choice &choice);
void measure_segments(Session &session, const Choice &choice);

// ---- A message between two ranks, and the ping-pong with it.

constexpr int data_tag = 1;
constexpr int control_tag = 2; // of empty messages that only say when

// Memory of whole pages that are there: no page fault is part of what is timed.
class Pages
{
public:
    explicit Pages(std::size_t bytes);
    ~Pages();
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    unsigned char *data() const { return data_; }
    std::size_t size() const { return size_; }
    // Other pages instead of these, never used before.
    void renew();

private:
    std::size_t size_;
    unsigned char *data_;
};

// The memory of a message, and a way to send and to receive it: this one is MPI_Send and MPI_Recv of
// contiguous bytes.
class Message
{
public:
    explicit Message(std::size_t bytes);
    virtual ~Message() = default;

    std::size_t bytes() const { return bytes_; }
    int length() const { return static_cast<int>(bytes_); }

    virtual void send(int peer);
    virtual void receive(int peer);

    // Sets what is sent; spoils the place of what will be received; looks at what was (`bytes()` if all is
    // right).
    virtual void write(std::uint32_t round);
    virtual void spoil();
    virtual std::size_t first_wrong(std::uint32_t round) const;

protected:
    Message(std::size_t bytes, std::size_t memory);

    std::size_t bytes_;
    Pages out_pages_, in_pages_;
    unsigned char *out_, *in_; // into the pages above, or elsewhere if a kind of message has more memory
};

// From rank 0 to rank `other` and back; others do nothing. Returns the seconds that it took this rank.
double round_trip(const Session &session, Message &message, int other = 1);

// The same with every byte checked at both ends, if the settings ask for that.
void check_round_trip(const Session &session, Message &message, int other = 1);

// A point: half of the round trip between ranks 0 and 1, in us.
void measure_round_trip(Session &session, const std::string &operation, const std::string &variant,
                        Message &message);

// Rank 0 goes on when rank 1 is here too.
void await_other(const Session &session);

// ---- A window of messages under way at once from one rank to another, or both ways.

// How the end of a window's requests is awaited.
enum class Completion { waitall, waitany, testsome };

// From rank `first` to rank `second`, and back at the same time if asked for. All ranks have the object, only
// these two do something.
class Stream
{
public:
    Stream(const Session &session, int window, std::size_t size, int first = 0, int second = 1,
           bool both = false);

    void complete_by(Completion completion) { completion_ = completion; }
    // Receives match messages of any rank.
    void from_any() { source_ = MPI_ANY_SOURCE; }
    // All ranks begin at the same time.
    void begin_together() { together_ = true; }

    // Once; returns the seconds from when all receives are there until `first` has the answer that all has
    // arrived.
    double run();
    // The same with every byte checked.
    void run_checked();

private:
    void post_receives();
    void post_sends();
    void complete();
    void complete_some();
    unsigned char *place(Pages &pages, int index)
    {
        return pages.data() + static_cast<std::size_t>(index) * stride_;
    }

    const Session &session_;
    int window_;
    std::size_t size_;
    std::size_t stride_;
    bool begins_; // this rank is `first`
    bool takes_part_;
    bool sends_, receives_, both_;
    int peer_, source_;
    bool together_ = false;
    Completion completion_ = Completion::waitall;
    Pages out_, in_;
    std::vector<MPI_Request> requests_;
    std::vector<int> indices_;
};

} // namespace fsbml::bench::p2p

#endif
