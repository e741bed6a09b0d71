// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Benchmarks of the layer below MPI, on BTLs: messages and the memory that they are sent from, a peer, a pair
// of ranks, and what is measured. What is Open MPI's is behind port.h.
#ifndef FSBML_BENCH_BTL_HPP
#define FSBML_BENCH_BTL_HPP

#include "port.h"

#include "tools/session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fsbml::bench
{

// ---- Messages and the memory that they are sent from.

// Which of a BTL's ways to send.
enum class Path { descriptor, memory, immediate };

struct Message {
    const unsigned char *memory = nullptr;
    const port_layout_t *layout = nullptr; // of the memory; null: in one piece
    std::size_t bytes = 0;
    Path path = Path::descriptor;
    bool callback = false; // ask for a completion callback in every case
};

// Memory for `slots` messages of one size. Each begins on a page of its own, and all pages have been touched.
class Outgoing
{
public:
    // `pieces` must divide `bytes`; between two pieces is room for one more.
    explicit Outgoing(std::size_t bytes, int slots = 1, int pieces = 1);

    int slots() const { return slots_; }
    std::size_t bytes() const { return bytes_; }
    Message message(int slot, Path path, bool callback = false) const;
    // The message that pattern() has for this round and number. What lies between the pieces is something
    // else.
    void fill(int slot, std::uint32_t round, std::uint32_t number);

private:
    struct Free {
        void operator()(unsigned char *memory) const;
        void operator()(port_layout_t *layout) const { port_layout_free(layout); }
    };

    unsigned char *at(int slot) const { return memory_.get() + static_cast<std::size_t>(slot) * distance_; }

    std::size_t bytes_;
    int slots_;
    std::size_t pieces_;
    std::size_t extent_;   // of one message in memory
    std::size_t distance_; // from one message to the next
    std::unique_ptr<unsigned char, Free> memory_;
    std::unique_ptr<port_layout_t, Free> layout_;
};

// Memory that the next messages from a peer are copied to, until it goes.
class Inbox
{
public:
    Inbox(int rank, std::size_t bytes, int count);
    ~Inbox();
    Inbox(const Inbox &) = delete;
    Inbox &operator=(const Inbox &) = delete;

    // Whether exactly messages 0 to count - 1 of this round have come, in any order: a BTL need not keep any.
    bool right(std::uint32_t round) const;

private:
    int rank_;
    std::size_t bytes_;
    std::vector<unsigned char> memory_;
    std::vector<std::size_t> lengths_;
};

// Sending to and receiving from one peer over one BTL; every wait is bounded in time.
class Peer
{
public:
    // Ends the job if the entry does not exist. `patience` in seconds: a peer that is silent for longer ends
    // the job.
    Peer(const Session &session, int rank, int entry, double patience);

    int rank() const { return rank_; }
    const port_entry_t &about() const { return about_; }

    // Returns when the BTL has taken the message.
    void send(const Message &message);
    // Returns when `count` more messages of `bytes` bytes each have come: the calls of progress that it took.
    // No more than these may be under way.
    unsigned receive(int count, std::size_t bytes);
    // Returns when the BTL is done with all that this process sent.
    void drain();

private:
    struct Disconnect {
        void operator()(port_peer_t *peer) const { port_disconnect(peer); }
    };

    // Returns the calls of progress until done() was true.
    template <typename Done>
    unsigned wait(Done done, const char *what);
    int try_to_send(const Message &message);

    const Session &session_;
    int rank_;
    double patience_;
    port_entry_t about_{};
    std::unique_ptr<port_peer_t, Disconnect> peer_;
    std::uint64_t messages_ = 0; // that receive() was called for
    std::uint64_t bytes_ = 0;
};

// While it lives, progress waits for events. What is silent for longer than `patience` seconds then, ends the
// job.
class Blocking
{
public:
    explicit Blocking(double patience);
    ~Blocking();
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;
};

// Rank 0 and one other exchange messages over a BTL; all other ranks wait.
class Pair
{
public:
    // `peer`: the other one; null on all other ranks.
    Pair(const Session &session, Peer *peer) : session_(session), peer_(peer) {}

    bool leads() const { return peer_ != nullptr && session_.rank() == 0; }
    bool mirrors() const { return peer_ != nullptr && session_.rank() != 0; }
    Peer &peer() const { return *peer_; }

    // Each message there, and one like it back. Returns the time of one way in us (leader).
    double trips(const std::vector<Message> &messages);
    // All messages there, then one short answer. Returns the time in s (leader).
    double burst(const std::vector<Message> &messages);

    // The same, once, with messages of these slots, and every byte checked. All ranks must call it.
    void check_trips(Outgoing &out, const std::vector<int> &slots, Path path, bool callback = false);
    void check_burst(Outgoing &out, Path path, bool callback = false);

private:
    void require(const Inbox &inbox, std::uint32_t round, const Outgoing &out) const;

    const Session &session_;
    Peer *peer_;
    Outgoing answer_{1};
};

// ---- The micro-benchmarks for the layer below MPI (S. Kutlug's thesis, chapter 3), on BTLs.

// What all operations work with; the same on all ranks, but for the peers.
struct Bench {
    Session &session;
    port_entry_t about; // the BTL between ranks 0 and 1: what holds for both
    int entry;
    int window;
    double patience;
    Pair pair;               // ranks 0 and 1
    std::vector<Pair> other; // rank 0 and each other rank that it reaches by the same BTL
};

// Rank 0's word about what is left out, beside the results.
void remark(const Session &session, const std::string &text);

void measure_latency(Bench &bench, std::size_t size);
void measure_reuse(Bench &bench, std::size_t size);
void measure_connections(Bench &bench, std::size_t size);
void measure_progress(Bench &bench, std::size_t size);
void measure_segments(Bench &bench, std::size_t size);
void measure_bandwidth(Bench &bench, std::size_t size);
void measure_completion(Bench &bench, std::size_t size);
void measure_logp(Bench &bench, std::size_t size);

} // namespace fsbml::bench

#endif
