// PosixStorage: the back end `posix`, which calls pwritev, preadv and fsync on write threads, one per device.
// Implements the port storage.hpp.
//
// It works everywhere. Transfers of one device run in order, those of different devices in parallel.
#pragma once

#include <memory>
#include <vector>

#include "storage/os/os_file_system.hpp"
#include "storage/posix/write_thread.hpp"

namespace tailrace::impl {

class PosixStorage final : public Storage {
 public:
  struct Options {
    uint32_t devices = 1;                 // independent I/O devices, each with one thread
    uint32_t depth = 64;                  // most transfers in progress, on all devices together
    bool direct = true;                   // bypass the page cache if the file system allows it
    std::shared_ptr<CpuGroup> cpus = {};  // of the threads; null: any
    std::vector<std::string> roots = {};  // see OsFileSystem
  };

  // Starts the threads. Fails with TAILRACE_IO_ERROR if the system can start no more. The doorbell outlives the
  // storage.
  static Result<std::unique_ptr<PosixStorage>> create(Doorbell& doorbell, const Options& options);
  // Carries out the transfers in progress, and joins the threads.
  ~PosixStorage() override = default;

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;

 private:
  PosixStorage(Doorbell& doorbell, const Options& options);

  // Constant after construction.
  const Capabilities capabilities_;
  // Owned by the engine's thread.
  OsFileSystem files_;
  uint32_t under_way_ = 0;
  // Thread-safe by itself.
  CompletionQueue done_;
  // Constant after construction. The last member, so that the threads end before the members that they use.
  std::vector<std::unique_ptr<WriteThread>> threads_;
};

}  // namespace tailrace::impl
