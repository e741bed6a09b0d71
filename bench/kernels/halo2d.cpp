// A stencil code of two dimensions: fourth order, so the halo is two cells wide, and four fields.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "waves.hpp"

#include <cmath>

namespace fsbml::bench
{

namespace
{

class Halo2d : public Waves
{
public:
    explicit Halo2d(Size size) : Waves(2, pick(size, 256, 1024, 2048), 2, 4) {}
    int usual_steps() const override { return 4; }

private:
    void advance(const Field &now, Field &last) const override
    {
        const std::ptrdiff_t row = halo().stride(1);
        for (int y = 0; y < halo().extent(1); ++y) {
            const double *u = now.data() + halo().place({0, y, 0});
            double *next = last.data() + halo().place({0, y, 0});
            for (int x = 0; x < halo().extent(2); ++x, ++u) {
                const double near = u[-1] + u[1] + u[-row] + u[row];
                const double far = u[-2] + u[2] + u[-2 * row] + u[2 * row];
                next[x] = 2 * u[0] - next[x] + speed * ((16 * near - far) / 12 - 5 * u[0]);
            }
        }
    }

    double second_difference(double angle) const override
    {
        return (16 * std::cos(angle) - std::cos(2 * angle) - 15) / 6;
    }
};

} // namespace

std::unique_ptr<Kernel> make_halo2d(Size size)
{
    return std::make_unique<Halo2d>(size);
}

} // namespace fsbml::bench
