#include "place/busy_cpus.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

namespace tailrace::impl {

// The fourth field of /proc/loadavg is "running/all" (proc(5)).
bool every_cpu_is_busy() {
  std::ifstream file("/proc/loadavg");
  std::string average;
  long running = 0;
  for (int field = 0; field < 3; ++field) file >> average;
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  return file >> running && cpus > 0 && running >= cpus;
}

}  // namespace tailrace::impl
