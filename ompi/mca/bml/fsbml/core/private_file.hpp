// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Small files of one user, which many jobs read and replace at once.
#ifndef FSBML_PRIVATE_FILE_HPP
#define FSBML_PRIVATE_FILE_HPP

#include <string>

namespace fsbml
{

// Reads a whole file. 0 or a negative errno (-ENOENT: there is none), and then the reason. With
// `trusted_only`, a file of another user, or that others can write, is refused (-EPERM); what is no file, or
// longer than 1 MiB, always is.
int read_file(const std::string &path, bool trusted_only, std::string &text, std::string &reason);

// Replaces a file as a whole (mode 0600): others see the old or the new one, never a part; of several writers
// the last one wins. Makes the folders above it (0700). 0 or a negative errno, and then the reason; nothing
// is left over.
int replace_file(const std::string &path, const std::string &text, std::string &reason);

} // namespace fsbml

#endif
