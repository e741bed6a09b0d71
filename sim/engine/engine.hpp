// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A job in virtual time: processes, whose processors and NICs are busy as LogGP says, and a rule that
// decides. simulate() is all that others need; the rest is what it is made of.
#ifndef FSBML_SIM_ENGINE_HPP
#define FSBML_SIM_ENGINE_HPP

#include "sim/job/job.hpp"
#include "sim/time/time.hpp"

#include <deque>
#include <unordered_map>

namespace fsbml::sim
{

// A time of what does not happen.
constexpr Time kNever = -1;

// A fragment's way, but for answers of receivers, for code that checks or draws it; what a dead rail swallows
// has no arrival.
struct Passage {
    std::uint32_t from = 0, to = 0, rail = 0;
    std::uint64_t message = 0, bytes = 0;
    Time given = 0;            // to the rail
    Time begins = 0, ends = 0; // on the sender's NIC, the last time if it was sent again
    Time arrives = 0;          // at the receiver's NIC, whole
    Time received = 0;         // o_r is over
};

struct RailOutcome {
    std::uint64_t messages = 0, bytes = 0; // fragments that arrived
    std::uint64_t retransmitted = 0;
    Time busy = 0; // of all NICs together, by sending
};

struct Outcome {
    Time makespan = 0;      // the last message is received, the last process done
    std::vector<Time> done; // by rank; kNever: it waits for what was lost
    std::vector<RailOutcome> rails;
    std::uint64_t decisions = 0;                           // fragments, and answers of receivers
    std::uint64_t sent = 0, received = 0, undelivered = 0; // messages
    std::vector<Passage> passages;                         // only if asked for
};

// Long messages as MPI sends them: the first fragment alone, the others once the receiver has found a receive
// for it and has said so. The answer goes by the rails, too, and waits there behind what its sender has given
// to them.
struct Rendezvous {
    std::uint64_t above = 0; // messages of more bytes that are cut; 0: none
    std::uint64_t answer_bytes = 1;
};

struct Simulation {
    const Cluster *cluster = nullptr;
    const Workload *workload = nullptr;
    RuleMaker *rules = nullptr;
    std::uint64_t seed = 1;
    bool keep_passages = false;
    Rendezvous rendezvous;
};

// Messages between ranks of one node go by no rail: they are there at once, and cost nothing.
//
// Deterministic for a seed. Throws std::invalid_argument for a cluster or a workload that makes no sense (a
// peer that does not exist, no rail between two nodes, nonsensical parameters), std::runtime_error for one
// that never ends although nothing was lost (a receive without a send), naming the rank, and std::logic_error
// for a rule that cuts a message into another, or chooses a rail that does not join the two.
Outcome simulate(const Simulation &simulation);

} // namespace fsbml::sim

namespace fsbml::sim::engine
{

struct Message {
    std::uint32_t next = kNone; // of the same sender to the same receiver
    std::uint32_t from = 0, to = 0, channel = 0;
    bool held = false, begun = false, answered = false; // its sender holds the rest; the first one is here
    std::uint32_t missing = 0;                          // fragments
    std::uint32_t ready_before = kNone, ready_next = kNone; // in the receiver's list
    std::uint64_t number = 0;                               // in the order of sending of all
    std::uint64_t bytes = 0;
};

// Messages on their way, and those that wait for a receive: in the order of sending from each sender.
class Mailbox
{
public:
    explicit Mailbox(std::size_t ranks) : ready_(ranks) {}

    // A message of n fragments is sent; one without fragments is there at once.
    std::uint32_t open(std::uint32_t from, std::uint32_t to, std::uint32_t fragments, std::uint64_t bytes);
    // A fragment has been taken in. True if it was the message's last one.
    bool fragment(std::uint32_t message);
    // Its sender has sent the first of its fragments, and awaits an answer for the others.
    void hold(std::uint32_t message) { messages_[message].held = true; }
    // The message that a receive has found, if it awaits an answer: then it does so no more. Else kNone.
    std::uint32_t to_answer(std::uint32_t rank, std::uint32_t peer);

