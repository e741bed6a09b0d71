// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The default scheduler of Multipath TCP in Linux.
//
// The subflow that has sent what is queued first, queued bytes over pacing rate, gets the next burst of up to
// 65428 bytes, without regard to latency; of equal ones, which all idle ones are, the first
// (net/mptcp/protocol.c, mptcp_subflow_get_send).
//
// Interpretations: the pacing rate is the bandwidth believed (avg_pacing_rate is a mean of rates, thus the
// same); a byte is queued until its NIC is done with it, where TCP waits for the acknowledgement; no send
// buffer is ever full.
#include "common.hpp"

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

} // namespace

void add_mptcp(std::vector<RuleMaker *> &all)
{
    static NamedMaker maker{"mptcp-linger",
                            "Linux 6.6 and later, net/mptcp/protocol.c, mptcp_subflow_get_send",
                            [](const Cluster &c, std::uint32_t, std::uint64_t) -> std::unique_ptr<Rule> {
                                return std::make_unique<Mptcp>(c);
                            }};
    all.push_back(&maker);
}

} // namespace fsbml::sim
