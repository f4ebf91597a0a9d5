// PlainStorage: a storage on real files that carries out each transfer when it is submitted. Implements the port
// storage.hpp.
//
// What it does follows from the calls alone, and several of them may use one directory, as the forwarders of one file
// system do. A test can make its next transfers fail, hold their completions or its operations back, or have its
// files in stripes.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/sync/doorbell.hpp"
#include "storage/os/os_file_system.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class PlainStorage final : public Storage {
 public:
  explicit PlainStorage(Doorbell& doorbell) : doorbell_(doorbell), files_(stripes) {}

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override {
    done_.push_back({transfer.tag, carry_out(transfer)});
    doorbell_.ring();
  }
  size_t reap(std::span<Completion> done) override {
    size_t count = 0;
    while (!held && count < done.size() && !done_.empty() && let_through > 0) {
      --let_through;
      done[count++] = done_.front();
      done_.pop_front();
    }
    return count;
  }
  void submit(FileOperation operation) override {
    if (operations_held) return operations_.push_back(std::move(operation));
    Storage::submit(std::move(operation));
  }
  // Carries out the operations that were held back.
  void release_operations() {
    operations_held = false;
    for (FileOperation& one : std::exchange(operations_, {})) Storage::submit(std::move(one));
    doorbell_.ring();
  }
  size_t operations() const { return operations_.size(); }  // that are held back

  int failure = 0;                    // errno of the transfers from now on; 0: they succeed
  bool held = false;                  // completions stay here
  bool operations_held = false;       // operations stay here, and are not carried out
  uint64_t let_through = UINT64_MAX;  // completions that still may come
  uint64_t writes = 0;
  std::optional<StripeMap> stripes;  // of files that are opened from now on

 private:
  class Names final : public OsFileSystem {
   public:
    explicit Names(const std::optional<StripeMap>& stripes) : stripes_(stripes) {}
    Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
      Result<Opened> opened = OsFileSystem::open(path, mode, device);
      if (opened.ok() && stripes_) opened.value().stripes = *stripes_;
      return opened;
    }

   private:
    const std::optional<StripeMap>& stripes_;
  };

  int64_t carry_out(const Transfer& transfer) {
    if (failure != 0) return -failure;
    const int fd = files_.at(transfer.file).os.buffered();
    const auto offset = static_cast<off_t>(transfer.offset);
    const int count = static_cast<int>(transfer.segments.size());
    ssize_t result = 0;
    switch (transfer.kind) {
      case Transfer::Kind::read: result = ::preadv(fd, transfer.segments.data(), count, offset); break;
      case Transfer::Kind::write:
        ++writes;
        if (transfer.scattered) return files_.scatter(transfer.file, transfer.offset, transfer.segments);
        result = ::pwritev(fd, transfer.segments.data(), count, offset);
        break;
      case Transfer::Kind::sync: break;
    }
    return result < 0 ? -errno : result;
  }

  Doorbell& doorbell_;
  const Capabilities capabilities_{.name = "plain", .depth = 16, .max_segments = 64, .scatters = true};
  Names files_;
  std::deque<Completion> done_;
  std::deque<FileOperation> operations_;
};

}  // namespace tailrace::impl
