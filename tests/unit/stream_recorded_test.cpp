// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A stream as it was recorded, where a virtual rail in virtual time is too regular.
#include "measure/start/start.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

struct Stamp {
    std::uint64_t us;
    std::uint64_t bytes; // in all
};

// 200 Mbit/s with offloads (a bucket of 70 kB), both ends beside two programs that compute; a row for each
// time that the sender had its processor.
const std::vector<std::vector<Stamp>> kBusy = {
    {{0, 1400},    {36, 2800},   {48, 4200},   {63, 5600},   {83, 7000},   {101, 8400},  {112, 9800},
     {130, 11200}, {157, 13475}, {186, 15750}, {206, 18025}, {231, 20300}, {254, 22575}, {277, 24850},
     {374, 29356}, {514, 33862}, {529, 38368}, {540, 42874}, {554, 47380}, {568, 51886}, {581, 56392},
     {603, 60898}, {618, 65967}, {635, 71599}, {649, 77231}, {799, 83990}},
    {{5522, 165712},
     {5576, 176327},
     {5589, 186942},
     {5606, 197557},
     {6011, 208172},
     {6463, 218787},
     {7350, 229402},
     {7369, 240017},
     {7849, 245974},
     {7864, 251931},
     {9318, 263541}},
    {{13512, 314319}, {13561, 318657}, {13574, 322995}, {13591, 327333}, {13623, 331671}, {13633, 336009},
     {13651, 340347}, {13672, 344685}, {13694, 348882}, {13706, 353079}, {13737, 357276}, {13750, 361473},
     {13774, 365670}, {13801, 371193}, {13822, 376716}, {13847, 382239}, {14054, 387762}, {14519, 393285},
     {14528, 398808}, {15294, 404331}, {15302, 410882}, {15310, 417433}, {15836, 423984}, {15849, 430535}},
};

} // namespace

// The first row is what the bucket lets pass. Behind it, a packet of many messages comes every millisecond or
// two.
TEST(StreamRecorded, TakesFewLargePacketsForTheRateAndNotTheBucket)
{
    Stream s({32, 65536, 8000000, 24000000});
    std::uint64_t sent = 0;
    for (const std::vector<Stamp> &row : kBusy) {
        (void) s.next(1000000 + 1000 * row.front().us); // more than a millisecond after the last time
        s.sent(static_cast<std::uint32_t>(row.back().bytes - sent));
        sent = row.back().bytes;
        for (const Stamp &stamp : row) {
            s.arrived(stamp.bytes, 1000000 + 1000 * stamp.us, false);
        }
    }
    EXPECT_NEAR(41.9, s.rate().G_ns_per_byte, 0.1 * 41.9);
    EXPECT_FALSE(s.rate().steady);
}
