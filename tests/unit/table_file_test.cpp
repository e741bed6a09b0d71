// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Tables in files: what a job keeps for the next one, and what a user pins. Nothing damaged, foreign or
// half written is ever taken for a table.

#include "api/fsbml_core.h"
#include "around.hpp"
#include "formats/formats.hpp"
#include "records.hpp"
#include "records/records.hpp"

#include "test.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr const char *kOf =
    "measurement 1, Open MPI 4.1.4, node0 to node1, tcp:10.0.0.0/24 eth0 speed 10000 mtu 1500";

fsbml_table_t table(double scale = 1.0)
{
    fsbml_table_t t{};
    t.n_rails = 2;
    for (int i = 0; i < 2; ++i) {
        fsbml_table_rail_t &r = t.rail[i];
        std::snprintf(r.key, sizeof r.key, "tcp:10.0.%d.0/24", i);
        std::snprintf(r.name, sizeof r.name, "eth%d", i);
        r.fit.valid = true;
        r.fit.params = loggp(20e3 * scale, 7980.5, 890.25, 7000.125 + i, 41.9 * scale + 375.6 * i, 87655.0);
        r.fit.residual = 0.0008;
        r.fit.probes = 47;
        r.fit.in_turn = 1 == i;
    }
    return t;
}

void expect_same(const fsbml_table_t &a, const fsbml_table_t &b)
{
    ASSERT_EQ(a.n_rails, b.n_rails);
    for (std::uint32_t i = 0; i < a.n_rails; ++i) {
        const fsbml_fit_t &x = a.rail[i].fit;
        const fsbml_fit_t &y = b.rail[i].fit;
        EXPECT_STREQ(a.rail[i].key, b.rail[i].key);
        EXPECT_STREQ(a.rail[i].name, b.rail[i].name);
        EXPECT_TRUE(x.valid && y.valid);
        EXPECT_EQ(x.probes, y.probes);
        EXPECT_EQ(x.tight, y.tight);
        EXPECT_EQ(x.in_turn, y.in_turn);
        fsbml_fit_t p = x;
        fsbml_fit_t q = y;
        const std::vector<double *> first = numbers_of(p);
        const std::vector<double *> second = numbers_of(q);
        for (std::size_t k = 0; k < first.size(); ++k) {
            EXPECT_NEAR(*first[k], *second[k], 1e-8 * *second[k]) << "number " << k;
        }
    }
}

int parse(const std::string &text, const char *fingerprint, std::string *why = nullptr)
{
    fsbml_table_t t = table(3.0);
    const fsbml_table_t before = t;
    std::string reason;
    const int rc = fsbml::table_from_file(t, text, fingerprint, reason);
    EXPECT_EQ(0 == rc, reason.empty()) << reason;
    if (0 != rc) {
        EXPECT_EQ(std::memcmp(&t, &before, sizeof t), 0) << "changed, though " << reason;
    }
    if (nullptr != why) {
        *why = reason;
    }
    return rc;
}

std::string replaced(std::string text, const std::string &what, const std::string &with)
{
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
}

class Folder : public FolderTest
{
protected:
    Folder() : FolderTest("a/b/rails") {}

    int load(fsbml_table_t &t, const char *fingerprint = kOf)
    {
        return fsbml_table_load(path.c_str(), fingerprint, &t, reason);
    }
    int store(const fsbml_table_t &t) { return fsbml_table_store(path.c_str(), kOf, &t, reason); }

    char reason[FSBML_REASON_MAX] = "";
};

} // namespace

TEST(TableFile, ReturnsWhatWasWritten)
{
    fsbml_table_t t{};
    std::string why;
    const std::string text = fsbml::table_to_file(table(), kOf);
    ASSERT_EQ(fsbml::table_from_file(t, text, kOf, why), 0) << why;
    expect_same(t, table());
    ASSERT_EQ(fsbml::table_from_file(t, text, nullptr, why), 0) << why;
    expect_same(t, table());
}

// Every parameter that there is, and none that is 0 but for the six that each rail has.
TEST(TableFile, HasAllParameters)
{
    fsbml_table_t t = table();
    t.rail[0].fit = full_fit();
    std::string why;
    const std::string text = fsbml::table_to_file(t, kOf);
    fsbml_table_t got{};
    ASSERT_EQ(fsbml::table_from_file(got, text, kOf, why), 0) << why;
    expect_same(got, t);
    EXPECT_TRUE(got.rail[0].fit.tight);
    EXPECT_FALSE(got.rail[1].fit.tight);
    for (const char *name : {"O_s", "break", "g_above", "back.L", "back.G_above", "duplex", "together"}) {
        const std::string word = " " + std::string(name) + "=";
        const std::size_t at = text.find(word);
        EXPECT_NE(at, std::string::npos) << name;
        EXPECT_EQ(text.find(word, at + 1), std::string::npos) << name << " is 0 in the second rail";
    }
}

TEST(TableFile, KnowsNoLocale)
{
    const std::string text = fsbml::table_to_file(table(), kOf);
    const CommaLocale comma;
    EXPECT_EQ(fsbml::table_to_file(table(), kOf), text);
    EXPECT_EQ(parse(text, kOf), 0);
}

