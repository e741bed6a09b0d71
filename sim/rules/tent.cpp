// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Mooncake TENT's choice of a NIC.
//
// A NIC's score is (bytes in flight + slice) / bandwidth, the less the better; the bandwidth is an
// exponentially weighted mean of bytes over time of what went through (quota.cpp, DeviceSelector). A message
// is cut in slices of 64 KiB, at most 32 (rdma_transport.cpp, for writes). Up to 15 slices, each is given to
// the best NIC; more are shared by 1/score at once, what is left by rounding to the best; every 100th such
// message goes round robin, so that each NIC is measured now and then. There is no L, no o, no g.
//
// Interpretations: the bandwidth begins with the one believed, without TENT's bounds for what a NIC may say
// (10 to 800 Gb/s, else 400); all NICs are of the best NUMA tier; a slice is through when its NIC is; scores
// that differ by less than the jitter are in the order that it gives them.
#include "rules.hpp"

#include <algorithm>
#include <random>

namespace fsbml::sim
{

namespace
{

constexpr std::uint64_t kBlock = 65536;
constexpr std::uint64_t kMaxSlices = 32;
constexpr double kLearn = 0.01;  // of the old mean, that is kept: nearly nothing
constexpr double kJitter = 1e-9; // s, up to 9 of them
constexpr double kEpsilon = 1e-12;
constexpr std::uint64_t kProbeEvery = 100;

class Tent final : public Rule
{
public:
    Tent(const Cluster &cluster, std::uint64_t seed) : rails_(cluster), flight_(rails_.size()), random_(seed)
    {
        for (std::size_t i = 0; i < rails_.size(); ++i) {
            bandwidth_.push_back(rails_.bandwidth(i) * 1e9); // B/s
        }
    }

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        std::uint64_t n = std::clamp<std::uint64_t>((whole.bytes + kBlock - 1) / kBlock, 1, kMaxSlices);
        const std::uint64_t tail = whole.bytes % kBlock;
        if (n > 1 && tail > 0 && tail < kBlock / 4) {
            --n; // a short rest was to go along with the slice before; the rounding below undoes it
        }
        const std::uint64_t block = ((whole.bytes + n - 1) / n + kBlock - 1) / kBlock * kBlock;
        const std::vector<int> rails = n >= kMaxSlices / 2 ? share(whole, n, block) : std::vector<int>{};
        // Rounded up, the blocks may be through before the slices are.
        for (std::uint64_t i = 0, offset = 0; 0 == i || offset < whole.bytes; ++i) {
            const std::uint64_t bytes = std::min(block, whole.bytes - offset);
            out.push_back({bytes, rails.empty() ? -1 : rails[i]});
            offset += bytes;
        }
    }

    int choose(const Situation &fragment) override
    {
        return candidates(fragment, fragment.bytes).front().rail;
    }

    void given(int rail, const Situation &fragment) override
    {
        flight_.add(rail, {fragment.peer, fragment.bytes, fragment.now, -1});
    }

    void sent(int rail, const Situation &fragment, Time when) override
    {
        const std::optional<InFlight::Entry> entry = flight_.take(rail, fragment);
        if (entry && when > entry->since) {
            const auto i = static_cast<std::size_t>(rail);
            const double told = rails_.bandwidth(i) * 1e9;
            const double seen = static_cast<double>(entry->bytes) / (ns(when - entry->since) * 1e-9);
            bandwidth_[i] =
                std::clamp(kLearn * bandwidth_[i] + (1.0 - kLearn) * seen, 0.1 * told, 10.0 * told);
        }
    }

private:
    struct Candidate {
        int rail;
        double score; // s
    };

    std::vector<Candidate> candidates(const Situation &s, std::uint64_t slice)
    {
        std::vector<Candidate> found;
        for (const int rail : rails_.in(s.rails)) {
            const auto i = static_cast<std::size_t>(rail);
            const auto jitter = static_cast<double>(random_() % 10) * kJitter;
            found.push_back({rail, static_cast<double>(flight_.bytes(i) + slice) / bandwidth_[i] + jitter});
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Candidate &a, const Candidate &b) { return a.score < b.score; });
        return found;
    }

    // The rail of each slice.
    std::vector<int> share(const Situation &whole, std::uint64_t n, std::uint64_t slice)
    {
        const std::vector<Candidate> all = candidates(whole, slice);
        std::vector<int> rails;
        if (0 == ++calls_ % kProbeEvery) {
            while (rails.size() < n) {
                rails.push_back(all[rails.size() % all.size()].rail);
            }
            return rails;
        }
        double total = 0.0;
        for (const Candidate &c : all) {
            total += 1.0 / (c.score + kEpsilon);
        }
        for (const Candidate &c : all) {
            const double part = 1.0 / (c.score + kEpsilon) / total;
            rails.insert(rails.end(), static_cast<std::size_t>(part * static_cast<double>(n)), c.rail);
        }
        rails.resize(n, all.front().rail);
        return rails;
    }

    const Knowledge rails_;
    InFlight flight_;
    std::vector<double> bandwidth_;
    std::uint64_t calls_ = 0;
    std::mt19937_64 random_;
};

} // namespace

void add_tent(std::vector<RuleMaker *> &all)
{
    static NamedMaker tent{
        "tent", "Mooncake TENT 3b5a594, transport/rdma/quota.cpp; arXiv 2604.00368",
        [](const Cluster &c, std::uint64_t seed) { return std::make_unique<Tent>(c, seed); }};
    all.push_back(&tent);
}

} // namespace fsbml::sim
