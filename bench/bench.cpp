// What the benchmark programs share: options, the samples' statistics, output.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "bench.hpp"

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace fsbml::bench
{
namespace
{

bool parse_integer(const std::string &text, long low, long high, long &value)
{
    char *end = nullptr;
    errno = 0;
    value = std::strtol(text.c_str(), &end, 10);
    return !text.empty() && errno == 0 && *end == '\0' && value >= low && value <= high;
}

bool parse_seconds(const std::string &text, double &value)
{
    char *end = nullptr;
    errno = 0;
    value = std::strtod(text.c_str(), &end);
    return !text.empty() && errno == 0 && *end == '\0' && std::isfinite(value) && value >= 0 && value <= 3600;
}

template <typename Number>
bool parse_list(const std::string &text, long low, long high, std::vector<Number> &list)
{
    list.clear();
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
        long value = 0;
        if (!parse_integer(item, low, high, value)) {
            return false;
        }
        list.push_back(static_cast<Number>(value));
    }
    return !list.empty() && text.back() != ',';
}

// The arm stands in JSON and tab-separated lines as it is, so it must not need escapes.
bool parse_arm(const std::string &text, std::string &arm)
{
    arm = text;
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '+';
    });
}

bool parse_operations(const std::string &text, std::vector<std::string> &operations)
{
    operations.clear();
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
        if (item != "barrier" && item != "allreduce" && item != "alltoall") {
            return false;
        }
        operations.push_back(item);
    }
    return !operations.empty();
}

bool apply(int option, const std::string &value, Settings &settings)
{
    long number = 0;
    switch (option) {
    case 'a':
        return parse_arm(value, settings.arm);
    case 'n':
        return parse_list(value, 1, 65536, settings.counts);
    case 's':
        return parse_list(value, 0, 1L << 30, settings.sizes);
    case 'o':
        return parse_operations(value, settings.operations);
    case 't':
        return parse_seconds(value, settings.seconds);
    case 'm':
        settings.min_samples = parse_integer(value, 1, 1000000, number) ? static_cast<int>(number) : 0;
        return settings.min_samples > 0;
    case 'M':
        settings.max_samples = parse_integer(value, 1, 1000000, number) ? static_cast<int>(number) : 0;
        return settings.max_samples > 0;
    default:
        return false;
    }
}

} // namespace

int parse_options(int argc, char **argv, const char *usage, bool speaks, Settings &settings)
{
    const option known[] = {{"arm", required_argument, nullptr, 'a'},
                            {"messages", required_argument, nullptr, 'n'},
                            {"sizes", required_argument, nullptr, 's'},
                            {"operations", required_argument, nullptr, 'o'},
                            {"seconds", required_argument, nullptr, 't'},
                            {"min-samples", required_argument, nullptr, 'm'},
                            {"max-samples", required_argument, nullptr, 'M'},
                            {"no-verify", no_argument, nullptr, 'V'},
                            {"json", no_argument, nullptr, 'j'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};
    const char *program = argv[0];
    opterr = speaks ? 1 : 0;
    for (int option = 0, index = 0; (option = getopt_long(argc, argv, "h", known, &index)) != -1;) {
        if (option == 'h') {
            if (speaks) {
                std::fputs(usage, stdout);
            }
            return 1;
        }
        if (option == 'V') {
            settings.verify = false;
        } else if (option == 'j') {
            settings.json = true;
        } else if (option == '?' || !apply(option, optarg, settings)) {
            if (speaks && option != '?') {
                std::fprintf(stderr, "%s: --%s does not take '%s'; --help tells what it takes\n", program,
                             known[index].name, optarg);
            }
            return 2;
        }
    }
    if (optind < argc || settings.min_samples > settings.max_samples) {
        if (speaks && optind < argc) {
            std::fprintf(stderr, "%s: '%s' is not an option\n", program, argv[optind]);
        } else if (speaks) {
            std::fprintf(stderr, "%s: --min-samples is more than --max-samples\n", program);
        }
        return 2;
    }
    return 0;
}

int sample_count(const Settings &settings, double seconds)
{
    double fits = seconds > 0 ? settings.seconds / seconds : settings.max_samples;
    return std::clamp(static_cast<int>(std::min(fits, 1e6)), settings.min_samples, settings.max_samples);
}

double quantile(std::vector<double> samples, double part)
{
    std::sort(samples.begin(), samples.end());
    double place = part * static_cast<double>(samples.size() - 1);
    auto below = static_cast<std::size_t>(place);
    std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
}

void print_header(const Settings &settings)
{
    if (!settings.json) {
        std::printf(
            "bench\toperation\tarm\tmessages\tbytes\tmedian_us\tquartile1_us\tquartile3_us\tsamples\n");
    }
}

void print_point(const Settings &settings, const Point &point)
{
    double median = quantile(point.samples_us, 0.5);
    if (!settings.json) {
        std::printf("%s\t%s\t%s\t%d\t%zu\t%.3f\t%.3f\t%.3f\t%zu\n", point.bench.c_str(),
                    point.operation.c_str(), settings.arm.c_str(), point.count, point.size, median,
                    quantile(point.samples_us, 0.25), quantile(point.samples_us, 0.75),
                    point.samples_us.size());
    } else {
        std::printf("{\"bench\":\"%s\",\"operation\":\"%s\",\"arm\":\"%s\",\"messages\":%d,\"bytes\":%zu,"
                    "\"median_us\":%.3f,"
                    "\"samples_us\":[",
                    point.bench.c_str(), point.operation.c_str(), settings.arm.c_str(), point.count,
                    point.size, median);
        const char *separator = "";
        for (double sample : point.samples_us) {
            std::printf("%s%.3f", separator, sample);
            separator = ",";
        }
        std::printf("]}\n");
    }
    std::fflush(stdout);
}

void print_init(const Settings &settings, const std::string &bench, double seconds)
{
    if (settings.json) {
        std::printf("{\"bench\":\"%s\",\"operation\":\"init\",\"arm\":\"%s\",\"seconds\":%.6f}\n",
                    bench.c_str(), settings.arm.c_str(), seconds);
    } else {
        std::printf("# MPI_Init took %.3f s\n", seconds);
    }
}

void fill(unsigned char *buffer, std::size_t size, std::uint32_t round, std::uint32_t message)
{
    for (std::size_t offset = 0; offset < size; ++offset) {
        buffer[offset] = pattern(round, message, offset);
    }
}

std::size_t first_wrong(const unsigned char *buffer, std::size_t size, std::uint32_t round,
                        std::uint32_t message)
{
    std::size_t offset = 0;
    while (offset < size && buffer[offset] == pattern(round, message, offset)) {
        ++offset;
    }
    return offset;
}

} // namespace fsbml::bench
