// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "records/records.hpp"

#include "formats/formats.hpp"
#include "formats/wire.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace fsbml
{

namespace
{

constexpr const char *kVersion = "2";

// Before the names of the other direction's members.
constexpr const char kBack[] = "back.";

bool is_word(const std::string &text)
{
    return !text.empty() && '#' != text[0] && std::string::npos == text.find_first_of(" \t\r\n\v\f");
}

std::string check_of(const std::string &text)
{
    char hex[16];
    const std::uint32_t crc = wire::crc32(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
    (void) std::snprintf(hex, sizeof hex, "%08x", crc);
    return hex;
}

void write(Text &out, const std::string &name, double value, bool also_zero)
{
    if (also_zero || 0.0 != value) {
        out << " " << name << "=" << value;
    }
}

// The number that a name stands for; nullptr if there is none.
double *number_of(fsbml_fit_t &fit, const std::string &name)
{
    const bool back = 0 == name.compare(0, sizeof kBack - 1, kBack);
    fsbml_loggp_t &model = back ? fit.back : fit.params;
    const std::string member = back ? name.substr(sizeof kBack - 1) : name;
    for (std::size_t i = 0; i < kMemberCount; ++i) {
        if (member == kMemberNames[i]) {
            return &(model.*kMembers[i]);
        }
    }
    return name == "duplex"     ? &fit.duplex
           : name == "together" ? &fit.together
           : name == "residual" ? &fit.residual
                                : nullptr;
}

bool read_rail(Words &words, fsbml_table_rail_t &rail, std::string &reason)
{
    std::string key;
    std::string name;
    std::string word;
    (void) words.next(key);
    (void) words.next(name);
    if (key.empty() || name.empty() || key.size() >= sizeof rail.key || name.size() >= sizeof rail.name) {
        reason = "a rail has no key and name, or too long ones";
        return false;
    }
    rail = fsbml_table_rail_t{};
    rail.fit.tight = true; // parameters that are written down are sure
    key.copy(rail.key, key.size());
    name.copy(rail.name, name.size());
    while (words.next(word)) {
        const std::size_t at = word.find('=');
        const std::string what = word.substr(0, at);
        double value = 0.0;
        if (std::string::npos == at || !read_number(word.substr(at + 1), value) || value < 0.0
            || (("tight" == what || "in_turn" == what) && value > 1.0)) {
            reason = "'" + word + "' is not a parameter and its value";
            return false;
        }
        if (double *const member = number_of(rail.fit, what)) {
            *member = value;
        } else if (what == "probes" && value <= std::numeric_limits<std::uint32_t>::max()) {
            rail.fit.probes = static_cast<std::uint32_t>(value);
        } else if (what == "tight") {
            rail.fit.tight = value > 0.0;
        } else if (what == "in_turn") {
            rail.fit.in_turn = value > 0.0;
        } else {
            reason = "there is no parameter '" + what + "'";
            return false;
        }
    }
    rail.fit.valid = valid(rail.fit.params) && fit_sane(rail.fit);
    if (!rail.fit.valid) {
        reason = "the parameters of rail " + name + " are not complete, or out of range";
    }
    return rail.fit.valid;
}

} // namespace

std::string table_to_file(const fsbml_table_t &t, const std::string &fingerprint)
{
    Text out(9);
    if (fingerprint.empty() || std::string::npos != fingerprint.find('\n')) {
        return "";
    }
    out << "fsbml-table " << kVersion
        << "\n# Parameters of rails as FSBML measured them: L, o, g and burst in ns, O and G in ns/byte, "
           "break in "
           "bytes. What is not\n# there is 0. To pin them, copy this file, edit the copy, and start jobs "
           "with --mca "
           "bml_fsbml_table COPY.\nof "
        << fingerprint << "\n";
    for (std::uint32_t i = 0; i < t.n_rails && i < FSBML_MAX_RAILS; ++i) {
        const std::string key = text_of(t.rail[i].key);
        const std::string name = text_of(t.rail[i].name);
        if (!is_word(key) || !is_word(name)) {
            return "";
        }
        out << "rail " << key << " " << name;
        const fsbml_fit_t &fit = t.rail[i].fit;
        for (std::size_t k = 0; k < kMemberCount; ++k) {
            write(out, kMemberNames[k], fit.params.*kMembers[k], k < kAlwaysNamed);
        }
        for (std::size_t k = 0; k < kMemberCount; ++k) {
            write(out, std::string(kBack) + kMemberNames[k], fit.back.*kMembers[k], false);
        }
        write(out, "duplex", fit.duplex, false);
        write(out, "together", fit.together, false);
        write(out, "residual", fit.residual, true);
        write(out, "in_turn", fit.in_turn ? 1.0 : 0.0, false);
        write(out, "tight", fit.tight ? 1.0 : 0.0, true);
        out << " probes=" << fit.probes << "\n";
    }
    return out.str() + "check " + check_of(out.str()) + "\n";
}

int table_from_file(fsbml_table_t &t, const std::string &text, const char *fingerprint, std::string &reason)
{
    fsbml_table_t got{};
    std::string of;
    bool begun = false;
    bool checked = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        Words words(text.substr(at, end - at));
        std::string word;
        (void) words.next(word);
        if (checked && nullptr != fingerprint) {
            reason = "something follows its check";
            return -EBADMSG;
        }
        if (!begun) {
            std::string version;
            (void) words.next(version);
            begun = word == "fsbml-table";
            if (!begun || version != kVersion) {
                reason = begun ? "it is of version " + version + ", this is FSBML's version " + kVersion
                               : "it does not begin with 'fsbml-table'";
                return begun ? -EPROTO : -EBADMSG;
            }
        } else if (word == "of") {
            of = at + 3 <= end ? text.substr(at + 3, end - at - 3) : "";
        } else if (word == "rail") {
            if (got.n_rails == FSBML_MAX_RAILS) {
                reason = "it has too many rails";
                return -EBADMSG;
            }
            if (!read_rail(words, got.rail[got.n_rails++], reason)) {
                return -EBADMSG;
            }
        } else if (word == "check") {
            std::string crc;
            (void) words.next(crc);
            checked = crc == check_of(text.substr(0, at));
        } else if (!word.empty() && '#' != word[0]) {
            reason = "nothing begins with '" + word.substr(0, 32) + "'";
            return -EBADMSG;
        }
        at = end + 1;
    }
    if (!begun || 0 == got.n_rails) {
        reason = "it has no rails";
        return -EBADMSG;
    }
    if (nullptr != fingerprint && !checked) {
        reason = "it is damaged: its check is wrong or missing";
        return -EBADMSG;
    }
    if (nullptr != fingerprint && of != fingerprint) {
        reason = "it is of other rails, nodes or versions";
        return -ESTALE;
    }
    t = got;
    return 0;
}

} // namespace fsbml
