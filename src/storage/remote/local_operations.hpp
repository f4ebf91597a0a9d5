// LocalOperations: the operations that this node carries out itself, as no forwarder does (OnLoss::direct): submitted
// to the storage of the node, and awaited by tasks. One thread, the engine's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/sync/task.hpp"
#include "storage/remote/forwarders/waits.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class LocalOperations {
 public:
  // Borrows both. null: there is no such storage, and only exist() may be called.
  LocalOperations(Storage* storage, Waits& waits) : storage_(storage), waits_(waits) {}

  bool exist() const { return storage_ != nullptr; }
  // Returns the file system of the node, for calls of threads that may wait.
  FileSystem& files() const { return storage_->files(); }

  Task<FileOperationEnd> carry_out(FileOperation operation);
  Task<Result<Opened>> open(std::string path, OpenMode mode, uint32_t device);
  Task<Status> rename(FileHandle file, std::string path, bool replace);
  Task<bool> close(FileHandle file);
  Task<Result<std::unique_ptr<NameLock>>> lock(std::string path, std::string holder);
  // Releases a lock.
  Task<bool> release(std::unique_ptr<NameLock> lock);
  // Takes the ends of operations. Call Waits::progress() after it.
  void reap();
  bool any_under_way() const { return !under_way_.empty(); }

 private:
  Storage* const storage_;
  Waits& waits_;
  uint64_t last_ = 0;                                              // tag
  std::map<uint64_t, std::optional<FileOperationEnd>> under_way_;  // by tag; their ends, until a task takes them
};

}  // namespace tailrace::impl
