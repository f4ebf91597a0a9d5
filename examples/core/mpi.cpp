// The example of the README under MPI, where the last rank of each node becomes the server: `mpiexec -n 5 mpi` has
// four ranks that compute. Each of these is a client, whose number is its rank.
#include <tailrace/tailrace_mpi.hpp>

namespace {

void compute(MPI_Comm computing) {
  int rank = 0;
  MPI_Comm_rank(computing, &rank);
  std::vector<double> solution(48 * 64), density(48 * 64);
  tailrace::Client out = tailrace::mpi::open(computing, "sim.yaml");
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < solution.size(); ++i) {
      solution[i] = 10000.0 * rank + 1000.0 * step + static_cast<double>(i);
    }
    out.write("temperature", step, solution);                          // one copy; `solution` is ours again
    std::span<double> pressure = out.alloc<double>("pressure", step);  // memory shared with the server: no copy
    for (size_t i = 0; i < pressure.size(); ++i) pressure[i] = 2 * solution[i];
    out.commit("pressure", step);
    for (size_t i = 0; i < density.size(); ++i) density[i] = 3 * solution[i];
    tailrace::Ticket ticket = out.borrow("density", step, density);  // copied: the server cannot see it
    out.end_iteration(step);
    ticket.wait();
  }
  out.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    MPI_Comm computing = tailrace::mpi::split(MPI_COMM_WORLD, "sim.yaml");
    if (computing != MPI_COMM_NULL) {
      compute(computing);
      MPI_Comm_free(&computing);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return 0;
}
