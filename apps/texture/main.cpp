// texture: the program, for mpiexec. Exit codes: 0 success, 1 the run failed, 2 the command line is wrong.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "run.hpp"

namespace texture {
namespace {

void run_and_report(const Options& options, int rank) {
  const Report report = run(options);
  if (rank != 0) return;
  if (options.output != OutputKind::none) describe_file(report, options.file);
  std::printf("%s\n", line_of(report, options.output).c_str());
}

// Ends all ranks, by mpiexec: those that wait for this one would wait forever. Not by MPI_Abort: MPICH's mpiexec
// then may lose the message. If several ranks find an error, each may report it.
[[noreturn]] void give_up(int rank, const char* why) {
  std::fprintf(stderr, "texture: rank %d: %s\n", rank, why);
  std::_Exit(1);
}

}  // namespace
}  // namespace texture

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int exit_code = 0;
  try {
    const texture::ParsedOptions parsed = texture::parse_options(argc, argv, rank == 0);
    exit_code = parsed.exit_code;
    if (parsed.options) texture::run_and_report(*parsed.options, rank);
  } catch (const std::bad_alloc&) {
    texture::give_up(rank, "not enough memory for this image");
  } catch (const std::exception& error) {
    texture::give_up(rank, error.what());
  }
  MPI_Finalize();
  return exit_code;
}
