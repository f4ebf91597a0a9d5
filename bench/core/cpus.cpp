#include "bench/core/cpus.hpp"

#include <sched.h>

#include "bench/pattern/errors.hpp"

namespace bench::core {

void leave_last_cpu() {
  cpu_set_t cpus;
  require(sched_getaffinity(0, sizeof cpus, &cpus) == 0, "see which cpus there are");
  if (CPU_COUNT(&cpus) < 2) return;
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &cpus)) --last;
  CPU_CLR(last, &cpus);
  require(sched_setaffinity(0, sizeof cpus, &cpus) == 0, "leave a cpu to the server");
}

}  // namespace bench::core
