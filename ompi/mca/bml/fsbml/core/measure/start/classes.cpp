// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/start/start.hpp"

#include "formats/formats.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kNobody = UINT32_MAX;

} // namespace

// ----------------------------------------------------------------- hellos

bool Classes::next(std::uint32_t &rank) const noexcept
{
    if (at_ >= ranks_ || looks_ >= kMostLooks || silent_ >= kMostSilent || nodes_.size() >= kMostNodes
        || (one_node_ ? has_first_ : accounted_ >= ranks_)) {
        return false;
    }
    rank = at_;
    return true;
}

void Classes::tell(std::uint32_t rank, const fsbml_hello_t *hello)
{
    if (rank >= ranks_) {
        return;
    }
    ++looks_;
    ++work_;
    if (nullptr == hello) {
        ++silent_;
        at_ = silent_step_ < ranks_ - rank ? rank + silent_step_ : ranks_;
        silent_step_ *= 2;
        return;
    }
    silent_step_ = 1;
    const std::uint32_t step = one_node_ ? 1 : std::max<std::uint32_t>(1, hello->run);
    at_ = step < ranks_ - rank ? rank + step : ranks_;
    if (!one_node_) {
        // A rank that is not the first of its node adds nothing, nor does a second daemon's part of a node.
        if (0 == (hello->flags & FSBML_HELLO_FIRST)) {
            return;
        }
        accounted_ += hello->node_ranks;
        if (!names_.insert(text_of(hello->node)).second) {
            return;
        }
    }
    nodes_.push_back({rank, 0});
    const std::size_t c = class_of(*hello);
    classes_[c].nodes.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
    if (!has_first_
        && classes_[c].nodes.size() <= 2) { // a third of a class has no partner that the second has not
        look_for_first(c);
    }
}

std::uint32_t Classes::key_of(const char *text)
{
    const auto found = keys_.emplace(text, static_cast<std::uint32_t>(digest_.size()));
    if (found.second) {
        digest_.push_back(digest(text));
        covered_.push_back(false);
    }
    return found.first->second;
}

std::size_t Classes::class_of(const fsbml_hello_t &hello)
{
    Class fresh;
    std::string set;
    for (std::uint32_t i = 0; i < hello.n_rails && i < FSBML_MAX_RAILS; ++i) {
        ++work_;
        if (FSBML_LEFT_OUT != hello.rail[i].exclusivity) {
            fresh.rails.push_back({hello.rail[i].exclusivity, key_of(text_of(hello.rail[i].key).c_str())});
        }
    }
    std::stable_sort(fresh.rails.begin(), fresh.rails.end(),
                     [](const Rail &x, const Rail &y) { return x.level > y.level; });
    for (const Rail &r : fresh.rails) {
        fresh.keys.push_back(r.key);
    }
    std::sort(fresh.keys.begin(), fresh.keys.end());
    std::vector<Rail> ordered = fresh.rails; // the order in which a node names its rails makes no class
    std::sort(ordered.begin(), ordered.end(), [](const Rail &x, const Rail &y) {
        return std::tie(x.level, x.key) < std::tie(y.level, y.key);
    });
    for (const Rail &r : ordered) {
        set.append(reinterpret_cast<const char *>(&r), sizeof r);
    }
    const auto found = sets_.emplace(set, classes_.size());
    if (found.second) {
        classes_.push_back(std::move(fresh));
    }
    return found.first->second;
}

// The rails between nodes of two classes: those that both have of the highest level at which there are two.
std::vector<std::uint32_t> Classes::shared(const Class &a, const Class &b)
{
    std::vector<std::uint32_t> level;
    for (std::size_t i = 0; i < a.rails.size(); ++i) {
        ++work_;
        if (i > 0 && a.rails[i].level != a.rails[i - 1].level) {
            if (level.size() >= 2) {
                break;
            }
            level.clear();
        }
        if (std::binary_search(b.keys.begin(), b.keys.end(), a.rails[i].key)) {
            level.push_back(a.rails[i].key);
        }
    }
    if (level.size() < 2) {
        level.clear();
    }
    return level;
}

// A node of class `with` has just come: it and the first node with which it shares two rails.
void Classes::look_for_first(std::size_t with)
{
    const Class &c = classes_[with];
    for (std::size_t i = 0; i < classes_.size() && !has_first_; ++i) {
        if ((i == with)
            != (c.nodes.size() == 2)) { // the others have been tried when the first of this class came
            continue;
        }
        Candidate found{i, with, shared(classes_[i], c)};
        if (!found.keys.empty()) {
            first_node_[0] = classes_[i].nodes.front();
            first_node_[1] = c.nodes.back();
            first_ = std::move(found);
            has_first_ = true;
        }
    }
}

