// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Text that is written, and words that are read, whatever the program's locale. In place of the standard
// streams, which would bring the locales of the C++ library into each process that links it statically.
#ifndef FSBML_TEXT_HPP
#define FSBML_TEXT_HPP

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace fsbml
{

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

} // namespace fsbml

#endif
