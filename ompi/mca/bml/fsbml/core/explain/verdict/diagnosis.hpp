// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The cause of a rail's fault, from what the two ends see. Strong signs first: what an end says of itself (no
// carrier, its network, its address) before what follows from frames that came or did not.
#ifndef FSBML_DIAGNOSIS_HPP
#define FSBML_DIAGNOSIS_HPP

#include "api/fsbml_diagnosis.h"

#include <string>

namespace fsbml
{

struct Diagnosis {
    fsbml_fault_kind_t kind = FSBML_FAULT_OTHER;
    std::string why; // "": nothing is known
};

Diagnosis diagnose(const fsbml_end_t &here, const fsbml_end_t *there);
Diagnosis diagnose_speed(const fsbml_end_t &here, const fsbml_end_t *there, double G_ns, double G_before_ns);

} // namespace fsbml

#endif
