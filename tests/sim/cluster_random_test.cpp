// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What holds on any cluster for any traffic: nothing is lost or doubled, and neither a processor nor a NIC
// does two things at once. Then, a large job.
#include "cluster_job.hpp"

#include "../unit/model.hpp"
#include "sim/rules/rules.hpp"

#include "../unit/test.hpp"

#include <chrono>

#include <sys/resource.h>

namespace fsbml::sim
{

namespace
{

class Dice
{
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }
    bool chance(double share) { return real() < share; }
    double real() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    double between(double low, double high) { return low * std::pow(high / low, real()); }

private:
    std::mt19937_64 random_;
};

// Any rail that joins the two, and now and then a cut into a few pieces.
class RandomRules final : public RuleMaker
{
public:
    const char *name() const override { return "random"; }
    const char *source() const override { return "tests"; }
    std::unique_ptr<Rule> make(const Cluster & /*cluster*/, std::uint32_t /*rank*/,
                               std::uint64_t seed) override
    {
        return std::make_unique<Any>(seed, sent);
    }

    std::uint64_t sent = 0;

private:
    class Any final : public Rule
    {
    public:
        Any(std::uint64_t seed, std::uint64_t &sent) : dice_(seed), sent_(sent) {}
        void cut(const Situation &whole, std::vector<Piece> &out) override
        {
            std::uint64_t left = whole.bytes;
            while (left > 1 && dice_.chance(0.4)) {
                out.push_back({dice_.below(left), dice_.chance(0.5) ? choose(whole) : -1});
                left -= out.back().bytes;
            }
            out.push_back({left, -1});
        }
        int choose(const Situation &s) override
        {
            int rail = 0;
            do {
                rail = static_cast<int>(dice_.below(32));
            } while (0 == (s.rails >> rail & 1U));
            return rail;
        }
        void sent(int /*rail*/, const Situation & /*fragment*/, Time /*when*/) override { ++sent_; }

    private:
        Dice dice_;
        std::uint64_t &sent_;
    };
};

struct Job {
    Cluster cluster;
    std::vector<std::vector<Op>> process;
    std::uint64_t messages = 0;
    bool plain = false; // no rail changes or jitters, none has a bucket, and no link lies between
};

fsbml_loggp_t random_model(Dice &dice, bool plain)
{
    fsbml_loggp_t p = loggp(dice.between(100, 1e5), dice.between(10, 1e4), dice.between(10, 1e4),
                            dice.between(10, 1e4), dice.between(0.01, 100));
    p.O_s_ns_per_byte = dice.chance(0.5) ? dice.between(0.01, 1) : 0.0;
    p.O_r_ns_per_byte = dice.chance(0.5) ? dice.between(0.01, 1) : 0.0;
    p.burst_ns = !plain && dice.chance(0.3) ? dice.between(1e3, 1e5) : 0.0;
    return p;
}

Cluster random_cluster(Dice &dice, bool plain)
{
    std::vector<fsbml_loggp_t> models(1 + dice.below(4));
    for (fsbml_loggp_t &p : models) {
        p = random_model(dice, plain);
    }
    Cluster c = cluster_of(models, 2 + dice.below(4), 1 + dice.below(3));
    c.full_duplex = dice.chance(0.5);
    for (std::uint32_t r = 0; r < c.rails.size(); ++r) {
        RailSpec &rail = c.rails[r];
        rail.queue = dice.chance(0.5) ? 1 + dice.below(4) : 0;
        for (std::uint32_t node = 0; r > 0 && node < c.nodes; ++node) { // all have the first one
            if (dice.chance(0.7)) {
                rail.nodes.push_back(node);
            }
        }
        if (plain) {
            continue;
        }
        rail.jitter = dice.chance(0.5) ? dice.between(0.01, 1.0) : 0.0;
        if (dice.chance(0.3)) {
            rail.changes = {{us(100), dice.between(1.0, 10.0)}, {us(1000), 1.0}};
        }
        if (dice.chance(0.3)) {
            c.bottlenecks.push_back(
                {r, {dice.below(c.nodes)}, dice.between(0.01, 100), dice.chance(0.5) ? 70000U : 0U, us(500)});
        }
    }
    return c;
}

// In each phase all send first, so that no rank waits for one that waits. A rank receives from any rank
// throughout, or never.
Job random_job(std::uint64_t seed)
{
    Dice dice(seed);
    Job job;
    job.plain = dice.chance(0.5);
    job.cluster = random_cluster(dice, job.plain);
    const std::uint32_t ranks = job.cluster.nodes * job.cluster.ranks_per_node;
    job.process.resize(ranks);
    std::vector<bool> from_anybody;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        from_anybody.push_back(dice.chance(0.5));
    }
    for (std::uint32_t phase = 1 + dice.below(3); phase > 0; --phase) {
        std::vector<std::vector<Op>> receives(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            for (std::uint32_t n = dice.below(12); n > 0; --n, ++job.messages) {
                const std::uint32_t peer = dice.below(ranks);
                job.process[rank].push_back(send(peer, static_cast<std::uint64_t>(dice.between(1, 2e5)) - 1));
                receives[peer].push_back(recv(from_anybody[peer] ? kAnyPeer : rank));
                if (dice.chance(0.2)) {
                    job.process[rank].push_back(dice.chance(0.5) ? compute(us(dice.between(1, 100)))
                                                                 : until(us(dice.between(1, 1000))));
                }
            }
        }
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            std::vector<Op> &r = receives[rank];
            for (std::size_t i = r.size(); i > 1; --i) {
                std::swap(r[i - 1], r[dice.below(i)]);
            }
            job.process[rank].insert(job.process[rank].end(), r.begin(), r.end());
        }
    }
    return job;
}

