// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The processes: what each of them does with its one processor.
//
// A fragment costs its sender o_s(s), on whatever rail, before it is in the NIC's queue; only then the next
// one is decided on. A process takes in what has arrived, each fragment for o_r(s) and in the order of
// arrival, while it waits (for a message, for a time, or at its end); while it computes or sends, it does
// not. With a rendezvous, it answers a long message when a receive has found it, and gives all that is left
// of its own to the rails as soon as it has taken in an answer.
#ifndef FSBML_SIM_ENGINE_PROCESSOR_HPP
#define FSBML_SIM_ENGINE_PROCESSOR_HPP

#include "mailbox.hpp"
#include "network.hpp"

#include <deque>

namespace fsbml::sim::engine
{

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
    Situation situation(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes, Time when) const;

    const Simulation &job_;
    EventQueue events_;
    Pool<Fragment> fragments_;
    Network network_;
    Mailbox mailbox_;
    std::vector<Process> processes_;
    Outcome outcome_;
};

} // namespace fsbml::sim::engine

#endif
