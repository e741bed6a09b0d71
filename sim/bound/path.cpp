// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>

namespace fsbml::sim::bound
{

namespace
{

constexpr Ps kUnknown = -1;
constexpr std::size_t kCuts = 16;  // of a run, by when its messages begin
constexpr std::size_t kLook = 512; // messages that groups look back, beside those of the run

struct Process {
    Ps clock = 0;
    std::size_t step = 0;
    std::uint32_t waits_for = kNone; // a message that has not begun
    bool waits_for_any = false;
    std::priority_queue<Ps, std::vector<Ps>, std::greater<>> loose; // arrivals that an `any` may take
    std::vector<std::uint32_t> taken, sent;
    std::vector<std::size_t> runs; // where in `taken` each run begins
    bool receiving = false;
    Ps since = 0, work = 0; // the last place where groups were looked at, and the processor's work from there
    std::vector<Ps> busy;   // by step: `time` of those before it
};

class Pass
{
public:
    Pass(const Graph &graph, const Costs &costs);
    Earliest run();

private:
    void advance(std::uint32_t p);
    bool take_any(Process &a, std::uint32_t p);
    void begin(std::uint32_t message, Ps at);
    void receive(Process &a, std::uint32_t message);
    void synchronise(Process &a);
    void received_by(Process &a, std::size_t look);
    void received_late(Process &a);
    void received_from(Process &a, std::size_t look);
    void answered(Process &a, std::size_t look);
    void worked(Process &a);
    bool local(const Message &m) const { return costs_[m.kind].rails == 0; }
    Ps arrival(std::uint32_t m) const { return result_.start[m] + costs_[graph_.messages[m].kind].idle; }
    void raise(Process &a, Ps from, const Common &common, Ps tail = 0)
    {
        a.clock = std::max(a.clock, from + fill_.cached(tally_.parts(), common) + tail);
    }

