// The command line of a benchmark program, by CLI11.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "points.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace fsbml::bench
{

struct Options::Parser {
    Parser(const std::string &name, const std::string &about) : app(about, name) {}

    CLI::App app;
};

namespace
{

// The arm stands in JSON and tab-separated lines as it is, so it must not need escapes.
std::string check_arm(const std::string &text)
{
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '+' || c == ':' || c == '/'
               || c == '=';
    });
    return plain ? "" : "letters, digits and -_.+:/= only";
}

} // namespace

Options::Options(const std::string &program, const std::string &about)
    : parser_(std::make_unique<Parser>(program, about))
{
    CLI::App &app = parser_->app;
    app.get_formatter()->column_width(26);
    app.option_defaults()->always_capture_default();
    app.add_option("--arm", settings_.arm, "names this launch in the output")
        ->check(CLI::Validator(check_arm, "NAME"));
    app.add_option("--seconds", settings_.seconds, "time for the samples of one point")
        ->check(CLI::Range(0.0, 3600.0));
    add("min-samples", settings_.min_samples, 1, 1000000, "minimum samples of a point");
    add("max-samples", settings_.max_samples, 1, 1000000, "maximum samples of a point");
    add("no-verify", no_verify_, "leave out the runs that check every byte, one a point");
    add("json", settings_.json, "one JSON object a line with all samples, instead of a table");
    add("turns", settings_.turns, std::vector<std::string>{},
        "I/N:FILE: job I of N on this host that take turns (bench --interleaved)");
}

Options::~Options() = default;

void Options::add(const std::string &name, int &value, int low, int high, const std::string &help)
{
    parser_->app.add_option("--" + name, value, help)->check(CLI::Range(low, high));
}

void Options::add(const std::string &name, std::uint64_t &value, const std::string &help)
{
    parser_->app.add_option("--" + name, value, help);
}

void Options::add(const std::string &name, std::vector<int> &values, int low, int high,
                  const std::string &help)
{
    parser_->app.add_option("--" + name, values, help)->delimiter(',')->check(CLI::Range(low, high));
}

void Options::add(const std::string &name, std::vector<std::size_t> &values, std::size_t low,
                  std::size_t high, const std::string &help)
{
    parser_->app.add_option("--" + name, values, help)->delimiter(',')->check(CLI::Range(low, high));
}

void Options::add(const std::string &name, std::string &value, const std::vector<std::string> &choices,
                  const std::string &help)
{
    CLI::Option *option = parser_->app.add_option("--" + name, value, help);
    if (!choices.empty()) {
        option->check(CLI::IsMember(choices));
    }
}

void Options::add(const std::string &name, std::vector<std::string> &values,
                  const std::vector<std::string> &choices, const std::string &help)
{
    parser_->app.add_option("--" + name, values, help)->delimiter(',')->check(CLI::IsMember(choices));
}

void Options::add(const std::string &name, bool &flag, const std::string &help)
{
    parser_->app.add_flag("--" + name, flag, help);
}

std::vector<std::string> last_of_each(const std::vector<std::string> &words)
{
    // An option and its value, or a word by itself.
    std::vector<std::pair<std::string, std::vector<std::string>>> parts;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool option = words[i].rfind("--", 0) == 0;
        const std::string name = option ? words[i].substr(0, words[i].find('=')) : "";
        std::vector<std::string> part = {words[i]};
        if (option && name == words[i] && i + 1 < words.size() && words[i + 1].rfind("--", 0) != 0) {
            part.push_back(words[++i]);
        }
        const auto earlier = std::find_if(parts.begin(), parts.end(),
                                          [&](const auto &known) { return option && known.first == name; });
        if (earlier != parts.end()) {
            parts.erase(earlier);
        }
        parts.emplace_back(name, part);
    }
    std::vector<std::string> kept;
    for (const auto &part : parts) {
        kept.insert(kept.end(), part.second.begin(), part.second.end());
    }
    return kept;
}

int Options::parse(int argc, char **argv, bool speaks)
{
    const std::string program = parser_->app.get_name();
    try {
        std::vector<std::string> words = last_of_each({argv + 1, argv + argc});
        std::reverse(words.begin(), words.end()); // as CLI11 wants them
        parser_->app.parse(words);
    } catch (const CLI::CallForHelp &) {
        if (speaks) {
            std::fputs(parser_->app.help().c_str(), stdout);
        }
        return 1;
    } catch (const CLI::ParseError &error) {
        if (speaks) {
            std::fprintf(stderr, "%s: %s; --help tells what it takes\n", program.c_str(), error.what());
        }
        return 2;
    }
    settings_.verify = !no_verify_;
    if (settings_.min_samples > settings_.max_samples) {
        if (speaks) {
            std::fprintf(stderr, "%s: --min-samples is more than --max-samples\n", program.c_str());
        }
        return 2;
    }
    return 0;
}

int sample_count(const Settings &settings, double seconds)
{
    const double fits = seconds > 0 ? settings.seconds / seconds : settings.max_samples;
    return std::clamp(static_cast<int>(std::min(fits, 1e6)), settings.min_samples, settings.max_samples);
}

} // namespace fsbml::bench
