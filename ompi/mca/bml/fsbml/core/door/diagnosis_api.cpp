// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of the diagnosis: the cause of a fault, and the record of what an end sees.
#include "door/door.hpp"

#include "explain/verdict/verdict.hpp"
#include "records/records.hpp"

#include <cstdio>

namespace
{

int told(const fsbml::Diagnosis &found, char *why) noexcept
{
    (void) std::snprintf(why, FSBML_REASON_MAX, "%s", found.why.c_str());
    return found.kind;
}

} // namespace

extern "C" {

const char *fsbml_fault_name(uint32_t kind) noexcept
{
    static constexpr const char *kName[] = {"other", "cut", "slow", "subnet", "one-way", "mtu", "loop"};
    static_assert(FSBML_FAULT_LOOP + 1 == sizeof kName / sizeof kName[0], "each kind has a name");
    return kName[kind <= FSBML_FAULT_LOOP ? kind : 0];
}

size_t fsbml_end_packed_max(void) noexcept
{
    return fsbml::end_packed_max();
}

long fsbml_end_pack(const fsbml_end_t *end, void *buf, size_t len) noexcept
{
    return nullptr == end || nullptr == buf ? -EINVAL : fsbml::end_pack(*end, buf, len);
}

int fsbml_end_unpack(fsbml_end_t *end, const void *buf, size_t len) noexcept
{
    return nullptr == end ? -EINVAL : fsbml::end_unpack(*end, buf, len);
}

int fsbml_diagnose(const fsbml_end_t *here, const fsbml_end_t *there, char why[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == here || nullptr == why) {
        return -EINVAL;
    }
    return fsbml::guard([&] { return told(fsbml::diagnose(*here, there), why); });
}

int fsbml_diagnose_speed(const fsbml_end_t *here, const fsbml_end_t *there, double G_ns, double G_before_ns,
                         char why[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == here || nullptr == why) {
        return -EINVAL;
    }
    return fsbml::guard([&] { return told(fsbml::diagnose_speed(*here, there, G_ns, G_before_ns), why); });
}

} // extern "C"
