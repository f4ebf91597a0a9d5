// BackgroundReads: nonblocking reads, which a thread of the process makes while the program computes, one after the
// other. It makes steps of reads through aggregators, too (AggregatedRead): these alone call the MPI.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "mpiio/collective/memory_data.hpp"
#include "mpiio/files/background_access.hpp"

namespace tailrace::mpiio {

// BackgroundRead: one of them.
class BackgroundRead : public BackgroundAccess {
 public:
  // `read` reads the data into `space`.
  using Read = std::function<Outcome(MemorySpace&)>;
  BackgroundRead(MemorySpace space, Read read) : space_(std::move(space)), read_(std::move(read)) {}

  bool progress() override { return false; }
  bool needs_progress() const override { return false; }
  // Acquire: the program sees the data afterwards; partner: the release in run().
  bool has_ended() const override { return ended_.load(std::memory_order_acquire); }
  Outcome outcome() const override { return outcome_; }
  uint64_t bytes() const override { return space_.bytes(); }
  // Makes the read, once; on any thread.
  void run() {
    outcome_ = read_(space_);
    ended_.store(true, std::memory_order_release);
  }

 private:
  MemorySpace space_;
  const Read read_;
  Outcome outcome_;  // written before ended_ is set, read after that
  std::atomic<bool> ended_ = false;
};

class BackgroundReads {
 public:
  // The ones of this process. A forked child has others.
  static BackgroundReads& instance();

  // Makes a read, or a step of one, when those before it have ended; here, if the system can start no thread. Any
  // thread may call.
  void begin(std::function<void()> read);
  // Waits until all that have begun have ended. Any thread may call.
  void finish();

 private:
  void run();

  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> waiting_;
  bool is_reading_ = false;
  bool has_thread_ = false;
};

}  // namespace tailrace::mpiio
