// mpiio_bench: the program behind `tailrace bench mpiio`. It calls MPI alone, and knows nothing of tailrace. One job
// is one measurement. Exit codes: 0 success, 1 failure, 2 wrong command line.
#include <cstdio>
#include <exception>

#include "lab/mpiio/mpi.hpp"
#include "lab/mpiio/options.hpp"
#include "lab/mpiio/run.hpp"

namespace {

// Only the first rank speaks, except of what it alone sees.
int carry_out(int argc, char** argv, bool first) {
  try {
    const bench::mpiio::Options options = bench::mpiio::parse_options(argc, argv);
    const std::string document = options.asked ? bench::mpiio::run(options) : "";
    if (!first || (std::fputs(document.c_str(), stdout) >= 0 && std::fflush(stdout) == 0)) return 0;
    std::fprintf(stderr, "mpiio_bench: cannot write to standard output\n");
  } catch (const bench::UsageError& error) {  // all ranks find it
    if (first) std::fprintf(stderr, "mpiio_bench: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpiio_bench: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = carry_out(argc, argv, rank == 0);
  MPI_Finalize();
  return code;
}
