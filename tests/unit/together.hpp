// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rails whose streams beside each other are measured.
#ifndef FSBML_TESTS_UNIT_TOGETHER_HPP
#define FSBML_TESTS_UNIT_TOGETHER_HPP

#include "measure/start/start.hpp"
#include "model/model.hpp"

#include "test.hpp"

namespace fsbml
{

constexpr std::uint64_t kSeeds = 1000;

inline fsbml_fit_t fit_of(double bytes_per_us)
{
    fsbml_fit_t fit{};
    fit.valid = fit.tight = true;
    fit.params.L_ns = 15e3;
    fit.params.o_s_ns = fit.params.o_r_ns = 2e3;
    fit.params.g_ns = 3e3;
    fit.params.G_ns_per_byte = 1e3 / bytes_per_us;
    return fit;
}

inline bool has(std::uint32_t rails, std::size_t i)
{
    return 0 != (rails >> i & 1U);
}

// Rails by their speeds alone; `slower(rails, i)` is how many times as long rail i takes beside these rails,
// `late()` how many times as long a stream takes that is disturbed.
struct World {
    std::vector<fsbml_fit_t> fit;
    std::function<double(std::uint32_t, std::size_t)> slower = [](std::uint32_t, std::size_t) { return 1.0; };
    std::function<double()> late = [] { return 1.0; };
    double sending = 0.05; // of the time of each run, ...
    double alone = 1.0;    // ... so much of it on one rail
    std::size_t runs = 0;
    std::uint32_t left_out = 0;

    explicit World(const std::vector<double> &bytes_per_us)
    {
        for (const double speed : bytes_per_us) {
            fit.push_back(fit_of(speed));
        }
    }

    void play()
    {
        const std::size_t n = fit.size();
        fit.resize(FSBML_MAX_RAILS);
        Together t(fit.data(), (UINT32_C(1) << n) - 1);
        for (std::uint32_t rails = t.next(); 0 != rails; rails = t.next()) {
            double ns_per_byte[FSBML_MAX_RAILS] = {};
            double carried = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                if (has(rails, i)) {
                    ns_per_byte[i] = fit[i].params.G_ns_per_byte * slower(rails, i) * late();
                    carried += 1.0 / ns_per_byte[i];
                }
            }
            ASSERT_LT(++runs, 1000U);
            t.report(ns_per_byte, 0U == (rails & (rails - 1)) ? sending * alone : sending, carried);
        }
        t.conclude(fit.data());
        left_out = t.left_out();
    }
};

inline double gap_per_byte(const World &w, std::size_t rail)
{
    return w.fit[rail].params.G_ns_per_byte;
}

} // namespace fsbml

#endif // FSBML_TESTS_UNIT_TOGETHER_HPP
