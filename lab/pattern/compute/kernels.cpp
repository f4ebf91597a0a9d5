// Chooses a kernel by its name. See kernels.hpp and compute_worker.hpp.
#include "lab/pattern/compute/kernels.hpp"

#include <algorithm>
#include <utility>

#include "lab/pattern/errors.hpp"

namespace bench {
namespace {

using Maker = std::unique_ptr<ComputeWorker> (*)(int, Memory);
constexpr int kMostThreads = 1024;

const std::vector<std::pair<std::string, Maker>>& makers() {
  static const std::vector<std::pair<std::string, Maker>> table = {
      {"busy", make_busy},
      {"jacobi", make_jacobi},
      {"jacobi-blocked", make_jacobi_blocked},
      {"matmul", make_matmul},
      {"matmul-transposed", make_matmul_transposed},
      {"strassen", make_strassen},
      {"mandelbrot", make_mandelbrot},
      {"walk", make_walk},
      {"spin", make_spin},
      {"triad", make_triad},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, maker] : makers()) all.push_back(name);
    return all;
  }();
  return names;
}

std::unique_ptr<ComputeWorker> make_compute_worker(const ComputeChoice& choice) {
  if (choice.threads < 1 || choice.threads > kMostThreads) {
    throw UsageError("threads: found " + std::to_string(choice.threads) + ", expected 1 to " +
                     std::to_string(kMostThreads));
  }
  const auto found =
      std::find_if(makers().begin(), makers().end(), [&](const auto& entry) { return entry.first == choice.kernel; });
  if (found != makers().end()) return found->second(choice.threads, choice.memory);
  std::string expected;
  for (const std::string& name : kernel_names()) expected += (expected.empty() ? "" : ", ") + name;
  throw UsageError("compute: found '" + choice.kernel + "', expected one of " + expected);
}

const char* name_of(Memory memory) { return memory == Memory::heap ? "heap" : "static"; }

}  // namespace bench