    // A receive: takes the next message from that peer, or from any rank, if it is whole.
    bool receive(std::uint32_t rank, std::uint32_t peer);

    const Message &operator[](std::uint32_t message) { return messages_[message]; }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t taken_in() const { return taken_in_; }

private:
    // The one that a receive finds: the next of its sender, and whole, or the first fragment of a pending
    // one.
    std::uint32_t found(std::uint32_t rank, std::uint32_t peer) const;
    bool can_be_found(std::uint32_t message);
    void make_ready(std::uint32_t message); // the next of its sender to be received, and can be found
    void take(std::uint32_t message);

    Pool<Message> messages_;
    std::unordered_map<std::uint64_t, std::uint32_t> channel_of_; // by sender and receiver
    std::vector<List> channels_;                                  // what has not been received
    std::vector<List> ready_;                                     // by receiver, in the order of getting so
    std::uint64_t sent_ = 0, taken_in_ = 0;
};

struct Fragment {
    std::uint32_t next = kNone;
    std::uint32_t message = 0, from = 0, to = 0, rail = 0;
    std::uint32_t hop = 0;  // the next bottleneck
    std::uint8_t users = 0; // its way and the NIC: the last one gives it back
    bool told = false;      // that it has been sent
    bool answer = false;    // of a receiver to `message`, whose sender awaits it
    std::uint64_t bytes = 0;
    std::uint64_t passage = 0;
    Time decided = 0;
    Time begins = 0, ends = 0;                 // on the sender's NIC
    Time head = 0, tail = 0;                   // first and last byte, where it is
    Time gap = 0, gap_of_one = 0, latency = 0; // with what disturbs it
};

// Is told of fragments.
struct Listener {
    virtual ~Listener() = default;
    virtual void on_sent(std::uint32_t fragment) = 0;
    virtual void on_arrival(std::uint32_t fragment) = 0;
    virtual void on_loss(std::uint32_t fragment) = 0; // for good
};

// NICs, bottlenecks and wires: the way of a fragment between the sender's processor and the receiver's.
//
// A NIC serves one fragment at a time, first come, first served. One that begins at b is through at
//   end = max(b, TAT - burst),        TAT = max(TAT before, b) + gap(s)
// which without a burst is b + gap(s); with one it is a token bucket as its virtual finishing time. Its last
// byte is out gap(1) earlier, and L later at the receiver's NIC, which takes gap(s) in the same way, from the
// first byte on: where fragments of several senders meet, one waits for the other. Its bucket is as large, so
// that what a sender alone sends is never held up there.
class Network
{
public:
    Network(const Cluster &cluster, std::uint64_t seed, EventQueue &events, Pool<Fragment> &fragments,
            Listener &listener);

    // The rails that two nodes have, as bits.
    std::uint32_t rails_between(std::uint32_t node, std::uint32_t other) const
    {
        return rails_of_[node] & rails_of_[other];
    }
    const RailTimes &times(std::uint32_t rail) const { return times_[rail]; }
    const RailOutcome &outcome(std::uint32_t rail) const { return outcome_[rail]; }

    // The sender's processor is done with a fragment, whose message, from, to, rail and bytes are filled in.
    void enter(std::uint32_t fragment);
    // Does what was planned for a fragment or a NIC.
    void handle(const Event &event);
    // The listener needs it no more.
    void release(std::uint32_t fragment);

private:
    struct Nic {
        Time tat = 0, tat_receiving = 0; // the second where it sends and receives at once
        List sending, receiving;         // in turn; receiving only where it cannot do both at once
        List waiting;                    // ranks whose fragments it has no room for
        std::uint32_t held = 0;          // fragments to be sent, with the one that it sends
        bool busy = false, received_last = false, awaits_revival = false;
    };
    struct Link {
        const Bottleneck *spec = nullptr;
        std::vector<bool> beyond; // by node: on `side`
        Time tat[2] = {0, 0};     // by direction
    };
    // A rank's fragments that a NIC has no room for; `next`: the rank whose turn is next.
    struct Waiting {
        std::uint32_t next = kNone;
        List fragments;
    };

