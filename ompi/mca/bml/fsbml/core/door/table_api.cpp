// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of what processes and jobs tell each other: tables of rails, their files, reports, hellos.
#include "door/door.hpp"

#include "formats/formats.hpp"
#include "records/records.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

extern "C" {

// ---------------------------------------------------------------- tables

size_t fsbml_table_packed_max(void) noexcept
{
    return fsbml::table_packed_max();
}

long fsbml_table_pack(const fsbml_table_t *t, void *buf, size_t len) noexcept
{
    return nullptr == t || nullptr == buf ? -EINVAL : fsbml::table_pack(*t, buf, len);
}

int fsbml_table_unpack(fsbml_table_t *t, const void *buf, size_t len) noexcept
{
    return nullptr == t || nullptr == buf ? -EINVAL : fsbml::table_unpack(*t, buf, len);
}

static int table_text(const fsbml_table_t *t, const fsbml_rail_about_t *about, char *buf, size_t len) noexcept
{
    if (nullptr == t || (nullptr == buf && len > 0)) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        const std::string text = fsbml::table_text(*t, about);
        if (len > 0) {
            const std::size_t n = std::min(text.size(), len - 1);
            std::memcpy(buf, text.data(), n);
            buf[n] = '\0';
        }
        return static_cast<int>(text.size());
    });
}

int fsbml_table_text(const fsbml_table_t *t, char *buf, size_t len) noexcept
{
    return table_text(t, nullptr, buf, len);
}

int fsbml_table_display(const fsbml_table_t *t, const fsbml_rail_about_t *about, char *buf,
                        size_t len) noexcept
{
    return nullptr == about ? -EINVAL : table_text(t, about, buf, len);
}

int fsbml_table_load(const char *path, const char *fingerprint, fsbml_table_t *t,
                     char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == t || nullptr == reason) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        std::string text;
        std::string why;
        int rc = fsbml::read_file(path, nullptr != fingerprint, text, why);
        if (0 == rc) {
            rc = fsbml::table_from_file(*t, text, fingerprint, why);
        }
        std::snprintf(reason, FSBML_REASON_MAX, "%s", why.c_str());
        return rc;
    });
}

int fsbml_table_store(const char *path, const char *fingerprint, const fsbml_table_t *t,
                      char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == fingerprint || nullptr == t || nullptr == reason) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        const std::string text = fsbml::table_to_file(*t, fingerprint);
        std::string why = "a rail's name cannot stand in it";
        const int rc = text.empty() ? -EINVAL : fsbml::replace_file(path, text, fsbml::For::User, why);
        std::snprintf(reason, FSBML_REASON_MAX, "%s", 0 != rc ? why.c_str() : "");
        return rc;
    });
}

int fsbml_table_merge(fsbml_table_t *into, const fsbml_table_t *other) noexcept
{
    return nullptr == into || nullptr == other ? -EINVAL : fsbml::table_merge(*into, *other);
}

uint32_t fsbml_table_digest(const fsbml_table_t *t) noexcept
{
    uint32_t digest = 0;
    (void) fsbml::guard([&] {
        digest = nullptr != t ? fsbml::table_digest(*t) : 0;
        return 0;
    });
    return digest;
}

// --------------------------------------------------------------- reports

int fsbml_measurement_store(const char *path, const fsbml_measurement_t *report,
                            char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == report || nullptr == report->table || nullptr == reason
        || (nullptr == report->sample && report->n_samples > 0)
        || (nullptr == report->holdout && report->n_holdout > 0)) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        std::string why;
        const int rc = fsbml::replace_file(path, fsbml::measurement_text(*report), fsbml::For::Umask, why);
        std::snprintf(reason, FSBML_REASON_MAX, "%s", why.c_str());
        return rc;
    });
}

// ---------------------------------------------------------------- hellos

size_t fsbml_hello_packed_max(void) noexcept
{
    return fsbml::hello_packed_max();
}

long fsbml_hello_pack(const fsbml_hello_t *h, void *buf, size_t len) noexcept
{
    return nullptr == h || nullptr == buf ? -EINVAL : fsbml::hello_pack(*h, buf, len);
}

int fsbml_hello_unpack(fsbml_hello_t *h, const void *buf, size_t len) noexcept
{
    return nullptr == h || nullptr == buf ? -EINVAL : fsbml::hello_unpack(*h, buf, len);
}

uint32_t fsbml_digest(const char *text) noexcept
{
    return fsbml::digest(text);
}

} // extern "C"
