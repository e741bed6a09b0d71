// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "account.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>

namespace fsbml
{

namespace
{

// A rail could have done all alone if it was a candidate for all messages but one in so many: until a path is
// proved, a few go another way.
constexpr std::uint64_t kMissed = 20;

} // namespace

std::uint32_t class_of(std::uint64_t bytes) noexcept
{
    std::uint32_t c = 0;
    for (std::uint64_t limit = 64; c + 1 < FSBML_CLASSES && bytes > limit; limit *= 4) {
        ++c;
    }
    return c;
}

std::uint32_t ratio_bin(std::uint64_t observed_ns, std::uint64_t predicted_ns) noexcept
{
    const double ratio = static_cast<double>(std::max<std::uint64_t>(observed_ns, 1))
                         / static_cast<double>(std::max<std::uint64_t>(predicted_ns, 1));
    const double bin = std::floor((std::log2(ratio) + 4.0) * 8.0);
    return static_cast<std::uint32_t>(std::min(std::max(bin, 0.0), FSBML_RATIO_BINS - 1.0));
}

Account::Account(std::size_t n_rails) noexcept
    : n_rails_(n_rails), done_(n_rails, FSBML_POLICY_ARRIVAL), alone_(n_rails, FSBML_POLICY_ARRIVAL),
      r2_(n_rails, FSBML_POLICY_ARRIVAL)
{
}

int Account::set_model(std::size_t rail, const fsbml_loggp_t &p) noexcept
{
    const std::lock_guard<std::mutex> guard(lock_);
    for (Scheduler *s : {&done_, &alone_, &r2_}) {
        if (0 != s->set_model(rail, p)) {
            return -EINVAL;
        }
    }
    measured_ |= std::uint32_t{1} << rail;
    return 0;
}

void Account::decided(const fsbml_decision_t &d) noexcept
{
    if (d.rail >= n_rails_) {
        return;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    fsbml_class_t &c = rail_[d.rail].by_size[class_of(d.bytes)];
    ++c.messages;
    c.bytes += d.bytes;
    if (0 != d.candidates && 0 == (d.candidates & ~measured_)) {
        replay(d);
    }
}

int Account::set_r2(std::size_t rail, std::uint32_t bandwidth, std::size_t eager_limit) noexcept
{
    if (rail >= n_rails_) {
        return -EINVAL;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    by_r2_[rail].bandwidth = std::max<double>(bandwidth, 1.0); // r2 gives rails that say nothing equal shares
    by_r2_[rail].eager_limit = eager_limit;
    return 0;
}

int Account::set_fragment(std::size_t rail, std::size_t bytes) noexcept
{
    if (rail >= n_rails_) {
        return -EINVAL;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    by_r2_[rail].fragment = bytes;
    return 0;
}

// Whatever else is in the rails: eager messages in turn; of long ones, the rail that has least of its share.
std::size_t Account::r2_chooses(const fsbml_decision_t &d) noexcept
{
    std::uint32_t left = d.candidates;
    for (auto skip = turn_ % static_cast<unsigned>(__builtin_popcount(left)); skip > 0; --skip) {
        left &= left - 1;
    }
    auto rail = static_cast<std::size_t>(__builtin_ctz(left));
    if (d.bytes <= by_r2_[rail].eager_limit && d.bytes != by_r2_[rail].fragment) {
        ++turn_;
        return rail;
    }
    const auto with_it = [&](std::size_t i) {
        return (by_r2_[i].given + static_cast<double>(d.bytes)) / by_r2_[i].bandwidth;
    };
    for (left = d.candidates; 0 != left; left &= left - 1) {
        const auto i = static_cast<std::size_t>(__builtin_ctz(left));
        rail = with_it(i) < with_it(rail) ? i : rail;
    }
    by_r2_[rail].given += static_cast<double>(d.bytes);
    return rail;
}

void Account::replay(const fsbml_decision_t &d) noexcept
{
    chose_ = chose_ || 0 != (d.candidates & (d.candidates - 1));
    done_time_.add(d.now_ns, done_.predict(d.rail, d.now_ns, d.bytes));
    done_.charge(d.rail, d.now_ns, d.bytes);

    const std::size_t next = r2_chooses(d);
    r2_time_.add(d.now_ns, r2_.predict(next, d.now_ns, d.bytes));
    r2_.charge(next, d.now_ns, d.bytes);

    ++replayed_;
    for (std::size_t i = 0; i < n_rails_; ++i) {
        rail_[i].missed += 0 == (d.candidates >> i & 1) ? 1 : 0;
        if (0 != (measured_ >> i & 1)) {
            rail_[i].alone.add(d.now_ns, alone_.predict(i, d.now_ns, d.bytes));
            alone_.charge(i, d.now_ns, d.bytes);
        }
    }
}

void Account::arrived(const fsbml_arrival_t &a) noexcept
{
    if (a.rail >= n_rails_) {
        return;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    fsbml_class_t &c = rail_[a.rail].by_size[class_of(a.bytes)];
    ++c.arrivals;
    c.predicted_ns += a.predicted_ns;
    c.observed_ns += a.observed_ns;
    ++rail_[a.rail].ratio[ratio_bin(a.observed_ns, a.predicted_ns)];
}

void Account::add_to(fsbml_summary_t &to) const noexcept
{
    const std::lock_guard<std::mutex> guard(lock_);
    const std::size_t n = std::min<std::size_t>(n_rails_, to.n_rails);
    std::uint64_t messages = 0, bytes = 0, by_rail[FSBML_MAX_RAILS] = {};
    for (std::size_t i = 0; i < n; ++i) {
        fsbml_summary_rail_t &rail = to.rail[i];
        for (std::size_t c = 0; c < FSBML_CLASSES; ++c) {
            rail.by_size[c] = rail_[i].by_size[c];
            rail.messages += rail_[i].by_size[c].messages;
            by_rail[i] += rail_[i].by_size[c].bytes;
        }
        rail.bytes += by_rail[i];
        messages += rail.messages;
        bytes += by_rail[i];
        std::copy(std::begin(rail_[i].ratio), std::end(rail_[i].ratio), rail.ratio);
        if (chose_ && 0 != (measured_ >> i & 1) && kMissed * rail_[i].missed <= replayed_) {
            rail.alone_processes = 1;
            rail.alone_ns = rail_[i].alone.total_ns();
        }
    }
    to.messages += messages;
    to.bytes += bytes;
    if (chose_) {
        to.chose = 1;
        to.time_ns = done_time_.total_ns();
        to.r2_ns = r2_time_.total_ns();
    }
    if (to.n_ranks > 0) {
        fsbml_summary_rank_t &rank = to.rank[0];
        rank.messages = messages;
        rank.bytes = bytes;
        rank.time_ns = to.time_ns;
        for (std::size_t i = 0; i < n && bytes > 0; ++i) {
            const double share = static_cast<double>(by_rail[i]) / static_cast<double>(bytes);
            rank.rail_share[i] = static_cast<std::uint32_t>(std::lround(1000.0 * share));
        }
    }
}

} // namespace fsbml
