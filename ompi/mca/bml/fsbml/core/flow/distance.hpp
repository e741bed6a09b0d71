// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How much farther a peer is on each rail than the table says, which one pair of nodes has measured: L may
// differ by a switch.
//
// The kernel knows the shortest round trip of each connection, the ends' interrupts included and their
// processes not. So it is compared with the kernel's of the pair that measured, and not with L: both have the
// same in them. Half of what it is longer is what the rail adds to L. Only what a peer's rails differ by can
// change a choice, so the nearest rail adds nothing, even where it is nearer than measured.
//
// What disturbs a round trip only makes it longer, so the shortest of a few is one, and the shortest of many
// is the network's. A rail counts as farther only once it has shown many; the nearest, with which it is
// compared, may have shown few, since it can only be nearer than it seems. A difference counts from 10 us and
// a quarter of the way on, and then until it is half of that; one that counts is changed by half of that or
// more.
#ifndef FSBML_FLOW_DISTANCE_HPP
#define FSBML_FLOW_DISTANCE_HPP

#include "api/fsbml_flow.h"

namespace fsbml
{

// See fsbml_distance().
std::uint32_t distance(std::uint32_t rails, const fsbml_round_trip_t *rail, double *extra_ns) noexcept;

} // namespace fsbml

#endif
