// The back end `posix`: pwritev, preadv and fsync on write threads, one a device. Behind the port storage.hpp.
//
// Works everywhere. Transfers of one device are carried out in order, those of different devices side by side.
// Opening, reserving, renaming and removing happen on the calling thread.
#pragma once

#include <memory>
#include <vector>

#include "storage/file_table.hpp"
#include "storage/open_file.hpp"
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
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override { files_.erase(file); }
  bool direct(FileHandle file) const override { return files_.at(file).os.direct() >= 0; }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status rename(FileHandle file, const std::string& to, bool replace) override {
    return files_.at(file).os.rename(to, replace);
  }
  Status remove(const std::string& path) override { return remove_file(path); }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;

 private:
  PosixStorage(Doorbell& doorbell, const Options& options);

  // Constant after construction.
  const Capabilities capabilities_;
  // Owned by the engine's thread.
  FileTable<OpenFile> files_;
  uint32_t under_way_ = 0;
  // Thread-safe by itself.
  CompletionQueue done_;
  // Constant after construction. The last member: the threads end before what they use.
  std::vector<std::unique_ptr<WriteThread>> threads_;
};

}  // namespace tailrace::impl