// Whatever single bit of a cache's file is another one, it is not used.
TEST(TableFile, NoDamageGoesUnseen)
{
    const std::string text = fsbml::table_to_file(table(), kOf);
    for (std::size_t i = 0; i + 1 < text.size(); ++i) { // the last newline does not matter
        for (int bit = 0; bit < 8; ++bit) {
            std::string damaged = text;
            damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
            EXPECT_NE(parse(damaged, kOf), 0) << "bit " << bit << " of byte " << i;
        }
        EXPECT_NE(parse(text.substr(0, i), kOf), 0) << "cut to " << i;
    }
    EXPECT_NE(parse(text + "rail tcp:x y L=1\n", kOf), 0);
    EXPECT_NE(parse(text + text, kOf), 0);
}

TEST(TableFile, SaysWhatIsWrong)
{
    const std::string text = fsbml::table_to_file(table(), kOf);
    const std::string rail = "rail k n L=1 o_s=1 o_r=1 g=1 G=1 burst=0\n";
    const std::string head = "fsbml-table 2\n";
    std::string many = head;
    for (int i = 0; i <= FSBML_MAX_RAILS; ++i) {
        many += rail;
    }
    const struct {
        std::string text;
        const char *fingerprint;
        int rc;
        const char *why;
    } cases[] = {
        {text, "other nodes", -ESTALE, "it is of other rails, nodes or versions"},
        {replaced(text, "table 2", "table 1"), kOf, -EPROTO, "it is of version 1, this is FSBML's version 2"},
        {replaced(text, "table 2", "table 3"), kOf, -EPROTO, "it is of version 3, this is FSBML's version 2"},
        {"", kOf, -EBADMSG, "it has no rails"},
        {"hello\n", nullptr, -EBADMSG, "it does not begin with 'fsbml-table'"},
        {head, nullptr, -EBADMSG, "it has no rails"},
        {head + rail, kOf, -EBADMSG, "it is damaged: its check is wrong or missing"},
        {head + "rails\n", nullptr, -EBADMSG, "nothing begins with 'rails'"},
        {many, nullptr, -EBADMSG, "it has too many rails"},
        {head + "rail k\n", nullptr, -EBADMSG, "a rail has no key and name, or too long ones"},
        {head + "rail k " + std::string(FSBML_NAME_MAX, 'n') + "\n", nullptr, -EBADMSG,
         "a rail has no key and name, or too long ones"},
        {head + replaced(rail, "G=1 ", ""), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "G=1", "G=0"), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "burst=0", "break=32769 g_above=1 G_above=1"), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "burst=0", "break=32769 g_above=32768"), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "burst=0", "O_s=1e4"), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "burst=0", "duplex=1e7"), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "burst=0", "back.G=1e13"), nullptr, -EBADMSG,
         "the parameters of rail n are not complete, or out of range"},
        {head + replaced(rail, "burst=0", "back.g=-1"), nullptr, -EBADMSG,
         "'back.g=-1' is not a parameter and its value"},
        {head + replaced(rail, "burst=0", "tight=2"), nullptr, -EBADMSG,
         "'tight=2' is not a parameter and its value"},
        {head + replaced(rail, "burst=0", "in_turn=2"), nullptr, -EBADMSG,
         "'in_turn=2' is not a parameter and its value"},
        {head + replaced(rail, "burst=0", "back=1"), nullptr, -EBADMSG, "there is no parameter 'back'"},
        {head + replaced(rail, "L=1", "L=-1"), nullptr, -EBADMSG, "'L=-1' is not a parameter and its value"},
        {head + replaced(rail, "L=1", "L=nan"), nullptr, -EBADMSG,
         "'L=nan' is not a parameter and its value"},
        {head + replaced(rail, "L=1", "L=1,5"), nullptr, -EBADMSG,
         "'L=1,5' is not a parameter and its value"},
        {head + replaced(rail, "L=1", "L=1e999"), nullptr, -EBADMSG,
         "'L=1e999' is not a parameter and its value"},
        {head + replaced(rail, "L=1", "L"), nullptr, -EBADMSG, "'L' is not a parameter and its value"},
        {head + replaced(rail, "L=1", "l=1"), nullptr, -EBADMSG, "there is no parameter 'l'"},
    };
    for (const auto &c : cases) {
        std::string why;
        EXPECT_EQ(parse(c.text, c.fingerprint, &why), c.rc) << c.text;
        EXPECT_EQ(why, c.why);
    }
}

// A user's file: edited by hand, with remarks, with neither check nor fingerprint.
TEST(TableFile, CanBeEdited)
{
    const std::string text = replaced(fsbml::table_to_file(table(), kOf), "G=41.9", "G=50");
    EXPECT_NE(parse(text, kOf), 0);
    fsbml_table_t t{};
    std::string why;
    ASSERT_EQ(fsbml::table_from_file(t, text, nullptr, why), 0) << why;
    EXPECT_EQ(t.rail[0].fit.params.G_ns_per_byte, 50.0);
    EXPECT_EQ(parse("fsbml-table 2\n\n# mine\n rail k n L=1 o_s=1 o_r=1 g=1 G=1.5e1 burst=0", nullptr), 0);
    EXPECT_EQ(parse("fsbml-table 2\nrail k n G=15", nullptr), 0) << "what is 0 may be left out";
}