struct Span {
    Time from, to;
    bool operator<(const Span &other) const { return from != other.from ? from < other.from : to < other.to; }
};

// How many overlap their predecessor.
std::size_t overlaps(std::vector<Span> spans)
{
    std::sort(spans.begin(), spans.end());
    std::size_t n = 0;
    for (std::size_t i = 1; i < spans.size(); ++i) {
        n += spans[i].from < spans[i - 1].to ? 1 : 0;
    }
    return n;
}

Time ps(double ns)
{
    return std::llround(1e3 * ns);
}

double steps(const Passage &p)
{
    return p.bytes > 1 ? static_cast<double>(p.bytes - 1) : 0.0;
}

Time gap(const fsbml_loggp_t &r, const Passage &p)
{
    return ps(r.g_ns + r.G_ns_per_byte * steps(p));
}

void check_passages(const Job &job, const Outcome &o)
{
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    std::map<std::uint32_t, std::vector<Span>> processor;
    std::map<Key, std::vector<Span>> nic, receiving; // by node and rail
    std::map<std::uint64_t, std::uint64_t> bytes;    // by message
    const std::uint32_t nodes = job.cluster.nodes;
    for (const Passage &p : o.passages) {
        const fsbml_loggp_t &r = job.cluster.rails[p.rail].real;
        const Time o_s = ps(r.o_s_ns + r.O_s_ns_per_byte * steps(p));
        const Time o_r = ps(r.o_r_ns + r.O_r_ns_per_byte * steps(p));
        ASSERT_LE(p.given + o_s, p.begins);
        ASSERT_LE(p.begins, p.ends);
        ASSERT_LE(p.begins + ps(r.L_ns), p.arrives);
        ASSERT_LE(p.arrives + o_r, p.received);
        processor[p.from].push_back({p.given, p.given + o_s});
        processor[p.to].push_back({p.received - o_r, p.received});
        nic[{p.from % nodes, p.rail}].push_back({p.begins, p.ends});
        if (job.plain) {
            ASSERT_EQ(p.ends - p.begins, gap(r, p));
            const Time whole = p.arrives + ps(r.g_ns);
            auto &there = job.cluster.full_duplex ? receiving : nic;
            there[{p.to % nodes, p.rail}].push_back({whole - gap(r, p), whole});
        }
        bytes[p.message] += p.bytes;
    }
    for (const auto &[rank, spans] : processor) {
        EXPECT_EQ(overlaps(spans), 0U) << "processor of rank " << rank;
    }
    for (const auto *side : {&nic, &receiving}) {
        for (const auto &[at, spans] : *side) {
            EXPECT_EQ(overlaps(spans), 0U) << "NIC of node " << at.first << ", rail " << at.second;
        }
    }
    std::uint64_t sent = 0, across = 0, fragments = 0;
    for (std::uint32_t rank = 0; rank < job.process.size(); ++rank) {
        for (const Op &op : job.process[rank]) {
            const bool goes = Op::Kind::send == op.kind && op.peer % nodes != rank % nodes;
            sent += goes ? op.bytes : 0;
            across += goes ? 1 : 0;
        }
    }
    for (const auto &[message, sum] : bytes) {
        sent -= sum;
    }
    EXPECT_EQ(sent, 0U);
    EXPECT_EQ(bytes.size(), across);
    for (const RailOutcome &rail : o.rails) {
        fragments += rail.messages;
    }
    EXPECT_EQ(fragments, o.passages.size());
    EXPECT_EQ(fragments, o.decisions);
}

bool same(const Outcome &a, const Outcome &b)
{
    const auto alike = [](const Passage &p, const Passage &q) {
        return p.rail == q.rail && p.given == q.given && p.arrives == q.arrives && p.received == q.received;
    };
    return a.done == b.done
           && std::equal(a.passages.begin(), a.passages.end(), b.passages.begin(), b.passages.end(), alike);
}

} // namespace

