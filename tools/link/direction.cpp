// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "link.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml::link
{

std::optional<Ns> Direction::offer(Ns now, std::size_t bytes)
{
    const double came = static_cast<double>(now);
    const double per_byte = shape_.rate > 0 ? 8e9 / static_cast<double>(shape_.rate) : 0.0;
    const double on_wire = per_byte * static_cast<double>(bytes);
    if (shape_.down) {
        ++counters_.cut;
        return std::nullopt;
    }
    const double waiting = std::max(0.0, busy_until_ - came); // ns
    if (waiting > per_byte * static_cast<double>(shape_.queue)) {
        ++counters_.full;
        return std::nullopt;
    }
    const double first_bit = cut_through_ ? came - on_wire : came;
    busy_until_ = std::max(first_bit, busy_until_) + on_wire;
    if (shape_.loss > 0.0 && std::uniform_real_distribution<double>(0.0, 1.0)(random_) < shape_.loss) {
        ++counters_.lost;
        return std::nullopt;
    }
    double delay = static_cast<double>(shape_.delay);
    if (shape_.jitter > 0) {
        const double jitter = static_cast<double>(shape_.jitter);
        delay = std::max(0.0, delay + std::uniform_real_distribution<double>(-jitter, jitter)(random_));
    }
    const Ns due = std::llround(std::max(busy_until_, came) + delay);
    last_due_ = std::max(last_due_, due);
    ++counters_.frames;
    counters_.bytes += bytes;
    return last_due_;
}

} // namespace fsbml::link
