// OperationThreads: wraps another storage, and carries operations on whole files out on threads of its own, so that
// the engine's thread does not wait for them: a close may write a cache back, a rename may ask a server. Of a storage
// that waits for no operation but calls, it carries out calls alone. Everything else passes through.
//
// The file system of the other storage takes calls from several threads: one for each file.
#pragma once

#include <memory>

#include "storage/storage.hpp"
#include "storage/threads/worker_threads.hpp"

namespace tailrace::impl {

class OperationThreads final : public Storage {
 public:
  static constexpr size_t kMostThreads = 16;
  enum class Carries : uint8_t { all, calls };

  // `cpus`: of the threads; null: any. The doorbell outlives this.
  OperationThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus,
                   Carries carries = Carries::all);

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return inner_->files(); }
  FileSystem& files_of_threads() override { return inner_->files_of_threads(); }
  void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
  void submit(const Transfer& transfer) override { inner_->submit(transfer); }
  size_t reap(std::span<Completion> done) override { return inner_->reap(done); }
  Status failure_of(FileHandle file) const override { return inner_->failure_of(file); }
  std::optional<Nanoseconds> due() const override { return inner_->due(); }

  void submit(FileOperation operation) override;
  std::optional<FileOperationEnd> reap_operation() override;

 private:
  // Constant after construction.
  const std::unique_ptr<Storage> inner_;
  const Carries carries_;
  const Capabilities capabilities_;
  // Set by the engine's thread before it submits a job; used by the threads, too.
  FileSystem* files_ = nullptr;
  WorkerThreads<FileOperation, FileOperationEnd> threads_;  // the last member: its jobs use the others
};

}  // namespace tailrace::impl
