// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Traces as text: read and written without loss and in bounded memory; what is malformed, refused by its
// line.
#include "sim/traffic/traffic.hpp"
#include "workloads.hpp"

#include "../unit/test.hpp"

#include <new>
#include <streambuf>

// Bytes that are allocated now, and at most so far: reading a trace must not need more for a longer one.
static std::size_t g_live = 0;
static std::size_t g_most = 0;

static void *counted(std::size_t bytes)
{
    constexpr std::size_t kHead = alignof(std::max_align_t);
    auto *p = static_cast<unsigned char *>(std::malloc(bytes + kHead));
    if (p == nullptr) {
        throw std::bad_alloc();
    }
    *reinterpret_cast<std::size_t *>(p) = bytes;
    g_live += bytes;
    g_most = std::max(g_most, g_live);
    return p + kHead;
}

static void counted_free(void *p) noexcept
{
    if (p != nullptr) {
        auto *head = static_cast<unsigned char *>(p) - alignof(std::max_align_t);
        g_live -= *reinterpret_cast<std::size_t *>(head);
        std::free(head);
    }
}

void *operator new(std::size_t bytes)
{
    return counted(bytes);
}
void *operator new[](std::size_t bytes)
{
    return counted(bytes);
}
void operator delete(void *p) noexcept
{
    counted_free(p);
}
void operator delete[](void *p) noexcept
{
    counted_free(p);
}
void operator delete(void *p, std::size_t) noexcept
{
    counted_free(p);
}
void operator delete[](void *p, std::size_t) noexcept
{
    counted_free(p);
}

