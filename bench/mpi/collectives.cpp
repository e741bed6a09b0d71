// Collective operations: the time from a common start until the last rank is done; and how they take skew.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "collectives.hpp"

namespace
{

using namespace fsbml::bench;
using namespace fsbml::bench::collectives;

const char *const about =
    "Times collective operations. A sample is the longest time of all ranks, each counted from the end "
    "of a barrier.\n"
    "\n"
    "--skew adds three points to each of them:\n"
    "NAME-average: the mean over the ranks of the time in the operation, after a barrier.\n"
    "NAME-sync: from when the last rank entered the operation until the last one left it.\n"
    "NAME-late: the same while one rank comes late by --late, until the last of the others left: what "
    "they pay beyond the delay. That rank is the last one; in a broadcast it is the root, as only that "
    "makes all others wait.\n"
    "NAME-sync and NAME-late compare the clocks of nodes: before each such point, the best of 50 round "
    "trips with each rank gives the difference. It is wrong by at most half of that round trip, and by "
    "what the clocks drift in the time of a point. The point clock-error has these halves, the worst "
    "rank's of each comparison.";

double timed(Operation &operation)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    operation.run();
    return (MPI_Wtime() - start) * 1e6;
}

void measure(Session &session, const std::string &name, std::size_t size, Skew *skew)
{
    std::unique_ptr<Operation> operation = make_operation(name, session.rank(), session.ranks(), size);
    operation->prepare();
    operation->run();
    if (session.settings().verify && !operation->right()) {
        session.wrong(name + " of " + std::to_string(size) + " bytes has a wrong result");
    }
    session.measure(
        {"", name, "", 1, size, "us", {}, {}}, [&] { return timed(*operation); }, Session::Counts::worst);
    if (skew != nullptr) {
        skew->measure(*operation, name, size);
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<std::string> operations = operation_names;
    std::vector<std::size_t> sizes = {8, 64, 256, 1024, 4096, 8192, 16384};
    bool with_skew = false;
    int late = 1000;
    Options options("collectives", about);
    options.add("operations", operations, operation_names, "which");
    options.add("sizes", sizes, 1, std::size_t{1} << 30,
                "bytes of the vector (allreduce, rounded to whole 8-byte integers), of the message "
                "(broadcast), or of "
                "the block of or for each rank (allgather, alltoall)");
    options.add("skew", with_skew, "also the points about skew");
    options.add("late", late, 0, 1000000, "us by which a rank comes late");
    Session session("collectives", options, argc, argv);
    if (!session.ready() || (with_skew && !session.needs_ranks(2))) {
        return session.exit_code();
    }
    Skew skew(session, late);
    for (const std::string &name : operations) {
        for (std::size_t size : name == "barrier" ? std::vector<std::size_t>{0} : sizes) {
            measure(session, name, size, with_skew ? &skew : nullptr);
        }
    }
    if (with_skew) {
        skew.print_error();
    }
    return 0;
}
