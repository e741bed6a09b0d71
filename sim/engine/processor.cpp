// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "engine.hpp"

#include <algorithm>

namespace fsbml::sim::engine
{

namespace
{

constexpr std::size_t kKeptPieces = 64; // of a message that was sent: room for the next one's

[[noreturn]] void blame(const RuleMaker &rules, const std::string &what)
{
    throw std::logic_error(std::string("rule ") + rules.name() + ": " + what);
}

} // namespace

Processors::Processors(const Simulation &simulation)
    : job_(simulation), network_(*job_.cluster, job_.seed, events_, fragments_, *this),
      mailbox_(job_.workload->process.size()), processes_(job_.workload->process.size())
{
    outcome_.done.assign(processes_.size(), kNever);
    make_rules();
}

void Processors::make_rules()
{
    for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
        const std::vector<Op> &ops = job_.workload->process[rank];
        const bool sends =
            std::any_of(ops.begin(), ops.end(), [](const Op &op) { return Op::Kind::send == op.kind; });
        if (sends || job_.rendezvous.above > 0) { // receivers answer
            processes_[rank].rule = job_.rules->make(*job_.cluster, rank, mixed(~job_.seed, rank));
        }
    }
}

Outcome Processors::run()
{
    for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
        events_.plan(0, What::wake, rank);
    }
    while (!events_.empty()) {
        const Event event = events_.next();
        switch (event.what) {
        case What::processor:
            finish(event.id);
            break;
        case What::wake:
            go_on(event.id);
            break;
        default:
            network_.handle(event);
        }
    }
    outcome_.sent = mailbox_.sent();
    outcome_.received = mailbox_.taken_in();
    outcome_.undelivered = outcome_.sent - outcome_.received;
    for (std::uint32_t r = 0; r < job_.cluster->rails.size(); ++r) {
        outcome_.rails.push_back(network_.outcome(r));
    }
    check_stuck();
    return std::move(outcome_);
}

// ----------------------------------------------------------------- the flow

// It has done what it was at.
void Processors::finish(std::uint32_t rank)
{
    Process &p = processes_[rank];
    const Doing was = p.doing;
    p.doing = Doing::nothing;
    switch (was) {
    case Doing::sending:
        network_.enter(p.fragment);
        sent_piece(rank, job_.workload->process[rank][p.next_op]);
        break;
    case Doing::sending_rest:
        network_.enter(p.fragment);
        if (p.answered.front().pieces.size() == ++p.answered.front().next_piece) {
            p.answered.pop_front();
        }
        break;
    case Doing::answering:
        network_.enter(p.fragment);
        break;
    case Doing::taking_in: {
        const Fragment &f = fragments_[p.fragment];
        if (f.answer) {
            const auto rest = p.awaiting.find(f.message);
            p.answered.push_back(std::move(rest->second));
            p.awaiting.erase(rest);
            network_.release(p.fragment);
            break;
        }
        if (job_.keep_passages) {
            outcome_.passages[f.passage].received = events_.now();
        }
        if (mailbox_.fragment(f.message)) {
            outcome_.makespan = events_.now();
        }
        network_.release(p.fragment);
        break;
    }
    case Doing::computing:
        ++p.next_op;
        break;
    case Doing::nothing:
        break;
    }
    go_on(rank);
}

// As far as it gets without its processor; then takes in what has arrived.
void Processors::go_on(std::uint32_t rank)
{
    Process &p = processes_[rank];
    const std::vector<Op> &ops = job_.workload->process[rank];
    if (Doing::nothing != p.doing) {
        return;
    }
    if (!p.answered.empty()) {
        send_rest(rank);
        return;
    }
    while (p.next_op < ops.size() && begin(rank, ops[p.next_op])) {
        ++p.next_op;
        p.alarm_set = false;
    }
    if (Doing::nothing != p.doing) {
        return;
    }
    if (ops.size() == p.next_op && kNever == outcome_.done[rank]) {
        outcome_.done[rank] = outcome_.makespan = events_.now();
    }
    if (!p.arrived.empty()) {
        take_in(rank);
    }
}

