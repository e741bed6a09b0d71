// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/start/start.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace fsbml
{

namespace
{

constexpr std::uint64_t kAwayNs = 1000000;  // a sender that does not look for so long leaves the rail idle
constexpr std::uint64_t kFirst = 11200;     // under way before anything is known
constexpr std::uint64_t kUnderWay = 65536;  // and as long as nothing but this allows more:
constexpr std::uint64_t kUsualNs = 8000000; // ... in proportion to the time wanted, of a long way,
constexpr std::uint64_t kShare = 8;         // ... that part of what has arrived
constexpr std::uint64_t kDeep = 8;          // times as much while ends are away: more than a bucket holds
constexpr std::uint64_t kMessages = 8;      // under way
constexpr std::uint64_t kMost = 64U << 20;  // bytes of a stream: some milliseconds of any rail
constexpr std::uint64_t kFrame = 1400;      // a message that fits into one frame of any network
constexpr double kHorizon = 4.0;      // under way is what the rail carries in that part of the time wanted
constexpr std::uint64_t kRecent = 16; // its speed at the moment is that of the last one of so many parts
constexpr double kSteady = 0.15;      // between the last two quarters
constexpr double kFar = 5.0;          // times slower in all, while the rail had something to do
constexpr std::uint64_t kLongNs = 20000000; // between two stamps is a stall, ...
constexpr std::uint64_t kLong = 16;         // ... if it is so many times what is usual
constexpr std::size_t kFewest = 4;          // stamps that a slope needs
constexpr std::uint64_t kLittle = 8;        // what is that part of the time wanted, or less
constexpr double kPause = 0.5;              // between packets, by what the bytes of the next stamp take
constexpr std::uint64_t kLonger = 2;        // a stream that was disturbed may take so many times as long, ...
constexpr double kBucketWas =
    2.0; // ... or one that is so many times slower now than in all: a bucket had to be emptied
constexpr double kLineSpeed = 0.6; // what passes a bucket takes at most that share of the time
constexpr double kKnee = 0.75;     // of a bucket, by which that is judged
constexpr double kBucketNs = 50e3; // less than that delays nothing noticeably

} // namespace

Stream::Stream(const fsbml_streaming_limits_t &limits) noexcept : limits_(limits) {}

// All that is under way is disturbed; what is sent from now on counts again.
void Stream::disturbed() noexcept
{
    beyond_ = sent_;
    fresh_ = true;
    away_ = true;
}

std::uint32_t Stream::next(std::uint64_t now_ns) noexcept
{
    if (0 != looked_ns_ && now_ns > looked_ns_ + kAwayNs && sent_ > 0) {
        paused_ = sent_; // what is under way arrives as it would have
        away_ = true;
    }
    looked_ns_ = now_ns;
    if (arrived_ > 0 && 0 == began_ns_) {
        began_ns_ = now_ns;
    }
    if (arrived_ != seen_) { // something has come
        if (now_ns - came_ns_ > kLongNs && 0 != came_ns_ && !stalled_) {
            began_ns_ += now_ns - came_ns_; // the time of one stall does not count
            stalled_ = true;
            disturbed();
        }
        came_ns_ = now_ns;
    }
    const bool waits = !stalled_ && now_ns - came_ns_ > kLongNs;
    if (!ended_ && 0 != began_ns_ && !waits) {
        const std::uint64_t elapsed = now_ns - began_ns_;
        const bool longer =
            away_ || (n_ >= kFewest && slope(recent(), n_ - 1) > kBucketWas * slope(0, n_ - 1));
        const std::uint64_t longest = limits_.longest_ns * (longer ? kLonger : 1);
        ended_ = elapsed >= longest || sent_ >= kMost
                 || (elapsed >= limits_.wanted_ns && arrived_ != seen_ && enough());
    }
    seen_ = arrived_;
    if (ended_) {
        return 0;
    }
    const std::uint64_t has = std::max(arrived_, backlog_.acknowledged());
    const std::uint64_t most = (0 != backlog_.acknowledged() ? kDeep : 1) * kUnderWay;
    const std::uint64_t slowly =
        std::min(kFirst + has, most * std::max(limits_.wanted_ns, kUsualNs) / kUsualNs + arrived_ / kShare);
    std::uint64_t window = away_ ? slowly : std::min(slowly, kFirst);
    if (n_ >= kFewest) {
        const double ns_per_byte = slope(recent(), n_ - 1);
        const double carried = ns_per_byte > 0.0
                                   ? static_cast<double>(limits_.wanted_ns) / kHorizon / ns_per_byte
                                   : static_cast<double>(slowly);
        window = std::min(slowly, static_cast<std::uint64_t>(std::min(carried, 1e9)));
    }
    const std::uint64_t least = std::max<std::uint64_t>(limits_.least_bytes, kFrame);
    const std::uint64_t bytes =
        std::min<std::uint64_t>(std::max(least, window / kMessages), limits_.most_bytes);
    const std::uint64_t under_way = sent_ - arrived_;
    return under_way + bytes <= std::max(window, kMessages * bytes) ? static_cast<std::uint32_t>(bytes) : 0;
}

void Stream::arrived(std::uint64_t bytes, std::uint64_t stamp_ns, bool away) noexcept
{
    if (bytes <= arrived_ || bytes > sent_ || stamp_ns < last_.ns) {
        return; // late, or nonsense
    }
    arrived_ = bytes;
    last_ = Stamp{stamp_ns, bytes, false};
    if (0 == any_.bytes || (late_ && !away)) { // a late one at the beginning would make the rail look faster
        any_ = last_;
        late_ = away;
    }
    if (away) {
        disturbed();
    }
    if (bytes <= beyond_) {
        return;
    }
    if (stamp_.size() == n_) { // every other one will do
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            if (0 == i % 2 || stamp_[i].first) {
                stamp_[kept++] = stamp_[i];
            }
        }
        n_ = std::min(kept, stamp_.size() - 1);
    }
    if (0 != paused_ && bytes > paused_) {
        fresh_ = true;
        paused_ = 0;
    }
    stamp_[n_++] = Stamp{stamp_ns, bytes, fresh_};
    fresh_ = false;
}

