// MemoryStorage: the back end `memory`, which keeps files in RAM, for tests and `backend: memory`. Implements the
// port storage.hpp.
//
// It carries out a transfer inside submit(); the completion waits to be reaped. It can hold as much as memory, and
// never touches a disk.
#pragma once

#include "base/sync/doorbell.hpp"
#include "storage/fixed_fifo.hpp"
#include "storage/memory/memory_file_system.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class MemoryStorage final : public Storage {
 public:
  using Bytes = MemoryFileSystem::Bytes;

  // The doorbell outlives the storage.
  explicit MemoryStorage(Doorbell& doorbell);

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;

  // Returns the bytes of the file `path`, or nullptr if there is none: for checkers, on the engine's thread or after
  // it has ended. Borrowed until the next call.
  const Bytes* contents(const std::string& path) const { return files_.contents(path); }

 private:
  int64_t read(const Transfer& transfer) const;
  int64_t write(const Transfer& transfer);

  // Constant after construction.
  Doorbell& doorbell_;
  const Capabilities capabilities_;
  // Owned by the engine's thread.
  MemoryFileSystem files_;
  FixedFifo<Completion> done_;
};

}  // namespace tailrace::impl
