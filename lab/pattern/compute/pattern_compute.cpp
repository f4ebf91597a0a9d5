// The kernels behind a C interface, with only the guard that lets no exception out. See the header.
#include "lab/pattern/compute/pattern_compute.h"

#include <string_view>

#include "lab/pattern/compute/compute_worker.hpp"

void* pattern_compute_new(const char* kernel, int threads, const char* memory) {
  if (kernel == nullptr || memory == nullptr) return nullptr;
  const std::string_view place = memory;
  if (place != "heap" && place != "static") return nullptr;
  try {
    const bench::Memory chosen = place == "heap" ? bench::Memory::heap : bench::Memory::data_segment;
    return bench::make_compute_worker({kernel, threads, chosen}).release();
  } catch (...) {
    return nullptr;
  }
}

void pattern_compute_run(void* worker, uint64_t passes) {
  static_cast<bench::ComputeWorker*>(worker)->compute(passes);
}

double pattern_compute_result(void* worker) { return static_cast<bench::ComputeWorker*>(worker)->result(); }

void pattern_compute_free(void* worker) { delete static_cast<bench::ComputeWorker*>(worker); }
