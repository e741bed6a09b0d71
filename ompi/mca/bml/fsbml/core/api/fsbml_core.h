/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The one boundary between FSBML's C++ core and its C callers (the MCA shim, tests, tools).
 *
 * Plain data and opaque handles only; no Open MPI type, no C++ type. Every function is noexcept:
 * those that return int return 0 (or a count) on success and a negative errno on failure
 * (-ENOMEM, -EINVAL, -EBADMSG, ...). Times are nanoseconds, sizes bytes, per-byte gaps ns/byte.
 * Nothing in here reads a clock: "now" is always an argument.
 *
 * Users include this; its parts are apart only to be readable, each built on those before. What they declare
 * is defined in core/door.
 */
#ifndef FSBML_CORE_H
#define FSBML_CORE_H

#include "api/fsbml_base.h"
#include "api/fsbml_calibration.h"
#include "api/fsbml_classes.h"
#include "api/fsbml_delivery.h"
#include "api/fsbml_diagnosis.h"
#include "api/fsbml_flow.h"
#include "api/fsbml_observe.h"
#include "api/fsbml_schedule.h"
#include "api/fsbml_table.h"

#endif /* FSBML_CORE_H */
