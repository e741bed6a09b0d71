// The command line of a benchmark program: common options and its own.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fsbml::bench
{

// What all programs take.
struct Settings {
    std::string arm = "default"; // names this launch's configuration in the output
    double seconds = 0.05;       // time to spend on the samples of one point
    int min_samples = 3;
    int max_samples = 1000;
    bool verify = true;
    bool json = false;
    std::string turns; // with other jobs (turns.hpp); "": there are none
};

// How many samples fit into the settings' time, if one takes `seconds`.
int sample_count(const Settings &settings, double seconds);

// The words without options that come again later: a benchmark's own arguments stand first, then the user's,
// which count.
std::vector<std::string> last_of_each(const std::vector<std::string> &words);

// CLI11 behind an interface that compiles quickly: every program includes this, and only one source includes
// that.
class Options
{
public:
    Options(const std::string &program, const std::string &about);
    ~Options();
    Options(const Options &) = delete;
    Options &operator=(const Options &) = delete;

    // An option `--name`; the target's value is the default. Numbers have a range, lists take commas, words
    // are of `choices`.
    void add(const std::string &name, int &value, int low, int high, const std::string &help);
    void add(const std::string &name, std::uint64_t &value, const std::string &help);
    void add(const std::string &name, std::vector<int> &values, int low, int high, const std::string &help);
    void add(const std::string &name, std::vector<std::size_t> &values, std::size_t low, std::size_t high,
             const std::string &help);
    void add(const std::string &name, std::string &value, const std::vector<std::string> &choices,
             const std::string &help);
    void add(const std::string &name, std::vector<std::string> &values,
             const std::vector<std::string> &choices, const std::string &help);
    void add(const std::string &name, bool &flag, const std::string &help);

    // Returns 0 to go on, 1 if help was printed, 2 on an error (already told). Only the rank that speaks
    // passes true, so that an error is told once.
    int parse(int argc, char **argv, bool speaks);

    const Settings &settings() const { return settings_; }

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
    Settings settings_;
    bool no_verify_ = false;
};

} // namespace fsbml::bench
