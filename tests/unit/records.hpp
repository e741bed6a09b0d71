// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Filled records for the tests of the wire format.
#ifndef FSBML_TESTS_UNIT_RECORDS_HPP
#define FSBML_TESTS_UNIT_RECORDS_HPP

#include "api/fsbml_core.h"
#include "model.hpp"
#include "model/model.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using Bytes = std::vector<unsigned char>;

inline fsbml_table_t table_of(std::uint32_t rails)
{
    fsbml_table_t t{};
    t.n_rails = rails;
    t.pair[0] = 0;
    t.pair[1] = 7;
    t.duration_ns = 123456789012345ULL;
    for (std::uint32_t i = 0; i < rails; ++i) {
        std::snprintf(t.rail[i].key, sizeof t.rail[i].key, "tcp:10.71.%u.0/24", i + 1);
        std::snprintf(t.rail[i].name, sizeof t.rail[i].name, "eth%u", i);
        t.rail[i].pair[0] = 2 * i;
        t.rail[i].pair[1] = 2 * i + 1;
        t.rail[i].fit.valid = true;
        t.rail[i].fit.params = loggp(20000.125, 2000.5, 2100.25, 3000.0, 40.0 * (i + 1), 120000.0 * i);
        t.rail[i].fit.residual = 0.0125;
        t.rail[i].fit.probes = 100 + i;
    }
    return t;
}

// Each number of a fit that is in a record.
inline std::vector<double *> numbers_of(fsbml_fit_t &f)
{
    std::vector<double *> numbers;
    for (fsbml_loggp_t *p : {&f.params, &f.back}) {
        for (double fsbml_loggp_t::*const m : fsbml::kMembers) {
            numbers.push_back(&(p->*m));
        }
    }
    numbers.insert(numbers.end(), {&f.duplex, &f.together, &f.residual});
    return numbers;
}

// A fit in which nothing is 0.
inline fsbml_fit_t full_fit()
{
    fsbml_fit_t f{};
    f.valid = true;
    f.tight = true;
    f.params = {20000.125, 2000.5, 2100.25, 3000.0, 40.5, 1200.0, 0.0625, 0.125, 32769.0, 1.5e6, 50.25};
    f.back = {20001.125, 2500.5, 2600.25, 3500.0, 45.5, 1300.0, 0.03125, 0.25, 16385.0, 1.25e6, 55.25};
    f.duplex = 1.75;
    f.together = 1.25;
    f.residual = 0.0125;
    f.probes = 123;
    return f;
}

inline fsbml_hello_t hello_of(std::uint32_t rails)
{
    fsbml_hello_t h{};
    h.n_rails = rails;
    h.params_digest = 0xdeadbeef;
    h.flags = FSBML_HELLO_RDMA;
    h.node_ranks = 48;
    h.run = 24;
    std::snprintf(h.node, sizeof h.node, "node%u", rails);
    for (std::uint32_t i = 0; i < rails; ++i) {
        h.rail[i].exclusivity = 100 + i;
        std::snprintf(h.rail[i].key, sizeof h.rail[i].key, "tcp:10.71.%u.0/24", i + 1);
    }
    return h;
}

inline Bytes packed(const fsbml_table_t &t)
{
    Bytes b(fsbml_table_packed_max());
    const long n = fsbml_table_pack(&t, b.data(), b.size());
    b.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return b;
}

inline Bytes packed(const fsbml_hello_t &h)
{
    Bytes b(fsbml_hello_packed_max());
    const long n = fsbml_hello_pack(&h, b.data(), b.size());
    b.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return b;
}

inline int unpack(fsbml_table_t &t, const void *b, std::size_t n)
{
    return fsbml_table_unpack(&t, b, n);
}
inline int unpack(fsbml_hello_t &h, const void *b, std::size_t n)
{
    return fsbml_hello_unpack(&h, b, n);
}
template <class Record>
int unpack(Record &r, const Bytes &b)
{
    return unpack(r, b.data(), b.size());
}

#endif
