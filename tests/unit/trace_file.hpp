// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// For tests of files of decisions: a folder of one's own, and a process that has decided.
#ifndef FSBML_TESTS_UNIT_TRACE_FILE_HPP
#define FSBML_TESTS_UNIT_TRACE_FILE_HPP

#include "api/fsbml_trace.h"
#include "around.hpp"
#include "sched.hpp"
#include "schedule/schedule.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

class TraceFileTest : public FolderTest
{
protected:
    TraceFileTest() : FolderTest("1.decisions") {}
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::string text() const
    {
        std::ifstream in(path);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    // Files in the folder.
    std::size_t files() const
    {
        const std::filesystem::directory_iterator all(folder);
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

    char reason[FSBML_REASON_MAX] = "";
};

struct DestroyObserver {
    void operator()(fsbml_observer_t *o) const noexcept { fsbml_observer_destroy(o); }
};

// Rank 1 of 4, with n rails of different models.
struct Traced {
    Traced(std::uint32_t rails, std::uint32_t every, std::uint32_t entries,
           fsbml_policy_t policy = FSBML_POLICY_ARRIVAL)
    {
        static const char *const names[] = {"eth0", "eth1", "tcp#2", "eth3", "eth4", "eth5", "eth6", "eth7"};
        static const char *const keys[] = {
            "tcp:10.0.0.0/24", "tcp:10.0.1.0/24", "tcp#2", "k3", "k4", "k5", "k6", "k7"};
        std::vector<fsbml_loggp_t> models;
        for (std::uint32_t i = 0; i < rails; ++i) {
            const double third = (1.0 + i) / 3; // no number of few digits
            fsbml_loggp_t m =
                loggp(20e3 * third, 1e3 * third, 2e3, 1.5e3, 0.8 + third, i % 3 == 2 ? 9e4 * third : 0);
            m.O_s_ns_per_byte = i % 2 == 1 ? third / 7 : 0;
            models.push_back(i % 4 == 3 ? broken(m, 4096, 1.5e3 + 9e3 * third, 0.9 + third) : m);
            told.name[i] = names[i];
            told.key[i] = keys[i];
            told.measured[i] = true;
            told.model[i] = models.back();
        }
        sched = make_sched(models, policy);
        const fsbml_observer_config_t config{every, entries, {}};
        observer.reset(fsbml_observer_create(sched.get(), &config));
        told.rank = 1;
        told.ranks = 4;
        told.node = "node1";
        told.policy = policy;
        told.trace_every = every;
        told.n_rails = rails;
        told.origin_ns = 1000;
        told.origin_day_ns = 1764000000000000100U;
        told.observer = observer.get();
    }

    // Decisions about n random messages, chosen by the scheduler; rank 3 is farther on the last rail.
    void run(int n, unsigned seed)
    {
        std::mt19937 dice(seed);
        const std::uint32_t all = all_rails(told.n_rails);
        double extra[FSBML_MAX_RAILS] = {};
        extra[told.n_rails - 1] = 5432;
        fsbml_far_t far;
        fsbml_far_set(&far, extra);
        std::uint64_t now = told.origin_ns;
        for (int i = 0; i < n; ++i) {
            const std::size_t bytes = dice() % 3 == 0 ? dice() % 100 : dice() % 100000;
            const std::uint32_t mask = dice() % 4 == 0 ? 1 + dice() % all : all;
            const std::uint32_t peer = dice() % 3 == 0 ? 3 : dice() % 2 * 2;
            const int rail = 3 == peer ? fsbml_sched_choose_far(sched.get(), now, bytes, mask, &far)
                                       : fsbml_sched_choose(sched.get(), now, bytes, mask);
            fsbml_observer_charge(observer.get(), static_cast<std::size_t>(rail), now, bytes, mask, peer,
                                  3 == peer ? &far : nullptr);
            now += dice() % 30000;
        }
        told.messages = static_cast<std::uint64_t>(n);
    }

    std::vector<fsbml_decision_t> kept() const
    {
        std::vector<fsbml_decision_t> all;
        observer->impl.trace(
            [](void *to, const fsbml_decision_t *d) {
                static_cast<std::vector<fsbml_decision_t> *>(to)->push_back(*d);
            },
            &all);
        return all;
    }

    SchedPtr sched;
    std::unique_ptr<fsbml_observer_t, DestroyObserver> observer;
    fsbml_trace_t told{};
};

#endif
