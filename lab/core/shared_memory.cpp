#include "lab/core/shared_memory.hpp"

#include <sys/mman.h>

#include <new>

#include "lab/pattern/errors.hpp"

namespace bench::core {
namespace {

char* map_shared(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  require(memory != MAP_FAILED, "take memory that processes share");
  return static_cast<char*>(memory);
}

}  // namespace

SharedMemory::SharedMemory(size_t bytes) : bytes_(bytes), data_(map_shared(bytes)) {}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

Barrier::Barrier(int processes)
    : memory_(sizeof(pthread_barrier_t)), barrier_(new (memory_.data()) pthread_barrier_t) {
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  const int error = pthread_barrier_init(barrier_, &shared, static_cast<unsigned>(processes));
  pthread_barrierattr_destroy(&shared);
  require(error == 0, "make a barrier", error);
}

}  // namespace bench::core
