// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What is written and read: text and JSON, whatever the program's locale; digests of texts; files that are
// replaced as a whole. Bytes on the wire are in wire.hpp.
#ifndef FSBML_FORMATS_HPP
#define FSBML_FORMATS_HPP

#include "api/fsbml_core.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace fsbml
{

// How a step of the file system is said to have failed: -error, and in `reason` what the step was about.
inline int failed(std::string &reason, const char *what, int error)
{
    reason = std::string(what) + ": " + std::strerror(error);
    return -error;
}

// ---- Files of one user, which many jobs read and replace at once. Those that are read are small.

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

// The digest of a text: equal on two processes iff their texts are (fsbml_digest() in fsbml_table.h).
// 32-bit FNV-1a (Fowler, Noll, Vo): offset basis 2166136261, prime 16777619.
inline std::uint32_t digest(const char *text) noexcept
{
    std::uint32_t hash = 2166136261U;
    for (const char *c = text; nullptr != c && '\0' != *c; ++c) {
        hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
    }
    return hash;
}

// ---- Text that is written, and words that are read, whatever the program's locale. In place of the
// standard streams, which would bring the locales of the C++ library into each process that links it
// statically.

// So many digits, as "%g" of printf has it; all that is needed for more.
std::string number_text(double value, int digits);

// So many digits behind the point.
std::string fixed_text(double value, int digits);

// A finite number of which nothing is left over; no blank, no sign of "inf", no hexadecimal.
bool read_number(const std::string &text, double &out);

class Text
{
public:
    explicit Text(int digits = 6) : digits_(digits) {}

    Text &operator<<(const std::string &text)
    {
        text_ += text;
        return *this;
    }
    Text &operator<<(const char *text)
    {
        text_ += text;
        return *this;
    }
    Text &operator<<(char c)
    {
        text_ += c;
        return *this;
    }
    Text &operator<<(double value) { return *this << number_text(value, digits_); }
    template <typename Whole,
              typename = std::enable_if_t<std::is_integral_v<Whole> && !std::is_same_v<Whole, bool>>>
    Text &operator<<(Whole value)
    {
        return *this << std::to_string(value);
    }

    const std::string &str() const { return text_; }

private:
    std::string text_;
    int digits_;
};

// What a field of a record holds, which may have no end of its own.
template <std::size_t N>
std::string text_of(const char (&field)[N])
{
    return std::string(field, strnlen(field, N));
}

// Words between blanks, one after the other.
class Words
{
public:
    explicit Words(std::string text) : text_(std::move(text)) {}

    // False, and "": there is none left.
    bool next(std::string &word);

private:
    std::string text_;
    std::size_t at_ = 0;
};

// ---- What is written as JSON: texts, numbers, a measured rail. Numbers are JSON's, whatever the program's
// locale, and texts are UTF-8, whatever bytes they have. What is not known is null.

// Bytes of the character of UTF-8 that begins there; 0: none does (RFC 3629).
std::size_t utf8_character(const std::string &text, std::size_t at);

// A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(const std::string &text);

// The same of a record's array, which may be full to its end.
template <std::size_t N>
std::string json_text(const char (&text)[N])
{
    return json_string(std::string(text, strnlen(text, N)));
}

// The same of a text that there may not be.
inline std::string json_text_or_null(const char *text)
{
    return nullptr == text ? "null" : json_string(text);
}

class JsonWriter
{
public:
    Text &out() { return out_; }

    void number(const char *name, double value);

    // 0 stands for "not known".
    void known(const char *name, double value);

    // Of a record that is all 0, nothing is known.
    void parameters(const char *name, const fsbml_loggp_t &p);

    // The members of a rail's object: its names and all of its fit.
    void rail(const fsbml_table_rail_t &rail);

protected:
    Text out_{10};
};

} // namespace fsbml

#endif
