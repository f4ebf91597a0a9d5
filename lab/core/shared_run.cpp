#include "lab/core/shared_run.hpp"

#include <cstring>
#include <new>

namespace bench::core {

SharedRun::SharedRun(const RunOptions& options)
    : iterations_(options.iterations),
      barrier_(options.processes),
      results_memory_(static_cast<size_t>(options.processes) * sizeof(ProcessResult)),
      times_memory_(static_cast<size_t>(options.processes) * static_cast<size_t>(options.iterations) * kTimes *
                    sizeof(double)),
      results_(new (results_memory_.data()) ProcessResult[static_cast<size_t>(options.processes)]),
      times_(reinterpret_cast<double*>(times_memory_.data())) {}

void set_text(std::array<char, 512>& to, const char* text) {
  std::strncpy(to.data(), text, to.size() - 1);
  to.back() = '\0';
}

}  // namespace bench::core