TEST(TableFile, NamesThatCannotStandInIt)
{
    for (const char *name : {"", "a b", "a\nb", "#a"}) {
        fsbml_table_t t = table();
        std::snprintf(t.rail[1].name, sizeof t.rail[1].name, "%s", name);
        EXPECT_EQ(fsbml::table_to_file(t, kOf), "") << name;
    }
    EXPECT_EQ(fsbml::table_to_file(table(), ""), "");
    EXPECT_EQ(fsbml::table_to_file(table(), "two\nlines"), "");
}

TEST_F(Folder, KeepsATable)
{
    fsbml_table_t t{};
    EXPECT_EQ(load(t), -ENOENT);
    ASSERT_EQ(store(table()), 0) << reason;
    struct stat st;
    ASSERT_EQ(stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600U);
    ASSERT_EQ(load(t), 0) << reason;
    expect_same(t, table());
    ASSERT_EQ(store(table(2.0)), 0) << reason;
    ASSERT_EQ(load(t), 0) << reason;
    expect_same(t, table(2.0));
}

TEST_F(Folder, TrustsNobodyElse)
{
    fsbml_table_t t{};
    ASSERT_EQ(store(table()), 0) << reason;
    ASSERT_EQ(chmod(path.c_str(), 0620), 0);
    EXPECT_EQ(load(t), -EPERM);
    EXPECT_STREQ(reason, "others than this user can write it");
    EXPECT_EQ(load(t, nullptr), 0) << "a file that the user has named may be a group's: " << reason;
}

TEST_F(Folder, WhatIsNoFile)
{
    fsbml_table_t t{};
    ASSERT_EQ(store(table()), 0) << reason;
    EXPECT_EQ(fsbml_table_load(folder.c_str(), nullptr, &t, reason), -EINVAL);
    EXPECT_STREQ(reason, "it is not a file");
    const std::string pipe = folder + "/a/pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(fsbml_table_load(pipe.c_str(), nullptr, &t, reason), -EINVAL); // and does not wait
    unlink(pipe.c_str());
    ASSERT_EQ(truncate(path.c_str(), 2 << 20), 0);
    EXPECT_EQ(load(t), -EFBIG);
    const fsbml_table_t some = table();
    EXPECT_EQ(fsbml_table_store((path + "/x").c_str(), kOf, &some, reason), -ENOTDIR);
    EXPECT_EQ(fsbml_table_load(nullptr, kOf, &t, reason), -EINVAL);
    EXPECT_EQ(fsbml_table_store(path.c_str(), nullptr, &t, reason), -EINVAL);
}

// Many jobs at once: a reader finds a whole table, and no writer leaves anything behind.
TEST_F(Folder, ManyWriters)
{
    constexpr int kWriters = 4;
    std::vector<pid_t> pids;
    ASSERT_EQ(store(table()), 0) << reason;
    for (int w = 0; w < kWriters; ++w) {
        const pid_t pid = fork();
        if (0 == pid) {
            int bad = 0;
            for (int i = 0; i < 200; ++i) {
                bad += 0 != store(table(1.0 + w)) ? 1 : 0;
            }
            _exit(bad > 0 ? 1 : 0);
        }
        ASSERT_GT(pid, 0);
        pids.push_back(pid);
    }
    int seen = 0;
    for (int left = kWriters; left > 0; ++seen) {
        fsbml_table_t t{};
        ASSERT_EQ(load(t), 0) << reason;
        const double scale = t.rail[0].fit.params.L_ns / 20e3;
        expect_same(t, table(std::round(scale)));
        int status = 0;
        while (left > 0 && waitpid(-1, &status, WNOHANG) > 0) {
            EXPECT_EQ(status, 0);
            --left;
        }
    }
    EXPECT_GT(seen, 0);
}

// What is no file (/dev/null, a pipe) is written to; root must not put a file in its place.
TEST_F(Folder, APipeStaysAPipe)
{
    std::string why;
    const std::string pipe = path;
    mkdir((folder + "/a").c_str(), 0700);
    mkdir((folder + "/a/b").c_str(), 0700);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NE(fsbml::replace_file(pipe, "not read", fsbml::For::User, why), 0);
    EXPECT_EQ(why.substr(0, 16), "it cannot be mad");
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    EXPECT_EQ(fsbml::replace_file(pipe, "a report", fsbml::For::Umask, why), 0) << why;
    char got[32] = "";
    EXPECT_EQ(read(reader, got, sizeof got - 1), 8);
    EXPECT_STREQ(got, "a report");
    close(reader);
    struct stat st;
    ASSERT_EQ(lstat(pipe.c_str(), &st), 0);
    EXPECT_TRUE(S_ISFIFO(st.st_mode));
    EXPECT_NE(fsbml::replace_file(folder + "/a", "a folder", fsbml::For::User, why), 0);
}
