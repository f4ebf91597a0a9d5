// Team: threads that share the work of one turn with the thread that asks for it, which goes on when all have done
// their parts.
//
// Every task sees the calling thread's writes from before run(), and the calling thread sees those of all tasks after
// it. So memory that one task alone uses in a turn, and the calling thread between turns, needs no lock.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#include "base/function_ref.hpp"
#include "base/mutex.hpp"

namespace tailrace::impl {

class Team {
 public:
  using Task = FunctionRef<void(size_t)>;

  // Starts this many threads, or as many as the system allows, which run on the cpus of the calling thread and take
  // no signals but SIGBUS.
  explicit Team(size_t helpers);
  // Not in a turn.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls task(0), task(1), … task(count - 1), each on any thread of the team or the calling one, and returns when
  // all have returned. One call at a time.
  void run(size_t count, Task task);

 private:
  void help();
  bool do_next() TAILRACE_REQUIRES(mutex_);

  Mutex mutex_;
  Condition turn_begins_;  // used with mutex_, as the next
  Condition turn_ends_;
  const Task* task_ TAILRACE_GUARDED_BY(mutex_) = nullptr;  // of the turn; what it calls needs no lock, see above
  size_t next_ TAILRACE_GUARDED_BY(mutex_) = 0;             // number of the next task
  size_t count_ TAILRACE_GUARDED_BY(mutex_) = 0;            // of tasks; 0 between turns
  size_t left_ TAILRACE_GUARDED_BY(mutex_) = 0;             // tasks that have not returned
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // constant until the destructor
};

}  // namespace tailrace::impl
