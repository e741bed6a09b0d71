// The arms of a comparison: what is launched in turns.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "arms.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fsbml::bench
{
namespace
{

const std::vector<std::string> policies = {"arrival", "thesis", "roundrobin", "single"};

std::vector<std::string> on_rails(const std::vector<std::string> &rails, RailKind kind)
{
    const std::string list = fmt::format("{}", fmt::join(rails, ","));
    return kind == RailKind::btl ? std::vector<std::string>{"--mca", "btl", "self," + list}
                                 : std::vector<std::string>{"--mca", "btl_tcp_if_include", list};
}

Arm with_bml(const std::string &name, Role role, const std::string &bml,
             const std::vector<std::string> &rails, RailKind kind)
{
    Arm arm{name, role, {"--mca", "bml", bml}};
    const std::vector<std::string> where = on_rails(rails, kind);
    arm.options.insert(arm.options.end(), where.begin(), where.end());
    return arm;
}

// UCX by itself takes no TCP in Open MPI 4.1, and shared memory would be a rail that the others do not have
// here.
Arm with_ucx(const std::vector<std::string> &rails, RailKind kind)
{
    if (kind == RailKind::btl || std::any_of(rails.begin(), rails.end(), [](const std::string &rail) {
            return rail.find('/') != std::string::npos;
        })) {
        throw std::invalid_argument("the arm ucx needs rails that are named by their interfaces");
    }
    return {"ucx",
            Role::peer,
            {"--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices",
             "any", "-x", "UCX_TLS=tcp,self", "-x",
             fmt::format("UCX_NET_DEVICES={}", fmt::join(rails, ","))}};
}

void add(std::vector<Arm> &arms, Arm arm)
{
    const bool known =
        std::any_of(arms.begin(), arms.end(), [&](const Arm &other) { return other.name == arm.name; });
    if (!known) {
        arms.push_back(std::move(arm));
    }
}

} // namespace

std::vector<Arm> make_arms(const std::vector<std::string> &requests, const std::vector<std::string> &rails,
                           RailKind kind)
{
    std::vector<Arm> arms;
    for (const std::string &request : requests) {
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
    }
    return arms;
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
