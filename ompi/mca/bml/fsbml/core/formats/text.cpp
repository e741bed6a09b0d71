// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "formats/formats.hpp"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace fsbml
{

namespace
{

// What the program's locale has for a point.
std::string point()
{
    const std::lconv *const conventions = std::localeconv();
    return nullptr != conventions && nullptr != conventions->decimal_point
                   && '\0' != conventions->decimal_point[0]
               ? conventions->decimal_point
               : ".";
}

std::string replaced(std::string text, const std::string &what, const std::string &by)
{
    const std::size_t at = what == by ? std::string::npos : text.find(what);
    return std::string::npos == at ? text : text.replace(at, what.size(), by);
}

std::string printed(const char *format, int digits, double value)
{
    // No double has more than 309 digits before the point.
    char text[400];
    const int n = std::snprintf(text, sizeof text, format, digits, value);
    return n > 0 && static_cast<std::size_t>(n) < sizeof text ? replaced(text, point(), ".") : "";
}

} // namespace

std::string number_text(double value, int digits)
{
    return printed("%.*g", digits, value);
}

std::string fixed_text(double value, int digits)
{
    return printed("%.*f", digits, value);
}

bool read_number(const std::string &text, double &out)
{
    if (text.empty() || std::string::npos != text.find_first_not_of("0123456789+-.eE")) {
        return false;
    }
    const std::string local = replaced(text, ".", point());
    char *end = nullptr;
    out = std::strtod(local.c_str(), &end);
    return local.c_str() + local.size() == end && std::isfinite(out);
}

bool Words::next(std::string &word)
{
    static const char *const kBlanks = " \t\r\n\v\f";
    const std::size_t begin = text_.find_first_not_of(kBlanks, at_);
    if (std::string::npos == begin) {
        word.clear();
        at_ = text_.size();
        return false;
    }
    at_ = std::min(text_.find_first_of(kBlanks, begin), text_.size());
    word = text_.substr(begin, at_ - begin);
    return true;
}

} // namespace fsbml
