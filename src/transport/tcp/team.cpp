#include "transport/tcp/team.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {

Team::Team(size_t helpers) {
  const SignalsBlocked for_the_threads(SIGBUS);  // bulk data may lie in memory of a MemoryGuard
  try {
    while (threads_.size() < helpers) threads_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    // The existing members do the work, or the caller alone.
  }
}

Team::~Team() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  turn_begins_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(size_t count, Task task) {
  const MutexLock lock(mutex_);
  task_ = &task;
  next_ = 0;
  count_ = left_ = count;
  for (size_t i = 1; i < count && i <= threads_.size(); ++i) turn_begins_.notify_one();
  while (do_next()) {
  }
  while (left_ > 0) turn_ends_.wait(mutex_);
  count_ = next_ = 0;
}

void Team::help() {
  pthread_setname_np(pthread_self(), "tailrace-tcp");
  const MutexLock lock(mutex_);
  while (!stopping_) {
    if (!do_next()) turn_begins_.wait(mutex_);
  }
}

// Does one task without the lock. Returns false if none is left to begin.
bool Team::do_next() {
  if (next_ == count_) return false;
  const size_t number = next_++;
  const Task& task = *task_;
  mutex_.unlock();
  task(number);
  mutex_.lock();
  if (--left_ == 0) turn_ends_.notify_one();
  return true;
}

}  // namespace tailrace::impl
