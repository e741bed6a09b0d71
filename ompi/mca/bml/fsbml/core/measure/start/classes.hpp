// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which pairs of ranks measure which rails. Nodes fall in classes by the rails that they have; each rail that
// is used beside another one is measured once, by a pair that has two or more rails in common. All processes
// make the same list from the same hellos.
//
// A rail that no two nodes share beside a second one needs no measurement: a process that reaches a peer by
// it has no choice there, and what it carries delays no other rail.
//
// First the hellos: next() names the rank to look at, tell() takes what it says, node by node and not rank by
// rank, as a hello tells how many ranks after it are of its node. Then plan().
#ifndef FSBML_CLASSES_HPP
#define FSBML_CLASSES_HPP

#include "api/fsbml_core.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fsbml
{

class Classes
{
public:
    // Maximum nodes that are examined, and hellos (ranks that are not the first of their node included).
    // What only later nodes have stays unmeasured. A hello costs 0.1 ms with Open MPI 5.0, whose processes
    // ask their daemon for each.
    static constexpr std::uint32_t kMostNodes = 256;
    static constexpr std::uint32_t kMostLooks = 2 * kMostNodes;
    // Ranks without a hello (they do not run FSBML): asking for one that is not there can take seconds.
    // Behind such a rank, twice as many are passed over each time: a node full of them does not end the
    // search.
    static constexpr std::uint32_t kMostSilent = 8;
    // Of the classes that have a rail, so many are tried with each other for its sake.
    static constexpr std::size_t kPerRail = 6;

    // On one node, each rank stands for a node of its own.
    Classes(std::uint32_t ranks, bool one_node) : ranks_(ranks), one_node_(one_node) {}

    // False: all that is needed has been told.
    bool next(std::uint32_t &rank) const noexcept;
    // nullptr: the rank has no hello.
    void tell(std::uint32_t rank, const fsbml_hello_t *hello);

    // The first pair, which does not change any more once it is there, and is the same to processes that
    // look on and to those that do not.
    bool first(fsbml_pair_t &pair) const noexcept;

    // The first pair, then always the one that has most rails to measure which none before it has (greedy
    // cover); rails to measure are those and no others. A node that is in two pairs has them in two rounds,
    // but only where no other of its class is free.
    void plan(fsbml_pairs_t &out);

    // Elementary steps so far, for tests.
    std::uint64_t work() const noexcept { return work_; }

private:
    struct Rail {
        std::uint32_t level; // of exclusivity
        std::uint32_t key;   // index in digest_
    };
    struct Class {
        std::vector<Rail> rails;         // by falling level, then as told
        std::vector<std::uint32_t> keys; // of them, sorted
        std::vector<std::uint32_t> nodes;
        std::size_t taken = 0; // of the nodes, by pairs
    };
    struct Node {
        std::uint32_t rank;
        std::uint32_t free_round; // the first one in which it is in no pair
    };
    struct Candidate {
        std::size_t a, b;                // classes
        std::vector<std::uint32_t> keys; // that both have
    };

    std::uint32_t key_of(const char *text);
    std::size_t class_of(const fsbml_hello_t &hello);
    std::vector<std::uint32_t> shared(const Class &a, const Class &b);
    void look_for_first(std::size_t with);
    std::vector<Candidate> candidates();
    std::uint32_t take_node(Class &c, std::uint32_t not_this);
    void add_pair(fsbml_pairs_t &out, const Candidate &c, std::uint32_t a, std::uint32_t b);

    std::uint32_t ranks_;
    bool one_node_;
    std::uint32_t at_ = 0; // next rank to look at
    std::uint32_t looks_ = 0;
    std::uint32_t silent_ = 0, silent_step_ = 1;
    std::uint64_t accounted_ = 0; // ranks of the nodes so far
    std::uint64_t work_ = 0;

    std::map<std::string, std::uint32_t> keys_;
    std::vector<std::uint32_t> digest_; // of a key's text
    std::vector<bool> covered_;         // keys that a pair measures
    std::set<std::string> names_;       // of nodes
    std::vector<Node> nodes_;
    std::map<std::string, std::size_t> sets_; // text of a set of rails -> class
    std::vector<Class> classes_;
    bool has_first_ = false;
    Candidate first_{};
    std::uint32_t first_node_[2] = {0, 0};
};

} // namespace fsbml

#endif
