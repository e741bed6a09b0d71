// Fast Fourier transform of one row in memory, radix 2.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace fsbml::bench
{

class RowTransform
{
public:
    // The length is a power of two.
    explicit RowTransform(std::size_t length) : length_(length), roots_(length / 2), reversed_(length)
    {
        const double turn = 2 * std::acos(-1.0);
        for (std::size_t k = 0; k < roots_.size(); ++k) {
            roots_[k] = std::polar(1.0, -turn * static_cast<double>(k) / static_cast<double>(length));
        }
        for (std::size_t i = 1; i < length; ++i) {
            reversed_[i] = reversed_[i / 2] / 2 + (i % 2 != 0 ? length / 2 : 0);
        }
    }

    void forward(std::complex<double> *row) const { transform(row, 1); }
    // Not divided by the length.
    void backward(std::complex<double> *row) const { transform(row, -1); }

private:
    void transform(std::complex<double> *row, double sign) const
    {
        for (std::size_t i = 0; i < length_; ++i) {
            if (i < reversed_[i]) {
                std::swap(row[i], row[reversed_[i]]);
            }
        }
        for (std::size_t half = 1; half < length_; half *= 2) {
            const std::size_t root_step = length_ / (2 * half);
            for (std::size_t begin = 0; begin < length_; begin += 2 * half) {
                for (std::size_t k = 0; k < half; ++k) {
                    std::complex<double> &even = row[begin + k];
                    std::complex<double> &odd = row[begin + k + half];
                    // By hand: the operator's test for infinity would take most of the time.
                    const double re = roots_[k * root_step].real();
                    const double im = roots_[k * root_step].imag() * sign;
                    const std::complex<double> turned(odd.real() * re - odd.imag() * im,
                                                      odd.real() * im + odd.imag() * re);
                    odd = even - turned;
                    even += turned;
                }
            }
        }
    }

    std::size_t length_;
    std::vector<std::complex<double>> roots_;
    std::vector<std::size_t> reversed_;
};

} // namespace fsbml::bench
