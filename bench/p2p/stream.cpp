// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include "tools/points/points.hpp"

namespace fsbml::bench::p2p
{

namespace
{

const std::size_t cache_line = 64;

} // namespace

Stream::Stream(const Session &session, int window, std::size_t size, int first, int second, bool both)
    : session_(session), window_(window), size_(size),
      stride_((size + cache_line - 1) / cache_line * cache_line), begins_(session.rank() == first),
      takes_part_(begins_ || session.rank() == second), sends_(takes_part_ && (begins_ || both)),
      receives_(takes_part_ && (!begins_ || both)), both_(both), peer_(begins_ ? second : first),
      source_(peer_), out_(sends_ ? static_cast<std::size_t>(window) * stride_ : 1),
      in_(receives_ ? static_cast<std::size_t>(window) * stride_ : 1)
{
    requests_.reserve(2 * static_cast<std::size_t>(window));
    indices_.resize(2 * static_cast<std::size_t>(window));
}

double Stream::run()
{
    requests_.clear();
    if (receives_) {
        post_receives();
    }
    if (takes_part_ && begins_) {
        MPI_Recv(nullptr, 0, MPI_BYTE, peer_, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (takes_part_) {
        MPI_Send(nullptr, 0, MPI_BYTE, peer_, control_tag, MPI_COMM_WORLD);
    }
    if (together_) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const double start = MPI_Wtime();
    if (!takes_part_) {
        return 0;
    }
    if (begins_) {
        if (both_) {
            MPI_Send(nullptr, 0, MPI_BYTE, peer_, control_tag, MPI_COMM_WORLD);
        }
        post_sends();
        complete();
        MPI_Recv(nullptr, 0, MPI_BYTE, peer_, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        if (both_) {
            MPI_Recv(nullptr, 0, MPI_BYTE, peer_, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            post_sends();
        }
        complete();
        MPI_Send(nullptr, 0, MPI_BYTE, peer_, control_tag, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - start;
}

void Stream::run_checked()
{
    if (!session_.settings().verify) {
        return;
    }
    const auto mine = static_cast<std::uint32_t>(session_.rank());
    for (int i = 0; sends_ && i < window_; ++i) {
        fill(place(out_, i), size_, mine, static_cast<std::uint32_t>(i));
    }
    for (int i = 0; receives_ && i < window_; ++i) {
        fill(place(in_, i), size_, ~0u, static_cast<std::uint32_t>(i));
    }
    run();
    for (int i = 0; receives_ && i < window_; ++i) {
        const std::size_t wrong = first_wrong(place(in_, i), size_, static_cast<std::uint32_t>(peer_),
                                              static_cast<std::uint32_t>(i));
        if (wrong < size_) {
            session_.wrong("byte " + std::to_string(wrong) + " of message " + std::to_string(i) + " of "
                           + std::to_string(size_) + " bytes is wrong");
        }
    }
}

void Stream::post_receives()
{
    for (int i = 0; i < window_; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(place(in_, i), static_cast<int>(size_), MPI_BYTE, source_, data_tag, MPI_COMM_WORLD,
                  &request);
        requests_.push_back(request);
    }
}

void Stream::post_sends()
{
    for (int i = 0; i < window_; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(place(out_, i), static_cast<int>(size_), MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD,
                  &request);
        requests_.push_back(request);
    }
}

void Stream::complete()
{
    const int count = static_cast<int>(requests_.size());
    switch (completion_) {
    case Completion::waitall:
        MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
        return;
    case Completion::waitany:
        for (int i = 0; i < count; ++i) {
            int index = 0;
            MPI_Waitany(count, requests_.data(), &index, MPI_STATUS_IGNORE);
        }
        return;
    case Completion::testsome:
        complete_some();
        return;
    }
}

void Stream::complete_some()
{
    const int count = static_cast<int>(requests_.size());
    int left = count;
    while (left > 0) {
        int done = 0;
        MPI_Testsome(count, requests_.data(), &done, indices_.data(), MPI_STATUSES_IGNORE);
        left -= done == MPI_UNDEFINED ? left : done;
    }
}

} // namespace fsbml::bench::p2p
