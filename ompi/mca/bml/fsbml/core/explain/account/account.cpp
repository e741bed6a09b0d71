// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/account/account.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>

namespace fsbml
{

namespace
{

// A rail could have done all alone if it was a candidate for nearly all messages: until a path is
// proved, a few go another way.
constexpr std::uint64_t kMissed = 20;
// The longest message that ob1 hands to btl_sendi without a request: 256 bytes and the header.
constexpr std::uint64_t kInline = 256 + 14;

} // namespace

std::uint64_t class_limit(std::uint32_t c) noexcept
{
    return c + 1 < FSBML_CLASSES ? std::uint64_t{64} << (2 * c) : 0;
}

std::uint32_t class_of(std::uint64_t bytes) noexcept
{
    std::uint32_t c = 0;
    while (c + 1 < FSBML_CLASSES && bytes > class_limit(c)) {
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

int Account::set_r2(std::size_t rail, const fsbml_r2_rail_t &r) noexcept
{
    if (rail >= n_rails_) {
        return -EINVAL;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    by_r2_[rail].rail = r;
    by_r2_[rail].rail.bandwidth =
        std::max<std::uint32_t>(r.bandwidth, 1); // equal shares where none is stated
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

// The candidates of least stated latency, by stated bandwidth (bml_r2.c,
// mca_bml_r2_compute_endpoint_metrics), are ob1's list of rails for eager messages.
// mca_bml_base_btl_array_get_next (bml.h) takes the next one of the list. ob1 calls it for
// mca_pml_ob1_send_inline, which sends only up to 256 bytes and only by a btl_sendi (pml_ob1_isend.c), and,
// where that did not send, again for mca_pml_ob1_send_request_start_seq (pml_ob1_sendreq.h). So of two rails
// without btl_sendi, the second one gets every message. (A synchronous or persistent send calls it once; a
// decision does not tell of which kind a message is.)
std::size_t Account::r2_eager(const fsbml_decision_t &d) noexcept
{
    std::size_t list[FSBML_MAX_RAILS] = {}, n = 0;
    std::uint32_t latency = ~std::uint32_t{0};
    for (std::uint32_t left = d.candidates; 0 != left; left &= left - 1) {
        const auto i = static_cast<std::size_t>(__builtin_ctz(left));
        if (by_r2_[i].rail.latency < latency) {
            latency = by_r2_[i].rail.latency;
            n = 0;
        }
        if (by_r2_[i].rail.latency == latency) {
            std::size_t at = n++;
            for (; at > 0 && by_r2_[list[at - 1]].rail.bandwidth < by_r2_[i].rail.bandwidth; --at) {
                list[at] = list[at - 1];
            }
            list[at] = i;
        }
    }
    std::uint8_t &place = place_[d.peer % kPlaces];
    const auto next = [&] {
        const std::size_t now = place < n ? place : 0;
        place = static_cast<std::uint8_t>((now + 1) % n);
        return list[now];
    };
    const std::size_t first = next();
    return 0 != by_r2_[first].rail.sendi && d.bytes <= kInline ? first : next();
}

// The rail that has got the smallest part of its share of the bytes of long messages (ob1's
// mca_pml_ob1_calc_weighted_length).
std::size_t Account::r2_long(const fsbml_decision_t &d) noexcept
{
    const auto with_it = [&](std::size_t i) {
        return (by_r2_[i].given + static_cast<double>(d.bytes)) / by_r2_[i].rail.bandwidth;
    };
    auto rail = static_cast<std::size_t>(__builtin_ctz(d.candidates));
    for (std::uint32_t left = d.candidates; 0 != left; left &= left - 1) {
        const auto i = static_cast<std::size_t>(__builtin_ctz(left));
        rail = with_it(i) < with_it(rail) ? i : rail;
    }
    by_r2_[rail].given += static_cast<double>(d.bytes);
    return rail;
}

std::size_t Account::r2_chooses(const fsbml_decision_t &d) noexcept
{
    const ByR2 &any = by_r2_[__builtin_ctz(d.candidates)];
    return d.bytes <= any.rail.eager_limit && d.bytes != any.fragment ? r2_eager(d) : r2_long(d);
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
