// GatedStorage: wraps another storage behind the port and holds transfers back while its gate is shut, so that a test
// decides when storage is slow. It passes everything but transfers on.
//
// Any thread may call open(), shut() and wait_for(); only the engine's thread calls the rest.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
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

  // These are for one of the transfers that are held back, though the gate is shut: the one that came as number
  // `number` of them, from 0.
  size_t held() const { return held_.size(); }
  void let_through(size_t number) { inner_.submit(take(number)); }
  void fail(size_t number, int error) { failed_.push_back({take(number).tag, -error}); }

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
    size_t count = 0;
    for (; count < done.size() && !failed_.empty(); ++count) {
      done[count] = failed_.back();
      failed_.pop_back();
    }
    {
      const std::lock_guard lock(mutex_);
      if (open_) {
        for (const Transfer& transfer : held_) inner_.submit(transfer);
        held_.clear();
      }
    }
    return count + inner_.reap(done.subspan(count));
  }

 private:
  Transfer take(size_t number) {
    const std::lock_guard lock(mutex_);
    Transfer transfer = std::move(held_.at(number));
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(number));
    return transfer;
  }

  Storage& inner_;
  Doorbell& doorbell_;
  std::mutex mutex_;
  std::condition_variable came_;
  bool open_ = true;            // guarded by mutex_
  uint64_t arrived_ = 0;        // guarded by mutex_
  std::vector<Transfer> held_;  // guarded by mutex_
  std::vector<Completion> failed_;
};

}  // namespace tailrace::impl
