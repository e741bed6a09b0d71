// The arms of a comparison: what is launched in turns.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <string>
#include <vector>

namespace fsbml::bench
{

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

} // namespace fsbml::bench
