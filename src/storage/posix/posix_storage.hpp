// The back end `posix`: pwritev, preadv and fsync on write threads, one a device. Behind the port storage.hpp.
//
// Works everywhere. Transfers of one device are carried out in order, those of different devices side by side.
#pragma once

#include <memory>
#include <vector>

#include "storage/os/os_file_system.hpp"
#include "storage/posix/write_thread.hpp"

namespace tailrace::impl {

class PosixStorage final : public Storage {
 public:
  struct Options {
    uint32_t devices = 1;   // independent I/O devices, each with a thread
    uint32_t depth = 64;    // transfers under way at once, on all devices together
    bool direct = true;     // bypass the page cache where the file system can
    std::vector<int> cpus;  // where the threads may run; empty: anywhere
  };

  // Starts the threads. Fails with TAILRACE_IO_ERROR if the system has none left. The doorbell outlives the storage.
  static Result<std::unique_ptr<PosixStorage>> create(Doorbell& doorbell, const Options& options);
  // Carries out the transfers under way, and joins the threads.
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
  // Constant after construction. The last member: the threads end before what they use.
  std::vector<std::unique_ptr<WriteThread>> threads_;
};

}  // namespace tailrace::impl
