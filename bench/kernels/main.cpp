// Kernels of real applications: the time of a step, and how much of it is spent in MPI.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include "tools/session/session.hpp"

namespace
{

using namespace fsbml::bench;

const char *const about = "Times computations that communicate as applications do: stencils with the "
                          "exchange of a halo in two and three "
                          "dimensions (halo2d, halo3d), a transform of two dimensions and back (fft), a "
                          "bucket sort (sort) and an iterative "
                          "solver of a sparse system (cg). A sample is the time of a step, transform, sort "
                          "or iteration on the slowest rank. "
                          "NAME-communication is the part of it that a rank spends in MPI, waiting included. "
                          "Messages and bytes are what a rank "
                          "hands over for other ranks in a step, in the mean.\n\nThe data are always the "
                          "same. Before and after the samples, "
                          "results are checked against what they are known to be.";

struct Choice {
    std::vector<std::string> kernels = {"halo2d", "halo3d", "fft", "sort", "cg"};
    std::string size = "small";
    int steps = 0;
};

std::unique_ptr<Kernel> make(const std::string &name, const std::string &size_name)
{
    const Size size = size_name == "small" ? Size::small : size_name == "medium" ? Size::medium : Size::large;
    return name == "halo2d"   ? make_halo2d(size)
           : name == "halo3d" ? make_halo3d(size)
           : name == "fft"    ? make_fft(size)
           : name == "sort"   ? make_sort(size)
                              : make_cg(size);
}

// The mean of all ranks.
Point point_of(const std::string &name, const Choice &choice, const Volume &volume, int ranks)
{
    const double mine[2] = {static_cast<double>(volume.messages), volume.bytes};
    double sums[2];
    MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    Point point;
    point.operation = name;
    point.variant = "size=" + choice.size;
    point.messages = static_cast<int>(sums[0] / ranks + 0.5);
    point.bytes = static_cast<std::size_t>(sums[1] / ranks + 0.5);
    return point;
}

void measure(Session &session, const Choice &choice, const std::string &name)
{
    const std::unique_ptr<Kernel> kernel = make(name, choice.size);
    const int steps = choice.steps > 0 ? choice.steps : kernel->usual_steps();
    auto check = [&] {
        const std::string wrong = session.settings().verify ? kernel->check() : "";
        if (!wrong.empty()) {
            session.wrong(name + ": " + wrong);
        }
        kernel->prepare();
    };
    kernel->prepare();
    for (int step = 0; step < (session.settings().verify ? 2 : 1); ++step) {
        kernel->step();
    }
    Point point = point_of(name, choice, kernel->volume(), session.ranks());
    check();

    std::vector<double> communication;
    auto sample = [&] {
        MPI_Barrier(MPI_COMM_WORLD);
        const double communication_before = kernel->communication();
        const double start = MPI_Wtime();
        for (int step = 0; step < steps; ++step) {
            kernel->step();
        }
        const double seconds = MPI_Wtime() - start;
        communication.push_back((kernel->communication() - communication_before) / steps * 1e6);
        return seconds / steps * 1e6;
    };
    const int count = session.measure(point, sample, Session::Counts::worst);
    check();

    // Without the samples that warmed up.
    communication.erase(communication.begin(), communication.end() - count);
    point.samples.resize(communication.size());
    MPI_Reduce(communication.data(), point.samples.data(), count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    point.operation += "-communication";
    session.print(std::move(point));
}

} // namespace

int main(int argc, char **argv)
{
    Choice choice;
    const std::vector<std::string> all = choice.kernels;
    Options options("kernels", about);
    options.add("kernels", choice.kernels, all, "which");
    options.add("size", choice.size, {"small", "medium", "large"},
                "of all: small takes milliseconds a step over slow networks, large up to 300 MB in all");
    options.add("steps", choice.steps, 0, 1000000, "steps in a sample; 0 for 1 (fft, sort) to 20 (cg)");
    Session session("kernels", options, argc, argv);
    if (!session.ready()) {
        return session.exit_code();
    }
    for (const std::string &name : choice.kernels) {
        measure(session, choice, name);
    }
    return 0;
}
