// The thesis' one-to-one microbenchmark (5.8.1): rank 0 sends N messages, rank 1 receives them all and sends
// N back. With --to random it is the test that the thesis' conclusion asks for: every rank sends to ranks
// drawn from all others.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "draws.hpp"

#include "tools/points/points.hpp"
#include "tools/session/session.hpp"

#include <algorithm>
#include <random>

namespace
{

using namespace fsbml::bench;

const char *const about = "Rank 0 sends N messages to rank 1, which receives all of them and then sends N "
                          "back (blocking, as in the thesis, "
                          "5.8.1). Printed is the time of this exchange divided by the 2 N messages: half of "
                          "what the thesis prints, which "
                          "divides by N.\n\nWith --to random, each of any number of ranks sends N messages "
                          "to ranks drawn from the others; "
                          "printed is the time until the last rank is done, divided by N.";

const int data_tag = 1;
// Every sample takes each of so many draws once, so that samples differ by the machine's noise and not by
// luck.
const int draws_per_sample = 8;

struct Choice {
    std::vector<int> counts = {1, 8, 16, 32};
    std::vector<std::size_t> sizes = {16, 256, 1024, 4096, 16384, 65536};
    std::string distribution = "fixed";
    std::string to = "fixed";
    std::uint64_t seed = 1;
};

// A stretch of memory for each message, one after the other.
class Buffers
{
public:
    void add(std::size_t bytes)
    {
        offsets_.push_back(memory_.size());
        bytes_.push_back(bytes);
        memory_.resize(memory_.size() + bytes);
    }
    int count() const { return static_cast<int>(bytes_.size()); }
    unsigned char *at(int index) { return memory_.data() + offsets_[static_cast<std::size_t>(index)]; }
    std::size_t bytes(int index) const { return bytes_[static_cast<std::size_t>(index)]; }
    int length(int index) const { return static_cast<int>(bytes(index)); }

private:
    std::vector<unsigned char> memory_ = std::vector<unsigned char>(1);
    std::vector<std::size_t> offsets_;
    std::vector<std::size_t> bytes_;
};

void fill_all(Buffers &buffers, std::uint32_t round)
{
    for (int index = 0; index < buffers.count(); ++index) {
        fill(buffers.at(index), buffers.bytes(index), round, static_cast<std::uint32_t>(index));
    }
}

void check_all(const Session &session, Buffers &buffers, std::uint32_t round)
{
    for (int index = 0; index < buffers.count(); ++index) {
        const std::size_t size = buffers.bytes(index);
        const std::size_t wrong =
            first_wrong(buffers.at(index), size, round, static_cast<std::uint32_t>(index));
        if (wrong < size) {
            session.wrong("byte " + std::to_string(wrong) + " of message " + std::to_string(index) + " ("
                          + std::to_string(size) + " bytes) is wrong");
        }
    }
}

// Ranks 0 and 1: N there, N back.
class Pair
{
public:
    Pair(const Session &session, const std::vector<std::size_t> &sizes)
        : session_(session), rank_(session.rank())
    {
        for (std::size_t size : sizes) {
            buffers_.add(size);
        }
    }

    void run()
    {
        if (rank_ == 0) {
            send_all();
            receive_all();
        } else if (rank_ == 1) {
            receive_all();
            send_all();
        }
    }

    // The same with every byte checked at both ends.
    void run_checked()
    {
        const std::uint32_t out = 1;
        const std::uint32_t back = 2;
        if (rank_ == 0) {
            fill_all(buffers_, out);
            send_all();
            fill_all(buffers_, ~0u);
            receive_all();
            check_all(session_, buffers_, back);
        } else if (rank_ == 1) {
            fill_all(buffers_, ~0u);
            receive_all();
            check_all(session_, buffers_, out);
            fill_all(buffers_, back);
            send_all();
        }
    }

private:
    void send_all()
    {
        for (int i = 0; i < buffers_.count(); ++i) {
            MPI_Send(buffers_.at(i), buffers_.length(i), MPI_BYTE, 1 - rank_, data_tag, MPI_COMM_WORLD);
        }
    }