    const Graph &graph_;
    const Costs &costs_;
    Fill fill_;
    Tally tally_;
    Earliest result_;
    std::vector<Process> processes_;
    std::vector<Ps> tail_;            // by message: from its delivery to that of its answer
    std::vector<std::uint32_t> last_; // by sender, of the run
    using Turn = std::pair<Ps, std::uint32_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
};

Pass::Pass(const Graph &graph, const Costs &costs)
    : graph_(graph), costs_(costs), fill_(costs), tally_(costs.kinds()), processes_(graph.process.size()),
      tail_(graph.messages.size(), kUnknown), last_(graph.process.size(), kNone)
{
    result_.start.assign(graph.messages.size(), kUnknown);
    for (std::uint32_t p = 0; p < processes_.size(); ++p) {
        Ps busy = 0;
        for (const Step &s : graph.process[p]) {
            processes_[p].busy.push_back(busy);
            busy += s.kind == Step::Kind::until ? 0 : s.time;
        }
        turns_.push({0, p});
    }
}

Earliest Pass::run()
{
    while (!turns_.empty()) {
        const std::uint32_t p = turns_.top().second;
        turns_.pop();
        advance(p);
    }
    for (std::size_t p = 0; p < processes_.size(); ++p) {
        if (processes_[p].step < graph_.process[p].size()) {
            throw std::runtime_error("bound: rank " + std::to_string(p) + " waits for ever");
        }
        result_.last = std::max(result_.last, processes_[p].clock);
    }
    return std::move(result_);
}

void Pass::advance(std::uint32_t p)
{
    Process &a = processes_[p];
    const std::vector<Step> &steps = graph_.process[p];
    for (; a.step < steps.size(); ++a.step) {
        const Step &s = steps[a.step];
        const bool receives = s.kind == Step::Kind::receive || s.kind == Step::Kind::any;
        if (a.receiving && !receives) {
            synchronise(a);
        }
        if (s.kind == Step::Kind::receive) {
            if (result_.start[s.message] < 0) {
                a.waits_for = s.message;
                return;
            }
            a.clock = std::max(a.clock + s.time, arrival(s.message));
            receive(a, s.message);
        } else if (s.kind == Step::Kind::any) {
            if (!take_any(a, p)) {
                return;
            }
        } else if (s.kind == Step::Kind::send) {
            begin(s.message, a.clock);
            a.sent.push_back(s.message);
            a.clock += s.time;
        } else if (s.kind == Step::Kind::release) {
            for (const std::uint32_t m : graph_.loose[p]) {
                begin(m, a.clock);
            }
        } else if (s.kind == Step::Kind::until) {
            a.clock = std::max(a.clock, s.time);
        } else {
            a.clock += s.time;
        }
        a.work += s.kind == Step::Kind::until ? 0 : s.time;
    }
    if (a.receiving) {
        synchronise(a);
    }
}

// The k-th `any` is over no sooner than the k-th of those that it may take arrives. Nothing that is still to
// begin can arrive before the least of the clocks.
bool Pass::take_any(Process &a, std::uint32_t p)
{
    if (a.loose.empty()) {
        a.waits_for_any = true;
        return false;
    }
    const Ps then = a.loose.top();
    if (then > a.clock && !turns_.empty() && turns_.top().first < then) {
        turns_.push({then, p});
        return false;
    }
    a.loose.pop();
    a.clock = std::max(a.clock, then);
    return true;
}

void Pass::begin(std::uint32_t message, Ps at)
{
    result_.start[message] = at;
    const Ps there = arrival(message);
    result_.last = std::max(result_.last, there);
    const Message &m = graph_.messages[message];
    Process &to = processes_[m.to];
    if (to.waits_for == message) {
        to.waits_for = kNone;
        turns_.push({std::max(to.clock, there), m.to});
    } else if (m.receive_step == kNone) {
        to.loose.push(there);
        if (to.waits_for_any) {
            to.waits_for_any = false;
            turns_.push({std::max(to.clock, there), m.to});
        }
    }
}

void Pass::receive(Process &a, std::uint32_t message)
{
    if (!a.receiving) {
        a.receiving = true;
        a.runs.push_back(a.taken.size());
    }
    a.taken.push_back(message);
}

void Pass::synchronise(Process &a)
{
    a.receiving = false;
    const std::size_t look = kLook + 2 * (a.taken.size() - a.runs.back());
    received_by(a, look);
    received_late(a);
    received_from(a, look);
    answered(a, look);
    worked(a);
    a.since = a.clock;
    a.work = 0;
}

void Pass::received_by(Process &a, std::size_t look)
{
    tally_.clear();
    Ps from = std::numeric_limits<Ps>::infinity();
    bool one_sender = true;
    std::uint32_t sender = kNone;
    std::size_t runs = 1;
    for (std::size_t back = 1; back <= a.runs.size(); ++back) {
        const std::size_t begin = a.runs[a.runs.size() - back];
        const std::size_t end = back == 1 ? a.taken.size() : a.runs[a.runs.size() - back + 1];
        if (back > 1 && a.taken.size() - begin > look) {
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const Message &m = graph_.messages[a.taken[i]];
            if (local(m)) {
                continue;
            }
            tally_.add(m.kind);
            from = std::min(from, result_.start[a.taken[i]]);
            one_sender = one_sender && (sender == kNone || m.from == sender);
            sender = m.from;
        }
        if (back == runs) {
            runs *= 2;
            if (tally_.messages() > 1 && !one_sender) { // else received_from() knows better
                raise(a, from, {false, true, false});
            }
        }
    }
}

// Of those from all senders, those alone that begin late.
void Pass::received_late(Process &a)
{
    std::vector<std::pair<Ps, std::uint32_t>> late; // start, kind
    for (std::size_t i = a.runs.back(); i < a.taken.size(); ++i) {
        const Message &m = graph_.messages[a.taken[i]];
        if (!local(m)) {
            late.emplace_back(result_.start[a.taken[i]], m.kind);
        }
    }
    std::sort(late.begin(), late.end(), std::greater<>());
    tally_.clear();
    for (std::size_t i = 0; i + 1 < late.size(); ++i) {
        tally_.add(late[i].second);
        const std::size_t early = late.size() - i - 1;
        const bool cut = late.size() <= kCuts || (early & (early - 1)) == 0;
        if (i > 0 && cut && late[i].first > late[i + 1].first) {
            raise(a, late[i].first, {false, true, false});
        }
    }
}

void Pass::received_from(Process &a, std::size_t look)
{
    std::vector<std::uint32_t> senders;
    for (std::size_t i = a.runs.back(); i < a.taken.size(); ++i) {
        const Message &m = graph_.messages[a.taken[i]];
        if (local(m)) {
            continue;
        }
        if (last_[m.from] == kNone) {
            senders.push_back(m.from);
        }
        last_[m.from] = a.taken[i];
    }
    std::size_t looked = 0;
    for (const std::uint32_t sender : senders) {
        std::uint32_t m = last_[sender];
        last_[sender] = kNone;
        tally_.clear();
        std::size_t changes = 0, next = 1;
        while (m != kNone && looked < look) {
            const Message &it = graph_.messages[m];
            tally_.add(it.kind);
            ++looked;
            const bool first = it.before == kNone || graph_.messages[it.before].run != it.run;
            if (first && (++changes == next || it.before == kNone)) {
                next = changes == next ? 2 * next : next;
                if (tally_.messages() > 1) {
                    raise(a, result_.start[m], {true, true, false});
                }
            }
            m = it.before;
        }
    }
}

void Pass::answered(Process &a, std::size_t look)
{
    bool news = false;
    for (std::size_t i = a.runs.back(); i < a.taken.size(); ++i) {
        const Message &answer = graph_.messages[a.taken[i]];
        const std::vector<Ps> &busy = processes_[answer.from].busy;
        for (std::uint32_t m = answer.answers; m != kNone && tail_[m] < 0; m = graph_.messages[m].before) {
            const Step &received = graph_.process[answer.from][graph_.messages[m].receive_step];
            tail_[m] = busy[answer.send_step] - busy[graph_.messages[m].receive_step] - received.time
                       + costs_[answer.kind].idle;
            news = true;
        }
    }
    if (!news) {
        return;
    }
    tally_.clear();
    Ps tail = std::numeric_limits<Ps>::infinity(), from = 0;
    std::size_t changes = 0, next = 1, looked = 0;
    for (std::size_t i = a.sent.size(); i-- > 0 && looked < look; ++looked) {
        const std::uint32_t m = a.sent[i];
        if (tail_[m] >= 0 && !local(graph_.messages[m])) {
            tally_.add(graph_.messages[m].kind);
            tail = std::min(tail, tail_[m]);
            from = result_.start[m];
        }
        const bool first = i == 0 || graph_.messages[a.sent[i - 1]].run != graph_.messages[m].run;
        if (first && (++changes == next || i == 0)) {
            next = changes == next ? 2 * next : next;
            if (tally_.messages() > 1) {
                raise(a, from, {true, false, false}, tail);
            }
        }
    }
}

// Between the last such place and this one its processor has done these steps and, with time running on, has
// taken in what began after it. (Back in time, what it takes in it may take in before.)
void Pass::worked(Process &a)
{
    Ps taken_in = 0;
    for (std::size_t i = a.runs.back(); i < a.taken.size() && !graph_.backward; ++i) {
        if (result_.start[a.taken[i]] >= a.since) {
            taken_in += costs_[graph_.messages[a.taken[i]].kind].least_in;
        }
    }
    a.clock = std::max(a.clock, a.since + a.work + taken_in);
}

} // namespace

Earliest earliest(const Graph &graph, const Costs &costs)
{
    return Pass(graph, costs).run();
}

} // namespace fsbml::sim::bound
