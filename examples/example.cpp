// The example of the README in C++: three steps, and one way to hand a block over for each variable.
#include <cstdio>
#include <tailrace/tailrace.hpp>
#include <vector>

int main() try {
  std::vector<double> solution(48 * 64), density(48 * 64);
  tailrace::Client out = tailrace::open("sim.yaml");
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < solution.size(); ++i) solution[i] = 1000.0 * step + static_cast<double>(i);
    out.write("temperature", step, solution);                          // one copy; `solution` is ours again
    std::span<double> pressure = out.alloc<double>("pressure", step);  // tailrace's memory: no copy
    for (size_t i = 0; i < pressure.size(); ++i) pressure[i] = 2 * solution[i];
    out.commit("pressure", step);
    for (size_t i = 0; i < density.size(); ++i) density[i] = 3 * solution[i];
    tailrace::Ticket ticket = out.borrow("density", step, density);  // our memory: leave it alone until …
    out.end_iteration(step);
    ticket.wait();  // … here
  }
  out.close();
  return 0;
} catch (const tailrace::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
