// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "link.hpp"

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace fsbml::link
{
namespace
{

struct Unit {
    const char *name;
    double factor;
};

const std::vector<Unit> kRates = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
const std::vector<Unit> kTimes = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
const std::vector<Unit> kBytes = {{"", 1.0}, {"b", 1.0}, {"kb", 1e3}, {"mb", 1e6}};
const std::vector<Unit> kShares = {{"%", 0.01}};

struct Quantity {
    const char *key;
    const std::vector<Unit> &units;
    double least, most; // in the base unit
    const char *range;  // for users
};

const Quantity kQuantities[] = {
    {"rate", kRates, 1e6, 1e10, "a rate from 1mbit to 10gbit, such as 200mbit"},
    {"delay", kTimes, 0.0, 10e9, "a time up to 10s, such as 100us"},
    {"jitter", kTimes, 0.0, 10e9, "a time up to 10s, such as 20us"},
    {"loss", kShares, 0.0, 1.0, "a share from 0% to 100%, such as 0.1%"},
    {"queue", kBytes, 1514.0, 1e9, "from 1514 bytes (a frame) to 1000mb, such as 400kb"},
};

double value_of(const Quantity &quantity, const std::string &text)
{
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    // strtod also takes "inf", "nan" and hexadecimal numbers: a digit must come first, and no x.
    const bool plain =
        !text.empty() && (text[0] >= '0' && text[0] <= '9') && text.find_first_of("xX") == std::string::npos;
    for (const Unit &unit : quantity.units) {
        const double value = number * unit.factor;
        if (plain && unit.name == std::string(end) && value >= quantity.least && value <= quantity.most) {
            return value;
        }
    }
    throw std::invalid_argument(fmt::format("{}={}: give {}", quantity.key, text, quantity.range));
}

} // namespace

void change(Shape &shape, const std::string &word)
{
    if (word == "up" || word == "down") {
        shape.down = word == "down";
        return;
    }
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    for (const Quantity &quantity : kQuantities) {
        if (equals == std::string::npos || key != quantity.key) {
            continue;
        }
        const double value = value_of(quantity, word.substr(equals + 1));
        if (key == "rate") {
            shape.rate = static_cast<std::uint64_t>(std::llround(value));
        } else if (key == "delay") {
            shape.delay = std::llround(value);
        } else if (key == "jitter") {
            shape.jitter = std::llround(value);
        } else if (key == "loss") {
            shape.loss = value;
        } else {
            shape.queue = static_cast<std::uint64_t>(std::llround(value));
        }
        return;
    }
    throw std::invalid_argument(
        fmt::format("'{}': unknown; there are rate=, delay=, jitter=, loss=, queue=, up and down", word));
}

void change_all(Shape &shape, const std::vector<std::string> &words)
{
    Shape changed = shape;
    for (const std::string &word : words) {
        change(changed, word);
    }
    shape = changed;
}

void change_half(Shape &shape, const std::vector<std::string> &words)
{
    Shape changed = shape;
    for (const std::string &word : words) {
        change(changed, word);
        if (word.rfind("delay=", 0) == 0) {
            changed.delay /= 2;
        } else if (word.rfind("jitter=", 0) == 0) {
            changed.jitter /= 2;
        } else if (word.rfind("loss=", 0) == 0) {
            changed.loss = 1.0 - std::sqrt(1.0 - changed.loss); // both halves pass with 1 - loss
        }
    }
    shape = changed;
}

std::string text_of(const Shape &shape)
{
    std::string text =
        shape.rate > 0 ? fmt::format("rate={:g}mbit ", static_cast<double>(shape.rate) / 1e6) : "";
    return text
           + fmt::format("delay={:g}us jitter={:g}us loss={:g}% queue={} {}",
                         static_cast<double>(shape.delay) / 1e3, static_cast<double>(shape.jitter) / 1e3,
                         shape.loss * 100.0, shape.queue, shape.down ? "down" : "up");
}

} // namespace fsbml::link
