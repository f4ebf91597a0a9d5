// The example of the README in C++ as one of several clients of a node: `client --client 3`. The configuration, not
// the program, makes a server process write the blocks (place core): only the client's number shows it here.
#include <cstdio>
#include <string>
#include <tailrace/tailrace.hpp>
#include <vector>

int main(int argc, char** argv) try {
  const int client = argc == 3 && argv[1] == std::string("--client") ? std::stoi(argv[2]) : 0;  // under MPI: the rank
  std::vector<double> solution(48 * 64), density(48 * 64);
  tailrace::Client out = tailrace::open("sim.yaml", client);
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < solution.size(); ++i) {
      solution[i] = 10000.0 * client + 1000.0 * step + static_cast<double>(i);
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
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