double Stream::slope(std::size_t from, std::size_t to) const noexcept
{
    const double bytes = static_cast<double>(stamp_[to].bytes - stamp_[from].bytes);
    return bytes > 0.0 ? static_cast<double>(stamp_[to].ns - stamp_[from].ns) / bytes : 0.0;
}

// Where what counts for the rail's speed at the moment begins: more than one packet.
std::size_t Stream::recent() const noexcept
{
    const std::uint64_t before = stamp_[n_ - 1].ns - limits_.wanted_ns / kRecent;
    const auto end = stamp_.begin() + static_cast<std::ptrdiff_t>(n_ - kFewest);
    const auto since =
        std::partition_point(stamp_.begin(), end, [&](const Stamp &s) { return s.ns < before; });
    return static_cast<std::size_t>(since - stamp_.begin()) - (since != stamp_.begin() ? 1 : 0);
}

// A frame that is lost holds TCP up: so long an interval is none of the rail's.
std::uint64_t Stream::stall_ns() const
{
    std::vector<std::uint64_t> interval;
    for (std::size_t i = 1; i < n_; ++i) {
        if (!stamp_[i].first) {
            interval.push_back(stamp_[i].ns - stamp_[i - 1].ns);
        }
    }
    if (interval.empty()) {
        return kLongNs;
    }
    const auto middle = interval.begin() + static_cast<std::ptrdiff_t>(interval.size() / 2);
    std::nth_element(interval.begin(), middle, interval.end());
    return std::max(kLongNs, kLong * *middle);
}

// The stamps of [begin, end) at which a packet had passed: the last ones of those that came with it. With
// offloads a packet holds many messages, which arrive at once, after a pause for all of them.
std::vector<std::size_t> Stream::packets(std::size_t begin, std::size_t end) const
{
    std::vector<std::size_t> last;
    const double usual = end - begin > 1 ? slope(begin, end - 1) : 0.0;
    for (std::size_t i = begin; i + 1 < end; ++i) {
        const double bytes = static_cast<double>(stamp_[i + 1].bytes - stamp_[i].bytes);
        if (static_cast<double>(stamp_[i + 1].ns - stamp_[i].ns) >= kPause * usual * bytes) {
            last.push_back(i);
        }
    }
    if (end > begin && 2 * last.size() >= end - begin) {
        last.push_back(end - 1); // a packet each
    }
    return last;
}

std::vector<Stream::Half> Stream::halves() const
{
    std::vector<Half> all;
    std::vector<Half> rough; // of fewer packets
    std::uint64_t ns = 0;    // that all of them took
    const std::uint64_t stall = stall_ns();
    for (std::size_t begin = 0, end = 0; begin < n_; begin = end) {
        for (end = begin + 1; end < n_ && !stamp_[end].first && stamp_[end].ns - stamp_[end - 1].ns < stall;
             ++end) {
        }
        const std::uint64_t middle = stamp_[begin].ns + (stamp_[end - 1].ns - stamp_[begin].ns) / 2;
        std::size_t from = begin;
        while (from + kFewest + 1 < end && stamp_[from].ns < middle) {
            ++from;
        }
        Half half = packets(from, end);
        // What was taken in at once, after a pause too short to be noticed, is none of the rail's.
        if (half.size() > 1 && half.back() - half.front() >= kFewest && took(half) >= kAwayNs / 4) {
            ns += took(half);
            all.push_back(std::move(half));
            continue;
        }
        if (!half.empty() && half.back() < end - 1) {
            half.push_back(end - 1);
        }
        if (half.size() > 1 && took(half) >= kAwayNs) {
            rough.push_back(std::move(half));
        }
    }
    // Where little else is known, that may be what a bucket lets pass after a pause, and the few large
    // packets that came long behind each other tell more.
    if (ns < limits_.wanted_ns / kLittle) {
        std::move(rough.begin(), rough.end(), std::back_inserter(all));
    }
    return all;
}

std::uint64_t Stream::took(const Half &half) const noexcept
{
    return stamp_[half.back()].ns - stamp_[half.front()].ns;
}

