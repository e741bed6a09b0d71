// Small messages beside bulk: a ping-pong of 8 bytes while four messages are under way all the time, and what
// that bulk gets.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include "tools/points/points.hpp"
#include "tools/text/text.hpp"

namespace fsbml::bench::p2p
{

namespace
{

constexpr int kBulk = 4;
constexpr std::size_t kLeast = std::size_t{16} << 10;
constexpr double kLonger = 20; // than other experiments: a quantile of 99 % takes many samples
constexpr int kWarmUp = 5;     // a fifth of the time comes before what counts
constexpr std::uint64_t kGoOn = 0;

// From rank 0 to rank 1: as soon as one is done, the next one begins.
class Bulk
{
public:
    Bulk(const Session &session, std::size_t size)
        : session_(session), sends_(session.rank() == 0), size_(size), memory_(kBulk * size)
    {
        for (int i = 0; i < kBulk; ++i) {
            fill(place(i), size_, sends_ ? 1 : ~0u, 0);
            begin(i);
        }
    }

    // Looks after them; returns how many are done by now.
    std::uint64_t turn()
    {
        int index = MPI_UNDEFINED, done = 0;
        MPI_Testany(kBulk, requests_, &index, &done, MPI_STATUS_IGNORE);
        if (done != 0 && index != MPI_UNDEFINED) {
            ++done_;
            if (!ends_) {
                begin(index);
            }
        }
        return done_;
    }

    // No more; returns how many there are.
    std::uint64_t last()
    {
        ends_ = true;
        return begun_;
    }

    // Until the last. The receiver takes back what it has offered beyond that.
    void end(std::uint64_t all)
    {
        while (!sends_ && done_ < all) {
            turn();
        }
        for (MPI_Request &request : requests_) {
            if (!sends_) {
                MPI_Cancel(&request);
            }
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int i = 0; !sends_ && session_.settings().verify && i < kBulk; ++i) {
            const std::size_t wrong = first_wrong(place(i), size_, 1, 0);
            if (wrong < size_) {
                session_.wrong("byte " + std::to_string(wrong) + " of bulk of " + std::to_string(size_)
                               + " bytes is wrong");
            }
        }
    }

private:
    unsigned char *place(int index) { return memory_.data() + static_cast<std::size_t>(index) * size_; }

    void begin(int index)
    {
        const auto length = static_cast<int>(size_);
        if (sends_) {
            MPI_Isend(place(index), length, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &requests_[index]);
        } else {
            MPI_Irecv(place(index), length, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, &requests_[index]);
        }
        ++begun_;
    }

    const Session &session_;
    bool sends_, ends_ = false;
    std::size_t size_;
    Pages memory_;
    MPI_Request requests_[kBulk] = {};
    std::uint64_t begun_ = 0, done_ = 0;
};

// Rank 0's half: word there, word back. The bulk goes on meanwhile.
void exchange(Bulk &bulk, MPI_Comm comm, std::uint64_t word)
{
    std::uint64_t back = 0;
    MPI_Request both[2];
    int done = 0;
    MPI_Irecv(&back, 1, MPI_UINT64_T, 1, control_tag, comm, &both[0]);
    MPI_Isend(&word, 1, MPI_UINT64_T, 1, control_tag, comm, &both[1]);
    while (done == 0) {
        bulk.turn();
        MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
    }
}

// Rank 1's: answers until it is told how much bulk there was.
void answer(Bulk &bulk, MPI_Comm comm)
{
    std::uint64_t word = kGoOn;
    while (word == kGoOn) {
        MPI_Request request;
        int done = 0;
        MPI_Irecv(&word, 1, MPI_UINT64_T, 0, control_tag, comm, &request);
        while (done == 0) {
            bulk.turn();
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Isend(&word, 1, MPI_UINT64_T, 0, control_tag, comm, &request);
        for (done = 0; done == 0;) {
            bulk.turn();
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }
    bulk.end(word);
}

void ping(Session &session, Bulk &bulk, MPI_Comm comm, std::size_t size, const std::string &variant)
{
    std::vector<double> half;
    const double seconds = session.settings().seconds * kLonger, begin = MPI_Wtime();
    const double counts = begin + seconds / kWarmUp;
    double now = begin, since = 0;
    std::uint64_t before = 0;
    while (now < begin + seconds || half.empty()) {
        const double start = now;
        exchange(bulk, comm, kGoOn);
        now = MPI_Wtime();
        if (start >= counts) {
            half.push_back((now - start) / 2 * 1e6);
        } else {
            before = bulk.turn();
            since = now;
        }
    }
    const double rate = static_cast<double>((bulk.turn() - before) * size) / (now - since) / 1e6;
    const std::uint64_t all = bulk.last();
    exchange(bulk, comm, all);
    bulk.end(all);
    session.print({"", "beside", variant, kBulk, size, "us", {median(half)}, {}});
    session.print({"", "beside-p99", variant, kBulk, size, "us", {quantile(half, 0.99)}, {}});
    session.print({"", "beside-bulk", variant, kBulk, size, "MB/s", {rate}, {}});
}

void measure(Session &session, MPI_Comm comm, std::size_t size, const std::string &variant)
{
    if (session.rank() == 0) {
        Bulk bulk(session, size);
        ping(session, bulk, comm, size, variant);
        return;
    }
    if (session.rank() == 1) {
        Bulk bulk(session, size);
        answer(bulk, comm);
    }
}

} // namespace

void measure_beside(Session &session, const Choice &choice)
{
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (std::size_t size : choice.sizes) {
        if (size >= kLeast) {
            measure(session, MPI_COMM_WORLD, size, "comm=same");
            session.rest_until_all_are_here();
            measure(session, other, size, "comm=other");
            session.rest_until_all_are_here();
        }
    }
    MPI_Comm_free(&other);
}

} // namespace fsbml::bench::p2p
