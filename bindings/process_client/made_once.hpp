// MadeOnce: an object that the first call makes and nothing destroys, since its threads end with the process. A
// forked child has none of these threads, so it makes another object.
#pragma once

#include <atomic>
#include <mutex>

namespace tailrace::process {

template <typename T>
class MadeOnce {
 public:
  // Returns the object; the first call makes it. Any thread may call.
  T& get() {
    // acquire: a thread that sees the pointer sees the complete object; partner: the release below.
    if (T* const made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(making_);
    if (made_.load(std::memory_order_relaxed) == nullptr) made_.store(new T, std::memory_order_release);
    return *made_.load(std::memory_order_relaxed);
  }
  // Returns the object if there is one, else null.
  T* made() const { return made_.load(std::memory_order_acquire); }
  // Call it in a forked child: the next get() makes another object.
  void forget() { made_.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<T*> made_ = nullptr;
  std::mutex making_;  // held while the object is made
};

}  // namespace tailrace::process
