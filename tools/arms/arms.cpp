// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "arms.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fsbml::bench
{
namespace
{

const std::vector<std::string> policies = {"arrival", "thesis", "roundrobin", "single"};

// A request such as r2:btl_tcp_links=2:mpi_yield_when_idle=1 without its parameters, and these as mpirun's
// options. A name of a rail may have colons too, but no equals sign.
std::pair<std::string, std::vector<std::string>> without_parameters(const std::string &request)
{
    std::string rest = request;
    std::vector<std::string> options;
    for (;;) {
        const std::size_t colon = rest.rfind(':');
        const std::size_t equals = colon == std::string::npos ? colon : rest.find('=', colon);
        if (equals == std::string::npos) {
            return {rest, options};
        }
        const std::string name = rest.substr(colon + 1, equals - colon - 1);
        const std::string value = rest.substr(equals + 1);
        // What the benchmark programs take as the name of an arm (tools/points/options.cpp).
        const auto plain = [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '+' || c == '/';
        };
        if (name.empty() || value.empty() || !std::all_of(name.begin(), name.end(), plain)
            || !std::all_of(value.begin(), value.end(), plain)) {
            throw std::invalid_argument(
                fmt::format("in the arm '{}', '{}={}' is not a parameter and its value; of each, letters, "
                            "digits and -_.+/ only",
                            request, name, value));
        }
        options.insert(options.begin(), {"--mca", name, value});
        rest.erase(colon);
    }
}

std::vector<std::string> on_rails(const std::vector<std::string> &rails, RailKind kind)
{
    const std::string list = fmt::format("{}", fmt::join(rails, ","));
    return kind == RailKind::btl ? std::vector<std::string>{"--mca", "btl", "self," + list}
                                 : std::vector<std::string>{"--mca", "btl_tcp_if_include", list};
}

Arm with_bml(const std::string &name, Role role, const std::string &bml,
             const std::vector<std::string> &rails, RailKind kind)
{
    Arm arm{name, role, {"--mca", "bml", bml}, rails.size()};
    if (kind == RailKind::uneven && role != Role::rail) {
        return arm;
    }
    const std::vector<std::string> where = on_rails(rails, kind);
    arm.options.insert(arm.options.end(), where.begin(), where.end());
    return arm;
}

// UCX by itself takes no TCP in Open MPI 4.1, and shared memory would be a rail that the others do not have
// here.
Arm with_ucx(const std::vector<std::string> &rails, RailKind kind)
{
    if (kind != RailKind::network || std::any_of(rails.begin(), rails.end(), [](const std::string &rail) {
            return rail.find('/') != std::string::npos;
        })) {
        throw std::invalid_argument(
            "the arm ucx needs rails that are named by their interfaces, on all nodes");
    }
    return {"ucx",
            Role::peer,
            {"--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices",
             "any", "-x", "UCX_TLS=tcp,self", "-x", fmt::format("UCX_NET_DEVICES={}", fmt::join(rails, ","))},
            rails.size()};
}

void add(std::vector<Arm> &arms, Arm arm)
{
    const bool known =
        std::any_of(arms.begin(), arms.end(), [&](const Arm &other) { return other.name == arm.name; });
    if (!known) {
        arms.push_back(std::move(arm));
    }
}

// The arms of a request without parameters.
std::vector<Arm> arms_of(const std::string &request, const std::vector<std::string> &rails, RailKind kind)
{
    std::vector<Arm> arms;
    const std::size_t colon = request.find(':');
    const std::string policy = colon == std::string::npos ? "" : request.substr(colon + 1);
    if (request == "fsbml") {
        add(arms, with_bml(request, Role::fsbml, "fsbml", rails, kind));
    } else if (request.compare(0, 6, "fsbml:") == 0
               && std::find(policies.begin(), policies.end(), policy) != policies.end()) {
        Arm arm = with_bml(request, Role::policy, "fsbml", rails, kind);
        arm.options.insert(arm.options.end(), {"--mca", "bml_fsbml_policy", policy});
        add(arms, std::move(arm));
    } else if (request == "r2") {
        add(arms, with_bml(request, Role::r2, "r2", rails, kind));
    } else if (request == "rails") {
        for (const std::string &rail : rails) {
            add(arms, with_bml(rail, Role::rail, "r2", {rail}, kind));
        }
    } else if (request == "ucx") {
        add(arms, with_ucx(rails, kind));
    } else if (std::find(rails.begin(), rails.end(), request) != rails.end()) {
        add(arms, with_bml(request, Role::rail, "r2", {request}, kind));
    } else {
        throw std::invalid_argument(fmt::format(
            "there is no arm '{}'; there are: fsbml, fsbml:{{{}}}, r2, ucx, rails, and each rail: {}",
            request, fmt::join(policies, ","), fmt::join(rails, ", ")));
    }
    return arms;
}

} // namespace

std::vector<Arm> make_arms(const std::vector<std::string> &requests, const std::vector<std::string> &rails,
                           RailKind kind)
{
    std::vector<Arm> arms;
    for (const std::string &request : requests) {
        const auto [plain, options] = without_parameters(request);
        for (Arm &arm : arms_of(plain, rails, kind)) {
            if (!options.empty()) {
                // Not the rail alone, or the r2, that FSBML is judged by.
                arm.role = is_fsbml(arm) ? Role::policy : Role::peer;
                arm.name += request.substr(plain.size());
                arm.options.insert(arm.options.end(), options.begin(), options.end());
            }
            add(arms, std::move(arm));
        }
    }
    return arms;
}

bool is_fsbml(const Arm &arm)
{
    return arm.role == Role::fsbml || arm.role == Role::policy;
}

std::vector<std::string> names_of(const std::vector<Arm> &arms, Role role)
{
    std::vector<std::string> names;
    for (const Arm &arm : arms) {
        if (arm.role == role) {
            names.push_back(arm.name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> every_rail(const std::vector<Arm> &arms)
{
    std::vector<std::string> rails = names_of(arms, Role::rail);
    for (const Arm &arm : arms) {
        if (arm.role == Role::fsbml && arm.rails != rails.size()) {
            rails.clear();
        }
    }
    return rails;
}

void put_before_fsbml(std::vector<Arm> &arms, const std::string &best)
{
    const auto is_best = [&](const Arm &arm) { return arm.name == best; };
    const auto found = std::find_if(arms.begin(), arms.end(), is_best);
    if (found == arms.end()) {
        return;
    }
    Arm moved = *found;
    arms.erase(found);
    const auto fsbml =
        std::find_if(arms.begin(), arms.end(), [](const Arm &arm) { return arm.role == Role::fsbml; });
    arms.insert(fsbml, std::move(moved));
}

} // namespace fsbml::bench
