// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Where the report of a job goes: a file of the form that its name says, as a whole and with the user's
// rights, or stdout.

#include "around.hpp"
#include "jobs.hpp"

#include "test.hpp"

#include <sys/stat.h>

struct JobReportFile : FolderTest {
    JobReportFile() : FolderTest("new/report.html") {}
};

TEST_F(JobReportFile, TakesItsFormFromTheName)
{
    EXPECT_EQ(fsbml_form_of("a/b.json"), FSBML_FORM_JSON);
    EXPECT_EQ(fsbml_form_of("b.HTML"), FSBML_FORM_HTML);
    EXPECT_EQ(fsbml_form_of("b.htm"), FSBML_FORM_HTML);
    for (const char *const text : {"-", "report", "json", "a.json/b", "", "report.txt"}) {
        EXPECT_EQ(fsbml_form_of(text), FSBML_FORM_TEXT) << text;
    }
    EXPECT_EQ(fsbml_form_of(nullptr), FSBML_FORM_TEXT);
}

TEST_F(JobReportFile, IsStoredAsAWhole)
{
    Job j = two_rails();
    char reason[FSBML_REASON_MAX] = "";
    const mode_t before = umask(027);
    ASSERT_EQ(fsbml_job_report_store(path.c_str(), &j.get(), reason), 0) << reason;
    (void) umask(before);
    struct stat st;
    ASSERT_EQ(stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0640U) << "the umask decides who may read a report";
    ASSERT_EQ(stat((folder + "/new").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0750U);
    std::ifstream file(path);
    const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(page, report(j.get(), FSBML_FORM_HTML));
    EXPECT_LT(fsbml_job_report_store((path + "/below").c_str(), &j.get(), reason), 0);
    EXPECT_NE(std::string(reason), "");
    EXPECT_EQ(fsbml_job_report_store(nullptr, &j.get(), reason), -EINVAL);
    EXPECT_EQ(fsbml_job_report_store(path.c_str(), nullptr, reason), -EINVAL);
}

TEST_F(JobReportFile, GoesToStdout)
{
    Job j = two_rails();
    char reason[FSBML_REASON_MAX] = "";
    testing::internal::CaptureStdout();
    const int rc = fsbml_job_report_store("-", &j.get(), reason);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_EQ(rc, 0) << reason;
    EXPECT_EQ(out, report(j.get(), FSBML_FORM_TEXT));
}
