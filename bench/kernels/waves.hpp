// Waves on a periodic grid: what the stencil kernels of two and three dimensions share.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "halo.hpp"

namespace fsbml::bench
{

// Solves the wave equation for several fields by the leapfrog scheme. Each field is a plane wave, of which
// the discrete solution is known at any step.
class Waves : public Kernel
{
public:
    Waves(int dimensions, int cells, int width, int fields);
    void prepare() override;
    void step() override;
    std::string check() override;
    Volume volume() const override;

protected:
    // The squared speed in cells a step, which keeps both schemes stable.
    static constexpr double speed = 0.25;

    const Halo &halo() const { return halo_; }
    // Writes the field of the next step over that of the last.
    virtual void advance(const Field &now, Field &last) const = 0;
    // The second difference in one dimension of a wave, divided by the wave; `angle` is its phase from cell
    // to cell.
    virtual double second_difference(double angle) const = 0;

private:
    struct Wave {
        std::array<double, 3> angles; // from cell to cell in each dimension
        double step;                  // from step to step
        double shift;
    };

    Wave wave(int field) const;
    double value(const Wave &wave, const Cell &global, int step) const;
    std::string check_waves() const;
    std::string check_halo();

    int dimensions_;
    Halo halo_;
    std::vector<Field> now_, last_;
    int steps_ = 0;
};

} // namespace fsbml::bench