bool Stream::enough() const
{
    const std::vector<Half> all = halves();
    std::uint64_t ns = 0;
    for (const Half &h : all) {
        ns += took(h);
    }
    if (all.empty() || 4 * ns < limits_.wanted_ns) {
        return false;
    }
    const Half &last = all.back();
    const std::size_t middle = last[last.size() / 2];
    const double before = slope(last.front(), middle);
    const double after = slope(middle, last.back());
    return last.size() >= kFewest && last.back() - last.front() >= 2 * kFewest
           && std::fabs(after - before) <= kSteady * std::max(after, before);
}

// How many bytes the first stamps were ahead of the rate G, of those that count together from the beginning.
double Stream::bucket(double G) const noexcept
{
    std::size_t end = 1;
    while (end < n_ && !stamp_[end].first) {
        ++end;
    }
    if (end < kFewest) {
        return 0.0;
    }
    const auto line = [&](std::size_t i) {
        return static_cast<double>(stamp_[i].bytes - stamp_[0].bytes)
               - static_cast<double>(stamp_[i].ns - stamp_[0].ns) / G;
    };
    const double ahead = line((end - 1) - (end - 1) / 4);
    // A stream begins slowly and falls behind, the bucket being full; what it makes good does not count,
    // either.
    std::size_t behind = 0;
    std::size_t knee = 1;
    for (; knee + 1 < end && line(knee) < kKnee * ahead; ++knee) {
        behind = line(knee) <= 0.0 ? knee : behind;
    }
    if (ahead * G < kBucketNs || slope(behind, knee) > kLineSpeed * G) {
        return 0.0;
    }
    return ahead + static_cast<double>(stamp_[0].bytes); // the first message passed with the bucket
}

// All that there is, with the pauses, but no slower than what the kernel has done meanwhile.
double Stream::whole() const noexcept
{
    const double took = last_.ns > any_.ns ? static_cast<double>(last_.ns - any_.ns)
                                                 / static_cast<double>(last_.bytes - any_.bytes)
                                           : 0.0;
    return backlog_.G() > 0.0 ? std::min(took, backlog_.G()) : took;
}

fsbml_rate_t Stream::rate() const
{
    struct Slope {
        double ns_per_byte;
        double ns; // that it stands for
    };
    fsbml_rate_t rate{};
    rate.bytes = arrived_;
    std::vector<Slope> slopes;
    for (const Half &h : halves()) {
        const auto bytes = [&](std::size_t from, std::size_t to) {
            return stamp_[h[to]].bytes - stamp_[h[from]].bytes;
        };
        const std::size_t fewest = h.back() - h.front() >= kFewest ? kFewest : 1;
        const auto long_enough = [&](std::size_t from, std::size_t to) {
            return h[to] - h[from] >= fewest && 2 * bytes(from, to) >= bytes(0, h.size() - 1);
        };
        const std::size_t before = slopes.size();
        for (std::size_t from = 0, to = 0; long_enough(from, h.size() - 1); ++from) {
            while (!long_enough(from, to)) {
                ++to;
            }
            slopes.push_back(Slope{slope(h[from], h[to]), 0.0});
        }
        const double ns = static_cast<double>(took(h));
        std::for_each(slopes.begin() + static_cast<std::ptrdiff_t>(before), slopes.end(),
                      [&](Slope &s) { s.ns = ns / static_cast<double>(slopes.size() - before); });
    }
    std::sort(slopes.begin(), slopes.end(),
              [](const Slope &a, const Slope &b) { return a.ns_per_byte < b.ns_per_byte; });
    // By time, as what a bucket lets pass after each pause is soon over.
    const auto quantile = [&](double share) {
        double left = share
                      * std::accumulate(slopes.begin(), slopes.end(), 0.0,
                                        [](double sum, const Slope &s) { return sum + s.ns; });
        std::size_t i = 0;
        while (i + 1 < slopes.size() && left >= slopes[i].ns) {
            left -= slopes[i++].ns;
        }
        return slopes[i].ns_per_byte;
    };
    if (!slopes.empty() && quantile(0.5) > 0.0) {
        rate.stamps = static_cast<std::uint32_t>(n_);
        rate.G_ns_per_byte = quantile(0.5);
        rate.low_ns_per_byte = quantile(0.1);
        rate.high_ns_per_byte = quantile(0.9);
        rate.steady = enough();
        // Between long pauses nothing may have passed but a bucket, which fills in each.
        if (backlog_.G() > 0.0 && whole() > kFar * rate.G_ns_per_byte) {
            rate.G_ns_per_byte = rate.high_ns_per_byte = whole();
            rate.low_ns_per_byte = rate.G_ns_per_byte / 2.0;
            rate.steady = false;
        }
    } else if (whole() > 0.0) {
        rate.G_ns_per_byte = rate.high_ns_per_byte = whole();
        rate.low_ns_per_byte = rate.G_ns_per_byte / 4.0;
    } else {
        return rate;
    }
    rate.G_ns_per_byte = std::clamp(rate.G_ns_per_byte, kMinG, kMaxG);
    rate.burst_bytes = bucket(rate.G_ns_per_byte);
    return rate;
}

} // namespace fsbml
