// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One run of a benchmark program: MPI, its options, its points.
#ifndef FSBML_TOOLS_SESSION_HPP
#define FSBML_TOOLS_SESSION_HPP

#include "tools/points/points.hpp"

#include <functional>
#include <optional>
#include <string>

#include <mpi.h>

namespace fsbml::bench
{

class Session
{
public:
    // Starts MPI and reads the options. Where ready() is false, main() returns exit_code() at once.
    Session(const std::string &bench, Options &options, int argc, char **argv,
            int threads = MPI_THREAD_SINGLE);
    // Ends MPI.
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    bool ready() const { return outcome_ == 0; }
    int exit_code() const { return outcome_ == 2 ? 2 : 0; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    const Settings &settings() const { return options_.settings(); }

    // False, with a word about it, if there are fewer ranks than `least`; if `even`, also if they are odd in
    // number.
    bool needs_ranks(int least, bool even = false);

    // Rank 0's value, for all.
    double agree(double value) const;

    // Returns when all ranks have called it. A rank that is early, with nothing left to do, leaves the
    // processors to those that share them.
    void rest_until_all_are_here() const;

    // Whose sample counts: rank 0's, or the worst of all ranks.
    enum class Counts { root, worst };

    // Measures and prints a point. All ranks call it; `sample` runs one sample on all of them and returns its
    // value in the point's unit. It has been called a few times to warm up before the samples that count.
    // Returns the number of these. A job that takes turns with others measures a part of a point in each;
    // what it does between two points is in its turn, too.
    int measure(Point point, const std::function<double()> &sample, Counts counts = Counts::root);

    // Prints a point of these samples; only rank 0's count.
    void print(Point point);

    // Ends the job with a word about data that is not as it was sent.
    [[noreturn]] void wrong(const std::string &what) const;

private:
    Traffic sum_over_nodes(const Traffic &traffic) const;
    void wait_for_turn();
    void let_others();

    std::string bench_;
    Options &options_;
    int outcome_ = 0;
    int rank_ = 0;
    int ranks_ = 1;
    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Comm leaders_ = MPI_COMM_NULL; // the first rank of each node
    std::optional<Turns> turns_;
};

} // namespace fsbml::bench

#endif
