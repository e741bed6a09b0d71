// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Two schedulers of Multipath TCP: the default one of Linux, and ECF.
//
// The subflow that has sent what is queued first, queued bytes over pacing rate, gets the next burst of up to
// 65428 bytes, without regard to latency; of equal ones, which all idle ones are, the first
// (net/mptcp/protocol.c, mptcp_subflow_get_send).
//
// Interpretations: the pacing rate is the bandwidth believed (avg_pacing_rate is a mean of rates, thus the
// same); a byte is queued until its NIC is done with it, where TCP waits for the acknowledgement; no send
// buffer is ever full.
//
// ECF, earliest completion first, a scheduler of Multipath TCP.
//
// The path f with the least round trip time is taken while its window has room. Otherwise the default
// scheduler offers another, s, and ECF rather waits for f if, with k bytes unsent and windows W,
//   RTT_f (1 + max(1, k/W_f)) < (1 + waiting * beta) (RTT_s + delta)   and
//   RTT_s max(1, k/W_s) >= 2 RTT_f + delta
// where delta is the larger deviation of the two RTTs, beta 1/4, and `waiting` 1 from a wait until the first
// of the two does not hold (mptcp_ecf.c, ecf_get_available_subflow).
//
// Interpretations: RTTs begin with 2 (o_s + L + o_r) and a fragment's gap, deviations with 0, and both follow
// what is measured as TCP does (RFC 6298); the way back is what is believed of it. A window is what the rail
// takes in its first RTT, a fragment at least: its bandwidth is told, and need not be found. A fragment is
// the component's quantum, where TCP has segments. A process that waits for f gives to f, busy as it is.
// Where no window has room, s is the path that has some first.
#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace fsbml::sim
{

namespace
{

constexpr std::uint64_t kBurst = 65536 - 20 - 40 - 40 - 8; // MPTCP_SEND_BURST_SIZE: 64 KiB less the headers

class Mptcp final : public Rule
{
public:
    explicit Mptcp(const Cluster &cluster) : rails_(cluster), flight_(rails_.size()) {}

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        cut_every(whole.bytes, kBurst, out);
    }

    int choose(const Situation &fragment) override
    {
        return least(rails_, fragment.rails, [&](std::size_t i) {
            return static_cast<double>(flight_.bytes(i)) / rails_.bandwidth(i); // the linger time
        });
    }

    void given(int rail, const Situation &fragment) override
    {
        flight_.add(rail, {fragment.peer, fragment.bytes, fragment.now, -1});
    }

    void sent(int rail, const Situation &fragment, Time) override { (void) flight_.take(rail, fragment); }

private:
    const Knowledge rails_;
    InFlight flight_;
};

constexpr double kBeta = 0.25;

class Ecf final : public FragmentRule
{
public:
    explicit Ecf(const Cluster &cluster)
        : FragmentRule(cluster), paths_(rails_.size()), flight_(rails_.size())
    {
        const std::uint64_t fragment = rails_.quantum(~std::uint32_t{0});
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            Path &p = paths_[i];
            p.back = rails_.small(i);
            p.rtt = 2.0 * p.back + rails_.gap(i, fragment);
            p.window = std::max(static_cast<double>(fragment), p.rtt * rails_.bandwidth(i));
        }
    }

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        FragmentRule::cut(whole, out);
        unsent_[whole.peer] += whole.bytes;
    }

    int choose(const Situation &fragment) override
    {
        std::uint64_t &unsent = unsent_[fragment.peer];
        const auto k = static_cast<double>(std::max(unsent, fragment.bytes));
        unsent -= std::min(unsent, fragment.bytes);

        const int f = least(rails_, fragment.rails, [&](std::size_t i) { return paths_[i].rtt; });
        if (room(f) > 0.0) {
            return f;
        }
        const int s = offered(fragment.rails);
        return s == f || waits(path(f), path(s), k) ? f : s;
    }

    void given(int rail, const Situation &fragment) override
    {
        flight_.add(rail, {fragment.peer, fragment.bytes, fragment.now, -1});
    }

    void sent(int rail, const Situation &fragment, Time when) override
    {
        if (const std::optional<InFlight::Entry> entry = flight_.take(rail, fragment)) {
            Path &p = path(rail);
            const auto i = static_cast<std::size_t>(rail);
            // o_s is before it is given
            const double round =
                rails_[i].o_s_ns + ns(when - entry->since) + (p.back - rails_[i].o_s_ns) + p.back;
            p.deviation += (std::abs(round - p.rtt) - p.deviation) / 4.0;
            p.rtt += (round - p.rtt) / 8.0;
        }
    }

private:
    struct Path {
        double rtt = 0.0, deviation = 0.0, window = 0.0, back = 0.0;
    };

    Path &path(int rail) { return paths_[static_cast<std::size_t>(rail)]; }

    double room(int rail)
    {
        return path(rail).window - static_cast<double>(flight_.bytes(static_cast<std::size_t>(rail)));
    }

    int offered(std::uint32_t mask)
    {
        std::uint32_t open = 0;
        for (const int rail : rails_.in(mask)) {
            open |= room(rail) > 0.0 ? std::uint32_t{1} << rail : 0;
        }
        if (0 != open) {
            return least(rails_, open, [&](std::size_t i) { return paths_[i].rtt; });
        }
        return least(rails_, mask,
                     [&](std::size_t i) { return -room(static_cast<int>(i)) / rails_.bandwidth(i); });
    }

    bool waits(const Path &f, const Path &s, double k)
    {
        const double delta = std::max(f.deviation, s.deviation);
        const double waiting = waiting_ ? 1.0 : 0.0;
        if (f.rtt * (1.0 + std::max(1.0, k / f.window)) < (1.0 + waiting * kBeta) * (s.rtt + delta)) {
            if (s.rtt * std::max(1.0, k / s.window) >= 2.0 * f.rtt + delta) {
                waiting_ = true;
                return true;
            }
            return false;
        }
        waiting_ = false;
        return false;
    }

    std::vector<Path> paths_;
    InFlight flight_;
    std::map<std::uint32_t, std::uint64_t> unsent_; // bytes by peer that wait for a decision
    bool waiting_ = false;
};

} // namespace

void add_mptcp(std::vector<RuleMaker *> &all)
{
    static NamedMaker mptcp =
        maker<Mptcp>("mptcp-linger", "Linux 6.6 and later, net/mptcp/protocol.c, mptcp_subflow_get_send");
    all.push_back(&mptcp);
}

void add_ecf(std::vector<RuleMaker *> &all)
{
    static NamedMaker ecf = maker<Ecf>("ecf", "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017; mptcp_ecf.c");
    all.push_back(&ecf);
}

} // namespace fsbml::sim
