// PostedTasks: tasks of other threads, which the engine's thread carries out while they wait. So a thread may call
// the file system of a storage that another thread drives.
#pragma once

#include <list>
#include <vector>

#include "base/function_ref.hpp"
#include "base/mutex.hpp"
#include "base/sync/doorbell.hpp"

namespace tailrace::impl {

class PostedTasks {
 public:
  // Borrows the doorbell of the engine's thread.
  explicit PostedTasks(Doorbell& doorbell) : doorbell_(doorbell) {}

  // On another thread: has the engine's thread start a task, and returns when that finds it over.
  void carry_out(FunctionRef<void()> start, FunctionRef<bool()> is_over);
  // On the engine's thread: starts the tasks that were posted, and wakes the threads of those that are over.
  void progress();

 private:
  struct Posted {
    FunctionRef<void()> start;
    FunctionRef<bool()> is_over;
    bool over = false;  // guarded by mutex_
  };

  Doorbell& doorbell_;
  Mutex mutex_;
  Condition ended_;                                         // used with mutex_
  std::vector<Posted*> fresh_ TAILRACE_GUARDED_BY(mutex_);  // not started
  std::list<Posted*> started_;                              // used by the engine's thread
};

}  // namespace tailrace::impl
