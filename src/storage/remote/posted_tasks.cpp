#include "storage/remote/posted_tasks.hpp"

#include <utility>

namespace tailrace::impl {

void PostedTasks::carry_out(FunctionRef<void()> start, FunctionRef<bool()> is_over) {
  Posted mine{start, is_over};
  MutexLock lock(mutex_);
  fresh_.push_back(&mine);
  doorbell_.wake();
  while (!mine.over) ended_.wait(mutex_);
}

void PostedTasks::progress() {
  std::vector<Posted*> fresh;
  {
    const MutexLock lock(mutex_);
    fresh.swap(fresh_);
  }
  for (Posted* one : fresh) {
    one->start();
    started_.push_back(one);
  }
  const auto ended = std::erase_if(started_, [this](Posted* one) {
    if (!one->is_over()) return false;
    const MutexLock lock(mutex_);
    one->over = true;
    return true;
  });
  if (ended > 0) ended_.notify_all();
}

}  // namespace tailrace::impl