    void receive_all()
    {
        for (int i = 0; i < buffers_.count(); ++i) {
            MPI_Recv(buffers_.at(i), buffers_.length(i), MPI_BYTE, 1 - rank_, data_tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }

    const Session &session_;
    int rank_;
    Buffers buffers_;
};

// All ranks at once. Receives are there before anything is sent, so that blocking sends cannot wait for each
// other.
class Crowd
{
public:
    Crowd(const Session &session, const std::vector<Message> &messages) : session_(session)
    {
        for (std::size_t index = 0; index < messages.size(); ++index) {
            const Message &message = messages[index];
            if (message.source == session.rank()) {
                to_.push_back(message.destination);
                out_.add(message.bytes);
                out_numbers_.push_back(static_cast<std::uint32_t>(index));
            }
            if (message.destination == session.rank()) {
                from_.push_back(message.source);
                in_.add(message.bytes);
                in_numbers_.push_back(static_cast<std::uint32_t>(index));
            }
        }
        requests_.resize(from_.size());
    }

    void run()
    {
        for (int i = 0; i < in_.count(); ++i) {
            MPI_Irecv(in_.at(i), in_.length(i), MPI_BYTE, from_[static_cast<std::size_t>(i)], data_tag,
                      MPI_COMM_WORLD, &requests_[static_cast<std::size_t>(i)]);
        }
        for (int i = 0; i < out_.count(); ++i) {
            MPI_Send(out_.at(i), out_.length(i), MPI_BYTE, to_[static_cast<std::size_t>(i)], data_tag,
                     MPI_COMM_WORLD);
        }
        MPI_Waitall(in_.count(), requests_.data(), MPI_STATUSES_IGNORE);
    }

    void run_checked()
    {
        for (int i = 0; i < out_.count(); ++i) {
            fill(out_.at(i), out_.bytes(i), 1, out_numbers_[static_cast<std::size_t>(i)]);
        }
        fill_all(in_, ~0u);
        run();
        for (int i = 0; i < in_.count(); ++i) {
            const std::size_t wrong =
                first_wrong(in_.at(i), in_.bytes(i), 1, in_numbers_[static_cast<std::size_t>(i)]);
            if (wrong < in_.bytes(i)) {
                session_.wrong("byte " + std::to_string(wrong) + " of a message from rank "
                               + std::to_string(from_[static_cast<std::size_t>(i)]) + " is wrong");
            }
        }
    }

private:
    const Session &session_;
    Buffers out_, in_;
    std::vector<int> to_, from_;
    std::vector<std::uint32_t> out_numbers_, in_numbers_; // in the list of all messages: tells their contents
    std::vector<MPI_Request> requests_;
};

void measure_fixed(Session &session, int count, std::size_t size)
{
    Pair pair(session, std::vector<std::size_t>(static_cast<std::size_t>(count), size));
    if (session.settings().verify) {
        pair.run_checked();
    }
    session.measure({"", "exchange", "", count, size, "us", {}, {}}, [&] {
        const double start = MPI_Wtime();
        pair.run();
        return (MPI_Wtime() - start) / (2.0 * count) * 1e6;
    });
}

// `Exchange` is Pair or Crowd: all draws once, and their time divided by the number of messages.
template <typename Exchange>
void measure_drawn(Session &session, std::vector<Exchange> &exchanges, Point point, double divisor,
                   Session::Counts counts)
{
    if (session.settings().verify) {
        for (Exchange &exchange : exchanges) {
            exchange.run_checked();
        }
    }
    session.measure(
        std::move(point),
        [&] {
            if (counts == Session::Counts::worst) {
                MPI_Barrier(MPI_COMM_WORLD);
            }
            const double start = MPI_Wtime();
            for (Exchange &exchange : exchanges) {
                exchange.run();
            }
            return (MPI_Wtime() - start) / (divisor * static_cast<double>(exchanges.size())) * 1e6;
        },
        counts);
}

// Sizes from low to high, drawn; `bytes` of the point is their mean.
void measure_draws(Session &session, const Choice &choice, int count, std::size_t low, std::size_t high)
{
    std::mt19937_64 generator(choice.seed);
    const Distribution distribution = distribution_of(choice.distribution);
    double sum = 0;
    std::size_t drawn = 0;
    auto mean = [&] { return static_cast<std::size_t>(sum / static_cast<double>(drawn) + 0.5); };
    std::string variant = "to=" + choice.to;
    if (low != high) {
        variant += ",sizes=" + choice.distribution;
    }
    if (choice.to == "random") {
        std::vector<Crowd> crowds;
        for (int draw = 0; draw < draws_per_sample; ++draw) {
            const std::vector<Message> messages =
                draw_messages(session.ranks(), count, distribution, low, high, generator);
            for (const Message &message : messages) {
                sum += static_cast<double>(message.bytes);
            }
            drawn += messages.size();
            crowds.emplace_back(session, messages);
        }
        measure_drawn(session, crowds, {"", "exchange", variant, count, mean(), "us", {}, {}}, count,
                      Session::Counts::worst);
        return;
    }
    std::vector<Pair> pairs;
    for (int draw = 0; draw < draws_per_sample; ++draw) {
        std::vector<std::size_t> sizes(static_cast<std::size_t>(count));
        for (std::size_t &size : sizes) {
            size = draw_size(distribution, low, high, generator);
            sum += static_cast<double>(size);
        }
        drawn += sizes.size();
        pairs.emplace_back(session, sizes);
    }
    measure_drawn(session, pairs, {"", "exchange", variant, count, mean(), "us", {}, {}}, 2.0 * count,
                  Session::Counts::root);
}

void measure_all(Session &session, const Choice &choice)
{
    const bool sizes_drawn = choice.distribution != "fixed";
    for (int count : choice.counts) {
        if (sizes_drawn) {
            const auto [low, high] = std::minmax_element(choice.sizes.begin(), choice.sizes.end());
            measure_draws(session, choice, count, *low, *high);
            continue;
        }
        for (std::size_t size : choice.sizes) {
            if (choice.to == "random") {
                measure_draws(session, choice, count, size, size);
            } else {
                measure_fixed(session, count, size);
            }
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    Choice choice;
    Options options("onetoone", about);
    options.add("messages", choice.counts, 1, 65536, "numbers of messages");
    options.add("sizes", choice.sizes, 0, std::size_t{1} << 30, "message sizes in bytes");
    options.add("distribution", choice.distribution, {"fixed", "uniform", "log", "ends"},
                "fixed: each of --sizes; else drawn from their least to their largest");
    options.add("to", choice.to, {"fixed", "random"},
                "the other of two ranks, or ranks drawn from all others");
    options.add("seed", choice.seed, "of what is drawn");
    Session session("onetoone", options, argc, argv);
    if (!session.ready() || !session.needs_ranks(2)) {
        return session.exit_code();
    }
    measure_all(session, choice);
    return 0;
}
