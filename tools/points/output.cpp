// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "points.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace fsbml::bench
{

double launch_figure(std::vector<double> samples, const std::string &unit)
{
    const bool rate = is_rate(unit);
    if (rate) {
        std::transform(samples.begin(), samples.end(), samples.begin(), [](double x) { return 1 / x; });
    }
    std::sort(samples.begin(), samples.end());
    if (samples.size() >= 10) {
        samples.resize(samples.size() - std::max<std::size_t>(samples.size() / 50, 1));
    }
    const double mean =
        std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
    return rate ? 1 / mean : mean;
}

void print_header(const Settings &settings)
{
    if (!settings.json) {
        std::printf(
            "bench\toperation\tvariant\tarm\tmessages\tbytes\tunit\tmean\tquartile1\tquartile3\tsamples\n");
    }
}

void print_point(const Settings &settings, const Point &point)
{
    const double mean = launch_figure(point.samples, point.unit);
    if (!settings.json) {
        std::printf("%s\t%s\t%s\t%s\t%d\t%zu\t%s\t%.3f\t%.3f\t%.3f\t%zu\n", point.bench.c_str(),
                    point.operation.c_str(), point.variant.empty() ? "-" : point.variant.c_str(),
                    settings.arm.c_str(), point.messages, point.bytes, point.unit.c_str(), mean,
                    quantile(point.samples, 0.25), quantile(point.samples, 0.75), point.samples.size());
        std::fflush(stdout);
        return;
    }
    std::printf("{\"bench\":\"%s\",\"operation\":\"%s\",\"variant\":\"%s\",\"arm\":\"%s\",\"messages\":%d,"
                "\"bytes\":%zu,\"unit\":\"%s\",\"mean\":%.3f,\"traffic\":{",
                point.bench.c_str(), point.operation.c_str(), point.variant.c_str(), settings.arm.c_str(),
                point.messages, point.bytes, point.unit.c_str(), mean);
    const char *separator = "";
    for (const auto &[name, bytes] : point.traffic) {
        std::printf("%s\"%s\":%llu", separator, name.c_str(), static_cast<unsigned long long>(bytes));
        separator = ",";
    }
    std::printf("},\"samples\":[");
    separator = "";
    for (double sample : point.samples) {
        std::printf("%s%.3f", separator, sample);
        separator = ",";
    }
    std::printf("]}\n");
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

} // namespace fsbml::bench
