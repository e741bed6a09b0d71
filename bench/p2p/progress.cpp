// Ways to wait for a message: polling, waiting in MPI, sleeping between polls, and the processor time of it;
// computing meanwhile.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include <ctime>

namespace fsbml::bench::p2p
{

namespace
{

const long sleep_ns = 50000;
const std::size_t least_overlapped = std::size_t{256} << 10;
const double computing_s = 50e-3;

enum class Way { test, wait, sleep };

class Awaited : public Message
{
public:
    Awaited(std::size_t bytes, Way way) : Message(bytes), way_(way) {}

    void send(int peer) override
    {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(out_, length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD, &request);
        finish(request);
    }

    void receive(int peer) override
    {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(in_, length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD, &request);
        finish(request);
    }

private:
    void finish(MPI_Request request)
    {
        if (way_ == Way::wait) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            return;
        }
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        while (done == 0) {
            if (way_ == Way::sleep) {
                const timespec nap = {0, sleep_ns};
                nanosleep(&nap, nullptr);
            }
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }

    Way way_;
};

// Of all threads of this process: the library may have its own.
double processor_seconds()
{
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void measure_way(Session &session, std::size_t size, const std::string &name, Way way)
{
    Awaited message(size, way);
    check_round_trip(session, message);
    std::vector<double> processor;
    const int count = session.measure({"", "progress", name, 1, size, "us", {}, {}}, [&] {
        const double before = processor_seconds();
        const double seconds = round_trip(session, message);
        processor.push_back((processor_seconds() - before) * 1e6);
        return seconds / 2 * 1e6;
    });
    processor.erase(processor.begin(), processor.end() - count); // without the warm-up
    session.print({"", "progress-cpu", name, 1, size, "us", processor, {}});
}

// Its sender computes for 50 ms before it waits, and looks after the message at the end of each slice of
// that.
class Overlapped : public Message
{
public:
    Overlapped(std::size_t bytes, double slice_s) : Message(bytes), slice_s_(slice_s) {}

    void send(int peer) override
    {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(out_, length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD, &request);
        const double end = MPI_Wtime() + computing_s;
        for (double now = MPI_Wtime(); now < end; now = MPI_Wtime()) {
            for (const double slice = now + slice_s_; now < slice; now = MPI_Wtime()) {
            }
            int done = 0;
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }

private:
    double slice_s_;
};

} // namespace

void measure_overlap(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        for (int slice_ms : {0, 1, 10, 50}) {
            if (size >= least_overlapped) {
                Overlapped message(size, slice_ms * 1e-3);
                measure_round_trip(session, "overlap", "slice=" + std::to_string(slice_ms) + "ms", message);
            }
        }
    }
}

void measure_progress(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        measure_way(session, size, "test", Way::test);
        measure_way(session, size, "wait", Way::wait);
        measure_way(session, size, "sleep", Way::sleep);
    }
}

} // namespace fsbml::bench::p2p
