// Mutex, MutexLock and Condition: those of the standard library, with attributes by which clang checks that a guarded
// member is touched only while its mutex is held (preset thread-safety). Other compilers see no attributes.
//
//   Mutex mutex_;
//   std::deque<Job> jobs_ TAILRACE_GUARDED_BY(mutex_);
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TAILRACE_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define TAILRACE_THREAD_ATTRIBUTE(attribute)
#endif

// The member may be read and written only while `mutex` is held.
#define TAILRACE_GUARDED_BY(mutex) TAILRACE_THREAD_ATTRIBUTE(guarded_by(mutex))
// The function may be called only while `mutex` is held.
#define TAILRACE_REQUIRES(mutex) TAILRACE_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace tailrace::impl {

class TAILRACE_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() TAILRACE_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() TAILRACE_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds the mutex for its life, except between unlock() and lock().
class TAILRACE_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TAILRACE_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() TAILRACE_THREAD_ATTRIBUTE(release_capability()) {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() TAILRACE_THREAD_ATTRIBUTE(release_capability()) {
    held_ = false;
    mutex_.unlock();
  }
  void lock() TAILRACE_THREAD_ATTRIBUTE(acquire_capability()) {
    mutex_.lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

class Condition {
 public:
  // Releases the mutex, sleeps until a thread notifies, or wakes spuriously, and takes the mutex again.
  void wait(Mutex& mutex) TAILRACE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace tailrace::impl
