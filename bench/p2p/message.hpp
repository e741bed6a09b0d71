// A message between two ranks, and the ping-pong with it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace fsbml::bench::p2p
{

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

} // namespace fsbml::bench::p2p