    std::uint32_t nic_of(std::uint32_t rank, std::uint32_t rail) const
    {
        return rank % cluster_.nodes * static_cast<std::uint32_t>(times_.size()) + rail;
    }
    std::uint32_t rail_of(std::uint32_t nic) const { return nic % static_cast<std::uint32_t>(times_.size()); }
    void admit(std::uint32_t nic, std::uint32_t fragment);
    void serve(std::uint32_t nic);
    void send(std::uint32_t nic, std::uint32_t fragment);
    void sent(std::uint32_t fragment);
    void onward(std::uint32_t fragment);
    bool cross(Link &link, Fragment &f, std::uint32_t fragment);
    void reach(std::uint32_t fragment);
    void receive(Time &tat, Fragment &f, std::uint32_t fragment);
    void arrive(std::uint32_t fragment);
    void lose(std::uint32_t fragment);

    const Cluster &cluster_;
    EventQueue &events_;
    Pool<Fragment> &fragments_;
    Listener &listener_;
    std::vector<RailTimes> times_;
    std::vector<RailOutcome> outcome_;
    std::vector<std::uint32_t> rails_of_;  // by node
    std::vector<std::vector<Link>> links_; // by rail
    std::vector<Nic> nics_;
    std::vector<std::vector<Waiting>> waiting_; // by rail and rank; empty where a NIC has room for all
};

// The processes: what each of them does with its one processor.
//
// A fragment costs its sender o_s(s), on whatever rail, before it is in the NIC's queue; only then the next
// one is decided on. A process takes in what has arrived, each fragment for o_r(s) and in the order of
// arrival, while it waits (for a message, for a time, or at its end); while it computes or sends, it does
// not. With a rendezvous, it answers a long message when a receive has found it, and gives all that is left
// of its own to the rails as soon as it has taken in an answer.
class Processors final : Listener
{
public:
    explicit Processors(const Simulation &simulation);
    Outcome run();

private:
    enum class Doing : std::uint8_t { nothing, sending, sending_rest, answering, taking_in, computing };
    // What is left of a message whose sender awaits an answer, or has it.
    struct Rest {
        std::uint32_t message = kNone, to = 0, next_piece = 0;
        std::vector<Rule::Piece> pieces;
    };
    struct Process {
        std::uint32_t next_op = 0, next_piece = 0;
        std::uint32_t message = kNone, fragment = kNone; // that it sends, or takes in
        Doing doing = Doing::nothing;
        bool alarm_set = false;
        List arrived;
        std::vector<Rule::Piece> pieces;                  // of the message that it sends
        std::unique_ptr<Rule> rule;                       // of those that send
        std::unordered_map<std::uint32_t, Rest> awaiting; // answers, by message
        std::deque<Rest> answered;
    };

    void on_sent(std::uint32_t fragment) override;
    void on_arrival(std::uint32_t fragment) override;
    void on_loss(std::uint32_t fragment) override;

    void make_rules();
    void finish(std::uint32_t rank);
    void go_on(std::uint32_t rank);
    bool begin(std::uint32_t rank, const Op &op);
    bool begin_send(std::uint32_t rank, const Op &op);
    void sent_piece(std::uint32_t rank, const Op &op);
    void send_rest(std::uint32_t rank);
    void answer(std::uint32_t rank, std::uint32_t message);
    // Decides on a fragment; the processor is to be occupied with it.
    void give(std::uint32_t rank, std::uint32_t to, std::uint32_t message, const Rule::Piece &piece,
              bool is_answer);
    Time overhead(std::uint32_t fragment); // of its sender
    void take_in(std::uint32_t rank);
    void occupy(std::uint32_t rank, Doing with, Time time);
    void check_stuck();
    Situation situation(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes, std::uint64_t whole,
                        Time when) const;

    const Simulation &job_;
    EventQueue events_;
    Pool<Fragment> fragments_;
    Network network_;
    Mailbox mailbox_;
    std::vector<Process> processes_;
    Outcome outcome_;
};

// Checks a simulation's input before it begins. Throws std::invalid_argument, which names the rail, or the
// rank and its operation.
void check_job(const Simulation &simulation);

} // namespace fsbml::sim::engine

#endif
