// A stencil code of three dimensions: second order, so the halo is one cell wide, and three fields.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "waves.hpp"

#include <cmath>

namespace fsbml::bench
{

namespace
{

class Halo3d : public Waves
{
public:
    explicit Halo3d(Size size) : Waves(3, pick(size, 32, 64, 128), 1, 3) {}
    int usual_steps() const override { return 2; }

private:
    void advance(const Field &now, Field &last) const override
    {
        const std::ptrdiff_t plane = halo().stride(0);
        const std::ptrdiff_t row = halo().stride(1);
        for (int z = 0; z < halo().extent(0); ++z) {
            for (int y = 0; y < halo().extent(1); ++y) {
                const double *u = now.data() + halo().place({z, y, 0});
                double *next = last.data() + halo().place({z, y, 0});
                for (int x = 0; x < halo().extent(2); ++x, ++u) {
                    const double near = u[-1] + u[1] + u[-row] + u[row] + u[-plane] + u[plane];
                    next[x] = 2 * u[0] - next[x] + speed * (near - 6 * u[0]);
                }
            }
        }
    }

    double second_difference(double angle) const override { return 2 * std::cos(angle) - 2; }
};

} // namespace

std::unique_ptr<Kernel> make_halo3d(Size size)
{
    return std::make_unique<Halo3d>(size);
}

} // namespace fsbml::bench
