// RemoteFileSystem: the calls on names and whole files, made of forwarders. Each waits for its answer: on the
// engine's thread at the start, for recovery and for inspection, when nothing else is to be served; on another thread
// while the engine's drives the storage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "storage/remote/remote_files.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class RemoteFileSystem final : public FileSystem {
 public:
  // Starts a task of the engine's thread, and returns when it is over.
  using CarryOut = std::function<void(FunctionRef<void()> start, FunctionRef<bool()> is_over)>;
  // Makes one transfer of a file, or of its part, and returns as Completion says.
  using MakeTransfer = std::function<Task<int64_t>(Transfer transfer)>;

  // Borrows the files.
  RemoteFileSystem(RemoteFiles& files, CarryOut carry_out, MakeTransfer make_transfer)
      : files_(files), carry_out_(std::move(carry_out)), make_transfer_(std::move(make_transfer)) {}

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override { (void)now({.kind = FileOperation::Kind::close, .file = file}); }
  bool direct(FileHandle) const override { return true; }
  Result<uint64_t> size(FileHandle file) const override;
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    return run(begin_read(file, offset, to));
  }
  Status sync(FileHandle file) override { return run(begin_sync(file)); }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status truncate(FileHandle file, uint64_t size) override;
  Status rename(FileHandle file, const std::string& to, bool replace) override;
  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Status make_directory(const std::string& path) override;
  Status remove(const std::string& path) override;
  Status check_below(const std::string& root, const std::string& relative) const override;
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override;
  bool is_locked(const std::string& path) const override;

 private:
  class Lock;

  template <class T>
  T run(Task<T> task) const {
    carry_out_([&task] { task.start(); }, [&task] { return task.is_over(); });
    return task.take();
  }
  Task<Result<size_t>> begin_read(FileHandle file, uint64_t offset, std::span<std::byte> to) const;
  Task<Status> begin_sync(FileHandle file) const;
  FileOperationEnd now(FileOperation operation) const { return run(files_.carry_out(std::move(operation))); }
  Result<RemoteFiles::Asked> ask(const std::string& path, ForwardCallMessage message, const char* operation,
                                 bool bulk = false) const {
    return run(files_.ask(path, std::move(message), operation, bulk));
  }

  RemoteFiles& files_;
  const CarryOut carry_out_;
  const MakeTransfer make_transfer_;
};

}  // namespace tailrace::impl
