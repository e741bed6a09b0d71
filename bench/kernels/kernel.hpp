// The interface of an application's kernel.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace fsbml::bench
{

enum class Size { small, medium, large };

inline int pick(Size size, int small, int medium, int large)
{
    return size == Size::small ? small : size == Size::medium ? medium : large;
}

// What a rank hands over for other ranks in a step. A reduction counts as one message of its vector.
struct Volume {
    int messages = 0;
    double bytes = 0;
};

// A distributed computation that goes on in steps. All ranks call everything.
class Kernel
{
public:
    Kernel()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }
    virtual ~Kernel() = default;
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;

    // The data as at the beginning.
    virtual void prepare() = 0;
    virtual void step() = 0;
    // What is wrong after the steps since prepare(), or nothing. It may need the data for other tests, so
    // prepare() comes next.
    virtual std::string check() = 0;
    // Of this rank in the last step.
    virtual Volume volume() const = 0;
    // Steps that make a sample long enough to be timed.
    virtual int usual_steps() const = 0;

    // Seconds that this rank's steps have spent in MPI.
    double communication() const { return communication_; }

protected:
    // Does the MPI calls of a step.
    template <typename Calls>
    void communicate(Calls &&calls)
    {
        const double start = MPI_Wtime();
        std::forward<Calls>(calls)();
        communication_ += MPI_Wtime() - start;
    }

    int rank_ = 0;
    int ranks_ = 1;

private:
    double communication_ = 0;
};

std::unique_ptr<Kernel> make_halo2d(Size size);
std::unique_ptr<Kernel> make_halo3d(Size size);
std::unique_ptr<Kernel> make_fft(Size size);
std::unique_ptr<Kernel> make_sort(Size size);
std::unique_ptr<Kernel> make_cg(Size size);

// Where part `part` of `items` begins, dealt to `parts` as evenly as it goes; part `parts` begins at the end.
inline int share_begin(int items, int parts, int part)
{
    return static_cast<int>(static_cast<std::int64_t>(items) * part / parts);
}

// A number that looks random and is the same for the same index on any rank (the finaliser of MurmurHash3).
inline std::uint64_t scramble(std::uint64_t index)
{
    index += 0x9e3779b97f4a7c15u;
    index = (index ^ (index >> 33)) * 0xff51afd7ed558ccdu;
    index = (index ^ (index >> 33)) * 0xc4ceb9fe1a85ec53u;
    return index ^ (index >> 33);
}

// The same from -1 to 1.
inline double scramble_real(std::uint64_t index)
{
    return static_cast<double>(scramble(index) >> 11) * 0x1p-52 - 1;
}

// With all its digits, however small.
inline std::string text(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

} // namespace fsbml::bench