namespace fsbml::sim
{
namespace
{

TEST(Trace, IsReadAsPeopleWriteIt)
{
    const Workload w = workload_of("# two ranks, by hand\n"
                                   "\n"
                                   "fsbml-trace 1 ranks 3 name a  small one # name\r\n"
                                   "  0\tsend 1 4096   # there\r\n"
                                   "1 recv 0\n"
                                   "1 compute 1500.25\n"
                                   "1 until 2000000.001\n"
                                   "1 send 0 0\n"
                                   "0 recv any");
    Workload expected;
    expected.name = "a  small one";
    expected.process = {{{Op::Kind::send, 1, 4096, 0}, {Op::Kind::recv, kAnyPeer, 0, 0}},
                        {{Op::Kind::recv, 0, 0, 0},
                         {Op::Kind::compute, 0, 0, 1500250},
                         {Op::Kind::until, 0, 0, 2000000001},
                         {Op::Kind::send, 0, 0, 0}},
                        {}};
    EXPECT_TRUE(same(w, expected));
    EXPECT_EQ(text_of(w), "fsbml-trace 1 ranks 3 name a  small one\n"
                          "0 send 1 4096\n"
                          "0 recv any\n"
                          "1 recv 0\n"
                          "1 compute 1500.25\n"
                          "1 until 2000000.001\n"
                          "1 send 0 0\n"
                          "end 6\n");
}

TEST(Trace, ComesBackAsItWas)
{
    for (const Traffic &t : all_traffic()) {
        const Workload w = t.make(7, 3);
        EXPECT_TRUE(same(workload_of(text_of(w)), w)) << t.name;
    }
    Workload extremes;
    extremes.process = {{{Op::Kind::send, 1, ~std::uint64_t{0}, 0},
                         {Op::Kind::compute, 0, 0, std::numeric_limits<Time>::max()},
                         {Op::Kind::until, 0, 0, 0},
                         {Op::Kind::until, 0, 0, 10},
                         {Op::Kind::until, 0, 0, 999}},
                        {}};
    EXPECT_TRUE(same(workload_of(text_of(extremes)), extremes));
}

TEST(Trace, WriterRefusesWhatTheFormCannotSay)
{
    const auto refused = [](const Op &op) {
        EXPECT_THROW(text_of(Workload{"w", {{op}, {}}}), std::invalid_argument);
    };
    refused({Op::Kind::send, 2, 1, 0});
    refused({Op::Kind::send, 0, 1, 0});
    refused({Op::Kind::send, kAnyPeer, 1, 0});
    refused({Op::Kind::send, 1, 1, 1});
    refused({Op::Kind::recv, 1, 1, 0});
    refused({Op::Kind::recv, 2, 0, 0});
    refused({Op::Kind::compute, 0, 0, -1});
    refused({Op::Kind::until, 1, 0, 1});
    refused({static_cast<Op::Kind>(9), 0, 0, 1});
    for (const char *name : {"a\nb", " a", "a ", "a#b", "\x7f"}) {
        EXPECT_THROW(text_of(Workload{name, {{}}}), std::invalid_argument);
    }
    EXPECT_THROW(text_of(Workload{"none", {}}), std::invalid_argument);
    EXPECT_THROW(text_of(Workload{std::string(1000, 'n'), {{}}}), std::invalid_argument);
    std::ostringstream full;
    full.setstate(std::ios::badbit);
    EXPECT_THROW(write_trace(full, Workload{"w", {{}}}), std::runtime_error);
}

TEST(Trace, RefusesMalformedLinesByTheirNumber)
{
    const std::string head = "# a trace\nfsbml-trace 1 ranks 4\n0 send 1 5\n";
    const struct {
        std::string text;
        std::uint64_t line;
        const char *says;
    } cases[] = {
        {"", 1, "there is no header"},
        {"# only\n\n", 3, "there is no header"},
        {"0 send 1 5\n", 1, "'0' where 'fsbml-trace' is expected"},
        {"fsbml-trace\n", 1, "the version is missing"},
        {"fsbml-trace 2 ranks 4\n", 1, "version 2, but only 1 is known"},
        {"fsbml-trace 1 4\n", 1, "'4' where 'ranks' is expected"},
        {"fsbml-trace 1 ranks\n", 1, "the number of ranks is missing"},
        {"fsbml-trace 1 ranks 0\n", 1, "0 ranks"},
        {"\nfsbml-trace 1 ranks 4294967297\n", 2, "4294967297 ranks"},
        {"fsbml-trace 1 ranks 4 size 3\n", 1, "'size' where 'name' is expected"},
        {"fsbml-trace 1 ranks 4 name #\n", 1, "the name is missing"},
        {"fsbml-trace 1 ranks 4 name a\tb\n", 1, "a name with a tab"},
        {"# no line end", 1, "there is no header"},
        {head + "4 recv 0\n", 4, "the rank is 4, but there are 4 ranks"},
        {head + "\n\n-1 recv 0\n", 6, "the rank is '-1', not a whole number"},
        {head + "1\n", 4, "what the rank does is missing"},
        {head + "1 receive 0\n", 4, "'receive' is not send, recv, compute or until"},
        {head + "1 send\n", 4, "the peer is missing"},
        {head + "1 send 4 1\n", 4, "the peer is 4"},
        {head + "1 send 1 1\n", 4, "the peer is the rank itself"},
        {head + "1 recv 1\n", 4, "the peer is the rank itself"},
        {head + "1 send any 1\n", 4, "the peer is 'any'"},
        {head + "1 send 0\n", 4, "the number of bytes is missing"},
        {head + "1 send 0 4k\n", 4, "the number of bytes is '4k'"},
        {head + "1 send 0 18446744073709551616\n", 4, "the number of bytes is '18446744073709551616'"},
        {head + "1 send 0 4 5\n", 4, "unexpected '5' at its end"},
        {head + "1 recv 0 5\n", 4, "unexpected '5' at its end"},
        {head + "1 compute\n", 4, "the time is missing"},
        {head + "1 compute -5\n", 4, "the time is '-5', not ns"},
        {head + "1 compute 1.0005\n", 4, "the time is '1.0005'"},
        {head + "1 compute 1.\n", 4, "the time is '1.'"},
        {head + "1 compute .5\n", 4, "the time is '.5'"},
        {head + "1 compute 1e6\n", 4, "the time is '1e6'"},
        {head + "1 until 9223372036854775.808\n", 4, "more than 106 days"},
        {head + "1 until 99999999999999999999\n", 4, "the time is '99999999999999999999'"},
        {head + "1 recv \x01\n", 4, "a control character (1)"},
        {head + std::string("1 recv \0 0\n", 11), 4, "a control character (0)"},
        {head + "1 recv 0" + std::string(1000, ' ') + "\n", 4, "longer than 1000 characters"},
        {head + "1 recv \xff\n", 4, "the peer is '?'"},
        {head + "end 2\n", 4, "ends after 2, but 1 came before"},
        {head + "end 0\n", 4, "ends after 0, but 1 came before"},
        {head + "end\n", 4, "the count is missing"},
        {head + "end 1 1\n", 4, "unexpected '1' at its end"},
        {head + "end 1\n\n1 recv 0\n", 6, "something comes after the end"},
    };
    for (const auto &c : cases) {
        try {
            workload_of(c.text);
            ADD_FAILURE() << "accepted: " << c.text;
        } catch (const TraceError &e) {
            EXPECT_EQ(e.line(), c.line) << e.what();
            EXPECT_NE(std::string(e.what()).find("line " + std::to_string(c.line) + ": "), std::string::npos)
                << e.what();
            EXPECT_NE(std::string(e.what()).find(c.says), std::string::npos)
                << e.what() << "\nnot: " << c.says;
        }
    }
    std::istringstream broken;
    broken.setstate(std::ios::failbit);
    EXPECT_THROW(read_trace(broken), std::runtime_error);
}

// What is left of a trace after a few accidents is refused at a line that it has, or is a trace of its own
// that comes back as it was.
TEST(Trace, SurvivesMutations)
{
    const std::vector<std::string> words{"send",
                                         "recv",
                                         "any",
                                         "end",
                                         "#",
                                         "\n",
                                         " ",
                                         "-1",
                                         "0",
                                         "7",
                                         ".",
                                         "\xff",
                                         "fsbml-trace 1 ranks 2\n",
                                         "18446744073709551615",
                                         "until",
                                         "\r",
                                         "\t"};
    TrafficDice dice(2026);
    int refused = 0, accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text =
            text_of(all_traffic()[dice.integer(0, all_traffic().size() - 1)].make(2, i)).substr(0, 300);
        for (std::uint64_t k = dice.integer(1, 3); k > 0; --k) {
            const std::size_t at = dice.integer(0, text.size() - 1);
            switch (dice.integer(0, 4)) {
            case 0: // another byte
                text[at] = static_cast<char>(dice.integer(0, 255));
                break;
            case 1: // cut off
                text.resize(at + 1);
                break;
            case 2: // a piece is missing
                text.erase(at, dice.integer(1, 20));
                text += text.empty() ? "\n" : "";
                break;
            case 3:
                text.insert(at, words[dice.integer(0, words.size() - 1)]);
                break;
            default: // a piece twice
                text.insert(at, text.substr(dice.integer(0, at), 30));
            }
        }
        SCOPED_TRACE("seed 2026, case " + std::to_string(i) + ":\n" + text);
        try {
            const Workload w = workload_of(text);
            const std::string written = text_of(w);
            EXPECT_TRUE(same(workload_of(written), w));
            EXPECT_EQ(text_of(workload_of(written)), written);
            ++accepted;
        } catch (const TraceError &e) {
            const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
            EXPECT_GE(e.line(), 1U);
            EXPECT_LE(e.line(), lines);
            ++refused;
        }
    }
    EXPECT_GT(refused, 4000);
    EXPECT_GT(accepted, 1000);
}

// A trace that is made while it is read, so that it is nowhere as a whole.
class Made : public std::streambuf
{
public:
    explicit Made(int ops) : left_(ops) { setg(head_.data(), head_.data(), head_.data() + head_.size()); }

protected:
    int_type underflow() override
    {
        if (left_-- == 0) {
            return traits_type::eof();
        }
        setg(line_.data(), line_.data(), line_.data() + line_.size());
        return traits_type::to_int_type(*gptr());
    }

private:
    int left_;
    std::string head_ = "fsbml-trace 1 ranks 2\n";
    std::string line_ = "0 send 1 123\n";
};

class Counter : public TraceSink
{
public:
    void begin(const TraceHeader &header) override { ranks = header.ranks; }
    void op(std::uint32_t, const Op &o) override { bytes += o.bytes; }
    void end() override { over = true; }
    std::uint32_t ranks = 0;
    std::uint64_t bytes = 0;
    bool over = false;
};

// Written to nowhere.
class Nowhere : public std::streambuf
{
public:
    std::uint64_t characters = 0;

protected:
    int_type overflow(int_type c) override
    {
        ++characters;
        return traits_type::not_eof(c);
    }
};

TEST(Trace, IsReadAndWrittenInBoundedMemory)
{
    const auto most = [](int ops) {
        Made made(ops);
        std::istream in(&made);
        Counter counter;
        const std::size_t before = g_most = g_live;
        read_trace(in, counter);
        EXPECT_TRUE(counter.over);
        EXPECT_EQ(counter.ranks, 2U);
        EXPECT_EQ(counter.bytes, static_cast<std::uint64_t>(ops) * 123);
        return g_most - before;
    };
    EXPECT_EQ(most(1000000), most(10));

    const auto writes = [](int ops) {
        Made made(ops);
        std::istream in(&made);
        Nowhere nowhere;
        std::ostream out(&nowhere);
        TraceWriter writer(out);
        const std::size_t before = g_most = g_live;
        read_trace(in, writer); // through, op by op
        EXPECT_GT(nowhere.characters, static_cast<std::uint64_t>(ops) * 13);
        return g_most - before;
    };
    EXPECT_EQ(writes(1000000), writes(10));
}

} // namespace
} // namespace fsbml::sim
