// Jobs that are all there at once and take turns, a few milliseconds each, while the others' processes sleep:
// what a machine does from moment to moment then happens to all of them. Of one host, as they share a file.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstdint>
#include <string>

namespace fsbml::bench
{

class Turns
{
public:
    // For what starts the jobs. Throws std::runtime_error if there is no making the file.
    explicit Turns(const std::string &file);
    // For each process of a job: `own` is "I/N:FILE", job I, counted from 0, of N. Throws if it is not, or if
    // the file is none of these.
    static Turns of_job(const std::string &own);
    // The word for of_job().
    static std::string word(unsigned job, unsigned jobs, const std::string &file);
    Turns(Turns &&other) noexcept;
    Turns(const Turns &) = delete;
    ~Turns();

    // One process of a job: all of them are about to wait for their turn, or for their next one.
    void arrive();
    void pass();
    // Every process: sleeps until it is the job's turn. Throws after ten minutes.
    void wait();

    unsigned arrived() const; // jobs
    void begin();             // when all are there

private:
    struct Shared;
    Turns(const std::string &file, int flags);

    Shared *shared_ = nullptr;
    std::uint32_t next_ = 0;
    std::uint32_t jobs_ = 1;
};

} // namespace fsbml::bench
