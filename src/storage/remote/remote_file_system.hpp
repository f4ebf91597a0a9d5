// RemoteFileSystem: the calls on names and whole files, made of forwarders. Each waits for its answer: for the start,
// for recovery and for inspection, when nothing else is to be served. All others submit operations.
//
// One thread, the engine's. While a call waits, the storage is driven.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/remote/remote_files.hpp"

namespace tailrace::impl {

class RemoteFileSystem final : public FileSystem {
 public:
  // Carry out one transfer while the caller waits, as RemoteStorage does.
  using ReadNow = std::function<Result<size_t>(FileHandle file, uint64_t offset, std::span<std::byte> to)>;
  using SyncNow = std::function<Status(FileHandle file)>;

  // Borrows the files. `wait`: waits for something to happen, and drives the storage.
  RemoteFileSystem(RemoteFiles& files, std::function<void()> wait, ReadNow read, SyncNow sync)
      : files_(files), wait_(std::move(wait)), read_(std::move(read)), sync_(std::move(sync)) {}

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override { (void)now({.kind = FileOperation::Kind::close, .file = file}); }
  bool direct(FileHandle) const override { return true; }
  Result<uint64_t> size(FileHandle file) const override;
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    return read_(file, offset, to);
  }
  Status sync(FileHandle file) override { return sync_(file); }
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
    task.start();
    while (!task.is_over()) wait_();
    return task.take();
  }
  FileOperationEnd now(FileOperation operation) const { return run(files_.carry_out(std::move(operation))); }
  Result<RemoteFiles::Asked> ask(const std::string& path, ForwardCallMessage message, const char* operation,
                                 bool bulk = false) const {
    return run(files_.ask(path, std::move(message), operation, bulk));
  }

  RemoteFiles& files_;
  const std::function<void()> wait_;
  const ReadNow read_;
  const SyncNow sync_;
};

}  // namespace tailrace::impl
