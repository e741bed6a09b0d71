// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// UCX's protocols over several lanes, as of 1.18 and later (read at 00b3fbb9).
//
// Eager messages take one lane (UCX_MAX_EAGER_RAILS=1), that of the best latency and overheads
// (ucp/wireup/select.c, ucp_wireup_am_score_func). A rendezvous takes those with at least 1/4 of the best
// bandwidth (UCX_MULTI_LANE_MAX_RATIO=4; ucp/proto/proto_multi.c, ucp_proto_multi_init), of them the two
// fastest (UCX_MAX_RNDV_RAILS=2), each with its share of the bandwidth; a lane's piece is at least 16 KiB
// times its bandwidth over the slowest's (UCX_MIN_RNDV_CHUNK_SIZE), if the message is long enough.
//
// Interpretations: lanes are in the order of the rails; UCX_RNDV_THRESH=auto is where the rendezvous, with a
// request and an answer on the eager lane before it, is estimated to be faster, given 1 % (UCX_RNDV_PERF_DIFF
// and ucp_proto_select); the simulated handshake itself costs nothing.
#include "rules.hpp"

#include <algorithm>
#include <limits>

namespace fsbml::sim
{

namespace
{

constexpr double kMaxRatio = 4.0;
constexpr double kPerfDiff = 0.01;
constexpr double kMinChunk = 16384.0;
constexpr double kMinBcopy = 64.0;

class Ucx final : public Rule
{
public:
    Ucx(const Cluster &cluster, std::size_t max_lanes) : rails_(cluster), max_lanes_(max_lanes) {}

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        const std::vector<int> lanes = bandwidth_lanes(whole.rails);
        if (!rendezvous(whole, lanes)) {
            out.push_back({whole.bytes, eager_lane(whole.rails)});
            return;
        }
        double slowest = std::numeric_limits<double>::max(), sum = 0.0;
        for (const int lane : lanes) {
            slowest = std::min(slowest, bandwidth(lane));
            sum += bandwidth(lane);
        }
        double weight = 0.0, chunks = 0.0;
        std::uint64_t offset = 0;
        for (const int lane : lanes) {
            weight += bandwidth(lane) / sum;
            chunks += std::max(kMinBcopy, bandwidth(lane) * kMinChunk / slowest);
            const double end = std::max(static_cast<double>(whole.bytes) * weight, chunks);
            const std::uint64_t most = whole.bytes - offset;
            const std::uint64_t bytes =
                lane == lanes.back() ? most : std::min(most, static_cast<std::uint64_t>(end) - offset);
            if (bytes > 0) {
                out.push_back({bytes, lane});
            }
            offset += bytes;
        }
    }

    int choose(const Situation &fragment) override { return eager_lane(fragment.rails); }

private:
    double bandwidth(int lane) const { return rails_.bandwidth(static_cast<std::size_t>(lane)); }

    int eager_lane(std::uint32_t mask) const
    {
        return least(rails_, mask, [&](std::size_t i) { return rails_.small(i); });
    }

    std::vector<int> bandwidth_lanes(std::uint32_t mask) const
    {
        std::vector<int> lanes = rails_.by_bandwidth(mask);
        const double best = bandwidth(lanes.front());
        lanes.erase(std::remove_if(lanes.begin(), lanes.end(),
                                   [&](int lane) { return bandwidth(lane) * kMaxRatio < best; }),
                    lanes.end());
        lanes.resize(std::min(lanes.size(), max_lanes_));
        std::sort(lanes.begin(), lanes.end());
        return lanes;
    }

    bool rendezvous(const Situation &whole, const std::vector<int> &lanes) const
    {
        const auto eager = static_cast<std::size_t>(eager_lane(whole.rails));
        const auto bytes = static_cast<double>(whole.bytes);
        double sum = 0.0, latency = 0.0, overheads = 0.0;
        for (const int lane : lanes) {
            const fsbml_loggp_t &p = rails_[static_cast<std::size_t>(lane)];
            sum += bandwidth(lane);
            latency = std::max(latency, p.L_ns);
            overheads += p.o_s_ns + p.o_r_ns;
        }
        const double handshake = 2.0 * rails_.small(eager);
        return (handshake + latency + overheads + bytes / sum) * (1.0 - kPerfDiff)
               < rails_.small(eager) + bytes / rails_.bandwidth(eager);
    }

    const Knowledge rails_;
    const std::size_t max_lanes_;
};

} // namespace

void add_ucx(std::vector<RuleMaker *> &all)
{
    static NamedMaker plain = maker<Ucx>(
        "ucx", "UCX 1.18, ucp/proto/proto_multi.c and ucp/core/ucp_context.c: defaults", std::size_t{2});
    static NamedMaker wide =
        maker<Ucx>("ucx-all-rails", "UCX 1.18, the same with UCX_MAX_RNDV_RAILS as many as there are",
                   std::numeric_limits<std::size_t>::max());
    all.insert(all.end(), {&plain, &wide});
}

} // namespace fsbml::sim
