// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/account/account.hpp"

#include "formats/formats.hpp"
#include "model/model.hpp"
#include "schedule/schedule.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace fsbml
{

namespace
{

constexpr std::size_t kBlock = 65536;
// A decision's four numbers and names, and of each candidate a name and three numbers.
constexpr std::size_t kLine = 256 + FSBML_MAX_RAILS * (FSBML_NAME_MAX + 80);
static_assert(kLine < kBlock, "a block holds a line");

// What stands in a line as one word and is read as the same: neither blanks nor the marks that lines have.
std::string word_of(const char *text, const char *otherwise)
{
    std::string word(nullptr != text && '\0' != text[0] ? text : otherwise);
    for (char &c : word) {
        c = c <= ' ' || c > '~' || '|' == c ? '_' : c;
    }
    word[0] = '#' == word[0] ? '_' : word[0];
    return word.substr(0, FSBML_NAME_MAX - 1);
}

// Two rails of one name would be one to a reader.
std::vector<std::string> names_of(const fsbml_trace_t &t)
{
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < t.n_rails; ++i) {
        const std::string plain = word_of(t.name[i], "rail");
        std::string name = plain;
        for (unsigned n = 2; names.end() != std::find(names.begin(), names.end(), name); ++n) {
            name = plain.substr(0, FSBML_NAME_MAX - 8) + "~" + std::to_string(n);
        }
        names.push_back(name);
    }
    return names;
}

std::string model_words(const fsbml_loggp_t &model)
{
    std::string out;
    for (std::size_t k = 0; k < kMemberCount; ++k) {
        const double value = model.*kMembers[k];
        if (k < kAlwaysNamed || 0.0 != value) {
            // Nine digits, which users can read, if they are enough.
            double back = 0.0;
            const std::string nine = number_text(value, 9);
            const bool enough = read_number(nine, back) && !(back < value || back > value);
            out += std::string(" ") + kMemberNames[k] + "="
                   + (enough ? nine : number_text(value, std::numeric_limits<double>::max_digits10));
        }
    }
    return out;
}

std::string head_of(const fsbml_trace_t &t, const std::vector<std::string> &names, std::uint64_t lost)
{
    Text out;
    std::string node = word_of(t.node, "unknown");
    std::replace(node.begin(), node.end(), '#', '_');
    out << kDecisions << " " << kDecisionsVersion << " rank " << t.rank << " ranks " << t.ranks << " node "
        << node << " policy " << policy_name(t.policy) << " origin " << t.origin_day_ns << " every "
        << t.trace_every << " lost " << lost << " messages " << t.messages << "\n";
    for (std::uint32_t i = 0; i < t.n_rails; ++i) {
        out << "rail " << word_of(t.key[i], "unknown") << " " << names[i]
            << (t.measured[i] ? model_words(t.model[i]) : " unmeasured") << "\n";
    }
    out << "# ns peer bytes -> the rail that got it | each candidate, when it would have delivered, how long "
           "it was "
           "still busy, "
           "both in ns from then on\n";
    return out.str();
}

// Takes decisions with the observer's lock held: allocates nothing and throws nothing.
class Lines
{
public:
    Lines(NewFile &file, const fsbml_trace_t &t, const std::vector<std::string> &names)
        : file_(file), names_(names), changes_(t.changes), origin_ns_(t.origin_ns), block_(kBlock)
    {
    }

    void add(const fsbml_decision_t &d) noexcept
    {
        const std::size_t n_rails = names_.size();
        if (d.rail >= n_rails || 0 != std::uint64_t{d.candidates} >> n_rails) {
            nameless_ = true;
            return;
        }
        const std::uint64_t ns = d.now_ns > origin_ns_ ? d.now_ns - origin_ns_ : 0;
        changes_until(ns);
        last_ns_ = std::max(last_ns_, ns);
        make_room();
        put("%" PRIu64, last_ns_);
        if (FSBML_PEER_ELSEWHERE == d.peer) {
            put("%s", " elsewhere");
        } else {
            put(" %" PRIu32, d.peer);
        }
        put(" %" PRIu64 " -> %s", d.bytes, names_[d.rail].c_str());
        for (std::uint32_t left = d.candidates; 0 != left; left &= left - 1) {
            const auto i = static_cast<std::size_t>(__builtin_ctz(left));
            put(" | %s %" PRIu64 " %" PRIu64, names_[i].c_str(), d.arrival_ns[i], d.backlog_ns[i]);
            if (0 != d.extra_ns[i]) {
                put(" +%" PRIu64, d.extra_ns[i]);
            }
        }
        put("%s", "\n");
        ++n_;
    }
    bool nameless() const noexcept { return nameless_; }
    void end() noexcept
    {
        changes_until(~std::uint64_t{0});
        flush();
        put("end %" PRIu64 "\n", n_);
        flush();
    }

private:
    // In their place among the decisions.
    void changes_until(std::uint64_t ns) noexcept
    {
        for (; nullptr != changes_ && change_ < changes_->n && changes_->change[change_].ns <= ns;
             ++change_) {
            const fsbml_change_t &c = changes_->change[change_];
            const auto bits = [](double mbps) {
                return static_cast<std::uint64_t>(std::llround(1e6 * mbps));
            };
            if (c.rail >= names_.size() || !is_change(c)) {
                continue;
            }
            last_ns_ = std::max(last_ns_, c.ns);
            make_room();
            put("%" PRIu64 " rate %s %" PRIu64 " %" PRIu64 "\n", last_ns_, names_[c.rail].c_str(),
                bits(c.before_mbps), bits(c.after_mbps));
        }
    }
    void make_room() noexcept
    {
        if (kBlock - used_ < kLine) {
            flush();
        }
    }
    template <class... Values>
    void put(const char *format, Values... values) noexcept
    {
        used_ += static_cast<std::size_t>(std::snprintf(&block_[used_], kBlock - used_, format, values...));
    }
    void flush() noexcept
    {
        (void) file_.write(block_.data(), used_); // the file's end() says how it went
        used_ = 0;
    }

    NewFile &file_;
    const std::vector<std::string> &names_;
    const fsbml_changes_t *const changes_;
    std::uint32_t change_ = 0; // the next one
    const std::uint64_t origin_ns_;
    std::uint64_t last_ns_ = 0, n_ = 0;
    std::vector<char> block_;
    std::size_t used_ = 0;
    bool nameless_ = false;
};

} // namespace

int store_trace(const std::string &path, const fsbml_trace_t &t, std::string &reason)
{
    const std::vector<std::string> names = names_of(t);
    const std::uint64_t lost = t.observer->impl.trace([](void *, const fsbml_decision_t *) {}, nullptr);
    const std::string head = head_of(t, names, lost);
    NewFile file(path, For::User);
    Lines lines(file, t, names);
    if (const int rc = file.begin(reason); 0 != rc) {
        return rc;
    }
    (void) file.write(head.data(), head.size());
    const std::uint64_t then = t.observer->impl.trace(
        [](void *to, const fsbml_decision_t *d) { static_cast<Lines *>(to)->add(*d); }, &lines);
    if (lost != then) {
        reason = "messages are sent while it is written";
        return -EBUSY;
    }
    if (lines.nameless()) {
        reason = "a message went by a rail that has no name";
        return -EINVAL;
    }
    lines.end();
    return file.end(reason);
}

} // namespace fsbml
