// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of reports (fsbml_explain.h).

#include "api/fsbml_explain.h"

#include "door/door.hpp"
#include "explain/forms/forms.hpp"
#include "formats/formats.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

std::string report_of(const fsbml_job_t &job, fsbml_form_t form)
{
    switch (form) {
    case FSBML_FORM_JSON:
        return fsbml::report_json(job);
    case FSBML_FORM_HTML:
        return fsbml::report_page(job);
    case FSBML_FORM_TEXT:
        break;
    }
    return fsbml::report_text(job);
}

bool ends_with(const std::string &text, const char *end)
{
    const std::size_t n = std::strlen(end);
    if (text.size() < n) {
        return false;
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (end[i] != std::tolower(static_cast<unsigned char>(text[text.size() - n + i]))) {
            return false;
        }
    }
    return true;
}

// A copy for the caller to free.
char *given(const std::string &text)
{
    char *const copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (nullptr != copy) {
        std::memcpy(copy, text.c_str(), text.size() + 1);
    }
    return copy;
}

} // namespace

extern "C" {

fsbml_form_t fsbml_form_of(const char *path) noexcept
{
    fsbml_form_t form = FSBML_FORM_TEXT;
    (void) fsbml::guard([&] {
        const std::string name = nullptr == path ? "" : path;
        form = ends_with(name, ".json")                              ? FSBML_FORM_JSON
               : ends_with(name, ".html") || ends_with(name, ".htm") ? FSBML_FORM_HTML
                                                                     : FSBML_FORM_TEXT;
        return 0;
    });
    return form;
}

char *fsbml_plan(const fsbml_plan_t *plan) noexcept
{
    char *text = nullptr;
    if (nullptr != plan && plan->n_rails > 0 && plan->n_rails <= FSBML_MAX_RAILS) {
        static_cast<void>(fsbml::guard([&] {
            text = given(fsbml::plan_text(*plan));
            return 0;
        }));
    }
    return text;
}

int fsbml_job_report_store(const char *path, const fsbml_job_t *job, char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == reason || nullptr == job || nullptr == job->summary) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        std::string why;
        int rc = 0;
        const std::string report = report_of(*job, fsbml_form_of(path));
        if (0 == std::strcmp(path, "-")) {
            if (report.size() != std::fwrite(report.data(), 1, report.size(), stdout)
                || 0 != std::fflush(stdout)) {
                why = "it cannot be written to stdout";
                rc = 0 == errno ? -EIO : -errno;
            }
        } else {
            rc = fsbml::replace_file(path, report, fsbml::For::Umask, why);
        }
        (void) std::snprintf(reason, FSBML_REASON_MAX, "%s", why.c_str());
        return rc;
    });
}

} // extern "C"
