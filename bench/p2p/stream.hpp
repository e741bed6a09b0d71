// A window of messages under way at once from one rank to another, or both ways.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "message.hpp"

#include <vector>

namespace fsbml::bench::p2p
{

// How the end of a window's requests is awaited.
enum class Completion { waitall, waitany, testsome };

// From rank `first` to rank `second`, and back at the same time if asked for. All ranks have the object, only
// these two do something.
class Stream
{
public:
    Stream(const Session &session, int window, std::size_t size, int first = 0, int second = 1,
           bool both = false);

    void complete_by(Completion completion) { completion_ = completion; }
    // Receives match messages of any rank.
    void from_any() { source_ = MPI_ANY_SOURCE; }
    // All ranks begin at the same time.
    void begin_together() { together_ = true; }

    // Once; returns the seconds from when all receives are there until `first` has the answer that all has
    // arrived.
    double run();
    // The same with every byte checked.
    void run_checked();

private:
    void post_receives();
    void post_sends();
    void complete();
    void complete_some();
    unsigned char *place(Pages &pages, int index)
    {
        return pages.data() + static_cast<std::size_t>(index) * stride_;
    }

    const Session &session_;
    int window_;
    std::size_t size_;
    std::size_t stride_;
    bool begins_; // this rank is `first`
    bool takes_part_;
    bool sends_, receives_, both_;
    int peer_, source_;
    bool together_ = false;
    Completion completion_ = Completion::waitall;
    Pages out_, in_;
    std::vector<MPI_Request> requests_;
    std::vector<int> indices_;
};

} // namespace fsbml::bench::p2p
