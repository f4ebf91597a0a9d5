// tsunami_mpi: the program for mpiexec, one process per slab. Options and exit codes are those of tsunami, except
// --processes. If all processes find an error, each may report it.
#include <cstdio>
#include <exception>
#include <new>

#include "error.hpp"
#include "mpi_peers.hpp"
#include "report.hpp"

namespace tsunami {
namespace {

void launch(Options options, int processes) {
  if (options.processes != 1) throw Error("--processes is for tsunami; here mpiexec says how many there are");
  options.processes = processes;
  const Raster coarse = read_bed(options);
  MpiPeers peers(needed_of_peers(options, coarse).halo);
  const Result result = run(options, coarse, peers);
  if (peers.rank() == 0) report(options, result);
}

// Ends all processes: those that wait for this one would wait forever.
[[noreturn]] void give_up(int rank, int size, const char* why) {
  std::fprintf(stderr, "tsunami: process %d of %d: %s\n", rank, size, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace
}  // namespace tsunami

int main(int argc, char** argv) {
  int rank = 0, size = 1, threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int exit_code = 2;
  try {
    const tsunami::ParsedOptions parsed = tsunami::parse_options(argc, argv);
    exit_code = parsed.exit_code;
    if (parsed.options) tsunami::launch(*parsed.options, size);
  } catch (const std::bad_alloc&) {
    tsunami::give_up(rank, size, "not enough memory for this grid");
  } catch (const std::exception& error) {
    tsunami::give_up(rank, size, error.what());
  }
  MPI_Finalize();
  return exit_code;
}
