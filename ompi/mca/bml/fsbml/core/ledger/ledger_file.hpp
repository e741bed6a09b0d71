// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How the processes of a node come to one ledger, without a leader and without waiting for each other.
//
// A process that finds no file makes one that is complete before it has a name (link(2) gives it, and fails
// if another was faster). Each user holds a shared lock on the file, which the kernel drops when the process
// dies in whatever way: a file that no process holds is left over, and is replaced. When all that are
// expected have joined, the name is removed; so a job that is killed later leaves nothing.
#ifndef FSBML_LEDGER_FILE_HPP
#define FSBML_LEDGER_FILE_HPP

#include "ledger/ledger.hpp"

#include <string>

namespace fsbml
{

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
