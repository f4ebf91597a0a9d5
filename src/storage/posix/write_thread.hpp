// WriteThread: a thread of the back end `posix` that carries out the transfers of one device, in order.
//
// It makes one system call per transfer, returns the result as it is and never retries. It sleeps while there is
// nothing to do. It blocks all signals: the application's signals belong to the application's threads.
#pragma once

#include <memory>
#include <thread>

#include "base/mutex.hpp"
#include "base/sync/cpu_group.hpp"
#include "storage/posix/completion_queue.hpp"

namespace tailrace::impl {

// A transfer and its descriptor, since the table of files belongs to the engine's thread.
struct Job {
  Transfer transfer;
  int descriptor = -1;
  bool directory = false;
};

class WriteThread {
 public:
  // `done` outlives the thread. The thread runs on `cpus`; null: any. Throws std::system_error if the system can
  // start no more threads.
  WriteThread(CompletionQueue& done, uint32_t depth, std::shared_ptr<CpuGroup> cpus);
  // Carries out the queued jobs, then ends the thread.
  ~WriteThread();
  WriteThread(const WriteThread&) = delete;
  WriteThread& operator=(const WriteThread&) = delete;

  // Queues a job. Only the engine's thread. Requires that fewer than `depth` jobs are queued.
  void put(const Job& job);

 private:
  void run();

  // Constant after construction.
  CompletionQueue& done_;
  const std::shared_ptr<CpuGroup> cpus_;
  Mutex mutex_;
  Condition wake_;  // used with mutex_
  FixedFifo<Job> queue_ TAILRACE_GUARDED_BY(mutex_);
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member, as the thread uses the others
};

}  // namespace tailrace::impl
