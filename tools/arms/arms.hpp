// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Comparisons: the arms, launched in turns, round by round; their results, and how these compare; the table
// of rails that FSBML has printed.
#ifndef FSBML_TOOLS_ARMS_HPP
#define FSBML_TOOLS_ARMS_HPP

#include "tools/points/points.hpp"

#include <cstddef>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{

// ---- The arms of a comparison: what is launched in turns.

enum class Role {
    fsbml,  // with its default policy
    policy, // FSBML with another policy, or with parameters of the arm's own
    r2,     // Open MPI's own, all rails
    rail,   // r2 on one rail
    peer,   // another stack, or one of these two with parameters of the arm's own
};

struct Arm {
    std::string name;
    Role role = Role::rail;
    std::vector<std::string> options; // of mpirun
    std::size_t rails = 1;            // how many it may use
};

// What the rails are called, in Open MPI's words.
enum class RailKind {
    network, // interfaces, or networks as 10.0.1.0/24, of tcp
    uneven,  // interfaces of tcp that not all nodes have; each node has been told its own
    btl,     // BTLs, such as vader and tcp of one host
};

// From requests such as fsbml, fsbml:thesis, r2, rails (each alone), rail0, ucx. Parameters of Open MPI may
// follow, which name the arm: fsbml:bml_fsbml_quantum=65536, r2:NAME=VALUE:NAME=VALUE. Each arm comes once,
// in the order asked for. Throws std::invalid_argument, with what there is, on one that is not.
std::vector<Arm> make_arms(const std::vector<std::string> &requests, const std::vector<std::string> &rails,
                           RailKind kind);

// Runs FSBML, whatever its settings are.
bool is_fsbml(const Arm &arm);

// The names of the arms with that role, sorted.
std::vector<std::string> names_of(const std::vector<Arm> &arms, Role role);

// The names of the rails alone, if they are all that FSBML may use; else nothing, and what they would allow
// together is not known.
std::vector<std::string> every_rail(const std::vector<Arm> &arms);

// Puts the arm `best` right before FSBML: those that are compared closest are launched side by side, since
// machines change their speed.
void put_before_fsbml(std::vector<Arm> &arms, const std::string &best);

// ---- The results of an experiment: what the benchmark programs printed in all launches.

// One place in the experiment's grid. Ordered as the table is.
struct Place {
    std::string operation;
    std::string variant;
    int messages = 1;
    std::size_t bytes = 0;
    std::string unit = "us";

    bool operator<(const Place &other) const
    {
        return std::tie(operation, variant, messages, bytes, unit)
               < std::tie(other.operation, other.variant, other.messages, other.bytes, other.unit);
    }
};

// How a user would name it.
std::string name_of(const Place &place);

// What comparisons are made of, the less the better: a time, or the inverse of a rate.
double cost(double value, const std::string &unit);

// Over launches, each of which counts once whatever its number of samples: fast launches take more samples,
// and pooling them would give those the say.
struct Figure {
    double median = 0;
    double least = 0;  // the least of the launches' figures
    double spread = 0; // half the distance of the quartiles, relative to the median
    int launches = 0;
};

class Results
{
public:
    // Adds the lines of one launch, or of many. Throws std::runtime_error, naming the line, on anything that
    // is not the benchmarks' output. Returns the number of points.
    std::size_t read(std::istream &lines);

    std::vector<std::string> arms() const { return arms_; }
    std::vector<Place> places() const;
    // The figures of the arm's launches there (launch_figure), by round; empty if it has none.
    const std::vector<double> &launches(const std::string &arm, const Place &place) const;
    std::optional<Figure> at(const std::string &arm, const Place &place) const;
    std::optional<double> init_seconds(const std::string &arm) const;
    // Bytes that the interfaces sent during the samples of all launches; empty where they were not counted.
    Traffic traffic(const std::string &arm, const Place &place) const;
    const nlohmann::json &lines() const { return lines_; }

private:
    struct Cell {
        std::vector<double> launches;
        Traffic traffic;
    };

    bool add(const nlohmann::json &line);

    std::vector<std::string> arms_; // in order of appearance
    std::map<Place, std::map<std::string, Cell>> cells_;
    std::map<std::string, std::vector<double>> init_;
    nlohmann::json lines_ = nlohmann::json::array();
};

// ---- How arms compare: ratios within rounds, what is sure about them, and the ideal that rails alone allow.

// The launches of one round are compared with each other, since a machine may change its speed between
// rounds, and then the medians of both arms may stem from different times. Always of costs: below 1 is
// better.
struct Ratio {
    double median = 0;
    double spread = 0; // half the distance of the quartiles over rounds
    double low = 0;    // an interval that holds the true median, with the probability `sure`
    double high = 0;
    double sure = 0;
    int rounds = 0;
};

