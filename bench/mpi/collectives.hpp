// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The times that the collective benchmark takes, and its skew.
#ifndef FSBML_BENCH_MPI_COLLECTIVES_HPP
#define FSBML_BENCH_MPI_COLLECTIVES_HPP

#include "tools/session/session.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fsbml::bench::collectives
{

const std::vector<std::string> operation_names = {"barrier", "allreduce", "alltoall", "broadcast",
                                                  "allgather"};

class Operation
{
public:
    Operation(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
    virtual ~Operation() = default;
    virtual void run() = 0;
    virtual void prepare() {}
    virtual bool right() const { return true; }
    // A rank without which no other can end; the last one if that is true for all, as in Mamidala's tests.
    virtual int awaited_rank() const { return ranks_ - 1; }

protected:
    int rank_;
    int ranks_;
};

// `name` is one of operation_names.
std::unique_ptr<Operation> make_operation(const std::string &name, int rank, int ranks, std::size_t size);

// Average latency, synchronisation delay and late arrivals (Mamidala, chapter 7).
class Skew
{
public:
    Skew(Session &session, int late_us) : session_(session), late_seconds_(late_us * 1e-6) {}

    // The points NAME-average, NAME-sync and NAME-late.
    void measure(Operation &operation, const std::string &name, std::size_t size);
    // The point clock-error.
    void print_error();

private:
    void compare_clocks();
    double average(Operation &operation);
    double delay(Operation &operation, int late_rank);

    Session &session_;
    double late_seconds_;
    double offset_ = 0;          // what to add to this rank's clock to have rank 0's
    std::vector<double> errors_; // of each comparison, in us
};

} // namespace fsbml::bench::collectives

#endif
