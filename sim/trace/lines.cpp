// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "trace.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace fsbml::sim
{
namespace
{

constexpr std::string_view kSpace = " \t\r";

// In messages: what an editor shows, and not all of what a file may hold.
std::string quoted(std::string_view word)
{
    constexpr std::size_t kMost = 40;
    std::string s = "'";
    for (const char c : word.substr(0, kMost)) {
        s += c >= ' ' && c <= '~' ? c : '?';
    }
    return s + (word.size() > kMost ? "...'" : "'");
}

// All of it, or nothing.
bool parse(std::string_view word, std::uint64_t &value)
{
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size();
}

} // namespace

TraceError::TraceError(const std::string &source, std::uint64_t line, const std::string &why)
    : std::runtime_error((source.empty() ? "" : source + ", ") + "line " + std::to_string(line) + ": " + why),
      line_(line)
{
}

TraceLines::TraceLines(std::istream &in, std::string source) : in_(in), source_(std::move(source))
{
    if (!in_) {
        throw std::runtime_error((source_.empty() ? "the trace" : source_) + " cannot be read");
    }
}

bool TraceLines::read()
{
    text_.clear();
    if (over_) { // the last line had no end: that is where what is missing would be
        return false;
    }
    ++line_;
    std::streambuf *buffer = in_.rdbuf();
    for (int c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
        if (c == '\n') {
            return true;
        }
        if (text_.size() == longest_) {
            fail("longer than " + std::to_string(longest_) + " characters");
        }
        if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f) {
            fail("a control character (" + std::to_string(c) + "): this is no text");
        }
        text_.push_back(static_cast<char>(c));
    }
    over_ = true;
    return !text_.empty();
}

bool TraceLines::next()
{
    while (read()) {
        std::size_t comment = text_.find('#');
        while (names_ && comment != 0 && comment != std::string::npos
               && kSpace.find(text_[comment - 1]) == std::string_view::npos) {
            comment = text_.find('#', comment + 1);
        }
        left_ = std::string_view(text_).substr(0, comment);
        if (more()) {
            return true;
        }
    }
    return false;
}

bool TraceLines::more()
{
    left_.remove_prefix(std::min(left_.find_first_not_of(kSpace), left_.size()));
    return !left_.empty();
}

std::string_view TraceLines::word(const char *what)
{
    if (!more()) {
        fail(std::string(what) + " is missing");
    }
    const std::string_view found = left_.substr(0, left_.find_first_of(kSpace));
    left_.remove_prefix(found.size());
    return found;
}

std::uint64_t TraceLines::number(const char *what)
{
    const std::string_view found = word(what);
    std::uint64_t value = 0;
    if (!parse(found, value)) {
        fail(std::string(what) + " is " + quoted(found) + ", not a whole number from 0 to 2^64 - 1");
    }
    return value;
}

std::uint64_t TraceLines::added(const char *what)
{
    const std::string_view found = word(what);
    std::uint64_t value = 0;
    if (found[0] != '+' || !parse(found.substr(1), value)) {
        fail(std::string(what) + " is " + quoted(found) + ", not a whole number with '+' before it");
    }
    return value;
}

std::uint32_t TraceLines::ranks()
{
    const std::uint64_t value = number("the number of ranks");
    if (value < 1 || value > kMostRanks) {
        fail(std::to_string(value) + " ranks: 1 to " + std::to_string(kMostRanks) + " are possible");
    }
    return static_cast<std::uint32_t>(value);
}

std::uint32_t TraceLines::rank(const char *what, std::uint32_t ranks)
{
    const std::uint64_t value = number(what);
    if (value >= ranks) {
        fail(std::string(what) + " is " + std::to_string(value) + ", but there are " + std::to_string(ranks)
             + " ranks, counted from 0");
    }
    return static_cast<std::uint32_t>(value);
}

std::uint32_t TraceLines::peer_or_any(std::uint32_t ranks)
{
    if (more() && at("any")) {
        word("");
        return kAnyPeer;
    }
    return rank("the peer", ranks);
}

Time TraceLines::time(const char *what)
{
    const std::string_view found = word(what);
    const std::size_t dot = std::min(found.find('.'), found.size());
    std::uint64_t ns = 0;
    std::uint64_t ps = 0;
    bool good = parse(found.substr(0, dot), ns);
    if (good && dot < found.size()) {
        const std::string_view decimals = found.substr(dot + 1);
        good = decimals.size() <= 3 && parse(decimals, ps);
        for (std::size_t i = decimals.size(); i < 3; ++i) {
            ps *= 10;
        }
    }
    if (!good) {
        fail(std::string(what) + " is " + quoted(found) + ", not ns with at most three decimals");
    }
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Time>::max());
    if (ns > (kMost - ps) / kPsPerNs) {
        fail(std::string(what) + " is " + quoted(found) + ", more than 106 days");
    }
    return static_cast<Time>(ns * kPsPerNs + ps);
}

void TraceLines::keyword(const char *is)
{
    const std::string_view found = word(is);
    if (found != is) {
        fail(quoted(found) + " where '" + is + "' is expected");
    }
}

bool TraceLines::at(std::string_view is) const
{
    return left_.substr(0, left_.find_first_of(kSpace)) == is;
}

void TraceLines::end(std::uint64_t count)
{
    keyword("end");
    if (const std::uint64_t said = number("the count"); said != count) {
        fail("ends after " + std::to_string(said) + ", but " + std::to_string(count) + " came before");
    }
    done();
    if (next()) {
        fail("something comes after the end");
    }
}

std::string TraceLines::name()
{
    more();
    std::string found(left_.substr(0, left_.find_last_not_of(kSpace) + 1));
    left_ = {};
    if (!valid_trace_name(found)) {
        fail(found.empty() ? "the name is missing" : "a name with a tab or line end");
    }
    return found;
}

void TraceLines::done()
{
    if (more()) {
        fail("unexpected " + quoted(word("")) + " at its end");
    }
}

bool valid_trace_name(const std::string &name)
{
    return !name.empty() && name.front() != ' ' && name.back() != ' '
           && std::none_of(name.begin(), name.end(),
                           [](char c) { return (c >= 0 && c < ' ') || c == 0x7f || c == '#'; });
}

void append_ns(std::string &to, Time time)
{
    to += std::to_string(time / kPsPerNs);
    if (time % kPsPerNs != 0) {
        const std::string decimals = std::to_string(kPsPerNs + time % kPsPerNs); // 1xyz
        to += '.';
        to.append(decimals, 1, decimals.find_last_not_of('0'));
    }
}

} // namespace fsbml::sim
