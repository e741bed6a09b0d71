// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Open MPI's r2 and ob1 over tcp, as in 5.0.7 (4.1.4 does the same).
//
// r2 sorts a peer's rails by bandwidth, weighs each by its share of the sum, and takes those of the least
// configured latency for eager messages (bml_r2.c, mca_bml_r2_compute_endpoint_metrics).
// ob1 takes these in turn by mca_bml_base_btl_array_get_next (bml.h), but asks twice for each message: once
// in mca_pml_ob1_send_inline, which gives up as tcp has no btl_sendi (pml_ob1_isend.c), and again in
// mca_pml_ob1_send_request_start_seq (pml_ob1_sendreq.h). With two rails, each message gets the second one.
// A long message is shared by weight (pml_ob1.c, mca_pml_ob1_calc_weighted_length: what is left goes to the
// next rail whole once it is within the eager limit), and each share is sent in fragments, a rail after
// another (pml_ob1_sendreq.c, mca_pml_ob1_send_request_schedule_once).
//
// Interpretations: bandwidths are those believed, where tcp would ask ethtool; headers have no length;
// the handshake and its answer cost nothing but the two turns that the handshake takes.
#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace fsbml::sim
{

namespace
{

constexpr std::uint64_t kEagerLimit = 65536; // btl_tcp_component.c
constexpr std::uint64_t kMaxSend = 131072;
constexpr std::size_t kMaxPerRange = 4; // pml_ob1_component.c, max_send_per_range

class Ob1 final : public Rule
{
public:
    Ob1(const Cluster &cluster, bool latency_told) : rails_(cluster), latency_told_(latency_told) {}

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        if (whole.bytes <= kEagerLimit) {
            out.push_back({whole.bytes, -1});
            return;
        }
        eager(whole); // the handshake
        std::vector<Share> shares = share(whole);
        for (std::uint64_t i = 0, left = whole.bytes; left > 0; i = (i + 1) % shares.size()) {
            const std::uint64_t bytes = std::min(shares[i].length, kMaxSend);
            if (bytes > 0) {
                out.push_back({bytes, shares[i].rail});
                shares[i].length -= bytes;
                left -= bytes;
            }
        }
    }

    int choose(const Situation &fragment) override { return eager(fragment); }

private:
    struct Share {
        int rail;
        std::uint64_t length;
    };
    struct Turns {
        std::size_t eager = 0, send = 0; // arr_index of btl_eager and btl_send
    };

    // mca_bml_base_btl_array_get_next
    static int next(const std::vector<int> &array, std::size_t &index)
    {
        if (1 == array.size()) {
            return array.front();
        }
        const std::size_t now = index < array.size() ? index : 0;
        index = now + 1 == array.size() ? 0 : now + 1;
        return array[now];
    }

    // btl_latency is in whole us.
    long long latency(int rail) const
    {
        return latency_told_ ? std::llround(rails_[static_cast<std::size_t>(rail)].L_ns / 1e3) : 100;
    }

    int eager(const Situation &s)
    {
        const std::vector<int> all = rails_.by_bandwidth(s.rails);
        long long lowest = latency(all.front());
        for (const int rail : all) {
            lowest = std::min(lowest, latency(rail));
        }
        std::vector<int> array;
        std::copy_if(all.begin(), all.end(), std::back_inserter(array),
                     [&](int rail) { return latency(rail) == lowest; });
        std::size_t &index = turns_[s.peer].eager;
        (void) next(array, index);
        return next(array, index);
    }

    std::vector<Share> share(const Situation &whole)
    {
        const std::vector<int> array = rails_.by_bandwidth(whole.rails);
        std::vector<int> chosen;
        double total = 0.0;
        while (chosen.size() < std::min(array.size(), kMaxPerRange)) {
            chosen.push_back(next(array, turns_[whole.peer].send));
            total += rails_.bandwidth(static_cast<std::size_t>(chosen.back()));
        }
        std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) {
            return rails_.bandwidth(static_cast<std::size_t>(a))
                   > rails_.bandwidth(static_cast<std::size_t>(b));
        });
        std::vector<Share> shares;
        std::uint64_t left = whole.bytes;
        for (const int rail : chosen) {
            const double weight = rails_.bandwidth(static_cast<std::size_t>(rail)) / total;
            const auto part = static_cast<std::uint64_t>(static_cast<double>(whole.bytes) * weight);
            const std::uint64_t length = left > kEagerLimit ? std::min(part, left) : left;
            shares.push_back({rail, length});
            left -= length;
        }
        shares.front().length += left;
        return shares;
    }

    const Knowledge rails_;
    const bool latency_told_;
    std::map<std::uint32_t, Turns> turns_; // by peer: each endpoint has its own arrays
};

} // namespace

void add_ob1(std::vector<RuleMaker *> &all)
{
    static NamedMaker plain = maker<Ob1>(
        "ob1", "Open MPI 5.0.7, bml/r2 and pml/ob1 over btl/tcp: one latency for all rails", false);
    static NamedMaker told =
        maker<Ob1>("ob1-latency", "Open MPI 5.0.7, the same with btl_tcp_latency_<if> set to L", true);
    all.insert(all.end(), {&plain, &told});
}

} // namespace fsbml::sim
