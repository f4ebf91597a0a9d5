#include "lab/core/cpus.hpp"

#include <sched.h>

#include "lab/pattern/errors.hpp"

namespace bench::core {

int leave_last_cpu() {
  cpu_set_t cpus;
  require(sched_getaffinity(0, sizeof cpus, &cpus) == 0, "see which cpus there are");
  if (CPU_COUNT(&cpus) < 2) return -1;
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &cpus)) --last;
  CPU_CLR(last, &cpus);
  require(sched_setaffinity(0, sizeof cpus, &cpus) == 0, "leave a cpu to the server");
  return last;
}

void keep_to(int cpu) {
  if (cpu < 0) return;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);  // may fail
}

}  // namespace bench::core
