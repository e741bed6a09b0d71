// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Files of one user, which many jobs read and replace at once. Those that are read are small.
#ifndef FSBML_WHOLE_FILE_HPP
#define FSBML_WHOLE_FILE_HPP

#include <cstddef>
#include <string>
#include <utility>

namespace fsbml
{

// Reads a whole file. 0 or a negative errno (-ENOENT: there is none), and then the reason. With
// `trusted_only`, a file of another user, or that others can write, is refused (-EPERM); what is no file, or
// longer than 1 MiB, always is.
int read_file(const std::string &path, bool trusted_only, std::string &text, std::string &reason);

// Users that may read a file that is made, and enter the folders: its owner alone, or all that the umask
// allows.
enum class For { User, Umask };

// Replaces a file as a whole: others see the old or the new one, never a part; of several writers the last
// one wins. Makes the folders above it. 0 or a negative errno, and then the reason; nothing is left over.
int replace_file(const std::string &path, const std::string &text, For users, std::string &reason);

// The same for what is written piece by piece: a file that takes its name once all of it is there. What has
// not is removed with the object.
class NewFile
{
public:
    NewFile(std::string path, For users) : path_(std::move(path)), for_(users) {}
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    // 0 or a negative errno, and then the reason. After a failure nothing else is done.
    int begin(std::string &reason);
    // 0 or a negative errno; throws nothing.
    int write(const char *text, std::size_t length) noexcept;
    // Says the reason of failures of write(), too.
    int end(std::string &reason);

private:
    int open_temporary();

    std::string path_, temporary_;
    const For for_;
    int fd_ = -1;
    int error_ = 0; // the first one of write()
};

} // namespace fsbml

#endif
