// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause
#include "explain/verdict/verdict.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace fsbml
{
namespace
{

constexpr double kFarSlower = 5.0;
constexpr double kMostMbit = 10000.0; // that a single connection can be expected to fill

bool sees(const fsbml_end_t &end, std::uint32_t what) noexcept
{
    return 0 != (end.seen & what);
}

bool known(const std::uint8_t (&device)[6]) noexcept
{
    return std::any_of(std::begin(device), std::end(device), [](std::uint8_t byte) { return 0 != byte; });
}

std::string text(const std::uint8_t (&device)[6])
{
    char s[18];
    (void) std::snprintf(s, sizeof s, "%02x:%02x:%02x:%02x:%02x:%02x", device[0], device[1], device[2],
                         device[3], device[4], device[5]);
    return s;
}

// What one end sends has reached the other, or surely has not.
enum class Way { Unknown, Open, Closed };

Way way_to(const fsbml_end_t &end, const fsbml_end_t &from) noexcept
{
    if (sees(end, FSBML_END_HEARD | FSBML_END_CONNECTED | FSBML_END_HALF_OPEN)) {
        return Way::Open;
    }
    if (sees(end, FSBML_END_QUIET | FSBML_END_UNRESOLVED)) {
        return Way::Closed; // with an answer, or any question, there would be an address
    }
    // An address can be known from long ago. If the other has none, it was learnt from the other's question
    // just now.
    return sees(end, FSBML_END_RESOLVED) && sees(from, FSBML_END_UNRESOLVED) ? Way::Open : Way::Unknown;
}

Diagnosis one_way(const fsbml_end_t &from, const fsbml_end_t &to)
{
    return {FSBML_FAULT_ONE_WAY, std::string("what ") + from.node + " sends arrives at " + to.node
                                     + ", but what " + to.node + " sends does not arrive at " + from.node};
}

// One end by itself.
bool says_of_itself(const fsbml_end_t &end, Diagnosis &found)
{
    if (sees(end, FSBML_END_ASTRAY)) {
        found = {FSBML_FAULT_LOOP, std::string("what ") + end.node + " sends on it comes to " + end.name};
        return true;
    }
    if (sees(end, FSBML_END_NO_CARRIER)) {
        found = {FSBML_FAULT_CUT,
                 std::string("the interface has no carrier on ") + end.node + ": its cable is out"};
        return true;
    }
    return false;
}

// What one end sends comes in there again. If it gets to the other end as well, that is no fault.
bool leads_back(const fsbml_end_t &end, const fsbml_end_t *other, Diagnosis &found)
{
    if (!sees(end, FSBML_END_ECHO)
        || (nullptr != other && sees(*other, FSBML_END_HEARD | FSBML_END_CONNECTED | FSBML_END_HALF_OPEN))) {
        return false;
    }
    found = {FSBML_FAULT_LOOP, std::string("what ") + end.node + " sends on it comes back to " + end.node
                                   + " itself: its cabling makes a loop"};
    return true;
}

// The other's address leads to another device than that of its interface.
bool leads_elsewhere(const fsbml_end_t &end, const fsbml_end_t &other, Diagnosis &found)
{
    if (!sees(end, FSBML_END_RESOLVED) || !known(end.neighbour) || !known(other.device)
        || 0 == std::memcmp(end.neighbour, other.device, sizeof end.neighbour)) {
        return false;
    }
    found = {FSBML_FAULT_LOOP, std::string(other.address) + " is the address of " + other.node + ", but for "
                                   + end.node + " another device (" + text(end.neighbour)
                                   + ") answers to it"};
    return true;
}

// What one end has sent is not acknowledged: large frames never were, or now nothing is any more.
bool is_stuck(const fsbml_end_t &end, const fsbml_end_t *other, Diagnosis &found)
{
    if (!sees(end, FSBML_END_CONNECTED) || !sees(end, FSBML_END_STUCK)) {
        return false;
    }
    if (sees(end, FSBML_END_PROVED)) {
        found = {FSBML_FAULT_CUT, std::string("it worked at first; then what ") + end.node
                                      + " sends is not acknowledged any more"};
        return true;
    }
    std::string sizes = std::to_string(end.mtu) + " bytes, the MTU of the interface";
    if (nullptr != other && 0 != other->mtu && other->mtu != end.mtu) {
        sizes = std::to_string(std::max(end.mtu, other->mtu)) + " bytes, the MTU on "
                + (end.mtu > other->mtu ? end.node : other->node);
    }
    found = {FSBML_FAULT_MTU, "small frames get through, but not those of " + sizes + ": an MTU black hole"};
    return true;
}

Diagnosis by_frames(const fsbml_end_t &here, const fsbml_end_t &there)
{
    const Way to_here = way_to(here, there);
    const Way to_there = way_to(there, here);
    if (Way::Open == to_there && Way::Closed == to_here) {
        return one_way(here, there);
    }
    if (Way::Open == to_here && Way::Closed == to_there) {
        return one_way(there, here);
    }
    if (Way::Closed == to_here && Way::Closed == to_there) {
        return {FSBML_FAULT_CUT, std::string("nothing gets through, neither from ") + here.node + " to "
                                     + there.node + " nor back"};
    }
    if (Way::Closed == to_here || Way::Closed == to_there) {
        const fsbml_end_t &from = Way::Closed == to_here ? there : here;
        const fsbml_end_t &to = Way::Closed == to_here ? here : there;
        return {FSBML_FAULT_CUT, std::string("nothing that ") + from.node + " sends arrives at " + to.node};
    }
    if (sees(here, FSBML_END_CONNECTED) && sees(there, FSBML_END_CONNECTED)) {
        return {FSBML_FAULT_OTHER, sees(here, FSBML_END_PROVED)
                                       ? "" // it is there: whatever took so long is not seen from the ends
                                       : "a connection stands, but no question was answered on it"};
    }
    if (sees(here, FSBML_END_RESOLVED) && sees(there, FSBML_END_RESOLVED)) {
        return {FSBML_FAULT_OTHER,
                "both ends know each other's device, but no connection comes about: a firewall?"};
    }
    return {FSBML_FAULT_OTHER, ""};
}

} // namespace

Diagnosis diagnose(const fsbml_end_t &here, const fsbml_end_t *there)
{
    Diagnosis found;
    if (says_of_itself(here, found) || (nullptr != there && says_of_itself(*there, found))) {
        return found;
    }
    if (nullptr == there) {
        if (leads_back(here, nullptr, found) || is_stuck(here, nullptr, found)) {
            return found;
        }
        if (sees(here, FSBML_END_UNRESOLVED)) {
            return {FSBML_FAULT_CUT,
                    std::string("no device answers to the other end's address on ") + here.node};
        }
        return found;
    }
    if (!sees(*there, FSBML_END_HAS)) {
        found = {FSBML_FAULT_SUBNET, std::string("it is in ") + here.network + " on " + here.node + ", where "
                                         + there->node + " has no address"};
        if ('\0' != there->network[0]) {
            found.why += std::string("; that has one in ") + there->network;
        }
        return found;
    }
    if ('\0' != here.address[0] && 0 == std::strcmp(here.address, there->address)) {
        return {FSBML_FAULT_LOOP, std::string(here.node) + " and " + there->node
                                      + " have the same address on it, " + here.address};
    }
    if (leads_back(here, there, found) || leads_back(*there, &here, found)) {
        return found;
    }
    if (leads_elsewhere(here, *there, found) || leads_elsewhere(*there, here, found)
        || is_stuck(here, there, found) || is_stuck(*there, &here, found)) {
        return found;
    }
    return by_frames(here, *there);
}

Diagnosis diagnose_speed(const fsbml_end_t &here, const fsbml_end_t *there, double G_ns, double G_before_ns)
{
    char why[FSBML_REASON_MAX];
    const double measured = G_ns > 0.0 ? 1e9 / G_ns : 0.0; // bytes a second
    const double before = G_before_ns > 0.0 ? 1e9 / G_before_ns : 0.0;
    double said = sees(here, FSBML_END_HARDWARE) ? here.speed_mbit : 0.0;
    said = nullptr != there && sees(*there, FSBML_END_HARDWARE) ? std::min<double>(said, there->speed_mbit)
                                                                : 0.0;
    if (measured > 0.0 && before > kFarSlower * measured) {
        (void) std::snprintf(why, sizeof why, "it carries %.3g MB/s, where an earlier job measured %.3g MB/s",
                             measured / 1e6, before / 1e6);
        return {FSBML_FAULT_SLOW, why};
    }
    if (measured > 0.0 && std::min(said, kMostMbit) * 1e6 / 8.0 > kFarSlower * measured) {
        (void) std::snprintf(why, sizeof why,
                             "it carries %.3g MB/s, though its speed is said to be %.4g Mbit/s",
                             measured / 1e6, said);
        return {FSBML_FAULT_SLOW, why};
    }
    return {};
}

} // namespace fsbml
