// ScatterThreads: wraps another storage, and carries scattered writes out on threads of its own: copying small pieces
// takes longer than to begin a transfer, and may wait for pages of the file to be read. Everything else passes
// through.
//
// They are few: the threads compute, so more of them would only take more from the program.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "storage/storage.hpp"
#include "storage/threads/worker_threads.hpp"

namespace tailrace::impl {

class ScatterThreads final : public Storage {
 public:
  static constexpr size_t kMostThreads = 2;

  // `inner` has files that scatter. `cpus`: of the threads; null: any. The doorbell outlives this.
  ScatterThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus);

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
  // Constant after construction.
  const std::unique_ptr<Storage> inner_;
  const Capabilities capabilities_;
  Doorbell& doorbell_;
  // Used by the engine's thread only.
  std::deque<Completion> ended_here_;
  // Set by the engine's thread before it submits a job; used by the threads, too.
  FileSystem* files_ = nullptr;
  WorkerThreads<Transfer, Completion> threads_;  // the last member: its jobs use the others
};

}  // namespace tailrace::impl
