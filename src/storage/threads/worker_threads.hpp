// WorkerThreads: carries jobs out on threads of its own, and keeps their ends until the engine's thread takes them.
//
// It starts a thread when a job finds none idle, up to a fixed number.
#pragma once

#include <pthread.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/os/signals_blocked.hpp"
#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"

namespace tailrace::impl {

template <class Job, class End>
class WorkerThreads {
 public:
  struct Options {
    const char* name = "";                // of the threads, at most 15 characters
    size_t most = 1;                      // threads
    std::shared_ptr<CpuGroup> cpus = {};  // of the threads; null: any
  };
  // Several threads call `work` at a time. The doorbell outlives this; each end wakes it.
  WorkerThreads(Options options, Doorbell& doorbell, std::function<End(const Job&)> work)
      : options_(std::move(options)), doorbell_(doorbell), work_(std::move(work)) {}
  // Carries out the jobs in progress, and joins the threads.
  ~WorkerThreads() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Only the engine's thread calls these two.
  //
  // Returns false, and leaves the job as it is, if there is no thread and the system can start none.
  bool submit(Job& job) {
    bool needs_thread = false;
    {
      const MutexLock lock(mutex_);
      needs_thread = waiting_.size() >= idle_;
    }
    const bool started = needs_thread && threads_.size() < options_.most && start_thread();
    if (!started && threads_.empty()) return false;
    {
      const MutexLock lock(mutex_);
      waiting_.push_back(std::move(job));
    }
    wake_.notify_one();
    return true;
  }
  // Takes an end; none: no other job has ended since.
  std::optional<End> reap() {
    const MutexLock lock(mutex_);
    if (ended_.empty()) return std::nullopt;
    End end = std::move(ended_.front());
    ended_.pop_front();
    return end;
  }

 private:
  bool start_thread() {
    const SignalsBlocked blocked;
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void run() {
    pthread_setname_np(pthread_self(), options_.name);
    std::optional<CpuGroup::Member> here;
    if (options_.cpus) here.emplace(*options_.cpus);
    MutexLock lock(mutex_);
    for (;;) {
      ++idle_;
      while (!stopping_ && waiting_.empty()) wake_.wait(mutex_);
      --idle_;
      if (waiting_.empty()) return;
      const Job job = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      End end = work_(job);
      lock.lock();
      ended_.push_back(std::move(end));
      doorbell_.wake();
    }
  }

  // Constant after construction.
  const Options options_;
  Doorbell& doorbell_;
  const std::function<End(const Job&)> work_;
  Mutex mutex_;
  Condition wake_;  // used with mutex_
  std::deque<Job> waiting_ TAILRACE_GUARDED_BY(mutex_);
  std::deque<End> ended_ TAILRACE_GUARDED_BY(mutex_);
  size_t idle_ TAILRACE_GUARDED_BY(mutex_) = 0;  // threads that wait for a job
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // used by the engine's thread
};

}  // namespace tailrace::impl
