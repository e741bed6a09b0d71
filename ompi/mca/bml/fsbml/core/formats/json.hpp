// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What is written as JSON: texts, numbers, a measured rail. Numbers are JSON's, whatever the program's
// locale, and texts are UTF-8, whatever bytes they have. What is not known is null.
#ifndef FSBML_JSON_HPP
#define FSBML_JSON_HPP

#include "api/fsbml_core.h"
#include "formats/text.hpp"

#include <cstddef>
#include <cstring>
#include <string>

namespace fsbml
{

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