// From one ratio a round. The interval is that of the order statistics, without any assumption on the noise:
// the narrowest with a probability of 0.9 and more, or, of few rounds, the whole range. Must not be empty.
Ratio ratio_of(const std::vector<double> &by_round);

// `arm` by `other`; nothing if one of them has no launch there, or one of 0 or below: what remains of a time
// when others are taken off, as LogP's L, can be that.
std::optional<Ratio> ratio(const Results &results, const std::string &arm, const std::string &other,
                           const Place &place);

// The arm with the least median cost at a place, e.g. of the rails alone, of those that were launched at
// least half as often there as another one; nothing if none was measured there.
std::optional<std::string> best_arm(const Results &results, const std::vector<std::string> &arms,
                                    const Place &place);
// `arm` by the best of `others`.
std::optional<Ratio> ratio_to_best(const Results &results, const std::string &arm,
                                   const std::vector<std::string> &others, const Place &place);

// The least cost that rails allow which cost this much each for all of `messages`: whole messages, dealt so
// that the last rail is done as early as can be. Long messages (over 64 KiB) can be cut, so there, and where
// the number of messages is not known (0), the rails' speeds add up.
double ideal_cost(const std::vector<double> &rail_costs, int messages, std::size_t bytes);
// `arm` by the ideal; nothing unless all rails were measured there. Only an exchange has a number of messages
// that count.
std::optional<Ratio> ratio_to_ideal(const Results &results, const std::string &arm,
                                    const std::vector<std::string> &rails, const Place &place);

// The rate of `arm` as a fraction of the sum of the rails' rates in the same round: the more the better.
// Nothing but for MB/s, and unless all rails were measured there.
std::optional<Ratio> share_of_sum(const Results &results, const std::string &arm,
                                  const std::vector<std::string> &rails, const Place &place);

// The share of the lower layer's performance that reaches the upper one at a place, by operation, variant and
// bytes: the lower one's cost by the upper one's, of medians. Nothing where one of them has no such point.
std::optional<double> share_of_below(const Results &upper, const Results &below, const std::string &arm,
                                     const Place &place);

// The verdict on a ratio.
enum class Verdict {
    faster,  // the whole interval is below 1
    same,    // the whole interval is within 3 %
    slower,  // the whole interval is above 1
    unclear, // the machine was too noisy for the number of rounds
};
// Differences below this are none that one would notice.
constexpr double same_within = 0.03;
// Rounds that a verdict needs at least: of fewer, not even the whole range is sure with a probability
// of 0.9.
constexpr int least_rounds = 5;

Verdict verdict(const Ratio &ratio);
const char *word_of(Verdict verdict);

// ---- FSBML's table of rails, read from a launch's log.

// A row of the table. Times in us, G in ns/byte.
struct MeasuredRail {
    std::string name;
    std::string key;
    double latency_us = 0;
    double overhead_send_us = 0;
    double overhead_receive_us = 0;
    double gap_us = 0;
    double ns_per_byte = 0;
};

struct RailTable {
    std::vector<std::string> lines; // as FSBML printed them, without the lines' origin
    std::vector<MeasuredRail> rails;
};

// From a launch's stderr. The first process that printed the table is taken; others' lines may stand in
// between.
RailTable read_rail_table(std::istream &log);

// ---- Launching all arms in turns, round by round.

struct Job {
    std::string launcher; // program that is given the number of ranks, mpirun's options and the program
    int ranks = 2;
    std::vector<std::string> program; // with its arguments
    std::vector<std::string> below;   // a program that measures the layer below; may be empty
    std::string probe; // library that times a program which is no benchmark of ours; empty for those
    double limit_seconds = 600;
    int rounds = 5;
    bool quiet = false;       // wait for a quiet machine before each round
    bool verify_once = false; // programs check their data in the first round only
    std::string folder;       // for what the launches print

    // Words behind the program's own, of one launch of each arm before all others.
    std::vector<std::string> first;
    // The jobs of a round run at once, in turns (tools/points/points.hpp): of one host.
    bool interleaved = false;
    // Launches of rivals that take several times as long as the best rail; 0: as many as of all.
    int slow_rounds = 0;
};

// Results of the arms, and the rails that they were measured on.
struct Measurements {
    std::vector<Arm> arms;
    Results results;
    Results below; // of the layer below MPI, if that was measured too
    RailTable rails;
};

// Fills in all but the arms. Calls `look` with the results after each round but the last, and, if there are
// launches before all others, which count no more, with theirs; the first call says so. Throws
// std::runtime_error with a message for users if a launch fails, hangs, or prints what is no result.
void run_rounds(const Job &job, Measurements &measured,
                const std::function<void(const Results &, bool is_first)> &look);

// What a job of a program with the probe has left in its log: the probe's lines, without what stands before
// them.
std::string probe_lines(std::istream &log);

} // namespace fsbml::bench

#endif
