// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary (fsbml_core.h): checks arguments, turns exceptions into errno values, and otherwise only
// forwards. What its parts (*_api.cpp) have in common.
#ifndef FSBML_DOOR_HPP
#define FSBML_DOOR_HPP

#include "api/fsbml_core.h"

#include <cerrno>
#include <new>

namespace fsbml
{

// Nothing thrown leaves the core.
template <class F>
auto guard(F &&body) noexcept -> decltype(body())
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return -ENOMEM;
    } catch (...) {
        return -EINVAL; // the library throws nothing else but for arguments that it does not like
    }
}

// The same for constructors of handles: nullptr and errno.
template <class Handle, class F>
Handle *guard_new(F &&body) noexcept
{
    Handle *handle = nullptr;
    const int rc = guard([&] {
        handle = body();
        return 0;
    });
    if (0 != rc) {
        errno = -rc;
        return nullptr;
    }
    return handle;
}

} // namespace fsbml

#endif
