// Stencil codes of two and three dimensions: waves on a periodic grid.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include <cmath>

namespace fsbml::bench
{

namespace
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

Waves::Waves(int dimensions, int cells, int width, int fields)
    : dimensions_(dimensions), halo_(dimensions, cells, width), now_(static_cast<std::size_t>(fields)),
      last_(now_)
{
}

// Another direction and length in each field, so that fields mixed up are found.
Waves::Wave Waves::wave(int field) const
{
    const double turn = 2 * std::acos(-1.0);
    Wave wave = {{0, 0, 0}, 0, 0.5 + field};
    double sum = 0;
    for (int dimension = 3 - dimensions_; dimension < 3; ++dimension) {
        const int periods = field + 1 + dimension;
        wave.angles[static_cast<std::size_t>(dimension)] = turn * periods / halo_.grid(dimension);
        sum += second_difference(wave.angles[static_cast<std::size_t>(dimension)]);
    }
    wave.step = std::acos(1 + speed * sum / 2);
    return wave;
}

double Waves::value(const Wave &wave, const Cell &global, int step) const
{
    double phase = wave.shift - wave.step * step;
    for (std::size_t d = 0; d < 3; ++d) {
        phase += wave.angles[d] * global[d];
    }
    return std::cos(phase);
}

void Waves::prepare()
{
    for (std::size_t field = 0; field < now_.size(); ++field) {
        // No number: what an exchange leaves out spoils the result.
        now_[field].assign(halo_.field_size(), std::nan(""));
        last_[field] = now_[field];
        const Wave wave = this->wave(static_cast<int>(field));
        halo_.each_cell([&](const Cell &cell) {
            now_[field][halo_.place(cell)] = value(wave, halo_.global(cell), 0);
            last_[field][halo_.place(cell)] = value(wave, halo_.global(cell), -1);
        });
    }
    steps_ = 0;
}

void Waves::step()
{
    communicate([&] { halo_.exchange(now_); });
    for (std::size_t field = 0; field < now_.size(); ++field) {
        advance(now_[field], last_[field]);
    }
    now_.swap(last_);
    ++steps_;
}

std::string Waves::check()
{
    const std::string wrong = check_waves();
    return wrong.empty() ? check_halo() : wrong;
}

std::string Waves::check_waves() const
{
    // Errors of rounding add up in every step, and what they add to the constant wave grows with the steps.
    const double tolerance = std::fmin(1e-13 * std::pow(1.0 + steps_, 2), 0.01);
    std::string wrong;
    for (std::size_t field = 0; field < now_.size(); ++field) {
        const Wave wave = this->wave(static_cast<int>(field));
        halo_.each_cell([&](const Cell &cell) {
            const double is = now_[field][halo_.place(cell)];
            const double should_be = value(wave, halo_.global(cell), steps_);
            if (wrong.empty() && !(std::fabs(is - should_be) <= tolerance)) {
                wrong = "field " + std::to_string(field) + " is " + text(is) + " and not " + text(should_be)
                        + " after " + std::to_string(steps_) + " steps";
            }
        });
    }
    return wrong;
}

// A number of its own for each cell of each field, so that every bit counts.
std::string Waves::check_halo()
{
    auto number = [&](std::size_t field, const Cell &cell) {
        const Cell global = halo_.global(cell);
        double place = static_cast<double>(field);
        for (int d = 0; d < 3; ++d) {
            place = place * halo_.grid(d) + global[static_cast<std::size_t>(d)];
        }
        return place + 0x1p-12;
    };
    for (std::size_t field = 0; field < now_.size(); ++field) {
        now_[field].assign(halo_.field_size(), std::nan(""));
        halo_.each_cell([&](const Cell &cell) { now_[field][halo_.place(cell)] = number(field, cell); });
    }
    halo_.exchange(now_);
    std::string wrong;
    for (std::size_t field = 0; field < now_.size(); ++field) {
        halo_.each_halo_cell([&](const Cell &cell) {
            if (!(now_[field][halo_.place(cell)] == number(field, cell))) {
                wrong = "the halo of field " + std::to_string(field) + " is not what the neighbour has";
            }
        });
    }
    return wrong;
}

Volume Waves::volume() const
{
    Volume volume = halo_.volume();
    volume.messages *= static_cast<int>(now_.size());
    volume.bytes *= static_cast<double>(now_.size());
    return volume;
}

// A stencil code of two dimensions: fourth order, so the halo is two cells wide, and four fields.
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

// A stencil code of three dimensions: second order, so the halo is one cell wide, and three fields.
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

std::unique_ptr<Kernel> make_halo2d(Size size)
{
    return std::make_unique<Halo2d>(size);
}

std::unique_ptr<Kernel> make_halo3d(Size size)
{
    return std::make_unique<Halo3d>(size);
}

} // namespace fsbml::bench