bool Classes::first(fsbml_pair_t &pair) const noexcept
{
    if (has_first_) {
        pair = fsbml_pair_t{};
        pair.rank[0] = nodes_[first_node_[0]].rank;
        pair.rank[1] = nodes_[first_node_[1]].rank;
    }
    return has_first_;
}

// ------------------------------------------------------------------- pairs

std::vector<Classes::Candidate> Classes::candidates()
{
    std::vector<std::vector<std::size_t>> having(digest_.size());
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        for (const std::uint32_t key : classes_[c].keys) {
            if (having[key].size() < kPerRail && (having[key].empty() || having[key].back() != c)) {
                having[key].push_back(c);
            }
        }
    }
    std::set<std::pair<std::size_t, std::size_t>> tried;
    std::vector<Candidate> all;
    for (const std::vector<std::size_t> &list : having) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            for (std::size_t j = i; j < list.size(); ++j) {
                ++work_;
                const bool one_class = i == j;
                if ((one_class && classes_[list[i]].nodes.size() < 2)
                    || !tried.emplace(list[i], list[j]).second) {
                    continue;
                }
                Candidate c{list[i], list[j], shared(classes_[list[i]], classes_[list[j]])};
                if (!c.keys.empty()) {
                    all.push_back(std::move(c));
                }
            }
        }
    }
    std::sort(all.begin(), all.end(),
              [](const Candidate &x, const Candidate &y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
    return all;
}

// The next node of a class that is in no pair; if all are, the one that is free first.
std::uint32_t Classes::take_node(Class &c, std::uint32_t not_this)
{
    if (c.taken < c.nodes.size()) {
        return c.nodes[c.taken++];
    }
    std::uint32_t best = kNobody;
    for (const std::uint32_t n : c.nodes) {
        ++work_;
        if (n != not_this && (kNobody == best || nodes_[n].free_round < nodes_[best].free_round)) {
            best = n;
        }
    }
    return best;
}

void Classes::add_pair(fsbml_pairs_t &out, const Candidate &c, std::uint32_t a, std::uint32_t b)
{
    fsbml_pair_t &pair = out.pair[out.n++];
    pair = fsbml_pair_t{};
    pair.rank[0] = std::min(nodes_[a].rank, nodes_[b].rank);
    pair.rank[1] = std::max(nodes_[a].rank, nodes_[b].rank);
    pair.round = std::max(nodes_[a].free_round, nodes_[b].free_round);
    nodes_[a].free_round = nodes_[b].free_round = pair.round + 1;
    for (const std::uint32_t key : c.keys) {
        if (!covered_[key]) {
            covered_[key] = true;
            pair.key[pair.n_rails++] = digest_[key];
        }
    }
}

void Classes::plan(fsbml_pairs_t &out)
{
    out.n = 0;
    std::fill(covered_.begin(), covered_.end(), false);
    for (Class &c : classes_) {
        c.taken = 0;
    }
    for (Node &n : nodes_) {
        n.free_round = 0;
    }
    if (!has_first_) {
        return;
    }
    classes_[first_.a].taken++; // the first pair took the first nodes of its classes
    classes_[first_.b].taken++;
    add_pair(out, first_, first_node_[0], first_node_[1]);

    const std::vector<Candidate> all = candidates();
    // How many rails it would measure that no other pair does; of equals, one whose nodes are free goes
    // first.
    const auto worth = [&](const Candidate &c) {
        const auto is_new = [&](std::uint32_t key) { return !covered_[key]; };
        const auto rails = static_cast<std::size_t>(std::count_if(c.keys.begin(), c.keys.end(), is_new));
        const auto left = [&](std::size_t of) { return classes_[of].nodes.size() - classes_[of].taken; };
        const bool free = c.a == c.b ? left(c.a) >= 2 : left(c.a) >= 1 && left(c.b) >= 1;
        work_ += c.keys.size();
        return rails > 0 ? 2 * rails + (free ? 1 : 0) : 0;
    };
    // What a candidate is worth only falls, so the best one is known as soon as its figure, found anew, is
    // still the largest.
    using Entry =
        std::pair<std::size_t, std::size_t>; // worth, and how far from the end: of equals, the first
    std::priority_queue<Entry> queue;
    for (std::size_t i = 0; i < all.size(); ++i) {
        queue.emplace(worth(all[i]), all.size() - i);
    }
    while (!queue.empty() && queue.top().first > 0 && out.n < FSBML_MAX_PAIRS) {
        const Entry top = queue.top();
        const Candidate &c = all[all.size() - top.second];
        queue.pop();
        const std::size_t now = worth(c);
        if (now < top.first) {
            queue.emplace(now, top.second);
            continue;
        }
        const std::uint32_t a = take_node(classes_[c.a], kNobody);
        add_pair(out, c, a, take_node(classes_[c.b], a));
    }
}

} // namespace fsbml
