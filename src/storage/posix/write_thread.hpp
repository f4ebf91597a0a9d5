// One thread of the back end `posix`: carries out the transfers of one device, one after the other, in order.
//
// It makes one system call a transfer, tells its result as it is and never tries again. It sleeps while there is
// nothing to do. All signals are blocked in it: the application's signals land on the application's threads.
#pragma once

#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "storage/posix/completion_queue.hpp"

namespace tailrace::impl {

// A transfer with its file looked up, as the table of files belongs to the engine's thread.
struct Job {
  Transfer transfer;
  int descriptor = -1;
  bool directory = false;
};

class WriteThread {
 public:
  // `done` outlives the thread. `cpus`: where the thread may run; empty: anywhere. Throws std::system_error if the
  // system has no thread left.
  WriteThread(CompletionQueue& done, uint32_t depth, std::vector<int> cpus);
  // Carries out what is queued, then ends the thread.
  ~WriteThread();
  WriteThread(const WriteThread&) = delete;
  WriteThread& operator=(const WriteThread&) = delete;

  // The engine's thread. Requires that fewer than `depth` jobs are queued.
  void put(const Job& job);

 private:
  void run();

  // Constant after construction.
  CompletionQueue& done_;
  const std::vector<int> cpus_;
  Mutex mutex_;
  Condition wake_;  // used with mutex_
  FixedFifo<Job> queue_ TAILRACE_GUARDED_BY(mutex_);
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // owned by who made this; the last member, as it uses the others
};

}  // namespace tailrace::impl