TEST(ClusterRandom, NothingIsLostAndNobodyDoesTwoThingsAtOnce)
{
    std::uint64_t retransmitted = 0, differ = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Job job = random_job(seed);
        RandomRules rules;
        const Outcome o = run(job.cluster, job.process, rules, seed);
        EXPECT_EQ(o.sent, job.messages);
        EXPECT_EQ(o.received, job.messages);
        EXPECT_EQ(o.undelivered, 0U);
        EXPECT_EQ(rules.sent, o.decisions);
        EXPECT_EQ(std::count(o.done.begin(), o.done.end(), kNever), 0);
        EXPECT_LE(*std::max_element(o.done.begin(), o.done.end()), o.makespan);
        check_passages(job, o);
        EXPECT_TRUE(same(o, run(job.cluster, job.process, rules, seed)));
        differ += same(o, run(job.cluster, job.process, rules, seed + 1)) ? 0 : 1;
        for (const RailOutcome &rail : o.rails) {
            retransmitted += rail.retransmitted;
        }
    }
    EXPECT_GT(retransmitted, 100U); // the seeds do cover it
    EXPECT_GT(differ, 350U);
}

// A rank that answers each message of one sender does so when it and all before it are whole, and at once if
// the processor is free.
TEST(ClusterRandom, ReceivesAreInOrder)
{
    std::size_t overtaken = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        Cluster c = random_cluster(dice, false);
        std::vector<std::vector<Op>> process(2);
        for (int i = 0; i < 20; ++i) {
            process[0].push_back(send(1, dice.below(100000)));
            process[1].push_back(recv(0 == seed % 2 ? 0 : kAnyPeer));
            process[1].push_back(send(0, 1));
        }
        RandomRules rules;
        const Outcome o = run(c, process, rules, seed);
        std::vector<Time> whole, answered; // by the order of sending
        std::map<std::uint64_t, Time> received;
        for (const Passage &p : o.passages) {
            if (0 == p.from) {
                received[p.message] = std::max(received[p.message], p.received);
            } else if (answered.size() < 20) {
                answered.push_back(p.given);
            }
        }
        for (const auto &[number, time] : received) {
            whole.push_back(time);
        }
        ASSERT_EQ(whole.size(), 20U);
        ASSERT_EQ(answered.size(), 20U);
        Time all = 0;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            overtaken += whole[i] < all ? 1 : 0;
            all = std::max(all, whole[i]);
            EXPECT_GE(answered[i], all) << "message " << i;
        }
    }
    EXPECT_GT(overtaken, 100U);
}

// 10 000 processes and four unlike rails; what it took is in the test's output.
TEST(ClusterRandom, TenThousandProcesses)
{
    constexpr std::uint32_t ranks = 10000, messages = 16;
    Cluster c = cluster_of({loggp(1e3, 200, 200, 50, 0.08), loggp(1500, 200, 200, 50, 0.16),
                            loggp(5e3, 500, 500, 200, 0.32), loggp(20e3, 2e3, 2e3, 1e3, 0.8)},
                           ranks / 16, 16);
    c.ledger = true;
    Dice dice(1);
    std::vector<std::vector<Op>> process(ranks);
    for (std::uint32_t m = 0; m < messages; ++m) {
        const std::uint32_t away = 1 + dice.below(ranks - 1);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            process[rank].push_back(
                send((rank + away) % ranks, static_cast<std::uint64_t>(dice.between(64, 3e5))));
        }
    }
    for (std::vector<Op> &ops : process) {
        ops.resize(2 * messages, recv(kAnyPeer));
    }
    const Workload workload{"scattered", process};
    FsbmlRules rules;
    Simulation s;
    s.cluster = &c;
    s.workload = &workload;
    s.rules = &rules;
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const auto start = std::chrono::steady_clock::now();
    const Outcome o = simulate(s);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    getrusage(RUSAGE_SELF, &after);
    std::printf("%llu decisions in %.2f s: %.0f a second; %.0f bytes a process beyond its workload\n",
                static_cast<unsigned long long>(o.decisions), took.count(),
                static_cast<double>(o.decisions) / took.count(),
                1024.0 * static_cast<double>(after.ru_maxrss - before.ru_maxrss) / ranks);
    EXPECT_EQ(o.received, std::uint64_t{ranks} * messages);
    EXPECT_GE(o.decisions, o.sent * 9 / 10);
    std::uint64_t fragments = 0;
    for (const RailOutcome &rail : o.rails) {
        EXPECT_GT(rail.messages, 0U);
        fragments += rail.messages;
    }
    EXPECT_EQ(fragments, o.decisions);
}

} // namespace fsbml::sim
