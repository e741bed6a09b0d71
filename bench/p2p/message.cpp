// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include "tools/points/points.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace fsbml::bench::p2p
{

namespace
{

unsigned char *map_pages(std::size_t bytes)
{
    void *memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return static_cast<unsigned char *>(memory);
}

std::size_t whole_pages(std::size_t bytes)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}

} // namespace

Pages::Pages(std::size_t bytes) : size_(whole_pages(bytes)), data_(map_pages(size_)) {}

Pages::~Pages()
{
    munmap(data_, size_);
}

void Pages::renew()
{
    // Mapped before the old ones go, so that the kernel cannot hand out the same addresses.
    unsigned char *fresh = map_pages(size_);
    munmap(data_, size_);
    data_ = fresh;
}

Message::Message(std::size_t bytes) : Message(bytes, bytes) {}

Message::Message(std::size_t bytes, std::size_t memory)
    : bytes_(bytes), out_pages_(memory), in_pages_(memory), out_(out_pages_.data()), in_(in_pages_.data())
{
}

void Message::send(int peer)
{
    MPI_Send(out_, length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD);
}

void Message::receive(int peer)
{
    MPI_Recv(in_, length(), MPI_BYTE, peer, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void Message::write(std::uint32_t round)
{
    fill(out_, bytes_, round, 0);
}

void Message::spoil()
{
    fill(in_, bytes_, ~0u, 0);
}

std::size_t Message::first_wrong(std::uint32_t round) const
{
    return bench::first_wrong(in_, bytes_, round, 0);
}

double round_trip(const Session &session, Message &message, int other)
{
    const double start = MPI_Wtime();
    if (session.rank() == 0) {
        message.send(other);
        message.receive(other);
    } else if (session.rank() == other) {
        message.receive(0);
        message.send(0);
    }
    return MPI_Wtime() - start;
}

void check_round_trip(const Session &session, Message &message, int other)
{
    if (!session.settings().verify) {
        round_trip(session, message, other);
        return;
    }
    const std::uint32_t out = 1;
    const std::uint32_t back = 2;
    auto check = [&](std::uint32_t round) {
        const std::size_t wrong = message.first_wrong(round);
        if (wrong < message.bytes()) {
            session.wrong("byte " + std::to_string(wrong) + " of a message of "
                          + std::to_string(message.bytes()) + " bytes is wrong");
        }
    };
    if (session.rank() == 0) {
        message.write(out);
        message.spoil();
        message.send(other);
        message.receive(other);
        check(back);
    } else if (session.rank() == other) {
        message.write(back);
        message.spoil();
        message.receive(0);
        check(out);
        message.send(0);
    }
}

void measure_round_trip(Session &session, const std::string &operation, const std::string &variant,
                        Message &message)
{
    check_round_trip(session, message);
    session.measure({"", operation, variant, 1, message.bytes(), "us", {}, {}},
                    [&] { return round_trip(session, message) / 2 * 1e6; });
}

void await_other(const Session &session)
{
    if (session.rank() == 0) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (session.rank() == 1) {
        MPI_Send(nullptr, 0, MPI_BYTE, 0, control_tag, MPI_COMM_WORLD);
    }
}

} // namespace fsbml::bench::p2p
