// Memory that the processes of a run share, created before they are forked, and a barrier.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace bench::core {

// Anonymous memory, touched, initially 0.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const { return data_; }

 private:
  const size_t bytes_;
  char* const data_;
};

class Barrier {
 public:
  explicit Barrier(int processes);
  // Waits for all processes.
  void meet() const { pthread_barrier_wait(barrier_); }

 private:
  const SharedMemory memory_;
  pthread_barrier_t* const barrier_;
};

}  // namespace bench::core
