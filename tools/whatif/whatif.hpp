// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a job would gain from other rails or rules: the job (job.cpp, read by sim/trace), the rails
// (rails.cpp), both simulated (study.cpp, by sim/engine; FSBML's rule is sim/rules/fsbml.cpp), and the
// results as text and JSON.
#ifndef FSBML_TOOLS_WHATIF_HPP
#define FSBML_TOOLS_WHATIF_HPP

#include "api/fsbml_core.h"
#include "sim/job/job.hpp"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::whatif
{

// The job of a study: a trace, or the records of its processes.
struct Job {
    sim::Workload workload;
    std::uint32_t ranks = 0, nodes = 0, ranks_per_node = 1;
    std::uint64_t messages = 0, bytes = 0; // between nodes
    bool clocked = false;                  // processes wait for times of the clock, come what may
};

// A trace, or a folder with records, or records (docs/trace.md). `receive_after` as TraceMerge has it. Ranks
// that follow each other are on one node, as mpirun places them. Throws std::runtime_error, which names file
// and line, or rank and op.
Job read_job(const std::vector<std::string> &paths, std::uint32_t ranks_per_node, sim::Time receive_after);

// ---- The rails of a table, and the changes to them.

struct Rail {
    std::string name;
    fsbml_loggp_t params{};
    double duplex = 0;   // as in fsbml_fit_t
    double residual = 0; // so is this
};
using Rails = std::vector<Rail>;

// Throws std::runtime_error for a file that is no table, or one of a rail that was not measured.
Rails read_rails(const std::string &file);

// Of long messages, in bits per second on the wire.
double rate_of(const Rail &rail);

// Each changes the rails and says in words for a sentence what they would be: "a second 10 Gbit/s rail".
// Throw std::invalid_argument for what makes no sense.
std::string put_rail(Rails &rails, const std::string &spec);     // name=eth1,rate=10gbit,delay=20us,...
std::string make_faster(Rails &rails, const std::string &words); // eth1=2
std::string leave_out(Rails &rails, const std::string &name);

// Where all say so, a NIC does not send and receive at once.
bool half_duplex(const Rails &rails);

// "1.5ms", to ns.
double nanoseconds_of(const std::string &text);

// ---- The job on other rails, and by other rules.

enum class Kind { as_it_is, alone, without, changed };

struct RailUse {
    std::string name;
    std::uint64_t messages = 0, bytes = 0; // fragments
    double busy_ns = 0;                    // of all NICs together
};

struct Row {
    Kind kind = Kind::as_it_is;
    std::string name, rule;
    std::vector<RailUse> rails;
    double job_ns = 0;           // until the last process is done
    double communication_ns = 0; // of that, what messages cost: less what the job takes without rails
    double message_ns = 0;       // from given to arrived, mean of all messages between nodes
};

struct Study {
    Rails rails;
    Rails changed;                    // as the changes asked for have them
    std::vector<std::string> changes; // in words; none: nothing is asked for
    std::vector<std::string> rules;   // besides FSBML's
    std::uint64_t eager = 65536;      // messages up to this go whole
    std::uint64_t seed = 1;
};

struct Findings {
    std::vector<Row> rows;
    double computation_ns = 0; // what the job takes if messages cost nothing
};

// Names of the rules that there are besides FSBML's own.
std::vector<std::string> rule_names();

// FSBML's rule on all sets of rails, the others on those that there are and on the changed ones. `tell` hears
// of each before it begins. Throws std::invalid_argument for a rule that does not exist.
Findings look_into(const Job &job, const Study &study, const std::function<void(const Row &)> &tell);

// ---- The results as text and as JSON.

std::string rails_table(const Study &study);
std::string rows_table(const Job &job, const Findings &findings);

// What it comes to, in one sentence.
std::string sentence_of(const Job &job, const Study &study, const Findings &findings);

nlohmann::ordered_json document_of(const Job &job, const Study &study, const Findings &findings);

} // namespace fsbml::whatif

#endif
