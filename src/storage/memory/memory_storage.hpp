// The back end `memory`: files in RAM, for tests and for `backend: memory`. Behind the port storage.hpp.
//
// A transfer is carried out inside submit() and waits to be reaped. Directories are not kept: every directory exists.
// Otherwise files behave as on a file system: holes read as zeros, a removed file lives while it is open, a rename
// replaces. Errors are those of the system calls. It is as large as memory, and never touches a disk.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "storage/file_table.hpp"
#include "storage/fixed_fifo.hpp"

namespace tailrace::impl {

class MemoryStorage final : public Storage {
 public:
  using Bytes = std::vector<std::byte>;

  // The doorbell outlives the storage.
  explicit MemoryStorage(Doorbell& doorbell);

  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override { files_.erase(file); }
  bool direct(FileHandle) const override { return false; }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status rename(FileHandle file, const std::string& to, bool replace) override;
  Status remove(const std::string& path) override;
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;

  // The bytes of the file `path`, or nullptr if there is none: for checkers, from the engine's thread or after it has
  // ended. Borrowed until the next call.
  const Bytes* contents(const std::string& path) const;

 private:
  struct File {
    std::string path;
    OpenMode mode;
    std::shared_ptr<Bytes> bytes;  // null for a directory
  };

  static int64_t read(const File& file, const Transfer& transfer);
  static int64_t write(const File& file, const Transfer& transfer);

  // Constant after construction.
  Doorbell& doorbell_;
  const Capabilities capabilities_;
  // Owned by the engine's thread.
  std::map<std::string, std::shared_ptr<Bytes>> names_;
  FileTable<File> files_;
  FixedFifo<Completion> done_;
};

}  // namespace tailrace::impl
