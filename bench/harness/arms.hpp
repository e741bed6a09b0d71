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
    policy, // FSBML with another policy
    r2,     // Open MPI's own, all rails
    rail,   // r2 on one rail
    peer,   // another stack, all rails
};

struct Arm {
    std::string name;
    Role role = Role::rail;
    std::vector<std::string> options; // of mpirun
};

// What the rails are called, in Open MPI's words.
enum class RailKind {
    network, // interfaces, or networks as 10.0.1.0/24, of tcp
    btl,     // BTLs, such as vader and tcp of one host
};

// From requests such as fsbml, fsbml:thesis, r2, rails (each alone), rail0, ucx. Each arm comes once, in the
// order asked for, Throws std::invalid_argument, with what there is, on one that is not.
std::vector<Arm> make_arms(const std::vector<std::string> &requests, const std::vector<std::string> &rails,
                           RailKind kind);

// The names of the arms with that role, sorted.
std::vector<std::string> names_of(const std::vector<Arm> &arms, Role role);

// Puts the arm `best` right before FSBML: those that are compared closest are launched side by side, since
// machines change their speed.
void put_before_fsbml(std::vector<Arm> &arms, const std::string &best);

} // namespace fsbml::bench
