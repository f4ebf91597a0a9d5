#include "bench/core/shared_run.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "bench/pattern/errors.hpp"

namespace bench::core {
namespace {

constexpr size_t kPage = 4096;

size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

char* map_shared(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  require(memory != MAP_FAILED, "take memory for the processes' times");
  return static_cast<char*>(memory);
}

size_t results_bytes(const RunOptions& options) {
  return pages(static_cast<size_t>(options.processes) * sizeof(ProcessResult));
}

size_t times_bytes(const RunOptions& options) {
  return pages(static_cast<size_t>(options.processes) * static_cast<size_t>(options.iterations) * 2 * sizeof(double));
}

}  // namespace

SharedRun::SharedRun(const RunOptions& options)
    : iterations_(options.iterations),
      bytes_(kPage + results_bytes(options) + times_bytes(options)),
      memory_(map_shared(bytes_)),
      barrier_(new (memory_) pthread_barrier_t),
      results_(new (memory_ + kPage) ProcessResult[static_cast<size_t>(options.processes)]),
      times_(reinterpret_cast<double*>(memory_ + kPage + results_bytes(options))) {
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  const int error = pthread_barrier_init(barrier_, &shared, static_cast<unsigned>(options.processes));
  pthread_barrierattr_destroy(&shared);
  require(error == 0, "make a barrier", error);
}

SharedRun::~SharedRun() { munmap(memory_, bytes_); }

void set_text(std::array<char, 512>& to, const char* text) {
  std::strncpy(to.data(), text, to.size() - 1);
  to.back() = '\0';
}

}  // namespace bench::core
