// GatedStorage: wraps another storage behind the port and holds transfers back while its gate is shut, so that a test
// decides when storage is slow. It passes everything but transfers on.
//
// Any thread may call open(), shut() and wait_for(); only the engine calls the rest.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class GatedStorage final : public Storage {
 public:
  // `inner` and `doorbell` must outlive this.
  GatedStorage(Storage& inner, Doorbell& doorbell) : inner_(inner), doorbell_(doorbell) {}

  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    doorbell_.wake();
  }
  void shut() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  // Waits until `count` transfers have arrived at the gate, since the beginning.
  void wait_for(uint64_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return arrived_ >= count; });
  }

  const Capabilities& capabilities() const override { return inner_.capabilities(); }
  FileSystem& files() override { return inner_.files(); }
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }

  void submit(const Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    ++arrived_;
    came_.notify_all();
    if (open_) {
      inner_.submit(transfer);
    } else {
      held_.push_back(transfer);
    }
  }

  size_t reap(std::span<Completion> done) override {
    {
      const std::lock_guard lock(mutex_);
      if (open_) {
        for (const Transfer& transfer : held_) inner_.submit(transfer);
        held_.clear();
      }
    }
    return inner_.reap(done);
  }

 private:
  Storage& inner_;
  Doorbell& doorbell_;
  std::mutex mutex_;
  std::condition_variable came_;
  bool open_ = true;            // guarded by mutex_
  uint64_t arrived_ = 0;        // guarded by mutex_
  std::vector<Transfer> held_;  // guarded by mutex_
};

}  // namespace tailrace::impl
