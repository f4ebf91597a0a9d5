// ScatterThreads: wraps another storage, and carries scattered writes out on threads of its own: copying small pieces
// takes longer than to begin a transfer, and may wait for pages of the file to be read. Everything else passes
// through.
//
// It starts a thread when a write finds none idle, up to a fixed number: the threads compute, so more of them would
// only take more from the program.
#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class ScatterThreads final : public Storage {
 public:
  static constexpr size_t kMostThreads = 2;

  // `inner` has files that scatter. `cpus`: of the threads; null: any. The doorbell outlives this.
  ScatterThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus);
  // Carries out the writes in progress, and joins the threads.
  ~ScatterThreads() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return inner_->files(); }
  FileSystem& files_of_threads() override { return inner_->files_of_threads(); }
  void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;
  void submit(FileOperation operation) override { inner_->submit(std::move(operation)); }
  std::optional<FileOperationEnd> reap_operation() override { return inner_->reap_operation(); }
  Status failure_of(FileHandle file) const override { return inner_->failure_of(file); }
  std::optional<Nanoseconds> due() const override { return inner_->due(); }

 private:
  void run();
  bool start_thread();
  Completion carry_out(const Transfer& transfer);

  // Constant after construction.
  const std::unique_ptr<Storage> inner_;
  const Capabilities capabilities_;
  Doorbell& doorbell_;
  const std::shared_ptr<CpuGroup> cpus_;
  Mutex mutex_;
  Condition wake_;  // used with mutex_
  std::deque<Transfer> waiting_ TAILRACE_GUARDED_BY(mutex_);
  std::deque<Completion> ended_ TAILRACE_GUARDED_BY(mutex_);
  size_t idle_ TAILRACE_GUARDED_BY(mutex_) = 0;  // threads that wait for a write
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // used by the engine's thread
};

}  // namespace tailrace::impl
