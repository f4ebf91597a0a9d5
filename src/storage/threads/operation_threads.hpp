// OperationThreads: wraps another storage, and carries operations on whole files out on threads of its own, so that
// the engine's thread does not wait for them: a close may write a cache back, a rename may ask a server. Of a storage
// that waits for no operation but calls, it carries out calls alone. Everything else passes through.
//
// It starts a thread when an operation finds none idle, up to a fixed number. The file system of the other storage
// takes calls from several threads: one for each file.
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

class OperationThreads final : public Storage {
 public:
  static constexpr size_t kMostThreads = 16;
  enum class Carries : uint8_t { all, calls };

  // `cpus`: of the threads; null: any. The doorbell outlives this.
  OperationThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus,
                   Carries carries = Carries::all);
  // Carries out the operations in progress, and joins the threads.
  ~OperationThreads() override;

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
  void run(FileSystem& files);
  bool start_thread();

  // Constant after construction.
  const std::unique_ptr<Storage> inner_;
  const Carries carries_;
  const Capabilities capabilities_;
  Doorbell& doorbell_;
  const std::shared_ptr<CpuGroup> cpus_;
  Mutex mutex_;
  Condition wake_;  // used with mutex_
  std::deque<FileOperation> waiting_ TAILRACE_GUARDED_BY(mutex_);
  std::deque<FileOperationEnd> ended_ TAILRACE_GUARDED_BY(mutex_);
  size_t idle_ TAILRACE_GUARDED_BY(mutex_) = 0;  // threads that wait for an operation
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // used by the engine's thread
};

}  // namespace tailrace::impl