// True if it is over at once.
bool Processors::begin(std::uint32_t rank, const Op &op)
{
    Process &p = processes_[rank];
    switch (op.kind) {
    case Op::Kind::send:
        return begin_send(rank, op);
    case Op::Kind::recv: {
        const std::uint32_t message = mailbox_.to_answer(rank, op.peer);
        if (kNone != message) {
            answer(rank, message);
            return false;
        }
        return mailbox_.receive(rank, op.peer);
    }
    case Op::Kind::compute:
        occupy(rank, Doing::computing, op.time);
        return false;
    case Op::Kind::until:
        if (op.time > events_.now() && !p.alarm_set) {
            p.alarm_set = true;
            events_.plan(op.time, What::wake, rank);
        }
        return op.time <= events_.now();
    }
    return true;
}

void Processors::occupy(std::uint32_t rank, Doing with, Time time)
{
    processes_[rank].doing = with;
    events_.plan(events_.now() + time, What::processor, rank);
}

// -------------------------------------------------------- sending, taking in

bool Processors::begin_send(std::uint32_t rank, const Op &op)
{
    Process &p = processes_[rank];
    const std::uint32_t nodes = job_.cluster->nodes;
    if (rank % nodes == op.peer % nodes) { // shared memory
        mailbox_.open(rank, op.peer, 0, op.bytes);
        outcome_.makespan = events_.now();
        events_.plan(events_.now(), What::wake, op.peer);
        return true;
    }
    if (p.pieces.empty()) {
        p.next_piece = 0;
        p.rule->cut(situation(rank, op.peer, op.bytes, op.bytes, events_.now()), p.pieces);
        std::uint64_t sum = 0;
        for (const Rule::Piece &piece : p.pieces) {
            sum += piece.bytes;
        }
        if (p.pieces.empty() || sum != op.bytes) {
            blame(*job_.rules, std::to_string(op.bytes) + " bytes were cut into " + std::to_string(sum));
        }
        p.message = mailbox_.open(rank, op.peer, static_cast<std::uint32_t>(p.pieces.size()), op.bytes);
        if (job_.rendezvous.above > 0 && op.bytes > job_.rendezvous.above && p.pieces.size() > 1) {
            mailbox_.hold(p.message);
        }
    }
    give(rank, op.peer, p.message, p.pieces[p.next_piece], false);
    occupy(rank, Doing::sending, overhead(p.fragment));
    return false;
}

// One more of the message's. A pending fragment waits for the answer, and the process goes on.
void Processors::sent_piece(std::uint32_t rank, const Op &op)
{
    Process &p = processes_[rank];
    const bool held = mailbox_[p.message].held;
    if (p.pieces.size() > ++p.next_piece && !held) {
        return;
    }
    if (held) {
        p.awaiting[p.message] = Rest{p.message, op.peer, p.next_piece, p.pieces};
    }
    p.pieces.clear();
    if (p.pieces.capacity() > kKeptPieces) {
        p.pieces.shrink_to_fit();
    }
    ++p.next_op;
}

void Processors::send_rest(std::uint32_t rank)
{
    Process &p = processes_[rank];
    const Rest &rest = p.answered.front();
    give(rank, rest.to, rest.message, rest.pieces[rest.next_piece], false);
    occupy(rank, Doing::sending_rest, overhead(p.fragment));
}

void Processors::answer(std::uint32_t rank, std::uint32_t message)
{
    Process &p = processes_[rank];
    give(rank, mailbox_[message].from, message, Rule::Piece{job_.rendezvous.answer_bytes, -1}, true);
    occupy(rank, Doing::answering, overhead(p.fragment));
}

