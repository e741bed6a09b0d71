// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// VFTs in shared memory, which all ranks of a node charge: the ledger itself, and the file by which they
// come to it.
#ifndef FSBML_LEDGER_HPP
#define FSBML_LEDGER_HPP

#include "api/fsbml_core.h"
#include "model/model.hpp"

#include <atomic>
#include <string>

namespace fsbml
{

// The node's ledger: virtual finishing times that all ranks of a node charge, since they share its NICs.
//
// This is the layout of a piece of shared memory and what is done in it, all of it lock-free. A rail has a
// slot, whose claim is one compare-and-swap of its key's hash: there is no half-claimed slot, so that a
// process may die at any instant and leaves nothing that others wait for or must clean up. Slots are never
// given back; a ledger lives no longer than a job.
//
// The rails of a process lie in adjacent slots, in its own order: so a decision finds a VFT by the rail's
// index, and no rail costs it an indirection (which took 0.5 ns of a decision of 10). The ranks of a node
// list their rails alike; one that leaves out the first or the last of them still shares the rest, and one
// with another order has slots of its own.
struct Ledger {
    static constexpr std::uint64_t kMagic = 0x72656764656c2d66; // "f-ledger"
    static constexpr std::uint32_t kVersion = 1;
    // A process that joins has looked at the clock before, and may have been held up meanwhile: the ledger
    // can be a little younger than that (ns).
    static constexpr std::uint64_t kLate = 60'000'000'000;

    std::uint64_t magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t size = sizeof(Ledger);
    std::uint64_t origin_ns;                // where the ticks of all VFTs begin
    std::uint64_t clock;                    // of origin_ns: processes of another clock must not join
    std::atomic<std::uint32_t> attached{0}; // processes that have joined so far
    VftSlot slot[2 * FSBML_MAX_RAILS];      // room for one or two other orders

    Ledger(std::uint64_t now_ns, std::uint64_t clock_id) noexcept : origin_ns(now_ns), clock(clock_id) {}

    // What forbids a process to join, or nullptr.
    const char *flaw(std::uint64_t now_ns, std::uint64_t clock_id) const noexcept;
    // The first of n adjacent slots for the rails with these keys; nullptr if there is no room.
    VftSlot *claim(const char *const *keys, std::size_t n) noexcept;
};

static_assert(sizeof(Ledger) == 64 * (1 + 2 * FSBML_MAX_RAILS),
              "a header and a cache line a slot, on every build");
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock would be one of each process");

// How the processes of a node come to one ledger, without a leader and without waiting for each other.
//
// A process that finds no file makes one that is complete before it has a name (link(2) gives it, and fails
// if another was faster). Each user holds a shared lock on the file, which the kernel drops when the process
// dies in whatever way: a file that no process holds is left over, and is replaced. When all that are
// expected have joined, the name is removed; so a job that is killed later leaves nothing.
class LedgerFile
{
public:
    explicit LedgerFile(const fsbml_ledger_config_t &config);
    ~LedgerFile();
    LedgerFile(const LedgerFile &) = delete;
    LedgerFile &operator=(const LedgerFile &) = delete;

    // Returns 0 or a negative errno, and then the reason.
    int join(std::string &reason);
    Ledger &table() const noexcept { return *table_; }

private:
    int try_join(std::string &reason);
    int create(std::string &reason);
    int adopt(std::string &reason);
    int map(std::string &reason);
    bool has_name() const noexcept;
    void leave() noexcept;

    const std::string path_;
    const std::uint64_t now_ns_;
    const std::uint64_t clock_id_;
    const std::uint32_t members_;
    int fd_ = -1;
    Ledger *table_ = nullptr;
};

} // namespace fsbml

#endif
