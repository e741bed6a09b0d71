// One-sided communication from rank 0 into the memory of rank 1, which only waits: streams of puts, gets and
// accumulates, and the latency of fetch-and-op.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/points/points.hpp"
#include "tools/session/session.hpp"

#include <algorithm>
#include <cstdio>

namespace
{

using namespace fsbml::bench;

const char *const about = "One-sided operations of rank 0 on the memory of rank 1, between MPI_Win_lock_all "
                          "and _unlock_all (put the two "
                          "on two nodes, say with --map-by node).\n"
                          "\n"
                          "put, get, accumulate: operations on places of their own, then a flush "
                          "(get: MPI_Rget and MPI_Waitall); "
                          "accumulate adds 64-bit numbers.\n"
                          "fetch: MPI_Fetch_and_op of one 64-bit number, and a flush.\n"
                          "\n"
                          "Open MPI 4.1 of Debian needs --mca osc pt2pt for this.";

const std::vector<std::string> operations_known = {"put", "get", "accumulate", "fetch"};
const int control_tag = 1; // of empty messages that only say when
const int origin = 0;
const int target = 1;
const std::size_t element = sizeof(std::uint64_t);
const std::size_t most_bytes = std::size_t{4} << 20; // of a flush, but for one operation of more

struct Choice {
    std::vector<std::string> operations = operations_known;
    std::vector<std::size_t> sizes = {8, 256, 4096, 65536, 1048576};
    int window = 16;
};

// Both ranks' memory, exposed by all ranks; what it holds is told by contents and place.
class Memory
{
public:
    Memory(const Session &session, std::size_t bytes, int places)
        : session_(session), bytes_(bytes), places_(places),
          local_(session.rank() == origin ? bytes * static_cast<std::size_t>(places) / element : 1)
    {
        const std::size_t size =
            session.rank() == target ? bytes * static_cast<std::size_t>(places) : element;
        MPI_Win_allocate(static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed_, &window_);
        MPI_Win_lock_all(0, window_);
    }
    ~Memory()
    {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    MPI_Win window() const { return window_; }
    int places() const { return places_; }
    int elements() const { return static_cast<int>(bytes_ / element); }
    std::uint64_t *local(int place) { return local_.data() + at(place) / element; }
    MPI_Aint remote(int place) const { return static_cast<MPI_Aint>(at(place)); }
    std::uint64_t *exposed(int place) { return exposed_ + at(place) / element; }

    // The target's own stores and loads; between these and another rank's access there is a message.
    void write_exposed(std::uint32_t contents)
    {
        for (int place = 0; session_.rank() == target && place < places_; ++place) {
            fill(bytes_of(exposed(place)), bytes_, contents, static_cast<std::uint32_t>(place));
        }
        MPI_Win_sync(window_);
    }
    void write_local(std::uint32_t contents)
    {
        for (int place = 0; session_.rank() == origin && place < places_; ++place) {
            fill(bytes_of(local(place)), bytes_, contents, static_cast<std::uint32_t>(place));
        }
    }

    void check(const std::uint64_t *memory, int place, std::uint32_t contents, const char *what) const
    {
        const std::size_t wrong = first_wrong(reinterpret_cast<const unsigned char *>(memory), bytes_,
                                              contents, static_cast<std::uint32_t>(place));
        if (wrong < bytes_) {
            session_.wrong("byte " + std::to_string(wrong) + " of " + what + ' ' + std::to_string(place)
                           + " of " + std::to_string(bytes_) + " bytes is wrong");
        }
    }

private:
    static unsigned char *bytes_of(std::uint64_t *memory)
    {
        return reinterpret_cast<unsigned char *>(memory);
    }
    std::size_t at(int place) const { return static_cast<std::size_t>(place) * bytes_; }

    const Session &session_;
    std::size_t bytes_;
    int places_;
    std::vector<std::uint64_t> local_;
    std::uint64_t *exposed_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

const std::uint32_t sent = 1;
const std::uint32_t there = 2;

// One kind of operation on a place, and what it should have done. All ranks call `prepare` and `check`, only
// the origin calls `start`.
class Kind
{
public:
    Kind(const Session &session, Memory &memory) : session_(session), memory_(memory) {}
    virtual ~Kind() = default;
    Kind(const Kind &) = delete;
    Kind &operator=(const Kind &) = delete;

    virtual void prepare()
    {
        memory_.write_local(sent);
        memory_.write_exposed(there);
    }
    virtual void start(int place) = 0;
    virtual void check(int place) = 0;

    // All places once. Returns the seconds that it took the origin. The target waits inside MPI, where it
    // serves the operations.
    double run()
    {
        if (session_.rank() == target) {
            MPI_Send(nullptr, 0, MPI_BYTE, origin, control_tag, MPI_COMM_WORLD);
            MPI_Recv(nullptr, 0, MPI_BYTE, origin, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (session_.rank() != origin) {
            return 0;
        }
        MPI_Recv(nullptr, 0, MPI_BYTE, target, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double begin = MPI_Wtime();
        for (int place = 0; place < memory_.places(); ++place) {
            start(place);
        }
        complete();
        const double seconds = MPI_Wtime() - begin;
        MPI_Send(nullptr, 0, MPI_BYTE, target, control_tag, MPI_COMM_WORLD);
        return seconds;
    }

    void run_checked()
    {
        if (!session_.settings().verify) {
            return;
        }
        prepare();
        run();
        MPI_Win_sync(memory_.window());
        for (int place = 0; place < memory_.places(); ++place) {
            check(place);
        }
    }

protected:
    virtual void complete() { MPI_Win_flush(target, memory_.window()); }
    bool is(int rank) const { return session_.rank() == rank; }

    const Session &session_;
    Memory &memory_;
};

class Put : public Kind
{
public:
    using Kind::Kind;
    void start(int place) override
    {
        MPI_Put(memory_.local(place), memory_.elements(), MPI_UINT64_T, target, memory_.remote(place),
                memory_.elements(), MPI_UINT64_T, memory_.window());
    }
    void check(int place) override
    {
        if (is(target)) {
            memory_.check(memory_.exposed(place), place, sent, "put");
        }
    }
};

// By requests: MPI_Win_flush of osc/pt2pt in Open MPI 4.1 returns when the target has said that it has
// answered, which on several rails, with any BML, may overtake the answers themselves.
class Get : public Kind
{
public:
    Get(const Session &session, Memory &memory) : Kind(session, memory)
    {
        requests_.reserve(static_cast<std::size_t>(memory.places()));
    }
    void start(int place) override
    {
        requests_.emplace_back();
        MPI_Rget(memory_.local(place), memory_.elements(), MPI_UINT64_T, target, memory_.remote(place),
                 memory_.elements(), MPI_UINT64_T, memory_.window(), &requests_.back());
    }
    void check(int place) override
    {
        if (is(origin)) {
            memory_.check(memory_.local(place), place, there, "get");
        }
    }

protected:
    void complete() override
    {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
    }

private:
    std::vector<MPI_Request> requests_;
};

class Accumulate : public Kind
{
public:
    using Kind::Kind;
    void start(int place) override
    {
        MPI_Accumulate(memory_.local(place), memory_.elements(), MPI_UINT64_T, target, memory_.remote(place),
                       memory_.elements(), MPI_UINT64_T, MPI_SUM, memory_.window());
    }
    // What was added is taken off again: what was there before must be left.
    void check(int place) override
    {
        if (!is(target)) {
            return;
        }
        const auto count = static_cast<std::size_t>(memory_.elements());
        std::vector<std::uint64_t> added(count);
        fill(reinterpret_cast<unsigned char *>(added.data()), count * element, sent,
             static_cast<std::uint32_t>(place));
        for (std::size_t i = 0; i < count; ++i) {
            added[i] = memory_.exposed(place)[i] - added[i];
        }
        memory_.check(added.data(), place, there, "accumulate");
    }
};

// One number, of which each operation gets what those before it have made.
class Fetch : public Kind
{
public:
    using Kind::Kind;
    void prepare() override
    {
        if (is(target)) {
            memory_.exposed(0)[0] = 0;
        }
        MPI_Win_sync(memory_.window());
        expected_ = 0;
    }
    void start(int place) override
    {
        MPI_Fetch_and_op(&step_, memory_.local(place), MPI_UINT64_T, target, memory_.remote(place), MPI_SUM,
                         memory_.window());
    }
    void check(int place) override
    {
        if (is(origin) && memory_.local(place)[0] != expected_) {
            session_.wrong("fetch-and-op returned " + std::to_string(memory_.local(place)[0]) + " instead of "
                           + std::to_string(expected_));
        }
        expected_ += step_;
        if (is(target) && memory_.exposed(place)[0] != expected_) {
            session_.wrong("fetch-and-op left " + std::to_string(memory_.exposed(place)[0]) + " instead of "
                           + std::to_string(expected_));
        }
    }

private:
    const std::uint64_t step_ = (std::uint64_t{1} << 40) + 3;
    std::uint64_t expected_ = 0;
};

template <typename Operation>
void measure_stream(Session &session, const Choice &choice, const std::string &name)
{
    for (std::size_t size : choice.sizes) {
        const int places = static_cast<int>(
            std::clamp<std::size_t>(most_bytes / size, 1, static_cast<std::size_t>(choice.window)));
        Memory memory(session, size, places);
        Operation operation(session, memory);
        operation.run_checked();
        const double megabytes = static_cast<double>(places) * static_cast<double>(size) / 1e6;
        session.measure({"", name, "", places, size, "MB/s", {}, {}}, [&] {
            const double seconds = operation.run();
            return seconds > 0 ? megabytes / seconds : 0;
        });
    }
}

void measure_fetch(Session &session)
{
    Memory memory(session, element, 1);
    Fetch operation(session, memory);
    operation.run_checked();
    session.measure({"", "fetch", "", 1, element, "us", {}, {}}, [&] { return operation.run() * 1e6; });
}

} // namespace

int main(int argc, char **argv)
{
    Choice choice;
    Options options("onesided", about);
    options.add("operations", choice.operations, operations_known, "which");
    options.add("sizes", choice.sizes, element, std::size_t{1} << 28,
                "bytes of an operation, multiples of 8");
    options.add("window", choice.window, 1, 4096,
                "operations before a flush; fewer large ones, 4 MiB in all");
    Session session("onesided", options, argc, argv);
    if (!session.ready() || !session.needs_ranks(2)) {
        return session.exit_code();
    }
    for (std::size_t size : choice.sizes) {
        if (size % element != 0) {
            if (session.rank() == 0) {
                std::fprintf(stderr, "onesided: --sizes: %zu is no multiple of 8\n", size);
            }
            return 2;
        }
    }
    for (const std::string &name : choice.operations) {
        if (name == "put") {
            measure_stream<Put>(session, choice, name);
        } else if (name == "get") {
            measure_stream<Get>(session, choice, name);
        } else if (name == "accumulate") {
            measure_stream<Accumulate>(session, choice, name);
        } else {
            measure_fetch(session);
        }
    }
    return 0;
}
