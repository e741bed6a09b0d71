// Ping-pong: with the same memory each time, with fresh memory, with many connections, and of pieces that lie
// apart in memory.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include "tools/points/points.hpp"

#include <algorithm>
#include <cstring>

namespace fsbml::bench::p2p
{

namespace
{

const std::size_t least_pool = std::size_t{32} << 20;
const int trips_per_sample = 4; // with quarters of reuse, every sample has its share of both kinds of memory

// Sends and receives now with the same memory, now with pages that no message has been in.
class Reusing : public Message
{
public:
    explicit Reusing(std::size_t bytes)
        : Message(bytes), slot_(out_pages_.size()), pool_(std::max(least_pool, 2 * trips_per_sample * slot_))
    {
    }

    // Other pages, if those left are too few for a sample; returns whether they were. That takes its time,
    // and both ranks need it at once.
    bool refill()
    {
        if (used_ + 2 * trips_per_sample * slot_ <= pool_.size()) {
            return false;
        }
        pool_.renew();
        used_ = 0;
        return true;
    }

    void choose(bool reuse)
    {
        out_ = reuse ? out_pages_.data() : fresh();
        in_ = reuse ? in_pages_.data() : fresh();
    }

private:
    unsigned char *fresh()
    {
        unsigned char *place = pool_.data() + used_;
        used_ += slot_;
        return place;
    }

    std::size_t slot_;
    Pages pool_;
    std::size_t used_ = 0;
};

const std::vector<int> segment_counts = {1, 4, 16, 64};
const std::size_t least_gap = 64; // pieces do not share a cache line

// Pieces: by a datatype, and packed by hand.
class Segments : public Message
{
public:
    Segments(std::size_t bytes, int count, bool packed)
        : Message(bytes, 2 * bytes + static_cast<std::size_t>(count) * least_gap),
          count_(static_cast<std::size_t>(count)), piece_(bytes / count_),
          stride_(piece_ + std::max(piece_, least_gap)), packed_(packed), contiguous_(bytes)
    {
        MPI_Type_vector(count, static_cast<int>(piece_), static_cast<int>(stride_), MPI_BYTE, &type_);
        MPI_Type_commit(&type_);
    }

    ~Segments() override { MPI_Type_free(&type_); }
    Segments(const Segments &) = delete;
    Segments &operator=(const Segments &) = delete;

    void send(int peer) override
    {
        if (packed_) {
            gather(contiguous_.data(), out_);
            MPI_Send(contiguous_.data(), length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD);
        } else {
            MPI_Send(out_, 1, type_, peer, data_tag, MPI_COMM_WORLD);
        }
    }

    void receive(int peer) override
    {
        if (packed_) {
            MPI_Recv(contiguous_.data(), length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            scatter(in_, contiguous_.data());
        } else {
            MPI_Recv(in_, 1, type_, peer, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }

    void write(std::uint32_t round) override
    {
        std::vector<unsigned char> bytes(bytes_);
        fill(bytes.data(), bytes_, round, 0);
        scatter(out_, bytes.data());
    }

    void spoil() override { fill(in_, count_ * stride_, ~0u, 0); }

    std::size_t first_wrong(std::uint32_t round) const override
    {
        std::vector<unsigned char> bytes(bytes_);
        gather(bytes.data(), in_);
        return bench::first_wrong(bytes.data(), bytes_, round, 0);
    }

private:
    void gather(unsigned char *to, const unsigned char *from) const
    {
        for (std::size_t i = 0; i < count_; ++i) {
            std::memcpy(to + i * piece_, from + i * stride_, piece_);
        }
    }

    void scatter(unsigned char *to, const unsigned char *from) const
    {
        for (std::size_t i = 0; i < count_; ++i) {
            std::memcpy(to + i * stride_, from + i * piece_, piece_);
        }
    }

    std::size_t count_;
    std::size_t piece_;
    std::size_t stride_;
    bool packed_;
    Pages contiguous_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

} // namespace

void measure_latency(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        Message message(size);
        measure_round_trip(session, "latency", "", message);
    }
}

void measure_reuse(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        Reusing message(size);
        for (int reused = 0; reused <= trips_per_sample; ++reused) {
            auto prepare = [&] {
                if (message.refill()) {
                    await_other(session);
                }
            };
            prepare();
            for (int trip = 0; trip < trips_per_sample; ++trip) {
                message.choose(trip < reused);
                check_round_trip(session, message);
            }
            const std::string variant = "reuse=" + std::to_string(100 * reused / trips_per_sample) + "%";
            session.measure({"", "reuse", variant, trips_per_sample, size, "us", {}, {}}, [&] {
                prepare();
                double seconds = 0;
                for (int trip = 0; trip < trips_per_sample; ++trip) {
                    message.choose(trip < reused);
                    seconds += round_trip(session, message);
                }
                return seconds / (2 * trips_per_sample) * 1e6;
            });
        }
    }
}

void measure_connections(Session &session, const Choice &choice)
{
    const int most = session.ranks() - 1;
    for (int count = 1;; count = std::min(2 * count, most)) {
        for (std::size_t size : choice.sizes) {
            Message message(size);
            for (int other = 2; other <= count; ++other) {
                check_round_trip(session, message, other);
            }
            measure_round_trip(session, "connections", "connections=" + std::to_string(count), message);
        }
        if (count == most) {
            return;
        }
    }
}

void measure_segments(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        for (int count : segment_counts) {
            if (size % static_cast<std::size_t>(count) != 0) {
                continue;
            }
            for (bool packed : {false, true}) {
                Segments message(size, count, packed);
                const std::string variant = "segments=" + std::to_string(count) + (packed ? ",packed" : "");
                measure_round_trip(session, "segments", variant, message);
            }
        }
    }
}

} // namespace fsbml::bench::p2p
