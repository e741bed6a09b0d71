// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Control frames: of what the paths want to say, as much as goes by one of them in one frame.
#ifndef FSBML_CONTROL_HPP
#define FSBML_CONTROL_HPP

#include "delivery/peer/peer.hpp"

namespace fsbml
{

// True if some path wants to say something, and there is a connection for it.
bool control_next(Way *ways, std::uint32_t n, const Connection &c, fsbml_delivery_action_t *out) noexcept;
// The frame was not sent: its records are wanted again.
void control_unsent(Way *ways, std::uint32_t n, const fsbml_delivery_action_t &action) noexcept;

} // namespace fsbml

#endif