void Processors::give(std::uint32_t rank, std::uint32_t to, std::uint32_t message, const Rule::Piece &piece,
                      bool is_answer)
{
    Process &p = processes_[rank];
    const std::uint64_t whole = is_answer ? piece.bytes : mailbox_[message].bytes;
    const Situation s = situation(rank, to, piece.bytes, whole, events_.now());
    const int rail = piece.rail >= 0 ? piece.rail : p.rule->choose(s);
    if (rail < 0 || rail >= static_cast<int>(job_.cluster->rails.size()) || 0 == (s.rails >> rail & 1U)) {
        blame(*job_.rules, "rail " + std::to_string(rail) + " does not join node " + std::to_string(s.node)
                               + " with rank " + std::to_string(to));
    }
    ++outcome_.decisions;
    p.rule->given(rail, s);
    p.fragment = fragments_.take();
    Fragment &f = fragments_[p.fragment];
    f.message = message;
    f.answer = is_answer;
    f.from = rank;
    f.to = to;
    f.rail = static_cast<std::uint32_t>(rail);
    f.bytes = piece.bytes;
    f.decided = events_.now();
    f.users = 1;
    if (job_.keep_passages && !is_answer) {
        f.passage = outcome_.passages.size();
        Passage passage;
        passage.from = rank;
        passage.to = to;
        passage.rail = f.rail;
        passage.message = mailbox_[message].number;
        passage.bytes = piece.bytes;
        passage.given = events_.now();
        passage.begins = passage.ends = passage.arrives = passage.received = kNever;
        outcome_.passages.push_back(passage);
    }
}

Time Processors::overhead(std::uint32_t fragment)
{
    const Fragment &f = fragments_[fragment];
    return network_.times(f.rail).overhead_send(f.bytes);
}

void Processors::take_in(std::uint32_t rank)
{
    Process &p = processes_[rank];
    p.fragment = p.arrived.pop(fragments_);
    const Fragment &f = fragments_[p.fragment];
    occupy(rank, Doing::taking_in, network_.times(f.rail).overhead_receive(f.bytes));
}

Situation Processors::situation(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes,
                                std::uint64_t whole, Time when) const
{
    Situation s;
    s.now = when;
    s.rank = rank;
    s.node = rank % job_.cluster->nodes;
    s.peer = peer;
    s.bytes = bytes;
    s.whole = whole;
    s.rails = network_.rails_between(s.node, peer % job_.cluster->nodes);
    return s;
}

// ------------------------------------------------------ what the network says

void Processors::on_sent(std::uint32_t fragment)
{
    const Fragment &f = fragments_[fragment];
    processes_[f.from].rule->sent(static_cast<int>(f.rail),
                                  situation(f.from, f.to, f.bytes, f.bytes, f.decided), events_.now());
}

void Processors::on_arrival(std::uint32_t fragment)
{
    const Fragment &f = fragments_[fragment];
    if (job_.keep_passages && !f.answer) {
        Passage &passage = outcome_.passages[f.passage];
        passage.begins = f.begins;
        passage.ends = f.ends;
        passage.arrives = events_.now();
    }
    const std::uint32_t rank = f.to;
    processes_[rank].arrived.push(fragments_, fragment);
    go_on(rank);
}

void Processors::on_loss(std::uint32_t fragment)
{
    const Fragment &f = fragments_[fragment];
    if (job_.keep_passages && !f.answer) {
        outcome_.passages[f.passage].begins = f.begins;
        outcome_.passages[f.passage].ends = f.ends;
    }
}

// A process that waits for what was lost has no fault; else it is the workload's.
void Processors::check_stuck()
{
    if (outcome_.undelivered > 0) {
        return;
    }
    if (0 != fragments_.used()) {
        throw std::logic_error("the simulator has kept fragments that were received");
    }
    for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
        const std::vector<Op> &ops = job_.workload->process[rank];
        const std::uint32_t at = processes_[rank].next_op;
        if (at < ops.size()) {
            const std::string peer =
                kAnyPeer == ops[at].peer ? "any rank" : "rank " + std::to_string(ops[at].peer);
            throw std::runtime_error("rank " + std::to_string(rank) + " waits for ever for a message from "
                                     + peer + " (operation " + std::to_string(at) + " of "
                                     + std::to_string(ops.size()) + ")");
        }
    }
}

} // namespace fsbml::sim::engine
