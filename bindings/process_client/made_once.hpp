// MadeOnce: an object that the first call makes and nobody destroys, since its threads end with the process. A forked
// child, which has none of the threads, makes another one.
#pragma once

#include <atomic>
#include <mutex>

namespace tailrace::process {

template <typename T>
class MadeOnce {
 public:
  // Returns the object; the first call makes it. Any thread.
  T& get() {
    // acquire: a thread that sees the object sees it made; partner: the release below.
    if (T* const made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(making_);
    if (made_.load(std::memory_order_relaxed) == nullptr) made_.store(new T, std::memory_order_release);
    return *made_.load(std::memory_order_relaxed);
  }
  // Returns the object if it has been made, else null.
  T* made() const { return made_.load(std::memory_order_acquire); }
  // Called in a forked child: the next get() makes another object.
  void forget() { made_.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<T*> made_ = nullptr;
  std::mutex making_;  // held by whoever makes the object
};

}  // namespace tailrace::process
