// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What all benchmark programs have: options, a line of output a point, contents of messages that show errors,
// what interfaces have sent, and turns with other jobs.
#ifndef FSBML_TOOLS_POINTS_HPP
#define FSBML_TOOLS_POINTS_HPP

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fsbml::bench
{

// ---- The command line of a benchmark program: common options and its own.

// What all programs take.
struct Settings {
    std::string arm = "default"; // names this launch's configuration in the output
    double seconds = 0.05;       // time to spend on the samples of one point
    int min_samples = 3;
    int max_samples = 1000;
    bool verify = true;
    bool json = false;
    std::string turns; // with other jobs (Turns); "": there are none
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

// ---- The output of a benchmark program: a line a point, as JSON or as a table.

// Bytes that each network interface of all nodes has sent. Empty where that cannot be known.
using Traffic = std::map<std::string, std::uint64_t>;

// A rate is the better the more it is; all else is a time.
inline bool is_rate(const std::string &unit)
{
    return unit.size() >= 3 && unit.compare(unit.size() - 2, 2, "/s") == 0;
}

// A point of an experiment and its samples. Words hold no blanks, quotes or backslashes.
struct Point {
    std::string bench;
    std::string operation;
    std::string variant;     // what else tells it from others, such as "reuse=50%"; may be empty
    int messages = 1;        // of one sample; 1 where that says nothing
    std::size_t bytes = 0;   // of one message
    std::string unit = "us"; // us, ns, s, KiB, files: less is better; MB/s, 1/s: more is better
    std::vector<double> samples;
    Traffic traffic; // of all samples
};

// What one launch's samples of a point say: their mean, and of rates the harmonic one, all bytes by all of
// the time, as a program pays for its slow messages too. A median shows nothing of those on a slow rail while
// they are the fewer. Left out is one of 50, rounded down, but one of ten or more: the slowest, in which the
// process had lost its processor. The samples must not be empty.
double launch_figure(std::vector<double> samples, const std::string &unit);

void print_header(const Settings &settings);
void print_point(const Settings &settings, const Point &point);
void print_init(const Settings &settings, const std::string &bench, double seconds);

// ---- Contents of messages that show every lost, doubled or swapped piece.

// The byte that belongs at `offset` of message `message` of exchange `round`: neighbours in every dimension
// differ.
inline unsigned char pattern(std::uint32_t round, std::uint32_t message, std::size_t offset)
{
    const std::uint32_t mixed = round * 2654435761u + message * 40503u
                                + static_cast<std::uint32_t>(offset) * 97u
                                + static_cast<std::uint32_t>(offset >> 8) * 31u;
    return static_cast<unsigned char>(mixed ^ (mixed >> 15));
}

inline void fill(unsigned char *buffer, std::size_t size, std::uint32_t round, std::uint32_t message)
{
    for (std::size_t offset = 0; offset < size; ++offset) {
        buffer[offset] = pattern(round, message, offset);
    }
}

// The first offset at which the buffer is not as fill() left it, or `size`.
inline std::size_t first_wrong(const unsigned char *buffer, std::size_t size, std::uint32_t round,
                               std::uint32_t message)
{
    std::size_t offset = 0;
    while (offset < size && buffer[offset] == pattern(round, message, offset)) {
        ++offset;
    }
    return offset;
}

// ---- How many bytes the network interfaces of a node have sent, as Linux counts them: true for every MPI
// library alike.

// Bytes sent since boot by each interface that this process sees. Empty where the system does not tell.
Traffic interface_bytes();
// The same from the text of /proc/net/dev.
Traffic read_interface_bytes(std::istream &table);

// A text of fixed size, for sending; what does not fit is left out.
constexpr int traffic_text_size = 2048;
std::string traffic_text(const Traffic &traffic);
void add_traffic_text(const char *text, Traffic &sum);

// What was sent in between; interfaces that sent nothing, or that came or went, are left out.
Traffic traffic_between(const Traffic &before, const Traffic &after);

// Jobs that are all there at once and take turns, a few milliseconds each, while the others' processes sleep:
// what a machine does from moment to moment then happens to all of them. Of one host, as they share a file.
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

#endif
